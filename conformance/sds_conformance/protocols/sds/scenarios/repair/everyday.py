"""What happens in a group all the time: other traffic, other channels, messages of any shape, clocks that are set."""

from __future__ import annotations

from sds_harness.sds.peer import signed
from sds_proto.testee.v1 import testee_pb2 as pb

from ..cast import HOUR, Actor, ScriptedPeer, Stage, scenario, take_in, tick_every
from .repairing import repair_scenario, repairing, t_max, t_min
from .requesting import missing, say, say_both
from .responding import ask, holding, wait_out, watch

LONG_ID = 200
LONG_CONTENT = 100_000


@repair_scenario("R-SWEEP-05", "R-STATE-07", "R-RECV-08")
def asked_for_messages_of_all_shapes(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """Messages are asked for with any bytes, spaces, much content, a long ID, a long history, and far in the future."""
    contents = [bytes(range(256)), b" between spaces \n", b"long " * (LONG_CONTENT // 5)]
    messages = [bob.content(stage.now_ms + number, content=content) for number, content in enumerate(contents)]
    messages.append(bob.content(stage.now_ms + 4, message_id="".join(f"{n:04}" for n in range(LONG_ID // 4))))
    messages.append(bob.content(stage.now_ms + 5, *signed(*messages[::-1])))
    if stage.trace.declaration.limit("lamport_ahead_ms") is None:
        messages.append(bob.content(2**53 + 1))  # which no double can tell from its neighbour
    alice.receive(*messages)
    ask(stage, stage.peer("carol"), alice, *messages)
    wait_out(stage, alice)


@repair_scenario("R-RECV-08")
def life_goes_on_while_answers_are_pending(stage: Stage, alice: Actor) -> None:
    """Six messages are asked for; then everybody, the participant too, sends content and sync messages."""
    bob, carol, dave = (stage.peer(name) for name in ("bob", "carol", "dave"))
    messages = holding(stage, alice, 6)
    ask(stage, carol, alice, *messages)
    for peer in (bob, carol, dave):
        alice.receive(peer.content(stage.now_ms, *signed(messages[0]), message_id=f"{peer.name}-goes-on"))
        alice.receive(peer.sync(stage.now_ms, *signed(*messages[:2])))
    alice.send()
    say(alice, content=False)
    alice.observe()
    wait_out(stage, alice)


@repair_scenario("R-SWEEP-04")
def the_same_twice_in_one_request(stage: Stage, alice: Actor) -> None:
    """Messages stand twice in one repair request."""
    messages = holding(stage, alice, 4)
    ask(stage, stage.peer("carol"), alice, *messages, *messages)
    watch(stage, alice)


@repair_scenario("R-RECV-08")
def asked_again_after_somebody_elses_answer(stage: Stage, alice: Actor) -> None:
    """Others answer six requests first; much later the same is asked for again, and nobody else answers."""
    messages = holding(stage, alice, 6)
    ask(stage, stage.peer("carol"), alice, *messages)
    alice.receive(*messages)
    wait_out(stage, alice)
    stage.advance(t_min(alice))
    ask(stage, stage.peer("dave"), alice, *messages)
    wait_out(stage, alice)


@repair_scenario("R-STATE-08")
def authors_are_asked_in_sync_messages(stage: Stage, alice: Actor) -> None:
    """Sync messages ask a participant for what it sent itself, and for a message of somebody else."""
    own = [alice.send() for _ in range(2)]
    messages = holding(stage, alice, 1)
    alice.receive(stage.peer("bob").content(stage.now_ms, *signed(*own), message_id="acknowledges"))
    for message in (*own, *messages):
        alice.receive(stage.peer("carol").sync(stage.now_ms, requests=signed(message)))
    wait_out(stage, alice)


@scenario("R-RECV-08", "R-RECV-03", "R-STATE-01", "R-STATE-09", "R-STATE-04")
def repairs_in_a_second_channel(stage: Stage) -> None:
    """A participant of two channels misses messages in both; in the second it holds some, and is asked for them.

    It is asked there for those of the first channel as well.
    """
    alice = repairing(stage, channels=("c1", "c2"))
    bob, carol = stage.peer("bob", "c2"), stage.peer("carol", "c2")
    elsewhere = stage.peer("bob", "c1").content(stage.now_ms, message_id="only-in-c1")
    here = [bob.content(stage.now_ms + number, message_id=f"bob-in-c2-{number}") for number in range(3)]
    alice.receive(elsewhere, *here)
    alice.receive(carol.content(stage.now_ms, message_id="asks-in-c2", requests=signed(elsewhere, *here)))
    lost = bob.content(stage.now_ms + 3, message_id="lost-in-c2")
    alice.receive(bob.content(stage.now_ms + 4, *signed(lost), message_id="after-the-lost-in-c2"))
    alice.observe(channel_id="c2")
    missing(stage, alice, stage.peer("bob", "c1"))
    stage.advance(t_max(alice))
    alice.send(channel_id="c1")
    for _ in range(2):
        alice.send(channel_id="c2")
        if stage.trace.declaration.can(pb.CAPABILITY_SYNC):
            alice.send_sync(channel_id="c2")
        stage.advance(1_000)
    wait_out(stage, alice)


def _asks(stage: Stage, alice: Actor) -> None:
    """Content and sync messages at T_max and a second later."""
    say_both(alice, t_max(alice), 1_000, content_first=True)
    stage.advance(1_000)


@repair_scenario("R-RECV-03", "R-STATE-01", "R-STATE-09")
def a_repair_with_a_gap_of_its_own(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Two are missing; one comes after it was asked for, and depends on a third that is missing as well."""
    root = bob.content(stage.now_ms - 5)
    middle, other = bob.content(stage.now_ms - 4, *signed(root)), carol.content(stage.now_ms - 3)
    alice.receive(bob.content(stage.now_ms + 1, *signed(middle, other)))
    _asks(stage, alice)
    alice.given(middle).observe()
    _asks(stage, alice)


@repair_scenario("R-RECV-03", "R-STATE-01", "R-STATE-09")
def a_long_id_is_missing(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """A message with a long ID is missing."""
    lost = bob.content(stage.now_ms - 1, message_id="".join(f"{n:04}" for n in range(LONG_ID // 4)))
    alice.given(bob.content(stage.now_ms + 1, *signed(lost))).observe()
    _asks(stage, alice)


@repair_scenario("R-RECV-08", "R-STATE-01", "R-STATE-09")
def after_the_clock_was_set_back(stage: Stage, alice: Actor) -> None:
    """The clock is set back by an hour; when it shows more than ever before, something is asked for and missing.

    As it was before the clock was set.
    """
    messages = holding(stage, alice, 3)
    (lost,) = missing(stage, alice, stage.peer("erin"))
    say(alice.after(t_max(alice)), content=True)
    take_in(alice, lost)
    alice.tick()
    alice.after(-HOUR).tick()
    alice.send()
    tick_every(alice, HOUR // 2, times=3)
    ask(stage, stage.peer("carol"), alice, *messages)
    missing(stage, alice, stage.peer("dave"))
    _asks(stage, alice)
    wait_out(stage, alice)
