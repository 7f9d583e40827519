"""Collects the facts of a group trace: the writer and the recipients of each version, and the links at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from clearskies_reference import VectorClock
from sds_harness.clearskies.group_trace import Act, GroupTrace
from sds_harness.clearskies.operations import Calm, Leave, Look, Read
from sds_harness.clearskies.trace import Step, store_name

from ..view.facts import LinkView, Shown, Update, VersionId, grouped
from ..view.knowledge import Arrival, find_excuse
from ..view.latest import largest_numbers
from ..view.peer_view import PeerView, peer_views

_AFTER_CALM = (Calm, Look, Read, Leave)
"""Operations that change nothing."""


@dataclass
class VersionFacts:
    """One version of a record, with the clocks and contents of all updates that carry it."""

    first: Update
    """The first update with the version in the group trace."""
    clocks: list[VectorClock] = field(default_factory=list)
    """The distinct vector clocks of the updates with the version."""
    contents: list[tuple[object, ...]] = field(default_factory=list)
    """The distinct contents of the updates with the version. More than one is a violation."""

    def add(self, update: Update) -> None:
        """Add another update with the version."""
        if update.clock is not None and update.clock not in self.clocks:
            self.clocks.append(update.clock)
        if (content := comparable_content(update)) not in self.contents:
            self.contents.append(content)


def comparable_content(update: Update) -> tuple[object, ...]:
    """The part of an update that must be equal in all updates with the same version."""
    return (*update.content, update.time)


class PeerHistory:
    """The versions that one peer under test wrote, received and lost in a group trace."""

    def __init__(self, view: PeerView) -> None:
        self.view = view
        self.name = view.party.name
        self.known_versions: dict[VersionId, tuple[int, Update]] = {}
        """The versions that the peer wrote, or received and had to accept, since it last lost its store.

        The values are the number of the act (a step in the group trace), and the update.
        """
        self.doubtful: set[VersionId] = set()
        """The versions that the peer received and may have ignored."""
        self.is_ambiguous = False
        """Did the peer receive a message that can be read in different ways?"""
        self.open = False
        """Is the peer open at the end?"""
        self.last_own = 0
        """The highest revision of the peer's own changes before the last loss of its store; 0 if there is none."""
        self.reuses_revisions = False
        """Has the peer reused revisions after the loss of its store?"""

    @property
    def peer_id(self) -> str:
        return self.view.peer_id

    def forget(self) -> None:
        """Record that the peer is opened without its store."""
        own = [version[2] for version in self.known_versions if version[1] == self.peer_id]
        self.last_own = max([self.last_own, *own])
        self.known_versions.clear()
        self.doubtful.clear()

    def record_version(self, act: Act, update: Update) -> None:
        """Record that the peer has a version, or a version that replaces it."""
        if update.version is not None:
            self.known_versions.setdefault(update.version, (act.number, update))


class ClubView:
    """The facts of all peers in a group trace."""

    def __init__(self, group_trace: GroupTrace) -> None:
        self.group_trace = group_trace
        views = {view.party.name: view for trace in group_trace.traces for view in peer_views(trace)}
        self.histories = {name: PeerHistory(views[name]) for name in group_trace.schedule.names if name in views}
        self.members = {side.peer_id: side for side in self.histories.values()}
        self.versions: dict[VersionId, VersionFacts] = {}
        self.sent: list[tuple[Act, PeerHistory, Update]] = []
        """All updates of peers under test, in order."""
        self.never_received: list[Update] = []
        """The relayed updates that the relaying peer had received from no read-write peer."""
        self.has_replays = False
        """Has a scripted peer repeated updates of peers under test in another order?"""
        self.has_impostor = False
        """Has a read-write peer written under the ID of a peer under test?"""
        self.has_unasked_updates = False
        """Has a peer sent updates on a link before the other end requested any (CA-1)?"""
        self._received_contents: dict[str, dict[VersionId, list[tuple[object, ...]]]] = {
            name: {} for name in self.histories
        }
        self._read_acts()

    # ---- reading ---------------------------------------------------------------------------------------------------

    def _read_acts(self) -> None:
        arrivals = {name: grouped(side.view.arrivals, lambda a: a.step.index) for name, side in self.histories.items()}
        sent_updates = {name: grouped(side.view.sent, lambda u: u.step.index) for name, side in self.histories.items()}
        stores: dict[str, set[str]] = {name: set() for name in self.histories}
        for act in self.group_trace.acts:
            side = self.histories.get(act.who)
            if side is None:
                continue
            if act.step.command == "open" and act.step.answer == "opened":
                self._read_opening(side, act.step, stores[side.name])
            elif act.step.command == "close":
                side.open = False
            for arrival in arrivals[side.name].get(act.step.index, ()):
                self._read_arrival(side, act, arrival)
            for update in sent_updates[side.name].get(act.step.index, ()):
                self._read_sending(side, act, update)

    @staticmethod
    def _read_opening(side: PeerHistory, step: Step, stores: set[str]) -> None:
        store = store_name(step.request.open.store)
        if side.open or store not in stores or not store:
            side.forget()
        stores.add(store)
        side.open = True

    def _read_arrival(self, side: PeerHistory, act: Act, arrival: Arrival) -> None:
        update = arrival.update
        if arrival.prohibition:
            return
        if update.fault or find_excuse(side.view.trace.declaration, update):
            side.is_ambiguous = True
        if update.version is None:
            return
        of_member = side.view.link_of(update).peer_id in self.members
        author = self.members.get(update.version[1])
        if not of_member and author is not None:
            known = self.versions.get(update.version)
            genuine = known is not None and comparable_content(update) in known.contents
            self.has_replays |= genuine
            self.has_impostor |= not genuine
        self._add_version(update)
        if arrival.excuse:
            side.doubtful.add(update.version)
        else:
            side.record_version(act, update)
        self._received_contents[side.name].setdefault(update.version, []).append(comparable_content(update))

    def _read_sending(self, side: PeerHistory, act: Act, update: Update) -> None:
        self.sent.append((act, side, update))
        if update.version is None:
            return
        link = side.view.link_of(update)
        self.has_unasked_updates |= link.subscribed_at is None or update.step.index < link.subscribed_at
        self._add_version(update)
        if update.by != side.peer_id:
            if comparable_content(update) not in self._received_contents[side.name].get(update.version, ()):
                self.never_received.append(update)
            return
        new = update.version not in side.known_versions
        side.record_version(act, update)
        side.reuses_revisions |= new and update.version[2] <= side.last_own

    def _add_version(self, update: Update) -> None:
        assert update.version is not None
        self.versions.setdefault(update.version, VersionFacts(update)).add(update)

    # ---- state at the end ------------------------------------------------------------------------------------------

    @cached_property
    def calm_operation(self) -> int | None:
        """Index of the operation after which everything must converge; None if there is none, or if changes follow."""
        group_trace = self.group_trace
        operations = group_trace.schedule.operations
        last = max((index for index, op in enumerate(operations) if isinstance(op, Calm)), default=None)
        if (
            last is None
            or not group_trace.settled
            or group_trace.breakdown is not None
            or last not in group_trace.began
        ):
            return None
        return last if all(isinstance(op, _AFTER_CALM) for op in operations[last:]) else None

    def find_final_states(self, side: PeerHistory) -> Iterator[Shown]:
        """The records that a peer showed after ``calm_operation``: on the wire, and in observed states if declared."""
        if self.calm_operation is None or not side.open:
            return
        last: dict[bool, Shown] = {}
        for shown in side.view.shown_states:
            act = self.act_of(side, shown.asked)
            if act is not None and act.operation > self.calm_operation:
                last[shown.on_the_wire] = shown
        yield from last.values()

    def act_of(self, side: PeerHistory, step: Step) -> Act | None:
        """The act (step of the group trace) for a step of a peer's own trace; None if there is none."""
        return self.group_trace.act_of(side.view.trace, step.index)

    @cached_property
    def groups(self) -> list[list[PeerHistory]]:
        """The groups of at least two peers that reliable links (see ``_find_reliable_links``) connect at the end."""
        near: dict[str, set[str]] = {}
        for one, other in self._find_reliable_links():
            near.setdefault(one, set()).add(other)
            near.setdefault(other, set()).add(one)
        left, out = [name for name, side in self.histories.items() if side.open], []
        while left:
            group = [left.pop(0)]
            for name in group:
                group += [other for other in left if other in near.get(name, ())]
                left = [other for other in left if other not in group]
            if len(group) > 1:
                out.append([self.histories[name] for name in group])
        return out

    def _find_reliable_links(self) -> Iterator[tuple[str, str]]:
        """Yield the pairs of peers that have a reliable link at the end: all updates must have passed over the link.

        Both peers are open and have sent everything, neither end may have refused a message, and both ends have asked
        for updates or had no other link.
        """
        ends: dict[int, list[tuple[PeerHistory, LinkView]]] = {}
        for side in self.histories.values():
            for link in side.view.links:
                lasts = not link.connection.ended and link.peer_id in self.members and link.doubtful_from is None
                if side.open and lasts and self._came_to_rest(side):
                    ends.setdefault(link.number, []).append((side, link))
        for pair in ends.values():
            if len(pair) == 2 and (self._is_only_link(*pair) or all(link.asked for _, link in pair)):
                yield pair[0][0].name, pair[1][0].name

    def _came_to_rest(self, side: PeerHistory) -> bool:
        """Had a peer sent everything at the end? A peer whose clock was set back may wait for a later time."""
        last = side.view.quiet[-1] if side.view.quiet else None
        act = self.act_of(side, side.view.trace.steps[last - 1]) if last is not None else None
        return act is not None and self.calm_operation is not None and act.operation >= self.calm_operation

    @staticmethod
    def _is_only_link(*pair: tuple[PeerHistory, LinkView]) -> bool:
        """Had the two peers no other link while this one was open? Another link may have carried the request."""
        return not any(
            other is not link and other.peer_id == link.peer_id and other.ended > link.began
            for side, link in pair
            for other in side.view.links
        )

    @cached_property
    def may_lose_updates(self) -> bool:
        """Was an update lost, or accepted out of order? Then later updates may never arrive, because no peer has to
        send them again (CA-5).
        """
        updates = (m for loss in self.group_trace.losses for m in loss.packet.wire.messages)
        cut = any("uuid" in message.body.members for message in updates)
        halves = any(not loss.packet.wire.messages for loss in self.group_trace.losses)
        return cut or halves or self.has_replays or self.has_unasked_updates

    @cached_property
    def shows_hops(self) -> bool:
        """Do vector clocks count sending and receiving (rules 3 and 4 of vector clocks) besides writing?

        If so, a change can look concurrent to its ancestor at a peer that received the ancestor by another path (CA-8).
        """
        of_records = grouped(self.versions.values(), lambda facts: facts.first.uuid).values()
        return any(
            largest_numbers(clock for facts in versions for clock in facts.clocks)
            != largest_numbers(facts.first.clock or {} for facts in versions)
            for versions in of_records
        )

    @cached_property
    def has_cycles(self) -> bool:
        """Could a change reach a peer by two paths at the same time (CA-5)?"""
        lines: dict[int, tuple[set[str], int, int]] = {}
        for side in self.histories.values():
            for link in side.view.links:
                if link.peer_id not in self.members:
                    continue
                first, last = self._act_number(side, link.began), self._act_number(side, link.ended)
                names, began, ended = lines.get(link.number, (set(), first, last))
                lines[link.number] = names | {side.name}, min(began, first), max(ended, last)
        return any(
            _has_cycle([names for names, began, ended in lines.values() if began <= at <= ended and len(names) == 2])
            for at in {began for _, began, _ in lines.values()}
        )

    def _act_number(self, side: PeerHistory, index: int) -> int:
        """The place of a peer's step in the group trace; a number above all places if the step is not in it."""
        act = self.group_trace.act_of(side.view.trace, index)
        return act.number if act is not None else len(self.group_trace.acts) + 1


def _has_cycle(pairs: Iterable[set[str]]) -> bool:
    groups: list[set[str]] = []
    """The groups of connected peers, given the pairs so far."""
    for pair in pairs:
        if any(pair <= group for group in groups):
            return True
        joined = pair.union(*(group for group in groups if pair & group))
        groups = [joined, *(group for group in groups if not pair & group)]
    return False
