"""Messages and entries are values: they never change, whichever way they are made."""

from __future__ import annotations

from dataclasses import MISSING, FrozenInstanceError, fields, replace
from inspect import signature
from typing import Any

import pytest

from sds_reference import HistoryEntry, LogEntry, Message

pytestmark = pytest.mark.every_python

ENTRY = HistoryEntry("m-1", b"hint", "alice")
VALUES = [
    ENTRY,
    LogEntry("m-1", 7, "alice", b"hint"),
    Message("alice", "m-2", "c1", 8, (ENTRY,), b"\x01", (HistoryEntry("m-0"),), b"hello"),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_every_argument_becomes_the_field_of_its_name(value: Any) -> None:
    given = [getattr(value, field.name) for field in fields(value)]
    assert len(set(map(repr, given))) == len(given), "equal fields would hide that two are exchanged"
    assert type(value)(*given) == value
    assert [*signature(type(value)).parameters] == [field.name for field in fields(value)]
    assert type(value)(**dict(zip(signature(type(value)).parameters, given, strict=True))) == value
    assert all(f"{field.name}={getattr(value, field.name)!r}" in repr(value) for field in fields(value))


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_what_is_not_given_is_the_default_of_the_field(value: Any) -> None:
    defaults = {name: p.default for name, p in signature(type(value)).parameters.items() if p.default is not p.empty}
    assert defaults == {field.name: field.default for field in fields(value) if field.default is not MISSING}


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_no_field_of_it_can_be_set_or_deleted(value: Any) -> None:
    for field in fields(value):
        with pytest.raises(FrozenInstanceError):
            setattr(value, field.name, "other")
        with pytest.raises(FrozenInstanceError):
            delattr(value, field.name)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_equal_ones_are_the_same_key_and_a_copy_with_a_change_is_another(value: Any) -> None:
    other = replace(value, message_id="m-9")
    assert {value: 1}[replace(value)] == 1
    assert (other.message_id, value == other) == ("m-9", False)
