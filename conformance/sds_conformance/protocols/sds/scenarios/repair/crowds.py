"""Large numbers of requests, of messages that are requested, and of missing messages."""

from __future__ import annotations

from sds_harness.sds.script import Part, Peer, Period, Script, signed
from sds_proto.testee.v1 import testee_pb2 as pb

from ..core.crowds import receive_while_they_fit
from ..scripts import deliver_and_settle, scenario, tick_every
from .participants import T_MAX, T_MIN, open_with_repairs, repair_scenario
from .requests import lose_messages, send_both_kinds, send_either
from .responses import request_messages, wait_for_responses

MANY = 980
SENDERS = 200
AT_ONCE = 200
"""Number of entries of a repair request or a causal history that every implementation must accept."""
PROBES = 90
TICKS = 16


@repair_scenario("R-STATE-07", "R-RECV-08", "R-SWEEP-01", long=True)
def asked_for_many_of_a_thousand(script: Script, alice: Part, carol: Peer) -> None:
    """A participant with nearly a thousand messages gets a request for two hundred of them, including the oldest."""
    peers = [script.peer(f"p{number}") for number in range(SENDERS)]
    held = [peers[number % SENDERS].content(script.now + number) for number in range(MANY)]
    receive_while_they_fit(alice, *enumerate(held))
    request_messages(carol, alice, *held[:: MANY // (AT_ONCE - 1) + 1], held[-1])
    alice.observe()
    wait_for_responses(alice)


@repair_scenario("R-STATE-01", long=True)
def two_hundred_are_missing(script: Script, alice: Part, bob: Peer) -> None:
    """One message names two hundred missing messages; messages are sent until T_max, and requested ones arrive."""
    lost = lose_messages(alice, bob, AT_ONCE, observe=True)
    pace = (T_MAX - T_MIN) // PROBES
    script.advance(T_MAX - pace * PROBES)
    for count, pause in ((PROBES, pace), (AT_ONCE, 0)):
        with script.repeat(count // 2, until="missing == 0"):
            for content in (True, False):
                send_either(alice, content=content)
                alice.receive_asked(*lost)
                script.advance(pause)
    send_both_kinds(alice, 1_000)


@repair_scenario("R-RECV-12", long=True)
def two_hundred_are_asked_for_by_another(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Two hundred messages are missing, and before T_min another peer requests all of them in one message."""
    lost = lose_messages(alice, bob, AT_ONCE, observe=True)
    script.advance(T_MIN // 2)
    alice.given(carol.sync(script.now, requests=signed(*lost))).observe()
    for _ in range(6):
        send_either(alice.after(T_MAX // 6), content=False)


@scenario("R-SEND-03", needs=(pb.CAPABILITY_PERIODIC_SYNC,))
def a_request_stays_due(script: Script, bob: Peer) -> None:
    """A request is due for a while, and the periodic work runs ten times in a sync interval."""
    alice = open_with_repairs(
        script, configuration=pb.Configuration(sync_interval_ms=20_000, t_min_ms=30_000, t_max_ms=60_000)
    )
    script.require("1000 <= sync_interval_ms", "the sync interval in force is too short for this scenario")
    script.require("sync_interval_ms <= t_max_ms", "the sync interval in force is too long for this scenario")
    (lost,) = lose_messages(alice, bob)
    tick_every(alice.after(T_MAX), Period("sync_interval_ms") // 10, times=TICKS)
    deliver_and_settle(alice, lost)
