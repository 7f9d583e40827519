"""Requirements without a check, each with the reason."""

from __future__ import annotations

from . import Requirement

PLANNED = "planned"
UNTESTABLE = "untestable"

_CORE: dict[str, tuple[str, str]] = {
    "SDS-MSG-08": (PLANNED, "belongs to the SDS-R profile: the field is populated by nothing else"),
    "SDS-MSG-12": (PLANNED, "belongs to the SDS-R profile: the field is populated by nothing else"),
    "SDS-MSG-16": (
        PLANNED,
        "needs a participant without a named channel, which the testee protocol cannot ask for yet",
    ),
    "SDS-STATE-04": (PLANNED, "needs several participants over a longer time"),
    "SDS-STATE-06": (PLANNED, "needs three times a filter's capacity in messages"),
    "SDS-STATE-07": (PLANNED, "statistical: needs a filter at capacity and many foreign IDs"),
    "SDS-STATE-14": (PLANNED, "what an acknowledgement is worth is decided over several participants"),
    "SDS-STATE-17": (PLANNED, "needs the states of a message over its whole life"),
    "SDS-INSWEEP-01": (PLANNED, "needs a dependency that appears without being received"),
    "SDS-INSWEEP-03": (UNTESTABLE, "what a participant uses a hint for does not show outside"),
    "SDS-INSWEEP-05": (PLANNED, "needs the lost timeout switched on"),
    "SDS-OUTSWEEP-02": (PLANNED, "needs resend gaps measured over several periods"),
    "SDS-OUTSWEEP-03": (PLANNED, "needs resend gaps measured over several periods"),
    "SDS-SYNC-11": (UNTESTABLE, "a permission to stay silent: both silence and sync messages are legal"),
    "SDS-EPHEMERAL-06": (PLANNED, "needs hybrids: content without a timestamp but with history or filter"),
}


def unchecked(requirement: Requirement) -> tuple[str, str]:
    """Why a requirement without a check has none: (``planned`` or ``untestable``, reason)."""
    if not requirement.core:
        return PLANNED, "belongs to the SDS-R profile"
    return _CORE[requirement.id]
