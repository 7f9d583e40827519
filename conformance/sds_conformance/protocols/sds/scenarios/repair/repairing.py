"""What the schedules of SDS-R have in common. No scenarios here."""

from __future__ import annotations

from functools import partial

from sds_harness.stage import ScheduleStopped
from sds_proto.testee.v1 import testee_pb2 as pb

from ..cast import Actor, Stage, scenario

T_MIN_MS = 30_000
T_MAX_MS = 120_000
DAY_MS = 86_400_000
LONGEST_MS = 3_600_000
"""T_max that is waited for: with a longer one in force a schedule would hardly end."""
NEEDED = (pb.CAPABILITY_SDS_R, pb.CAPABILITY_VIRTUAL_CLOCK)
"""Without these nothing of SDS-R can be told."""


def repairing(
    stage: Stage,
    name: str = "alice",
    configuration: pb.Configuration | None = None,
    instance: str = "",
    channels: tuple[str, ...] = ("c1",),
    longest_ms: int = LONGEST_MS,
) -> Actor:
    """A participant that uses SDS-R, with one response group and no resends of its own for a day, so that a copy is a
    response. Ends the schedule where SDS-R cannot be had, or not with a T_max of up to ``longest_ms``."""
    stage.need(*NEEDED)
    asked = pb.Configuration(
        sds_r=True,
        t_min_ms=T_MIN_MS,
        t_max_ms=T_MAX_MS,
        num_response_groups=1,
        resend_unacknowledged_ms=DAY_MS,
        resend_possibly_acknowledged_ms=DAY_MS,
    )
    asked.MergeFrom(configuration or pb.Configuration())
    actor = stage.open(name, channels, configuration=asked, instance=instance)
    in_force = actor.party.in_force
    if in_force.HasField("sds_r") and not in_force.sds_r:
        raise ScheduleStopped("SDS-R is declared, but could not be turned on")
    if t_max(actor) > longest_ms:
        raise ScheduleStopped(f"T_max is {t_max(actor)} ms, although {asked.t_max_ms} ms were asked for")
    return actor


repair_scenario = partial(scenario, opening=repairing)
"""Registers a scenario in which alice uses SDS-R."""


def t_min(actor: Actor) -> int:
    """T_min in force, in milliseconds; as asked for where nothing tells."""
    return actor.party.in_force.t_min_ms or T_MIN_MS


def t_max(actor: Actor) -> int:
    """T_max in force, in milliseconds; as asked for where nothing tells."""
    return actor.party.in_force.t_max_ms or T_MAX_MS
