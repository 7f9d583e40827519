"""The simulated network: the fate of a copy follows only from the rules and the seed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sds_harness.schedules.group_trace import Packet
from sds_harness.schedules.network import Network
from sds_harness.schedules.operations import STRAIGHT, Cut, Links, Route
from sds_harness.sds.trace import Wire

ALL = ("alice", "bob", "carol", "dave")
EVER = 10**9
NOTHING = Wire(b"", None)


class Line:
    """A network on which each participant sends to all others, and which records the lost copies."""

    def __init__(self, *rules: Links | Cut, seed: int = 7) -> None:
        self.network = Network[Wire](seed)
        self.gone: list[tuple[int, str, str]] = []
        """Number of the packet, listener and reason."""
        self._count = 0
        for rule in rules:
            self.network.cut(rule) if isinstance(rule, Cut) else self.network.change(rule)

    def say(
        self,
        sender: str,
        route: Route = STRAIGHT,
        at_ms: int = 0,
        listeners: tuple[str, ...] = ALL,
        wire: Wire = NOTHING,
    ) -> int:
        """Broadcast a message. Returns the number of its packet."""
        self._count += 1
        packet = Packet(self._count, sender, wire, at_ms, 0, 0)
        others = [name for name in listeners if name != sender]
        self.gone += [(packet.number, listener, why) for listener, why in self.network.carry(packet, others, route)]
        return packet.number

    def arrivals(self, until_ms: int = EVER) -> list[tuple[int, str, int]]:
        """For each packet that arrives until then: the time, the listener and the number."""
        out = []
        while (due := self.network.due(until_ms)) is not None:
            out.append((due[0], due[1], due[2].number))
        return out


CHANCE = Links(loss_percent=40, duplicate_percent=40, delay_ms=(0, 1_000))


def fates(line: Line, sender: str = "alice", listener: str = "bob", count: int = 20) -> list[tuple[int, ...]]:
    """The arrival times at a listener of the copies of a sender's next broadcasts."""
    times: dict[int, list[int]] = {line.say(sender): [] for _ in range(count)}
    for at_ms, name, number in line.arrivals():
        if name == listener and number in times:
            times[number].append(at_ms)
    return [tuple(copies) for copies in times.values()]


def test_the_fate_of_a_copy_is_the_same_in_every_version() -> None:
    """A stored schedule must mean the same in every version of the suite."""
    assert fates(Line(CHANCE), count=8) == [(248,), (299, 1013), (225,), (755, 1017), (), (), (198, 871), (368,)]


def test_what_becomes_of_one_broadcast_does_not_change_the_next_ones() -> None:
    base = fates(Line(CHANCE))
    line = Line(CHANCE)
    line.say("alice", Route(lost=("bob",), late=(("carol", 5),)))
    assert fates(line, count=19) == base[1:]
    cut = Line(CHANCE, Cut(("alice",), ("bob",)))
    cut.say("alice")
    cut.network.heal()
    cut.network.change(CHANCE)
    assert fates(cut, count=19) == base[1:]


rules = st.builds(
    Links,
    st.integers(0, 100),
    st.integers(0, 100),
    st.tuples(st.integers(0, 10**12), st.integers(0, 10**12)),
    st.sampled_from(("", *ALL)),
    st.sampled_from(("", *ALL)),
)
names = st.lists(st.sampled_from(ALL), unique=True).map(tuple)
cuts = st.builds(Cut, names, names, st.booleans())
routes = st.builds(Route, names, st.lists(st.tuples(st.sampled_from(ALL), st.integers(0, 9))).map(tuple), names)


@given(st.integers(0, 2**63 - 1), st.lists(rules | cuts, max_size=4), st.sampled_from(ALL), routes)
def test_every_copy_arrives_once_or_twice_or_it_is_reported_why_not(
    seed: int, said: list[Links | Cut], sender: str, route: Route
) -> None:
    line = Line(*said, seed=seed)
    line.say(sender, route, at_ms=1)
    arrived = [(at_ms, listener) for at_ms, listener, _ in line.arrivals(10**13)]
    gone = [listener for _, listener, _ in line.gone]
    assert sorted({listener for _, listener in arrived} | {*gone}) == [name for name in ALL if name != sender]
    for name in ALL:
        assert [listener for _, listener in arrived].count(name) + 2 * gone.count(name) <= 2
    assert arrived == sorted(arrived, key=lambda one: one[0])
    assert all(at_ms >= 1 for at_ms, _ in arrived)
    assert {why for _, _, why in line.gone} <= {"lost", "cut"}
