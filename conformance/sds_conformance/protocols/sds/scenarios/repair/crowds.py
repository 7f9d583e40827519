"""Large numbers of requests, messages to respond with and missing messages."""

from __future__ import annotations

from sds_proto.testee.v1 import testee_pb2 as pb

from .. import cast
from ..scripts import Part, Peer, Period, Script, deliver_and_settle, scenario, signed, tick_every
from . import live
from .participants import T_MAX, T_MIN, open_with_repairs, repair_scenario
from .requests import lose_messages, send_either

MANY = 980
SENDERS = 200
AT_ONCE = 200
"""Entries of a repair request, and of a causal history, that must be accepted."""
LOOKS = 90
IN_VAIN = 4
"""Messages without a new request, content and sync, after which the rest will not be requested at all."""
TICKS = 16


@live.repair_scenario("R-STATE-07", "R-RECV-08", "R-SWEEP-01", long=True)
def asked_for_many_of_a_thousand(stage: cast.Stage, alice: cast.Actor, carol: cast.ScriptedPeer) -> None:
    """A participant that has nearly a thousand messages is asked for two hundred of them, also for the oldest."""
    bound = stage.trace.declaration.limit("log_entries")
    many = MANY if bound is None else max(1, min(MANY, bound - 10))
    peers = [stage.peer(f"p{number}") for number in range(SENDERS)]
    held = [peers[number % SENDERS].content(stage.now_ms + number) for number in range(many)]
    alice.receive(*held)
    every = -(-len(held) // (AT_ONCE - 1))
    live.request_messages(stage, carol, alice, *[*held[::every], held[-1]][:AT_ONCE])
    alice.observe()
    live.wait_for_responses(stage, alice)


@live.repair_scenario("R-STATE-01", long=True)
def two_hundred_are_missing(stage: cast.Stage, alice: cast.Actor, bob: cast.ScriptedPeer) -> None:
    """One message names two hundred missing messages; messages are sent until T_max, and requested ones arrive."""
    lost = {message.message_id: message for message in live.lose_messages(stage, alice, bob, AT_ONCE)}
    alice.observe()
    pace = (live.t_max(alice) - live.t_min(alice)) // LOOKS
    stage.advance(live.t_max(alice) - LOOKS * pace)
    in_vain = 0
    for number in range(LOOKS + AT_ONCE):
        asking = live.send_either(alice, content=number % 2 == 0)
        asked = [entry.message_id for entry in asking.repair_request] if asking is not None else []
        found = [lost.pop(message_id) for message_id in asked if message_id in lost]
        if found:
            alice.receive(*found)
        in_vain = 0 if found else in_vain + 1
        if not lost or (number > LOOKS and in_vain >= IN_VAIN):
            break
        stage.advance(pace if number < LOOKS else 0)
    live.send_both_kinds(alice, 1_000)


@repair_scenario("R-RECV-12", long=True)
def two_hundred_are_asked_for_by_another(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Two hundred messages are missing, and before T_min another peer asks for all of them in one message."""
    lost = lose_messages(alice, bob, AT_ONCE)
    alice.observe()
    script.advance(T_MIN // 2)
    alice.given(carol.sync(script.now, requests=signed(*lost))).observe()
    for _ in range(6):
        send_either(alice.after(T_MAX // 6), content=False)


@scenario("SYNC-01", needs=(pb.CAPABILITY_PERIODIC_SYNC,), of_one_text=True)
def a_request_stays_due(script: Script, bob: Peer) -> None:
    """A request is due for a while, and the periodic work runs ten times in a sync interval."""
    alice = open_with_repairs(
        script, configuration=pb.Configuration(sync_interval_ms=20_000, t_min_ms=30_000, t_max_ms=60_000)
    )
    script.require("1000 <= sync_interval_ms", "the sync interval in force is too short to wait for")
    script.require("sync_interval_ms <= t_max_ms", "the sync interval in force is too long to wait for")
    (lost,) = lose_messages(alice, bob)
    tick_every(alice.after(T_MAX), Period("sync_interval_ms") // 10, times=TICKS)
    deliver_and_settle(alice, lost)
