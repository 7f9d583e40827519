"""Reads a trace as the facts of one peer under test. All checks are functions of a `PeerView`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import AccessLevel
from sds_harness import trace as trace_of_any
from sds_harness.clearskies.clubs import READ_ONLY, READ_WRITE
from sds_harness.clearskies.stage import ROUND_MS
from sds_harness.clearskies.trace import Party, Step, Trace, store_name

from ....judging.formats import identifier
from .facts import (
    Change,
    LinkView,
    Request,
    Shown,
    Update,
    VersionId,
    changes_of,
    grouped,
    is_superseded_by,
    name_peer,
    parse_record,
    renames_in_place,
    same_content,
)
from .knowledge import Arrival, Knowledge, find_excess_of_merge, find_excuse, find_prohibition

MAY_BE_RESOLVED = "the peer may have resolved the same conflict by a change of its own"
"""Why the outcome of an update may be a conflict with a change that the peer has not sent yet."""
AFTER_DOUBT = "it arrived on a link after a message that could be refused"
"""Why a peer may refuse an update: it may have stopped reading the link."""


class Proof:
    """The outcome of an update, as the peer shows it."""

    __slots__ = ("arrival", "is_present", "is_shown", "is_unchanged", "seen", "shown")

    def __init__(self, arrival: Arrival, shown: Shown, *, relayed: bool) -> None:
        """``relayed``: the peer sent the update to others, so it was accepted even if an answer lacks it."""
        self.arrival, self.shown = arrival, shown
        self.seen = seen = shown.records.get(str(arrival.update.uuid))
        """The record in the state; None if the state does not have it."""
        self.is_shown = seen is not None and seen.version == arrival.update.version
        """Does the state have the version of the update?"""
        self.is_present = relayed or self.is_shown
        self.is_unchanged = seen is not None and self.is_shown and same_content(seen.content, arrival.update.content)
        """Does the state have the version of the update with the content that arrived?"""


@dataclass(frozen=True)
class Successive:
    """Two local changes; the second was certainly made after the first."""

    one: Update
    other: Update
    before: int
    after: int
    """The revisions of ``one`` and ``other``."""
    most: int | None
    """The maximum by which ``after`` exceeds ``before``. The real difference is smaller if
    a change was never sent, because it may have used no revision number. None if the peer may have made further changes
    itself.
    """


class PeerView:
    """The facts of one peer under test: what it received, did, sent and showed. The facts of a trace that has been read
    do not change.
    """

    def __init__(self, trace: Trace, party: Party) -> None:
        self.channel_id = ""
        self.trace = trace
        self.party: trace_of_any.Party = party
        self.peer_id = party.peer_id
        self.level: AccessLevel = party.level
        self.steps: list[Step] = list(trace.of(party.name))
        self.links = [LinkView(connection, trace) for connection in trace.links_of(party.name)]
        self.everybody: list[PeerView] = [self]
        """The views of all peers under test."""
        self._by_number = {link.number: link for link in self.links}
        self.sent = _in_order(update for link in self.links for update in link.sent)
        """All updates that the peer sent, on all links, in order."""
        self.received = _in_order(update for link in self.links for update in link.received)
        """All updates that arrived, on all links, in order."""
        self.asked = [request for link in self.links for request in link.asked]
        """All requests that the peer sent."""
        self.requests = [request for link in self.links for request in link.requests]
        """All requests that arrived."""

    @property
    def writes(self) -> bool:
        """May the peer change records?"""
        return self.level is READ_WRITE

    def can(self, *capabilities: int) -> bool:
        """Does the peer declare all of these capabilities?"""
        return self.trace.declaration.can(*capabilities)

    @property
    def resolution(self) -> int:
        """The conflict resolution that is in use or was requested."""
        for configuration in (self.party.in_force, self.party.asked):
            if configuration.HasField("resolution"):
                return int(configuration.resolution)
        return pb.RESOLUTION_UNSPECIFIED

    @property
    def resolves_by_time(self) -> bool:
        """Does the rule of the specification resolve conflicts?"""
        return self.resolution == pb.RESOLUTION_UNSPECIFIED

    def link_of(self, update: Update | Request) -> LinkView:
        """The link of an update or request."""
        return self._by_number[update.link.number]

    def name(self, peer_id: str | None) -> str:
        """The name of a peer in findings."""
        return name_peer(self.trace, peer_id)

    def name_other_end(self, link: LinkView) -> str:
        """The other end of a link, in findings."""
        return f"{self.name(link.peer_id)} (link {link.number})"

    def named(self, update: Update) -> str:
        """The name of an update in findings: the key of its record, and the version."""
        key = identifier(update.key) if update.key is not None else "a record without a key"
        deletion = "the deletion of " if update.deleted else ""
        return f"{deletion}{key}, revision {update.rev} of {self.name(update.by)}"

    # ---- Versions and changes -------------------------------------------------------------------------------------

    @cached_property
    def own(self) -> list[Update]:
        """The first sent update of each version that the peer wrote, sorted by revision."""
        first: dict[tuple[str, int, int], Update] = {}
        for update in self.sent:
            if update.by == self.peer_id and update.rev is not None and not self._was_sent_back(update):
                which = (str(update.members.get("uuid")), update.rev, self._count_losses(update.step))
                first.setdefault(which, update)
        return sorted(first.values(), key=lambda update: (update.rev or 0, update.step.index))

    @cached_property
    def _losses(self) -> list[int]:
        """The indices of the steps that opened the peer without its store."""
        stores: set[str] = set()
        losses = []
        for step in self.steps:
            if step.command == "open":
                store = store_name(step.request.open.store)
                losses += [step.index] if store not in stores or not store else []
                stores.add(store)
        return losses

    def _count_losses(self, step: Step) -> int:
        """The number of times that the peer had lost its store by a step. After each loss it may reuse revisions."""
        return bisect_right(self._losses, step.index)

    def _was_sent_back(self, update: Update) -> bool:
        """Is the update an own version from before the last loss of the store, which other peers have sent back?"""
        losses = self._count_losses(update.step)
        return losses > 1 and any(
            same_content(other.content, update.content)
            for other in self._received_by_version.get(update.version, ())
            if other.step.index <= update.step.index and self._count_losses(other.step) == losses
        )

    @cached_property
    def _received_by_version(self) -> dict[VersionId | None, list[Update]]:
        return grouped(self.received, lambda update: update.version)

    @cached_property
    def changes(self) -> list[Change]:
        """The changes of the application of the peer."""
        out = []
        for losses in range(len(self._losses) + 1):
            steps = [step for step in self.steps if self._count_losses(step) == losses]
            own = [update for update in self.own if self._count_losses(update.step) == losses]
            out += changes_of(steps, own, self.received)
        return out

    @cached_property
    def successive_changes(self) -> list[Successive]:
        """Pairs of consecutive changes that were sent, except if the second update may be of an earlier change."""
        shown = [(place, change, change.shown) for place, change in enumerate(self.changes) if change.shown is not None]
        return [
            Successive(first, second, first.rev or 0, second.rev or 0, self._max_changes_between(one, before, place))
            for (before, one, first), (place, other, second) in pairwise(shown)
            if one.step.index < other.since and self._is_surely_of(one, first) and self._is_surely_of(other, second)
        ]

    def _is_surely_of(self, change: Change, update: Update) -> bool:
        """Was the first update of a change certainly sent for it, not for a conflict whose result has equal content?"""
        return update.step is change.step or not self.in_conflict(update.step)

    def _max_changes_between(self, one: Change, before: int, place: int) -> int | None:
        """The maximum number of changes from the change at index ``before`` to the change at index ``place``.

        None if it is uncertain.
        """
        if not self._is_undisturbed_between(one.step, self.changes[place].step):
            return None
        if not all(self._is_single_change(at) for at in range(before + 1, place + 1)):
            return None
        return place + 1 - bisect_right(self.changes, one.since, key=lambda change: change.step.index)

    def _is_single_change(self, place: int) -> bool:
        """Does a change certainly count as exactly one change of one record? A rename to the same key may change
        nothing. A rename to the key of another record may first change that record.
        """
        change = self.changes[place]
        if change.kind != "rename":
            return True
        keys: set[str | None] = {each.key for each in self.changes[:place]}
        keys |= {a.update.key for a in self.arrivals if a.step.index < change.step.index}
        return change.key not in keys | {change.old_key}

    def _is_undisturbed_between(self, one: Step, other: Step) -> bool:
        unsure = any(one.index < index < other.index for index in self._renames_in_place)
        return not unsure and self.known.same_era(one.index, other.index) and not self.in_conflict(other)

    @cached_property
    def _renames_in_place(self) -> list[int]:
        """The indices of the steps that give a record the key that it already has."""
        return [step.index for step in self.steps if renames_in_place(step)]

    def is_undisturbed(self, change: Change, until: Step) -> bool:
        """Is it certain that no update of the changed record arrived until a step, and that the store was kept?

        False after any update if the uuid of the record is unknown.
        """
        window = range(change.step.index + 1, until.index)
        arrived = (a.update.uuid for a in self.arrivals if a.step.index in window and a.outcome != "present")
        same_store = self.known.same_era(change.step.index, until.index)
        return same_store and not any(not change.uuid or uuid in (None, change.uuid) for uuid in arrived)

    @cached_property
    def unexplained(self) -> list[Update]:
        """Versions that the peer wrote and sent, but that no command explains: resolutions of conflicts, and faults."""
        return [update for update in self.own if update.version not in self.written_versions]

    def opened_afresh(self, step: Step) -> bool:
        """Was the peer opened only once up to a step, so that it has no earlier records?"""
        return sum(opened <= step.index for opened in self._openings) == 1

    def opened_before(self, index: int) -> int:
        """The index of the last step before ``index`` that opened the database; 0 if there is none."""
        return max((opened for opened in self._openings if opened < index), default=0)

    # ---- Quiet steps and due steps -------------------------------------------------------------------------------

    @cached_property
    def quiet(self) -> list[int]:
        """The indices of the quiet steps of the peer.

        Messages that are due are expected by the next quiet step: some peers send at once, others when they are ticked.
        A peer is quiet after two ticks in a row, each later than all times before, and the second at least ROUND_MS
        after the first, if it sends nothing about databases and nothing arrives in between. If a clock steps back, a
        peer may wait until the clock reaches the earlier time again. Repeated requests and answers do not count, at
        either end.
        """
        messages: list[Update | Request] = [*self.sent, *self.asked]
        sending = {each.step.index for each in messages if not each.message.repeated}
        out: list[int] = []
        latest_ms = -1
        silent_ms: int | None = None
        """The virtual time in ms of the first of consecutive ticks without a message; None after a message."""
        for step in self.steps:
            came = self.trace.into(step) if step.command == "receive" else []
            asked_again = bool(came) and all(message.repeated for message in came)
            if step.command == "observe" or (asked_again and step.index not in sending):
                continue
            if step.command != "tick" or step.effects is None or step.index in sending:
                silent_ms = None
            elif step.now_ms > latest_ms:
                silent_ms = step.now_ms if silent_ms is None else silent_ms
                if step.now_ms >= silent_ms + ROUND_MS:
                    out.append(step.index)
            latest_ms = max(latest_ms, step.now_ms)
        return out

    def quiet_before(self, step: Step) -> int:
        """The index of the last quiet step of the peer before ``step``; 0 if there is none."""
        place = bisect_right(self.quiet, step.index - 1)
        return self.quiet[place - 1] if place else 0

    def due(self, step: Step, link: LinkView) -> Step | None:
        """The step by which the peer must have sent everything that ``step`` makes due on a link: the next quiet step.

        None if the link or the trace ends before such a step.
        """
        place = bisect_right(self.quiet, step.index)
        index = self.quiet[place] if place < len(self.quiet) else None
        return self.trace.steps[index - 1] if index is not None and index <= link.readable_until else None

    # ---- Arrivals and their outcomes -----------------------------------------------------------------------------

    @cached_property
    def arrivals(self) -> list[Arrival]:
        """The arrivals, each with the required outcome."""
        return self._read_steps[0]

    @cached_property
    def known(self) -> Knowledge:
        """The model of the versions that the peer must have, step by step."""
        return self._read_steps[1]

    def in_conflict(self, step: Step) -> bool:
        """Was any record in conflict up to a step? A peer that resolves conflicts may make own changes (CA-8)."""
        return bool(self.contested(step))

    def contested(self, step: Step) -> frozenset[str]:
        """The uuids of the records that were in conflict up to a step."""
        starts, sets = self._contested_sets
        place = bisect_right(starts, step.index)
        return sets[place - 1] if place else frozenset()

    @cached_property
    def _contested_sets(self) -> tuple[list[int], list[frozenset[str]]]:
        """The indices of the steps in which more records came into conflict, and all contested records from then on.

        Peers that never agree are in conflict thousands of times, and almost every check asks for these records.
        """
        starts, sets = list[int](), list[frozenset[str]]()
        for index, uuids in sorted(self.known.conflicts, key=lambda conflict: conflict[0]):
            before: frozenset[str] = sets[-1] if sets else frozenset()
            if not before.issuperset(uuids):
                starts.append(index)
                sets.append(before | frozenset(uuids))
        return starts, sets

    def has(self, uuid: str, version: VersionId | None, step: Step) -> bool:
        """Does the peer certainly have a version after a step, and no newer one?"""
        held = self.known.at(uuid, step.index)
        return held is not None and held.update is not None and held.update.version == version

    @cached_property
    def proofs(self) -> list[Proof]:
        """The outcomes of updates, where the peer shows them."""
        return [proof for proof in map(self._make_proof, self.arrivals) if proof is not None]

    def _make_proof(self, arrival: Arrival) -> Proof | None:
        """Compare an update with the first state of its record that the peer shows afterwards.

        Return None if there is no such state, or if a later update may have replaced the update before the state. An
        observed state may lack deleted records, because some implementations cannot show them.
        """
        uuid = str(arrival.update.uuid)
        later = (shown for shown in self.shown_states if shown.as_of.index > arrival.step.index)
        if arrival.update.deleted:
            later = (shown for shown in later if shown.on_the_wire or uuid in shown.records)
        shown = next(later, None)
        if shown is None or not self.has(uuid, arrival.update.version, shown.step):
            return None
        if any(arrival.step.index < index < shown.asked.index for index in self._openings):
            return None  # other checks judge the records that a restarted peer keeps
        copies = (update for update in self.sent if update.step.index >= arrival.step.index)
        relayed = any(update.version == arrival.update.version for update in copies)
        return Proof(arrival, shown, relayed=relayed)

    @cached_property
    def _openings(self) -> list[int]:
        return [step.index for step in self.steps if step.command == "open"]

    @cached_property
    def unaccepted(self) -> set[VersionId | None]:
        """The versions that the peer failed to accept. Their consequences are not judged again."""
        return {p.arrival.update.version for p in self.proofs if p.arrival.due and not p.is_present}

    @cached_property
    def accepted_any(self) -> bool | None:
        """Did the peer accept any update that it had to accept? None if unknown, or if no such update arrived."""
        proofs = [proof for proof in self.proofs if proof.arrival.due]
        return any(proof.is_present for proof in proofs) if proofs else None

    def describe_state(self, proof: Proof) -> str:
        """Describe in findings what the peer shows instead of an update."""
        seen = proof.seen
        if seen is None:
            return "no trace of that record"
        what = "the deletion, " if seen.deleted else ""
        return f"{what}revision {seen.rev} of {self.name(seen.by)}"

    def arrived_with_others(self, arrival: Arrival) -> bool:
        """Did more than one update arrive in the same step?"""
        return len(self._received_by_step[arrival.step.index]) > 1

    def is_reassembled(self, arrival: Arrival) -> bool:
        """Did an update arrive with others, or in pieces at a peer that accepts whole updates?"""
        return self.arrived_with_others(arrival) or (arrival.update.in_pieces and self._accepts_whole_updates)

    @cached_property
    def _accepts_whole_updates(self) -> bool:
        due = (proof.arrival for proof in self.proofs if proof.arrival.due and proof.is_present)
        return any(not (arrival.update.in_pieces or self.arrived_with_others(arrival)) for arrival in due)

    @cached_property
    def _received_by_step(self) -> dict[int, list[Update]]:
        return _by_step(self.received)

    @cached_property
    def forbidden_arrivals(self) -> list[Arrival]:
        """Arrivals that must be refused, without versions that also arrived legally or that the peer sent before."""
        taken = {arrival.update.version for arrival in self.arrivals if not arrival.prohibition}
        made = {update.version: update.step.index for update in reversed(self.own)}
        return [
            a
            for a in self.arrivals
            if a.prohibition
            and a.update.version is not None
            and a.update.version not in taken
            and made.get(a.update.version, a.step.index) >= a.step.index
        ]

    @cached_property
    def unsigned_versions(self) -> set[VersionId | None]:
        """The versions that a read-write peer sent unsigned to this read-only peer (CA-17)."""
        return {
            arrival.update.version
            for arrival in self.forbidden_arrivals
            if arrival.update.message.signature is None and self.link_of(arrival.update).level is READ_WRITE
        }

    @cached_property
    def leaked_versions(self) -> set[VersionId | None]:
        """The versions of forbidden arrivals that the peer had afterwards. Their consequences are not judged."""
        return self.traced_versions & {arrival.update.version for arrival in self.forbidden_arrivals}

    @cached_property
    def traced_versions(self) -> set[VersionId | None]:
        """The versions that the peer sent or showed."""
        shown = {seen.version for shown in self.shown_states for seen in shown.records.values()}
        return shown | {update.version for update in self.sent}

    def is_traced(self, update: Update) -> bool:
        """Does the trace show that the peer had a version?"""
        return update.by == self.peer_id or update.version in self.traced_versions

    @cached_property
    def shown_states(self) -> list[Shown]:
        """The states that the peer showed of all records, in order: on the wire and, if declared, when observed."""
        under_test = {party.participant_id for party in self.trace.parties.values()}
        scripted = [link for link in self.links if link.peer_id not in under_test]
        answers = [shown for link in scripted if (shown := self._find_full_answer(link)) is not None]
        return sorted([*answers, *self._find_observed_states()], key=lambda shown: shown.step.index)

    def _find_full_answer(self, link: LinkView) -> Shown | None:
        """The answer to the first request on a link, up to the next quiet step, if it is a request for everything."""
        first = link.requests[0] if link.requests else None
        end = self.due(first.step, link) if first is not None and first.asks_for_all else None
        if first is None or end is None:
            return None
        records: dict[str, Update] = {}
        for update in link.sent:
            if update.uuid is not None and first.step.index <= update.step.index <= end.index:
                before = records.get(update.uuid)
                # A peer that answers with all versions by revision may send an old version last, which receivers
                # discard.
                if before is None or not is_superseded_by(update, before):
                    records[update.uuid] = update
        return Shown(end, first.step, first.step, records, link)

    def _find_observed_states(self) -> Iterator[Shown]:
        """Yield the states of all records that the peer showed in replies to Observe."""
        as_of, when_quiet = self.steps[0] if self.steps else None, set(self.quiet)
        for step in self.steps:
            if step.index in when_quiet:
                as_of = step
            elif as_of is not None and step.state is not None and not step.request.observe.uuids:
                records = {str(seen.uuid): seen for seen in map(parse_record, step.state.records)}
                yield Shown(step, step, as_of, records, None)

    @property
    def _counts_hops(self) -> bool:
        """Does the peer increment its number in clocks when it receives or sends other peers' versions (CA-15)?

        The trace shows it in the clock of a relayed version, or of the peer's next version of the record.
        """
        if any(self._counts_all_arrivals(update) for update in self.unexplained):
            return True
        arrived = {(update.version, (update.clock or {}).get(self.peer_id, 0)) for update in self.received}
        versions = {version for version, _ in arrived}
        sent = ((update.version, (update.clock or {}).get(self.peer_id, 0)) for update in self.sent)
        return any(version in versions and (version, number) not in arrived for version, number in sent)

    def _counts_all_arrivals(self, made: Update) -> bool:
        arrived = sum(update.uuid == made.uuid and update.step.index <= made.step.index for update in self.received)
        return arrived > 1 and (made.clock or {}).get(self.peer_id, 0) > arrived

    @cached_property
    def _read_steps(self) -> tuple[list[Arrival], Knowledge]:
        known = Knowledge(self.peer_id, resolves_hops=bool(self.unexplained) and self._counts_hops)
        arrivals: list[Arrival] = []
        made = {change.step.index: change for change in self.changes}
        arrived, sent_updates, resolved = _by_step(self.received), _by_step(self.sent), _by_step(self.unexplained)
        for step in self.steps:
            arrivals += [self._read_arrival(known, update) for update in arrived.get(step.index, ())]
            if (change := made.get(step.index)) is not None and change.uuid:
                known.record_change(change.uuid, change)
            for update in resolved.get(step.index, ()):
                known.record_own_version(update)
            for update in sent_updates.get(step.index, ()):
                known.record_sending(update)
            if step.index in self._losses:
                known.record_loss(step)
        return arrivals, known

    def _read_arrival(self, known: Knowledge, update: Update) -> Arrival:
        link = self.link_of(update)
        prohibition = find_prohibition(self.level, link, update)
        excuse = find_excuse(self.trace.declaration, update)
        if not excuse:
            members = known.find_clock_members(update.uuid) | set(update.clock or ())
            excuse = find_excess_of_merge(self.trace.declaration, update, members)
        if not excuse and link.in_doubt(update.step):
            excuse = AFTER_DOUBT
        if not excuse and self._broke_at_once(link, update):
            excuse = "the link broke before the peer must have processed the update"
        unsure = excuse or (MAY_BE_RESOLVED if self._may_be_resolved(update) else "")
        arrival = known.record_arrival(update, prohibition, unsure, self.quiet_before(update.step))
        if prohibition or excuse:
            link.doubtful_from = min(update.step.index, link.doubtful_from or update.step.index)
        return arrival

    def _may_be_resolved(self, update: Update) -> bool:
        """Has another peer under test made this change to resolve a conflict?

        The peer may have resolved the same conflict by a change that it has not sent yet.
        """
        if self.resolves_by_time:
            return False
        writers = [other for other in self.everybody if other is not self and other.peer_id == update.by]
        return bool(writers) and not any(update.version in other.written_versions for other in writers)

    @cached_property
    def written_versions(self) -> frozenset[VersionId | None]:
        """The versions that changes of the application made."""
        return frozenset(change.shown.version for change in self.changes if change.shown is not None)

    def _broke_at_once(self, link: LinkView, update: Update) -> bool:
        """Did the other end or the peer close a link before everything that had arrived was processed?"""
        broke = bool(link.connection.ended) and not link.connection.closed_by_peer
        return broke and self.due(update.step, link) is None and not self._proves_possession(update)

    def _proves_possession(self, update: Update) -> bool:
        """Did the peer send the version of an update, before the link on which this update arrived ended?"""
        return any(
            sent.version == update.version and update.step.index <= sent.step.index <= self.link_of(update).ended
            for sent in self.sent
        )


def _in_order(updates: Iterator[Update]) -> list[Update]:
    return sorted(updates, key=lambda update: update.step.index)


def _by_step(updates: list[Update]) -> dict[int, list[Update]]:
    return grouped(updates, lambda update: update.step.index)


def peer_views(trace: Trace) -> list[PeerView]:
    """Create a view for each peer under test in a trace.

    If the conversation broke, the step without a reply is left out, so that no check takes it for a violation.
    """
    trace = trace.answered
    views = [PeerView(trace, party) for party in trace.parties.values() if isinstance(party, Party)]
    for view in views:
        view.everybody = views
    return views


FACT_KINDS: dict[str, Callable[[PeerView], object]] = {
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
    "shown": lambda view: view.shown_states,
}
