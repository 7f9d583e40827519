"""Rows of a corpus of ClearSkies: normative and informative columns, and the rebuilding of group traces."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clearskies_group_traces import TRIO
from clearskies_reference import Config
from clearskies_reference.variants import VARIANTS
from clearskies_stages import REVISION, session_of
from sds_harness.clearskies.generator import generate_schedule
from sds_harness.clearskies.group_trace import GroupTrace
from sds_harness.clearskies.operations import (
    Close,
    Delete,
    LinkPeers,
    Look,
    Member,
    Operation,
    Put,
    Rename,
    Reopen,
)
from sds_harness.clearskies.player import play
from sds_harness.clearskies.stage import Stage
from sds_harness.schedules import Schedule

pytest.importorskip("pyarrow")
from sds_harness.clearskies.corpora import KIND
from sds_harness.corpus.rows import Recorded, rebuild, rows_of

pytestmark = pytest.mark.spark

LINE = (LinkPeers("alice", "bob"), LinkPeers("bob", "carol"))
WIDE = '{"b": 1.0, "a": [9007199254740993]}'


def played(schedule: Schedule, **chosen: Any) -> GroupTrace:
    return play(schedule, dict.fromkeys(schedule.names, Stage(session_of(**chosen), schedule.name)))


def play_operations(*operations: Operation, members: tuple[Member, ...] = TRIO, variant: str = "") -> GroupTrace:
    schedule = Schedule(members, operations, ())
    chosen: dict[str, Any] = {}
    if variant:
        chosen = {"config": VARIANTS[variant].configure(Config()), "peer_class": VARIANTS[variant].peer_class}
    return played(schedule, **chosen)


def recorded(*operations: Operation, **options: Any) -> Recorded:
    return rows_of(KIND, play_operations(*operations, **options), 7, ())


@pytest.mark.parametrize(
    "variant",
    [
        "first-revision-one",
        "repeats-originals",
        "times-in-nanoseconds",
        "writes-deleted-false",
        "clock-per-peer",
        "writes-numbers-with-exponent",
        "spaced-bodies",
    ],
)
def test_what_the_text_leaves_open_is_in_no_normative_column(variant: str) -> None:
    talk = (*LINE, Put("alice", "m1", text=WIDE), Rename("bob", "m2"), Look(), Delete("bob", "m3", "k2"), Look())
    one, other = recorded(*talk), recorded(*talk, variant=variant)
    assert one.side["exact"] != other.side["exact"]
    assert one.side["digest"] == other.side["digest"]


# ---- Rebuilding group traces -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", range(6))
def test_a_group_trace_is_made_again_from_its_rows(index: int) -> None:
    live = played(generate_schedule(3, index))
    stored = rows_of(KIND, live, index, ())
    again = rebuild(KIND, REVISION, stored.side, stored.steps).group_trace
    assert rows_of(KIND, again, index, ()) == stored
    assert (again.labels.keys(), again.began, again.left_out) == (live.labels.keys(), live.began, live.left_out)


def test_stores_are_kept_without_the_folder_that_was_made_for_them() -> None:
    members = (replace(TRIO[0], store=True), *TRIO[1:])
    talk = (Put("alice", "m1"), Close("alice"), Reopen("alice"), *LINE, Look())
    live = play_operations(*talk, members=members)
    stored = rows_of(KIND, live, 0, ())
    opened = [KIND.language.request.FromString(r["request"]).open for r in stored.steps if r["command"] == "open"]
    stores = [each.store for each in opened if each.store]
    assert len(stores) == 2
    assert not any("/" in store or Path(store).is_absolute() for store in stores)
    again = rebuild(KIND, REVISION, stored.side, stored.steps).group_trace
    assert rows_of(KIND, again, 0, ()) == stored
