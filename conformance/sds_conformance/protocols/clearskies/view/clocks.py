"""How the vector clocks of a peer grow, as far as that shows: in what it sends, and where it is observed.

How much one number grows is no matter of judgement where peers count in different ways (CA-7, CA-15); that nothing is
lost is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from clearskies_reference import MalformedMessage, VectorClock, before, vector_clock
from sds_harness.clearskies.trace import Step

from ....judging.once import once
from .facts import Change, Update, same_content
from .knowledge import SAFE_INTEGER
from .meetings import Fate, change_after, declined, fates, is_traced, shown_after, takes_updates
from .peer_view import PeerView


@dataclass(frozen=True)
class Grown:
    """A change of a record, and what the peer had shown of that record before it."""

    change: Change
    first: Update
    """The first copy of it."""
    before: tuple[Update, ...]
    """All copies of its own earlier versions, the first copy of the last version being the first."""
    overtaken: bool
    """It was sent when the record had been changed again."""


@once
def grown(view: PeerView) -> list[Grown]:
    """The changes by which its application went on with a record of which it had sent an own version before."""
    out = []
    for change in view.changes:
        first = change.shown
        if first is None or first.clock is None or first.uuid is None:
            continue
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
            out.append(Grown(change, first, tuple(earlier), overtaken))
    return out


@dataclass(frozen=True)
class Observed:
    """The own number in the clock of a record, before and after changes of it, where the peer was observed."""

    step: Step
    key: str
    before: int
    after: int


def observed_counts(view: PeerView) -> Iterator[Observed]:
    """What the application changed between two looks at the state, with nothing else happening to the record."""
    looks = [shown for shown in view.shown if not shown.on_the_wire]
    for one, other in pairwise(looks):
        between = [change for change in view.changes if one.step.index < change.step.index < other.step.index]
        came = {a.update.uuid for a in view.arrivals if one.step.index < a.step.index < other.step.index}
        for change in between:
            seen, then = one.records.get(change.uuid), other.records.get(change.uuid)
            if change.uuid in came or not (seen and then and seen.clock and then.clock):
                continue
            if same_content(seen.content, then.content):
                continue  # nothing has changed by that, perhaps
            if view.known.same_era(one.step.index, other.step.index):
                me = view.peer_id
                yield Observed(other.step, change.key, seen.clock.get(me, 0), then.clock.get(me, 0))


def events_until(view: PeerView, update: Update) -> int:
    """How far the own number can have counted when an update was sent: every change, every record that came or went on
    any link, and what others said that it was. Twice that, for who counts otherwise."""
    sent = sum(other.step.index <= update.step.index for other in view.sent)
    came = [other for other in view.received if other.step.index <= update.step.index]
    told = max((other.clock.get(view.peer_id, 0) for other in came if other.clock), default=0)
    made = max(update.rev or 0, sum(change.step.index <= update.step.index for change in view.changes))
    return 2 * (made + sent + len(came)) + told


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
        if update.uuid is not None and update.clock is not None and not _is_repeated(view, update):
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
            if seen is not None and seen.clock and not any(_is_repeated(view, update) for update in copies):
                out.append((fate, shown.step, seen.clock))
        if (change := change_after(view, fate.meeting)) is not None and change.clock is not None:
            out.append((fate, change.step, change.clock))
    return out


def _is_repeated(view: PeerView, update: Update) -> bool:
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
def known_bases(view: PeerView) -> list[tuple[Change, Update, Update]]:
    """The changes of records of which it is sure what was there: each with its first copy, and with that."""
    never = {arrival.update.version for arrival in view.arrivals if declined(view, arrival)}
    out = []
    for change in view.changes:
        first = change.shown
        if first is None or first.clock is None or first.uuid is None:
            continue
        held = view.known.at(first.uuid, change.step.index - 1)
        base = held.update if held is not None else None
        if base is not None and base.version not in never and is_traced(view, base):
            out.append((change, first, base))
    return out


@dataclass(frozen=True)
class Compared:
    """Two vector clocks that the implementation compared by its own code."""

    step: Step
    one: VectorClock
    other: VectorClock
    said: tuple[bool, bool]
    """Is the first one before the other, and the other before it?"""

    @property
    def right(self) -> tuple[bool, bool]:
        return _relation(self.one, self.other)

    @property
    def about(self) -> str:
        """What the answer can be wrong about: ``wide`` numbers and ``absent`` members, if it is right or what somebody
        says who does not know of these, or other ``numbers``. "" if it is about wide ones, and wrong in another way."""
        if max([0, *self.one.values(), *self.other.values()]) > SAFE_INTEGER:
            doubles = [{m: int(float(n)) for m, n in clock.items()} for clock in (self.one, self.other)]
            return "wide" if self.said in (self.right, _relation(*doubles)) else ""
        common = self.one.keys() & self.other.keys()
        both = [{m: n for m, n in clock.items() if m in common} for clock in (self.one, self.other)]
        of_both = _relation(*both)
        return "absent" if of_both != self.right and self.said in (self.right, of_both) else "numbers"


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
