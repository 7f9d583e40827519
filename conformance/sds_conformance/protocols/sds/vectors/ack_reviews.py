"""The ACK status of own messages as messages of others arrive (section "Review ACK Status")."""

from __future__ import annotations

from typing import Any

from sds_reference.revision import Revision

from ....vectors.model import Note, Outcome, Vector, legal, stepwise, warned
from .register import EVERY, group
from .texts import of_both, of_proposal, of_sds, with_proposal

PARTICIPANT = "alice"
"""Whose messages they are."""
OWN = ["m1", "m2", "m3"]

_NOTES = {
    "Mention": Note("A causal history names an own message: acknowledged.", ("SDS-ACK-01", "SDS-STATE-14")),
    "FilterHit": Note("A filter holds an own message: possibly acknowledged.", ("SDS-ACK-02", "SDS-STATE-13")),
    "Both": Note("Named and in the filter: acknowledged is the stronger.", ("AMB-60",)),
    "Series": Note(
        "In two or more filters: it may be acknowledged on probable grounds, or stay as it is.",
        ("SDS-ACK-03", "AMB-57"),
    ),
    "Forward": Note("There is no way back.", ("SDS-ACK-06", "SDS-STATE-17", "FORUM-27")),
    "Strangers": Note("IDs that are not outstanding change nothing.", ("SDS-ACK-05",)),
    "AnyMessage": Note("Sync messages acknowledge, and so do messages that wait.", ("SDS-ACK-07", "AMB-58")),
    "OwnTraffic": Note("What comes back from the network under the own ID is no evidence.", ("SDS-STATE-14", "AMB-21")),
    "ForeignFilter": Note(
        "A filter that cannot be read is skipped; the rest counts. Bytes of ones may pass for a full one.",
        ("SDS-ACK-02", "AMB-53", "AMB-54"),
    ),
    "NoFilter": Note("A message without a filter acknowledges by its causal history.", ("AMB-32",)),
    "Copy": Note("A copy of a known message may be reviewed or not.", ("AMB-23",)),
    "Hybrid": Note("An ephemeral message with a causal history may be reviewed or not.", ("AMB-37",)),
}
NOTES = {flag: Note(note.description, tuple(with_proposal(note.ids))) for flag, note in _NOTES.items()}


def _said(
    message_id: str,
    *names: str,
    kind: str = "content",
    sender: str = "bob",
    over: list[str] | None = None,
    raw: bytes | None = None,
) -> dict[str, Any]:
    out: dict[str, Any] = {"sender_id": sender, "message_id": message_id, "kind": kind, "causal_history": list(names)}
    if over is not None:
        out["filter_over"] = over
    if raw is not None:
        out["bloom_filter"] = raw.hex()
    return out


def _state(possibly: str = "", acknowledged: str = "", position: str = "") -> Outcome:
    gone = set(possibly.split()) | set(acknowledged.split())
    out: Outcome = {
        "unacknowledged": [own for own in OWN if own not in gone],
        "possibly_acknowledged": possibly.split(),
        "acknowledged": acknowledged.split(),
    }
    return legal(out, position)


UNTOUCHED = _state()
NAMED, HELD = _state(acknowledged="m1"), _state(possibly="m1")
BOTH = _state(possibly="m2", acknowledged="m1")
TWO = _state(acknowledged="m1 m2")
PROBABLE = (HELD, _state(acknowledged="m1", position="AMB-57"))

Step = tuple[Any, ...]
"""What arrives, and the outcomes."""


@group("ack-reviews", "ack-review", "What arrives, and what it makes of the ACK status of own messages.", NOTES, EVERY)
def ack_reviews(revision: Revision) -> list[Vector]:
    """Mentions, filter hits, series of them, and what is no evidence."""
    out = []
    for slug, (comment, flags, shorts) in _TOLD.items():
        ids, steps = of_sds(shorts) if slug in _LEFT_OPEN else of_both(shorts), _STEPS[slug]
        if slug in _LEFT_OPEN and revision.prefix == "FORUM":
            comment, flags, shorts, steps = _LEFT_OPEN[slug]
            ids = of_proposal(shorts)
        told = [{"received": received, "outcomes": outcomes} for received, *outcomes in steps]
        out.append(stepwise(slug, comment, flags, ids, {"participant_id": PARTICIPANT, "own": OWN}, told))
    return out


_LEFT_OPEN: dict[str, tuple[str, str, str, list[Step]]] = {
    "no-way-back": (
        "In a filter, then in none, then neither named nor held. That there is no way back is not said.",
        "Forward",
        "27",
        [
            (_said("b1", over=["m1"]), HELD),
            (_said("b2", over=["x"]), HELD, UNTOUCHED),
            (_said("b3", "x"), HELD, UNTOUCHED),
        ],
    ),
    "by-syncs-of-one-id": (
        "Two sync messages with the same ID: the second may be taken for a copy.",
        "AnyMessage Copy",
        "19 37",
        [(_said("s", "m1", kind="sync"), NAMED), (_said("s", "m2", kind="sync"), NAMED, TWO)],
    ),
    "by-own-traffic": (
        "A message under the own ID names one and holds another. That own messages are ignored is not said.",
        "OwnTraffic",
        "13",
        [(_said("a9", "m1", sender=PARTICIPANT, over=["m2"]), UNTOUCHED, BOTH, _state(possibly="m2"), NAMED)],
    ),
}
"""The conversations in which the proposal of 2024 says less."""
_FOREIGN = ("ForeignFilter Mention", "ACK-01 ACK-02")
_TOLD = {
    "named": ("One of three is named.", "Mention", "ACK-01 STATE-14"),
    "named-with-strangers": ("Two are named, with strangers between them.", "Mention Strangers", "ACK-01 ACK-05"),
    "named-twice": ("One is named twice, and again.", "Mention Strangers", "ACK-01 ACK-05"),
    "nobody-named": ("Only strangers are named.", "Strangers", "ACK-05 STATE-12"),
    "one-after-the-other": ("One message after the other names one.", "Mention", "ACK-01"),
    "in-a-filter": ("One of three is in a filter.", "FilterHit", "ACK-02 ACK-04"),
    "all-in-a-filter": ("All three are in a filter.", "FilterHit", "ACK-02"),
    "not-in-a-filter": ("A filter holds strangers.", "FilterHit", "ACK-02 STATE-12"),
    "named-and-in-the-filter": ("One is named and in the filter of the same message.", "Both", "ACK-01 ACK-02"),
    "first-in-a-filter-then-named": ("One is in a filter, then named.", "FilterHit Mention", "ACK-01 ACK-02"),
    "no-way-back": ("In a filter, then in none, then neither named nor held.", "Forward", "ACK-06"),
    "no-way-back-from-acknowledged": ("Named, then only in a filter.", "Forward Strangers", "ACK-05 ACK-06"),
    "in-two-filters": ("In the filters of two senders.", "Series", "ACK-03 ACK-04"),
    "in-three-filters": ("In the filters of three senders.", "Series", "ACK-02 ACK-03"),
    "in-two-filters-of-one-sender": ("In two filters of the same sender.", "Series", "ACK-02 ACK-03"),
    "by-a-sync": ("A sync message names one and holds another.", "AnyMessage", "ACK-07 SYNC-12"),
    "by-syncs-of-one-id": ("Two sync messages with the same ID.", "AnyMessage", "ACK-07 SYNC-10"),
    "by-a-message-that-waits": (
        "A message that waits for another names one and holds another.",
        "AnyMessage",
        "ACK-07 RECV-11",
    ),
    "by-own-traffic": ("A message under the own ID names one and holds another.", "OwnTraffic", "STATE-14 RECV-01"),
    "by-a-foreign-filter": ("The filter cannot be read, the causal history names one.", *_FOREIGN),
    "by-a-foreign-filter-of-zeros": (
        "The filter cannot be read or holds nothing, the causal history names one.",
        *_FOREIGN,
    ),
    "by-a-filter-of-no-length": ("The filter has no length.", *_FOREIGN),
    "without-a-filter": ("There is no filter.", "NoFilter Mention", "ACK-01 RECV-03"),
    "by-a-copy": ("The same message again, with a fresher filter.", "Copy", "RECV-03 ACK-02"),
    "by-a-hybrid": ("An ephemeral message names one.", "Hybrid", "ACK-01"),
}
"""Of each conversation: comment, flags and requirements."""
_STEPS: dict[str, list[Step]] = {
    "named": [(_said("b1", "m1"), NAMED)],
    "named-with-strangers": [(_said("b1", "x", "m1", "y", "m3"), _state(acknowledged="m1 m3"))],
    "named-twice": [(_said("b1", "m1", "m1"), NAMED), (_said("b2", "m1"), NAMED)],
    "nobody-named": [(_said("b1", "x"), UNTOUCHED)],
    "one-after-the-other": [(_said("b1", "m2"), _state(acknowledged="m2")), (_said("c1", "m1", sender="carol"), TWO)],
    "in-a-filter": [(_said("b1", over=["m1", "x"]), HELD)],
    "all-in-a-filter": [(_said("b1", over=OWN), _state(possibly="m1 m2 m3"))],
    "not-in-a-filter": [(_said("b1", over=["x", "y"]), UNTOUCHED)],
    "named-and-in-the-filter": [(_said("b1", "m1", over=["m1", "m2"]), BOTH)],
    "first-in-a-filter-then-named": [(_said("b1", over=["m1"]), HELD), (_said("b2", "m1"), NAMED)],
    "no-way-back": [(_said("b1", over=["m1"]), HELD), (_said("b2", over=["x"]), HELD), (_said("b3", "x"), HELD)],
    "no-way-back-from-acknowledged": [(_said("b1", "m1"), NAMED), (_said("b2", over=["m1"]), NAMED)],
    "in-two-filters": [(_said("b1", over=["m1"]), HELD), (_said("c1", sender="carol", over=["m1"]), *PROBABLE)],
    "in-three-filters": [
        (_said("b1", over=["m1"]), HELD),
        (_said("c1", sender="carol", over=["m1"]), *PROBABLE),
        (_said("d1", sender="dave", over=["m1"]), *PROBABLE),
    ],
    "in-two-filters-of-one-sender": [(_said("b1", over=["m1"]), HELD), (_said("b2", over=["m1"]), *PROBABLE)],
    "by-a-sync": [(_said("s", "m1", kind="sync", over=["m2"]), BOTH)],
    "by-syncs-of-one-id": [(_said("s", "m1", kind="sync"), NAMED), (_said("s", "m2", kind="sync"), TWO)],
    "by-a-message-that-waits": [(_said("b2", "never-sent", "m1", over=["m2"]), BOTH)],
    "by-own-traffic": [
        (_said("a9", "m1", sender=PARTICIPANT, over=["m2"]), UNTOUCHED, warned(_state(possibly="m2"), "AMB-21"))
    ],
    "by-a-foreign-filter": [(_said("b1", "m1", raw=b"\xff" * 37), NAMED, _state("m2 m3", "m1", "AMB-54"))],
    "by-a-foreign-filter-of-zeros": [(_said("b1", "m1", raw=bytes(37)), NAMED)],
    "by-a-filter-of-no-length": [(_said("b1", "m1", raw=b""), NAMED)],
    "without-a-filter": [(_said("b1", "m1"), NAMED)],
    "by-a-copy": [(_said("b1", over=["x"]), UNTOUCHED), (_said("b1", over=["m1"]), UNTOUCHED, legal(HELD, "AMB-23"))],
    "by-a-hybrid": [(_said("e1", "m1", kind="ephemeral"), UNTOUCHED, legal(NAMED, "AMB-37"))],
}
