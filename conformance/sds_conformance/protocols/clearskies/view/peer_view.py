"""A trace as the facts of one peer under test, which all checks are functions of."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from clearskies_reference import AccessLevel
from sds_harness import trace as trace_of_any
from sds_harness.clearskies.clubs import READ_ONLY, READ_WRITE
from sds_harness.clearskies.trace import Party, Step, Trace, store_name

from .facts import (
    Change,
    LinkView,
    Request,
    Shown,
    Update,
    Version,
    changes_of,
    first_quiet,
    grouped,
    name_of,
    named,
    observed,
    quiet_steps,
    renames_in_place,
    same_content,
    told,
)
from .knowledge import Arrival, Knowledge, excused, forbidden


class Proof:
    """The outcome of an update, as the peer shows it."""

    __slots__ = ("arrival", "is_shown", "is_there", "same", "seen", "shown")

    def __init__(self, arrival: Arrival, shown: Shown, *, relayed: bool) -> None:
        """An update that was ``relayed`` was taken, even if it is not in an answer."""
        self.arrival, self.shown = arrival, shown
        self.seen = seen = shown.records.get(str(arrival.update.uuid))
        """The record, None if there is no trace of it."""
        self.is_shown = seen is not None and seen.version == arrival.update.version
        """Is that version among those that the peer shows?"""
        self.is_there = relayed or self.is_shown
        self.same = seen is not None and self.is_shown and same_content(seen.content, arrival.update.content)
        """Is it there, as it came?"""


@dataclass(frozen=True)
class Successive:
    """Two local changes that show, the second one surely made after the first."""

    one: Update
    other: Update
    most: int | None
    """By how many it is later, if all between the two were changes: what was never sent need not have been one. None
    where more than the application may have made the peer change something."""


class PeerView:
    """What one peer under test was told, did, sent and showed. It does not change once it was asked."""

    def __init__(self, trace: Trace, party: Party) -> None:
        self.channel_id = ""
        self.trace = trace
        self.party: trace_of_any.Party = party
        self.peer_id = party.peer_id
        self.level: AccessLevel = party.level
        self.steps: list[Step] = list(trace.of(party.name))
        self.links = [LinkView(connection, trace) for connection in trace.links_of(party.name)]
        self.everybody: list[PeerView] = [self]
        """All peers under test."""
        self._by_number = {link.number: link for link in self.links}
        self.sent = _in_order(update for link in self.links for update in link.sent)
        """All updates that it sent, on all links, in order."""
        self.received = _in_order(update for link in self.links for update in link.received)
        """All updates that came, on all links, in order."""
        self.asked = [request for link in self.links for request in link.asked]
        """All its requests."""
        self.requests = [request for link in self.links for request in link.requests]
        """All requests that came."""

    @property
    def writes(self) -> bool:
        """May it change records?"""
        return self.level is READ_WRITE

    def can(self, *capabilities: int) -> bool:
        """Are these declared?"""
        return self.trace.declaration.can(*capabilities)

    def link_of(self, update: Update | Request) -> LinkView:
        """The link on which something came or went."""
        return self._by_number[update.link.number]

    def name(self, peer_id: str | None) -> str:
        """What a peer is called in findings."""
        return name_of(self.trace, peer_id)

    def end_of(self, link: LinkView) -> str:
        """Who is at the other end of a link, in findings."""
        return f"{self.name(link.peer_id)} (link {link.number})"

    def named(self, update: Update) -> str:
        """What an update is called in findings."""
        return named(self.trace, update)

    # ---- What came and went --------------------------------------------------------------------------------------

    @cached_property
    def own(self) -> list[Update]:
        """The first copy of each version that it sent as its own, by revision."""
        first: dict[tuple[str, int, int], Update] = {}
        for update in self.sent:
            if update.by == self.peer_id and update.rev is not None and not self._came_back(update):
                which = (str(update.members.get("uuid")), update.rev, self._life(update.step))
                first.setdefault(which, update)
        return sorted(first.values(), key=lambda update: (update.rev or 0, update.step.index))

    @cached_property
    def _losses(self) -> list[int]:
        """The indices of the steps in which it was opened without anything that it knew."""
        stores: set[str] = set()
        losses = []
        for step in self.steps:
            if step.command == "open":
                store = store_name(step.request.open.store)
                losses += [step.index] if store not in stores or not store else []
                stores.add(store)
        return losses

    def _life(self, step: Step) -> int:
        """How often it had lost everything by a step: in each life it may use its revisions again."""
        return bisect_right(self._losses, step.index)

    def _came_back(self, update: Update) -> bool:
        """Is it of a former life, of which others told the peer in this one?"""
        life = self._life(update.step)
        return life > 1 and any(
            same_content(other.content, update.content)
            for other in self._received_as.get(update.version, ())
            if other.step.index <= update.step.index and self._life(other.step) == life
        )

    @cached_property
    def _received_as(self) -> dict[Version | None, list[Update]]:
        return grouped(self.received, lambda update: update.version)

    @cached_property
    def changes(self) -> list[Change]:
        """What its application changed."""
        out = []
        for life in range(len(self._losses) + 1):
            steps = [step for step in self.steps if self._life(step) == life]
            out += changes_of(steps, [update for update in self.own if self._life(update.step) == life])
        return out

    @cached_property
    def successive_changes(self) -> list[Successive]:
        """Each two of these that follow each other, where the second one is not of a record that was written before,
        and sent late."""
        shown = [(place, change) for place, change in enumerate(self.changes) if change.shown is not None]
        return [
            Successive(one.shown, other.shown, self._at_most(one, before, place))
            for (before, one), (place, other) in pairwise(shown)
            if one.shown is not None and other.shown is not None and one.step.index < other.since
            if self._is_surely_of(one) and self._is_surely_of(other)
        ]

    def _is_surely_of(self, change: Change) -> bool:
        """Is what shows a change of it, and not what came of a conflict since then, and says the same?"""
        update = change.shown
        return update is not None and (update.step is change.step or not self.in_conflict(update.step))

    def _at_most(self, one: Change, before: int, place: int) -> int | None:
        """How many changes the one at a place is later than the one before it at most; None if that is not sure."""
        if not self._alone(one.step, self.changes[place].step):
            return None
        if not all(self._is_one(at) for at in range(before + 1, place + 1)):
            return None
        return place + 1 - bisect_right(self.changes, one.since, key=lambda change: change.step.index)

    def _is_one(self, place: int) -> bool:
        """Is a change surely one change, of one record? A key that stays as it is is none, and one that is taken is to
        be taken from the record that has it."""
        change, earlier = self.changes[place], self.changes[:place]
        if change.kind != "rename":
            return True
        keys: set[str | None] = {each.key for each in earlier}
        keys |= {a.update.key for a in self.arrivals if a.step.index < change.step.index}
        return change.key not in keys | {change.old_key}

    def _alone(self, one: Step, other: Step) -> bool:
        between = [step for step in self.steps if one.index < step.index < other.index]
        unsure = any(step.command == "open" or renames_in_place(step) for step in between)
        return not unsure and not self.in_conflict(other)

    def untouched(self, change: Change, until: Step) -> bool:
        """Did nothing come of the record of a change from then on until a step, and was nothing forgotten? Where the
        record is not known, anything may be of it."""
        window = range(change.step.index + 1, until.index)
        came = (a.update.uuid for a in self.arrivals if a.step.index in window and a.outcome != "present")
        same_store = self.known.same_era(change.step.index, until.index)
        return same_store and not any(not change.uuid or uuid in (None, change.uuid) for uuid in came)

    @cached_property
    def unexplained(self) -> list[Update]:
        """Those of its own that no command of its application explains: what conflicts were resolved by, and faults."""
        explained = {change.shown.version for change in self.changes if change.shown is not None}
        return [update for update in self.own if update.version not in explained]

    def opened_afresh(self, step: Step) -> bool:
        """Was it opened once until then, so that there can be nothing from before?"""
        return sum(each.command == "open" and each.index <= step.index for each in self.steps) == 1

    def opened_before(self, index: int) -> int:
        """The index of the last step before another in which it was opened; 0 if there is none."""
        return max((opened for opened in self._openings if opened < index), default=0)

    # ---- When ----------------------------------------------------------------------------------------------------

    @cached_property
    def quiet(self) -> list[int]:
        """The indices of the steps at which it had said all it had to say."""
        return quiet_steps(self.trace, self.steps, [*self.sent, *self.asked])

    def quiet_before(self, step: Step) -> int:
        """The index of the last step before another at which it had said all it had to say; 0 if there is none."""
        place = bisect_right(self.quiet, step.index - 1)
        return self.quiet[place - 1] if place else 0

    def due(self, step: Step, link: LinkView) -> Step | None:
        """The step at which all must have come on a link of what was done in ``step``; None if nothing tells."""
        index = first_quiet(self.quiet, step, link.readable)
        return self.trace.steps[index - 1] if index is not None else None

    # ---- What it knows -------------------------------------------------------------------------------------------

    @cached_property
    def arrivals(self) -> list[Arrival]:
        """What came, with what must become of each."""
        return self._read[0]

    @cached_property
    def known(self) -> Knowledge:
        """What it must know."""
        return self._read[1]

    def in_conflict(self, step: Step) -> bool:
        """Had anything come to be in conflict until then? Who resolves that may make changes of its own (CA-8)."""
        return bool(self.contested(step))

    def contested(self, step: Step) -> set[str]:
        """The uuids of the records that had come to be in conflict until then."""
        return {uuid for index, uuids in self.known.conflicts if index <= step.index for uuid in uuids}

    def has(self, uuid: str, version: Version | None, step: Step) -> bool:
        """Is it sure that a version is there after a step, and nothing newer?"""
        held = self.known.at(uuid, step.index)
        return held is not None and held.update is not None and held.update.version == version

    @cached_property
    def proofs(self) -> list[Proof]:
        """The visible outcomes of updates that came."""
        return [proof for proof in map(self._proof, self.arrivals) if proof is not None]

    def proof(self, arrival: Arrival) -> Proof | None:
        """The outcome of one of them; None if it does not show."""
        return next((proof for proof in self.proofs if proof.arrival is arrival), None)

    def _proof(self, arrival: Arrival) -> Proof | None:
        """The first state that the peer shows of the record, as long as the update is to be there."""
        uuid = str(arrival.update.uuid)
        shown = next((shown for shown in self.shown if shown.as_of.index > arrival.step.index), None)
        if shown is None or not self.has(uuid, arrival.update.version, shown.step):
            return None
        if any(arrival.step.index < index < shown.asked.index for index in self._openings):
            return None  # what is kept for the next start is another matter
        copies = (update for update in self.sent if update.step.index >= arrival.step.index)
        relayed = any(update.version == arrival.update.version for update in copies)
        return Proof(arrival, shown, relayed=relayed)

    @cached_property
    def _openings(self) -> list[int]:
        return [step.index for step in self.steps if step.command == "open"]

    @cached_property
    def untaken(self) -> set[Version | None]:
        """What was not taken although it had to be: what does not come of that is the same fault."""
        return {p.arrival.update.version for p in self.proofs if p.arrival.due and not p.is_there}

    @cached_property
    def took(self) -> bool | None:
        """Did it take anything of what it was sent? None if nothing tells, or nothing had to be taken."""
        proofs = [proof for proof in self.proofs if proof.arrival.due]
        return any(proof.is_there for proof in proofs) if proofs else None

    def had(self, proof: Proof) -> str:
        """What was there instead of an update, as findings quote it."""
        seen = proof.seen
        if seen is None:
            return "no trace of that record"
        what = "the deletion, " if seen.deleted else ""
        return f"{what}revision {seen.rev} of {self.name(seen.by)}"

    def one_of_many(self, arrival: Arrival) -> bool:
        """Did more than one update arrive at once?"""
        return len(self._together[arrival.step.index]) > 1

    def put_together(self, arrival: Arrival) -> bool:
        """Did an update arrive with others, or in pieces where one that arrived whole was taken?"""
        return self.one_of_many(arrival) or (arrival.update.in_pieces and self._takes_whole_ones)

    @cached_property
    def _takes_whole_ones(self) -> bool:
        due = (proof.arrival for proof in self.proofs if proof.arrival.due and proof.is_there)
        return any(not (arrival.update.in_pieces or self.one_of_many(arrival)) for arrival in due)

    @cached_property
    def _together(self) -> dict[int, list[Update]]:
        return _by_step(self.received)

    @cached_property
    def refused(self) -> list[Arrival]:
        """What must be refused, and did not come in its own right as well, nor is a copy of what the peer has made."""
        taken = {arrival.update.version for arrival in self.arrivals if not arrival.must_not}
        made = {update.version: update.step.index for update in reversed(self.own)}
        return [
            a
            for a in self.arrivals
            if a.must_not
            and a.update.version is not None
            and a.update.version not in taken
            and made.get(a.update.version, a.step.index) >= a.step.index
        ]

    @cached_property
    def unsigned(self) -> set[Version | None]:
        """Versions that came to a read-only peer from a read-write one, without a signature (CA-17)."""
        return {
            arrival.update.version
            for arrival in self.refused
            if arrival.update.message.signature is None and self.link_of(arrival.update).level is READ_WRITE
        }

    @cached_property
    def leaked(self) -> set[Version | None]:
        """Of these the versions of which there is a trace afterwards: what comes of that is another matter."""
        traces = {update.version for update in self.sent}
        traces |= {seen.version for shown in self.shown for seen in shown.records.values()}
        return traces & {arrival.update.version for arrival in self.refused}

    @cached_property
    def shown(self) -> list[Shown]:
        """What it has shown of all its records, in order: on the wire and, where that is declared, to who observes."""
        under_test = {party.participant_id for party in self.trace.parties.values()}
        strangers = [link for link in self.links if link.peer_id not in under_test]
        found = [*told(strangers, self.quiet, self.trace.steps), *observed(self.steps, self.quiet)]
        return sorted(found, key=lambda shown: shown.step.index)

    @property
    def _counts_hops(self) -> bool:
        """Has it counted in the clock of a record that versions of others came, or go (CA-15): in one of these, or in
        what it made of them itself?"""
        if any(self._counts_all_that_came(update) for update in self.unexplained):
            return True
        came = {(update.version, (update.clock or {}).get(self.peer_id, 0)) for update in self.received}
        versions = {version for version, _ in came}
        sent = ((update.version, (update.clock or {}).get(self.peer_id, 0)) for update in self.sent)
        return any(version in versions and (version, number) not in came for version, number in sent)

    def _counts_all_that_came(self, made: Update) -> bool:
        came = sum(update.uuid == made.uuid and update.step.index <= made.step.index for update in self.received)
        return came > 1 and (made.clock or {}).get(self.peer_id, 0) > came

    @cached_property
    def _read(self) -> tuple[list[Arrival], Knowledge]:
        known = Knowledge(self.peer_id, resolves_hops=bool(self.unexplained) and self._counts_hops)
        arrivals: list[Arrival] = []
        made = {change.step.index: change for change in self.changes}
        came, went, resolved = _by_step(self.received), _by_step(self.sent), _by_step(self.unexplained)
        for step in self.steps:
            arrivals += [self._arrive(known, update) for update in came.get(step.index, ())]
            if (change := made.get(step.index)) is not None and change.uuid:
                known.write(change.uuid, change)
            for update in resolved.get(step.index, ()):
                known.show(update)
            for update in went.get(step.index, ()):
                known.send(update)
            if step.index in self._losses:
                known.forget(step)
        return arrivals, known

    def _arrive(self, known: Knowledge, update: Update) -> Arrival:
        link = self.link_of(update)
        must_not = forbidden(self.level, link, update)
        may_not = excused(self.trace.declaration, update)
        if not may_not and link.in_doubt(update.step):
            may_not = "it came after something that could be refused"
        if not may_not and self._broke_at_once(link, update):
            may_not = "the link broke before the peer had been quiet"
        arrival = known.arrive(update, must_not, may_not)
        if must_not or may_not:
            link.doubt = min(update.step.index, link.doubt or update.step.index)
        return arrival

    def _broke_at_once(self, link: LinkView, update: Update) -> bool:
        """Did a link end by the other end, or with the peer, before all was looked at that had come on it?"""
        broke = bool(link.connection.ended) and not link.connection.closed_by_peer
        return broke and self.due(update.step, link) is None and not self._shows(update)

    def _shows(self, update: Update) -> bool:
        """Is there a trace of an update in what was sent while its link was there?"""
        return any(
            sent.version == update.version and update.step.index <= sent.step.index <= self.link_of(update).ended
            for sent in self.sent
        )


def _in_order(updates: Iterator[Update]) -> list[Update]:
    return sorted(updates, key=lambda update: update.step.index)


def _by_step(updates: list[Update]) -> dict[int, list[Update]]:
    return grouped(updates, lambda update: update.step.index)


def peer_views(trace: Trace) -> list[PeerView]:
    """A trace, read for each peer under test."""
    views = [PeerView(trace, party) for party in trace.parties.values() if isinstance(party, Party)]
    for view in views:
        view.everybody = views
    return views


PRESENT: dict[str, Callable[[PeerView], object]] = {
    "links": lambda view: view.links,
    "links-to-readers": lambda view: any(link.level is READ_ONLY for link in view.links),
    "writes": lambda view: view.writes,
    "reads-only": lambda view: not view.writes,
    "sent": lambda view: view.sent,
    "received": lambda view: view.received,
    "asked": lambda view: view.asked,
    "requests": lambda view: view.requests,
    "changes": lambda view: view.changes,
    "own": lambda view: view.own,
    "shown": lambda view: view.shown,
}
