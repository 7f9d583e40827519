"""Several participants on a network that loses, reorders and repeats: in the end all have the same log."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from scripted_peers import T, log
from sds_reference import Acknowledged, Config, Delivered, Effects, Kind, Message, Missing, Participant, decode

Step = tuple[str, int, int]
"""An event, the number of the participant or of the message in flight that it concerns, and an amount."""


class SimulatedGroup:
    """Participants, the messages in flight between them, and the assertions that must hold after every step."""

    def __init__(self, skews_ms: list[int], config: Config) -> None:
        self.now_ms = T
        self.skews_ms = skews_ms
        self.members = [Participant(f"member-{number}", config) for number in range(len(skews_ms))]
        for number, member in enumerate(self.members):
            member.join("c", self.clock(number))
        self.in_flight: list[tuple[int, bytes]] = []
        self.store: dict[str, Message] = {}
        self.wires: dict[str, bytes] = {}
        self.received: list[set[str]] = [set() for _ in self.members]
        self.known: list[set[str]] = [set() for _ in self.members]
        self.wanted: list[set[str]] = [set() for _ in self.members]
        self.ephemeral: set[str] = set()

    def clock(self, number: int) -> int:
        return self.now_ms + self.skews_ms[number]

    def run(self, steps: list[Step]) -> None:
        for what, which, amount in steps:
            number = which % len(self.members)
            member = self.members[number]
            if what == "send":
                self.send(number)
            elif what == "sync":
                self.took_effect(number, member.send_sync("c", self.clock(number)))
            elif what == "ephemeral":
                self.took_effect(number, member.send_ephemeral("c", b"now"))
            elif what == "tick":
                self.took_effect(number, member.tick(self.clock(number)))
            elif what == "time":
                self.now_ms += amount
            elif self.in_flight:
                self.transport(what, which % len(self.in_flight))

    def send(self, number: int) -> None:
        message_id = f"{len(self.store) * 7 % 10}-{number}-{len(self.store)}"
        effects = self.members[number].send("c", message_id.encode(), self.clock(number), message_id)
        self.known[number].add(message_id)
        self.took_effect(number, effects)

    def transport(self, what: str, at: int) -> None:
        receiver, wire = self.in_flight[at]
        if what != "repeat":
            del self.in_flight[at]
        if what != "lose":
            self.receive(receiver, wire)

    def receive(self, number: int, wire: bytes) -> None:
        self.received[number].add(decode(wire).message_id)
        self.took_effect(number, self.members[number].receive(wire, self.clock(number)))

    def took_effect(self, number: int, effects: Effects) -> None:
        for wire in effects.broadcasts:
            self.check_broadcast(wire)
            self.in_flight += [(other, wire) for other in range(len(self.members)) if other != number]
        for event in effects.events:
            if isinstance(event, Delivered) and event.message_id not in self.ephemeral:
                self.check_delivery(number, event)
            elif isinstance(event, Missing):
                self.wanted[number] |= {entry.message_id for entry in event.entries}
            elif isinstance(event, Acknowledged):
                others = [received for other, received in enumerate(self.received) if other != number]
                assert any(event.message_id in received for received in others)
        order = [
            (entry.lamport_timestamp, entry.message_id.encode()) for entry in self.members[number].channel("c").log
        ]
        assert all(one < next_one for one, next_one in pairwise(order))
        assert {key.decode() for _, key in order} == self.known[number]

    def check_broadcast(self, wire: bytes) -> None:
        message = decode(wire)
        if message.kind is Kind.EPHEMERAL:
            self.ephemeral.add(message.message_id)
        elif message.kind is Kind.CONTENT:
            assert self.wires.setdefault(message.message_id, wire) == wire
            self.store[message.message_id] = message
        for entry in message.causal_history:
            assert (message.lamport_timestamp or 0) > (self.store[entry.message_id].lamport_timestamp or 0)

    def check_delivery(self, number: int, event: Delivered) -> None:
        message = self.store[event.message_id]
        assert event.content == message.content == event.message_id.encode()
        assert event.message_id not in self.known[number]
        assert {entry.message_id for entry in message.causal_history} <= self.known[number]
        self.known[number].add(event.message_id)

    def deliver_all(self) -> None:
        while self.in_flight:
            receiver, wire = self.in_flight.pop(0)
            self.receive(receiver, wire)

    def heal(self) -> None:
        """One resend period on a reliable network, with a store for messages that are reported missing."""
        self.now_ms += 30_000
        for number, member in enumerate(self.members):
            self.took_effect(number, member.tick(self.clock(number)))
            self.took_effect(number, member.send_sync("c", self.clock(number)))
        self.deliver_all()
        for number, wanted in enumerate(self.wanted):
            while wanted:
                self.receive(number, self.wires[wanted.pop()])

    def in_order(self) -> list[str]:
        """The log that all participants should have."""
        sent = self.store.values()
        return [m.message_id for m in sorted(sent, key=lambda m: (m.lamport_timestamp or 0, m.message_id.encode()))]

    def assert_converged(self) -> None:
        assert [log(member) for member in self.members] == [self.in_order()] * len(self.members)
        assert [len(member.channel("c").incoming) for member in self.members] == [0] * len(self.members)


def schedules(*kinds: str) -> st.SearchStrategy[list[Step]]:
    step = st.tuples(st.sampled_from(kinds), st.integers(0, 50), st.integers(0, 40_000))
    return st.lists(step, min_size=10, max_size=80)


groups = st.lists(st.sampled_from([0, 0, 1, -600_000, 3_600_000]), min_size=3, max_size=4)


@settings(max_examples=80, deadline=None)
@given(groups, schedules("send", "send", "arrive", "arrive", "arrive", "repeat", "lose", "lose", "tick", "time"))
def test_all_logs_are_equal_after_loss_once_the_network_has_healed(skews_ms: list[int], steps: list[Step]) -> None:
    world = SimulatedGroup(skews_ms, Config(sync_interval_ms=None))
    world.run(steps)
    for _ in range(8):
        world.heal()
    world.assert_converged()


@settings(max_examples=60, deadline=None)
@given(
    groups,
    schedules("send", "send", "arrive", "arrive", "repeat", "sync", "ephemeral", "tick", "time"),
    st.booleans(),
    st.sampled_from([1, 2, 5]),
)
def test_all_logs_are_equal_without_any_store_when_nothing_is_lost(
    skews_ms: list[int], steps: list[Step], cascade: bool, history: int
) -> None:
    config = Config(cascade_on_receive=cascade, causal_history_size=history, buffer_syncs=cascade)
    world = SimulatedGroup(skews_ms, config)
    world.run(steps)
    world.deliver_all()
    world.run([("tick", number, 0) for number in range(len(skews_ms))])
    world.deliver_all()
    world.assert_converged()
