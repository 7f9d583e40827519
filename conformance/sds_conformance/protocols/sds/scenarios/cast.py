"""Registers scenarios that drive a stage. Their parameters are the participants and peers. No scenarios here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from inspect import signature

from sds_harness.sds.actor import Actor, Payload
from sds_harness.sds.peer import ScriptedPeer
from sds_harness.sds.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb

from ....judging.registry import ScenarioFunction
from ..register import REGISTER

__all__ = ["Actor", "ScriptedPeer", "Stage", "deliver_and_settle", "resending", "scenario", "tick_every"]

HOUR = 3_600_000
WIDE = pb.Configuration(causal_history_size=12)
"""Causal histories that show more of the log."""
QUICK_RESENDS = pb.Configuration(resend_unacknowledged_ms=30_000)


def deliver_and_settle(actor: Actor, *payloads: Payload) -> Actor:
    """Let messages arrive and release waiting ones. Returns the participant."""
    actor.receive(*payloads)
    actor.settle()
    return actor


def send_optional_messages(actor: Actor, *, ephemeral: bool = True) -> None:
    """Send a sync message and, unless it is not wanted, an ephemeral one, each if the participant can."""
    can = actor.stage.trace.declaration.can
    if can(pb.CAPABILITY_SYNC):
        actor.send_sync()
    if ephemeral and can(pb.CAPABILITY_EPHEMERAL):
        actor.send_ephemeral()


def tick_every(actor: Actor, milliseconds: int, times: int) -> Actor:
    """Let a period pass and run the periodic work, several times. Returns the participant."""
    for _ in range(times):
        actor.after(milliseconds).tick()
    return actor


def scenario(
    *exercises: str,
    needs: tuple[int, ...] = (),
    opening: Callable[..., Actor] = Stage.open,
    asked: pb.Configuration | None = None,
    violated: tuple[str, ...] = (),
    long: bool = False,
    of_one_text: bool = False,
) -> Callable[[Callable[..., None]], ScenarioFunction]:
    """Register a scenario as ``Register.scenario`` does, with participants and peers as further parameters.

    ``alice`` is a participant under test as ``opening`` makes it with the configuration ``asked``; any other name is
    that of a scripted peer in channel c1. ``needs`` are capabilities without which the schedule ends before anybody
    enters.
    """

    def register(plot: Callable[..., None]) -> ScenarioFunction:
        cast = list(signature(plot).parameters)[1:]

        @wraps(plot)
        def play(stage: Stage) -> None:
            stage.need(*needs)

            def enter(name: str) -> Actor | ScriptedPeer:
                return opening(stage, configuration=asked) if name == "alice" else stage.peer(name)

            plot(stage, *map(enter, cast))

        return REGISTER.scenario(*exercises, violated=violated, long=long, of_one_text=of_one_text)(play)

    return register


resending = partial(scenario, needs=(pb.CAPABILITY_RESEND,), asked=QUICK_RESENDS)
"""Registers a scenario in which alice resends soon."""
