"""The environments in which SDS is played."""

from __future__ import annotations

from dataclasses import dataclass

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import REVISIONS

from ..environment import ALL_SCRIPTS, PLAIN, PROCESSES, UNSTEADY_MS, Environment
from ..revision import Revision


@dataclass(frozen=True)
class SdsEnvironment(Environment):
    """An environment with two more settings, which only SDS has."""

    equal_contents: bool = False
    """Whether all senders send the same contents."""
    third_channel: bool = False
    """Whether participants first join two more channels, in which the stage repeats each step of the schedule one step
    later."""
    sds_r: bool = False
    """Whether participants use SDS-R."""

    def why_unfit(self, revision: Revision) -> str:
        return f"{revision.name} has no SDS-R" if self.sds_r and not REVISIONS[revision.name].repairs else ""


ENVIRONMENTS: dict[str, Environment] = {
    environment.name: environment
    for environment in (
        PLAIN,
        ALL_SCRIPTS,
        SdsEnvironment(
            "equal-contents",
            "different senders send equal contents",
            equal_contents=True,
            presumes="SDS-MSG-14",
        ),
        SdsEnvironment(
            "third-channel",
            "the scenario plays in the third of three channels and is repeated in the other two",
            third_channel=True,
            needs=(pb.CAPABILITY_CHANNELS,),
        ),
        Environment(
            "unsteady-clock",
            "the clock steps back and forth by up to an hour",
            clock_offsets_ms=UNSTEADY_MS,
            needs=(pb.CAPABILITY_VIRTUAL_CLOCK,),
        ),
        SdsEnvironment(
            "sds-r",
            "participants that use SDS-R",
            sds_r=True,
            needs=(pb.CAPABILITY_SDS_R,),
        ),
        *PROCESSES,
    )
}
"""The environments by name, the plain one first."""
