"""No two classes share a name, unless they are the versions of one thing for two protocols or in two layers."""

from __future__ import annotations

import ast
from collections import Counter

from run_helpers import REPOSITORY

FOLDERS = ("conformance", "docs", "harness", "reference")
BASES = "Member Narrator Party Player Script Stage Step Trace Wire Writer"
"""A base class, and its version for each protocol."""
MODELS = "Channel Dialect Participant Revision"
"""A class of a model, and its interface in the harness or its counterpart in the smallest Python adapter."""
PROTOCOLS = """
    Actor Again Config ConfigurationError Effects Ending Entry Event Garble Grammar LocalModel
    MalformedMessageError Message Mutant Names Network Part Passage Peer Say ScriptedPeer Send Sent Settle Testee
    TesteeOptions Text Variant Write
"""
"""A class for each of the two protocols."""


def test_only_versions_of_one_thing_share_the_name_of_a_class() -> None:
    files = (f for folder in FOLDERS for f in (REPOSITORY / folder).rglob("*.py") if "node_modules" not in f.parts)
    names = Counter(
        node.name
        for file in files
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
    )
    shared = {name for name, count in names.items() if count > 1 and not name.startswith("_")}
    assert shared == set(f"{BASES} {MODELS} {PROTOCOLS}".split())
