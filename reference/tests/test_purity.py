"""The models are sans-I/O: no clock, no network, no randomness, no import of a layer above them. Only the store of
ClearSkies uses a file.
"""

from __future__ import annotations

import ast
from pathlib import Path

import clearskies_reference
import sds_reference
from source_imports import imported

PACKAGES = [Path(str(package.__file__)).parent for package in (sds_reference, clearskies_reference)]
MODULES = sorted(
    path
    for package in PACKAGES
    for path in package.rglob("*.py")
    if "testee" not in path.relative_to(package).parts and path.stem != "__main__"
)
FORBIDDEN = {
    *("asyncio", "concurrent", "ctypes", "datetime", "importlib", "io", "multiprocessing", "os", "pathlib", "random"),
    *("secrets", "select", "shutil", "signal", "socket", "sqlite3", "subprocess", "sys", "tempfile", "threading"),
    *("time", "uuid", "sds_harness", "sds_conformance"),
}
FORBIDDEN_CALLS = {"open", "print", "input", "eval", "exec", "compile", "__import__", "breakpoint", "hash", "id"}
"""I/O, and the two built-in functions whose result differs from run to run."""

ALLOWED = {"sqlite_store": {"sqlite3"}, "mutants/__init__": {"importlib"}}
"""Exceptions: a store is passed to a peer, which does not know its type."""


def called(source: str) -> set[str]:
    """Names of the plain functions a module calls."""
    calls = [node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return {function.id for function in calls if isinstance(function, ast.Name)}


def relatively_imported(source: str) -> set[str]:
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom) and node.level]
    return {(node.module or "").split(".")[0] for node in nodes}


def test_a_forbidden_import_would_be_seen() -> None:
    source = "import os.path\ndef f():\n    from time import time\n    import random as r\n    from . import x\n"
    assert imported(source) & FORBIDDEN == {"os", "time", "random"}
    assert called("def f():\n    print(open('x').read())") & FORBIDDEN_CALLS == {"open", "print"}
    assert relatively_imported("from .testee.server import serve\nfrom .message import Kind\n") == {"testee", "message"}
    assert {"channel", "repair", "peer", "database"} <= {path.stem for path in MODULES}


def test_no_module_of_the_model_imports_io_or_a_layer_above_or_calls_a_built_in_with_effects() -> None:
    for path in MODULES:
        source = path.read_text("utf-8")
        name = f"mutants/{path.stem}" if path.parent.name == "mutants" else path.stem
        assert imported(source) & FORBIDDEN == ALLOWED.get(name, set()), path
        assert called(source) & FORBIDDEN_CALLS == set(), path
        assert "testee" not in relatively_imported(source), path


def test_no_module_imports_the_harness_or_the_checks() -> None:
    for path in (path for package in PACKAGES for path in package.rglob("*.py")):
        assert imported(path.read_text("utf-8")) & {"sds_harness", "sds_conformance"} == set(), path
