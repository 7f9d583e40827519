"""What is surely valid is valid, whatever is wrong with a schedule and wherever; what is generated surely is."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from sds_harness.schedules.files import to_json
from sds_harness.schedules.sure import sure_of
from sds_harness.sds.generator import generated
from sds_harness.sds.notation import NOTATION

ODD = [None, True, -1, 1.0, 0.5, 10**20, "", "zz", "x" * 100_001, [], [1], ["a"] * 300, {}, {"a": 1}, {"op": "send"}]


def plans() -> list[Any]:
    return [json.loads(json.dumps(to_json(generated(0, index)))) for index in (3, 4, 8)]


def damaged(data: Any) -> Iterator[Any]:
    """One place is another one, is gone, or is there twice over: of operations the first of each kind."""

    def places(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        yield path
        seen = set()
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if path else ():
            what = inner.get("op", "") if isinstance(inner, dict) else key
            if isinstance(value, dict) or what not in seen:
                seen.add(what)
                yield from places(inner, (*path, key)) if isinstance(inner, (dict, list)) else [(*path, key)]

    for path in places(data, ()):
        for odd in ODD:
            other = copy.deepcopy(data)
            inner = other
            for key in path[:-1]:
                inner = inner[key]
            if path:
                inner[path[-1]] = odd
                yield other
        if path and isinstance(path[-1], str):
            inner.pop(path[-1])
            yield other
            inner["another"] = 1
            yield other


def test_what_is_generated_is_surely_valid() -> None:
    for index in range(40):
        assert NOTATION._sure(json.loads(json.dumps(to_json(generated(1, index)))))


def test_nothing_that_is_wrong_is_surely_valid() -> None:
    wrong = right = 0
    for data in (short(plan) for plan in plans()):
        for other in damaged(data):
            valid = NOTATION._validator.is_valid(other)
            assert valid or not NOTATION._sure(other), other
            wrong, right = wrong + (not valid), right + (valid and NOTATION._sure(other))
    assert wrong > 500
    assert right > 20


def short(plan: Any) -> Any:
    """With one operation of each kind, that which says most."""
    kinds = {row["op"]: row for row in sorted(plan["operations"], key=len)}
    return plan | {"operations": list(kinds.values()), "members": plan["members"][:2]}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "format": "date"},
        {"not": {"type": "string"}},
        {"oneOf": [{"type": "string"}, {"type": "string", "maxLength": 9}]},
        {"oneOf": [{"minLength": 1}, {"maxLength": 9}]},
        {"$ref": "https://example.org/schema"},
        {"const": []},
        True,
    ],
)
def test_of_what_it_does_not_know_it_is_not_sure(schema: Any) -> None:
    assert not sure_of(schema)("text")
