"""Implementations that hold up to a size, in each of the dimensions, and no further."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from run_helpers import reference
from sds_harness.link import LocalLink
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Message, Participant
from sds_reference.bloom_filter import RollingBloomFilter
from sds_reference.channel import Channel
from sds_reference.effects import Effects
from sds_reference.errors import ConfigurationError, MalformedMessageError
from sds_reference.message import Kind
from sds_reference.mutants.core import size_limits
from sds_reference.mutants.repair import size_limits as repair_size_limits
from sds_reference.repair import Repair

Start = Callable[[], LocalLink]


class CappedContent(Channel):
    """Takes no content of more bytes."""

    size: int

    def refuse_unusable(self, message: Message, kind: Kind, now_ms: int) -> None:
        if len(message.content or b"") > self.size:
            raise MalformedMessageError("the content is too long")
        super().refuse_unusable(message, kind, now_ms)


class CappedChannels(Participant):
    """Joins no more channels."""

    size: int

    def join(self, channel_id: str, now_ms: int) -> None:
        if len(self.channels) >= self.size:
            raise ConfigurationError("too many channels")
        super().join(channel_id, now_ms)


class CappedFilter(RollingBloomFilter):
    """Takes no more IDs, however often it was recomputed."""

    size: int
    taken = 0

    def insert(self, message_id: str) -> None:
        if self.taken < self.size:
            self.taken += 1
            super().insert(message_id)


class CappedHint(Channel):
    """Keeps no hint of more bytes."""

    size: int

    def send(self, content: bytes, now_ms: int, message_id: str | None = None, hint: bytes | None = None) -> Effects:
        return super().send(content, now_ms, message_id, hint if hint is None or len(hint) <= self.size else None)


CHANNELS: dict[str, type[Channel]] = {
    "log": size_limits.DetectsCopiesByTheNewest,
    "waiting": size_limits.RoomForWaiting,
    "late": size_limits.SortsInAmongTheNewest,
    "cascade": size_limits.DeliversLevelsUpTo,
    "outstanding": size_limits.NewestOutstanding,
    "history": size_limits.ChecksTheFirstDependencies,
    "content": CappedContent,
    "message-id": size_limits.RefusesLongIds,
    "hint": CappedHint,
}
"""By dimension: a channel with ``size`` for the largest that holds."""
REPAIRS: dict[str, type[Repair]] = {
    "request": repair_size_limits.LooksAtTheFirstItems,
    "answers": repair_size_limits.RoomForRequests,
    "requests": repair_size_limits.RoomForMissing,
}
"""The same for SDS-R."""
FILTERS: dict[str, type[RollingBloomFilter]] = {"in-filter": CappedFilter}
"""The same for filters."""
PARTICIPANTS: dict[str, type[Participant]] = {"channels": CappedChannels}
"""The same for participants."""


def capped(dimension: str, size: int) -> Start:
    """Starts one that holds up to a size."""
    if dimension == "participants":
        return lambda: LocalLink(crowded(size))
    if dimension in PARTICIPANTS:
        participant = type("Capped", (PARTICIPANTS[dimension],), {"size": size})
    else:
        channel = _channel(dimension, size)
        participant = type("Capped", (Participant,), {"channel_class": channel})
    return lambda: LocalLink(reference(participant=participant))


def _channel(dimension: str, size: int) -> type[Channel]:
    if dimension in REPAIRS:
        return type("Capped", (Channel,), {"repair_class": type("Capped", (REPAIRS[dimension],), {"size": size})})
    if dimension in FILTERS:
        return type("Capped", (Channel,), {"filter_class": type("Capped", (FILTERS[dimension],), {"size": size})})
    return type("Capped", (CHANNELS[dimension],), {"size": size})


def crowded(size: int) -> Callable[[Any], Any]:
    """Has room for so many participants."""
    handle, there = reference(), 0

    def answer(request: pb.Request) -> pb.Reply:
        nonlocal there
        command = request.WhichOneof("command")
        if command == "open" and there >= size:
            return pb.Reply(id=request.id, rejected=pb.Rejected(reason="too many participants"))
        there += {"open": 1, "close": -1}.get(command or "", 0)
        return handle(request)

    return answer
