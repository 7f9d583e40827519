"""The Lamport timestamp of a channel: what each thing that can happen makes of it.

Sections "Send Message", "Deliver Message", "Periodic Sync Message" and "Ephemeral Messages".
"""

from __future__ import annotations

from typing import Any

from sds_reference.revision import Revision

from ....vectors.model import Note, Outcome, Vector, legal, vector, warned
from .register import group
from .texts import of_sds

NOW = 1_800_000_000_000
HOUR = 3_600_000
SAFE = 2**53 + 10
"""Timestamps up to here are mandatory (AMB-14)."""
LARGEST = 2**64 - 1
SIGNED = 2**63 - 1

NOTES = {
    "Running": Note("The clock is ahead of the timestamp: sending takes the time.", ("SDS-SEND-01", "SDS-STATE-03")),
    "Frozen": Note("The clock is not ahead: sending adds one.", ("SDS-SEND-02", "AMB-13")),
    "Delivery": Note(
        "Delivery takes over a greater timestamp, adds nothing, and ignores others.", ("SDS-DELIVER-01", "AMB-16")
    ),
    "Unmoved": Note(
        "What is not delivered does not move the timestamp, nor do ephemeral messages. Where it moves, that is a "
        "warning.",
        ("SDS-DELIVER-03", "SDS-SYNC-15", "SDS-EPHEMERAL-07", "AMB-15", "AMB-17"),
    ),
    "SyncAdvances": Note("A sync message that is sent advances the timestamp.", ("SDS-SYNC-14", "AMB-18")),
    "Large": Note("Beyond 32 and 53 bits, where numbers of some languages end.", ("SDS-MSG-05",)),
    "Overflow": Note(
        "At the end of the range a timestamp never wraps. Legal are refusing to send, staying at the largest, and "
        "refusing or dropping a message from there.",
        ("AMB-14",),
    ),
}


@group("lamport", "lamport", "What sending and receiving make of the Lamport timestamp of a channel.", NOTES)
def lamport(revision: Revision) -> list[Vector]:
    """Send, sync, delivery and what leaves the timestamp alone; with the clock ahead, behind and equal; overflow."""
    return [*_sending(), *_delivering(), *_unmoved(), *_overflow()]


def case(slug: str, comment: str, flags: str, requirements: str, *rest: Any) -> Vector:
    """A vector; ``rest`` is that of ``stamped``."""
    return stamped(slug, comment, flags, of_sds(requirements), *rest)


def stamped(
    slug: str,
    comment: str,
    flags: str,
    requirements: list[str],
    operation: str,
    local: int,
    now_ms: int,
    received: int | None,
    *outcomes: Outcome,
) -> Vector:
    """A vector; the order of the fields is that of the file."""
    fields = {"operation": operation, "local": str(local), "now_ms": str(now_ms)}
    if received is not None:
        fields["received"] = str(received)
    return vector(slug, comment, flags.split(), requirements, fields, *outcomes)


def _sent(value: int) -> Outcome:
    return {"local": str(value), "sent": str(value)}


def _sending() -> list[Vector]:
    rows = (
        ("clock-far-ahead", "An hour after the last message.", "Running", NOW - HOUR, NOW, NOW),
        ("clock-ahead-by-two", "Two milliseconds after the last message.", "Running", NOW - 2, NOW, NOW),
        ("clock-ahead-by-one", "A millisecond later both rules give the same.", "Running", NOW - 1, NOW, NOW),
        ("clock-equal", "In the same millisecond.", "Frozen", NOW, NOW, NOW + 1),
        ("clock-behind-by-one", "The clock has stepped back by a millisecond.", "Frozen", NOW + 1, NOW, NOW + 2),
        ("clock-far-behind", "The timestamp is an hour ahead of the clock.", "Frozen", NOW + HOUR, NOW, NOW + HOUR + 1),
        (
            "seconds-are-no-milliseconds",
            "A timestamp that would be in seconds is long past.",
            "Running",
            NOW // 1000,
            NOW,
            NOW,
        ),
        ("beyond-32-bits", "At 2^32.", "Frozen Large", 2**32, 2**32 - 1, 2**32 + 1),
        ("at-2-53", "At 2^53, beyond which doubles skip numbers.", "Frozen Large", 2**53, NOW, 2**53 + 1),
        ("beyond-2-53", "At 2^53+1.", "Frozen Large", 2**53 + 1, NOW, 2**53 + 2),
    )
    out = []
    for slug, comment, flags, local, now_ms, after in rows:
        out.append(
            case(f"send-{slug}", comment, flags, "SEND-01 SEND-02 SEND-03", "send", local, now_ms, None, _sent(after))
        )
    for slug, comment, flags, local, now_ms, after in rows[:6]:
        kept = warned({"local": str(local), "sent": str(after)}, "AMB-18")
        out.append(
            case(
                f"sync-{slug}",
                comment,
                f"{flags} SyncAdvances",
                "SYNC-03 SYNC-14",
                "send-sync",
                local,
                now_ms,
                None,
                _sent(after),
                kept,
            )
        )
    return out


def _delivering() -> list[Vector]:
    rows = (
        ("greater", "A greater timestamp is taken over, with nothing added.", "", NOW, NOW + HOUR, NOW + HOUR),
        ("greater-by-one", "Greater by one.", "", NOW, NOW + 1, NOW + 1),
        ("equal", "An equal timestamp.", "", NOW, NOW, NOW),
        ("smaller", "A smaller timestamp.", "", NOW, NOW - HOUR, NOW),
        ("zero", "A timestamp of zero.", "", NOW, 0, NOW),
        (
            "ahead-of-both",
            "The timestamp is ahead of the clock, and what comes is ahead of the timestamp.",
            "",
            NOW + 10,
            NOW + 20,
            NOW + 20,
        ),
        ("between", "What comes is ahead of the clock and behind the timestamp.", "", NOW + 20, NOW + 10, NOW + 20),
        ("beyond-2-53", "2^53+1 is taken over exactly.", " Large", NOW, 2**53 + 1, 2**53 + 1),
        ("largest-mandatory", "2^53+10 is taken over exactly.", " Large", NOW, SAFE, SAFE),
    )
    return [
        case(
            f"deliver-{slug}",
            comment,
            f"Delivery{flags}",
            "DELIVER-01 DELIVER-02",
            "deliver",
            local,
            NOW,
            received,
            {"local": str(after)},
        )
        for slug, comment, flags, local, received, after in rows
    ]


def _unmoved() -> list[Vector]:
    ahead = NOW + HOUR
    kept = {"local": str(NOW)}
    return [
        case(
            "waiting-from-ahead",
            "A message from ahead waits for what it depends on.",
            "Unmoved",
            "DELIVER-03",
            "receive-waiting",
            NOW,
            NOW,
            ahead,
            kept,
            warned({"local": str(ahead)}, "AMB-15"),
        ),
        case(
            "sync-from-ahead",
            "A sync message from ahead.",
            "Unmoved",
            "SYNC-15",
            "receive-sync",
            NOW,
            NOW,
            ahead,
            kept,
            warned({"local": str(ahead)}, "AMB-17"),
        ),
        case(
            "own-from-ahead",
            "A message with the own ID for sender comes, from ahead.",
            "Unmoved",
            "RECV-01",
            "receive-own",
            NOW,
            NOW,
            ahead,
            kept,
            warned({"local": str(ahead)}, "AMB-21"),
        ),
        case(
            "ephemeral-received",
            "An ephemeral message is received.",
            "Unmoved",
            "EPHEMERAL-07",
            "receive-ephemeral",
            NOW,
            NOW,
            None,
            kept,
            {"local": str(NOW + 1)},
        ),
        case(
            "ephemeral-sent",
            "An ephemeral message is sent.",
            "Unmoved",
            "EPHEMERAL-07",
            "send-ephemeral",
            NOW,
            NOW,
            None,
            kept,
            {"local": str(NOW + 1)},
        ),
    ]


def _overflow() -> list[Vector]:
    out = []
    for slug, local in (("below-the-end", LARGEST - 1), ("above-2-63", 2**63), ("at-2-63", SIGNED)):
        refused = {"rejected": True, "local": str(local), "position": "AMB-14"}
        out.append(
            case(
                f"send-{slug}",
                f"The timestamp is {local}.",
                "Overflow Large",
                "SEND-01",
                "send",
                local,
                NOW,
                None,
                _sent(local + 1),
                refused,
                # Where signed integers end, that is the largest.
                *([legal(_sent(local), "AMB-14")] if local == SIGNED else []),
            )
        )
    stuck = {"local": str(LARGEST), "sent": str(LARGEST), "position": "AMB-14"}
    refused = {"rejected": True, "local": str(LARGEST), "position": "AMB-14"}
    comment = "Nothing can follow 2^64-1."
    out.append(
        case("send-at-the-end", comment, "Overflow Large", "SEND-01", "send", LARGEST, NOW, None, refused, stuck)
    )
    for slug, received in (("2-63", 2**63), ("largest", LARGEST)):
        kept = legal({"local": str(NOW)}, "AMB-14")
        ends = legal({"local": str(SIGNED)}, "AMB-14")
        out.append(
            case(
                f"deliver-{slug}",
                f"A message with the timestamp {received}.",
                "Overflow Large Delivery",
                "DELIVER-01",
                "deliver",
                NOW,
                NOW,
                received,
                {"local": str(received)},
                {"rejected": True, **kept},
                kept,
                ends,
            )
        )
    return out
