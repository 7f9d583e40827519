"""A trace as the facts of one peer under test, which all checks are functions of."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from clearskies_reference import AccessLevel
from sds_harness import trace as trace_of_any
from sds_harness.clearskies.clubs import READ_WRITE
from sds_harness.clearskies.trace import Party, Step, Trace

from . import quiet, telling
from .authority import excused, forbidden
from .changes import Change, changes_of
from .facts import Request, Update, Version
from .knowledge import Arrival, Knowledge
from .links import LinkView, links_of
from .shown import Shown, observed, told


class PeerView:
    """What one peer under test was told, did, sent and showed. It does not change once it was asked."""

    def __init__(self, trace: Trace, party: Party) -> None:
        self.channel_id = ""
        self.trace = trace
        self.party: trace_of_any.Party = party
        self.peer_id = party.peer_id
        self.level: AccessLevel = party.level
        self.steps: list[Step] = list(trace.of(party.name))
        self.links: list[LinkView] = links_of(trace, party.name)
        self._by_number = {link.number: link for link in self.links}

    @property
    def writes(self) -> bool:
        """May it change records?"""
        return self.level is READ_WRITE

    def can(self, *capabilities: int) -> bool:
        """Are these declared?"""
        return self.trace.declaration.can(*capabilities)

    def link(self, number: int) -> LinkView:
        """The link with that number, of which a peer has each once."""
        return self._by_number[number]

    def link_of(self, update: Update | Request) -> LinkView:
        """The link on which something came or went."""
        return self._by_number[update.link.number]

    def name(self, peer_id: str | None) -> str:
        """What a peer is called in findings."""
        return telling.name_of(self.trace, peer_id)

    def named(self, update: Update) -> str:
        """What an update is called in findings."""
        return telling.named(self.trace, update)

    # ---- What came and went --------------------------------------------------------------------------------------

    @cached_property
    def sent(self) -> list[Update]:
        """All updates that it sent, on all links, in order."""
        return _in_order(update for link in self.links for update in link.sent)

    @cached_property
    def received(self) -> list[Update]:
        """All updates that came, on all links, in order."""
        return _in_order(update for link in self.links for update in link.received)

    @cached_property
    def asked(self) -> list[Request]:
        """All that it asked for."""
        return [request for link in self.links for request in link.asked]

    @cached_property
    def requests(self) -> list[Request]:
        """All that it was asked for."""
        return [request for link in self.links for request in link.requests]

    @cached_property
    def own(self) -> list[Update]:
        """The first copy of each version that it sent as its own, by revision."""
        first: dict[Version, Update] = {}
        for update in self.sent:
            if update.by == self.peer_id and update.version is not None:
                first.setdefault(update.version, update)
        return sorted(first.values(), key=lambda update: (update.rev or 0, update.step.index))

    @cached_property
    def changes(self) -> list[Change]:
        """What its application changed."""
        return changes_of(self.steps, self.own)

    def overwritten(self, change: Change, until: Step) -> bool:
        """May there be nothing to be sent of a change any more, because something newer came about until that step?"""
        later = (c for c in self.changes if change.step.index < c.step.index <= until.index)
        came = (a for a in self.arrivals if change.step.index <= a.step.index <= until.index and not a.must_not)
        keys = {change.key, change.old_key}
        return any({c.key, c.old_key} & keys for c in later) or any(
            change.uuid in ("", a.update.uuid) or a.update.key in keys for a in came
        )

    def may_have_changed_more(self, one: Change, other: Change) -> bool:
        """Can the peer have made changes between two of its application, to resolve conflicts or to free a key?"""
        indices = range(one.step.index, other.step.index + 1)
        return any(not held.sure and held.change is None for index in indices for _, held in self.known.all_at(index))

    # ---- When ----------------------------------------------------------------------------------------------------

    @cached_property
    def quiet(self) -> list[int]:
        """The indices of the steps at which it had said all it had to say."""
        return quiet.quiet_steps(self.trace, self.steps)

    def due(self, step: Step, link: LinkView) -> Step | None:
        """The step at which all must have come on a link of what was done in ``step``; None if nothing tells."""
        index = quiet.due(self.quiet, step, link.ended)
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

    @cached_property
    def shown(self) -> list[Shown]:
        """What it has shown of all its records, in order: on the wire and, where that is declared, to who observes."""
        found = [*told(self.links, self.quiet, self.trace.steps), *observed(self.steps)]
        return sorted(found, key=lambda shown: shown.step.index)

    @cached_property
    def _read(self) -> tuple[list[Arrival], Knowledge]:
        known = Knowledge()
        arrivals: list[Arrival] = []
        made = {change.step.index: change for change in self.changes}
        explained = {change.shown.version for change in self.changes if change.shown is not None}
        came, went = _by_step(self.received), _by_step(self.sent)
        stores: set[str] = set()
        for step in self.steps:
            arrivals += [self._arrive(known, update) for update in came.get(step.index, ())]
            if (change := made.get(step.index)) is not None and change.uuid:
                known.write(change.uuid, change)
                self._unsettle_rivals(known, change.uuid, step)
            for update in went.get(step.index, ()):
                if update.by == self.peer_id and update.version not in explained:
                    known.show(update)
            if step.command == "open":
                if (store := step.request.open.store) not in stores or not store:
                    known.forget(step)
                stores.add(store)
        return arrivals, known

    def _arrive(self, known: Knowledge, update: Update) -> Arrival:
        link = self.link_of(update)
        must_not = forbidden(self.level, link, update)
        may_not = excused(self.trace.declaration, update)
        if not may_not and link.in_doubt(update.step):
            may_not = "it came after something that could be refused"
        arrival = known.arrive(update, must_not, may_not)
        if (must_not or may_not) and link.doubt is None:
            link.doubt = update.step.index
        if arrival.due or arrival.outcome in ("conflict", "open"):
            self._unsettle_rivals(known, str(update.uuid), update.step)
        return arrival

    @staticmethod
    def _unsettle_rivals(known: Knowledge, uuid: str, step: Step) -> None:
        """Of records that have one key, whoever loses may be hidden, deleted, or given another key (CA-8)."""
        rivals = known.rivals(uuid)
        for held in rivals:
            for update in held.candidates:
                if update.uuid is not None:
                    known.unsettle(update.uuid, step)
        if rivals:
            known.unsettle(uuid, step)


def _in_order(updates: Iterator[Update]) -> list[Update]:
    return sorted(updates, key=lambda update: update.step.index)


def _by_step(updates: list[Update]) -> dict[int, list[Update]]:
    out: dict[int, list[Update]] = {}
    for update in updates:
        out.setdefault(update.step.index, []).append(update)
    return out


def peer_views(trace: Trace) -> list[PeerView]:
    """A trace, read for each peer under test."""
    return [PeerView(trace, party) for party in trace.parties.values() if isinstance(party, Party)]
