"""Which of two vector clocks is before the other (section "Conflicts")."""

from __future__ import annotations

from collections.abc import Mapping

from sds_harness.clearskies.trace import Text

from ....vectors.model import REJECTED, Note, Outcome, Vector, legal, vector, warned
from .fields import A, B, C, clock_text
from .register import group

EQUAL, BEFORE, AFTER, CONCURRENT = ({"relation": name} for name in ("equal", "before", "after", "concurrent"))

NOTES = {
    "Equal": Note("Each is before the other: none of the numbers differs.", ("CSDB-48", "CA-12")),
    "Ordered": Note(
        "No number of one is larger than that of the other, and some are smaller.", ("CSDB-49", "CSDB-50", "CA-12")
    ),
    "Concurrent": Note("Each has a number that is larger than that of the other.", ("CSDB-51",)),
    "Absent": Note("Who is not in a clock has the number zero in it.", ("CSDB-43", "CA-12")),
    "Many": Note("Clocks of many peers, which differ in few numbers.", ("CSDB-41",)),
    "Wide": Note(
        "Integers of 64 bits. Who keeps no more than a double holds takes different numbers for equal, which is worth "
        "a warning; who says that 64 bits survive is held to it. Nothing says whether they have a sign: from 2^63 on "
        "they may be refused.",
        ("CSDB-41", "CA-6"),
    ),
    "Form": Note("JSON that says the same in another way.", ("CSDB-12", "CSDB-41")),
    "Malformed": Note(
        "No vector clock: it has to be an object with integers by peer ID. Where nothing says how strict a reader is, "
        "other readings are listed.",
        ("CSDB-12", "CSDB-41"),
    ),
}

TWO_53, TWO_63, TWO_64 = 1 << 53, 1 << 63, 1 << 64


def _compared(
    slug: str,
    comment: str,
    flags: str,
    shorts: str,
    one: Mapping[str, int] | str,
    other: Mapping[str, int] | str,
    *outcomes: Outcome,
) -> Vector:
    """``one`` and ``other`` are clocks, or JSON as it stands there."""
    texts = {
        name: clock if isinstance(clock, str) else clock_text(clock) for name, clock in (("one", one), ("other", other))
    }
    return vector(slug, comment, flags, [f"CSDB-{short}" for short in shorts.split()], texts, *outcomes)


@group("vector-clocks", "clock-comparison", "Two vector clocks, and which of them is before the other.", NOTES)
def vector_clocks(revision: Text) -> list[Vector]:
    """All comparisons."""
    return [*_usual(), *_absent(), *_many(), *_wide(), *_forms(), *_malformed()]


def _usual() -> list[Vector]:
    told = {A: 44, B: 35, C: 43}
    """The clock in the example of the text."""
    return [
        _compared("the-same", "The clock in the example of the text, twice.", "Equal", "48", told, told, EQUAL),
        _compared(
            "one-number-smaller", "One number is smaller by one.", "Ordered", "50", {**told, B: 34}, told, BEFORE
        ),
        _compared("one-number-larger", "One number is larger by one.", "Ordered", "49", {**told, C: 44}, told, AFTER),
        _compared("all-smaller", "All numbers are smaller.", "Ordered", "50", {A: 1, B: 1, C: 1}, told, BEFORE),
        _compared("all-larger", "All numbers are larger.", "Ordered", "49", {A: 45, B: 36, C: 44}, told, AFTER),
        _compared(
            "crossed",
            "{A:2, B:1} and {A:1, B:2}: a conflict.",
            "Concurrent",
            "51",
            {A: 2, B: 1},
            {A: 1, B: 2},
            CONCURRENT,
        ),
        _compared(
            "far-and-near",
            "One is ahead by a thousand in one number, the other by one in another.",
            "Concurrent",
            "51",
            {**told, A: 1044},
            {**told, B: 36},
            CONCURRENT,
        ),
        _compared(
            "larger-sum",
            "The sum of one is larger, and says nothing.",
            "Concurrent",
            "51",
            {A: 9, B: 9, C: 1},
            {A: 1, B: 1, C: 2},
            CONCURRENT,
        ),
        _compared(
            "nine-and-ten", "Numbers are compared as numbers, not as text.", "Ordered", "50", {A: 9}, {A: 10}, BEFORE
        ),
        _compared(
            "nine-and-ten-crossed",
            "As numbers they are in conflict, as text they would not be.",
            "Concurrent",
            "51",
            {A: 9, B: 100},
            {A: 10, B: 99},
            CONCURRENT,
        ),
    ]


def _absent() -> list[Vector]:
    return [
        _compared("both-empty", "Two clocks of nobody.", "Absent Equal", "43 48", {}, {}, EQUAL),
        _compared("nobody-and-somebody", "Nothing is before all else.", "Absent Ordered", "43 50", {}, {A: 1}, BEFORE),
        _compared("somebody-and-nobody", "And everything after it.", "Absent Ordered", "43 49", {A: 1}, {}, AFTER),
        _compared("zero-and-absent", "A zero says what absence says.", "Absent Equal", "43 48", {A: 0}, {}, EQUAL),
        _compared(
            "zeros-on-both-sides",
            "Each has a zero where the other has nothing.",
            "Absent Equal",
            "43 48",
            {A: 0, C: 3},
            {B: 0, C: 3},
            EQUAL,
        ),
        _compared(
            "zero-beside-a-larger-one",
            "A zero makes no conflict.",
            "Absent Ordered",
            "43 50",
            {A: 0, B: 1},
            {B: 2},
            BEFORE,
        ),
        _compared(
            "one-peer-more",
            "The other has heard of a peer more.",
            "Absent Ordered",
            "43 50",
            {A: 2},
            {A: 2, B: 1},
            BEFORE,
        ),
        _compared(
            "one-peer-less", "One has heard of a peer more.", "Absent Ordered", "43 49", {A: 2, B: 1}, {A: 2}, AFTER
        ),
        _compared(
            "nobody-in-common",
            "Two peers that know nothing of each other.",
            "Absent Concurrent",
            "43 51",
            {A: 1},
            {B: 1},
            CONCURRENT,
        ),
        _compared(
            "more-peers-smaller-number",
            "More peers, and a smaller number.",
            "Absent Concurrent",
            "43 51",
            {A: 1, B: 1, C: 1},
            {A: 2},
            CONCURRENT,
        ),
        _compared(
            "current-and-received",
            "{A:2, B:1} and {A:5, C:1}: B is absent in one, C in the other.",
            "Absent Concurrent",
            "43 51",
            {A: 2, B: 1},
            {A: 5, C: 1},
            CONCURRENT,
        ),
    ]


def _many() -> list[Vector]:
    peers = [f"{number:032x}" for number in range(1, 101)]
    whole = {peer: number for number, peer in enumerate(peers, 1)}
    last, first = peers[-1], peers[0]
    return [
        _compared(
            "a-hundred-equal",
            "A hundred peers in another order.",
            "Many Equal Form",
            "48",
            whole,
            dict(reversed(whole.items())),
            EQUAL,
        ),
        _compared(
            "a-hundred-and-the-last",
            "The last of a hundred differs.",
            "Many Ordered",
            "50",
            whole,
            {**whole, last: 101},
            BEFORE,
        ),
        _compared(
            "a-hundred-crossed",
            "The first and the last of a hundred differ.",
            "Many Concurrent",
            "51",
            {**whole, first: 2},
            {**whole, last: 101},
            CONCURRENT,
        ),
        _compared(
            "a-hundred-and-one-of-them",
            "One alone, and a hundred with it.",
            "Many Absent Ordered",
            "43 50",
            {last: 100},
            whole,
            BEFORE,
        ),
    ]


def _wide() -> list[Vector]:
    """Above 2^53 a double takes different numbers for equal; from 2^63 on there may be no number."""

    def beyond(outcome: Outcome) -> tuple[Outcome, Outcome, Outcome]:
        return outcome, legal(REJECTED, "CA-6"), warned(EQUAL, "CA-6")

    lost = warned(EQUAL, "CA-6")
    largest = TWO_64 - 1
    return [
        _compared(
            "up-to-2-53",
            "The last that a double tells apart.",
            "Ordered",
            "41 50",
            {A: TWO_53 - 1},
            {A: TWO_53},
            BEFORE,
        ),
        _compared("2-32", "More than 32 bits.", "Ordered", "41 50", {A: (1 << 32) - 1}, {A: 1 << 32}, BEFORE),
        _compared(
            "2-53-and-1",
            "The first that a double does not tell apart.",
            "Wide Ordered",
            "41 50",
            {A: TWO_53},
            {A: TWO_53 + 1},
            BEFORE,
            lost,
        ),
        _compared(
            "2-53-and-1-the-other-way",
            "And the other way.",
            "Wide Ordered",
            "41 49",
            {A: TWO_53 + 1},
            {A: TWO_53},
            AFTER,
            lost,
        ),
        _compared(
            "2-53-and-1-crossed",
            "Two numbers that no double holds.",
            "Wide Concurrent",
            "41 51",
            {A: TWO_53, B: TWO_53 + 1},
            {A: TWO_53 + 1, B: TWO_53},
            CONCURRENT,
            lost,
        ),
        _compared(
            "2-53-and-1-twice", "Equal, and no double.", "Wide Equal", "41 48", {A: TWO_53 + 1}, {A: TWO_53 + 1}, EQUAL
        ),
        _compared(
            "below-2-63",
            "The largest numbers with a sign.",
            "Wide Ordered",
            "41 50",
            {A: TWO_63 - 2},
            {A: TWO_63 - 1},
            BEFORE,
            lost,
        ),
        _compared(
            "2-63",
            "The first number without a sign.",
            "Wide Ordered",
            "41 50",
            {A: TWO_63 - 1},
            {A: TWO_63},
            *beyond(BEFORE),
        ),
        _compared(
            "2-63-and-small",
            "It is larger than a small one.",
            "Wide Ordered",
            "41 49",
            {A: TWO_63},
            {A: 1},
            AFTER,
            legal(REJECTED, "CA-6"),
        ),
        _compared(
            "largest",
            "The largest numbers of 64 bits.",
            "Wide Ordered",
            "41 49",
            {A: largest},
            {A: largest - 1},
            *beyond(AFTER),
        ),
        _compared(
            "largest-and-one",
            "It is no -1.",
            "Wide Ordered",
            "41 50",
            {A: 1},
            {A: largest},
            BEFORE,
            legal(REJECTED, "CA-6"),
        ),
    ]


def _forms() -> list[Vector]:
    return [
        _compared("another-order", "Members have no order.", "Form Equal", "48", {A: 1, B: 2}, {B: 2, A: 1}, EQUAL),
        _compared(
            "blanks", "Blanks say nothing.", "Form Equal", "48", f'{{ "{A}" : 1 ,\n\t"{B}" : 2 }}', {A: 1, B: 2}, EQUAL
        ),
        _compared(
            "escapes",
            "A digit can be written as an escape.",
            "Form Equal",
            "48",
            f'{{"\\u0062{A[1:]}":1}}',
            {A: 1},
            EQUAL,
        ),
    ]


def _malformed() -> list[Vector]:
    """What is no vector clock, beside one of which it could be read as any relation."""
    good = {A: 2}

    def refused(slug: str, comment: str, text: str, *outcomes: Outcome) -> Vector:
        return _compared(slug, comment, "Malformed", "12 41", text, good, REJECTED, *outcomes)

    return [
        refused("no-text", "Nothing at all.", ""),
        refused("no-json", "Half an object.", f'{{"{A}":1'),
        refused("a-list", "A list of pairs.", f'[["{A}",1]]'),
        refused("a-number", "A number.", "2"),
        refused("null", "Nothing, as JSON says it: it can be taken for an empty clock.", "null", BEFORE),
        refused("a-number-in-quotes", "A string in the place of an integer.", f'{{"{A}":"2"}}', EQUAL),
        refused("a-nested-clock", "An object in the place of an integer.", f'{{"{A}":{{"{B}":1}}}}'),
        refused("a-fraction", "A number that is no integer, beside a larger one.", f'{{"{A}":1.5}}', BEFORE),
        refused("an-integer-with-a-point", "2.0 can be taken for the integer 2.", f'{{"{A}":2.0}}', EQUAL),
        refused("below-zero", "Numbers count from zero. One below is smaller than all.", f'{{"{A}":-1}}', BEFORE),
        refused(
            "beyond-64-bits",
            "2^64 + 2 is no number of 64 bits, and must not be taken for 2.",
            f'{{"{A}":{TWO_64 + 2}}}',
            AFTER,
        ),
        refused("a-name-of-nobody", "No peer ID: read as one, it is somebody else.", '{"alice":1}', CONCURRENT),
        refused(
            "a-member-twice",
            "JSON leaves open which of two members counts: 1 is smaller than 2, 3 is larger.",
            f'{{"{A}":1,"{A}":3}}',
            BEFORE,
            AFTER,
        ),
    ]
