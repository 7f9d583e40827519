"""Helper for tests of project rules: a reader of source code."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def imported(source: str) -> set[str]:
    """Top-level packages that a module imports absolutely, at any depth of its code."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add((node.module or "").split(".")[0])
    return names


def imports(source: str, module: str, package: bool) -> list[tuple[int, str]]:
    """Everything that ``module`` imports when it runs: the line and the full name, of the module or of an object in it.

    ``package`` is true for the ``__init__`` of a package.
    """
    found: list[tuple[int, str]] = []
    here = module.split(".") if package else module.split(".")[:-1]
    for node in _running(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            found += [(node.lineno, f"{origin}.{alias.name}") for alias in node.names]
    return found


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes except those that only a type checker reads."""
    yield node
    if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
        return
    for child in ast.iter_child_nodes(node):
        yield from _running(child)
