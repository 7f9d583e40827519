"""What a peer answers to database.get_updates (section "Requesting Updates")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from clearskies_reference import AccessLevel
from sds_harness.clearskies.clubs import READ_ONLY, READ_WRITE
from sds_harness.clearskies.trace import Text

from ....vectors.model import Note, Outcome, Vector, legal, vector, warned
from .fields import LATER, A, B, C, Fields, update, uuid
from .register import group

NOTES = {
    "Strict": Note(
        "What is above the revision in the request is sent, and what has that revision is not.", ("CSDB-59", "CSDB-32")
    ),
    "Unnamed": Note("Records of peers that the request does not name are sent as well.", ("CSDB-34",)),
    "Order": Note(
        "Sorted by revision; equal ones in any order. Another order of different peers is against a SHOULD, and of one "
        "peer's updates none may come before an earlier one.",
        ("CSDB-33", "CSDB-37", "CA-14"),
    ),
    "Nothing": Note("Where there is nothing to send, nothing is sent.", ("CSDB-32",)),
    "Overwritten": Note(
        "Of a record that was written over, the last version is sent. To send the one before as well is needless, and "
        "does no harm.",
        ("CSDB-59", "CA-11"),
    ),
    "Deleted": Note("Deleted records are records.", ("CSDB-56", "CSDB-13")),
    "Signed": Note(
        "Your peer or its client is a read-only one: updates are signed by the read-write level, and a read-only peer "
        "repeats the messages that it received.",
        ("CSDB-05", "CSDB-16", "CSDB-18"),
    ),
    "Wide": Note(
        "Revisions of 64 bits. Who keeps no more than a double holds takes different ones for equal, which is worth a "
        "warning; who says that 64 bits survive is held to it.",
        ("CSDB-25", "CA-6"),
    ),
}


def of(by: str, rev: int) -> Fields:
    """An update of a record of its own."""
    name = f"{by[:4]}-{rev}"
    return update(by, rev, {by: 7 * rev % 1_000 + 1}, of=uuid(name), key=name, value=f'"{name}"')


FOUR = (of(A, 3), of(B, 4), of(B, 8), of(A, 9))


def _answered(
    slug: str,
    comment: str,
    flags: str,
    updates: Sequence[Fields],
    since: Mapping[str, int],
    wanted: Sequence[Fields],
    *more: Outcome,
    level: AccessLevel = READ_WRITE,
    client: AccessLevel = READ_WRITE,
) -> Vector:
    """``wanted`` is what is to be sent, sorted by revision; ``more`` are other outcomes."""
    signed = READ_ONLY in (level, client)
    flagged = f"{flags} Signed" if signed else flags
    shorts = [32, 33, 34, 37, 59, *([5, 16] if signed else []), *([56] if "Deleted" in flags else [])]
    fields = {
        "access_level": level.value,
        "client": client.value,
        "updates": list(updates),
        "since": {peer: str(revision) for peer, revision in since.items()},
    }
    requirements = [f"CSDB-{short:02}" for short in sorted(shorts)]
    outcomes = [*_in_order(updates, wanted), *more]
    if signed:
        outcomes = [{**outcome, "signed": True} if outcome["sent"] else outcome for outcome in outcomes]
    return vector(slug, comment, flagged, requirements, fields, *outcomes)


def _in_order(updates: Sequence[Fields], wanted: Sequence[Fields]) -> Iterator[Outcome]:
    """Every order in which updates of one peer keep theirs; the recommended one first."""
    orders = list(_woven(wanted))
    for order in sorted(orders, key=lambda order: [int(each["last_updated_rev"]) for each in order]):
        outcome = _sent(updates, order)
        rising = all(int(one["last_updated_rev"]) <= int(next_["last_updated_rev"]) for one, next_ in pairwise(order))
        yield outcome if rising else warned(outcome)


def _sent(updates: Sequence[Fields], sent: Sequence[Fields]) -> Outcome:
    """Updates by their places among all."""
    return {"sent": [updates.index(each) for each in sent]}


def _woven(left: Sequence[Fields]) -> Iterator[list[Fields]]:
    if not left:
        yield []
    firsts = {each["last_updated_by"]: each for each in reversed(left)}
    for first in sorted(firsts.values(), key=left.index):
        for rest in _woven([each for each in left if each is not first]):
            yield [first, *rest]


@group("get-updates", "answer", "What a peer has, what it is asked for, and the updates that it sends.", NOTES)
def get_updates(revision: Text) -> list[Vector]:
    """Requests to a peer that has received some updates."""
    return [
        *_asked(READ_WRITE, READ_WRITE),
        *_asked(READ_ONLY, READ_WRITE),
        *_asked(READ_WRITE, READ_ONLY),
        *_asked(READ_ONLY, READ_ONLY),
        *_overwritten(),
        *_many(),
        *_wide(),
    ]


def _asked(level: AccessLevel, client: AccessLevel) -> list[Vector]:
    """Four records of two peers, and requests that know some of them."""
    a3, b4, b8, a9 = FOUR
    end = ("-of-a-reader" if level is READ_ONLY else "") + ("-to-a-reader" if client is READ_ONLY else "")

    def four(slug: str, comment: str, flags: str, since: Mapping[str, int], *wanted: Fields) -> Vector:
        return _answered(f"{slug}{end}", comment, flags, FOUR, since, wanted, level=level, client=client)

    return [
        four("everything", "Who knows nothing gets everything.", "Unnamed Order", {}, a3, b4, b8, a9),
        four("nothing-new", "Who knows the last of everybody gets nothing.", "Nothing Strict", {A: 9, B: 8}),
        four("one-below-the-last", "Who knows all but the last of A gets that.", "Strict", {A: 8, B: 8}, a9),
        four("one-below-the-first", "Just below the first revision.", "Strict Order", {A: 2, B: 3}, a3, b4, b8, a9),
        four("the-first-of-each", "Who knows the first of both gets the second.", "Strict Order", {A: 3, B: 4}, b8, a9),
        four("one-unnamed", "B is not named.", "Unnamed Order", {A: 3}, b4, b8, a9),
        four("one-unnamed-and-the-other-known", "A is not named, and of B all is known.", "Unnamed", {B: 8}, a3, a9),
        four("zeros", "A revision of 0 is below all.", "Strict Order", {A: 0, B: 0}, a3, b4, b8, a9),
        four("a-stranger-named", "Of C nothing is there.", "Unnamed Order", {C: 100}, a3, b4, b8, a9),
        four("beyond-the-last", "Who knows more than is there gets nothing.", "Nothing", {A: 100, B: 100}),
    ]


def _overwritten() -> list[Vector]:
    first = update(A, 2, {A: 1}, value='"first"')
    again = update(A, 5, {A: 2}, value='"second"', time=LATER, seen=True)
    other = update(B, 7, {A: 1, B: 1}, value='"of B"', time=LATER, seen=True)
    deleted = update(A, 6, {A: 3}, deleted=True, time=LATER, seen=True)
    c1, a5, a7 = of(C, 1), of(A, 5), of(A, 7)

    both = legal({"sent": [0, 1]}, "CA-11")

    return [
        _answered("empty-database", "A peer that has nothing sends nothing.", "Nothing", [], {A: 5}, []),
        _answered("empty-database-and-request", "Nothing is asked of nobody.", "Nothing", [], {}, []),
        _answered(
            "known-and-unnamed",
            "Of A what is above 5, and what C has written.",
            "Strict Unnamed Order",
            [a5, c1, a7],
            {A: 5},
            [c1, a7],
        ),
        _answered(
            "overwritten",
            "The last version of a record.",
            "Overwritten",
            [first, again],
            {},
            [again],
            both,
        ),
        _answered(
            "overwritten-above",
            "It has a revision above the one that is known.",
            "Overwritten Strict",
            [first, again],
            {A: 2},
            [again],
        ),
        _answered(
            "overwritten-and-known", "The last version is known.", "Overwritten Nothing", [first, again], {A: 5}, []
        ),
        _answered(
            "overwritten-by-another",
            "B has written over what A wrote, and is not named.",
            "Overwritten Unnamed",
            [first, other],
            {A: 2},
            [other],
        ),
        _answered(
            "overwritten-by-another-and-known",
            "That, too, is known.",
            "Overwritten Nothing",
            [first, other],
            {A: 2, B: 7},
            [],
        ),
        _answered(
            "deleted",
            "A deletion is sent like any other change.",
            "Deleted Strict",
            [first, deleted],
            {A: 2},
            [deleted],
        ),
        _answered(
            "deleted-and-never-known",
            "Also to those who never knew the record.",
            "Deleted Unnamed",
            [first, deleted],
            {},
            [deleted],
            both,
        ),
    ]


def _many() -> list[Vector]:
    twelve = [of(A, rev) for rev in range(1, 13)]
    a5, b5 = of(A, 5), of(B, 5)
    a9, a10, b100 = of(A, 9), of(A, 10), of(B, 100)
    a3, b4, b8, last = FOUR
    accented = update(A, 2, {A: 1}, key="été", value='"\U0001f4f7"')
    return [
        _answered("twelve-in-order", "Twelve updates of one peer.", "Order Unnamed", twelve, {}, twelve),
        _answered("seven-of-twelve", "Those above the fifth.", "Order Strict", twelve, {A: 5}, twelve[5:]),
        _answered(
            "equal-revisions", "Two peers have written with the same revision.", "Order Unnamed", [a5, b5], {}, [a5, b5]
        ),
        _answered(
            "numbers-not-texts",
            "9 is below 10, and both below 100.",
            "Order Unnamed",
            [a9, a10, b100],
            {},
            [a9, a10, b100],
        ),
        _answered("above-nine", "10 is above 9.", "Strict", [a9, a10], {A: 9}, [a10]),
        _answered(
            "another-order-of-arrival",
            "What came first need not be sent first.",
            "Order Unnamed",
            [b4, b8, a3, last],
            {},
            [a3, b4, b8, last],
        ),
        _answered("beyond-ascii", "A key and a value beyond ASCII.", "Unnamed", [accented], {}, [accented]),
    ]


def _wide() -> list[Vector]:
    low, high = 1 << 53, (1 << 53) + 1
    one = update(A, low, {A: 1}, of=uuid("low"), key="low")
    two = update(A, high, {A: 2}, of=uuid("high"), key="high", time=LATER)
    nothing = warned({"sent": []}, "CA-6")
    return [
        _answered(
            "above-2-53", "A revision that no double holds.", "Wide Strict", [one, two], {A: low}, [two], nothing
        ),
        _answered("up-to-2-53-and-1", "It is known.", "Wide Nothing", [one, two], {A: high}, []),
        _answered("around-2-53", "Both, in order.", "Wide Order", [one, two], {A: low - 1}, [one, two]),
    ]
