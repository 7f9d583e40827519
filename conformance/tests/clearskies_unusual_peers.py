"""Peers of ClearSkies that are unusual and legal, on the reference model. Of each it is said by which words."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import (
    Effects,
    GetUpdates,
    Kept,
    Link,
    Message,
    Peer,
    Record,
    Sent,
    Timestamp,
    json_text,
)


class CountsEachSending(Peer):
    """ "As part of sending a record to another peer": for each of several peers."""

    def spread(self, kept: Kept, effects: Effects, source: int | None = None) -> None:
        listeners = [link for link in self.links.values() if self.listens(link, source)]
        everybody = self.links
        for link in listeners:
            self.links = {link.number: link}
            super().spread(self.store.get(kept.record.uuid) or kept, effects, None)
        self.links = everybody


class RepeatsAsItCame(Peer):
    """ "Repeat the message to all of its peers": the message, while its own clock has counted that it came."""

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self.originals: dict[tuple[str, str, int], Message] = {}

    def refuse_unauthorised(self, link: Link, update: Record, message: Message) -> None:
        super().refuse_unauthorised(link, update, message)
        self.originals[(update.uuid, *update.version)] = message

    def to_wire(self, kept: Kept, link: Link) -> bytes:
        original = self.originals.get((kept.record.uuid, *kept.record.version))
        if original is None or (original.signature is None and link.level is not self.level):
            return super().to_wire(kept, link)
        return original.to_wire()


class WritesWhatComesOfConflicts(Peer):
    """Nothing says whether what comes of a conflict is a change of its own (CA-8)."""

    def resolve(self, current: Kept, kept: Kept, incoming: Record, source: int, effects: Effects) -> None:
        super().resolve(current, kept, incoming, source, effects)
        winner, loser = self.decide(current.record, incoming)
        if winner.content != loser.content:
            self.settle(incoming.uuid, winner.content, winner, effects)


class WritesWhatIsInConflictToTheLetter(WritesWhatComesOfConflicts, CountsEachSending):
    """To the letter of rules 3 and 4 most changes of others are in conflict with what is there."""


class DropsLosersOfKeys(Peer):
    """ "Simply use the record with the largest update_time": the other one is gone without a trace."""

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self.dropped: set[str] = set()

    def resolve_key(self, uuid: str, other_uuid: str, effects: Effects) -> None:
        one, other = self.store.get(uuid), self.store.get(other_uuid)
        assert one is not None, "it had the key"
        assert other is not None, "it has come"
        self.dropped.add(self.decide(one.record, other.record)[1].uuid)

    def keep(self, kept: Kept, effects: Effects, *, own: bool) -> None:
        self.dropped.discard(kept.record.uuid)
        super().keep(kept, effects, own=own)

    def missing(self, request: GetUpdates) -> list[Kept]:
        return [kept for kept in super().missing(request) if kept.record.uuid not in self.dropped]

    def records(self) -> list[Record]:
        return [record for record in super().records() if record.uuid not in self.dropped]


class RenamesLosersOfKeys(Peer):
    """Nothing says what becomes of a record that has lost its key: here everybody gives it another one (CA-8)."""

    def resolve_key(self, uuid: str, other_uuid: str, effects: Effects) -> None:
        one, other = self.store.get(uuid), self.store.get(other_uuid)
        assert one is not None, "it had the key"
        assert other is not None, "it has come"
        _, loser = self.decide(one.record, other.record)
        self.settle(loser.uuid, (f"{loser.key} ({loser.uuid[:8]})", loser.value, False), loser, effects)


class DecidesTiesByValues(Peer):
    """Any choice is accepted between two with one update_time (CA-9): here the values make it, where they differ."""

    def decide(self, one: Record, other: Record) -> tuple[Record, Record]:
        if one.update_time != other.update_time:
            return super().decide(one, other)
        return (one, other) if (one.value, one.uuid) > (other.value, other.uuid) else (other, one)


class DecidesAmongEquals(Peer):
    """ "The incoming record can be discarded" if the clocks are equal; one that says something else need not be."""

    def is_older(self, incoming: Record, current: Record) -> bool:
        equal = incoming.vector_clock == current.vector_clock
        return super().is_older(incoming, current) and not (equal and incoming.content != current.content)

    def is_newer(self, incoming: Record, current: Record) -> bool:
        return super().is_newer(incoming, current) and incoming.vector_clock != current.vector_clock


class TellsTimeInCairo(Peer):
    """ISO 8601 has zones."""

    def time_of_change(self, now_ms: int, after: Any) -> Timestamp:
        time = super().time_of_change(now_ms, after)
        there = super().time_of_change(now_ms + 7_200_000, after)
        return replace(time, text=there.text.removesuffix("Z") + "+02:00")


class AsksAgain(Peer):
    """Nothing says that a request is not made once more on the same connection: here whenever something has come."""

    def take(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        super().take(incoming, signed, source, effects)
        if source in self.links and self.links[source].asked:
            effects.sent.append(Sent(source, Message(self.request_body()).to_wire()))


class WritesNothingTwice(Peer):
    """To write what is there is no change."""

    def write(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        current = self.store.leader(key)
        if current is not None and json.loads(current.record.value) == json.loads(json_text.normal(value)):
            return current.record.uuid
        return super().write(key, value, now_ms, uuid, effects)


class SkipsLowRevisions(Peer):
    """What has no higher revision than the highest known of its writer was asked for already (CA-5)."""

    def take(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        if incoming.last_updated_rev > self.store.known.get(incoming.last_updated_by, 0):
            super().take(incoming, signed, source, effects)


def in_pieces(reply: pb.Reply) -> None:
    """Of one link it is a stream, where a piece ends means nothing."""
    if reply.HasField("effects"):
        whole = [(each.link, each.data) for each in reply.effects.sent]
        del reply.effects.sent[:]
        for link, data in whole:
            for place in range(0, len(data), 7):
                reply.effects.sent.add(link=link, data=data[place : place + 7])
