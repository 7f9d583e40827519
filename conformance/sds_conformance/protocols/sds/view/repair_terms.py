"""The SDS-R settings of one participant (section "SDS-R global state"), and its T_req, T_resp and response groups.

With a declared and known hash profile, times and groups are exact. Otherwise only the bounds of the specification hold,
which do not depend on the hash (AMB-01, AMB-03).
"""

from __future__ import annotations

from dataclasses import dataclass

from sds_harness.declaration import Declaration
from sds_harness.trace import Party
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HASH_PROFILES, HashProfile, in_response_group, t_req_offset, t_resp_offset

from .windows import Window

TIMED = (pb.CAPABILITY_SDS_R, pb.CAPABILITY_VIRTUAL_CLOCK)
"""The capabilities that checks of T_req and T_resp need."""
COARSE = (
    "; if the clock of the implementation has no milliseconds, declare its resolution as repairClockMs in the limits "
    "of Hello"
)
"""Hint for a report, if a time of SDS-R is wrong by less than a second."""
SECOND_MS = 1_000
"""One second in milliseconds. An implementation may keep times in whole seconds, by a clock of this resolution
(AMB-05).
"""


@dataclass(frozen=True, slots=True)
class RepairTerms:
    """The SDS-R settings of a participant. An unknown setting is None; all are None without SDS-R."""

    participant_id: str
    t_min_ms: int | None
    t_max_ms: int | None
    groups: int | None
    cap: int | None
    """The maximum number of entries in a repair request."""
    profile: HashProfile | None
    on: bool = True
    """Does the participant use SDS-R?"""
    clock_ms: int = 0
    """The declared error of the participant's clock, in milliseconds: at most one second (AMB-05). Times in states do
    not reveal this error: T_req and T_resp may have milliseconds, although the clock has whole seconds.
    """

    def clock_hint(self, explained: bool = True) -> str:
        """A hint for the report of a wrong time, if ``explained`` and if the implementation does not declare the
        resolution of its clock; else "".
        """
        return COARSE if explained and not self.clock_ms else ""

    @property
    def sound(self) -> bool:
        """Are T_min and T_max known, and is T_max larger than T_min (AMB-08, AMB-09)?"""
        return self.t_min_ms is not None and self.t_max_ms is not None and self.t_min_ms < self.t_max_ms

    @property
    def bounds(self) -> tuple[int, int] | None:
        """T_min and T_max in milliseconds; None if they are not `sound`."""
        return (self.t_min_ms, self.t_max_ms) if self.sound and self.t_min_ms is not None and self.t_max_ms else None

    def t_req(self, message_id: str, *, exactly: bool = True) -> Window | None:
        """T_req in milliseconds after the detection of the missing message; None if T_min and T_max are not `sound`.

        The window is from T_min to T_max if the hash is unknown, or if ``exactly`` is False (AMB-07).
        """
        if self.bounds is None:
            return None
        if self.profile is not None and exactly:
            offset = t_req_offset(self.profile, self.participant_id, message_id, *self.bounds)
            return Window(offset, offset)
        return Window(*self.bounds)

    def t_resp(self, sender_id: str, message_id: str) -> Window | None:
        """T_resp in milliseconds after the request.

        It is 0 for the original sender, with any hash. The window is from 0 to T_max if the hash is unknown.
        """
        if not self.t_max_ms:
            return None
        if sender_id == self.participant_id:
            return Window(0, 0)
        if self.profile is not None:
            offset = t_resp_offset(self.profile, self.participant_id, sender_id, message_id, self.t_max_ms)
            return Window(offset, offset)
        return Window(0, self.t_max_ms)

    def in_group(self, sender_id: str, message_id: str) -> bool | None:
        """Is the participant in the response group of a message? None if the hash is unknown, or SDS-R is not used.

        With at most one response group, all participants are in it (AMB-10).
        """
        if not self.on:
            return None
        if sender_id == self.participant_id or (self.groups is not None and self.groups <= 1):
            return True
        if self.profile is None or self.groups is None:
            return None
        return in_response_group(self.profile, self.participant_id, sender_id, message_id, self.groups)


def repair_terms(declared: Declaration, party: Party) -> RepairTerms:
    """Read the SDS-R settings that are in force for a participant."""
    c = party.in_force
    on = c.sds_r if c.HasField("sds_r") else party.asked.sds_r
    if not declared.can(pb.CAPABILITY_SDS_R) or not on:
        return RepairTerms(party.participant_id, None, None, None, None, None, on=False)
    return RepairTerms(
        party.participant_id,
        c.t_min_ms if c.HasField("t_min_ms") else None,
        c.t_max_ms if c.HasField("t_max_ms") else None,
        c.num_response_groups if c.HasField("num_response_groups") else None,
        c.max_repair_requests if c.HasField("max_repair_requests") else None,
        HASH_PROFILES.get(declared.profile("hash")),
        clock_ms=declared.limit("repair_clock_ms") or 0,
    )
