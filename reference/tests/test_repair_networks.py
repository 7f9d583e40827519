"""SDS-R of several participants on a network that loses messages, under virtual time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

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
    Revision,
    decode,
)

SECOND = 1_000
REPAIR = RepairConfig(t_min_ms=5 * SECOND, t_max_ms=20 * SECOND, max_requests=10)
CONFIG = Config(
    sds_r=True,
    repair=REPAIR,
    sync_interval_ms=5 * SECOND,
    resend_unacknowledged_ms=10**12,
    resend_possibly_acknowledged_ms=None,
    bloom_capacity=100,
)
"""Only repairs restore lost messages: no participant resends, and there is no store."""
NAMES = ("alice", "bob", "carol", "dave", "erin")


class LossyNetwork:
    """Participants of one channel. A message takes a second, and each participant ticks every second.

    Each participant has joined a second before the previous one in the list, so that they do not send sync messages at
    the same time. Erin receives everything; the others lose a share of the messages.
    """

    def __init__(self, config: Config, seed: int, loss: float) -> None:
        self.now_ms = T
        self.chance, self.loss = Random(seed), loss
        self.members: dict[str, Participant] = {}
        for number, name in enumerate(NAMES, 1):
            self.members[name] = Participant(name, config)
            self.members[name].join("c", T - number * SECOND)
        self.in_flight: list[tuple[int, str, bytes]] = []
        self.originals: dict[str, Message] = {}

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
            self.check(name, decode(wire))
            for other in self.members:
                if other != name and (other == "erin" or self.chance.random() >= self.loss):
                    self.in_flight.append((self.now_ms + SECOND, other, wire))

    def check(self, name: str, message: Message) -> None:
        """Assert that a resent message equals the original, apart from its repair requests.

        Every other message has the participant that sent it as its sender, and requests only messages that have not
        arrived there.
        """
        original = self.originals.get(message.message_id)
        if original is not None:
            assert message in (original, replace(original, repair_request=()))
            return
        assert message.sender_id == name
        if message.kind is Kind.CONTENT:
            self.originals[message.message_id] = message
        assert len(message.repair_request) <= REPAIR.max_requests
        for entry in message.repair_request:
            assert not self.members[name].channel("c").has_arrived(entry.message_id)
            assert entry.sender_id == self.originals[entry.message_id].sender_id

    def converged(self) -> bool:
        """Return whether all participants have all sent messages in log order, and no message waits."""
        order = sorted(self.originals.values(), key=lambda m: (m.lamport_timestamp or 0, m.message_id.encode()))
        expected = [message.message_id for message in order]
        return all(log(member) == expected and not incoming(member) for member in self.members.values())


talk = st.lists(st.tuples(st.sampled_from(NAMES[:4]), st.integers(1, 8)), min_size=5, max_size=20)
"""For each message, its sender and the seconds that pass after it."""


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    talk,
    st.integers(0, 2**32),
    st.sampled_from([0.2, 0.5]),
    st.booleans(),
    st.sampled_from([(SDS_2025_10_AMENDED, 2), (SDS_2026_01, 100)]),
)
def test_all_logs_are_equal_whatever_is_lost_and_whoever_is_gone(
    steps: list[tuple[str, int]], seed: int, loss: float, forgets_requests: bool, named: tuple[Revision, int]
) -> None:
    """All logs become equal although Alice and Bob leave and the network keeps losing messages.

    Erin sends after each of the others, so each message is in the causal history of a message that others can get. In
    sds-2026-01 a participant that forgets a message after requesting it requests it again only if a later message has
    it in its causal history, so that causal histories must be long.
    """
    revision, size = named
    repair = replace(REPAIR, forgets_requests=forgets_requests)
    network = LossyNetwork(replace(CONFIG, revision=revision, causal_history_size=size, repair=repair), seed, loss)
    for number, (name, seconds) in enumerate(steps):
        network.send(name, f"{number * 7 % 10}-{number}")
        network.run(seconds)
        network.send("erin", f"{number * 3 % 10}-{number}-heard")
        network.run(1)
    network.run(1)
    del network.members["alice"], network.members["bob"]
    network.run(3_000, network.converged)
    assert network.converged()
