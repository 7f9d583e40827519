"""The rules that alter source code: each yields every possible change to a syntax tree, one at a time."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_BOUNDARY: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
_SIGN: dict[type[ast.operator], type[ast.operator]] = {ast.Add: ast.Sub, ast.Sub: ast.Add}

_ANY_ORDER = ("max", "min")
"""Functions for which the order of the arguments does not matter."""
_LEFT_ALONE = (ast.Assert, ast.Raise, ast.JoinedStr, ast.Import, ast.ImportFrom)
"""Nodes that are not altered, because only messages or types depend on them. The condition that decides whether an
exception is raised is altered.
"""


@dataclass(frozen=True)
class NodePosition:
    """Position of a node in a module."""

    name: str = ""
    """Name of the enclosing function or class, or of the assigned variable."""
    statement: int = 0
    """Line of the enclosing statement in a function; 0 outside of functions."""
    inside: bool = False
    """Is the node in a function?"""
    refusal: str = ""
    """Name of the exception if the node is in the condition of an `if` whose body only raises an exception; ""
    otherwise."""


@dataclass(frozen=True)
class Alteration:
    """One possible change to a syntax tree. `apply` makes the change."""

    rule: str
    node: ast.expr | ast.stmt
    """The node that names the place."""
    where: NodePosition
    old: ast.expr | ast.stmt
    """The node that is replaced: ``node``, or an expression of which it is an operand."""
    new: ast.expr | ast.stmt
    """The replacement."""
    put: Callable[[Any], None]
    """Stores the replacement in the parent node."""

    def apply(self) -> None:
        self.put(ast.fix_missing_locations(ast.copy_location(self.new, self.old)))


def alterations(tree: ast.Module) -> Iterator[Alteration]:
    """Yield every change to ``tree``, in the order of the source."""
    yield from _alterations_below(tree, NodePosition())


def _alterations_below(node: ast.AST, where: NodePosition) -> Iterator[Alteration]:
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "args") and not isinstance(node, ast.Call):
            continue
        if isinstance(value, ast.AST):
            here = _enter_node(node, value, where)
            if field == "test":
                here = replace(here, refusal=_raised_exception(node))
            yield from _alterations_at(value, here, partial(setattr, node, field), condition=field == "test")
        elif isinstance(value, list):
            for place, item in enumerate(value):
                if isinstance(item, ast.AST):
                    here = _enter_node(node, item, where)
                    yield from _alterations_at(item, here, partial(value.__setitem__, place), condition=field == "ifs")


def _enter_node(parent: ast.AST, node: ast.AST, where: NodePosition) -> NodePosition:
    """The position of ``node``, given the position of its parent."""
    if isinstance(node, ast.stmt) and where.inside:
        where = replace(where, statement=node.lineno)
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        inside = where.inside or isinstance(node, ast.FunctionDef)
        return NodePosition(f"{where.name}.{node.name}".lstrip("."), where.statement, inside)
    if not where.inside and isinstance(node, ast.Assign | ast.AnnAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        return replace(where, name=f"{where.name}.{ast.unparse(target)}".lstrip("."))
    return where


def _raised_exception(node: ast.AST) -> str:
    """Return the name of the exception if the body of an `if` only raises an exception; "" otherwise."""
    match node:
        case ast.If(body=[ast.Raise(exc=ast.Call(func=ast.Name(name)))], orelse=[]):
            return name
    return ""


def _alterations_at(
    node: ast.AST, where: NodePosition, put: Callable[[Any], None], *, condition: bool
) -> Iterator[Alteration]:
    """Yield the changes of a node itself, then the changes of the nodes below it."""
    if isinstance(node, _LEFT_ALONE):
        return
    if isinstance(node, ast.expr):
        for rule, new in _expression(node, condition):
            yield Alteration(rule, node, where, node, new, put)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield Alteration("dropped", node, where, node, ast.Pass(), put)
    elif isinstance(node, ast.AugAssign) and (sign := _SIGN.get(type(node.op))):
        yield Alteration("sign", node, where, node, ast.AugAssign(node.target, sign(), node.value), put)
    if isinstance(node, ast.BoolOp):
        for place, operand in enumerate(node.values):
            left = [value for other, value in enumerate(node.values) if other != place]
            yield Alteration(
                "without", operand, where, node, ast.BoolOp(node.op, left) if len(left) > 1 else left[0], put
            )
    yield from _alterations_below(node, where)


def _expression(node: ast.expr, condition: bool) -> Iterator[tuple[str, ast.expr]]:
    """Yield replacements of an expression, each with the name of its rule; for a ``condition``, also True and False."""
    if condition:
        yield "always", ast.Constant(True)
        yield "never", ast.Constant(False)
    match node:
        case ast.Compare(left, ops, comparators):
            for place, op in enumerate(ops):
                for rule, others in ("opposite", _OPPOSITE), ("boundary", _BOUNDARY):
                    if other := others.get(type(op)):
                        yield rule, ast.Compare(left, [*ops[:place], other(), *ops[place + 1 :]], comparators)
        case ast.UnaryOp(ast.Not(), operand):
            yield "negated", operand
        case ast.Constant(bool(value)):
            yield "flipped", ast.Constant(not value)
        case ast.Constant(int(value) | float(value)):
            yield "one-more", ast.Constant(value + 1)
            yield "one-less", ast.Constant(value - 1)
        case ast.BinOp(left, op, right) if sign := _SIGN.get(type(op)):
            yield "sign", ast.BinOp(left, sign(), right)
        case ast.Call(function, arguments, keywords) if ast.unparse(function) not in _ANY_ORDER:
            for place in range(len(arguments) - 1):
                first, second = arguments[place : place + 2]
                starred = isinstance(first, ast.Starred) or isinstance(second, ast.Starred)
                if not starred and ast.unparse(first) != ast.unparse(second):
                    swapped = [*arguments[:place], second, first, *arguments[place + 2 :]]
                    yield "swapped", ast.Call(function, swapped, keywords)
        case _ if condition:
            yield "negated", ast.UnaryOp(ast.Not(), node)
