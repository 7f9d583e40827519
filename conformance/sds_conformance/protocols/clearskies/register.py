"""The register of ClearSkies: its checks and scenarios."""

from __future__ import annotations

from ...judging.registry import Register
from .view.peer_view import PRESENT

REGISTER = Register("CSDB-", facts=PRESENT)

check = REGISTER.check
scenario = REGISTER.scenario
way = REGISTER.way
