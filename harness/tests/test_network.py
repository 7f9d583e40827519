"""The simulated network: the fate of a copy follows only from the rules and the seed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sds_harness.schedules.network import Network
from sds_harness.schedules.operations import STRAIGHT, Cut, Links, Route
from sds_harness.schedules.performance import Packet
from sds_harness.sds.trace import Wire

ALL = ("alice", "bob", "carol", "dave")
EVER = 10**9
NOTHING = Wire(b"", None)


class Line:
    """A network on which all send to all others; it returns the fates."""

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
        """The number of the packet."""
        self._count += 1
        packet = Packet(self._count, sender, wire, at_ms, 0, 0)
        others = [name for name in listeners if name != sender]
        self.gone += [(packet.number, listener, why) for listener, why in self.network.carry(packet, others, route)]
        return packet.number

    def arrivals(self, until_ms: int = EVER) -> list[tuple[int, str, int]]:
        """When, at whom, and the number of the packet."""
        out = []
        while (due := self.network.due(until_ms)) is not None:
            out.append((due[0], due[1], due[2].number))
        return out

    def heard(self) -> list[tuple[int, str]]:
        """Numbers of packets and listeners, sorted."""
        return sorted((number, listener) for _, listener, number in self.arrivals())


# ---- Without rules ---------------------------------------------------------------------------------------------------


def test_without_a_rule_everybody_hears_everything_once_and_at_once() -> None:
    line = Line()
    line.say("bob", at_ms=5)
    line.say("alice", at_ms=5)
    assert line.arrivals(4) == []
    assert line.arrivals(5) == [
        *((5, name, 1) for name in ("alice", "carol", "dave")),
        *((5, name, 2) for name in ("bob", "carol", "dave")),
    ]
    assert line.gone == []
    assert line.arrivals() == []


def test_nothing_arrives_before_its_time_and_what_is_first_arrives_first() -> None:
    line = Line()
    line.say("alice", Route(late=(("bob", 30), ("carol", 10), ("dave", 20))))
    line.say("bob", Route(late=(("alice", 10), ("carol", 10), ("dave", 5))))
    assert line.arrivals(4) == []
    assert line.arrivals(19) == [(5, "dave", 2), (10, "carol", 1), (10, "alice", 2), (10, "carol", 2)]
    assert line.arrivals(20) == [(20, "dave", 1)]
    assert line.arrivals() == [(30, "bob", 1)]


# ---- Loss, delay, duplication ----------------------------------------------------------------------------------------


def test_all_or_nothing_is_lost_if_said_so() -> None:
    line = Line(Links(loss_percent=100))
    line.say("alice")
    assert line.heard() == []
    assert line.gone == [(1, "bob", "lost"), (1, "carol", "lost"), (1, "dave", "lost")]
    spared = Line(Links(loss_percent=0, delay_ms=(1, 9)))
    for _ in range(100):
        spared.say("alice")
    assert len(spared.arrivals()) == 300
    assert spared.gone == []


@pytest.mark.parametrize("percent", [1, 30, 50, 99])
def test_so_many_percent_are_lost_and_so_many_arrive_twice(percent: int) -> None:
    line = Line(Links(loss_percent=percent))
    for _ in range(1_000):
        line.say("alice")
    assert len(line.gone) == pytest.approx(30 * percent, abs=150)
    assert len(line.gone) + len(line.arrivals()) == 3_000
    twice = Line(Links(duplicate_percent=percent))
    for _ in range(1_000):
        twice.say("alice")
    assert len(twice.arrivals()) == pytest.approx(3_000 + 30 * percent, abs=150)
    assert twice.gone == []


def test_what_is_lost_and_what_is_doubled_have_nothing_to_do_with_each_other() -> None:
    line = Line(Links(loss_percent=50, duplicate_percent=50))
    for _ in range(1_000):
        line.say("alice")
    heard = line.heard()
    assert len(set(heard)) == pytest.approx(1_500, abs=150)
    assert len(heard) - len(set(heard)) == pytest.approx(750, abs=150)


@pytest.mark.parametrize("bounds", [(10, 14), (14, 10)])
def test_a_delay_is_within_its_bounds_and_reaches_both_whichever_is_named_first(bounds: tuple[int, int]) -> None:
    line = Line(Links(delay_ms=bounds))
    for _ in range(100):
        line.say("alice", at_ms=1_000)
    assert {at_ms for at_ms, _, _ in line.arrivals()} == {1_010, 1_011, 1_012, 1_013, 1_014}


def test_a_second_copy_comes_with_the_first_or_later() -> None:
    line = Line(Links(duplicate_percent=100, delay_ms=(10, 14)))
    for _ in range(100):
        line.say("alice", listeners=("bob",))
    times: dict[int, list[int]] = {}
    for at_ms, _, number in line.arrivals():
        times.setdefault(number, []).append(at_ms)
    assert {len(copies) for copies in times.values()} == {2}
    assert {second - first for first, second in times.values()} == {0, 1, 2, 3, 4}
    at_once = Line(Links(duplicate_percent=100))
    at_once.say("alice", listeners=("bob",))
    assert at_once.arrivals() == [(0, "bob", 1), (0, "bob", 1)]


# ---- Which links -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "deaf"),
    [
        (Links(100, sender="alice"), {("alice", "bob"), ("alice", "carol")}),
        (Links(100, listener="alice"), {("bob", "alice"), ("carol", "alice")}),
        (Links(100, sender="alice", listener="bob"), {("alice", "bob")}),
        (Links(100, sender="zoe"), set()),
    ],
)
def test_a_rule_is_for_the_links_it_names_only(rule: Links, deaf: set[tuple[str, str]]) -> None:
    line = Line(rule)
    senders = {line.say(name, listeners=ALL[:3]): name for name in ALL[:3]}
    assert {(senders[number], listener) for number, listener, _ in line.gone} == deaf
    assert len(line.arrivals()) == 6 - len(deaf)


def test_of_several_rules_for_a_link_the_last_one_counts() -> None:
    line = Line(Links(100), Links(delay_ms=(5, 5), sender="alice"), Links(delay_ms=(9, 9), listener="bob"))
    line.say("alice")
    assert line.arrivals() == [(5, "carol", 1), (5, "dave", 1), (9, "bob", 1)]
    line.say("carol")
    assert line.arrivals() == [(9, "bob", 2)]
    assert {why for _, _, why in line.gone} == {"lost"}


def test_a_rule_for_all_replaces_whatever_was_said_before() -> None:
    line = Line(Links(100, sender="alice"), Links(100, listener="bob"), Links(delay_ms=(3, 3)))
    line.say("alice")
    assert line.arrivals() == [(3, "bob", 1), (3, "carol", 1), (3, "dave", 1)]


def test_a_rule_is_for_what_is_said_after_it() -> None:
    line = Line(Links(delay_ms=(50, 50)))
    line.say("alice", listeners=("bob",))
    line.network.change(Links(100))
    line.network.cut(Cut(("alice",), ("bob",)))
    line.network.heal()
    line.say("alice", listeners=("bob",))
    assert line.arrivals() == [(0, "bob", 2), (50, "bob", 1)]


# ---- Cuts ------------------------------------------------------------------------------------------------------------


def test_a_cut_is_between_its_sides_and_nowhere_else() -> None:
    line = Line(Cut(("alice", "bob"), ("carol",)))
    for name in ALL:
        line.say(name)
    assert line.gone == [(1, "carol", "cut"), (2, "carol", "cut"), (3, "alice", "cut"), (3, "bob", "cut")]
    assert len(line.arrivals()) == 12 - 4


def test_a_cut_may_be_of_one_direction() -> None:
    line = Line(Cut(("alice",), ("bob", "carol"), both=False))
    for name in ALL:
        line.say(name)
    assert line.gone == [(1, "bob", "cut"), (1, "carol", "cut")]


def test_cuts_add_up_and_are_mended_together_with_the_links() -> None:
    line = Line(Links(100, listener="dave"), Cut(("alice",), ("bob",)), Cut(("alice",), ("carol",), both=False))
    line.say("alice")
    assert line.gone == [(1, "bob", "cut"), (1, "carol", "cut"), (1, "dave", "lost")]
    line.network.heal()
    line.say("alice")
    assert line.heard() == [(2, "bob"), (2, "carol"), (2, "dave")]


def test_a_new_rule_mends_no_cut() -> None:
    line = Line(Cut(("alice",), ("bob",)), Links())
    line.say("alice")
    assert line.gone == [(1, "bob", "cut")]


# ---- Routes ----------------------------------------------------------------------------------------------------------


def test_a_route_wins_over_the_rules() -> None:
    line = Line(Links(loss_percent=100, delay_ms=(5, 5)))
    line.say("alice", Route(late=(("bob", 40),), twice=("carol",)))
    assert line.arrivals() == [(5, "carol", 1), (5, "carol", 1), (40, "bob", 1)]
    assert line.gone == [(1, "dave", "lost")]
    perfect = Line(Links(delay_ms=(5, 5)))
    perfect.say("alice", Route(lost=("bob",), late=(("carol", 0),)))
    assert perfect.arrivals() == [(0, "carol", 1), (5, "dave", 1)]
    assert perfect.gone == [(1, "bob", "lost")]


def test_a_route_is_for_one_broadcast() -> None:
    line = Line()
    line.say("alice", Route(lost=("bob",), late=(("carol", 9),), twice=("dave",)))
    line.say("alice")
    assert line.heard() == [(1, "carol"), (1, "dave"), (1, "dave"), (2, "bob"), (2, "carol"), (2, "dave")]


def test_what_is_lost_by_a_route_is_neither_late_nor_doubled() -> None:
    line = Line()
    line.say("alice", Route(lost=("bob",), late=(("bob", 9),), twice=("bob",)))
    assert line.heard() == [(1, "carol"), (1, "dave")]


def test_what_is_late_may_be_doubled_and_the_second_copy_is_no_earlier() -> None:
    line = Line(Links(delay_ms=(0, 50)))
    for _ in range(50):
        line.say("alice", Route(late=(("bob", 30),), twice=("bob",)), listeners=("bob",))
    times = [at_ms for at_ms, _, _ in line.arrivals()]
    assert len(times) == 100
    assert min(times) == 30
    assert 30 < max(times) <= 80


def test_no_route_leads_through_a_cut() -> None:
    line = Line(Cut(("alice",), ("bob", "carol")))
    line.say("alice", Route(late=(("bob", 9),), twice=("carol",)))
    assert line.gone == [(1, "bob", "cut"), (1, "carol", "cut")]


# ---- The fate of a copy ----------------------------------------------------------------------------------------------

CHANCE = Links(loss_percent=40, duplicate_percent=40, delay_ms=(0, 1_000))


def fates(line: Line, sender: str = "alice", listener: str = "bob", count: int = 20) -> list[tuple[int, ...]]:
    """When the copies of each of the next broadcasts of a sender arrive at a listener."""
    times: dict[int, list[int]] = {line.say(sender): [] for _ in range(count)}
    for at_ms, name, number in line.arrivals():
        if name == listener and number in times:
            times[number].append(at_ms)
    return [tuple(copies) for copies in times.values()]


def test_the_fate_of_a_copy_is_the_same_in_every_version() -> None:
    """A stored schedule must mean the same next year."""
    assert fates(Line(CHANCE), count=8) == [(248,), (299, 1013), (225,), (755, 1017), (), (), (198, 871), (368,)]


def test_the_fate_of_a_copy_follows_from_the_seed() -> None:
    assert fates(Line(CHANCE)) == fates(Line(CHANCE))
    assert fates(Line(CHANCE)) != fates(Line(CHANCE, seed=8))


def test_senders_listeners_and_broadcasts_have_fates_of_their_own() -> None:
    base = fates(Line(CHANCE))
    assert base != fates(Line(CHANCE), sender="carol")
    assert base != fates(Line(CHANCE), listener="carol")
    line = Line(CHANCE)
    line.say("alice")
    assert fates(line, count=19) == base[1:]


def test_what_others_say_and_who_else_listens_does_not_matter() -> None:
    line, alone = Line(CHANCE), Line(CHANCE)
    for _ in range(3):
        line.say("carol")
        line.say("bob", Route(lost=("alice",)))
    together = fates(line)
    times: dict[int, list[int]] = {alone.say("alice", listeners=("zoe", "bob")): [] for _ in range(20)}
    for at_ms, name, number in alone.arrivals():
        if name == "bob":
            times[number].append(at_ms)
    assert together == [tuple(copies) for copies in times.values()]


def test_neither_what_is_said_nor_when_matters() -> None:
    early, late = Line(CHANCE), Line(CHANCE)
    for number in range(20):
        early.say("alice")
        late.say("alice", at_ms=5_000, wire=Wire(bytes([number]), None))
    assert [(at_ms + 5_000, *rest) for at_ms, *rest in early.arrivals()] == [
        (at, *rest) for at, *rest in late.arrivals()
    ]
    assert early.gone == late.gone


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


def test_less_loss_loses_no_other_copies() -> None:
    """So a counterexample stays one when its links are made better."""
    lost = {}
    for percent in (10, 50):
        line = Line(Links(loss_percent=percent))
        for _ in range(200):
            line.say("alice")
        lost[percent] = set(line.gone)
    assert set() < lost[10] < lost[50]


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
def test_every_copy_arrives_once_or_twice_or_it_is_told_why_not(
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
