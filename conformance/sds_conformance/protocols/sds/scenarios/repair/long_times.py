"""T_min and T_max so far apart, and times so late, that a number may have no room for them.

Between T_min and T_max there are more microseconds than 31 and 32 bits hold from 36 and 72 minutes on, and more
milliseconds from 25 and 50 days on.
"""

from __future__ import annotations

from contextlib import suppress

from sds_harness.sds.peer import signed
from sds_harness.stage import ScheduleStopped
from sds_proto.testee.v1 import testee_pb2 as pb

from ..cast import ScriptedPeer, Stage, before_each_limit, scenario, take_in
from .repairing import DAY_MS, NEEDED, repairing, t_max, t_min
from .requesting import missing, say
from .responding import ask
from .statistics import scattered

APART_MS = (4_400_000, 30 * DAY_MS, 60 * DAY_MS)
"""The first is hardly more than 32 bits of microseconds, so that a hash of so many bits fills it."""
AT_ONCE = 200
"""Missing messages of which it can be said how their times are spread."""
AUTHORS = 12


@scenario("R-TREQ-01", "R-TREQ-03", "R-SEND-02", needs=NEEDED, long=True)
def far_from_t_min_to_t_max(stage: Stage, bob: ScriptedPeer) -> None:
    """T_max is over an hour, a month, and two; two hundred are missing, and sync messages go out at T_min and later."""
    for number, t_max_ms in enumerate(APART_MS):
        asked = pb.Configuration(t_max_ms=t_max_ms, max_repair_requests=AT_ONCE)
        with suppress(ScheduleStopped):  # nothing recommends so long a time, and it may be refused
            alice = repairing(stage, f"alice{number}", asked, longest_ms=t_max_ms)
            start = stage.now_ms
            lost = [bob.content(start - count, message_id=scattered(f"b{number}", count)) for count in range(AT_ONCE)]
            alice.given(bob.content(start + 1, *signed(*lost))).observe()
            for time_ms in (t_min(alice) - 1_000, t_max(alice) // 2, t_max(alice) + 1_000):
                say(alice.after(max(0, start + time_ms - stage.now_ms)), content=False)


@scenario("R-TRESP-01", "R-SWEEP-03", needs=NEEDED, long=True)
def far_to_t_max(stage: Stage, carol: ScriptedPeer) -> None:
    """T_max is over an hour, a month, and two; a participant is asked for messages of a dozen authors."""
    for number, t_max_ms in enumerate(APART_MS):
        with suppress(ScheduleStopped):
            alice = repairing(stage, f"alice{number}", pb.Configuration(t_max_ms=t_max_ms), longest_ms=t_max_ms)
            authors = [stage.peer(f"p{number}-{author}") for author in range(AUTHORS)]
            held = [author.content(stage.now_ms) for author in authors]
            alice.receive(*held)
            ask(stage, carol, alice, *held)
            alice.observe()
            for _ in range(5):
                alice.after(t_max(alice) // 4).tick()


@scenario("R-SEND-02", "R-SEND-01", "R-SWEEP-03", "R-SWEEP-01", needs=NEEDED, long=True)
def repaired_as_a_counter_fills(stage: Stage, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Shortly before a counter is full something is found missing and something else is asked for."""
    alice = repairing(stage)
    (held,) = missing(stage, alice, bob)
    take_in(alice, held)
    for _ in before_each_limit(stage, t_min(alice) // 2):
        (lost,) = missing(stage, alice, bob)
        ask(stage, carol, alice, held)
        alice.observe()
        alice.after(1).tick()
        say(alice, content=False)
        for _ in range(4):
            alice.after(t_max(alice) // 3).tick()
            say(alice, content=False)
        take_in(alice, lost)
