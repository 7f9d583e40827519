"""Schedules as files: every operation is read back unchanged, classes and schema agree, and no file is trusted."""

from __future__ import annotations

import json
import runpy
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest

from sds_harness.schedules import Schedule, ScheduleFileError, dumps
from sds_harness.schedules.files import MAX_BYTES, to_json
from sds_harness.sds import operations as ops
from sds_harness.sds.notation import NOTATION
from sds_harness.sds.operations import Member, Operation, Route
from sds_proto.testee.v1 import testee_pb2 as pb

GENERATOR = runpy.run_path(str(Path(__file__).parents[1] / "generate_schedule_schemas.py"))
MEMBERS = ("alice", "bob", "Žofie 🦊")
CHANNELS = ("c1", "c2")
ROUTE = Route(("bob",), (("alice", 30), ("bob", 0)), ("Žofie 🦊", "alice"))

WRITTEN: dict[str, Any] = {
    "lamport_ms": -5,
    "content": "ho",
    "raw": "7f",
    "filter": ("m1", ops.Entry(id="other")),
    "raw_filter": "00ff",
    "senders_named": True,
    "hint": True,
    "id_of": "m1",
    "message_id": "m",
    "empty": ("sender", "filter", "message_id"),
    "poses_as": "bob",
    "encoding": "reversed",
    "channel": 1,
    "number": 7,
    "since": "m2",
    "lamport": 8,
    "filter_of": "m1",
    "ones": "filter_bytes - 1",
    "twin": "upper",
    "length": 9,
    "layout": "sds-2026-01",
}
"""The fields of a message, none at its default."""
FULL: dict[str, Operation] = {
    operation.op: operation.with_values(when="now_ms > 5")
    for operation in (
        ops.Send(
            "alice",
            "m1",
            channel=1,
            content="hi\n\u2028",
            raw="00ff",
            hint=True,
            message_id="\0",
            empty=("hint",),
            times=3,
            numbered=True,
            may_be_refused=True,
            route=ROUTE,
            raw_hint="ff",
        ),
        ops.Sync("alice", channel=1, route=ROUTE, label="s1", or_content=True),
        ops.Ephemeral("alice", channel=1, raw="7f", route=ROUTE, empty=("content",), may_be_refused=True),
        ops.Tick("bob", route=ROUTE),
        ops.Wait(1_000, "t_max_ms // 2"),
        ops.Look("bob", channel=1, filter=("m1", ops.Entry(id="other"))),
        ops.Join("bob"),
        ops.Crash("bob"),
        ops.StepClock("bob", -5),
        ops.Links(50, 20, (10, 30), "alice", "bob"),
        ops.Cut(("alice",), ("bob", "Žofie 🦊"), both=False),
        ops.Heal(),
        ops.Lookup("bob"),
        ops.Again("m1", "bob", asks=("m2", "m3")),
        ops.Say("xavier", "x1", after=("m1", "m2"), asks=("m3",), to="alice", route=ROUTE, **WRITTEN),
        ops.Write(
            "xavier", "x1", after=(ops.Entry("m1", hint="00", sender="bob"), "m2"), asks=(ops.Entry("m2"),), **WRITTEN
        ),
        ops.Receive("bob", ("x1", "m1", "x1"), hint="ff", asked=True, unanswered_since="t1", empty=("hint",)),
        ops.Settle("bob", undelivered="x1"),
        ops.Mark("t1"),
        ops.Require(("observe",), "t_max_ms <= 5", "T_max is too long"),
        ops.Garble("bob", "00ff", "x1", -3, percent=50),
        ops.Calm(rounds=3, period_ms=500, store=True),
        ops.Repeat(2, 7, "bloom_capacity // 2", "missing == 0"),
        ops.Await("bob", ("m1",), nth=2, ms=-1, most="t_max_ms", otherwise="t_min_ms"),
        ops.BuildFilter(("a",), ("b", "c"), "bob", times=3, strangers=5),
        ops.RepairTimes("bob", "alice", "m", num_response_groups=3, t_min_ms=5, t_max_ms=7),
    )
}
"""Every operation, with no field at its default."""


def schedule(*operations: Operation, **changed: Any) -> Schedule:
    return Schedule(tuple(Member(name) for name in MEMBERS), operations, CHANNELS, **changed)


def row(*operations: dict[str, Any], **changed: Any) -> str:
    """The text of a file with these operations."""
    members = [{"name": name} for name in MEMBERS]
    data = {"version": 1, "seed": 0, "members": members, "channels": list(CHANNELS), "operations": list(operations)}
    return json.dumps(data | changed)


def complaint(text: str) -> str:
    with pytest.raises(ScheduleFileError) as caught:
        NOTATION.loads(text)
    return str(caught.value)


def defaults(kind: type[Any]) -> dict[str, Any]:
    """The fields of a class that have a default."""
    return {f.name: f.default for f in fields(kind) if f.default is not MISSING}


# ---- There and back --------------------------------------------------------------------------------------------------


def test_every_operation_is_here_and_no_field_of_it_has_its_default() -> None:
    assert list(FULL) == list(ops.OPERATIONS)
    for operation in (*FULL.values(), ROUTE):
        assert [name for name, value in defaults(type(operation)).items() if getattr(operation, name) == value] == []


@pytest.mark.parametrize("operation", FULL.values(), ids=FULL)
def test_an_operation_survives_and_its_fields_are_written_unless_they_have_their_defaults(operation: Operation) -> None:
    needed = {f.name: getattr(operation, f.name) for f in fields(operation) if f.default is MISSING}
    for one, written in ((operation, [f.name for f in fields(operation)]), (type(operation)(**needed), [*needed])):
        assert list(to_json(schedule(one))["operations"][0]) == ["op", *written]
        assert NOTATION.loads(dumps(schedule(one))).operations == (one,)


def test_a_file_has_one_line_for_an_operation_and_is_in_utf8(tmp_path: Path) -> None:
    whole = schedule(*FULL.values())
    text = dumps(whole)
    rows = [line for line in text.split("\n") if line.startswith('  {"op"')]
    assert len(rows) == len(FULL)
    assert json.loads(text) == to_json(whole)
    file = tmp_path / "schedule.json"
    file.write_text(text, "utf-8")
    assert NOTATION.load(file) == whole
    assert NOTATION.loads(dumps(schedule())) == schedule()


# ---- Classes and schema ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", ["sds", "clearskies"])
def test_the_schema_follows_from_the_classes_of_operations(protocol: str) -> None:
    text = GENERATOR["path_of"](protocol).read_text("utf-8")
    assert GENERATOR["text_of"](protocol) == text, "run `python harness/generate_schedule_schemas.py`"


def test_whatever_may_be_configured_fits_into_the_testee_protocol() -> None:
    asked = NOTATION.schema["$defs"]["configuration"]["properties"]
    assert {*asked} == {*pb.Configuration.DESCRIPTOR.fields_by_name}
    for name, shape in asked.items():
        bounds = NOTATION.schema["$defs"]["ms"] if "$ref" in shape else shape
        for bound in {"minimum", "maximum"} & {*bounds}:
            text = row(configuration={name: bounds[bound]})
            assert pb.Configuration(**dict(NOTATION.loads(text).configuration)).HasField(name)  # type: ignore[arg-type]


# ---- What is not a schedule ------------------------------------------------------------------------------------------

BAD: dict[str, tuple[str, str]] = {
    "nothing": ("", "the text is not JSON: Expecting value: line 1 column 1"),
    "a list": ("[]", "the file: [] is not of type 'object'"),
    "another version": (
        row(version=2),
        "version: this is version 2 of the format, and this suite reads version 1: record it again",
    ),
    "an unknown field": (row(later=1), "later: this field does not exist. There are version, name, seed, members, "),
    "an op that is misspelt": (row({"op": "snd"}), "operations[0].op: there is no operation 'snd'. Did you mean send?"),
    "a field that is misspelt": (
        row({"op": "send", "who": "bob", "label": "m", "chanel": 1}),
        "operations[0].chanel: this field does not exist. Did you mean channel?",
    ),
    "a revision that the notes contradict": (
        row(revision="sds-2026-01", notes={"revision": "forum-2024"}),
        "revision: the notes name another revision, 'forum-2024'",
    ),
    "an expectation that is misspelt": (
        row(expect=[{"who": "bob", "deliver": ["m"]}]),
        "expect[0].deliver: this field does not exist. Did you mean delivers?",
    ),
    "an expectation of somebody who is not there": (
        row({"op": "send", "who": "bob", "label": "m1"}, expect=[{"who": "bobb", "delivers": ["m1"]}]),
        "expect[0].who: there is no participant 'bobb'. Did you mean bob?",
    ),
    "an expectation of a message that is not there": (
        row({"op": "send", "who": "bob", "label": "first"}, expect=[{"who": "bob", "delivers": ["frst"]}]),
        "expect[0].delivers[0]: no operation has the label 'frst'. Did you mean first?",
    ),
    "a period that is not an expression": (
        row({"op": "wait", "period": "t_max_ms /"}),
        "operations[0] (wait): period: 't_max_ms /'",
    ),
    "a period of a field that is misspelt": (
        row({"op": "wait", "period": "t_max // 2"}),
        "operations[0] (wait): period: there is no setting or limit 't_max'. Did you mean t_max_ms?",
    ),
    "a condition on a field that is misspelt": (
        row({"op": "require", "condition": "t_min_m <= 5"}),
        "operations[0] (require): condition: there is no setting or limit 't_min_m'. Did you mean t_min_ms?",
    ),
    "a limit that is misspelt in the condition of an operation": (
        row({"op": "tick", "when": "log_entrys > 5"}),
        "operations[0] (tick): when: there is no setting or limit 'log_entrys'. Did you mean log_entries?",
    ),
    "a channel that is not there": (
        row(members=[{"name": "alice", "channels": [2]}]),
        "members: 'alice' joins a channel that is not in the list",
    ),
    "a missing field": (row({"op": "step_clock", "who": "bob"}), "operations[0]: 'ms' is a required property"),
    "a negative delay": (
        row({"op": "tick", "route": {"late": {"bob": -1}}}),
        "operations[0].route.late.bob: -1 is less than the minimum of 0",
    ),
    "odd digits": (row({"op": "garble", "to": "bob", "wire": "0"}), "operations[0].wire: '0' does not match"),
    "not a number": (row({"op": "wait", "ms": float("nan")}), "the text is not JSON: "),
    "a huge number": (row({"op": "wait", "ms": 10**4000}), "operations[0].ms: 1000000000"),
    "a number beyond all": (row(seed=7).replace("7", "7" * 5_000), "the text is not JSON: "),
    "a name that is not text": (row(members=[{"name": "\ud800"}]), "the text is not JSON: "),
    "two of the same name": (row(members=[{"name": "a"}, {"name": "a"}]), "members: two participants have the same"),
    "two channels of a name": (row(channels=["c", "c"]), "channels: two channels have the same name"),
    "a channel too far": (row({"op": "sync", "who": "bob", "channel": 2}), "operations[0] (sync): there is no channel"),
    "a peer who takes part": (
        row({"op": "tick"}, {"op": "say", "peer": "bob", "label": "x"}),
        "operations[1] (say): the scripted peer 'bob' is also a participant",
    ),
}


@pytest.mark.parametrize(("text", "words_of_it"), BAD.values(), ids=BAD)
def test_what_is_no_schedule_is_refused_with_what_and_where(text: str, words_of_it: str) -> None:
    assert complaint(text).startswith(words_of_it)
    assert len(complaint(text)) < 500


@pytest.mark.parametrize("key", ["who", "to", "sender", "listener", "poses_as", "senders", "listeners"])
def test_whoever_is_named_has_to_be_a_participant(key: str) -> None:
    tried = 0
    for name, full in FULL.items():
        if key in {f.name for f in fields(full)}:
            written = to_json(schedule(full))["operations"][0]
            written[key] = ["alice", "zoe"] if isinstance(written[key], list) else "zoe"
            assert complaint(row({"op": "heal"}, written)) == f"operations[1] ({name}): there is no participant 'zoe'"
            tried += 1
    assert tried > 0


@pytest.mark.every_python
def test_whatever_is_nested_too_deep_is_refused() -> None:
    for depth in (10, 500, *range(900, 1_100, 3), 10_000, 200_000):
        deep = "[" * depth + "]" * depth
        for text in (deep, row(version="here"), row(configuration="here"), row({"op": "wait", "ms": "here"})):
            assert complaint(text.replace('"here"', deep)), depth
        assert complaint('{"a":' * depth + "1" + "}" * depth), depth


def test_a_stranger_writes_nothing_to_the_terminal() -> None:
    said = complaint(row({"op": "tick", "route": {"late": {"\x1b[2J\x07" + "x" * 10_000: -1}}}))
    assert said.isprintable()
    assert len(said) < 500


def test_a_file_that_cannot_be_read_is_too_large_or_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "schedule.json"
    with pytest.raises(ScheduleFileError, match="it cannot be read: No such file"):
        NOTATION.load(file)
    with pytest.raises(ScheduleFileError, match="it cannot be read: Is a directory"):
        NOTATION.load(tmp_path)
    file.write_bytes(row().encode("utf-16"))
    with pytest.raises(ScheduleFileError, match="the file is not text in UTF-8"):
        NOTATION.load(file)
    fitting = row().encode().ljust(MAX_BYTES)
    file.write_bytes(fitting)
    assert NOTATION.load(file) == schedule()
    file.write_bytes(fitting + b" ")
    with pytest.raises(ScheduleFileError, match="it has more than 4 MiB"):
        NOTATION.load(file)
