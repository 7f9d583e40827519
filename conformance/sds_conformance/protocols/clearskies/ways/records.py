"""What records and their clocks look like where the text leaves that open."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from sds_harness.clearskies.trace import Step

from ..register import way
from ..view.meetings import by_default
from ..view.peer_view import PeerView


@way(
    "CA-7",
    {"of-records": "has a logical clock for each record", "of-peers": "has one logical clock for all records"},
    of="changes",
)
def whose_the_clock_is(view: PeerView) -> Iterator[tuple[Step, str]]:
    """Of two new records that are sent as they are made, to the same peers, the second one's number is the larger one,
    or as large."""
    made = [c for c in view.changes if c.kind == "put" and c.shown is not None and c.shown.step is c.step]
    came = {arrival.update.key for arrival in view.arrivals}
    for one, other in pairwise(made):
        others = [change for change in view.changes if change is not one and change.step.index < other.step.index]
        known = came | {key for change in others for key in (change.key, change.old_key)}
        new = one.key not in known and other.key not in known | {one.key}
        if not new or one.shown is None or other.shown is None or not (one.shown.clock and other.shown.clock):
            continue
        listeners = [sum(update.step is change.step for update in view.sent) for change in (one, other)]
        first, second = (clock.get(view.peer_id, 0) for clock in (one.shown.clock, other.shown.clock))
        if listeners[0] == listeners[1]:
            yield other.step, "of-peers" if second > first else "of-records"
            return


@way(
    "CA-8",
    {
        "hidden": "leaves a record that loses its key to another as it was, and hides it",
        "deleted": "deletes a record that loses its key to another",
        "gone": "keeps nothing of a record that loses its key to another",
        "renamed": "gives another key to a record that loses its own",
    },
    of="received shown",
)
def what_becomes_of_losers(view: PeerView) -> Iterator[tuple[Step, str]]:
    """Of two records with one key that came, nobody having deleted them, one is shown to who asks as it was, or not."""
    for shown in view.shown if by_default(view) else ():
        came = [arrival.update for arrival in view.arrivals if arrival.step.index < shown.asked.index]
        live = {update.uuid: update.key for update in came if not update.deleted}
        ended = {update.uuid for update in came if update.deleted}
        for one, other in ((a, b) for a in live for b in live if a != b and live[a] == live[b]):
            if not shown.on_the_wire or {one, other} & ended or one is None or other is None:
                continue
            winner, loser = shown.records.get(one), shown.records.get(other)
            if winner is None or winner.deleted or winner.key != live[one]:
                continue
            if loser is None:
                yield shown.step, "gone"
            elif loser.deleted:
                yield shown.step, "deleted"
            else:
                yield shown.step, "hidden" if loser.key == live[other] else "renamed"
            return


@way(
    "CA-13",
    {"emptied": "sends a deleted record without its value", "kept": "sends a deleted record with the value it had"},
    of="changes",
)
def what_is_left_of_the_deleted(view: PeerView) -> Iterator[tuple[Step, str]]:
    """A deletion is sent, with null for a value or none at all, or with another one."""
    for change in view.changes:
        if change.kind == "delete" and change.shown is not None and change.shown.deleted:
            yield change.shown.step, "kept" if change.shown.value is not None else "emptied"
            return
