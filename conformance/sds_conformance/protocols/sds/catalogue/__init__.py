"""The catalogue of SDS in three revisions, the proposal of 2024 among them."""

from __future__ import annotations

from functools import cache

from ....judging.catalogue import Catalogue, read_catalogue

CURRENT = "sds-2026-01"
"""The revision that is judged unless another is asked for."""

UNTESTABLE: dict[str, str] = {
    "SDS-INSWEEP-03": "what a participant uses a hint for does not show outside",
    "SDS-SYNC-11": "a permission to stay silent: both silence and sync messages are legal",
    "SDS-R-STATE-03": "an order in memory; what it is for, the lowest times first, is SDS-R-SEND-04",
    "SDS-R-GLOBAL-01": "a property of a deployment: the suite itself sets equal values",
    "SDS-R-GLOBAL-04": "a permission to have one response group or several: both are legal",
    "SDS-R-GLOBAL-08": "advice to whoever configures an application",
    "FORUM-30": "how an application asks a store does not show outside",
    "FORUM-36": "a permission to stay silent: both silence and sync messages are legal",
    "FORUM-42": "an assumption about the application, not a rule for what it does",
    "FORUM-43": "what senders can conclude; of the rules that follow, one receiver's word is enough",
    "FORUM-46": "a property of the design: the suite itself is the transport",
    "SDS-R-GROUP-03": "a conclusion of the text: that one knows it early does not show outside",
}
"""Requirements without a check, each with the reason."""


@cache
def load_catalogue() -> Catalogue:
    """The statements of each text, and the positions on what they leave open."""
    return read_catalogue(__name__, (f"{CURRENT}.json", "forum-2024.json"))
