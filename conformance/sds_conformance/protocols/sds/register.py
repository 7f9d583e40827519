"""The register of the checks, scenarios and positions of SDS, in all of its revisions."""

from __future__ import annotations

from ...judging.registry import Register
from .view.fact_kinds import PRESENT

REGISTER = Register("SDS-", "FORUM-", facts=PRESENT)

check = REGISTER.check
table = REGISTER.table
shows = REGISTER.shows
same_as = REGISTER.same_as
counterpart = REGISTER.counterpart
CHECKS = REGISTER.checks
SCENARIOS = REGISTER.scenarios
COUNTERPARTS = REGISTER.counterparts
