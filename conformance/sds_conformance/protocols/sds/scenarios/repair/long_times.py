"""T_min and T_max are so far apart, or times so late, that a counter may overflow.

The time between T_min and T_max overflows 31 bits after 36 minutes and 32 bits after 72 minutes if it is counted in
microseconds, and after 25 and 50 days if it is counted in milliseconds.
"""

from __future__ import annotations

from sds_harness.sds.script import NOW, START, Peer, Period, Script, greatest, signed
from sds_proto.testee.v1 import testee_pb2 as pb

from ..core.long_times import IN_2038_MS, IN_2106_MS, INT32_MS, UINT32_MS
from ..scripts import DAY_MS, deliver_and_settle, scenario, tick_every
from .participants import NEEDED, T_MAX, T_MIN, open_with_repairs, optional_participant, scattered
from .requests import lose_messages, send_either
from .responses import request_messages

APART_MS = (4_400_000, 30 * DAY_MS, 60 * DAY_MS)
"""Values of T_max in milliseconds. The first value, in microseconds, is just over 2^32, so that a hash of 32 bits still
reaches nearly all offsets below this T_max.
"""
AT_ONCE = 200
"""Number of missing messages that is enough to judge how their T_req are distributed."""
AUTHORS = 12


@scenario("R-TREQ-01", "R-TREQ-03", "R-SEND-02", needs=NEEDED, long=True)
def t_max_of_months_for_requests(script: Script, bob: Peer) -> None:
    """200 messages are missing; sync messages are sent from just before T_min on. T_max is up to two months."""
    # The specification recommends no such times, and an implementation may refuse them.
    for number, t_max_ms in enumerate(APART_MS):
        asked = pb.Configuration(t_max_ms=t_max_ms, max_repair_requests=AT_ONCE)
        with optional_participant(script, f"alice{number}", asked, longest_ms=t_max_ms) as alice:
            start, ids = script.now, [scattered(f"b{number}", count) for count in range(AT_ONCE)]
            lost = [bob.content(start - count, message_id=message_id) for count, message_id in enumerate(ids)]
            alice.given(bob.content(start + 1, *signed(*lost))).observe()
            early = greatest(0, T_MIN - 1_000)
            for pause in (early, greatest(0, T_MAX // 2 - early), T_MAX + 1_000 - T_MAX // 2):
                send_either(alice.after(pause), content=False)


@scenario("R-TRESP-01", "R-SWEEP-03", needs=NEEDED, long=True)
def t_max_of_months_for_responses(script: Script, carol: Peer) -> None:
    """T_max is an hour, then a month, then two months. A participant gets requests for messages of twelve authors."""
    for number, t_max_ms in enumerate(APART_MS):
        asked = pb.Configuration(t_max_ms=t_max_ms)
        with optional_participant(script, f"alice{number}", asked, longest_ms=t_max_ms) as alice:
            held = [script.peer(f"p{number}-{author}").content(script.now) for author in range(AUTHORS)]
            alice.receive(*held)
            request_messages(carol, alice, *held)
            alice.observe()
            tick_every(alice, T_MAX // 4, times=5)


@scenario("R-SEND-02", "R-SEND-01", "R-SWEEP-03", "R-SWEEP-01", needs=NEEDED, long=True)
def repaired_as_a_counter_fills(script: Script, bob: Peer, carol: Peer) -> None:
    """Shortly before a counter of milliseconds or seconds overflows, a message is missing and another is requested."""
    alice = open_with_repairs(script)
    (held,) = lose_messages(alice, bob)
    deliver_and_settle(alice, held)
    for limit in (START + INT32_MS, START + UINT32_MS, Period(str(IN_2038_MS)), Period(str(IN_2106_MS))):
        script.advance(limit - T_MIN // 2 - NOW)
        (lost,) = lose_messages(alice, bob)
        request_messages(carol, alice, held)
        alice.observe()
        alice.after(1).tick()
        send_either(alice, content=False)
        for _ in range(4):
            alice.after(T_MAX // 3).tick()
            send_either(alice, content=False)
        deliver_and_settle(alice, lost)
