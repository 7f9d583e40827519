"""Faults that appear only in a channel after the first, or in one channel because of messages in another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unicodedata import normalize

from ...channel import Channel
from ...effects import Effects
from ...message import Message
from ...participant import UNNAMED_CHANNEL, Participant
from ..registry import mutant


class Neighbour(Channel):
    """A channel that knows the other channels of its participant."""

    others: dict[str, Neighbour]

    def neighbours(self) -> list[Neighbour]:
        return [channel for channel in self.others.values() if channel is not self]

    @property
    def place(self) -> int:
        """Index of the channel in order of joining; 0 for the first."""
        return list(self.others).index(self.channel_id)


def add_with_neighbours(requirement: str, summary: str, **config: Any) -> Callable[[type[Neighbour]], type[Neighbour]]:
    """Register a fault of a channel that has access to the other channels of its participant."""

    def register(faulty: type[Neighbour]) -> type[Neighbour]:
        def join(self: Participant, channel_id: str, now_ms: int) -> None:
            Participant.join(self, channel_id, now_ms)
            self.channels[channel_id].others = self.channels  # type: ignore[attr-defined]

        participant = type(faulty.__name__, (Participant,), {"channel_class": faulty, "join": join})
        mutant(requirement, summary, **config)(participant)
        return faulty

    return register


# ---- Messages of one channel have an effect in another ---------------------------------------------------------------


@add_with_neighbours("RECV-06", "treats a dependency as met if the log of any channel contains it")
class LooksInAllLogs(Neighbour):
    def unmet_dependencies(self, message: Message) -> set[str]:
        unmet = super().unmet_dependencies(message)
        return {i for i in unmet if not any(i in channel.log for channel in self.neighbours())}


@add_with_neighbours("RECV-06", "treats a dependency as met if the log of the previously joined channel contains it")
class LooksInThePreviousLog(Neighbour):
    def unmet_dependencies(self, message: Message) -> set[str]:
        unmet = super().unmet_dependencies(message)
        return {i for i in unmet if not (self.place and i in list(self.others.values())[self.place - 1].log)}


@add_with_neighbours("RECV-06", "delivering a message in one channel meets dependencies in all channels")
class DeliveryMeetsInAllChannels(Neighbour):
    def insert_into_log(self, message: Message, retrieval_hint: bytes | None) -> None:
        super().insert_into_log(message, retrieval_hint)
        for channel in self.neighbours():
            channel.incoming.mark_met(message.message_id)


@add_with_neighbours("RECV-06", "treats a message that it sent in another channel as a met dependency")
class OwnMessagesMeetAnywhere(Neighbour):
    def unmet_dependencies(self, message: Message) -> set[str]:
        own = {e.message_id for c in self.neighbours() for e in c.log if e.sender_id == self.participant_id}
        return super().unmet_dependencies(message) - own


@add_with_neighbours("RECV-07", "treats a message as a duplicate if a message with its ID waits in another channel")
class WaitingInOtherChannelIsCopy(Neighbour):
    def is_duplicate(self, message: Message) -> bool:
        elsewhere = any(message.message_id in channel.incoming for channel in self.neighbours())
        return elsewhere or super().is_duplicate(message)


@add_with_neighbours("RECV-08", "keeps only one waiting message per ID for all channels")
class OneWaitingPerIdInAllChannels(Neighbour):
    def buffer(self, message: Message, unmet: set[str], now_ms: int, retrieval_hint: bytes | None) -> None:
        if not any(message.message_id in channel.incoming for channel in self.neighbours()):
            super().buffer(message, unmet, now_ms, retrieval_hint)


@add_with_neighbours("STATE-16", "looks up its own messages of all channels in each received filter")
class FiltersAcknowledgeInAllChannels(Neighbour):
    def review_bloom_filter(self, message: Message, effects: Effects, now_ms: int) -> None:
        super().review_bloom_filter(message, effects, now_ms)
        for channel in self.neighbours():
            Channel.review_bloom_filter(channel, message, effects, now_ms)


@add_with_neighbours("STATE-01", "uses the Lamport timestamp of the first channel in all channels after the second")
class ThirdChannelUsesFirstClock(Neighbour):
    def next_lamport(self, now_ms: int) -> int:
        if self.place > 1:
            self.clock = next(iter(self.others.values())).clock
        return super().next_lamport(now_ms)


# ---- Periodic work and repairs in several channels -------------------------------------------------------------------


@add_with_neighbours("OUTSWEEP-01", "resends in its first two channels only")
class ResendsInTwoChannels(Neighbour):
    def sweep_outgoing(self, now_ms: int, effects: Effects) -> None:
        if self.place < 2:
            super().sweep_outgoing(now_ms, effects)


@add_with_neighbours("OUTSWEEP-01", "restarts the resend periods of its other channels when it sends")
class SendsRestartResendsElsewhere(Neighbour):
    def broadcast_at(self, now_ms: int) -> None:
        super().broadcast_at(now_ms)
        for channel in self.neighbours():
            for entry in channel.outgoing:
                channel.schedule_resend(entry, now_ms)


@add_with_neighbours(
    "INSWEEP-01", "sweeps the incoming buffers of only its first two channels", cascade_on_receive=False
)
class SweepsTwoChannels(Neighbour):
    def sweep_incoming(self, now_ms: int, effects: Effects) -> None:
        if self.place < 2:
            super().sweep_incoming(now_ms, effects)


@add_with_neighbours("SYNC-01", "sends periodic sync messages in its first channel only")
class SyncsInTheFirstChannel(Neighbour):
    def sync_is_due(self, now_ms: int) -> bool:
        return not self.place and super().sync_is_due(now_ms)


@add_with_neighbours("SYNC-01", "sends periodic sync messages in its first two channels only")
class SyncsInTwoChannels(Neighbour):
    def sync_is_due(self, now_ms: int) -> bool:
        return self.place < 2 and super().sync_is_due(now_ms)


@add_with_neighbours(
    "SYNC-01", "sending in one channel postpones the sync messages of all channels", sync_only_when_quiet=True
)
class SendingPostponesSyncsOfAllChannels(Neighbour):
    def sync_is_due(self, now_ms: int) -> bool:
        return super().sync_is_due(now_ms) and not any(
            now_ms - channel._silent_since_ms < (self.config.sync_interval_ms or 0) for channel in self.neighbours()
        )


@add_with_neighbours("R-RECV-08", "answers repair requests in its first two channels only")
class AnswersInTwoChannels(Neighbour):
    def sweep_repair_requests(self, now_ms: int, effects: Effects) -> None:
        if self.place < 2:
            super().sweep_repair_requests(now_ms, effects)


@add_with_neighbours("R-RECV-03", "does not request a missing message if its ID is in the log of another channel")
class OtherChannelsSuppressRequests(Neighbour):
    def has_arrived(self, message_id: str) -> bool:
        return super().has_arrived(message_id) or any(message_id in c.log for c in getattr(self, "others", {}).values())

    def is_duplicate(self, message: Message) -> bool:
        return message.message_id in self.log or message.message_id in self.incoming


@add_with_neighbours("R-RECV-03", "does not request a message if a message with its ID is missing in another channel")
class RequestsAnIdInOneChannel(Neighbour):
    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        effects = super().receive(message, now_ms, retrieval_hint)
        tracked = [channel.repair.outgoing for channel in self.neighbours() if channel.repair is not None]
        for entry in message.causal_history:
            if self.repair is not None and any(buffer.get(entry.message_id) is not None for buffer in tracked):
                self.repair.remove_repaired(entry.message_id)
        return effects


@add_with_neighbours("R-SEND-01", "requesting a message in one channel ends the requests for its ID in all channels")
class OneRequestEndsAll(Neighbour):
    def with_repair_request(self, message: Message, now_ms: int) -> Message:
        asking = super().with_repair_request(message, now_ms)
        for channel in self.neighbours():
            if channel.repair is not None:
                for entry in asking.repair_request:
                    channel.repair.remove_repaired(entry.message_id)
        return asking


@add_with_neighbours("STATE-16", "answers a repair request with a message of another channel")
class AnswersFromAllChannels(Neighbour):
    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if self.repair is not None:
            for channel in self.neighbours():
                if channel.repair is not None:
                    for entry in message.repair_request:
                        channel.repair.accept_request(entry, now_ms)
        return super().receive(message, now_ms, retrieval_hint)


@add_with_neighbours(
    "STATE-16", "stops requesting a message in all channels when others request this ID in one channel"
)
class OthersRequestsCancelInAllChannels(Neighbour):
    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        for channel in self.neighbours() if not self.is_own(message) else ():
            if channel.repair is not None:
                for entry in message.repair_request:
                    channel.repair.remove_overheard(entry.message_id)
        return super().receive(message, now_ms, retrieval_hint)


# ---- Keys that join the name of a channel or sender with an ID -------------------------------------------------------


class _Joining(Neighbour):
    """Finds a message by a key that is joined from the name of its channel and its ID."""

    joint = ""

    def is_in_a_log(self, message_id: str) -> bool:
        key = f"{self.channel_id}{self.joint}{message_id}"
        return any(
            f"{channel.channel_id}{self.joint}{entry.message_id}" == key
            for channel in self.others.values()
            for entry in channel.log
        )


@add_with_neighbours("RECV-07", "detects duplicates by channel name and ID joined without a separator")
class DetectsCopiesByJoinedKeys(_Joining):
    def is_duplicate(self, message: Message) -> bool:
        return self.is_in_a_log(message.message_id) or super().is_duplicate(message)


@add_with_neighbours("RECV-07", "detects duplicates by channel name and ID joined with a colon")
class DetectsCopiesByKeysWithColons(DetectsCopiesByJoinedKeys):
    joint = ":"


@add_with_neighbours("RECV-05", "finds dependencies by channel name and ID joined with a slash")
class FindsDependenciesByJoinedKeys(_Joining):
    joint = "/"

    def unmet_dependencies(self, message: Message) -> set[str]:
        return {i for i in super().unmet_dependencies(message) if not self.is_in_a_log(i)}


@mutant("RECV-07", "detects duplicates by sender ID and message ID joined with a hyphen")
class DetectsCopiesBySenderAndId(Channel):
    def is_duplicate(self, message: Message) -> bool:
        key = f"{message.sender_id}-{message.message_id}"
        return any(f"{e.sender_id}-{e.message_id}" == key for e in self.log) or super().is_duplicate(message)


# ---- Channels with similar names, only one of them joined ------------------------------------------------------------


class _ConfusesChannels(Participant):
    """Treats messages of a channel that was not joined as messages of a joined channel."""

    def key(self, name: str) -> str:
        raise NotImplementedError

    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        message = self.config.revision.wire.decode(wire)
        if message.channel_id not in self.channels:
            alike = next((n for n in self.channels if self.key(n) == self.key(message.channel_id)), None)
            if alike is not None:
                return self.channels[alike].receive(replace(message, channel_id=alike), now_ms, retrieval_hint)
        return super().receive(wire, now_ms, retrieval_hint)


@mutant("STATE-16", "ignores case when it compares channel names")
class IgnoresChannelCase(_ConfusesChannels):
    def key(self, name: str) -> str:
        return name.lower()


@mutant("STATE-16", "ignores surrounding whitespace when it compares channel names")
class IgnoresChannelWhitespace(_ConfusesChannels):
    def key(self, name: str) -> str:
        return name.strip()


@mutant("STATE-16", "treats messages of a channel as messages of a joined channel whose name is a prefix of its name")
class MatchesChannelPrefixes(_ConfusesChannels):
    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        message = self.config.revision.wire.decode(wire)
        alike = next((n for n in self.channels if message.channel_id.startswith(n)), message.channel_id)
        return super().receive(
            self.config.revision.wire.encode(replace(message, channel_id=alike)), now_ms, retrieval_hint
        )

    def key(self, name: str) -> str:
        return name


@mutant("STATE-16", "if it joined only one channel, treats messages of all channels as messages of this channel")
class MapsUnknownToTheOnlyChannel(_ConfusesChannels):
    def key(self, name: str) -> str:
        return "" if len(self.channels) == 1 else name


@mutant("STATE-16", 'treats a message without a channel as a message of channel "0"')
class TreatsNoChannelAsTheUnnamedOne(_ConfusesChannels):
    def key(self, name: str) -> str:
        return name or UNNAMED_CHANNEL


class _ListensToAll(Participant):
    """Processes some fields of the messages of channels that it did not join."""

    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        message = self.config.revision.wire.decode(wire)
        if message.channel_id not in self.channels:
            for channel in self.channels.values():
                self.take_strange(channel, message, now_ms)
        return super().receive(wire, now_ms, retrieval_hint)

    def take_strange(self, channel: Channel, message: Message, now_ms: int) -> None:
        raise NotImplementedError


@mutant("SEND-01", "adopts the Lamport timestamps of channels that it did not join")
class AdoptsStrangeTimestamps(_ListensToAll):
    def take_strange(self, channel: Channel, message: Message, now_ms: int) -> None:
        channel.witness_lamport(message.lamport_timestamp or 0)


@mutant("STATE-08", "accepts acknowledgements in messages of channels that it did not join")
class AcknowledgedByStrangeChannels(_ListensToAll):
    def take_strange(self, channel: Channel, message: Message, now_ms: int) -> None:
        channel.review_causal_history(message, Effects())


@mutant("R-RECV-03", "stops requesting an ID when a message of a channel that it did not join has this ID")
class RepairedByStrangeChannels(_ListensToAll):
    def take_strange(self, channel: Channel, message: Message, now_ms: int) -> None:
        if channel.repair is not None:
            channel.repair.remove_repaired(message.message_id)


@mutant("R-RECV-08", "cancels the response for an ID when a message of a channel that it did not join has this ID")
class AnsweredByStrangeChannels(_ListensToAll):
    def take_strange(self, channel: Channel, message: Message, now_ms: int) -> None:
        if channel.repair is not None:
            channel.repair.remove_answered(message.message_id)


@mutant("R-STATE-04", "answers repair requests of channels that it did not join")
class AnswersStrangeChannels(_ListensToAll):
    def take_strange(self, channel: Channel, message: Message, now_ms: int) -> None:
        if channel.repair is not None:
            for entry in message.repair_request:
                channel.repair.accept_request(entry, now_ms)


@mutant("MSG-15", "treats channel names with the same composed Unicode form as one channel")
class MergesComposedChannelNames(Participant):
    def join(self, channel_id: str, now_ms: int) -> None:
        alike = next((n for n in self.channels if normalize("NFC", n) == normalize("NFC", channel_id)), None)
        if alike is None:
            super().join(channel_id, now_ms)
        else:
            self.channels[channel_id] = self.channels[alike]
