"""A freedom covers only its own legal difference; an additional fault is covered by none.

No checks are asked here: whatever of it they would find must not be hidden by a freedom where they do not.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import pytest

pytest.importorskip("pyarrow")
from clearskies_reference import Config, Effects, Message, Peer
from clearskies_reference.choices import SendsAtTicks, SplitOutput
from clearskies_reference.effects import Sent
from clearskies_reference.peer import ClubLink
from clearskies_reference.record import Record, StoredRecord
from clearskies_reference.testee.server import Testee, TesteeOptions
from clearskies_stages import session_of
from sds_conformance.protocols.clearskies.corpora import CORPORA
from sds_conformance.protocols.clearskies.freedoms import find_dependent_columns
from sds_conformance.protocols.freedoms import END, DivergentSide, DivergentSteps, covering
from sds_harness.clearskies.corpora import COLUMNS, KIND
from sds_harness.clearskies.group_trace import GroupTrace
from sds_harness.clearskies.operations import Calm, Hold, LinkPeers, Look, Member, Operation, Put, Release, Unlink, Wait
from sds_harness.clearskies.player import play
from sds_harness.clearskies.rows import ClearSkiesRowReader
from sds_harness.clearskies.stage import ROUND_MS, Stage
from sds_harness.schedules import Schedule
from sds_harness.schedules.operations import Tick

pytestmark = pytest.mark.spark

WRITERS = tuple(map(Member, ("alice", "bob", "carol")))
LINE = (LinkPeers("alice", "bob"), LinkPeers("bob", "carol"))
MS = Wait(10)


def played(operations: tuple[Operation, ...], peer: type[Peer], **config: Any) -> GroupTrace:
    schedule = Schedule(WRITERS, operations, (), name="a difference")
    stage = Stage(session_of(Testee(TesteeOptions("1", Config(**config), peer))), schedule.name)
    return play(schedule, dict.fromkeys(schedule.names, stage))


def rows(group_trace: GroupTrace) -> list[dict[str, Any]]:
    facts = ClearSkiesRowReader(group_trace)
    acts = filter(KIND.compares, group_trace.acts)
    return [
        {
            "step": number,
            "participant": act.who,
            "command": act.step.command,
            "at_ms": act.at_ms,
            "answer": act.step.answer,
            **facts.normative_columns(act.step, act.trace),
        }
        for number, act in enumerate(acts, 1)
    ]


def excused(operations: tuple[Operation, ...], peer: type[Peer] = Peer, **config: Any) -> list[str]:
    """The freedoms that cover the first difference from the reference; none if a part is not covered."""
    shows = [played(operations, Peer), played(operations, peer, **config)]
    for one, other in zip_longest(*map(rows, shows)):
        if one != other:
            break
    else:
        pytest.fail("there is no difference")
    there = [row for row in (one, other) if row is not None]
    differing = {name for name in there[0] if one is None or other is None or one[name] != other[name]}
    fields = frozenset(differing if len(there) == 2 else {END})
    sides = [
        DivergentSide(group_trace, tuple(filter(KIND.compares, group_trace.acts)), row)
        for group_trace, row in zip(shows, (one, other), strict=True)
    ]
    case = DivergentSteps(fields - find_dependent_columns(fields, there[0]["command"]), *sides)
    return [freedom.name for freedom in covering(case, CORPORA.freedoms, COLUMNS.names)]


# ---- conflicts -------------------------------------------------------------------------------------------------------

TWICE = (
    *(*LINE, Put("alice", "m1", "q"), MS, Hold(), Put("alice", "m2", "k"), MS, Put("carol", "m3", "k"), MS),
    *(Release(), MS, Put("alice", "m4", "q"), Calm(period_ms=1_000), Look()),
)
"""Two records get one key, and there is another one."""
EDITED = (
    *(*LINE, Put("alice", "m1", "q"), Put("alice", "m2", "k"), MS, Hold(), Put("alice", "m3", "k"), MS),
    *(Put("carol", "m4", "k"), MS, Release(), Calm(period_ms=1_000), Look()),
)
"""Two have changed one record, and there is another one."""


class HidesOthers(Peer):
    """Shows nothing of other records where two have one key."""

    def as_shown(self, stored: StoredRecord) -> Record:
        shown = super().as_shown(stored)
        rivals = any(len(list(self.store.records_with_key(each.record.key))) > 1 for each in self.store)
        return Record(**{**_fields(shown), "deleted": True}) if rivals and shown.key == "q" else shown


class ChangesOthers(Peer):
    """Resolves a conflict by another value for a record that is in none."""

    def resolve(self, current: StoredRecord, *details: Any) -> None:
        super().resolve(current, *details)
        other = next(stored for stored in self.store if stored.record.key == "q")
        effects = details[-1]
        self.write_resolution(other.record.uuid, ("q", '"of nobody"', False), other.record, effects)


def _fields(record: Record) -> dict[str, Any]:
    return {name: getattr(record, name) for name in Record.__slots__}


# ---- moments ---------------------------------------------------------------------------------------------------------

TOLD = (*LINE, Put("alice", "m1", "k"), MS, *(Tick(), Wait(ROUND_MS)) * 8, Look())
CUT = (
    *LINE,
    *(Tick(), MS) * 3,
    Put("alice", "m1", "k"),
    MS,
    Put("alice", "m2", "q"),
    MS,
    Unlink("alice", "bob"),
    Look(),
)


class SendsAtTheEighthTick(SendsAtTicks):
    """Waits on although it has been quiet."""

    ticks = 0

    def wait(self, effects: Effects) -> Effects:
        # Requests go at once.
        self.waiting += [each for each in effects.sent if b"database.update" in each.data]
        effects.sent = [each for each in effects.sent if b"database.update" not in each.data]
        return effects

    def tick(self, now_ms: int) -> Effects:
        self.ticks += 1
        return super().tick(now_ms) if self.ticks > 7 else Effects()


class LosesTheFirst(Peer):
    """Does not send its first change, and sends the next ones at once."""

    output = 0

    def send_to_subscribers(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        self.output += source is None
        if source is not None or self.output > 1:
            super().send_to_subscribers(stored, effects, source)


# ---- pieces ----------------------------------------------------------------------------------------------------------

SPREAD = (*LINE, MS, Tick(), Put("alice", "m1", "k"), MS, *(Tick(), MS) * 3, Look())


class SplitsUpdates(SplitOutput):
    def pieces(self, sent: list[Sent]) -> list[Sent]:
        return super().pieces(sent) if any(b"database.update" in each.data for each in sent) else sent


class DeafToPieces(SplitsUpdates):
    """Takes no update of which it had a piece before."""

    def _parse_messages(self, link: ClubLink, data: bytes, effects: Effects) -> None:
        self.begun = bool(link.parser.incomplete_bytes)
        super()._parse_messages(link, data, effects)

    def apply_update(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        if not self.begun:
            super().apply_update(incoming, signed, source, effects)


@pytest.mark.parametrize(
    ("freedom", "operations", "peer"),
    [
        ("conflicts", TWICE, HidesOthers),
        ("conflicts", EDITED, ChangesOthers),
        ("moments", TOLD, SendsAtTheEighthTick),
        ("moments", CUT, LosesTheFirst),
        ("pieces", SPREAD, DeafToPieces),
    ],
)
def test_a_fault_in_addition_to_a_freedom_is_not_excused(
    freedom: str, operations: tuple[Operation, ...], peer: type[Peer]
) -> None:
    assert freedom in {each.name for each in CORPORA.freedoms}
    assert excused(operations, peer) == []
