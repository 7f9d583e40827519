"""Requirements without a check, each with the reason."""

from __future__ import annotations

from . import Requirement

PLANNED = "planned"
UNTESTABLE = "untestable"

_REASONS: dict[str, tuple[str, str]] = {
    "SDS-INSWEEP-03": (UNTESTABLE, "what a participant uses a hint for does not show outside"),
    "SDS-SYNC-11": (UNTESTABLE, "a permission to stay silent: both silence and sync messages are legal"),
    "SDS-R-STATE-03": (UNTESTABLE, "an order in memory; what it is for, the lowest times first, is SDS-R-SEND-04"),
    "SDS-R-GLOBAL-01": (UNTESTABLE, "a property of a deployment: the suite itself sets equal values"),
    "SDS-R-GLOBAL-04": (UNTESTABLE, "a permission to have one response group or several: both are legal"),
    "SDS-R-GLOBAL-08": (UNTESTABLE, "advice to whoever configures an application"),
    "FORUM-30": (UNTESTABLE, "how an application asks a store does not show outside"),
    "FORUM-36": (UNTESTABLE, "a permission to stay silent: both silence and sync messages are legal"),
    "FORUM-42": (UNTESTABLE, "an assumption about the application, not a rule for what it does"),
    "FORUM-43": (UNTESTABLE, "what senders can conclude; of the rules that follow, one receiver's word is enough"),
    "FORUM-46": (UNTESTABLE, "a property of the design: the suite itself is the transport"),
    "SDS-R-GROUP-03": (UNTESTABLE, "a conclusion of the text: that one knows it early does not show outside"),
}


def unchecked(requirement: Requirement) -> tuple[str, str]:
    """Why a requirement without a check has none: (``planned`` or ``untestable``, reason)."""
    return _REASONS[requirement.id]
