"""T_min and T_max so far apart, and times so late, that a number may overflow.

From T_min to T_max there are more microseconds than 31 and 32 bits hold from 36 and 72 minutes on, and more
milliseconds from 25 and 50 days on.
"""

from __future__ import annotations

from contextlib import suppress

from sds_harness.sds.peer import entries_with_senders
from sds_harness.stage import ScheduleStoppedError
from sds_proto.testee.v1 import testee_pb2 as pb

from .. import cast
from ..core.long_times import IN_2038_MS, IN_2106_MS, INT32_MS, UINT32_MS
from ..scripts import NOW, START, Peer, Period, Script, deliver_and_settle, scenario
from . import live
from .participants import DAY_MS, NEEDED, T_MAX, T_MIN, open_with_repairs, scattered
from .requests import lose_messages, send_either
from .responses import request_messages

APART_MS = (4_400_000, 30 * DAY_MS, 60 * DAY_MS)
"""The first is just over 32 bits of microseconds, so that a hash of 32 bits covers it."""
AT_ONCE = 200
"""Enough missing messages to judge how their times are distributed."""
AUTHORS = 12


@cast.scenario("R-TREQ-01", "R-TREQ-03", "R-SEND-02", needs=NEEDED, long=True)
def t_max_of_months_for_requests(stage: cast.Stage, bob: cast.ScriptedPeer) -> None:
    """T_max is over an hour, one month, two; 200 messages are missing; sync messages go out around T_min and later."""
    for number, t_max_ms in enumerate(APART_MS):
        asked = pb.Configuration(t_max_ms=t_max_ms, max_repair_requests=AT_ONCE)
        with suppress(ScheduleStoppedError):  # nothing recommends so long a time, and it may be refused
            alice = live.open_with_repairs(stage, f"alice{number}", asked, longest_ms=t_max_ms)
            start = stage.now_ms
            lost = [bob.content(start - count, message_id=scattered(f"b{number}", count)) for count in range(AT_ONCE)]
            alice.given(bob.content(start + 1, *entries_with_senders(*lost))).observe()
            for time_ms in (live.t_min(alice) - 1_000, live.t_max(alice) // 2, live.t_max(alice) + 1_000):
                live.send_either(alice.after(max(0, start + time_ms - stage.now_ms)), content=False)


@cast.scenario("R-TRESP-01", "R-SWEEP-03", needs=NEEDED, long=True)
def t_max_of_months_for_responses(stage: cast.Stage, carol: cast.ScriptedPeer) -> None:
    """T_max is over an hour, one month, two months; a participant is asked for messages of twelve authors."""
    for number, t_max_ms in enumerate(APART_MS):
        with suppress(ScheduleStoppedError):
            alice = live.open_with_repairs(
                stage, f"alice{number}", pb.Configuration(t_max_ms=t_max_ms), longest_ms=t_max_ms
            )
            authors = [stage.peer(f"p{number}-{author}") for author in range(AUTHORS)]
            held = [author.content(stage.now_ms) for author in authors]
            alice.receive(*held)
            live.request_messages(stage, carol, alice, *held)
            alice.observe()
            for _ in range(5):
                alice.after(live.t_max(alice) // 4).tick()


@scenario("R-SEND-02", "R-SEND-01", "R-SWEEP-03", "R-SWEEP-01", needs=NEEDED, long=True)
def repaired_as_a_counter_fills(script: Script, bob: Peer, carol: Peer) -> None:
    """Shortly before a counter of milliseconds or seconds overflows, a message is missing and another is asked for."""
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
