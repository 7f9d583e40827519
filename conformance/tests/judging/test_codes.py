"""The codes of violations: the checks give the same codes as the catalogue lists.

The sources of the checks are read, not run. The code argument of ``violated`` and ``judged`` is written as

- a literal, or a conditional expression of literals; "" stands for no code where nothing is violated;
- an item of a dictionary of literals in the same function or module: ``_CHANGED[name]``;
- a name that is assigned such a code in the same function, alone or with other values: ``code, seen = "late", "3"``;
- a parameter ``code`` of the function, which each call of it gives such a code, by position or by keyword;
- what a function of the checks returns, alone or with other values;
- the code of a ``Row`` of a table, a literal;
- an item of something else that the same function builds, or one of its module: then all slugs with a hyphen in it
  count as codes.

Anything else fails here: the reader does not understand it.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest

from sds_conformance.protocols import Protocol, protocols

GIVERS = ("violated", "judged")
PROTOCOLS = pytest.mark.parametrize("protocol", protocols(), ids=lambda protocol: protocol.name)
SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+){0,3}")
LONGEST = 90
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Module:
    """The source of a module: its functions, and the calls in each of them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tree = ast.parse(path.read_text("utf-8"))
        self.functions = [node for node in ast.walk(self.tree) if isinstance(node, Function)]
        self.calls = [
            (node.func.id, node, function)
            for function in self.functions
            for node in ast.walk(function)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        ]
        """By the name of what is called."""

    def place(self, node: ast.expr) -> str:
        return f"{self.path.parent.name}/{self.path.name}:{node.lineno}"


class Reader:
    """Reads the codes that the checks of a protocol give."""

    def __init__(self, folder: Path) -> None:
        self.modules = [Module(path) for path in sorted(folder.rglob("*.py"))]
        self._reading: list[tuple[ast.expr, int | None]] = []

    def given(self) -> Iterator[tuple[str, str]]:
        """All codes, with where they are given to ``violated`` or ``judged``."""
        for module in self.modules:
            for called, call, around in module.calls:
                if called in GIVERS:
                    code = argument(call, "code", 1)
                    assert code is not None, f"{module.place(call)}: no code"
                    codes = self._codes(module, around, code)
                    yield from ((code, module.place(call)) for code in codes)

        for module in self.modules:
            for row in (node for node in ast.walk(module.tree) if isinstance(node, ast.Call)):
                if isinstance(row.func, ast.Name) and row.func.id == "Row":
                    code = argument(row, "code", 3)
                    assert isinstance(code, ast.Constant), f"{module.place(row)}: the code of a row is a literal"
                    if code.value:
                        yield str(code.value), module.place(row)

    def _codes(self, module: Module, around: Function, node: ast.expr, at: int | None = None) -> set[str]:
        """The codes that an expression can be, or of a tuple the item ``at`` that place."""
        if (node, at) in self._reading:
            return set()  # a name that keeps its code, or a function that calls itself
        self._reading.append((node, at))
        try:
            return self._read(module, around, node, at)
        finally:
            self._reading.pop()

    def _read(self, module: Module, around: Function, node: ast.expr, at: int | None) -> set[str]:
        match node:
            case ast.Constant(value=str(code)) if at is None:
                return {code} if code else set()
            case ast.Constant(value=None):
                return set()
            case ast.IfExp(body=body, orelse=otherwise):
                return self._codes(module, around, body, at) | self._codes(module, around, otherwise, at)
            case ast.Tuple(elts=values) if at is not None:
                return self._codes(module, around, values[at])
            case ast.Dict(values=values) if at is None:
                return set().union(*(self._codes(module, around, value) for value in values))
            case ast.Subscript(value=ast.Name() as name) if at is None:
                return self._codes(module, around, name)
            case ast.Name(id=name):
                return self._named(module, around, name, at)
            case ast.BoolOp(values=values):
                return set().union(*(self._codes(module, around, value, at) for value in values))
            case ast.Call(func=ast.Name(id=name)) if any(f.name == name for m in self.modules for f in m.functions):
                return self._returned(module, name, at)
        codes = set(self._slugs_behind(module, around, node))
        assert codes, f"{module.place(node)}: unreadable code {ast.unparse(node)!r}"
        return codes

    def _named(self, module: Module, around: Function, name: str, at: int | None) -> set[str]:
        """The codes of a parameter, of a name of the function, or of one of the module."""
        parameters = [*around.args.posonlyargs, *around.args.args, *around.args.kwonlyargs]
        if name in (parameter.arg for parameter in parameters):
            return self._passed(module, around, [parameter.arg for parameter in parameters].index(name), name)
        local, shared = ast.walk(around), iter(module.tree.body)
        for statements in (local, shared):
            codes: set[str] = set()
            for statement in statements:
                match statement:
                    case ast.Assign(targets=[ast.Name(id=str(target))], value=value) if target == name:
                        codes |= self._codes(module, around, value, at)
                    case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value) if at is None:
                        for place, each in enumerate(targets):
                            if isinstance(each, ast.Name) and each.id == name:
                                codes |= self._codes(module, around, value, place)
            if codes:
                return codes
        raise AssertionError(f"{module.path.name}: {name} in {around.name} has no code that can be read")

    def _slugs_behind(self, module: Module, around: Function, node: ast.expr) -> Iterator[str]:
        """What looks like a code in the values of the names in an expression, and in functions that give them."""
        names = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
        assigned = (statement for statement in ast.walk(around) if isinstance(statement, ast.Assign))
        made: list[ast.AST] = [each.value for each in assigned if names.intersection(map(ast.unparse, each.targets))]
        called = {ast.unparse(call.func) for value in made for call in ast.walk(value) if isinstance(call, ast.Call)}
        made += [function for function in module.functions if function.name in called]
        for each in made:
            for value in ast.walk(each):
                if isinstance(value, ast.Constant) and isinstance(value.value, str) and "-" in value.value:
                    yield from [value.value] if SLUG.fullmatch(value.value) else ()

    def _passed(self, module: Module, function: Function, place: int, name: str) -> set[str]:
        """The codes that the calls of a function give it, which for a private one are in its module."""
        codes: set[str] = set()
        for other in [module] if function.name.startswith("_") else self.modules:
            for called, call, around in other.calls:
                given = argument(call, name, place) if called == function.name else None
                codes |= self._codes(other, around, given) if given is not None else set()
        return codes

    def _returned(self, module: Module, name: str, at: int | None) -> set[str]:
        modules = [module, *(other for other in self.modules if other is not module)]
        found = ((other, function) for other in modules for function in other.functions if function.name == name)
        home, function = next(found)
        values = [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]
        return set().union(*(self._codes(home, function, value, at) for value in values))


def argument(call: ast.Call, name: str, place: int) -> ast.expr | None:
    """The argument of that name; None if the call leaves it out."""
    named = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
    return named or (call.args[place] if place < len(call.args) else None)


def room_of(protocol: Protocol) -> Path:
    """The folder of a protocol, found by that of its rules."""
    return Path(str(files(type(protocol.rules).__module__.rpartition(".")[0])))


@cache
def given_by(folder: Path) -> tuple[tuple[str, str], ...]:
    return tuple(Reader(folder).given())


def listed_by(protocol: Protocol) -> list[tuple[str, str, str]]:
    """By requirement: each code, with its description."""
    requirements = protocol.rules.catalogue.requirements.values()
    return [(requirement.id, code, text) for requirement in requirements for code, text in requirement.codes.items()]


@PROTOCOLS
def test_a_code_is_a_slug_of_few_words_with_a_short_description(protocol: Protocol) -> None:
    assert [code for code, _ in given_by(room_of(protocol) / "checks") if not SLUG.fullmatch(code)] == []
    listed = listed_by(protocol)
    assert [(who, code) for who, code, _ in listed if not SLUG.fullmatch(code)] == []
    assert [(who, code) for who, code, text in listed if not text or len(text) > LONGEST or text.endswith(".")] == []


@PROTOCOLS
def test_what_checks_give_is_listed(protocol: Protocol) -> None:
    listed = {code for _, code, _ in listed_by(protocol)}
    unlisted = {code: place for code, place in given_by(room_of(protocol) / "checks") if code not in listed}
    unlisted.pop("wrong", None)  # a placeholder, see below
    assert unlisted == {}


@PROTOCOLS
def test_what_is_listed_is_given_by_some_check(protocol: Protocol) -> None:
    given = {code for code, _ in given_by(room_of(protocol) / "checks")}
    assert [(who, code) for who, code, _ in listed_by(protocol) if code not in given] == []


def test_no_placeholder_is_left_in_the_checks_of_core_sds() -> None:
    places = {place for code, place in given_by(room_of(protocols()[0]) / "checks") if code == "wrong"}
    assert [place for place in places if place.startswith("core/")] == []


@PROTOCOLS
def test_a_requirement_lists_its_codes_once(protocol: Protocol) -> None:
    """Of two lists in one row the reader would take the last one, and say nothing."""

    def row(pairs: list[tuple[str, object]]) -> dict[str, object]:
        names = [name for name, _ in pairs]
        assert len(set(names)) == len(names), f"{names} of {dict(pairs).get('id')}"
        return dict(pairs)

    for path in (room_of(protocol) / "catalogue").glob("*.json"):
        json.loads(path.read_text("utf-8"), object_pairs_hook=row)
