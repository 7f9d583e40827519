"""The register of the global properties of SDS."""

from __future__ import annotations

from ...properties import Properties
from .group_view import GroupView

PROPERTIES = Properties("SDS-", GroupView)
global_property = PROPERTIES.of_one
twin_property = PROPERTIES.of_twins
examine = PROPERTIES.examine
