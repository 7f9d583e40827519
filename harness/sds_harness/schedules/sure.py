"""Whether a value surely is what a JSON Schema allows: asked of functions that are made of the schema once.

They say yes ten times as quickly as a validator, and where they do not, nothing is said of the value: then the
validator is asked, which has words for what is wrong. So they may be unsure of anything, and do not know all keywords.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Sure = Callable[[Any], bool]
Schema = Mapping[str, Any]

_TYPES: dict[str, tuple[type, ...]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "string": (str,),
    "array": (list,),
    "object": (dict,),
}
"""Exactly these: True is no number, and 1.0 no integer."""
_SAY_NOTHING = frozenset({"$schema", "$defs", "title", "description"})
_READ_WITH_OTHERS = frozenset({"properties", "additionalProperties", "prefixItems", "items"})


def sure_of(schema: Schema) -> Sure:
    """Is a value surely valid?"""
    return _of(schema, schema)


def _of(schema: Any, root: Schema) -> Sure:
    if not isinstance(schema, dict):
        return _unsure
    rules: list[Sure] = []
    for keyword, value in schema.items():
        if keyword in _SAY_NOTHING or keyword in _READ_WITH_OTHERS:
            continue
        rule = _RULES.get(keyword)
        rules.append(rule(value, root) if rule is not None else _unsure)
    if "properties" in schema or "additionalProperties" in schema:
        rules.append(_members(schema, root))
    if "prefixItems" in schema or "items" in schema:
        rules.append(_items(schema, root))
    if len(rules) == 1:
        return rules[0]
    return lambda value: all(rule(value) for rule in rules)


def _unsure(value: Any) -> bool:
    return False


def _ref(value: str, root: Schema) -> Sure:
    kind, _, name = value.rpartition("/")
    return _of(root["$defs"][name], root) if kind == "#/$defs" else _unsure


def _type(value: str | Sequence[str], root: Schema) -> Sure:
    names = [value] if isinstance(value, str) else value
    types = frozenset(kind for name in names for kind in _TYPES[name])
    return lambda found: type(found) in types


def _same(allowed: Sequence[Any]) -> Sure:
    plain = [(type(one), one) for one in allowed if type(one) in (str, int, bool, type(None))]
    return lambda found: any(type(found) is kind and found == one for kind, one in plain)


def _of_type(kinds: tuple[type, ...], holds: Callable[[Any, Any], bool]) -> Callable[[Any, Schema], Sure]:
    """A keyword that says something of these types alone."""

    def rule(value: Any, root: Schema) -> Sure:
        return lambda found: type(found) not in kinds or holds(found, value)

    return rule


def _required(value: Sequence[str], root: Schema) -> Sure:
    names = frozenset(value)
    return lambda found: type(found) is not dict or names <= found.keys()


def _pattern(value: str, root: Schema) -> Sure:
    search = re.compile(value).search
    return lambda found: type(found) is not str or search(found) is not None


def _members(schema: Schema, root: Schema) -> Sure:
    known = {name: _of(rule, root) for name, rule in schema.get("properties", {}).items()}
    others = schema.get("additionalProperties", True)
    rest: Sure = _of(others, root) if isinstance(others, dict) else lambda found: others is True

    def rule(found: Any) -> bool:
        return type(found) is not dict or all(known.get(name, rest)(value) for name, value in found.items())

    return rule


def _items(schema: Schema, root: Schema) -> Sure:
    first = [_of(rule, root) for rule in schema.get("prefixItems", ())]
    others = schema.get("items", True)
    rest: Sure = _of(others, root) if isinstance(others, dict) else lambda found: others is True

    def rule(found: Any) -> bool:
        if type(found) is not list:
            return True
        before = all(one(value) for one, value in zip(first, found, strict=False))
        return before and all(rest(value) for value in found[len(first) :])

    return rule


def _one_of(value: Sequence[Any], root: Schema) -> Sure:
    """Of types that exclude each other, so that no two are valid."""
    kinds = []
    for one in value:
        meant = root["$defs"][one["$ref"].rpartition("/")[2]] if "$ref" in one else one
        kinds.append(meant.get("type"))
    if len({kind for kind in kinds if kind in ("null", "boolean", "string", "array", "object")}) < len(value):
        return _unsure
    rules = [_of(one, root) for one in value]
    return lambda found: any(rule(found) for rule in rules)


def _cases(value: Sequence[Any], root: Schema) -> Sure:
    """``allOf`` that says what belongs to which operation, and nothing else: see ``files``."""
    cases: dict[Any, Sure] = {}
    for case in value:
        kind = case["if"]["properties"]["op"]["const"]
        if kind in cases:
            return _unsure
        cases[kind] = _of(case["then"], root)

    def rule(found: Any) -> bool:
        kind = found.get("op") if type(found) is dict else None
        return type(kind) is str and kind in cases and cases[kind](found)

    return rule


_NUMBERS = (int, float)
_RULES: dict[str, Callable[[Any, Schema], Sure]] = {
    "$ref": _ref,
    "type": _type,
    "const": lambda value, root: _same([value]),
    "enum": lambda value, root: _same(value),
    "required": _required,
    "pattern": _pattern,
    "oneOf": _one_of,
    "allOf": _cases,
    "minimum": _of_type(_NUMBERS, lambda found, least: found >= least),
    "maximum": _of_type(_NUMBERS, lambda found, most: found <= most),
    "exclusiveMinimum": _of_type(_NUMBERS, lambda found, bound: found > bound),
    "exclusiveMaximum": _of_type(_NUMBERS, lambda found, bound: found < bound),
    "minLength": _of_type((str,), lambda found, least: len(found) >= least),
    "maxLength": _of_type((str,), lambda found, most: len(found) <= most),
    "minItems": _of_type((list,), lambda found, least: len(found) >= least),
    "maxItems": _of_type((list,), lambda found, most: len(found) <= most),
    "maxProperties": _of_type((dict,), lambda found, most: len(found) <= most),
}
