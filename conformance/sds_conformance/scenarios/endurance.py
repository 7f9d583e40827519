"""Much of everything: many messages, many that wait, days that pass, copies that come late."""

from __future__ import annotations

from sds_harness.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb

from ..registry import scenario

HOUR = 3_600_000


@scenario("DELIVER-06", "RECV-02")
def late_copies(stage: Stage) -> None:
    """Copies come after thirty other messages."""
    alice = stage.open()
    bob = stage.peer("bob")
    messages = [bob.content(stage.now_ms + number) for number in range(30)]
    alice.receive(*messages)
    alice.receive(messages[0], messages[5])
    alice.settle()
    alice.observe()


@scenario("RECV-08")
def many_wait_for_one(stage: Stage) -> None:
    """A hundred messages of two senders wait for one, for a day; some name it twice."""
    alice = stage.open()
    peers = [stage.peer("bob"), stage.peer("carol")]
    root = stage.peer("dave").content(stage.now_ms + 1)
    for number in range(100):
        depends_on = [root, root] if number % 5 == 0 else [root]
        alice.receive(peers[number % 2].content(stage.now_ms + 2 + number, *depends_on))
    for _ in range(5):
        stage.advance(5 * HOUR)
        alice.tick()
    alice.receive(root)
    alice.settle()
    alice.observe()


@scenario("RECV-08")
def waiting_for_an_own_message(stage: Stage) -> None:
    """A message names an own message that is sent only afterwards."""
    alice = stage.open()
    stage.need(pb.CAPABILITY_MESSAGE_ID_ACCEPTED)
    alice.receive(stage.peer("bob").content(stage.now_ms + 5, "mine-to-come"))
    alice.send(message_id="mine-to-come")
    alice.settle()


@scenario("RECV-05")
def one_of_many_is_missing(stage: Stage) -> None:
    """The last of ten dependencies, and the last of two hundred, is missing."""
    alice = stage.open()
    bob = stage.peer("bob")
    messages = [bob.content(stage.now_ms + number) for number in range(199)]
    alice.receive(*messages)
    for count in (9, 199):
        alice.receive(bob.content(stage.now_ms + 300 + count, *messages[:count], "never-sent"))
    alice.settle()


@scenario("RECV-07")
def a_thousand_messages(stage: Stage) -> None:
    """A message depends on one that a thousand others have followed."""
    if (stage.trace.declaration.log_entries or 1000) < 1000:
        return
    alice = stage.open()
    bob = stage.peer("bob")
    first = bob.content(stage.now_ms)
    alice.receive(first, *[bob.content(stage.now_ms + number) for number in range(1, 999)])
    alice.receive(bob.content(stage.now_ms + 2_000, first))


@scenario("STATE-03", "RECV-07")
def days_pass(stage: Stage) -> None:
    """Two days pass, and old messages arrive."""
    alice = stage.open()
    alice.send()
    stage.advance(48 * HOUR)
    alice.send()
    alice.send()
    alice.receive(stage.peer("bob").content(stage.now_ms - 25 * HOUR))
    alice.tick()
    alice.send()


@scenario("OUTSWEEP-01")
def others_go_on_talking(stage: Stage) -> None:
    """Nobody acknowledges a message while others talk."""
    stage.need(pb.CAPABILITY_RESEND)
    alice = stage.open(configuration=pb.Configuration(resend_unacknowledged_ms=30_000))
    alice.send()
    period = alice.party.in_force.resend_unacknowledged_ms or 30_000
    for number in range(12):
        stage.advance(period // 2)
        alice.receive(stage.peer(f"p{number}").content(stage.now_ms))
        alice.tick()


@scenario("RECV-11", "SEND-01")
def own_copies_under_a_frozen_clock(stage: Stage) -> None:
    """Own copies come back while the clock stands still."""
    alice = stage.open()
    alice.send()
    alice.send()
    alice.receive(*[wire.raw for step in stage.trace.steps for wire in step.broadcasts])
    alice.send()
    alice.send()


@scenario("SEND-09", "STATE-05")
def a_filter_rolls_over(stage: Stage) -> None:
    """Three times a filter's capacity arrives; the newest tenth must still be in it."""
    alice = stage.open(configuration=pb.Configuration(bloom_capacity=50))
    bob = stage.peer("bob")
    capacity = alice.party.in_force.bloom_capacity
    for number in range(3 * capacity if capacity <= 2_000 else 0):
        stage.advance(1)
        alice.receive(bob.content(stage.now_ms))
        if number % 7 == 6:
            alice.send()
    alice.send()


@scenario("STATE-05")
def many_are_missing(stage: Stage) -> None:
    """Six dependencies are missing when a message is sent: they are not received."""
    alice = stage.open()
    bob = stage.peer("bob")
    for number in range(3):
        alice.receive(bob.content(stage.now_ms + number, f"gone-{number}", f"gone-too-{number}"))
    stage.advance(50)
    alice.send()
