"""Peers of ClearSkies with habits that nothing forbids, and broken ones that are wrong now and then, in any section.

Of each it is said by which words it is legal, or what it violates. Those of conflicts are in ``clearskies_odd_peers``.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any, ClassVar

from clearskies_odd_peers import Odd
from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import Effects, GetUpdates, Kept, Link, Message, Peer, Record, Sent
from clearskies_reference.choices import SendsAtTicks
from clearskies_reference.framing import signed
from clearskies_reference.messages import read

# ---- Legal -----------------------------------------------------------------------------------------------------------


class EscapesAll(Peer):
    """JSON has escapes, its members have no order, and "extra keys are silently ignored" (core protocol)."""

    def body(self, record: Record) -> bytes:
        said = json.loads(super().body(record))
        return json.dumps({"trusted": True, **dict(reversed(said.items()))}).replace("/", "\\/").encode()


class SaysWhenItIsDone(Peer):
    """ "Unknown types are silently ignored" (core protocol)."""

    def answer(self, link: Link, request: GetUpdates, effects: Effects) -> None:
        super().answer(link, request, effects)
        effects.sent.append(Sent(link.number, Message(b'{"type":"database.up_to_date","count":3}').to_wire()))


class WritesUuidsInCapitals(Peer):
    """ "A unique 128-bit ID": nothing says in which letters it is written. On the wire its own are in capitals."""

    minted: ClassVar[set[str]] = set()

    def new_uuid(self) -> str:
        self.minted.add(uuid := super().new_uuid())
        return uuid

    def body(self, record: Record) -> bytes:
        said = json.loads(super().body(record))
        return json.dumps(said | {"uuid": _capitals(said["uuid"])}).encode()

    def handle(self, link: Link, message: Message, effects: Effects) -> None:
        said = read(_UUID.sub(lambda found: found[0].lower(), message.body))
        if not isinstance(said, Record):
            super().handle(link, message, effects)
            return
        # What is signed are the bytes as they came, which who only reads repeats.
        self.refuse_unauthorised(link, said, message)
        self.take(said, message if message.signature is not None else None, link.number, effects)


_UUID = re.compile(rb'"uuid": *"[0-9A-Fa-f]{32}"')


def _capitals(uuid: str) -> str:
    return uuid.upper() if uuid in WritesUuidsInCapitals.minted else uuid


def uuids_in_capitals(reply: pb.Reply) -> None:
    if not reply.HasField("effects"):
        return
    reply.effects.uuid = _capitals(reply.effects.uuid)
    for event in reply.effects.events:
        if event.HasField("changed"):
            event.changed.record.uuid = _capitals(event.changed.record.uuid)
        elif event.HasField("conflict"):
            event.conflict.uuid = _capitals(event.conflict.uuid)
            event.conflict.incoming_uuid = _capitals(event.conflict.incoming_uuid)


class GathersForSeconds(SendsAtTicks):
    """Nothing says how soon a change is sent."""

    since_ms: int | None = None

    def tick(self, now_ms: int) -> Effects:
        if self.waiting and self.since_ms is None:
            self.since_ms = now_ms
        if self.since_ms is None or now_ms - self.since_ms < 4_000:
            return Effects()
        self.since_ms = None
        return super().tick(now_ms)


class AsksTheSameAgain(Peer):
    """ "When a client connects, it asks": nothing says what else it may ask later on. Here, at ticks, for the same."""

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self.requests: dict[int, bytes] = {}

    def ask(self, peer_id: str, effects: Effects) -> None:
        known = len(effects.sent)
        super().ask(peer_id, effects)
        self.requests |= {sent.link: sent.data for sent in effects.sent[known:]}

    def tick(self, now_ms: int) -> Effects:
        asked = [number for number, link in self.links.items() if link.asked]
        return Effects(sent=[Sent(number, self.requests[number]) for number in asked])


class TakesAllAtTicks(Peer):
    """Nothing says when what arrives is looked at. What was not when a link breaks is asked for on the next one."""

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self.waiting: list[tuple[Link, bytes]] = []

    def receive(self, number: int, data: bytes, now_ms: int) -> Effects:
        self.waiting.append((self.links[number], data))
        return Effects()

    def tick(self, now_ms: int) -> Effects:
        waiting, self.waiting = self.waiting, []
        effects = Effects()
        for link, data in waiting:
            if self.links.get(link.number) is link:
                came_of = super().receive(link.number, data, now_ms)
                effects.sent += came_of.sent
                effects.events += came_of.events
        return effects


class SendsWhatIsNews(Peer):
    """At ticks it sends the newest version of what has changed, by revision, and never what the other end has said."""

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self.news: dict[int, dict[str, None]] = {}
        self.said: set[tuple[str, str, str, int]] = set()

    def spread(self, kept: Kept, effects: Effects, source: int | None = None) -> None:
        for link in self.links.values():
            if self.listens(link, source):
                self.news.setdefault(link.number, {})[kept.record.uuid] = None

    def refuse_unauthorised(self, link: Link, update: Record, message: Message) -> None:
        super().refuse_unauthorised(link, update, message)
        self.said.add((link.peer_id, update.uuid, *update.version))

    def answer(self, link: Link, request: GetUpdates, effects: Effects) -> None:
        self.news.pop(link.number, None)
        super().answer(link, request, effects)

    def tick(self, now_ms: int) -> Effects:
        news, self.news = self.news, {}
        with self._whole() as effects:
            for number, uuids in news.items():
                link = self.links.get(number)
                changed = [kept for uuid in uuids if (kept := self.store.get(uuid)) is not None]
                for kept in sorted(changed, key=lambda kept: kept.record.last_updated_rev):
                    record = kept.record
                    if link is not None and (link.peer_id, record.uuid, *record.version) not in self.said:
                        effects.sent.append(Sent(number, self.to_wire(self.about_to_send(kept), link)))
        return effects


class AnswersFromALog(Peer):
    """Peers "should permanently store both the message and its signature": it answers with all that it ever had,
    "sorted by the last_updated_rev value", where what is older can come last, and is discarded."""

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self.log = {(kept.record.uuid, kept.record.version): kept for kept in self.store}

    def store_record(self, kept: Kept) -> None:
        super().store_record(kept)
        self.log[kept.record.uuid, kept.record.version] = kept

    def missing(self, request: GetUpdates) -> list[Kept]:
        self.log |= {(kept.record.uuid, kept.record.version): kept for kept in self.store}
        since = request.since
        new = (k for k in self.log.values() if k.record.last_updated_rev > since.get(k.record.last_updated_by, 0))
        return sorted(new, key=lambda kept: kept.record.last_updated_rev)

    def about_to_send(self, kept: Kept) -> Kept:
        return super().about_to_send(kept) if self._is_latest(kept) else kept

    def signed(self, kept: Kept) -> Message:
        if self._is_latest(kept):
            return super().signed(kept)
        assert self.keys.read_write_private is not None, "it writes"
        body = self.body(kept.record)
        return signed(body, self.config.signature_profile.sign(body, self.keys.read_write_private))

    def _is_latest(self, kept: Kept) -> bool:
        found = self.store.get(kept.record.uuid)
        return found is not None and found.record.version == kept.record.version


class RevivesTheDeleted(Peer):
    """Nothing says that a record which is deleted cannot be written again (CA-13)."""

    def write(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        gone = next((kept for kept in self.store if kept.record.deleted and kept.record.key == key), None)
        if gone is None or not self.writes or self.store.leader(key) is not None:
            return super().write(key, value, now_ms, uuid, effects)
        after = self.time_of_change(now_ms, [gone])
        self.change(gone, gone.record.uuid, (key, value, False), after, effects)
        return gone.record.uuid


class KeepsDoubles(Peer):
    """Wide integers are lost where they are not declared (CA-6)."""

    def take(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        clock = {peer_id: int(float(number)) for peer_id, number in incoming.vector_clock.items()}
        revision = int(float(incoming.last_updated_rev))
        super().take(replace(incoming, last_updated_rev=revision, vector_clock=clock), signed, source, effects)


BLIND = frozenset({pb.CAPABILITY_OBSERVE})
HABITS = {
    "escapes-all": Odd(EscapesAll),
    "says-when-it-is-done": Odd(SaysWhenItIsDone),
    "writes-uuids-in-capitals": Odd(WritesUuidsInCapitals, without=BLIND, change=uuids_in_capitals),
    "gathers-for-seconds": Odd(GathersForSeconds),
    "asks-the-same-again": Odd(AsksTheSameAgain),
    "takes-all-at-ticks": Odd(TakesAllAtTicks),
    "sends-what-is-news": Odd(SendsWhatIsNews),
    "answers-from-a-log": Odd(AnswersFromALog),
    "revives-the-deleted": Odd(RevivesTheDeleted),
}
DOUBLES = Odd(KeepsDoubles, without=frozenset({pb.CAPABILITY_WIDE_INTEGERS}))


# ---- Broken ----------------------------------------------------------------------------------------------------------


class AnswersWithTwenty(Peer):
    """ "With no records skipped" """

    def missing(self, request: GetUpdates) -> list[Kept]:
        return super().missing(request)[:20]


class NamesRecordsByTheirKeys(Peer):
    """ "Chosen at random": two records can have had one key."""

    key = ""

    def write(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        self.key = key
        return super().write(key, value, now_ms, uuid, effects)

    def new_uuid(self) -> str:
        return self.key.encode().hex()[:32].ljust(32, "0")


class RefusesTheFuture(Peer):
    """Even "a peer has a widely inaccurate clock", and its changes are changes."""

    now_ms = 0

    def receive(self, number: int, data: bytes, now_ms: int) -> Effects:
        self.now_ms = now_ms
        return super().receive(number, data, now_ms)

    def take(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        if incoming.update_time.seconds * 1_000 < self.now_ms + 86_400_000:
            super().take(incoming, signed, source, effects)


class SpreadsToTwo(Peer):
    """ "To all connected peers" """

    def spread(self, kept: Kept, effects: Effects, source: int | None = None) -> None:
        known = len(effects.sent)
        super().spread(kept, effects, source)
        del effects.sent[known + 2 :]


class TakesAHundred(Peer):
    """The updates that come on one connection have no end."""

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self.taken: dict[int, int] = {}

    def take(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        self.taken[source] = self.taken.get(source, 0) + 1
        if self.taken[source] <= 100:
            super().take(incoming, signed, source, effects)


class IgnoresWhatIsLarge(Peer):
    """Bodies have up to 16,777,216 bytes."""

    def handle(self, link: Link, message: Message, effects: Effects) -> None:
        if len(message.body) <= 65_536:
            super().handle(link, message, effects)


FAULTS = {
    "answers-with-twenty": (Odd(AnswersWithTwenty), {"CSDB-37"}),
    "names-records-by-their-keys": (Odd(NamesRecordsByTheirKeys), {"CSDB-08"}),
    "refuses-the-future": (Odd(RefusesTheFuture), {"CSDB-02"}),
    "spreads-to-two": (Odd(SpreadsToTwo), {"CSDB-14"}),
    "takes-a-hundred": (Odd(TakesAHundred), {"CSDB-02"}),
    "ignores-what-is-large": (Odd(IgnoresWhatIsLarge), {"CSDB-02"}),
}

__all__ = ["DOUBLES", "FAULTS", "HABITS"]
