"""Rows of a corpus: normative and informative columns, and the rebuilding of a group trace from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from player_helpers import NOT_CAROL, TRIO, reference, stage_on
from sds_harness.schedules import Schedule
from sds_harness.sds.generator import generate_schedule
from sds_harness.sds.operations import Garble, Look, Operation, Say, Send, Sync, Tick
from sds_harness.sds.player import play
from sds_reference import Config
from sds_reference.variants import VARIANTS

pytest.importorskip("pyarrow")
from sds_harness.clearskies.corpora import COLUMNS as CLEARSKIES_COLUMNS
from sds_harness.corpus.digests import digest64, plain_digest64, schedule_digest
from sds_harness.corpus.rows import ContradictoryRowsError, Recorded, rebuild, rows_of
from sds_harness.corpus.schema import SIDE_COLUMNS, Columns
from sds_harness.sds.corpora import COLUMNS, KIND

pytestmark = pytest.mark.spark

TEXTS = st.text(st.characters() | st.sampled_from('"\\/\x00\x1f\x7f\b\f\n\r\t\u2028\ud800'))
PLAIN = st.recursive(TEXTS | st.integers(-(2**65), 2**65) | st.booleans(), lambda parts: st.lists(parts, max_size=4))


def recorded(*operations: Operation, config: Config | None = None) -> Recorded:
    schedule = Schedule(TRIO, operations)
    stage = stage_on(reference(config=config or Config()))
    return rows_of(KIND, play(schedule, dict.fromkeys(schedule.names, stage)), 7, ())


TALK = (Send("alice", "m1"), Send("bob", "m2", route=NOT_CAROL), Send("alice", "m3"), Tick(), Sync("carol"), Look())


def row(found: Recorded, command: str, participant: str) -> dict[str, Any]:
    return [row for row in found.steps if (row["command"], row["participant"]) == (command, participant)][-1]


def test_messages_are_called_by_their_labels() -> None:
    found = recorded(*TALK)
    assert row(found, "send", "alice")["broadcasts"] == ["alice#m3"]
    assert row(found, "receive", "bob")["message"] == "carol/sync1"
    assert row(found, "receive", "carol")["missing"] == ["bob#m2"]
    assert [r["delivered"] for r in found.steps if r["message"] == "bob#m2" and r["command"] == "receive"] == [
        ["bob#m2"]
    ]


def test_what_comes_from_outside_keeps_its_id() -> None:
    found = recorded(Say("mallory", "x", to="alice"), Garble("bob", "ff"))
    assert row(found, "receive", "alice")["message"] == "=mallory-x"
    assert row(found, "receive", "bob")["answer"] == "rejected"


@pytest.mark.parametrize(
    "name", ["nim-filter", "small-filter", "history-of-one", "history-of-ten", "newest-first", "own-ids-first"]
)
def test_what_the_text_leaves_open_is_not_in_the_digest(name: str) -> None:
    usual, other = recorded(*TALK), recorded(*TALK, config=VARIANTS[name].configure(Config()))
    assert usual.side["digest"] == other.side["digest"]
    assert usual.side["exact"] != other.side["exact"]


def test_the_order_of_rows_and_a_row_that_stands_twice_are_in_the_digest() -> None:
    one, two = (digest64([n]).to_bytes(8, "little", signed=True) for n in (1, 2))
    assert len({schedule_digest(x) for x in (one + two, two + one, one, one + one, one + two + two)}) == 5


@given(st.lists(PLAIN, min_size=1, max_size=4))
def test_the_digest_of_what_is_plain_is_that_of_anything(values: list[Any]) -> None:
    assert plain_digest64(values) == digest64(values)


@pytest.mark.parametrize("index", range(12))
def test_a_group_trace_is_made_again(index: int) -> None:
    schedule = generate_schedule(3, index)
    live = play(schedule, dict.fromkeys(schedule.names, stage_on(reference())))
    stored = rows_of(KIND, live, index, ())
    again = rebuild(KIND, "sds-2026-01", stored.side, stored.steps).group_trace
    assert rows_of(KIND, again, index, ()) == stored
    assert len(again.losses) == len(live.losses)
    assert (again.labels.keys(), again.began, again.left_out) == (live.labels.keys(), live.began, live.left_out)
    assert (again.calm_rounds, again.settled, again.crashed) == (live.calm_rounds, live.settled, live.crashed)


def test_a_reply_that_was_changed_does_not_pass() -> None:
    found = recorded(*TALK)
    place = next(n for n, row in enumerate(found.steps) if row["command"] == "send")
    other = recorded(Send("alice", "else"), *TALK[1:])
    found.steps[place] |= {"reply": other.steps[place]["reply"]}
    with pytest.raises(ContradictoryRowsError, match="the stored request differs from that of this suite"):
        rebuild(KIND, "sds-2026-01", found.side, found.steps)


def test_rows_that_are_missing_or_too_many_do_not_pass() -> None:
    found = recorded(*TALK)
    with pytest.raises(ContradictoryRowsError, match="there is no row for a request"):
        rebuild(KIND, "sds-2026-01", found.side, found.steps[:-1])
    with pytest.raises(ContradictoryRowsError, match=r"1 of .* stored rows were not used"):
        rebuild(KIND, "sds-2026-01", found.side, [*found.steps, found.steps[-1]])


@pytest.mark.parametrize("columns", [COLUMNS, CLEARSKIES_COLUMNS], ids=["sds", "clearskies"])
def test_the_page_of_the_format_names_every_column(columns: Columns) -> None:
    page = (Path(__file__).parents[2] / "sds_harness" / "corpus" / "FORMAT.md").read_text("utf-8")
    assert {c.name for c in (*columns.all_columns, *SIDE_COLUMNS) if f"`{c.name}`" not in page} == set()
    lines = [line for line in page.splitlines() if line.startswith("| `")]
    for column in columns.compared:
        assert [line for line in lines if f"`{column.name}`" in line and "| normative |" in line], column.name
