"""Requirements without a check, each with the reason."""

from __future__ import annotations

from . import Requirement

PLANNED = "planned"
UNTESTABLE = "untestable"

_CORE: dict[str, tuple[str, str]] = {
    "SDS-MSG-08": (PLANNED, "belongs to the SDS-R profile: the field is populated by nothing else"),
    "SDS-MSG-12": (PLANNED, "belongs to the SDS-R profile: the field is populated by nothing else"),
    "SDS-INSWEEP-03": (UNTESTABLE, "what a participant uses a hint for does not show outside"),
    "SDS-SYNC-11": (UNTESTABLE, "a permission to stay silent: both silence and sync messages are legal"),
}


def unchecked(requirement: Requirement) -> tuple[str, str]:
    """Why a requirement without a check has none: (``planned`` or ``untestable``, reason)."""
    if not requirement.core:
        return PLANNED, "belongs to the SDS-R profile"
    return _CORE[requirement.id]
