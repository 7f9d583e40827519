"""The ACK status of own messages as messages of others arrive (section "Review ACK Status")."""

from __future__ import annotations

from typing import Any

from sds_reference.revision import Revision

from ....vectors.model import Note, Outcome, Vector, stepwise, warned
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
    return {**out, "position": position} if position else out


Step = tuple[dict[str, Any], list[Outcome]]


Row = tuple[str, str, str, str, list[Step]]


@group("ack-reviews", "ack-review", "What arrives, and what it makes of the ACK status of own messages.", NOTES, EVERY)
def ack_reviews(revision: Revision) -> list[Vector]:
    """Mentions, filter hits, series of them, and what is no evidence."""
    apart = {row[0]: row for row in _left_open()}
    out = []
    for row in _rows():
        if row[0] not in apart:
            out.append(_vector(row, of_both(row[3])))
        elif revision.prefix == "FORUM":
            out.append(_vector(apart[row[0]], of_proposal(apart[row[0]][3])))
        else:
            out.append(_vector(row, of_sds(row[3])))
    return out


def _left_open() -> list[Row]:
    """Of the same conversations those in which the proposal of 2024 says less."""
    untouched = _state()
    maybe, one = _state(possibly="m1"), _state(acknowledged="m1")
    return [
        (
            "no-way-back",
            "In a filter, then in none, then neither named nor held. That there is no way back is not said.",
            "Forward",
            "27",
            [
                (_said("b1", over=["m1"]), [maybe]),
                (_said("b2", over=["x"]), [maybe, untouched]),
                (_said("b3", "x"), [maybe, untouched]),
            ],
        ),
        (
            "by-syncs-of-one-id",
            "Two sync messages with the same ID: the second may be taken for a copy.",
            "AnyMessage Copy",
            "19 37",
            [
                (_said("s", "m1", kind="sync"), [one]),
                (_said("s", "m2", kind="sync"), [one, _state(acknowledged="m1 m2")]),
            ],
        ),
        (
            "by-own-traffic",
            "A message under the own ID names one and holds another. That own messages are ignored is not said.",
            "OwnTraffic",
            "13",
            [
                (
                    _said("a9", "m1", sender=PARTICIPANT, over=["m2"]),
                    [untouched, _as_of_others(), _state(possibly="m2"), one],
                )
            ],
        ),
    ]


def _as_of_others() -> Outcome:
    """What the message would say if it were somebody else's."""
    return _state(possibly="m2", acknowledged="m1")


def _rows() -> list[Row]:
    untouched = _state()
    one = _state(acknowledged="m1")
    maybe = _state(possibly="m1")
    probable = [maybe, _state(acknowledged="m1", position="AMB-57")]
    return [
        ("named", "One of three is named.", "Mention", "ACK-01 STATE-14", [(_said("b1", "m1"), [one])]),
        (
            "named-with-strangers",
            "Two are named, with strangers between them.",
            "Mention Strangers",
            "ACK-01 ACK-05",
            [(_said("b1", "x", "m1", "y", "m3"), [_state(acknowledged="m1 m3")])],
        ),
        (
            "named-twice",
            "One is named twice, and again.",
            "Mention Strangers",
            "ACK-01 ACK-05",
            [(_said("b1", "m1", "m1"), [one]), (_said("b2", "m1"), [one])],
        ),
        (
            "nobody-named",
            "Only strangers are named.",
            "Strangers",
            "ACK-05 STATE-12",
            [(_said("b1", "x"), [untouched])],
        ),
        (
            "one-after-the-other",
            "One message after the other names one.",
            "Mention",
            "ACK-01",
            [
                (_said("b1", "m2"), [_state(acknowledged="m2")]),
                (_said("c1", "m1", sender="carol"), [_state(acknowledged="m1 m2")]),
            ],
        ),
        (
            "in-a-filter",
            "One of three is in a filter.",
            "FilterHit",
            "ACK-02 ACK-04",
            [(_said("b1", over=["m1", "x"]), [maybe])],
        ),
        (
            "all-in-a-filter",
            "All three are in a filter.",
            "FilterHit",
            "ACK-02",
            [(_said("b1", over=OWN), [_state(possibly="m1 m2 m3")])],
        ),
        (
            "not-in-a-filter",
            "A filter holds strangers.",
            "FilterHit",
            "ACK-02 STATE-12",
            [(_said("b1", over=["x", "y"]), [untouched])],
        ),
        (
            "named-and-in-the-filter",
            "One is named and in the filter of the same message.",
            "Both",
            "ACK-01 ACK-02",
            [(_said("b1", "m1", over=["m1", "m2"]), [_state(possibly="m2", acknowledged="m1")])],
        ),
        (
            "first-in-a-filter-then-named",
            "One is in a filter, then named.",
            "FilterHit Mention",
            "ACK-01 ACK-02",
            [(_said("b1", over=["m1"]), [maybe]), (_said("b2", "m1"), [one])],
        ),
        (
            "no-way-back",
            "In a filter, then in none, then neither named nor held.",
            "Forward",
            "ACK-06",
            [(_said("b1", over=["m1"]), [maybe]), (_said("b2", over=["x"]), [maybe]), (_said("b3", "x"), [maybe])],
        ),
        (
            "no-way-back-from-acknowledged",
            "Named, then only in a filter.",
            "Forward Strangers",
            "ACK-05 ACK-06",
            [(_said("b1", "m1"), [one]), (_said("b2", over=["m1"]), [one])],
        ),
        (
            "in-two-filters",
            "In the filters of two senders.",
            "Series",
            "ACK-03 ACK-04",
            [(_said("b1", over=["m1"]), [maybe]), (_said("c1", sender="carol", over=["m1"]), probable)],
        ),
        (
            "in-three-filters",
            "In the filters of three senders.",
            "Series",
            "ACK-02 ACK-03",
            [
                (_said("b1", over=["m1"]), [maybe]),
                (_said("c1", sender="carol", over=["m1"]), probable),
                (_said("d1", sender="dave", over=["m1"]), probable),
            ],
        ),
        (
            "in-two-filters-of-one-sender",
            "In two filters of the same sender.",
            "Series",
            "ACK-02 ACK-03",
            [(_said("b1", over=["m1"]), [maybe]), (_said("b2", over=["m1"]), probable)],
        ),
        (
            "by-a-sync",
            "A sync message names one and holds another.",
            "AnyMessage",
            "ACK-07 SYNC-12",
            [(_said("s", "m1", kind="sync", over=["m2"]), [_state(possibly="m2", acknowledged="m1")])],
        ),
        (
            "by-syncs-of-one-id",
            "Two sync messages with the same ID.",
            "AnyMessage",
            "ACK-07 SYNC-10",
            [(_said("s", "m1", kind="sync"), [one]), (_said("s", "m2", kind="sync"), [_state(acknowledged="m1 m2")])],
        ),
        (
            "by-a-message-that-waits",
            "A message that waits for another names one and holds another.",
            "AnyMessage",
            "ACK-07 RECV-11",
            [(_said("b2", "never-sent", "m1", over=["m2"]), [_state(possibly="m2", acknowledged="m1")])],
        ),
        (
            "by-own-traffic",
            "A message under the own ID names one and holds another.",
            "OwnTraffic",
            "STATE-14 RECV-01",
            [
                (
                    _said("a9", "m1", sender=PARTICIPANT, over=["m2"]),
                    [untouched, warned(_state(possibly="m2"), "AMB-21")],
                )
            ],
        ),
        (
            "by-a-foreign-filter",
            "The filter cannot be read, the causal history names one.",
            "ForeignFilter Mention",
            "ACK-01 ACK-02",
            [(_said("b1", "m1", raw=b"\xff" * 37), [one, _state("m2 m3", "m1", "AMB-54")])],
        ),
        (
            "by-a-foreign-filter-of-zeros",
            "The filter cannot be read or holds nothing, the causal history names one.",
            "ForeignFilter Mention",
            "ACK-01 ACK-02",
            [(_said("b1", "m1", raw=bytes(37)), [one])],
        ),
        (
            "by-a-filter-of-no-length",
            "The filter has no length.",
            "ForeignFilter Mention",
            "ACK-01 ACK-02",
            [(_said("b1", "m1", raw=b""), [one])],
        ),
        ("without-a-filter", "There is no filter.", "NoFilter Mention", "ACK-01 RECV-03", [(_said("b1", "m1"), [one])]),
        (
            "by-a-copy",
            "The same message again, with a fresher filter.",
            "Copy",
            "RECV-03 ACK-02",
            [
                (_said("b1", over=["x"]), [untouched]),
                (_said("b1", over=["m1"]), [untouched, {**maybe, "position": "AMB-23"}]),
            ],
        ),
        (
            "by-a-hybrid",
            "An ephemeral message names one.",
            "Hybrid",
            "ACK-01",
            [(_said("e1", "m1", kind="ephemeral"), [untouched, {**one, "position": "AMB-37"}])],
        ),
    ]


def _vector(row: Row, requirements: list[str]) -> Vector:
    slug, comment, flags, _, steps = row
    fields = {"participant_id": PARTICIPANT, "own": OWN}
    told = [{"received": received, "outcomes": outcomes} for received, outcomes in steps]
    return stepwise(slug, comment, flags.split(), requirements, fields, told)
