"""Registers functions that write schedules as scenarios, and offers operations that many of them use."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import signature

from sds_harness.sds.operations import Schedule
from sds_harness.sds.player import perform
from sds_harness.sds.script import NOW, Message, Part, Period, Script
from sds_proto.testee.v1 import testee_pb2 as pb

from ....judging.registry import ScenarioFunction
from ..register import REGISTER

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
WIDE = pb.Configuration(causal_history_size=12)
"""A configuration with longer causal histories than the default, so that they show more of the log."""
QUICK_RESENDS = pb.Configuration(resend_unacknowledged_ms=30_000)
QUICK_SYNCS = pb.Configuration(sync_interval_ms=30_000)


def may_be_ahead(lamport: Period) -> str:
    """The condition that a participant must accept a message with this Lamport timestamp, by the declared limit."""
    return f"{(lamport - NOW).text} <= lamport_ahead_ms"


def deliver_and_settle(part: Part, *messages: Message) -> Part:
    """Let messages arrive, and let periodic work deliver the messages that waited for them. Returns the participant."""
    part.receive(*messages)
    return part.settle()


def send_optional_messages(part: Part, *, ephemeral: bool = True) -> None:
    """Send a sync message and, if ``ephemeral``, an ephemeral message. Kinds that the implementation cannot send are
    left out.
    """
    part.send_sync(optional=True)
    if ephemeral:
        part.send_ephemeral(optional=True)


def tick_every(part: Part, period: Period | int, times: int) -> Part:
    """Let a period pass and run the periodic work, several times. Returns the participant."""
    for _ in range(times):
        part.after(period).tick()
    return part


def scenario(
    *exercises: str,
    needs: tuple[int, ...] = (),
    opening: Callable[..., Part] = Script.open,
    asked: pb.Configuration | None = None,
    violated: tuple[str, ...] = (),
    long: bool = False,
    of_one_text: bool = False,
) -> Callable[[Callable[..., None]], ScenarioFunction]:
    """Register a function that writes a schedule as a scenario, as ``Register.scenario`` does.

    The first parameter of the function is the script. A parameter ``alice`` is a participant that ``opening`` opens
    with the configuration ``asked``; each other parameter is a scripted peer in channel c1. The schedule is empty if
    the implementation lacks one of the capabilities ``needs``.
    """

    def write(function: Callable[..., None]) -> Schedule:
        script = Script()
        script.need(*needs)
        names = list(signature(function).parameters)[1:]
        function(
            script,
            *(opening(script, configuration=asked) if name == "alice" else script.peer(name) for name in names),
        )
        return script.schedule(function.__name__.replace("_", "-"))

    return REGISTER.schedule(write, perform, *exercises, violated=violated, long=long, of_one_text=of_one_text)


resending = partial(scenario, needs=(pb.CAPABILITY_RESEND,), asked=QUICK_RESENDS)
"""Registers a scenario in which alice has a short resend period."""
losing = partial(
    scenario,
    needs=(pb.CAPABILITY_LOST, pb.CAPABILITY_VIRTUAL_CLOCK),
    asked=pb.Configuration(lost_timeout_ms=600_000),
)
"""Registers a scenario in which alice gives up a missing dependency after ten minutes."""
syncing = partial(scenario, needs=(pb.CAPABILITY_PERIODIC_SYNC,), asked=QUICK_SYNCS)
"""Registers a scenario in which alice sends sync messages automatically, with a short interval."""
