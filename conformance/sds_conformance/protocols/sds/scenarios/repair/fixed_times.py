"""T_req and T_resp are set once: repeated requests, repeated entries and other channels do not change them."""

from __future__ import annotations

from itertools import pairwise

from sds_harness.sds.script import Part, Peer, Script, greatest, signed
from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import deliver_and_settle, scenario, tick_every
from .participants import FINE, T_MAX, T_MIN, open_with_repairs, optional_participant, repair_scenario
from .requests import lose_messages, send_both_kinds, send_either
from .responses import LONG_MS, deliver_messages, observe_responses, request_one_by_one, tick_often, wait_for_responses

ROUNDS = 5


@repair_scenario("R-STATE-02")
def the_naming_message_comes_again(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Three messages are missing; duplicates of a message name the first again, and sync messages name the second."""
    one, other, third = (bob.content(script.now - number) for number in range(3))
    naming = bob.content(script.now + 1, *signed(one))
    alice.receive(naming, carol.content(script.now + 2, *signed(other, third)))
    alice.observe()
    pause = T_MAX // (ROUNDS + 1)
    for _ in range(ROUNDS):
        alice.after(pause).receive(naming, carol.sync(script.now, *signed(other)))
    alice.observe()
    send_both_kinds(alice, T_MAX - pause * ROUNDS, 1_000, content_first=True)
    deliver_and_settle(alice, one, other, third)


@repair_scenario("R-STATE-06", long=True, asked=pb.Configuration(t_max_ms=LONG_MS))
def the_same_requester_asks_again(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Carol requests eight messages. After the responses she requests them again, in duplicates and new messages."""
    messages = deliver_messages(alice, bob, 8)
    request_one_by_one(carol, alice, *messages)
    alice.observe()
    tick_often(alice)
    script.advance(T_MIN)
    since = script.mark()
    requests = [carol.content(script.now, requests=signed(message)) for message in messages]
    alice.given(*requests).observe()
    # A fifth of T_max: long enough that a postponed response is noticed, and so short that most are still pending.
    tick_every(alice, T_MAX // FINE, times=FINE // 5)
    alice.receive_unanswered(since, *requests[::2])
    alice.receive_unanswered(
        since, *[carol.content(script.now, requests=signed(message)) for message in messages[1::2]]
    )
    observe_responses(alice)


@scenario("STATE-16", "R-RECV-08", "R-STATE-09", needs=(pb.CAPABILITY_CHANNELS,))
def repairs_in_two_channels(script: Script) -> None:
    """Messages are missing in c1 and requested in c2; messages with these IDs arrive in the other channel.

    After the responses, one of these messages is requested in the other channel.
    """
    alice = open_with_repairs(script, channels=("c1", "c2"))
    bob, carol = script.peer("bob", "c1"), script.peer("carol", "c2")
    lost, also_lost, at_last = (bob.content(script.now - number) for number in (3, 2, 1))
    held, also_held, other = (carol.content(script.now + number) for number in range(3))
    for missed in lost, also_lost, at_last:
        alice.receive(bob.content(script.now + 2, *signed(missed)))
    alice.receive(held, also_held, other)
    for known in held, also_held, other:
        alice.receive(carol.content(script.now + 2, requests=signed(known)))
    twin = bob.content(script.now + 3, message_id=also_held)
    alice.receive(twin)
    alice.receive(carol.content(script.now + 3, message_id=also_lost))
    for channel in ("c1", "c2"):
        alice.observe(channel=channel)
    for pause in (T_MAX, 1_000):
        script.advance(pause)
        for channel in ("c2", "c1"):
            alice.send(channel=channel)
            alice.send_sync(channel=channel, optional=True)
    wait_for_responses(alice)
    alice.receive(bob.content(script.now + 4, requests=signed(twin)))
    wait_for_responses(alice)


@scenario("R-RECV-03", "R-STATE-01", "R-STATE-09", needs=(pb.CAPABILITY_CHANNELS,))
def the_same_ids_are_missing_in_two_channels(script: Script) -> None:
    """Messages with the same IDs are missing in two channels; they must be requested in each channel."""
    alice = open_with_repairs(script, channels=("c1", "c2"))
    peers = [script.peer("bob", channel) for channel in ("c1", "c2")]
    for bob in peers:
        for number in range(3):
            lost = bob.content(script.now - 3 + number, message_id=f"lost-{number}")
            alice.receive(bob.content(script.now + 1, *signed(lost)))
    for channel in ("c1", "c2"):
        alice.observe(channel=channel)
    script.advance(T_MAX)
    for channel in ("c1", "c2"):
        alice.send(channel=channel)
        alice.send_sync(channel=channel, optional=True)
        alice.observe(channel=channel)
    for _ in range(2):
        script.advance(1_000)
        for channel in ("c2", "c1"):
            alice.send(channel=channel)
            alice.send_sync(channel=channel, optional=True)


@scenario("R-TREQ-01", long=True)
def t_min_is_zero(script: Script, bob: Peer) -> None:
    """T_min is 0 and T_max is two minutes; 24 messages are missing, and sync messages are sent until after T_max."""
    with optional_participant(script, "alice", pb.Configuration(t_min_ms=0)) as alice:
        lost = lose_messages(alice, bob, 24, observe=True)
        for _ in range(FINE + 2):
            send_either(alice.after(T_MAX // FINE), content=False)
            alice.receive_asked(*lost)


@scenario("R-TREQ-01", "R-GLOBAL-09", "R-GLOBAL-10", long=True)
def unusual_t_min_and_t_max(script: Script, bob: Peer) -> None:
    """T_min and T_max are 70 and 100 s; in each of two rounds, three messages are missing."""
    alice = open_with_repairs(script, configuration=pb.Configuration(t_min_ms=70_000, t_max_ms=100_000))
    for _ in range(2):
        lost = lose_messages(alice, bob, 3, observe=True)
        times = (
            T_MIN // 2,
            T_MIN - 1_000,
            (T_MIN * 2 + T_MAX) // 3,
            (T_MIN + T_MAX * 2) // 3,
            T_MAX,
            T_MAX + 1_000,
            T_MAX + 30_000,
        )
        send_either(alice.after(times[0]), content=False)
        for before, after in pairwise(times):
            send_either(alice.after(greatest(0, after - before)), content=False)
        deliver_and_settle(alice, *lost)
