"""The global properties of the proposal of 2024: those properties of SDS that sentences of the proposal imply.

Behaviour that the proposal does not mention is accepted. Later revisions added that own messages are ignored, that
known messages may be ignored, that only logged messages meet dependencies, and that causal histories are ordered. The
proposal logs sync messages, so causal histories may name them like content.
"""

from __future__ import annotations

from sds_reference import FORUM_2024

from ...properties import Properties
from .group_view import GroupView
from .registry import PROPERTIES


class ProposedView(GroupView):
    """The messages and logs of all participants, by the rules of the proposal."""

    revision = FORUM_2024
    distinguishes_copies = False


_SAME = "all participants eventually see the same sequence of messages in the same causal order"
_REMOVED = "Acknowledged [...] This state will also remove the message from the outgoing buffer."

HOLDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "G-01": (_SAME, ("24", "21", "29", "32")),
    "G-02": ("Insert messages with the same timestamp in ascending order of message ID.", ("25", "24")),
    "G-03": ("Insert the message into the local log at its Lamport timestamp.", ("24", "25")),
    "G-06": ("Rebroadcast unacknowledged messages after a set period.", ("32", "18", "13")),
    "G-10": (
        "Acknowledged - there has been sufficient indication that the message has been received by at least some of "
        "the participants in the channel.",
        ("13", "26"),
    ),
    "G-11": (
        "Mark all messages in the received causal history as acknowledged. Mark all messages with positive inclusion "
        "in bloom filter as possibly acknowledged.",
        ("26", "27", "19", "37"),
    ),
    "G-12": (f"Process messages with all dependencies met. {_REMOVED}", ("29", "14")),
    "G-15": ("Within each channel of communication", ("06", "09")),
    "G-18": (
        "Ephemeral messages are sent with lamport_timestamp, causal_history, and bloom_filter left unset. These "
        "messages are [...] processed immediately on reception without buffering.",
        ("39", "38"),
    ),
    "G-19": (f"{_SAME}, despite the challenges of network latency, message loss", ("24", "25", "29")),
    "G-31": ("Message ID: each message has a unique, immutable ID (or hash).", ("32", "03")),
}
"""By property: the sentence of the proposal that implies it, and the requirements that state it."""

DOES_NOT_HOLD: dict[str, str] = {
    "G-26": "the proposal has no SDS-R",
    **dict.fromkeys(
        ("G-07", "G-22", "G-23", "G-24", "G-30", "G-35"), "the property is about repairs, and the proposal has no SDS-R"
    ),
}
"""By property that the proposal does not have: the reason."""

_REPAIRS = {"never-asked", "never-answered", "left-in-requests", "left-in-responses"}
"""Codes of SDS-R, which the proposal does not have."""

PROPOSED = Properties("FORUM-", ProposedView)
"""The properties of the proposal. Each has the number of the SDS property with the same meaning, such as G-F01 for
G-01.
"""

for _id, _judged_by in {
    "G-F04": ("45", "22"),
    "G-F05": ("24",),
    "G-F09": ("08", "22", "24"),
    "G-F13": ("15", "35"),
    "G-F16": ("15", "23", "35"),
    "G-F25": ("14",),
    "G-F28": ("G-F01",),
    "G-F29": ("G-F01",),
    "G-F32": ("10", "20"),
    "G-F33": ("01", "34", "38"),
    "G-F34": ("22",),
}.items():
    PROPOSED.withdraw(_id, *_judged_by)

for _number, (_sentence, _requirements) in HOLDS.items():
    PROPOSED.reuse(PROPERTIES[_number], _number.replace("-", "-F"), _sentence, *_requirements, without=_REPAIRS)
