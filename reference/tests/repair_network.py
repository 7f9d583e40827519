"""Participants of SDS-R in one channel, under virtual time, on a network that loses messages as a test says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from scripted_peers import T, incoming, log
from sds_reference import (
    SDS_2025_10_AMENDED,
    SDS_2026_01,
    Config,
    Effects,
    Kind,
    Message,
    Participant,
    RepairConfig,
    decode,
)
from sds_reference.repair import Repair

both_revisions = pytest.mark.parametrize("revision", [SDS_2026_01, SDS_2025_10_AMENDED], ids=lambda r: r.name)

SECOND = 1_000

REPAIR = RepairConfig(t_min_ms=5 * SECOND, t_max_ms=20 * SECOND)

CONFIG = Config(
    sds_r=True,
    repair=REPAIR,
    sync_interval_ms=5 * SECOND,
    resend_unacknowledged_ms=10**12,
    resend_possibly_acknowledged_ms=None,
    bloom_capacity=100,
)
"""Only repairs restore lost messages: no participant resends, and there is no store."""


def repair(participant: Participant, channel: str = "c") -> Repair:
    state = participant.channel(channel).repair
    assert state is not None
    return state


@dataclass(frozen=True)
class Broadcast:
    """One message that a participant broadcast."""

    at_ms: int
    by: str
    message: Message
    again: bool
    """The message was broadcast before: this broadcast is a resend or a response."""


Loses = Callable[[Broadcast, str], bool]
"""Does the network lose this broadcast on the way to this participant?"""


def nothing(sent: Broadcast, to: str) -> bool:
    return False


class Network:
    """Participants of one channel. A message takes a second, and each participant ticks every second.

    Each participant has joined a second before the previous one in the list, so that they do not send sync messages at
    the same time.
    """

    def __init__(self, names: list[str], config: Config | dict[str, Config] = CONFIG, loses: Loses = nothing) -> None:
        self.now_ms = T
        self.loses = loses
        self.members: dict[str, Participant] = {}
        for name in names:
            self.enter(name, config[name] if isinstance(config, dict) else config)
        self.in_flight: list[tuple[int, str, bytes]] = []
        self.tap: list[Broadcast] = []
        self.originals: dict[str, Message] = {}

    def enter(self, name: str, config: Config = CONFIG) -> None:
        self.members[name] = Participant(name, config)
        self.members[name].join("c", self.now_ms - len(self.members) * SECOND)

    def leave(self, name: str) -> Participant:
        """Remove a participant with all its state."""
        return self.members.pop(name)

    def send(self, name: str, message_id: str) -> None:
        self.broadcast(name, self.members[name].send("c", message_id.encode(), self.now_ms, message_id))

    def run(self, seconds: int, until: Callable[[], bool] = lambda: False) -> None:
        for _ in range(seconds):
            if until():
                return
            self.now_ms += SECOND
            arriving = [item for item in self.in_flight if item[0] <= self.now_ms]
            self.in_flight = [item for item in self.in_flight if item[0] > self.now_ms]
            for _, name, wire in arriving:
                if name in self.members:
                    self.broadcast(name, self.members[name].receive(wire, self.now_ms))
            for name, member in self.members.items():
                self.broadcast(name, member.tick(self.now_ms))

    def broadcast(self, name: str, effects: Effects) -> None:
        for wire in effects.broadcasts:
            message = decode(wire)
            again = message.kind is Kind.CONTENT and message.message_id in self.originals
            sent = Broadcast(self.now_ms, name, message, again)
            self.check(sent)
            self.tap.append(sent)
            self.in_flight += [
                (self.now_ms + SECOND, other, wire)
                for other in self.members
                if other != name and not self.loses(sent, other)
            ]

    def check(self, sent: Broadcast) -> None:
        """Assert that a resent message equals the original, apart from its repair requests.

        Every other message has the participant that sent it as its sender, and requests only messages that have not
        arrived there.
        """
        message = sent.message
        if sent.again:
            original = self.originals[message.message_id]
            assert message in (original, replace(original, repair_request=()))
            return
        assert message.sender_id == sent.by
        if message.kind is Kind.CONTENT:
            self.originals[message.message_id] = message
        assert len(message.repair_request) <= self.members[sent.by].config.repair.max_requests
        member = self.members[sent.by]
        for entry in message.repair_request:
            assert not member.channel("c").has_arrived(entry.message_id)
            assert entry.sender_id == self.originals[entry.message_id].sender_id

    def requests(self) -> list[tuple[str, str]]:
        """The requesters and the requested IDs, in order."""
        return [(sent.by, entry.message_id) for sent in self.tap for entry in sent.message.repair_request]

    def responses(self) -> list[tuple[str, str]]:
        """The participants that sent responses, and the IDs of the responses, in order."""
        return [(sent.by, sent.message.message_id) for sent in self.tap if sent.again]

    def converged(self) -> bool:
        """Return whether all participants have all sent messages in log order, and no message waits."""
        order = sorted(self.originals.values(), key=lambda m: (m.lamport_timestamp or 0, m.message_id.encode()))
        expected = [message.message_id for message in order]
        return all(log(member) == expected and not incoming(member) for member in self.members.values())


def first_copy_lost(*names: str) -> Loses:
    """The first broadcast of "m-0" does not reach these participants."""
    return lambda sent, to: (
        to in names and sent.message.kind is Kind.CONTENT and sent.message.message_id == "m-0" and not sent.again
    )


def five_messages(network: Network) -> None:
    """Bob sends "m-0" to "m-4", one a second. Later sync messages have only the last two in their causal histories, so
    no later message names "m-0"."""
    for number in range(5):
        network.send("bob", f"m-{number}")
        network.run(1)
    network.run(1)
