"""The Lamport timestamp in the proposal of 2024: it counts from 0, and has nothing to do with the time.

Sections "Participant state", "Send message", "Process message" and "Periodic sync message" of the proposal. It says no
more than that sending increases the timestamp, and that what is processed raises it to that of the message; so every
outcome that goes a little further is legal, too.
"""

from __future__ import annotations

from sds_reference.revision import Revision

from ....vectors.model import Note, Outcome, Vector, legal, vector
from .lamport import NOW, sent, what_happens
from .register import PROPOSAL, group
from .texts import of_proposal
from .wire_bytes import LARGEST_INT32 as LARGEST

EARLY = 100_000_000
"""An epoch time that would fit an int32."""
PLAUSIBLE = 1_000
"""A timestamp that is so much greater than it need be is no count of messages."""

NOTES = {
    "FromZero": Note("The timestamp of a channel in which nothing has happened is 0.", ("FORUM-09",)),
    "Increase": Note("Sending adds one. More is an increase as well.", ("FORUM-15",)),
    "NoClock": Note("Whatever the time is, it does not matter.", ("FORUM-09", "FORUM-15")),
    "Delivery": Note(
        "What is processed raises a smaller timestamp to its own; a usual Lamport clock adds one.",
        ("FORUM-23", "AMB-16"),
    ),
    "SyncKeeps": Note("A sync message that is sent has the timestamp there is. One more is a warning.", ("FORUM-35",)),
    "SyncCounts": Note("A sync message that is received moves the timestamp like any other.", ("FORUM-37",)),
    "Silent": Note("The proposal does not say whether it moves the timestamp.", ("FORUM-23", "FORUM-39", "AMB-21")),
    "Overflow": Note(
        "At the end of an int32 a timestamp never wraps: refusing to send is legal, and so is staying at the largest.",
        ("FORUM-04", "AMB-14"),
    ),
}


@group("lamport", "lamport", "What sending and receiving make of the Lamport timestamp of a channel.", NOTES, PROPOSAL)
def forum_lamport(revision: Revision) -> list[Vector]:
    """Send, sync, delivery, what is left open, and the end of an int32."""
    return [*_sending(), *_syncing(), *_receiving(), *_open(), *_overflow()]


def case(
    slug: str, comment: str, flags: str, shorts: str, happens: tuple[str, int, int, int | None], *outcomes: Outcome
) -> Vector:
    """A vector; what happens is an operation, the timestamp before it, the time, and the timestamp that comes."""
    return vector(slug, comment, flags, of_proposal(shorts), what_happens(*happens), *outcomes)


def _reaching(after: int, sends: bool = False) -> tuple[Outcome, Outcome]:
    """Exactly this timestamp, or a little beyond it."""
    outcome: Outcome = sent(after) if sends else {"local": str(after)}
    return outcome, {**outcome, "up_to": str(min(after + PLAUSIBLE, LARGEST))}


def _sending() -> list[Vector]:
    rows = (
        ("first", "The first message of a channel.", "FromZero Increase", "09 15", 0, EARLY),
        ("first-today", "The first message, at a time that no int32 holds.", "FromZero NoClock", "09 15", 0, NOW),
        ("first-at-once", "The first message, a millisecond into the epoch.", "FromZero NoClock", "09 15", 0, 1),
        ("second", "The second message.", "Increase", "15", 1, EARLY),
        ("far-behind-the-clock", "The time is far ahead.", "Increase NoClock", "15", 41, NOW),
        ("at-the-clock", "The timestamp is what the time is.", "Increase NoClock", "15", EARLY, EARLY),
        ("ahead-of-the-clock", "The timestamp is ahead of the time.", "Increase NoClock", "15", 2 * EARLY, EARLY),
        ("at-2-16", "At 2^16-1.", "Increase", "15", 2**16 - 1, EARLY),
        ("at-2-24", "At 2^24, beyond which floats of 32 bits skip numbers.", "Increase", "15", 2**24, EARLY),
        ("at-2-30", "At 2^30.", "Increase", "15", 2**30, EARLY),
    )
    return [
        case(f"send-{slug}", comment, flags, ids, ("send", local, now_ms, None), *_reaching(local + 1, True))
        for slug, comment, flags, ids, local, now_ms in rows
    ]


def _syncing() -> list[Vector]:
    rows = (
        ("first", "A sync message before anything else.", "SyncKeeps FromZero", 0, EARLY),
        ("after-one", "A sync message after the first message.", "SyncKeeps", 1, EARLY),
        ("far-behind-the-clock", "The time is far ahead.", "SyncKeeps NoClock", 7, NOW),
        ("ahead-of-the-clock", "The timestamp is ahead of the time.", "SyncKeeps NoClock", 2 * EARLY, EARLY),
    )
    return [
        case(f"sync-{slug}", comment, flags, "35", ("send-sync", local, now_ms, None), sent(local))
        for slug, comment, flags, local, now_ms in rows
    ]


def _receiving() -> list[Vector]:
    rows = (
        ("greater", "A greater timestamp is taken over.", 1000, 5000),
        ("greater-by-one", "Greater by one.", 1000, 1001),
        ("equal", "An equal timestamp.", 1000, 1000),
        ("smaller", "A smaller timestamp.", 1000, 999),
        ("much-smaller", "A much smaller timestamp.", 1_000_000, 3),
        ("zero", "A timestamp of zero.", 1000, 0),
        ("at-first", "Before anything else.", 0, 1000),
        ("zero-at-first", "A timestamp of zero, before anything else.", 0, 0),
        ("beyond-the-clock", "A timestamp that is ahead of the time.", 1000, 2 * EARLY),
        ("at-2-24", "2^24+1 is taken over exactly.", 1000, 2**24 + 1),
        ("near-the-end", "2^31-2000 is taken over exactly.", 1000, 2**31 - 2000),
    )
    kinds = (
        ("deliver", "deliver", "Delivery", "23", rows),
        ("sync-received", "receive-sync", "SyncCounts Delivery", "37 23", rows[:5]),
    )
    return [
        case(f"{kind}-{slug}", comment, flags, ids, (does, local, EARLY, received), *_reaching(max(local, received)))
        for kind, does, flags, ids, some in kinds
        for slug, comment, local, received in some
    ]


def _open() -> list[Vector]:
    kept, moved = _reaching(1000), _reaching(5000)
    rows = (
        ("waiting-from-ahead", "A message from ahead waits for what it depends on.", "receive-waiting", 5000),
        ("own-from-ahead", "A message with the own ID for sender comes, from ahead.", "receive-own", 5000),
        ("ephemeral-received", "An ephemeral message is received.", "receive-ephemeral", None),
        ("ephemeral-sent", "An ephemeral message is sent.", "send-ephemeral", None),
    )
    return [
        case(slug, comment, "Silent", "23", (does, 1000, EARLY, received), *kept, *(moved if received else ()))
        for slug, comment, does, received in rows
    ]


def _overflow() -> list[Vector]:
    def refused(local: int) -> Outcome:
        return {"rejected": True, "local": str(local), "position": "AMB-14"}

    below = LARGEST - 1
    comment = "A message with the greatest timestamp there is."
    delivered = ("deliver", 1000, EARLY, LARGEST)
    sending = {
        "below-the-end": (below, sent(LARGEST), refused(below)),
        "at-the-end": (LARGEST, refused(LARGEST), legal(sent(LARGEST), "AMB-14")),
    }
    out = [
        case(f"send-{slug}", f"The timestamp is {at}.", "Overflow", "15 04", ("send", at, EARLY, None), *outcomes)
        for slug, (at, *outcomes) in sending.items()
    ]
    taken = {"local": str(LARGEST)}
    return [*out, case("deliver-largest", comment, "Overflow Delivery", "23 04", delivered, taken, refused(1000))]
