"""Expressions over the configuration in force, for times that a schedule cannot know as numbers.

An expression has whole numbers, names, ``+``, ``-``, ``*``, ``//``, ``min(...)``, ``max(...)``, brackets and
comparisons such as ``<=``, with the meaning of Python. A comparison has the value 1 or 0. A name is a field of the
configuration, ``now_ms``, ``start_ms``, a limit that implementations may declare, such as ``log_entries``, or
``max_lamport``, the greatest Lamport timestamp that the revision can encode. Of several implementations, the smallest
declared limit counts; a limit that no implementation declares is 2^61. ``min`` and ``max`` leave out arguments that
have no value because the implementation does not report a field. Nothing is executed.

SDS has these names, too:

- ``filter_bytes``: the size of the newest bloom filter that a participant has sent
- ``missing``: the number of missing messages that participants know of
- ``round_messages`` and ``round_requests``: the number of messages, and of messages with a repair request, that
  participants have sent since the last round of a ``repeat`` began
- ``filters_are_known``: 1 if the suite can read bloom filters of the declared profile, else 0
- ``repairs_are_shown``: 1 if the state that was shown last has the missing messages, else 0
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from functools import lru_cache

LONGEST = 200
"""Maximum length of an expression in characters."""
MOST = 1 << 62
"""Greatest absolute value of any part of an expression."""

TIMES = frozenset(("now_ms", "start_ms"))
"""The names of points in time, in epoch milliseconds."""
MAX_LAMPORT = "max_lamport"
FILTER_BYTES = "filter_bytes"
MISSING = "missing"
ROUND_MESSAGES = "round_messages"
ROUND_REQUESTS = "round_requests"
FILTERS_ARE_KNOWN = "filters_are_known"
REPAIRS_ARE_SHOWN = "repairs_are_shown"
OF_SDS = frozenset(
    (MAX_LAMPORT, FILTER_BYTES, MISSING, ROUND_MESSAGES, ROUND_REQUESTS, FILTERS_ARE_KNOWN, REPAIRS_ARE_SHOWN)
)
"""The names that only SDS has."""
UNLIMITED = MOST >> 1
"""The value of a limit that is not declared: small enough that a sum with another value stays below ``MOST``."""
UNTOLD = "the implementation does not report its "
"""Begins the reason why an expression has no value; the name of the unreported field follows."""

_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_FUNCTIONS: dict[str, Callable[[list[int]], int]] = {"min": min, "max": max}


class ExpressionError(ValueError):
    """A text is not an expression, or it has no value. The message has the reason."""


class UndefinedNameError(ExpressionError):
    """A name in an expression has no value."""


def names_in(text: str) -> set[str]:
    """The names in an expression. Raises ExpressionError if the text is not an expression."""
    return {node.id for node in ast.walk(_parse(text)) if isinstance(node, ast.Name)} - set(_FUNCTIONS)


def value_of(text: str, named: Callable[[str], int | None]) -> int:
    """The value of an expression. ``named`` returns the value of a name, or None for a name without a value. Raises
    ExpressionError."""
    return _value(_parse(text), named)


@lru_cache(maxsize=1_024)
def _parse(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise ExpressionError(f"an expression has at most {LONGEST} characters, not {len(text):,}")
    try:
        body = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ExpressionError(f"{text!r} is not an expression such as 't_max_ms // 2 + 1000'") from None
    for wrong in _strange(body):
        raise ExpressionError(
            f"{text!r} has {ast.unparse(wrong)!r}: allowed are whole numbers, names, +, -, *, //, comparisons, min "
            "and max"
        )
    return body


def _strange(node: ast.expr) -> Iterator[ast.expr]:
    """The syntax nodes of a parsed expression that the language of expressions does not allow."""
    match node:
        case ast.Constant(value=int() as number) if not isinstance(number, bool) and number <= MOST:
            return
        case ast.Name():
            return
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield from _strange(operand)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            yield from _strange(left)
            yield from _strange(right)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
            yield from _strange(left)
            yield from _strange(right)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS and args:
            for argument in args:
                yield from _strange(argument)
        case _:
            yield node


def _value(node: ast.expr, named: Callable[[str], int | None]) -> int:
    match node:
        case ast.Constant(value=int() as number):
            found = number
        case ast.Name(id=name):
            known = named(name)
            if known is None:
                raise UndefinedNameError(f"{UNTOLD}{name}")
            found = known
        case ast.UnaryOp(operand=operand):
            found = -_value(operand, named)
        case ast.BinOp(left=left, op=op, right=right):
            try:
                found = _OPERATORS[type(op)](_value(left, named), _value(right, named))
            except ZeroDivisionError:
                raise ExpressionError(f"{ast.unparse(node)} divides by zero") from None
        case ast.Compare(left=left, ops=[comparison], comparators=[right]):
            found = int(_COMPARISONS[type(comparison)](_value(left, named), _value(right, named)))
        case ast.Call(func=ast.Name(id=name), args=args):
            values, untold = [], ""
            for argument in args:
                try:
                    values.append(_value(argument, named))
                except UndefinedNameError as error:
                    untold = str(error)
            if not values:
                raise UndefinedNameError(untold)
            found = _FUNCTIONS[name](values)
        case _:  # pragma: no cover - _parsed lets no other part through
            raise AssertionError(ast.dump(node))
    if abs(found) > MOST:
        raise ExpressionError(f"{ast.unparse(node)} is beyond 2^62")
    return found
