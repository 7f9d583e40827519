"""Scripts of ClearSkies: the operations that calls append, and what they do when they are played on a stage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_stages import stage_of, without
from sds_harness.clearskies.notation import NOTATION
from sds_harness.clearskies.operations import Entry, Require, Write
from sds_harness.clearskies.player import perform
from sds_harness.clearskies.script import Part, Peer, Script
from sds_harness.clearskies.stage import Stage
from sds_harness.environment import Environment
from sds_harness.schedules import dumps
from sds_harness.stage import ScheduleStoppedError

Plot = Callable[[Script, Part, Peer], None]


def played(plot: Plot, stage: Stage | None = None, **opening: Any) -> Stage:
    """Play a schedule of alice, a peer under test, and bob, a scripted peer."""
    script = Script()
    plot(script, script.open(**opening), script.peer("bob"))
    schedule = script.schedule("a schedule")
    assert NOTATION.loads(dumps(schedule)) == schedule
    stage = stage_of() if stage is None else stage
    perform(schedule, stage)
    return stage


def commands(stage: Stage) -> list[str]:
    return [step.command for step in stage.trace.steps]


def told(stage: Stage) -> list[dict[str, Any]]:
    """The messages that arrived at alice."""
    return [message.body.members for step in stage.trace.steps for message in stage.trace.into(step)]


def records(stage: Stage) -> dict[str, str]:
    """What alice showed last: JSON text by key."""
    states = [step.state for step in stage.trace.steps if step.state is not None]
    return {record.key: record.value for record in states[-1].records if not record.deleted}


def test_a_message_arrives_when_it_is_sent_also_several_times() -> None:
    def plot(script: Script, alice: Part, bob: Peer) -> None:
        link = alice.link(bob)
        first, second = bob.update("one", 1), bob.update("two", 2)
        link.send(second, first)
        link.send(first)

    stage = played(plot)
    assert [(one["key"], one["last_updated_rev"]) for one in told(stage)] == [("two", 3), ("one", 2), ("one", 2)]


def test_messages_arrive_in_parts_and_in_one_piece() -> None:
    def plot(script: Script, alice: Part, bob: Peer) -> None:
        link = alice.link(bob)
        messages = [bob.update(f"key {number}", number) for number in range(3)]
        link.send(messages[0], messages[1].part(end=-9), joined=True)
        link.send(messages[1].part(begin=-9))
        link.send(messages[2].part(0, 20))

    stage = played(plot)
    sizes = [len(step.request.receive.data) for step in stage.trace.steps if step.command == "receive"]
    assert sizes[1:] == [9, 20]
    assert [one["key"] for one in told(stage)] == ["key 0", "key 1"]


def test_a_change_of_the_peer_is_followed_asked_for_and_sent_back() -> None:
    def plot(script: Script, alice: Part, bob: Peer) -> None:
        link = alice.link(bob)
        link.ask()
        one, two = alice.put("one", 1), alice.after(1).put("two", 2)
        link.update("uno", 1, after=one)
        link.update("dos", 2, after=two, concurrent=True)
        link.ask({alice: one, "nobody": 7})
        link.send(two)

    stage = played(plot)
    own, other = (stage.trace.club.join(name) for name in ("alice", "nobody"))
    _, uno, dos, request, two = told(stage)
    assert set(uno["vector_clock"]) == {own, stage.trace.club.join("bob")}
    assert set(dos["vector_clock"]) == {stage.trace.club.join("bob")}
    assert (dos["uuid"], two["last_updated_by"]) == (two["uuid"], own)
    assert request["since"][other] == 7
    assert 0 < request["since"][own] < two["last_updated_rev"]


def test_what_was_never_sent_is_left_out_and_counts_as_zero() -> None:
    def plot(script: Script, alice: Part, bob: Peer) -> None:
        change = alice.put("one", 1)
        link = alice.link(bob)
        link.send(change)
        link.ask({alice: change})

    assert [one["since"] for one in told(played(plot))] == [{stage_of().trace.club.join("alice"): 0}]


@pytest.mark.parametrize(
    ("signature", "signer"), [("usual", "read_write"), ("none", None), ("read-only", "read_only"), ("forged", None)]
)
def test_an_update_is_signed_when_it_is_sent(signature: str, signer: str | None) -> None:
    def plot(script: Script, alice: Part, bob: Peer) -> None:
        alice.link(bob).send(bob.update("one", 1, signature=signature))

    stage = played(plot, read_only=True)
    (message,) = [message for step in stage.trace.steps for message in stage.trace.into(step)]
    assert (message.signature is None) == (signature == "none")
    assert (message.signer.value if message.signer else None) == signer


def test_an_altered_message_differs_in_its_time() -> None:
    def plot(script: Script, alice: Part, bob: Peer) -> None:
        message = bob.update("one", 1)
        alice.link(bob).send(message, message.altered)

    one, other = told(played(plot))
    assert {name for name in one if one[name] != other[name]} == {"update_time"}


def test_members_are_chosen_one_by_one_or_all() -> None:
    def plot(script: Script, alice: Part, bob: Peer) -> None:
        link = alice.link(bob)
        link.update("a", [1], record="shared", clock={bob: 9, "eve": 0}, time="2014-02-23T23:45:39Z")
        link.update("b", None, members={"more": True}, without=("value",), time=-5)
        link.send(bob.message({"type": "x.nobody-knows"}))
        bob.revision = 41
        link.update("c", deleted=True)

    stage = played(plot)
    one, two, three, four = told(stage)
    bob, eve = (stage.trace.club.join(name) for name in ("bob", "eve"))
    assert (one["value"], one["vector_clock"]) == ([1], {bob: 9, eve: 0})
    assert one["update_time"] == "2014-02-23T23:45:39Z"
    assert (two["more"], "value" in two) == (True, False)
    assert three == {"type": "x.nobody-knows"}
    assert (four["last_updated_rev"], four["deleted"]) == (42, True)


def test_values_are_in_the_scripts_of_the_environment() -> None:
    def plot(script: Script, alice: Part, bob: Peer) -> None:
        alice.put("one", {"a": "b"})
        alice.put("two", text="[")
        alice.link(bob).update("three", "c")

    stage = played(plot, stage_of(Environment("all-scripts", "", all_scripts=True)))
    puts = [step.request.put for step in stage.trace.steps if step.command == "put"]
    assert not puts[0].value.isascii()
    assert puts[1].value == "["
    assert not told(stage)[0]["value"].isascii()


def test_a_peer_is_opened_again_after_a_close_or_a_kill() -> None:
    def plot(script: Script, alice: Part, bob: Peer) -> None:
        alice.put("one", 1)
        alice.reopen()
        alice.put("two", 2)
        alice.reopen(killed=True)
        alice.observe()

    stage = played(plot, store=True)
    try:
        assert commands(stage) == ["open", "put", "close", "open", "put", "close", "open", "observe"]
        assert records(stage) == {"one": "1", "two": "2"}
        assert len({step.request.open.store for step in stage.trace.steps if step.command == "open"}) == 2
    finally:
        stage.close()


def test_clocks_are_compared_in_the_order_of_their_members() -> None:
    def plot(script: Script, alice: Part, bob: Peer) -> None:
        alice.compare_clocks({bob: 2, alice: 1}, {})

    (step,) = [step for step in played(plot).trace.steps if step.command == "compare_clocks"]
    assert step.request.compare_clocks.one.decode().endswith(": 1}")
    assert step.request.compare_clocks.other == b"{}"


def test_peers_are_linked_held_and_cut() -> None:
    script = Script()
    alice, alan = script.open("alice"), script.open("alan")
    line = alice.link(alan).hold()
    alice.put("one", 1)
    line.let_through(alice, 7)
    line.cut()
    stage = stage_of()
    perform(script.schedule("a schedule"), stage)
    arrived = [step.request.receive.data for step in stage.trace.steps if step.command == "receive"]
    assert [len(data) for data in arrived][-1] == 7
    assert commands(stage)[-2:] == ["disconnect", "disconnect"]


def test_time_passes_until_all_are_quiet() -> None:
    def plot(script: Script, alice: Part, bob: Peer) -> None:
        script.advance(1_000)
        script.settle()

    stage = played(plot)
    assert commands(stage) == ["open", "tick", "tick"]
    assert stage.now_ms - stage.trace.start_ms == 11_000


def test_a_schedule_ends_where_a_capability_is_missing() -> None:
    def plot(script: Script, alice: Part, bob: Peer) -> None:
        alice.put("one", 1)

    stage = stage_of(**without(pb.CAPABILITY_READ_ONLY))
    with pytest.raises(ScheduleStoppedError, match="needs the capability read-only"):
        played(plot, stage, read_only=True)
    assert commands(stage) == []


def test_the_rest_is_played_after_a_link_was_closed() -> None:
    def plot(script: Script, alice: Part, bob: Peer) -> None:
        link = alice.link(bob)
        link.update("one", 1, odd="nan")
        link.cut()
        link.update("two", 2)
        alice.observe()

    stage = stage_of()
    with pytest.raises(ScheduleStoppedError, match="has no link alice-bob"):
        played(plot, stage)
    assert commands(stage)[-1] == "observe"


@pytest.mark.parametrize("text", ["[", "NaN", '"\\ud800"', "[" * 500 + "]" * 500])
def test_what_is_no_json_is_not_written(text: str) -> None:
    def plot(script: Script, alice: Part, bob: Peer) -> None:
        script.add(Write("bob", value=text))

    with pytest.raises(ScheduleStoppedError, match="is no JSON that can be written"):
        played(plot)


def test_members_must_be_an_object() -> None:
    def plot(script: Script, alice: Part, bob: Peer) -> None:
        script.add(Write("bob", members="[1]"))

    with pytest.raises(ScheduleStoppedError, match="is no JSON object"):
        played(plot)


def test_a_script_asks_for_what_its_peers_need() -> None:
    script = Script()
    alice = script.open(read_only=True, store=True, resolution=pb.RESOLUTION_MERGE)
    alice.put("one", 1, record="door")
    needs = [op.capabilities for op in script.operations if isinstance(op, Require)]
    assert needs == [("read-only",), ("resolution-merge",), ("store",), ("uuid-accepted",)]
    assert script.schedule("a schedule").configuration == (("resolution", pb.RESOLUTION_MERGE),)


def test_numbers_keep_their_order() -> None:
    script = Script()
    alice, bob = script.open(), script.peer("bob")
    bob.update("one", 1, clock={"zoe": 1, alice: 2, bob: 3})
    (write,) = [op for op in script.operations if isinstance(op, Write)]
    assert write.clock == (Entry("zoe", 1), Entry("alice", 2), Entry("bob", 3))
