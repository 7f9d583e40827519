"""What becomes of two records, by their clocks and by the default of the text (section "Conflicts").

Only what the text and the positions settle: what the application finds under which key. How clocks and records look
that have lost is free (CA-8).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clearskies_reference import AccessLevel
from sds_harness.clearskies.clubs import READ_ONLY, READ_WRITE
from sds_harness.clearskies.trace import Text

from ....vectors.model import Note, Outcome, Vector, legal, vector, warned
from .fields import LAST, LATER, NOON, A, B, C, Fields, update
from .register import group

KEY = "photo-1234"
NOTES = {
    "Newer": Note("A record that descends from another replaces it, whatever their times.", ("CSDB-50", "CSDB-55")),
    "Older": Note(
        "A record from which the other one descends is discarded, whatever their times.", ("CSDB-49", "CSDB-55")
    ),
    "Equal": Note("A record with an equal clock is discarded.", ("CSDB-48",)),
    "Concurrent": Note(
        "Neither descends from the other: the largest update_time wins, in whichever order they arrive.",
        ("CSDB-39", "CSDB-51", "CSDB-54"),
    ),
    "Tie": Note(
        "Equal times, or such as differ by less than a second: whichever wins, it is the same one on all peers.",
        ("CSDB-54", "CA-9"),
    ),
    "Zone": Note("Times are points in time, however they are written, or refused if not in UTC.", ("CSDB-11",)),
    "Merged": Note("What has won knows of what has lost.", ("CSDB-52", "CA-8")),
    "Deleted": Note(
        "A deletion is a change like any other: it comes in conflict with others, and does not vanish.",
        ("CSDB-56", "CA-13"),
    ),
    "Readers": Note(
        "At a read-only peer, with signed messages. What it counts in the clock of a record nobody gets to see, so "
        "what descends arrives before what it descends from, or has the larger time as well.",
        ("CSDB-02", "CSDB-05", "CA-2"),
    ),
    "Wide": Note("Numbers of 64 bits in clocks: who loses some takes other clocks for equal.", ("CSDB-41", "CA-6")),
}

BOTH = ((0, 1), (1, 0))
LATE_FIRST = ((1, 0),)
ORDER_DECIDES = warned({"depends_on_order": True}, "CA-9")


def found(**values: str) -> Outcome:
    """What is under keys, and under which there is nothing: those whose value is ""."""
    named = {KEY if name == "it" else name: value for name, value in values.items()}
    return {
        "keys": {key: value for key, value in named.items() if value},
        "gone": [key for key, value in named.items() if not value],
    }


def settled(
    slug: str,
    comment: str,
    flags: str,
    shorts: str,
    updates: Sequence[Fields],
    orders: Iterable[Sequence[int]],
    *outcomes: Outcome,
    level: AccessLevel = READ_WRITE,
) -> Vector:
    fields = {"access_level": level.value, "updates": list(updates), "orders": [list(order) for order in orders]}
    if level is READ_ONLY:
        slug, flags = f"{slug}-at-a-reader", f"{flags} Readers"
    return vector(slug, comment, flags, [f"CSDB-{short}" for short in shorts.split()], fields, *outcomes)


@group("conflicts", "settlement", "Updates in some orders of arrival, and what is found under their keys.", NOTES)
def conflicts(revision: Text) -> list[Vector]:
    """What is settled."""
    return [
        *_ordered(READ_WRITE),
        *_ordered(READ_ONLY),
        *_equal(),
        *_concurrent(READ_WRITE),
        *_concurrent(READ_ONLY),
        *_times(),
        *_wide(),
        *_merged(),
        *_deleted(READ_WRITE),
        *_deleted(READ_ONLY),
    ]


def _ordered(level: AccessLevel) -> list[Vector]:
    first = update(A, 2, {A: 1}, value='"first"', time=LATER)
    second = update(A, 3, {A: 2}, value='"second"', time=NOON, seen=True)
    others = update(B, 2, {A: 1, B: 1}, value='"of B"', time=NOON, seen=True)
    chain = (
        update(A, 2, {A: 1}, value='"first"', time=LAST),
        update(B, 2, {A: 1, B: 1}, value='"second"', time=LATER, seen=True),
        update(C, 2, {A: 1, B: 1, C: 1}, value='"third"', time=NOON, seen=True),
    )
    every = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
    late_first = ((2, 0, 1), (2, 1, 0))
    writes = level is READ_WRITE
    flags, shorts = ("Newer Older", "49 50 55") if writes else ("Older", "49 55")
    return [
        settled(
            "newer-with-a-smaller-time",
            "The second change of A has the smaller time.",
            flags,
            shorts,
            [first, second],
            BOTH if writes else LATE_FIRST,
            found(it='"second"'),
            level=level,
        ),
        settled(
            "newer-of-another-with-a-smaller-time",
            "B has changed what A wrote, with a clock that is behind.",
            flags,
            shorts,
            [first, others],
            BOTH if writes else LATE_FIRST,
            found(it='"of B"'),
            level=level,
        ),
        settled(
            "a-chain-with-falling-times",
            "Three changes, each with a smaller time than the one before.",
            flags,
            shorts,
            chain,
            every if writes else late_first,
            found(it='"third"'),
            level=level,
        ),
    ]


def _equal() -> list[Vector]:
    first = update(A, 2, {A: 1}, value='"first"', time=NOON)
    second = update(A, 3, {A: 1}, value='"second"', time=LATER)
    return [
        settled(
            "equal-clocks",
            "Another revision and a larger time, and the same clock.",
            "Equal",
            "48",
            [first, second],
            [(0, 1)],
            found(it='"first"'),
        ),
    ]


def _concurrent(level: AccessLevel) -> list[Vector]:
    def of_a(time: str) -> Fields:
        return update(A, 3, {A: 2, B: 1}, value='"of A"', time=time)

    def of_b(time: str) -> Fields:
        return update(B, 3, {A: 1, B: 2}, value='"of B"', time=time)

    base = update(A, 2, {A: 1}, value='"first"', time=NOON)
    one = update(A, 3, {A: 2}, value='"of A"', time=LATER, seen=True)
    other = update(B, 2, {A: 1, B: 1}, value='"of B"', time=LAST, seen=True)
    return [
        settled(
            "largest-time-of-b",
            "{A:2, B:1} and {A:1, B:2}: B has the larger time.",
            "Concurrent",
            "39 51 54",
            [of_a(NOON), of_b(LATER)],
            BOTH,
            found(it='"of B"'),
            level=level,
        ),
        settled(
            "largest-time-of-a",
            "{A:2, B:1} and {A:1, B:2}: A has the larger time.",
            "Concurrent",
            "39 51 54",
            [of_a(LATER), of_b(NOON)],
            BOTH,
            found(it='"of A"'),
            level=level,
        ),
        settled(
            "after-one-that-both-knew",
            "Two changes of one version.",
            "Concurrent",
            "39 51 54",
            [base, one, other],
            ((0, 1, 2), (0, 2, 1)),
            found(it='"of B"'),
            level=level,
        ),
        settled(
            "the-same-time",
            "Equal times: either wins.",
            "Concurrent Tie",
            "54",
            [of_a(NOON), of_b(NOON)],
            BOTH,
            legal(found(it='"of A"'), "CA-9"),
            legal(found(it='"of B"'), "CA-9"),
            ORDER_DECIDES,
            level=level,
        ),
    ]


def _times() -> list[Vector]:
    def times(slug: str, comment: str, flags: str, of_a: str, of_b: str, *outcomes: Outcome) -> Vector:
        two = (
            update(A, 2, {A: 1}, value='"of A"', time=of_a),
            update(B, 2, {B: 1}, value='"of B"', time=of_b),
        )
        return settled(slug, comment, f"Concurrent {flags}".strip(), "51 54", two, BOTH, *outcomes)

    a, b = found(it='"of A"'), found(it='"of B"')
    within = (legal(a, "CA-9"), ORDER_DECIDES)
    """Who compares seconds sees a tie."""
    return [
        times(
            "a-second-apart",
            "The last second of an hour and the first of the next.",
            "",
            "2014-02-23T12:59:59Z",
            "2014-02-23T13:00:00Z",
            b,
        ),
        times(
            "a-year-apart",
            "The last second of a year and the first of the next.",
            "",
            "2013-12-31T23:59:59Z",
            "2014-01-01T00:00:00Z",
            b,
        ),
        times(
            "seconds-and-nanoseconds",
            "Nine digits more do not make a time larger than two seconds do.",
            "",
            "2014-02-23T12:00:00.999999999Z",
            "2014-02-23T12:00:02Z",
            b,
        ),
        times("half-a-second", "12:00:00 and half a second later.", "Tie", NOON, "2014-02-23T12:00:00.5Z", b, *within),
        times(
            "tenths-and-hundredths",
            "0.09 seconds and 0.1 seconds.",
            "Tie",
            "2014-02-23T12:00:00.09Z",
            "2014-02-23T12:00:00.1Z",
            b,
            *within,
        ),
        times(
            "a-nanosecond",
            "The last of nine digits.",
            "Tie",
            "2014-02-23T12:00:00.113243778Z",
            "2014-02-23T12:00:00.113243779Z",
            b,
            *within,
        ),
        times(
            "in-another-zone",
            "13:30 two hours east of UTC is before 12:00 in UTC.",
            "Zone",
            "2014-02-23T13:30:00+02:00",
            NOON,
            b,
        ),
    ]


def _wide() -> list[Vector]:
    low, high = 1 << 53, (1 << 53) + 1
    of_a = update(A, 2, {A: high, B: 1}, value='"of A"', time=LATER)
    of_b = update(B, 2, {A: low, B: 2}, value='"of B"', time=NOON)
    lost = warned(found(it='"of B"'), "CA-6")
    return [
        settled(
            "concurrent-above-2-53",
            "{A:2^53+1, B:1} and {A:2^53, B:2}: A has the larger time. Rounded, B would descend from A.",
            "Wide Concurrent",
            "41 51 54",
            [of_a, of_b],
            BOTH,
            found(it='"of A"'),
            lost,
        )
    ]


def _merged() -> list[Vector]:
    winner = update(A, 2, {A: 2}, value='"of A"', time=LATER)
    loser = update(B, 3, {B: 2}, value='"of B"', time=NOON)
    before_it = update(B, 2, {B: 1}, value='"before that of B"', time=LAST)
    after_both = update(C, 2, {A: 2, B: 2, C: 1}, value='"of C"', time="2014-02-23T11:00:00Z", seen=True)
    return [
        settled(
            "after-the-conflict",
            "C has changed what came of a conflict, with a clock that is behind.",
            "Merged Newer",
            "50 55",
            [winner, loser, after_both],
            ((0, 1, 2), (1, 0, 2)),
            found(it='"of C"'),
        ),
        settled(
            "before-the-loser",
            "What the loser descends from comes late, and has the largest time.",
            "Merged Older",
            "52",
            [winner, loser, before_it],
            [(0, 1, 2)],
            found(it='"of A"'),
        ),
    ]


def _deleted(level: AccessLevel) -> list[Vector]:
    base = update(A, 2, {A: 1}, value='"first"', time=LATER)
    deletion = update(A, 3, {A: 2}, deleted=True, time=NOON, seen=True)
    others = update(B, 2, {A: 1, B: 1}, deleted=True, time=NOON, seen=True)
    writes = level is READ_WRITE
    flags, shorts = ("Deleted Newer Older", "49 50 56") if writes else ("Deleted Older", "49 56")

    there = {**update(A, 2, {A: 1}, value='"first"'), "deleted": False}

    def against(edit: str, delete: str) -> list[Fields]:
        return [
            update(A, 3, {A: 2, B: 1}, value='"of A"', time=edit),
            update(B, 3, {A: 1, B: 2}, deleted=True, time=delete),
        ]

    return [
        settled(
            "deleted-with-a-smaller-time",
            "A has deleted its record, with a clock that is behind.",
            flags,
            shorts,
            [base, deletion],
            BOTH if writes else LATE_FIRST,
            found(it=""),
            level=level,
        ),
        settled(
            "deleted-by-another",
            "B has deleted what A wrote.",
            flags,
            shorts,
            [base, others],
            BOTH if writes else LATE_FIRST,
            found(it=""),
            level=level,
        ),
        settled(
            "deleted-after-the-edit",
            "A deletion and a change that did not know of it: the deletion is later.",
            "Deleted Concurrent",
            "51 54 56",
            against(NOON, LATER),
            BOTH,
            found(it=""),
            level=level,
        ),
        settled(
            "deleted-before-the-edit",
            "A deletion and a change that did not know of it: the change is later.",
            "Deleted Concurrent",
            "51 54",
            against(LATER, NOON),
            BOTH,
            found(it='"of A"'),
            level=level,
        ),
        settled(
            "not-deleted",
            "An update that says that its record is not deleted.",
            "Deleted",
            "13",
            [there],
            [(0,)],
            found(it='"first"'),
            level=level,
        ),
    ]
