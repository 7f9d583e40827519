"""Peers of ClearSkies that are unusual and legal, and broken ones whose fault shows indirectly, on the reference model.

Of each it is said by which words it is legal, or what it violates.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import (
    Config,
    Effects,
    GetUpdates,
    Kept,
    Link,
    MalformedMessage,
    Message,
    Peer,
    Record,
    Resolution,
)
from clearskies_reference.logical_clock import LogicalClock
from clearskies_reference.testee.server import Testee, TesteeOptions
from clearskies_unusual_peers import (
    AsksAgain,
    CountsEachSending,
    DecidesAmongEquals,
    DecidesTiesByValues,
    DropsLosersOfKeys,
    RenamesLosersOfKeys,
    RepeatsAsItCame,
    SkipsLowRevisions,
    TellsTimeInCairo,
    WritesNothingTwice,
    WritesWhatComesOfConflicts,
    WritesWhatIsInConflictToTheLetter,
    in_pieces,
)
from clearskies_views import Handle


@dataclass(frozen=True)
class Odd:
    """One such peer."""

    peer_class: type[Peer] = Peer
    config: Config = field(default_factory=Config)
    without: frozenset[int] = frozenset()
    change: Callable[[pb.Reply], None] = lambda reply: None
    fails: frozenset[str] = frozenset()
    """What it violates, of the requirements of sections "Conflicts" and "Deleted Records"."""

    def start(self) -> Handle:
        """Behind the testee protocol."""
        options = TesteeOptions("1", self.config, self.peer_class, "a peer of a test", self.without)
        inner = Testee(options).handle

        def answer(request: pb.Request) -> pb.Reply:
            reply = inner(request)
            self.change(reply)
            return reply

        return answer


# ---- Legal -----------------------------------------------------------------------------------------------------------


LITERAL = Config(hops_show=True)
LEGAL = {
    "counts-each-sending": Odd(CountsEachSending, LITERAL),
    "one-clock-to-the-letter": Odd(config=replace(LITERAL, clock_per_peer=True)),
    "repeats-as-it-came": Odd(RepeatsAsItCame, LITERAL),
    "writes-what-comes-of-conflicts": Odd(WritesWhatComesOfConflicts),
    "writes-what-is-in-conflict-to-the-letter": Odd(WritesWhatIsInConflictToTheLetter, LITERAL),
    "keeps-both-to-the-letter": Odd(CountsEachSending, replace(LITERAL, resolution=Resolution.SEPARATE)),
    "drops-losers-of-keys": Odd(DropsLosersOfKeys),
    "renames-losers-of-keys": Odd(RenamesLosersOfKeys),
    "decides-ties-by-values": Odd(DecidesTiesByValues),
    "decides-among-equals": Odd(DecidesAmongEquals),
    "tells-time-in-cairo": Odd(TellsTimeInCairo),
    "asks-again": Odd(AsksAgain),
    "writes-nothing-twice": Odd(WritesNothingTwice),
    "skips-low-revisions": Odd(SkipsLowRevisions),
    "keeps-both": Odd(config=Config(resolution=Resolution.SEPARATE)),
    "merges": Odd(config=Config(resolution=Resolution.MERGE)),
    "in-pieces": Odd(change=in_pieces),
}


# ---- Broken ----------------------------------------------------------------------------------------------------------


class ForgetsClocksAtStart(Peer):
    """Its records are there when it is started again, and what their clocks knew is not."""

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        for kept in list(self.store):
            own = {self.peer_id: kept.ticks} if kept.ticks else {}
            self.store.put(replace(kept, record=replace(kept.record, vector_clock=own)))


class CountsAnewAtStart(Peer):
    """Its own number in the clocks of records is zero again."""

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        for kept in list(self.store):
            clock = {peer_id: n for peer_id, n in kept.record.vector_clock.items() if peer_id != self.peer_id}
            self.store.put(replace(kept, ticks=0, record=replace(kept.record, vector_clock=clock)))


class ForgetsWhatLost(Peer):
    """What comes of a conflict knows the clock of who won alone, which shows in the next change."""

    def resolve(self, current: Kept, kept: Kept, incoming: Record, source: int, effects: Effects) -> None:
        super().resolve(current, kept, incoming, source, effects)
        winner, _ = self.decide(current.record, incoming)
        found = self.store.get(incoming.uuid)
        assert found is not None, "it was in conflict"
        self.store.put(replace(found, record=replace(found.record, vector_clock=winner.vector_clock), signed=None))


class DecidesKeysByUuid(Peer):
    """The same everywhere, and not by the time."""

    def shown(self, kept: Kept) -> Record:
        rivals = [each.record.uuid for each in self.store.at_key(kept.record.key)]
        return kept.record if kept.record.deleted or kept.record.uuid == min(rivals) else super().shown(kept)

    def resolve_key(self, uuid: str, other_uuid: str, effects: Effects) -> None:
        self.bury_loser(max(uuid, other_uuid), effects)

    def bury_loser(self, uuid: str, effects: Effects) -> None:
        kept = self.store.get(uuid)
        assert kept is not None, "it had the key"
        self.settle(uuid, (kept.record.key, "null", True), kept.record, effects)


class RemembersDeletionsForADay(Peer):
    """ "Indefinitely" is longer."""

    def _old(self, current: Record, incoming: Record) -> bool:
        return current.deleted and not incoming.deleted and self._now - current.update_time.seconds > 86_400

    _now = 0

    def receive(self, number: int, data: bytes, now_ms: int) -> Effects:
        self._now = now_ms // 1_000
        return super().receive(number, data, now_ms)

    def is_older(self, incoming: Record, current: Record) -> bool:
        return super().is_older(incoming, current) and not self._old(current, incoming)

    def is_newer(self, incoming: Record, current: Record) -> bool:
        return super().is_newer(incoming, current) or self._old(current, incoming)


class KeepsTwoMembers(Peer):
    """Clocks are cut down to two members when a record comes."""

    def received(self, current: Kept | None, incoming: Record, signed: Message | None) -> Kept:
        kept = super().received(current, incoming, signed)
        few = dict(sorted(kept.record.vector_clock.items())[:2])
        return replace(kept, record=replace(kept.record, vector_clock=few))


class CountsIn32Bits(Peer):
    """Numbers in clocks end at 2^31."""

    def received(self, current: Kept | None, incoming: Record, signed: Message | None) -> Kept:
        kept = super().received(current, incoming, signed)
        clock = {peer_id: min(n, (1 << 31) - 1) for peer_id, n in kept.record.vector_clock.items()}
        return replace(kept, record=replace(kept.record, vector_clock=clock))


class DecidesByArrival(Peer):
    """What came last wins a conflict, if its own clock says so."""

    def decide(self, one: Record, other: Record) -> tuple[Record, Record]:
        return (other, one) if one.last_updated_by != self.peer_id else (one, other)


class RenamesBackward(Peer):
    """An older version is discarded, but for its key."""

    def take(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        current = self.store.get(incoming.uuid)
        if current is not None and self.is_older(incoming, current.record) and not current.record.deleted:
            super().take(incoming, signed, source, effects)
            if incoming.key != current.record.key:
                self.store_record(replace(current, record=replace(incoming, vector_clock=current.record.vector_clock)))
        else:
            super().take(incoming, signed, source, effects)


class WritesIdsInCapitals(Peer):
    """Peer IDs are "written as 32 lower-case hex digits" (core protocol), and the club knows them so."""

    def body(self, record: Record) -> bytes:
        said = json.loads(super().body(record))
        said["vector_clock"] = {peer_id.upper(): n for peer_id, n in said["vector_clock"].items()}
        return json.dumps(said).encode()


class ConfusesClocks(LogicalClock):
    """The clock of a change has what it received before of another record, in the place of this one."""

    def changed(self, current: Kept | None) -> Any:
        clock = super().changed(current)
        foreign = current is not None and current.record.last_updated_by != self.peer_id
        return {self.peer_id: clock[self.peer_id]} if foreign else clock


class ConfusedPeer(Peer):
    clock_class = ConfusesClocks


class TellsOfNoConflicts(Peer):
    """It declares that it signals conflicts, and does not."""

    def resolve(self, current: Kept, kept: Kept, incoming: Record, source: int, effects: Effects) -> None:
        known = len(effects.events)
        super().resolve(current, kept, incoming, source, effects)
        effects.events = [event for place, event in enumerate(effects.events) if place != known]


BLIND = frozenset({pb.CAPABILITY_OBSERVE})
BROKEN = {
    "forgets-clocks-at-start": Odd(ForgetsClocksAtStart, fails=frozenset({"CSDB-46", "CSDB-56"})),
    "counts-anew-at-start": Odd(CountsAnewAtStart, fails=frozenset({"CSDB-44"})),
    "forgets-what-lost": Odd(ForgetsWhatLost, without=BLIND, fails=frozenset({"CSDB-52"})),
    "decides-keys-by-uuid": Odd(DecidesKeysByUuid, without=BLIND, fails=frozenset({"CSDB-54"})),
    "remembers-deletions-for-a-day": Odd(RemembersDeletionsForADay, without=BLIND, fails=frozenset({"CSDB-56"})),
    "keeps-two-members": Odd(KeepsTwoMembers, without=BLIND, fails=frozenset({"CSDB-46", "CSDB-52"})),
    "counts-in-32-bits": Odd(CountsIn32Bits, without=BLIND, fails=frozenset({"CSDB-41"})),
    "decides-by-arrival": Odd(DecidesByArrival, without=BLIND, fails=frozenset({"CSDB-54"})),
    "renames-backward": Odd(RenamesBackward, without=BLIND, fails=frozenset({"CSDB-49"})),
    "writes-ids-in-capitals": Odd(WritesIdsInCapitals, without=BLIND, fails=frozenset({"CSDB-41"})),
    "confuses-clocks": Odd(ConfusedPeer, without=BLIND, fails=frozenset({"CSDB-46", "CSDB-52"})),
    "tells-of-no-conflicts": Odd(TellsOfNoConflicts, without=BLIND, fails=frozenset({"CSDB-39", "CSDB-51"})),
}


# ---- Broken elsewhere ------------------------------------------------------------------------------------------------


class RefusesEverything(Peer):
    def refuse_unauthorised(self, link: Link, update: Record, message: Message) -> None:
        raise MalformedMessage("no")


class IgnoresEverything(Peer):
    def take(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        pass


class AnswersNobody(Peer):
    def answer(self, link: Link, request: GetUpdates, effects: Effects) -> None:
        link.subscribed = True


class KeepsToItself(Peer):
    def spread(self, kept: Kept, effects: Effects, source: int | None = None) -> None:
        pass


class AnswersForItself(Peer):
    def missing(self, request: GetUpdates) -> list[Kept]:
        return [kept for kept in super().missing(request) if kept.record.last_updated_by == self.peer_id]


class ClosesEveryLink(Peer):
    def handle(self, link: Link, message: Message, effects: Effects) -> None:
        super().handle(link, message, effects)
        if link.number in self.links:
            self.close_link(link, "enough", effects)


ELSEWHERE = {
    "refuses-everything": Odd(RefusesEverything),
    "ignores-everything": Odd(IgnoresEverything),
    "answers-nobody": Odd(AnswersNobody),
    "keeps-to-itself": Odd(KeepsToItself),
    "answers-for-itself": Odd(AnswersForItself, without=BLIND),
    "closes-every-link": Odd(ClosesEveryLink),
}

__all__ = ["BROKEN", "ELSEWHERE", "LEGAL", "Odd"]
