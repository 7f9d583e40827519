"""What the tests of the rules of the house share: a reader of source code."""

from __future__ import annotations

import ast


def imported(source: str) -> set[str]:
    """Top-level packages that a module imports absolutely, at any depth of its code."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add((node.module or "").split(".")[0])
    return names
