"""Messages that may be refused, or cannot be read: what they leave behind."""

from __future__ import annotations

from dataclasses import replace

from sds_harness.sds.peer import entries_with_senders
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Message

from ..cast import HOUR, Actor, ScriptedPeer, Stage, deliver_and_settle, scenario
from ..repair.live import (
    deliver_messages,
    lose_messages,
    repair_scenario,
    request_messages,
    send_both_kinds,
    t_max,
    wait_for_responses,
)

DAY_MS = 24 * HOUR
FEW = 6
"""Number of ordinary messages that are cut and come later, and of those that never come whole."""
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


def broken_copy(stage: Stage, message: Message) -> bytes:
    """The message without its last byte, which is a part of its content: everything before it can be read."""
    return stage.on_the_wire(message)[:-1]


@scenario(
    "SEND-01", "STATE-05", "STATE-08", "STATE-09", "STATE-10", "STATE-12", "RECV-04", "RECV-05", "RECV-07", long=True
)
def broken_copies_leave_nothing(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Messages come without their last byte, while others wait for them. Two of them are from half an hour ahead and
    name an own message, one in its history, one in its filter.

    Most of the whole messages come later.
    """
    own = alice.send()
    ahead = bob.content(stage.now_ms + HOUR // 2, own)
    with_filter = bob.content(stage.now_ms + HOUR // 2 + 1, bloom_filter=stage.filter_over(own.message_id))
    first_broken, never_whole = ([carol.content(stage.now_ms + number) for number in range(FEW)] for _ in range(2))
    alice.receive(bob.content(stage.now_ms + FEW, *first_broken), bob.content(stage.now_ms + FEW, *never_whole))
    broken = [*never_whole, *first_broken, ahead, with_filter]
    alice.receive(*[broken_copy(stage, message) for message in broken])
    alice.observe()
    alice.send()
    alice.settle()
    deliver_and_settle(alice, with_filter, ahead, *reversed(first_broken)).observe()
    alice.after(1).send()


@scenario("SEND-01", "SEND-10", "STATE-10", "SEND-04", long=True)
def refused_to_send(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """A participant is asked to send nothing, which it may refuse; what it sends before and after is as usual."""
    alice.send()
    stage.step(
        alice.name,
        pb.Request(send=pb.Send(now_ms=stage.now_ms, handle=alice.party.handle, channel_id=alice.party.channels[0])),
    )
    alice.observe()
    alice.send()
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


@repair_scenario("R-STATE-04", "R-RECV-03", "R-RECV-08", "R-SEND-01", long=True, violated=("R-FIELDS-02",))
def broken_copies_repair_nothing(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Messages come without their last byte: one that is missing, one that is asked for, and one that asks for another
    message and names one that was never sent."""
    asked, unasked = deliver_messages(stage, alice, 2)
    (lost,) = lose_messages(stage, alice, carol)
    request_messages(stage, carol, alice, asked)
    asking = carol.content(
        stage.now_ms,
        *entries_with_senders(bob.content(stage.now_ms, message_id="never-sent")),
        requests=entries_with_senders(unasked, lost),
    )
    for message in (lost, asked, asking):
        alice.receive(broken_copy(stage, message))
    alice.observe()
    wait_for_responses(stage, alice)
    send_both_kinds(alice, t_max(alice), 1_000)


@repair_scenario("R-RECV-03", "R-SEND-01", long=True)
def refused_to_send_with_requests(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """A participant that has a request due is asked to send nothing, which it may refuse. Then it sends content."""
    lose_messages(stage, alice, bob)
    alice.after(t_max(alice))
    command = pb.Send(now_ms=stage.now_ms, handle=alice.party.handle, channel_id=alice.party.channels[0])
    stage.step(alice.name, pb.Request(send=command))
    alice.observe()
    alice.send()
