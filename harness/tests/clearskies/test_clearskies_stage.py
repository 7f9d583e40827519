"""The stage of ClearSkies links peers under test with each other, restarts and disconnects them."""

from __future__ import annotations

from pathlib import Path

import pytest

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference.testee.server import Testee, TesteeOptions
from clearskies_stages import stage_of, values
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
    assert connection.arrived.broken.step == step.index
    with pytest.raises(ScheduleStoppedError, match="link 1 to alice is broken"):
        link.send(b"more")
    again = alice.link(bob)
    again.say(bob.update("k", 1))
    assert values(alice) == {"k": 1}


def test_a_store_on_another_machine_cannot_be_copied() -> None:
    stage = stage_of()
    alice = stage.open("alice", store=True)
    for file in Path(stage.trace.steps[0].request.open.store).parent.iterdir():
        file.unlink()
    with pytest.raises(ScheduleStoppedError, match="on this machine"):
        alice.reopen(killed=True)
