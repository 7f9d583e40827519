"""Places: where the source of a model can be altered. Their names do not depend on line numbers."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

from .source import ModelSource
from .syntax import alterations

_TURNED = ("always", "never", "negated", "opposite", "without")
"""Rules that change a condition."""


@dataclass(frozen=True)
class AlterationPlace:
    """One possible alteration and its place in the source. Plain data."""

    module: str
    function: str
    """The function, class or variable that contains the place; "" if none does."""
    rule: str
    about: str
    """Source text that stands for the node in the name of the place."""
    old: str
    """The source text that is replaced, usually equal to ``about``."""
    new: str
    """Source of the replacement."""
    occurrence: int
    """Index among equal places in a function, from 1."""
    line: int
    statement: int
    """Line of the enclosing statement in a function; 0 outside of functions, where all code is executed."""
    number: int
    """Index among all alterations of its module."""
    refusal: str = ""
    """Name of the exception if the altered condition only decides whether that exception is raised; "" otherwise."""

    @property
    def name(self) -> str:
        again = f" #{self.occurrence}" if self.occurrence > 1 else ""
        where = f"{self.module}.{self.function}" if self.function else self.module
        return f"{where}: {self.rule}: {self.about}{again}"


def find_module_file(package: str, module: str) -> Path:
    """Return the file of a module. Raises ModuleNotFoundError."""
    spec = find_spec(f"{package}.{module}" if module else package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"no module {module!r} in {package}")
    return Path(spec.origin)


@cache
def read_module_text(package: str, module: str) -> str:
    return find_module_file(package, module).read_text("utf-8")


def find_places(source: ModelSource) -> list[AlterationPlace]:
    """Return all places in the modules of the protocol. Excluded are conditions of choices that the specification
    leaves open, and checks of misuse by the caller of the model.
    """
    every = (
        place
        for module in source.modules
        for place in _find_places_in(module, read_module_text(source.package, module))
    )
    found = (place for place in every if place.refusal not in source.misuse)
    return [p for p in found if p.rule not in _TURNED or not source.choice(p.about.removeprefix("not "))]


def _find_places_in(module: str, text: str) -> Iterator[AlterationPlace]:
    alike: Counter[tuple[str, str, str]] = Counter()
    for number, alteration in enumerate(alterations(ast.parse(text))):
        where, rule, about = alteration.where, alteration.rule, _one_line(alteration.node)
        alike[where.name, rule, about] += 1
        occurrence = alike[where.name, rule, about]
        old, new = _one_line(alteration.old), _one_line(alteration.new)
        line = alteration.node.lineno
        yield AlterationPlace(
            module, where.name, rule, about, old, new, occurrence, line, where.statement, number, where.refusal
        )


def _one_line(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())


def alter_module(package: str, place: AlterationPlace) -> ast.Module:
    """Return the syntax tree of the module of ``place`` with the alteration."""
    tree = ast.parse(read_module_text(package, place.module))
    next(islice(alterations(tree), place.number, None)).apply()
    return tree
