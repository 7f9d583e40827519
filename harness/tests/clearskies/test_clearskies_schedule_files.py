"""Schedules of ClearSkies as files: every operation is read back unchanged, classes and schema agree, and no file is
trusted.
"""

from __future__ import annotations

import json
from dataclasses import MISSING, fields
from typing import Any

import pytest

from sds_harness.clearskies import operations as ops
from sds_harness.clearskies.notation import NOTATION
from sds_harness.clearskies.operations import Member, Operation
from sds_harness.schedules import Schedule, ScheduleFileError, dumps
from sds_harness.schedules.files import to_json

WRITTEN: dict[str, Any] = {
    "read_only": True,
    "label": "x1",
    "key": "a",
    "content": "text",
    "deleted": True,
    "after": "m1",
    "concurrent": True,
    "at_ms": -5,
    "digits": 9,
    "poses_as": "alice",
    "revision": 1 << 64,
    "clock_members": 10_000,
    "clock_number": 1 << 63,
    "signature": "forged",
    "odd": "nan",
    "value": "[1, 2]",
    "record": "door",
    "clock": (ops.Entry("xavier", 1 << 64), ops.Entry("nobody")),
    "time": "2014-02-23T23:45:39Z",
    "members": '{"a": 1}',
    "without": ("uuid", "value"),
    "body": '{"type": "x"}',
    "length": 9,
    "body_bytes": 300,
    "levels": 4,
}
"""The fields of an update, none at its default."""
FULL: dict[str, Operation] = {
    operation.op: operation.with_values(when="now_ms > 5")
    for operation in (
        ops.Put("alice", "m1", "ключ", '{"a": 1}', 3, '["b"]', "door", 9),
        ops.Rename("alice", "m1", "", "\u2028"),
        ops.Delete("alice", "m1", "a/b"),
        ops.LinkPeers("alice", "bob", held=True, second=True),
        ops.Unlink("alice", "bob"),
        ops.Hold("alice", "bob"),
        ops.Release("alice", "bob", 17, one_way=True),
        ops.Close("alice"),
        ops.Reopen("alice", forget=True, killed=True),
        ops.Read("alice", read_only=True),
        ops.Say("xavier", to="bob", link="l1", **WRITTEN),
        ops.Again("xavier", "bob", True, "m2", True, link="l1"),
        ops.Ask("xavier", "bob", True, 1 << 63, (ops.Entry("zoe", label="m1"),), '{"max": 1}', link="l1"),
        ops.Garble("xavier", "bob", True, "00ff", link="l1"),
        ops.Leave("xavier", "bob", True, link="l1"),
        ops.Write("xavier", **WRITTEN),
        ops.Connect("xavier", "bob", True, link="l1"),
        ops.Send("xavier", "bob", True, link="l1", messages=("x1", ops.MessageCopy("m1", -9, 7, True)), joined=True),
        ops.Tick("bob"),
        ops.Wait(1_000, "now_ms - start_ms"),
        ops.Settle(),
        ops.Look("bob"),
        ops.CompareClocks("bob", (ops.Entry("alice", 2), ops.Entry("bob")), (ops.Entry("alice", 1),)),
        ops.StepClock("bob", -5),
        ops.Require(("observe",), "now_ms > 0", "it is early"),
        ops.Calm(rounds=3, period_ms=500),
    )
}
"""Every operation, with no field at its default."""
NOT_IN_FILES = {"tick": {"route"}, "calm": {"store"}, "look": {"channel", "filter"}}
"""Operations and fields that only other protocols have."""


def schedule(*operations: Operation, **changed: Any) -> Schedule:
    return Schedule((Member("alice"), Member("bob", clock_ms=7, read_only=True, store=True)), operations, (), **changed)


def row(*operations: dict[str, Any], **changed: Any) -> str:
    """The text of a file with these operations."""
    members = [{"name": name} for name in ("alice", "bob")]
    return json.dumps(
        {"version": 1, "seed": 0, "members": members, "channels": [], "operations": list(operations)} | changed
    )


def test_every_operation_is_here_and_no_field_of_it_has_its_default() -> None:
    assert list(FULL) == list(ops.OPERATIONS)
    for name, operation in FULL.items():
        for field in fields(operation):
            if field.name not in NOT_IN_FILES.get(name, ()):
                assert getattr(operation, field.name) != field.default, (name, field.name)


@pytest.mark.parametrize("operation", FULL.values(), ids=FULL)
def test_an_operation_survives_with_all_its_fields_and_with_none(operation: Operation) -> None:
    assert NOTATION.loads(dumps(schedule(operation))).operations == (operation,)
    needed = {f.name: getattr(operation, f.name) for f in fields(operation) if f.default is MISSING}
    plain = type(operation)(**needed)
    (written,) = to_json(schedule(plain))["operations"]
    assert set(written) == {"op", *needed}
    assert NOTATION.loads(dumps(schedule(plain))) == schedule(plain)


BAD: dict[str, tuple[str, str]] = {
    "a channel": (row(channels=["c1"]), "channels: the length 1 exceeds the maximum of 0"),
    "an operation of SDS": (row({"op": "sync", "who": "alice"}), "operations[0].op: there is no op"),
    "nobody who is there": (row({"op": "put", "who": "zoe", "label": "m"}), "operations[0] (put): there is no part"),
    "a revision of 65 bits": (
        row({"op": "say", "peer": "x", "to": "bob", "revision": 1 << 65}),
        "operations[0].revision: 36893488147419103232 is greater than the maximum",
    ),
    "a clock of millions": (
        row({"op": "say", "peer": "x", "to": "bob", "clock_members": 1_000_000}),
        "operations[0].clock_members: 1000000 is greater than the maximum of 20000",
    ),
    "too many writes": (
        row(*[{"op": "put", "who": "alice", "label": "m", "times": 1_000}] * 7),
        "operations: 7,000 messages to 1 participants are 7,000 arrivals",
    ),
}


@pytest.mark.parametrize(("text", "said"), BAD.values(), ids=BAD)
def test_what_is_no_schedule_is_refused_with_what_and_where(text: str, said: str) -> None:
    with pytest.raises(ScheduleFileError) as caught:
        NOTATION.loads(text)
    assert str(caught.value).startswith(said)
