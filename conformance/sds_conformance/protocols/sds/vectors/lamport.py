"""The Lamport timestamp of a channel: what each thing that can happen makes of it.

Sections "Send Message", "Deliver Message", "Periodic Sync Message" and "Ephemeral Messages".
"""

from __future__ import annotations

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


def what_happens(operation: str, local: int, now_ms: int, received: int | None = None) -> dict[str, str]:
    """The fields of a vector; their order is that of the file."""
    fields = {"operation": operation, "local": str(local), "now_ms": str(now_ms)}
    return fields if received is None else {**fields, "received": str(received)}


def sent(value: int) -> Outcome:
    """What is left of a sending: the timestamp of the channel, which is that of the message."""
    return {"local": str(value), "sent": str(value)}


def _sending() -> list[Vector]:
    ahead = NOW + HOUR
    seconds = "A timestamp that would be in seconds is long past."
    rows = (
        ("clock-far-ahead", "An hour after the last message.", "Running", NOW - HOUR, NOW, NOW),
        ("clock-ahead-by-two", "Two milliseconds after the last message.", "Running", NOW - 2, NOW, NOW),
        ("clock-ahead-by-one", "A millisecond later both rules give the same.", "Running", NOW - 1, NOW, NOW),
        ("clock-equal", "In the same millisecond.", "Frozen", NOW, NOW, NOW + 1),
        ("clock-behind-by-one", "The clock has stepped back by a millisecond.", "Frozen", NOW + 1, NOW, NOW + 2),
        ("clock-far-behind", "The timestamp is an hour ahead of the clock.", "Frozen", ahead, NOW, ahead + 1),
    )
    without_sync = (
        ("seconds-are-no-milliseconds", seconds, "Running", NOW // 1000, NOW, NOW),
        ("beyond-32-bits", "At 2^32.", "Frozen Large", 2**32, 2**32 - 1, 2**32 + 1),
        ("at-2-53", "At 2^53, beyond which doubles skip numbers.", "Frozen Large", 2**53, NOW, 2**53 + 1),
        ("beyond-2-53", "At 2^53+1.", "Frozen Large", 2**53 + 1, NOW, 2**53 + 2),
    )
    out = []
    for slug, comment, flags, local, now_ms, after in (*rows, *without_sync):
        ids, fields = of_sds("SEND-01 SEND-02 SEND-03"), what_happens("send", local, now_ms)
        out.append(vector(f"send-{slug}", comment, flags, ids, fields, sent(after)))
    for slug, comment, flags, local, now_ms, after in rows:
        ids, fields = of_sds("SYNC-03 SYNC-14"), what_happens("send-sync", local, now_ms)
        kept = warned({"local": str(local), "sent": str(after)}, "AMB-18")
        out.append(vector(f"sync-{slug}", comment, f"{flags} SyncAdvances", ids, fields, sent(after), kept))
    return out


def _delivering() -> list[Vector]:
    both = "The timestamp is ahead of the clock, and what comes is ahead of the timestamp."
    rows = (
        ("greater", "A greater timestamp is taken over, with nothing added.", NOW, NOW + HOUR),
        ("greater-by-one", "Greater by one.", NOW, NOW + 1),
        ("equal", "An equal timestamp.", NOW, NOW),
        ("smaller", "A smaller timestamp.", NOW, NOW - HOUR),
        ("zero", "A timestamp of zero.", NOW, 0),
        ("ahead-of-both", both, NOW + 10, NOW + 20),
        ("between", "What comes is ahead of the clock and behind the timestamp.", NOW + 20, NOW + 10),
        ("beyond-2-53", "2^53+1 is taken over exactly.", NOW, 2**53 + 1),
        ("largest-mandatory", "2^53+10 is taken over exactly.", NOW, SAFE),
    )
    out = []
    for slug, comment, local, received in rows:
        flags = "Delivery Large" if received > 2**53 else "Delivery"
        ids, fields = of_sds("DELIVER-01 DELIVER-02"), what_happens("deliver", local, NOW, received)
        out.append(vector(f"deliver-{slug}", comment, flags, ids, fields, {"local": str(max(local, received))}))
    return out


def _unmoved() -> list[Vector]:
    ahead = NOW + HOUR
    waits = "A message from ahead waits for what it depends on."
    own, heard = "A message with the own ID for sender comes, from ahead.", "An ephemeral message is received."
    one_more, moved = {"local": str(NOW + 1)}, {"local": str(ahead)}
    rows: tuple[tuple[str, str, str, str, int | None, Outcome], ...] = (
        ("waiting-from-ahead", waits, "DELIVER-03", "receive-waiting", ahead, warned(moved, "AMB-15")),
        ("sync-from-ahead", "A sync message from ahead.", "SYNC-15", "receive-sync", ahead, warned(moved, "AMB-17")),
        ("own-from-ahead", own, "RECV-01", "receive-own", ahead, warned(moved, "AMB-21")),
        ("ephemeral-received", heard, "EPHEMERAL-07", "receive-ephemeral", None, one_more),
        ("ephemeral-sent", "An ephemeral message is sent.", "EPHEMERAL-07", "send-ephemeral", None, one_more),
    )
    out = []
    for slug, comment, ids, does, received, other in rows:
        fields = what_happens(does, NOW, NOW, received)
        out.append(vector(slug, comment, "Unmoved", of_sds(ids), fields, {"local": str(NOW)}, other))
    return out


def _overflow() -> list[Vector]:
    out = []
    ends = {"below-the-end": LARGEST - 1, "above-2-63": 2**63, "at-2-63": SIGNED, "at-the-end": LARGEST}
    for slug, local in ends.items():
        refused: Outcome = {"rejected": True, "local": str(local), "position": "AMB-14"}
        stuck = legal(sent(local), "AMB-14")
        outcomes = [sent(local + 1), refused]
        comment = f"The timestamp is {local}."
        if local == SIGNED:  # where signed integers end, that is the largest
            outcomes.append(stuck)
        elif local == LARGEST:
            comment, outcomes = "Nothing can follow 2^64-1.", [refused, stuck]
        fields = what_happens("send", local, NOW)
        out.append(vector(f"send-{slug}", comment, "Overflow Large", of_sds("SEND-01"), fields, *outcomes))
    for slug, received in (("2-63", 2**63), ("largest", LARGEST)):
        kept, signed = (legal({"local": str(local)}, "AMB-14") for local in (NOW, SIGNED))
        outcomes = [{"local": str(received)}, {"rejected": True, **kept}, kept, signed]
        comment, fields = f"A message with the timestamp {received}.", what_happens("deliver", NOW, NOW, received)
        flags = "Overflow Large Delivery"
        out.append(vector(f"deliver-{slug}", comment, flags, of_sds("DELIVER-01"), fields, *outcomes))
    return out
