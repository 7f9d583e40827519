"""As many requests, messages to answer with and missing ones as SDS-R may have to do with at once."""

from __future__ import annotations

from sds_harness.sds.peer import signed
from sds_harness.stage import ScheduleStopped
from sds_proto.testee.v1 import testee_pb2 as pb

from ..cast import Actor, ScriptedPeer, Stage, scenario, take_in, tick_every
from .repairing import repair_scenario, repairing, t_max, t_min
from .requesting import missing, say, say_both
from .responding import ask, wait_out

MANY = 980
SENDERS = 200
AT_ONCE = 200
"""Entries of a repair request, and of a causal history, that nobody may refuse."""
LOOKS = 90
IN_VAIN = 4
"""Messages that ask for nothing more, content and sync: then the rest is not asked for at all."""
TICKS = 16


@repair_scenario("R-STATE-07", "R-RECV-08", "R-SWEEP-01", long=True)
def asked_for_many_of_a_thousand(stage: Stage, alice: Actor, carol: ScriptedPeer) -> None:
    """A participant that has nearly a thousand messages is asked for two hundred of these, the oldest among them."""
    bound = stage.trace.declaration.limit("log_entries")
    many = MANY if bound is None else max(1, min(MANY, bound - 10))
    peers = [stage.peer(f"p{number}") for number in range(SENDERS)]
    held = [peers[number % SENDERS].content(stage.now_ms + number) for number in range(many)]
    alice.receive(*held)
    every = -(-len(held) // (AT_ONCE - 1))
    ask(stage, carol, alice, *[*held[::every], held[-1]][:AT_ONCE])
    alice.observe()
    wait_out(stage, alice)


@repair_scenario("R-STATE-01", long=True)
def two_hundred_are_missing(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """One message reveals that two hundred are missing; messages go out up to T_max, and what they ask for comes."""
    lost = {message.message_id: message for message in missing(stage, alice, bob, AT_ONCE)}
    alice.observe()
    pace = (t_max(alice) - t_min(alice)) // LOOKS
    stage.advance(t_max(alice) - LOOKS * pace)
    in_vain = 0
    for number in range(LOOKS + AT_ONCE):
        asking = say(alice, content=number % 2 == 0)
        asked = [entry.message_id for entry in asking.repair_request] if asking is not None else []
        found = [lost.pop(message_id) for message_id in asked if message_id in lost]
        if found:
            alice.receive(*found)
        in_vain = 0 if found else in_vain + 1
        if not lost or (number > LOOKS and in_vain >= IN_VAIN):
            break
        stage.advance(pace if number < LOOKS else 0)
    say_both(alice, 1_000)


@repair_scenario("R-RECV-12", long=True)
def two_hundred_are_asked_for_by_another(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Two hundred are missing, and before T_min is over somebody else asks for all of them in one message."""
    lost = missing(stage, alice, bob, AT_ONCE)
    alice.observe()
    stage.advance(t_min(alice) // 2)
    alice.given(carol.sync(stage.now_ms, requests=signed(*lost))).observe()
    for _ in range(6):
        say(alice.after(t_max(alice) // 6), content=False)


@scenario("SYNC-01", needs=(pb.CAPABILITY_PERIODIC_SYNC,), of_one_text=True)
def a_request_stays_due(stage: Stage, bob: ScriptedPeer) -> None:
    """Something is missing, a request for it is due for a while, and the work runs ten times in a sync interval."""
    asked = pb.Configuration(sync_interval_ms=20_000, t_min_ms=30_000, t_max_ms=60_000)
    alice = repairing(stage, configuration=asked)
    interval = alice.party.in_force.sync_interval_ms or 20_000
    if not 1_000 <= interval <= t_max(alice):
        raise ScheduleStopped("the sync interval in force is too long or too short to wait for")
    (lost,) = missing(stage, alice, bob)
    tick_every(alice.after(t_max(alice)), interval // 10, times=TICKS)
    take_in(alice, lost)
