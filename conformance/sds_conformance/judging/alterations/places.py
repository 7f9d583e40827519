"""Places: where the source of a model can be altered, each with a name that outlives the numbers of lines."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from .source import Source
from .syntax import Alteration, alterations

_TURNED = ("always", "never", "negated", "opposite", "without")
"""Rules that decide a condition otherwise."""


@dataclass(frozen=True)
class Place:
    """One change that can be made, as plain data."""

    module: str
    """Without the name of the package."""
    function: str
    """The function, class or value that it is in, as far as there is one."""
    rule: str
    about: str
    """The node that it is about, as source."""
    old: str
    """What is replaced, most often the same."""
    new: str
    """What stands there afterwards."""
    occurrence: int
    """Which of several that are alike in a function, from 1."""
    line: int
    statement: int
    """The line of the statement in a function that it is part of; 0 outside of functions, where all of it is run."""
    number: int
    """Which of all the changes of its module."""
    refusal: str = ""
    """The exception that is raised, or not, by what is changed there, and nothing else depends on it."""

    @property
    def name(self) -> str:
        again = f" #{self.occurrence}" if self.occurrence > 1 else ""
        where = f"{self.module}.{self.function}" if self.function else self.module
        return f"{where}: {self.rule}: {self.about}{again}"


def source_of(package: str, module: str) -> Path:
    """The file of a module. Raises ModuleNotFoundError."""
    spec = find_spec(f"{package}.{module}" if module else package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"no module {module!r} in {package}")
    return Path(spec.origin)


@cache
def text_of(package: str, module: str) -> str:
    return source_of(package, module).read_text("utf-8")


def places(source: Source) -> list[Place]:
    """All places of the modules that hold the protocol, but for choices that the text leaves open, and for what the
    model does not take from its caller."""
    every = (place for module in source.modules for place in _places(module, text_of(source.package, module)))
    found = (place for place in every if place.refusal not in source.misuse)
    return [p for p in found if p.rule not in _TURNED or not source.choice(p.about.removeprefix("not "))]


def _places(module: str, text: str) -> Iterator[Place]:
    alike: Counter[tuple[str, str, str]] = Counter()
    for number, alteration in enumerate(alterations(ast.parse(text))):
        where, rule, about = alteration.where, alteration.rule, _words(alteration.node)
        alike[where.name, rule, about] += 1
        occurrence = alike[where.name, rule, about]
        old, new = _words(alteration.old), _words(alteration.new)
        line = alteration.node.lineno
        yield Place(module, where.name, rule, about, old, new, occurrence, line, where.statement, number, where.refusal)


def _words(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())


def altered(package: str, place: Place) -> ast.Module:
    """The module of ``place`` with that change."""
    tree = ast.parse(text_of(package, place.module))
    _numbered(alterations(tree), place.number).apply()
    return tree


def _numbered(found: Iterable[Alteration], number: int) -> Alteration:
    return next(alteration for at, alteration in enumerate(found) if at == number)
