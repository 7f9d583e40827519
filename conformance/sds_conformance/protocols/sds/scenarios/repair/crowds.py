"""As many requests, messages to answer with and missing ones as SDS-R may have to do with at once."""

from __future__ import annotations

from sds_harness.stage import ScheduleStopped
from sds_proto.testee.v1 import testee_pb2 as pb

from ..cast import Actor, ScriptedPeer, Stage, scenario, take_in, tick_every
from .repairing import repair_scenario, repairing, t_max
from .requesting import missing, say
from .responding import ask, wait_out

MANY = 980
SENDERS = 200
AT_ONCE = 200
"""Entries of a repair request, and of a causal history, that nobody may refuse."""
TICKS = 16


@repair_scenario("R-RECV-08", "R-SWEEP-01", long=True)
def asked_for_many_of_a_thousand(stage: Stage, alice: Actor, carol: ScriptedPeer) -> None:
    """A participant that has nearly a thousand messages is asked for two hundred of these, the oldest among them."""
    bound = stage.trace.declaration.limit("log_entries") or MANY + 10
    peers = [stage.peer(f"p{number}") for number in range(SENDERS)]
    held = [peers[number % SENDERS].content(stage.now_ms + number) for number in range(min(MANY, bound - 10))]
    alice.receive(*held)
    every = max(1, len(held) // (AT_ONCE - 1))
    ask(stage, carol, alice, *[*held[::every], held[-1]][:AT_ONCE])
    wait_out(stage, alice)


@repair_scenario("R-STATE-01", long=True)
def two_hundred_are_missing(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """One message reveals that two hundred are missing; all are due, and what is asked for comes."""
    lost = {message.message_id: message for message in missing(stage, alice, bob, AT_ONCE)}
    alice.observe()
    stage.advance(t_max(alice))
    for number in range(AT_ONCE + 1):
        asking = say(alice.after(10), content=number % 2 == 0)
        asked = [entry.message_id for entry in asking.repair_request] if asking is not None else []
        found = [lost.pop(message_id) for message_id in asked if message_id in lost]
        if found:
            alice.receive(*found)
        if not lost or (not found and number > TICKS):
            break


@scenario("SYNC-01", needs=(pb.CAPABILITY_PERIODIC_SYNC,))
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
