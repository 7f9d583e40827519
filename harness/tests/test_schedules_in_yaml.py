"""Schedules of users: YAML and JSON mean the same, defaults may be left out, errors have lines, and size is bounded."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sds_harness.clearskies.notation import NOTATION as CLEARSKIES
from sds_harness.schedules import Schedule, ScheduleFileError
from sds_harness.schedules.files import (
    MAX_YAML_BYTES,
    MOST_ERRORS,
    ScheduleDocument,
    dumps,
    line_in_json,
    to_yaml,
    yaml_document,
)
from sds_harness.schedules.operations import Expectation
from sds_harness.sds import operations as ops
from sds_harness.sds.notation import NOTATION
from sds_harness.sds.operations import Member

pytestmark = pytest.mark.every_python

SHORT = """\
description: bob joins late
members: [alice, {name: bob, late: true}]
requirements: [SDS-RECV-06]
operations:
- {op: send, who: alice, label: first}   # a comment
- op: join
  who: bob
expect:
- {who: bob, does_not_deliver: [first]}
"""
READ = Schedule(
    (Member("alice"), Member("bob", late=True)),
    (ops.Send("alice", "first"), ops.Join("bob")),
    description="bob joins late",
    requirements=("SDS-RECV-06",),
    expect=(Expectation("bob", "does_not_deliver", ("first",)),),
)
WHOLE = Schedule(
    (Member("alice", clock_ms=-3), Member("true"), Member("Žofie 🦊\x85\u2028")),
    (
        ops.Send(
            "alice", "m1", content="a: [b]\n# c\t\"'", message_id="\0", route=ops.Route(("true",), (("alice", 3),))
        ),
        ops.Say("xavier", "1", lamport_ms=None, content=None, filter=(), after=("m1", "no")),
        ops.Wait(1_000),
    ),
    ("c1", "null", "字"),
    (("bloom_error_rate", 1e-05), ("sds_r", True)),
    7,
    "- no list",
    (("cast", "together"), ("revision", "sds-2026-01")),
    "many\nlines",
    ("SDS-RECV-06", "SDS-SEND-01"),
    (Expectation("alice", "acknowledged", ("m1", "1")), Expectation("true", "delivers", ("1",))),
)


def errors(text: str) -> list[tuple[int, str]]:
    return [(error.line, str(error)) for error in NOTATION.errors(yaml_document(text))]


def test_a_file_for_people_leaves_out_what_has_a_default() -> None:
    assert NOTATION.from_document(yaml_document(SHORT)) == READ
    assert NOTATION.loads(json.dumps(yaml_document(SHORT).data)) == READ
    assert (READ.channels, READ.seed) == (("c1",), 0)
    assert CLEARSKIES.from_json({"members": ["alice"], "operations": []}).channels == ()


@pytest.mark.parametrize("schedule", [READ, WHOLE, Schedule((Member("a"),))], ids=["short", "whole", "empty"])
def test_a_schedule_survives_in_both_formats(schedule: Schedule) -> None:
    assert NOTATION.from_document(yaml_document(to_yaml(schedule, NOTATION))) == schedule
    assert NOTATION.loads(dumps(schedule)) == schedule


@given(st.text(st.characters(codec="utf-8"), max_size=30))
def test_any_text_survives_in_yaml(text: str) -> None:
    schedule = Schedule((Member("alice"),), (ops.Send("alice", "m", content=text),), description=text)
    assert NOTATION.from_document(yaml_document(to_yaml(schedule, NOTATION))) == schedule


def test_the_text_for_people_has_one_line_for_an_operation_and_no_default() -> None:
    assert to_yaml(READ, NOTATION) == (
        'description: "bob joins late"\n'
        "requirements: [SDS-RECV-06]\n"
        "members: [alice, {name: bob, late: true}]\n"
        "operations:\n"
        "- {op: send, who: alice, label: first}\n"
        "- {op: join, who: bob}\n"
        "expect:\n"
        "- {who: bob, does_not_deliver: [first]}\n"
    )


def test_every_error_has_its_line_and_a_suggestion() -> None:
    wrong = SHORT.replace("label:", "lable:").replace("op: join", "op: jion").replace("late:", "latte:")
    assert errors(wrong) == [
        (2, "members[1].latte: this field does not exist. Did you mean late?"),
        (5, "operations[0].lable: this field does not exist. Did you mean label?"),
        (5, "operations[0]: 'label' is a required property"),
        (6, "operations[1].op: there is no operation 'jion'. Did you mean join?"),
    ]
    assert errors(SHORT.replace("[first]", "[frist]").replace("- {who: bob", "- {who: bo")) == [
        (9, "expect[0].who: there is no participant 'bo'. Did you mean bob?"),
        (9, "expect[0].does_not_deliver[0]: no operation has the label 'frist'. Did you mean first?"),
    ]
    assert errors(SHORT) == []
    with pytest.raises(ScheduleFileError) as caught:
        NOTATION.from_document(yaml_document(SHORT.replace("who: bob\n", "whom: bob\n")))
    assert (caught.value.line, str(caught.value)) == (
        7,
        "operations[1].whom: this field does not exist. Did you mean who?",
    )


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_the_line_of_every_value_of_any_json_is_found(value: Any) -> None:
    text = json.dumps(value, indent=1)

    def hold(value: Any, path: tuple[str | int, ...]) -> None:
        assert (
            text.split("\n")[line_in_json(text, path) - 1]
            .strip()
            .startswith(json.dumps(path[-1]) if path and isinstance(path[-1], str) else json.dumps(value)[0])
        )
        for key, each in (
            value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        ):
            hold(each, (*path, key))

    hold(value, ())


BAD = {
    "alias": ("a: &x [1]\nb: [*x, *x]\n", 2, "aliases such as *x"),
    "tag": ("a: !!python/object:os.system x", 1, "the tag tag:yaml.org,2002:python/object:os.system is not accepted"),
    "key twice": ("a: 1\na: 2", 2, "the key 'a' is duplicated"),
    "list as key": ("? [1]\n: 2", 1, "a key is not text"),
    "deep": ("[" * 1_000, 1, "nested deeper than 20 levels"),
    "no number": ("a: .nan", 1, ".nan is not a number of JSON"),
    "number that is a mapping": ("a: !!int {b: 1}", 1, "the tag tag:yaml.org,2002:int is not accepted for a list or a"),
    "number that is text": ("a: !!int x", 1, "x is not an int: "),
    "two documents": ("---\na: 1\n---\nb: 1", 3, "but found another document"),
    "open quote": ("a: 'x", 1, "found unexpected end of stream"),
    "half a character": ('a: "\\ud800"', 0, "'utf-8' codec can't encode"),
    "control": ("a: \x00", 0, "unacceptable character"),
}


@pytest.mark.parametrize(("text", "line", "why"), BAD.values(), ids=BAD)
def test_hostile_yaml_is_refused_with_its_line(text: str, line: int, why: str) -> None:
    with pytest.raises(ScheduleFileError) as caught:
        yaml_document(text)
    assert caught.value.line == line
    assert str(caught.value).startswith(f"the text is not the YAML of a schedule: {why}")
    assert len(str(caught.value)) < 400


def test_the_size_of_yaml_and_the_number_of_errors_are_bounded(tmp_path: Path) -> None:
    file = tmp_path / "large.yaml"
    file.write_text("#" * (MAX_YAML_BYTES + 1))
    with pytest.raises(ScheduleFileError, match="it has more than 256 KiB"):
        NOTATION.load(file)
    began = time.monotonic()
    data = {"members": ["a"], "operations": [{"op": f"x{number}" * 1_000} for number in range(2_000)]}
    assert len(NOTATION.errors(ScheduleDocument(data, json.dumps(data)))) == MOST_ERRORS
    assert time.monotonic() - began < 10
