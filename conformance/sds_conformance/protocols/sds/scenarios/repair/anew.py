"""What was fixed once stays so, whoever says it again, and whatever is said in another channel."""

from __future__ import annotations

from sds_harness.sds.peer import signed
from sds_proto.testee.v1 import testee_pb2 as pb

from ..cast import Actor, ScriptedPeer, Stage, scenario, take_in
from .repairing import repair_scenario, repairing, t_max, t_min
from .requesting import missing, say, say_both
from .responding import FINE, LONG_MS, ask_one_by_one, fine_ticks, holding, sent_out, wait_out

ROUNDS = 5


@repair_scenario("R-STATE-02")
def what_named_it_comes_again(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Two are missing: copies of what names the one come again and again, and sync messages that name the other.

    A third one is named but once.
    """
    one, other, third = (bob.content(stage.now_ms - number) for number in range(3))
    naming = bob.content(stage.now_ms + 1, *signed(one))
    alice.receive(naming, carol.content(stage.now_ms + 2, *signed(other, third)))
    alice.observe()
    pause = t_max(alice) // (ROUNDS + 1)
    for _ in range(ROUNDS):
        alice.after(pause).receive(naming, carol.sync(stage.now_ms, *signed(other)))
    alice.observe()
    say_both(alice, t_max(alice) - ROUNDS * pause, 1_000, content_first=True)
    take_in(alice, one, other, third)


@repair_scenario("R-STATE-06", long=True, asked=pb.Configuration(t_max_ms=LONG_MS))
def the_same_one_asks_again(stage: Stage, alice: Actor, carol: ScriptedPeer) -> None:
    """Eight messages are asked for once. Then again, twice by the same one: in copies, and in others."""
    messages = holding(stage, alice, 8)
    ask_one_by_one(stage, carol, alice, *messages)
    alice.observe()
    fine_ticks(stage, alice)
    stage.advance(t_min(alice))
    requests = {m.message_id: carol.content(stage.now_ms, requests=signed(m)) for m in messages}
    alice.given(*requests.values()).observe()
    # By so much later an answer shows that is put off, and is not taken for one that never comes.
    for _ in range(FINE // 5):
        stage.advance(t_max(alice) // FINE)
        for message_id in sent_out([alice.tick()]):
            requests.pop(message_id, None)
    again = list(requests.values())
    for request in again[::2]:
        alice.receive(request)
    for request in again[1::2]:
        alice.receive(carol.content(stage.now_ms, requests=request.repair_request))
    alice.observe()
    fine_ticks(stage, alice)
    wait_out(stage, alice)


@scenario("STATE-16", "R-RECV-08", "R-STATE-09", needs=(pb.CAPABILITY_CHANNELS,))
def repairs_in_two_channels(stage: Stage) -> None:
    """What is missing in one channel, or asked for, is not so in the other, where messages of the same IDs come."""
    alice = repairing(stage, channels=("c1", "c2"))
    bob, carol = stage.peer("bob", "c1"), stage.peer("carol", "c2")
    lost, also_lost, at_last = (bob.content(stage.now_ms - number) for number in (3, 2, 1))
    held, also_held, other = (carol.content(stage.now_ms + number) for number in range(3))
    for missed in lost, also_lost, at_last:
        alice.receive(bob.content(stage.now_ms + 2, *signed(missed)))
    alice.receive(held, also_held, other)
    for known in held, also_held, other:
        alice.receive(carol.content(stage.now_ms + 2, requests=signed(known)))
    alice.receive(bob.content(stage.now_ms + 3, message_id=also_held.message_id))
    alice.receive(carol.content(stage.now_ms + 3, message_id=also_lost.message_id))
    for channel in ("c1", "c2"):
        alice.observe(channel_id=channel)
    for pause in (t_max(alice), 1_000):
        stage.advance(pause)
        for channel in ("c2", "c1"):
            alice.send(channel_id=channel)
            if stage.trace.declaration.can(pb.CAPABILITY_SYNC):
                alice.send_sync(channel_id=channel)
    wait_out(stage, alice)


@scenario("R-TREQ-01", "R-GLOBAL-09", "R-GLOBAL-10", long=True)
def other_times_in_force(stage: Stage, bob: ScriptedPeer) -> None:
    """T_min and T_max are other ones than usual, and close together; twice three messages are missing."""
    alice = repairing(stage, configuration=pb.Configuration(t_min_ms=70_000, t_max_ms=100_000))
    for _ in range(2):
        found, lost = stage.now_ms, missing(stage, alice, bob, 3)
        alice.observe()
        low, high = t_min(alice), t_max(alice)
        for after in (
            low // 2,
            low - 1_000,
            (2 * low + high) // 3,
            (low + 2 * high) // 3,
            high,
            high + 1_000,
            high + 30_000,
        ):
            say(alice.after(max(0, found + after - stage.now_ms)), content=False)
        take_in(alice, *lost)
