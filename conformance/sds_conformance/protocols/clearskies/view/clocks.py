"""The growth of a peer's vector clocks in sent updates and observed states.

Peers count in different ways (CA-7, CA-15), so checks judge only lost numbers, and not how much a number grows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from clearskies_reference import MalformedMessageError, VectorClock, is_before, vector_clock
from sds_harness.clearskies.trace import Step

from ....judging.view_cache import cache_per_view
from .facts import Change, Update, grouped
from .knowledge import SAFE_INTEGER
from .meetings import Fate, accepts_updates, find_change_after, find_fates, find_states_after
from .peer_view import PeerView


@dataclass(frozen=True)
class GrownClock:
    """A change of a record, and the versions of the record that the peer had shown before."""

    first: Update
    """The first sent update with the version that the change made."""
    before: tuple[Update, ...]
    """The sent updates with the peer's own earlier versions. The first update with the latest version comes first."""
    overtaken: bool
    """Had the record changed again before this change was sent?"""


@cache_per_view
def find_grown_clocks(view: PeerView) -> list[GrownClock]:
    """The changes of records for which the peer had already sent an earlier version that it wrote."""
    out = []
    sent = grouped((update for update in view.sent if update.by == view.peer_id), lambda update: update.uuid)
    changes = grouped(view.changes, lambda change: change.uuid)
    for change, first in _changes_with_clocks(view):
        earlier = [
            update
            for update in sent.get(first.uuid, ())
            if update.clock is not None
            and update.step.index < change.step.index
            and view.known.same_era(update.step.index, change.step.index)
        ]
        if earlier:
            last = max(update.rev or 0 for update in earlier)
            earlier.sort(key=lambda update: (update.rev != last, update.step.index))
            later = (c.step.index for c in changes.get(str(first.uuid), ()))
            overtaken = any(change.step.index < index <= first.step.index for index in later)
            out.append(GrownClock(first, tuple(earlier), overtaken))
    return out


def _changes_with_clocks(view: PeerView) -> Iterator[tuple[Change, Update]]:
    """Yield the changes with a known uuid and clock, each with the first update that was sent for it."""
    for change in view.changes:
        if change.shown is not None and change.shown.clock is not None and change.shown.uuid is not None:
            yield change, change.shown


def find_wide_numbers(view: PeerView) -> Mapping[tuple[str, str], set[int]]:
    """By uuid and clock member: the numbers in received clocks, for members with a number above 2^53."""
    came: dict[tuple[str, str], set[int]] = {}
    for arrival in view.arrivals:
        for member, number in (arrival.update.clock or {}).items() if not arrival.prohibition else ():
            if member != view.peer_id:
                came.setdefault((str(arrival.update.uuid), member), set()).add(number)
    return {place: numbers for place, numbers in came.items() if max(numbers) > SAFE_INTEGER}


def find_shown_clocks(view: PeerView) -> Iterator[tuple[Step, str, VectorClock]]:
    """Yield the clocks of records that the peer sends or shows, with their uuids.

    Updates that the peer relays byte by byte are left out, because they have the clock of their writer (CA-2).
    """
    for update in view.sent:
        if update.uuid is not None and update.clock is not None and not is_repeated(view, update):
            yield update.step, update.uuid, update.clock
    for shown in view.shown_states:
        if not shown.on_the_wire:
            for uuid, seen in shown.records.items():
                if seen.clock:
                    yield shown.step, uuid, seen.clock


@cache_per_view
def find_merges(view: PeerView) -> list[tuple[Fate, Step, VectorClock]]:
    """Conflicts of two versions, each with the clocks that show its result: in states shown afterwards, and in the next
    change of the application.
    """
    out: list[tuple[Fate, Step, VectorClock]] = []
    for fate in find_fates(view):
        if fate.meeting.arrival.outcome != "conflict" or fate.meeting.signalled is False or not accepts_updates(view):
            continue
        uuid = str(fate.meeting.incoming.uuid)
        for shown in find_states_after(view, fate.meeting):
            seen, link = shown.records.get(uuid), shown.link
            window = range(shown.asked.index, shown.step.index + 1)
            copies = [u for u in link.sent if u.uuid == uuid and u.step.index in window] if link is not None else []
            if seen is not None and seen.clock and not any(is_repeated(view, update) for update in copies):
                out.append((fate, shown.step, seen.clock))
        if (change := find_change_after(view, fate.meeting)) is not None and change.clock is not None:
            out.append((fate, change.step, change.clock))
    return out


def is_repeated(view: PeerView, update: Update) -> bool:
    """Does the update have the body of a received update? Then it has the clock of its writer (CA-2)."""
    return update.message.body.raw in find_received_bodies(view)


@cache_per_view
def find_received_bodies(view: PeerView) -> set[bytes]:
    """The bodies of all updates that arrived, as bytes."""
    return {update.message.body.raw for update in view.received}


def find_smaller_number(view: PeerView, clock: VectorClock, *others: VectorClock | None) -> tuple[str, str]:
    """The first number that is smaller in ``clock`` than in one of ``others``, as the expected and the seen text of a
    finding; two empty texts if there is none.

    The peer's own number is left out, and so are numbers that JSON readers may lose.
    """
    for member, number in (pair for other in others for pair in sorted((other or {}).items())):
        if member != view.peer_id and clock.get(member, 0) < number <= SAFE_INTEGER:
            return f"a number of at least {number} for {view.name(member)}", f"{clock.get(member, 0)}"
    return "", ""


@cache_per_view
def find_replaced_versions(view: PeerView) -> list[tuple[Update, Update]]:
    """The first updates sent for changes, each with the version that it replaced, if this version is certain."""
    never = {arrival.update.version for arrival in view.arrivals if arrival.declined}
    out = []
    for change, first in _changes_with_clocks(view):
        held = view.known.at(str(first.uuid), change.step.index - 1)
        base = held.update if held is not None else None
        if base is not None and base.version not in never and view.is_traced(base):
            out.append((first, base))
    return out


class ClockComparison:
    """Two vector clocks that the implementation compared in a codec operation."""

    def __init__(self, step: Step, one: VectorClock, other: VectorClock, answer: tuple[bool, bool]) -> None:
        """``answer``: is the first clock before the other, and is the other before the first?"""
        self.step, self.answer = step, answer
        self.correct_answer = right = _relation(one, other)
        self.error_kind = "numbers"
        """What may explain a wrong answer: ``wide`` numbers, ``absent`` members, or else ``numbers``. "" if the clocks
        have wide numbers, but these do not explain the wrong answer.
        """
        common = one.keys() & other.keys()
        of_both = _relation(*({m: n for m, n in clock.items() if m in common} for clock in (one, other)))
        if max([0, *one.values(), *other.values()]) > SAFE_INTEGER:
            doubles = _relation(*({m: int(float(n)) for m, n in clock.items()} for clock in (one, other)))
            self.error_kind = "wide" if answer in (right, doubles) else ""
        elif of_both != right and answer in (right, of_both):
            self.error_kind = "absent"


def _relation(one: VectorClock, other: VectorClock) -> tuple[bool, bool]:
    return is_before(one, other), is_before(other, one)


@cache_per_view
def find_comparisons(view: PeerView) -> list[ClockComparison]:
    """All comparisons that the implementation answered."""
    out = []
    for step in view.steps:
        if step.command == "compare_clocks" and step.reply is not None and step.answer == "comparison":
            asked, answer = step.request.compare_clocks, step.reply.comparison
            try:
                one, other = vector_clock(json.loads(asked.one)), vector_clock(json.loads(asked.other))
            except (ValueError, MalformedMessageError):
                continue
            out.append(ClockComparison(step, one, other, (answer.one_before_other, answer.other_before_one)))
    return out
