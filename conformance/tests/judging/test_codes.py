"""The codes of violations: short, described, listed once, and each of them written in some check.

That a check gives no other code is shown by the self-test, which plays a mutant for every requirement.
"""

from __future__ import annotations

import ast
import json
import re
from importlib.resources import files
from pathlib import Path

import pytest

from sds_conformance.protocols import Protocol, protocols

PROTOCOLS = pytest.mark.parametrize("protocol", protocols(), ids=lambda protocol: protocol.name)
SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+){0,3}")
LONGEST = 90


def room_of(protocol: Protocol) -> Path:
    """The folder of a protocol, found by that of its rules."""
    return Path(str(files(type(protocol.rules).__module__.rpartition(".")[0])))


def written_in(folder: Path) -> set[str]:
    """All texts in the sources of a folder."""
    trees = (ast.parse(path.read_text("utf-8")) for path in folder.rglob("*.py"))
    nodes = (node for tree in trees for node in ast.walk(tree))
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def listed_by(protocol: Protocol) -> list[tuple[str, str, str]]:
    """By requirement: each code, with its description."""
    requirements = protocol.rules.catalogue.requirements.values()
    return [(requirement.id, code, text) for requirement in requirements for code, text in requirement.codes.items()]


@PROTOCOLS
def test_a_code_is_a_slug_of_few_words_with_a_short_description(protocol: Protocol) -> None:
    listed = listed_by(protocol)
    assert [(who, code) for who, code, _ in listed if not SLUG.fullmatch(code)] == []
    assert [(who, code) for who, code, text in listed if not text or len(text) > LONGEST or text.endswith(".")] == []


@PROTOCOLS
def test_a_code_is_given_by_some_check(protocol: Protocol) -> None:
    written = written_in(room_of(protocol) / "checks")
    assert [(who, code) for who, code, _ in listed_by(protocol) if code not in written] == []


@PROTOCOLS
def test_a_requirement_lists_its_codes_once(protocol: Protocol) -> None:
    """Of two lists in one row the reader would take the last one, and say nothing."""

    def row(pairs: list[tuple[str, object]]) -> dict[str, object]:
        names = [name for name, _ in pairs]
        assert len(set(names)) == len(names), f"{names} of {dict(pairs).get('id')}"
        return dict(pairs)

    for path in (room_of(protocol) / "catalogue").glob("*.json"):
        json.loads(path.read_text("utf-8"), object_pairs_hook=row)
