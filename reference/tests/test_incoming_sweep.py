"""Section "Periodic Incoming Buffer Sweep": when what was buffered is delivered, or given up."""

from __future__ import annotations

import pytest

from scripted_peers import T, content, delivered, incoming, joined, log, lost, missing, sent, sync
from sds_reference import Config, Delivered, Effects, HistoryEntry, Lost

SWEEPING = Config(sync_interval_ms=None, cascade_on_receive=False)
LOSING = Config(sync_interval_ms=None, lost_timeout_ms=1_000)
DROPPING = Config(sync_interval_ms=None, lost_timeout_ms=1_000, drops_the_lost=True)


def test_a_buffered_message_is_delivered_with_its_dependency_by_default() -> None:
    alice = joined()
    alice.receive(content("y", "x"), T)
    assert delivered(alice.receive(content("x", at=1), T)) == ["x", "y"]
    assert (log(alice), incoming(alice)) == (["x", "y"], [])
    assert alice.tick(T) == Effects()


def test_a_buffered_message_waits_for_the_sweep_if_so_configured() -> None:
    alice = joined(SWEEPING)
    alice.receive(content("y", "x"), T)
    assert delivered(alice.receive(content("x", at=1), T)) == ["x"]
    assert (log(alice), incoming(alice)) == (["x"], ["y"])
    assert delivered(alice.receive(content("w", at=2), T)) == ["w"]
    assert delivered(alice.tick(T)) == ["y"]
    assert (log(alice), incoming(alice)) == (["x", "w", "y"], [])


def test_a_message_that_waits_for_the_sweep_does_not_meet_a_dependency_yet() -> None:
    alice = joined(SWEEPING)
    alice.receive(content("y", "x"), T)
    alice.receive(content("x", at=1), T)
    assert missing(alice.receive(content("z", "y", at=T + 1), T)) == ["y"]
    assert delivered(alice.tick(T)) == ["y", "z"]


def test_the_sweep_runs_at_every_tick_by_default_even_when_the_clock_has_stepped_back() -> None:
    alice = joined(SWEEPING)
    alice.tick(T + 60_000)
    alice.receive(content("y", "x"), T)
    alice.receive(content("x", at=1), T)
    assert delivered(alice.tick(T)) == ["y"]


def test_the_sweep_runs_no_more_often_than_its_period() -> None:
    alice = joined(Config(sync_interval_ms=None, cascade_on_receive=False, incoming_sweep_ms=500))
    alice.receive(content("y", "x"), T)
    alice.receive(content("x", at=1), T)
    assert delivered(alice.tick(T)) == []
    assert delivered(alice.tick(T + 499)) == []
    assert delivered(alice.tick(T + 500)) == ["y"]
    alice.receive(content("b", "a"), T)
    alice.receive(content("a", at=1), T)
    assert delivered(alice.tick(T + 999)) == []
    assert delivered(alice.tick(T + 1_000)) == ["b"]


@pytest.mark.parametrize("config", [Config(), SWEEPING], ids=["cascade", "sweep"])
def test_a_chain_of_fifty_in_reverse_is_delivered_in_causal_order_once_its_root_arrives(config: Config) -> None:
    alice = joined(config)
    ids = [f"x{number:02}" for number in range(50)]
    for number in range(49, 0, -1):
        assert delivered(alice.receive(content(ids[number], ids[number - 1], at=T + number), T)) == []
    effects = alice.receive(content(ids[0], at=T), T)
    effects.events += alice.tick(T).events
    assert delivered(effects) == ids
    assert (log(alice), incoming(alice)) == (ids, [])


def test_a_diamond_is_delivered_in_causal_order() -> None:
    alice = joined()
    alice.receive(content("bottom", "left", "right", at=3), T)
    alice.receive(content("right", "top", at=2), T)
    alice.receive(content("left", "top", at=2), T)
    effects = alice.receive(content("top", at=1), T)
    assert delivered(effects)[0] == "top"
    assert sorted(delivered(effects)[1:3]) == ["left", "right"]
    assert delivered(effects)[3:] == ["bottom"]


def test_the_hint_of_a_buffered_message_is_kept_for_the_log() -> None:
    alice = joined()
    alice.receive(content("y", "x"), T, b"hint of y")
    alice.receive(content("x", at=1), T, b"hint of x")
    message = sent(alice.send("c", b"x", T))
    assert message.causal_history == (HistoryEntry("x", b"hint of x"), HistoryEntry("y", b"hint of y"))


# ---- odd causal histories --------------------------------------------------------------------------------------------


def test_a_dependency_named_twice_counts_once() -> None:
    alice = joined()
    assert missing(alice.receive(content("y", "x", "x"), T)) == ["x"]
    assert delivered(alice.receive(content("x", at=1), T)) == ["x", "y"]


def test_a_message_that_depends_on_itself_is_never_delivered_and_hinders_nobody() -> None:
    alice = joined()
    alice.receive(content("y", "y"), T)
    assert delivered(alice.receive(content("x"), T)) == ["x"]
    assert alice.tick(T + 10_000) == Effects()
    assert (log(alice), incoming(alice)) == (["x"], ["y"])


def test_messages_that_depend_on_each_other_are_never_delivered_and_hinder_nobody() -> None:
    alice = joined()
    alice.receive(content("p", "q"), T)
    alice.receive(content("q", "p"), T)
    assert delivered(alice.receive(content("x"), T)) == ["x"]
    assert alice.tick(T + 10_000) == Effects()
    assert (log(alice), incoming(alice)) == (["x"], ["p", "q"])


def test_an_empty_id_in_a_causal_history_is_never_met() -> None:
    alice = joined()
    assert missing(alice.receive(content("y", ""), T)) == [""]
    alice.receive(sync(""), T)
    assert alice.tick(T + 10_000) == Effects()
    assert incoming(alice) == ["y"]


# ---- irretrievably lost ----------------------------------------------------------------------------------------------


def test_nothing_is_lost_by_default() -> None:
    alice = joined()
    alice.receive(content("y", "x"), T)
    assert alice.tick(T + 10**12) == Effects()
    assert incoming(alice) == ["y"]


def test_dependencies_are_lost_after_the_timeout_and_their_message_is_delivered() -> None:
    alice = joined(LOSING)
    alice.receive(content("y", "x", "w"), T)
    assert alice.tick(T + 999) == Effects()
    assert alice.tick(T + 1_000).events == [Lost("c", ("w", "x")), Delivered("c", "y", b"y")]
    assert (log(alice), incoming(alice)) == (["y"], [])
    assert alice.tick(T + 9_000) == Effects()


def test_only_the_dependencies_that_are_unmet_are_lost() -> None:
    alice = joined(LOSING)
    alice.receive(content("y", "x", "w"), T)
    alice.receive(content("w", at=1), T)
    assert lost(alice.tick(T + 1_000)) == ["x"]


def test_a_message_with_lost_dependencies_is_dropped_if_so_configured() -> None:
    alice = joined(DROPPING)
    alice.receive(content("y", "x"), T)
    assert alice.tick(T + 1_000).events == [Lost("c", ("x",))]
    assert (log(alice), incoming(alice)) == ([], [])


def test_a_dropped_message_can_come_again() -> None:
    alice = joined(DROPPING)
    alice.receive(content("y", "x"), T)
    alice.tick(T + 1_000)
    assert missing(alice.receive(content("y", "x"), T + 2_000)) == ["x"]
    assert delivered(alice.receive(content("x", at=1), T + 2_001)) == ["x", "y"]


def test_what_waits_for_a_message_with_lost_dependencies_follows_it() -> None:
    alice = joined(LOSING)
    alice.receive(content("y", "x"), T)
    alice.receive(content("z", "y", at=T + 1), T + 500)
    assert alice.tick(T + 1_000).events == [
        Lost("c", ("x",)),
        Delivered("c", "y", b"y"),
        Delivered("c", "z", b"z"),
    ]


@pytest.mark.parametrize("order", ["yz", "zy"])
def test_a_dependency_delivered_in_the_sweep_is_not_reported_as_lost(order: str) -> None:
    alice = joined(LOSING)
    wires = {"y": content("y", "x"), "z": content("z", "y", at=T + 1)}
    for message_id in order:
        alice.receive(wires[message_id], T)
    assert alice.tick(T + 1_000).events == [
        Lost("c", ("x",)),
        Delivered("c", "y", b"y"),
        Delivered("c", "z", b"z"),
    ]


def test_a_message_that_only_waits_for_the_sweep_is_not_lost() -> None:
    alice = joined(Config(sync_interval_ms=None, cascade_on_receive=False, lost_timeout_ms=1_000))
    alice.receive(content("y", "x"), T)
    alice.receive(content("x", at=1), T)
    effects = alice.tick(T + 5_000)
    assert (lost(effects), delivered(effects)) == ([], ["y"])


def test_a_lost_dependency_that_arrives_later_is_delivered_in_its_place() -> None:
    alice = joined(LOSING)
    alice.receive(content("y", "x"), T)
    alice.tick(T + 1_000)
    assert delivered(alice.receive(content("x", at=1), T + 2_000)) == ["x"]
    assert log(alice) == ["x", "y"]
