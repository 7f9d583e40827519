"""Messages that may be refused, or cannot be read: what they leave behind."""

from __future__ import annotations

from dataclasses import replace

from sds_harness.sds.peer import entries_with_senders
from sds_proto.testee.v1 import testee_pb2 as pb

from ..cast import HOUR, Actor, ScriptedPeer, Stage, deliver_and_settle, scenario
from ..repair.live import deliver_messages, repair_scenario, send_both_kinds, t_max, wait_for_responses

DAY_MS = 24 * HOUR
LARGEST_TIMESTAMP = (1 << 64) - 1


def declared_bound(stage: Stage) -> int | None:
    """How far ahead a message may be by the declaration, in milliseconds; None where no timestamp is too far ahead."""
    bound = stage.trace.declaration.limit("lamport_ahead_ms")
    return bound if bound is not None and stage.now_ms + bound + 2 * DAY_MS <= LARGEST_TIMESTAMP else None


@scenario(
    "STATE-08", "STATE-09", "STATE-10", "RECV-05", "RECV-07", "RECV-09", long=True, violated=("STATE-05", "DELIVER-01")
)
def rejected_messages_leave_nothing(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Messages from too far ahead, where that is declared, leave nothing in filter, log and buffers.

    Another message depends on one of them, which then comes as it should.
    """
    bound = declared_bound(stage)
    own = alice.send()
    far = stage.now_ms + (bound if bound is not None else 0) + DAY_MS
    refused = [bob.content(far, message_id="too-far"), bob.content(far, "never-sent", message_id="too-far-too")]
    refused += [bob.content(far + number) for number in range(5)]
    alice.receive(carol.content(stage.now_ms + 5, "too-far"))
    if bound is not None:
        alice.receive(*refused, bob.content(far, own, message_id="too-far-again"))
    alice.observe("too-far", "too-far-too")
    alice.after(10).send()
    alice.settle()
    if bound is not None:
        deliver_and_settle(alice, replace(refused[0], lamport_timestamp=stage.now_ms + 2)).observe()
    alice.receive(carol.content(stage.now_ms + 7, own))
    alice.after(10).send()


@scenario("RECV-07", "RECV-08", "SYNC-12", long=True)
def broken_bytes_between(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Bytes that are no message come while one waits, and before a sync message that acknowledges."""
    own, root = alice.send(), carol.content(stage.now_ms)
    alice.receive(bob.content(stage.now_ms + 1, root))
    good = stage.on_the_wire(bob.content(stage.now_ms))
    for broken in (b"\xff", good[: len(good) // 2], b"\x0a\xff\xff\xff\xff\x0f"):
        alice.receive(broken)
    alice.receive(bob.sync(stage.now_ms + 2, own))
    deliver_and_settle(alice, root).observe()
    alice.send()


@scenario("SEND-10", "STATE-10", "SEND-04", long=True)
def refused_to_send(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """A participant is asked to send nothing, which it may refuse; what it sends before and after is as usual."""
    alice.send()
    stage.step(
        alice.name,
        pb.Request(send=pb.Send(now_ms=stage.now_ms, handle=alice.party.handle, channel_id=alice.party.channels[0])),
    )
    alice.observe()
    alice.after(10).send()
    alice.receive(bob.content(stage.now_ms))
    alice.after(10).send()


@repair_scenario(long=True, violated=("R-STATE-01", "R-STATE-04", "R-RECV-09", "R-RECV-03", "R-FIELDS-02"))
def refused_with_requests(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """A message from too far ahead, where that is declared, asks for one that is here and names one that is not.

    It is missing itself.
    """
    bound = declared_bound(stage)
    if bound is None:
        return
    (held,) = deliver_messages(stage, alice, 1)
    far = stage.now_ms + bound + DAY_MS
    lost = bob.content(far, message_id="too-far")
    alice.given(carol.content(stage.now_ms + 1, *entries_with_senders(lost))).observe()
    asking = bob.content(
        far, *entries_with_senders(carol.content(far)), message_id="too-far-too", requests=entries_with_senders(held)
    )
    alice.receive(lost, asking)
    alice.observe()
    send_both_kinds(alice, t_max(alice), 1_000)
    wait_for_responses(stage, alice)
