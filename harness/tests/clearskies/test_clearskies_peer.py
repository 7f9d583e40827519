"""Scripted peers of ClearSkies write the given messages, valid or not, and remember received ones."""

from __future__ import annotations

from typing import Any

import pytest

from clearskies_stages import stage_of, values
from sds_harness.clearskies.bodies import read
from sds_harness.clearskies.clubs import READ_ONLY, READ_WRITE
from sds_harness.clearskies.environments import ENVIRONMENTS
from sds_harness.clearskies.frames import Frame
from sds_harness.clearskies.peer import iso


def said(frame: Frame) -> dict[str, Any]:
    return read(frame.body).members


def test_an_update_has_what_the_text_asks_for() -> None:
    bob = stage_of().peer("bob")
    first, second, other = bob.update("k", 1), bob.update("k", 2, at_ms=0), bob.update("other", deleted=True)
    assert list(said(first)) == [
        *("type", "key", "value", "uuid"),
        *("last_updated_by", "last_updated_rev", "update_time", "vector_clock"),
    ]
    assert said(first)["uuid"] == said(second)["uuid"] != said(other)["uuid"]
    assert [said(frame)["last_updated_rev"] for frame in (first, second, other)] == [2, 3, 4]
    assert [said(frame)["vector_clock"] for frame in (first, second)] == [{bob.peer_id: 1}, {bob.peer_id: 2}]
    assert said(second)["update_time"] == "1970-01-01T00:00:00.000Z"
    assert (said(other)["deleted"], "deleted" in said(first)) == (True, False)
    assert iso(1_800_000_000_007) == said(first)["update_time"].replace(".000Z", ".007Z")


def test_any_member_may_be_odd() -> None:
    bob = stage_of().peer("bob")
    odd = bob.update("k", 1, last_updated_rev=-1, update_time=[], more=None)
    assert (said(odd)["last_updated_rev"], said(odd)["update_time"], said(odd)["more"]) == (-1, [], None)
    assert said(bob.get_updates()) == {"type": "database.get_updates", "since": {}}
    assert said(bob.get_updates([1]))["since"] == [1]


def test_signatures_are_made_where_the_text_asks_for_them() -> None:
    stage = stage_of()
    bob, rita = stage.peer("bob"), stage.peer("rita", read_only=True)
    frame = bob.update("k", 1)
    assert bob.sign_if_required(frame, READ_WRITE).signature is None
    assert bob.sign_if_required(frame, READ_ONLY).signature is not None
    assert rita.sign_if_required(frame, READ_WRITE).signature is not None
    wrong = bob.sign(frame, READ_ONLY)
    assert rita.sign_if_required(wrong, READ_WRITE) is wrong


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


def test_a_change_after_what_was_heard_replaces_it() -> None:
    stage = stage_of()
    alice, bob = stage.open(), stage.peer("bob")
    link = alice.link(bob)
    alice.put("k", 1)
    (heard,) = link.ask()
    step = link.say(bob.update("renamed", 2, after=heard, at_ms=0))
    assert values(alice) == {"renamed": 2}
    assert step.signals("conflict") == []
    (changed,) = step.signals("changed")
    assert changed.record.vector_clock[bob.peer_id] == 1
    # It continues from received versions.
    link.say(bob.update("renamed", 3, at_ms=1))
    assert values(alice) == {"renamed": 3}
    assert (len(link.requests), len(link.updates)) == (1, 1)


def test_messages_of_others_are_repeated_byte_by_byte() -> None:
    stage = stage_of()
    alice, rita = stage.open(), stage.open("rita", read_only=True)
    carol = stage.peer("carol", read_only=True)
    alice.put("k", 1)
    (heard,) = alice.link(carol).ask()
    step = rita.link(carol).send(heard)
    assert values(rita) == {"k": 1}
    assert step.request.receive.data == heard.framed.to_wire()


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
