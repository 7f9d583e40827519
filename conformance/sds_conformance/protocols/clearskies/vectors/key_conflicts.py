"""What becomes of records that come to have one key, and of one whose key changes.

A key finds one record: which one is settled, and not what becomes of the other (CA-8).
"""

from __future__ import annotations

from sds_harness.clearskies.trace import Text

from ....vectors.model import Note, Vector, legal
from .conflicts import BOTH, ORDER_DECIDES, found, settled
from .fields import LAST, LATER, NOON, A, B, Fields, update, uuid
from .register import group

NOTES = {
    "SameKey": Note("Two records with one key are in conflict, too.", ("CSDB-38", "CSDB-40", "CA-8")),
    "Renamed": Note("A record whose key changes is the same record.", ("CSDB-22", "CSDB-23", "CSDB-24")),
    "Concurrent": Note("The largest update_time wins, in whichever order they arrive.", ("CSDB-54",)),
    "Newer": Note("A record that descends from another replaces it.", ("CSDB-50",)),
    "Tie": Note("Equal times: whichever wins, it is the same one on all peers.", ("CSDB-54", "CA-9")),
    "Deleted": Note("A deleted record has no key.", ("CSDB-56", "CA-13")),
}


@group("key-conflicts", "settlement", "Records that come to have one key, and what is found under it.", NOTES)
def key_conflicts(revision: Text) -> list[Vector]:
    """What is settled."""
    return [*_same_key(), *_renamed()]


def _same_key() -> list[Vector]:
    def of_a(time: str) -> Fields:
        return update(A, 2, {A: 1}, of=uuid("of A"), value='"of A"', time=time)

    def of_b(time: str) -> Fields:
        return update(B, 2, {B: 1}, of=uuid("of B"), value='"of B"', time=time)

    deletion = update(A, 3, {A: 2}, of=uuid("of A"), deleted=True, time=LAST, seen=True)
    return [
        settled(
            "one-key-largest-time-of-b",
            "A and B have made records with one key: that of B has the larger time.",
            "SameKey Concurrent",
            "38 40 54",
            [of_a(NOON), of_b(LATER)],
            BOTH,
            found(it='"of B"'),
        ),
        settled(
            "one-key-largest-time-of-a",
            "The same, and that of A has the larger time.",
            "SameKey Concurrent",
            "38 40 54",
            [of_a(LATER), of_b(NOON)],
            BOTH,
            found(it='"of A"'),
        ),
        settled(
            "one-key-the-same-time",
            "The same, with equal times: either wins.",
            "SameKey Tie",
            "38 54",
            [of_a(NOON), of_b(NOON)],
            BOTH,
            legal(found(it='"of A"'), "CA-9"),
            legal(found(it='"of B"'), "CA-9"),
            ORDER_DECIDES,
        ),
        settled(
            "the-key-of-a-deleted-record",
            "A deleted record has no key, however late it was deleted.",
            "SameKey Deleted",
            "38 40",
            [of_a(NOON), deletion, of_b(LATER)],
            ((0, 1, 2), (0, 2, 1), (2, 0, 1)),
            found(it='"of B"'),
        ),
    ]


def _renamed() -> list[Vector]:
    base = update(A, 2, {A: 1}, key="old", value='"first"', time=NOON)

    def renamed(time: str) -> Fields:
        return update(A, 3, {A: 2}, key="new", value='"first"', time=time, seen=True)

    def edited(time: str) -> Fields:
        return update(B, 2, {A: 1, B: 1}, key="old", value='"of B"', time=time, seen=True)

    two = ((0, 1, 2), (0, 2, 1))
    stranger = update(B, 2, {B: 1}, of=uuid("stranger"), key="new", value='"of B"', time=LATER)
    return [
        settled(
            "renamed",
            "A has changed the key.",
            "Renamed Newer",
            "22 50",
            [base, renamed(LATER)],
            BOTH,
            found(new='"first"', old=""),
        ),
        settled(
            "renamed-before-the-edit",
            "A changes the key, and then B the value, without knowing of it.",
            "Renamed Concurrent",
            "23 39 54",
            [base, renamed(LATER), edited(LAST)],
            two,
            found(old='"of B"', new=""),
        ),
        settled(
            "renamed-after-the-edit",
            "B changes the value, and then A the key, without knowing of it.",
            "Renamed Concurrent",
            "23 39 54",
            [base, renamed(LAST), edited(LATER)],
            two,
            found(new='"first"', old=""),
        ),
        settled(
            "renamed-to-a-key-that-is-there",
            "A gives its record the key that a record of B has had before.",
            "Renamed SameKey",
            "24 38 54",
            [base, stranger, renamed(LAST)],
            ((0, 1, 2), (1, 0, 2)),
            found(new='"first"', old=""),
        ),
    ]
