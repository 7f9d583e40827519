"""The player of ClearSkies: the effect of each operation on peers, links and bytes under way."""

from __future__ import annotations

import pytest

from clearskies_group_traces import arrived, commands, received, shown
from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference.mutants import MUTANTS
from clearskies_reference.testee.server import Testee, TesteeOptions
from sds_harness.clearskies.operations import (
    Close,
    Garble,
    Hold,
    LinkPeers,
    Look,
    Member,
    Operation,
    Put,
    Release,
    Say,
    Unlink,
)
from sds_harness.clearskies.player import MOST_WRITTEN

LINE = (LinkPeers("alice", "bob"), LinkPeers("bob", "carol"))


def test_a_link_breaks_in_the_middle_of_a_message() -> None:
    show = shown(
        *LINE,
        Hold("alice", "bob"),
        Put("alice", "m1"),
        Put("alice", "m2"),
        Release("alice", "bob", 10),
        Unlink("alice", "bob"),
    )
    (part,) = [act for act in received(show, "bob") if act.operation == 5]
    assert len(part.step.request.receive.data) == 10
    assert part.packet is show.labels["m1"]
    assert {loss.packet.label for loss in show.losses} == {"m1", "m2"}
    assert {(loss.listener, loss.why) for loss in show.losses} == {("bob", "cut")}
    assert commands(show)[-2:] == ["alice disconnect", "bob disconnect"]


@pytest.mark.parametrize(
    "operation",
    [
        Put("alice", "m1"),
        LinkPeers("alice", "bob"),
        Release("alice", "bob", 5),
        Close("alice"),
        Look("alice"),
        Say("xavier", to="alice"),
        Garble("xavier", "alice"),
    ],
)
def test_nothing_comes_of_what_one_would_do_that_is_not_there(operation: Operation) -> None:
    show = shown(Close("alice"), operation)
    assert commands(show) == ["alice close"]
    assert show.left_out == {}


def test_what_is_not_declared_is_left_out() -> None:
    show = shown(*LINE, Put("alice", "m1"), without=frozenset({pb.CAPABILITY_READ_ONLY, pb.CAPABILITY_STORE}))
    assert show.left_out == {-1: "needs the capability read-only"}
    assert arrived(show, "bob") == ["m1"]


def test_a_large_body_is_said_but_not_without_end() -> None:
    show = shown(Say("xavier", to="alice", label="x1", odd="large"), members=(Member("alice"),))
    assert 15_000_000 < len(show.labels["x1"].wire.raw) < 1 << 24
    too_many = [Say("xavier", to="alice", label=f"x{number}", odd="large") for number in range(6)]
    show = shown(*too_many, members=(Member("alice"),))
    assert f"{MOST_WRITTEN >> 20} MiB" in show.left_out[4]


def test_gossip_without_an_end_is_broken_off_and_reported() -> None:
    mutant = MUTANTS["relays-again"]
    testee = Testee(TesteeOptions("1", peer_class=mutant.peer_class))
    members = tuple(Member(name) for name in ("alice", "bob", "carol"))
    ring = (LinkPeers("alice", "bob"), LinkPeers("bob", "carol"), LinkPeers("carol", "alice"))
    show = shown(*ring, Put("alice", "m1"), Put("alice", "m2"), members=members, testee=testee)
    assert "still under way" in show.left_out[3]
    assert show.traces[0].unsettled
    assert 4 not in show.began
