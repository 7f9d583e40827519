"""The register of the global properties of ClearSkies."""

from __future__ import annotations

from ...properties import Properties
from .club_view import ClubView

PROPERTIES = Properties("CSDB-", ClubView)
global_property = PROPERTIES.of_one

PROPERTIES.withdraw("G-C06", "05", "18")
