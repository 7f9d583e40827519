"""How the vector clocks of a peer grow, as far as that shows: in what it sends, and where it is observed.

How much one number grows is no matter of judgement where peers count in different ways (CA-7, CA-15); that nothing is
lost is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from clearskies_reference import MalformedMessage, VectorClock, before, vector_clock
from sds_harness.clearskies.trace import Step

from ....judging.once import once
from .facts import Change, Update
from .knowledge import SAFE_INTEGER
from .meetings import Fate, change_after, fates, is_traced, shown_after, takes_updates
from .peer_view import PeerView


@dataclass(frozen=True)
class Grown:
    """A change of a record, and what the peer had shown of that record before it."""

    first: Update
    """The first copy of the change."""
    before: tuple[Update, ...]
    """All copies of its own earlier versions, the first copy of the last version being the first."""
    overtaken: bool
    """It was sent when the record had been changed again."""


@once
def grown(view: PeerView) -> list[Grown]:
    """The changes by which its application went on with a record of which it had sent an own version before."""
    out = []
    for change, first in _changes_with_clocks(view):
        earlier = [
            update
            for update in view.sent
            if update.uuid == first.uuid
            and update.by == view.peer_id
            and update.clock is not None
            and update.step.index < change.step.index
            and view.known.same_era(update.step.index, change.step.index)
        ]
        if earlier:
            last = max(update.rev or 0 for update in earlier)
            earlier.sort(key=lambda update: (update.rev != last, update.step.index))
            later = (c.step.index for c in view.changes if c.uuid == first.uuid)
            overtaken = any(change.step.index < index <= first.step.index for index in later)
            out.append(Grown(first, tuple(earlier), overtaken))
    return out


def _changes_with_clocks(view: PeerView) -> Iterator[tuple[Change, Update]]:
    """The changes that show with a uuid and a clock, each with its first copy."""
    for change in view.changes:
        if change.shown is not None and change.shown.clock is not None and change.shown.uuid is not None:
            yield change, change.shown


def wide_numbers(view: PeerView) -> Mapping[tuple[str, str], set[int]]:
    """By uuid and member: all numbers that came for it, where one is of those that many readers of JSON do not keep."""
    came: dict[tuple[str, str], set[int]] = {}
    for arrival in view.arrivals:
        for member, number in (arrival.update.clock or {}).items() if not arrival.must_not else ():
            if member != view.peer_id:
                came.setdefault((str(arrival.update.uuid), member), set()).add(number)
    return {place: numbers for place, numbers in came.items() if max(numbers) > SAFE_INTEGER}


def clocks_shown(view: PeerView) -> Iterator[tuple[Step, str, VectorClock]]:
    """The clocks of records as the peer sends them and shows them, with their uuids; what it repeats byte by byte has
    the clock of who wrote it (CA-2)."""
    for update in view.sent:
        if update.uuid is not None and update.clock is not None and not is_repeated(view, update):
            yield update.step, update.uuid, update.clock
    for shown in view.shown:
        if not shown.on_the_wire:
            for uuid, seen in shown.records.items():
                if seen.clock:
                    yield shown.step, uuid, seen.clock


@once
def merges(view: PeerView) -> list[tuple[Fate, Step, VectorClock]]:
    """What two versions in conflict came to, and each clock in which that shows: of what the peer shows of it to who
    asks then, and of the change that its application makes next."""
    out: list[tuple[Fate, Step, VectorClock]] = []
    for fate in fates(view):
        if fate.meeting.arrival.outcome != "conflict" or fate.meeting.signalled is False or not takes_updates(view):
            continue
        uuid = str(fate.meeting.incoming.uuid)
        for shown in shown_after(view, fate.meeting):
            seen, link = shown.records.get(uuid), shown.link
            window = range(shown.asked.index, shown.step.index + 1)
            copies = [u for u in link.sent if u.uuid == uuid and u.step.index in window] if link is not None else []
            if seen is not None and seen.clock and not any(is_repeated(view, update) for update in copies):
                out.append((fate, shown.step, seen.clock))
        if (change := change_after(view, fate.meeting)) is not None and change.clock is not None:
            out.append((fate, change.step, change.clock))
    return out


def is_repeated(view: PeerView, update: Update) -> bool:
    """Has it the body of an update that came? Such a copy has the clock of its writer (CA-2)."""
    return update.message.body.raw in bodies_received(view)


@once
def bodies_received(view: PeerView) -> set[bytes]:
    """The bodies of all updates that came, as they came."""
    return {update.message.body.raw for update in view.received}


def lacks(view: PeerView, clock: VectorClock, other: VectorClock | None) -> tuple[str, str] | None:
    """The first number that is smaller in ``clock`` than in ``other``, as findings have it: as expected, and as seen.
    The peer's own is another matter, and so are numbers that readers of JSON may lose."""
    for member, number in sorted((other or {}).items()):
        if member != view.peer_id and clock.get(member, 0) < number <= SAFE_INTEGER:
            return f"{number} for {view.name(member)} at least", f"{clock.get(member, 0)}"
    return None


@once
def known_bases(view: PeerView) -> list[tuple[Update, Update]]:
    """The first copies of changes, each with the version that was there before, where that is sure."""
    never = {arrival.update.version for arrival in view.arrivals if arrival.declined}
    out = []
    for change, first in _changes_with_clocks(view):
        held = view.known.at(str(first.uuid), change.step.index - 1)
        base = held.update if held is not None else None
        if base is not None and base.version not in never and is_traced(view, base):
            out.append((first, base))
    return out


class Compared:
    """Two vector clocks that the implementation compared by its own code."""

    def __init__(self, step: Step, one: VectorClock, other: VectorClock, said: tuple[bool, bool]) -> None:
        """``said``: is the first one before the other, and the other before it?"""
        self.step, self.said = step, said
        self.right = right = _relation(one, other)
        self.about = "numbers"
        """The kind of error that the clocks can show: in ``wide`` numbers or ``absent`` members, if the answer is right
        or ignores these; else in ``numbers``. "" for clocks with wide numbers and another error."""
        common = one.keys() & other.keys()
        of_both = _relation(*({m: n for m, n in clock.items() if m in common} for clock in (one, other)))
        if max([0, *one.values(), *other.values()]) > SAFE_INTEGER:
            doubles = _relation(*({m: int(float(n)) for m, n in clock.items()} for clock in (one, other)))
            self.about = "wide" if said in (right, doubles) else ""
        elif of_both != right and said in (right, of_both):
            self.about = "absent"


def _relation(one: VectorClock, other: VectorClock) -> tuple[bool, bool]:
    return before(one, other), before(other, one)


@once
def compared(view: PeerView) -> list[Compared]:
    """All comparisons that were asked for and answered."""
    out = []
    for step in view.steps:
        if step.command == "compare_clocks" and step.reply is not None and step.answer == "comparison":
            asked, said = step.request.compare_clocks, step.reply.comparison
            try:
                one, other = vector_clock(json.loads(asked.one)), vector_clock(json.loads(asked.other))
            except (ValueError, MalformedMessage):
                continue
            out.append(Compared(step, one, other, (said.one_before_other, said.other_before_one)))
    return out
