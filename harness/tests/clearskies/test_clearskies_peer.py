"""Scripted peers of ClearSkies write the given messages, valid or not, and remember received ones."""

from __future__ import annotations

import pytest

from clearskies_stages import stage_of, values
from sds_harness.clearskies.clubs import READ_ONLY
from sds_harness.clearskies.environments import ENVIRONMENTS


@pytest.mark.parametrize("way", ["unsigned", "flipped", "forged", "by a reader"])
def test_a_read_only_peer_believes_those_alone_who_write(way: str) -> None:
    stage = stage_of()
    rita, bob = stage.open("rita", read_only=True), stage.peer("bob")
    link = rita.link(bob)
    good = bob.sign(bob.update("k", "value"))
    bad = {
        "unsigned": good.unsigned(),
        "flipped": good.flipped(good.body.index(b'"value"', 30) + 2),
        "forged": good.forged(),
        "by a reader": bob.sign(good.unsigned(), READ_ONLY),
    }
    assert link.send(bad[way]).refusal
    assert values(rita) == {}
    assert link.send(good).refusal == ""
    assert values(rita) == {"k": "value"}


@pytest.mark.parametrize("data", [b"", b"m", b"m2{", b"x", b"m99999999999{}", b"s2:3{}\nabc", b"\x00" * 50])
def test_any_bytes_can_be_said(data: bytes) -> None:
    stage = stage_of()
    alice, bob = stage.open(), stage.peer("bob")
    link = alice.link(bob)
    assert link.send(data).answer == "effects"
    (connection,) = stage.trace.connections
    assert connection.arrived.length == len(data)
    assert link.broken == (connection.arrived.broken is not None)
    again = alice.link(bob)
    again.say(bob.update("k", 1))
    assert values(alice) == {"k": 1}


def test_chatter_stands_between_messages_and_never_in_them() -> None:
    stage = stage_of(ENVIRONMENTS["chatter"])
    alice, bob = stage.open(), stage.peer("bob")
    link = alice.link(bob)
    frame = bob.update("k", 1)
    assert b"\n" in frame.body
    link.say(frame)
    wire = bob.update("k", 2).wire
    link.send(wire[:9], wire[9:])
    assert values(alice) == {"k": 2}
    (connection,) = stage.trace.connections
    types = [message.type for message in connection.arrived.messages]
    assert types == ["core.ping", "x.nobody-knows", "database.update", "database.update"]
    assert connection.arrived.broken is None
