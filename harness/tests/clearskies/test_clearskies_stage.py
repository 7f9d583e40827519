"""The stage of ClearSkies links peers under test with each other, restarts and disconnects them."""

from __future__ import annotations

from pathlib import Path

import pytest

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference.testee.server import Testee, TesteeOptions
from clearskies_stages import stage_of, values, without
from sds_harness.clearskies.probes import read_as_stranger
from sds_harness.clearskies.stage import Stage
from sds_harness.faults import TesteeError
from sds_harness.stage import ScheduleStoppedError


def test_stores_are_removed_although_the_conversation_broke() -> None:
    class Crashes(Testee):
        def handle(self, request: pb.Request) -> pb.Reply:
            if request.HasField("close"):
                raise ZeroDivisionError
            return super().handle(request)

    stage = stage_of(testee=Crashes(TesteeOptions("1")))
    stage.open("alice", store=True)
    folder = Path(stage.trace.steps[0].request.open.store).parent
    assert folder.exists()
    with pytest.raises(TesteeError):
        stage.close()
    assert not folder.exists()


def test_a_peer_that_closes_a_link_is_believed() -> None:
    stage = stage_of()
    alice = stage.open("alice")
    bob = stage.peer("bob")
    link = alice.link(bob)
    step = link.send(b"nonsense")
    assert len(step.signals("link_closed")) == 1
    assert link.broken
    (connection,) = stage.trace.connections
    assert (connection.ended, connection.closed_by_peer) == (step.index, True)
    assert connection.reason
    assert connection.arrived.broken is not None
    assert (connection.arrived.broken.step, connection.arrived.broken.offset) == (step.index, 0)
    with pytest.raises(ScheduleStoppedError, match="alice has closed link 1"):
        link.send(b"more")
    again = alice.link(bob)
    again.say(bob.update("k", 1))
    assert values(alice) == {"k": 1}


class Breaks(Testee):
    """An implementation whose second participant sends a last message at the first update, and closes the link."""

    def handle(self, request: pb.Request) -> pb.Reply:
        if request.HasField("receive") and request.receive.handle == 2 and b"update_time" in request.receive.data:
            link = request.receive.link
            super().handle(pb.Request(disconnect=pb.Disconnect(handle=2, link=link)))
            sent = [pb.Sent(link=link, data=b'm21{"type":"core.bye__"}')]
            closed = [pb.Event(link_closed=pb.LinkClosed(link=link, reason="enough\x1b[2J"))]
            return pb.Reply(id=request.id, effects=pb.Effects(sent=sent, events=closed))
        return super().handle(request)


def test_the_other_end_hears_the_last_words_and_then_that_a_link_was_closed() -> None:
    stage = stage_of(testee=Breaks(TesteeOptions("1")))
    alice, bob = stage.open("alice"), stage.open("bob")
    line = alice.link(bob)
    alice.put("k", 1)
    assert line.broken
    here, there = stage.trace.connections
    assert [message.type for message in here.arrived.messages][-1] == "core.bye__"
    assert (here.closed_by_peer, there.closed_by_peer, there.reason) == (False, True, "enough")
    assert stage.trace.steps[here.ended - 1].command == "disconnect"
    assert alice.put("k", 2).sent == []


class Restless(Testee):
    """Sends a message to a nonexistent link at each Tick."""

    def handle(self, request: pb.Request) -> pb.Reply:
        if request.HasField("tick"):
            return pb.Reply(id=request.id, effects=pb.Effects(sent=[pb.Sent(link=77, data=b"x")]))
        return super().handle(request)


def test_who_never_falls_silent_is_not_waited_for() -> None:
    stage = stage_of(testee=Restless(TesteeOptions("1")))
    stage.open("alice")
    with pytest.raises(ScheduleStoppedError, match="peers still send messages"):
        stage.settle()
    assert {stray.link for stray in stage.trace.strays} == {77}
    assert stage.trace.strays[0].data == b"x"


def _reads_only(stage: Stage) -> object:
    return stage.open(read_only=True)


def _stores(stage: Stage) -> object:
    return stage.open(store=True)


def _merges(stage: Stage) -> object:
    return stage.open(resolution=pb.RESOLUTION_MERGE)


def _renames(stage: Stage) -> object:
    return stage.open().rename("a", "b")


def _suggests(stage: Stage) -> object:
    return stage.open().put("a", 1, uuid="1" * 32)


@pytest.mark.parametrize(
    ("act", "capability", "name"),
    [
        (_reads_only, pb.CAPABILITY_READ_ONLY, "read-only"),
        (_stores, pb.CAPABILITY_STORE, "store"),
        (_merges, pb.CAPABILITY_RESOLUTION_MERGE, "resolution-merge"),
        (_renames, pb.CAPABILITY_RENAME, "rename"),
        (_suggests, pb.CAPABILITY_UUID_ACCEPTED, "uuid-accepted"),
    ],
)
def test_what_is_not_declared_is_not_asked_for(act: object, capability: int, name: str) -> None:
    assert callable(act)
    act(stage_of())
    with pytest.raises(ScheduleStoppedError, match=f"needs the capability {name}"):
        act(stage_of(**without(capability)))


def test_who_cannot_be_observed_is_read_from_the_wire() -> None:
    stage = stage_of(**without(pb.CAPABILITY_OBSERVE))
    alice, rita = stage.open("alice"), stage.open("rita", read_only=True)
    alice.link(rita)
    uuid = alice.put("k", {"n": 1}).uuid
    alice.put("gone", 1)
    alice.delete("gone")
    assert alice.observe() is None
    for actor in (alice, rita):
        seen = read_as_stranger(actor)
        assert seen.values == {"k": [{"n": 1}]}
        assert seen.records[uuid]["last_updated_by"] == alice.peer_id
        assert len(seen.records) == 2
        assert seen.since == {alice.peer_id: max(record["last_updated_rev"] for record in seen.records.values())}
        assert read_as_stranger(actor, read_only=True).values == seen.values


def test_a_store_on_another_machine_cannot_be_copied() -> None:
    stage = stage_of()
    alice = stage.open("alice", store=True)
    for file in Path(stage.trace.steps[0].request.open.store).parent.iterdir():
        file.unlink()
    with pytest.raises(ScheduleStoppedError, match="on this machine"):
        alice.reopen(killed=True)
