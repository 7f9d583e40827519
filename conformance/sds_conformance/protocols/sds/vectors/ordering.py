"""The order of the log, and the causal histories that come from it (sections "Resolve Conflicts", "Send Message")."""

from __future__ import annotations

from itertools import permutations

from sds_reference import FORUM_2024
from sds_reference.revision import Revision

from ....vectors.model import Note, Outcome, Vector, legal, vector, warned
from .forum_ordering import ANY_ORDER, SYNCS, histories_of_three, logs_with_syncs
from .register import EVERY, group
from .texts import of_both, of_sds, with_proposal

Arrival = tuple[str, int]


def _both(notes: dict[str, Note]) -> dict[str, Note]:
    return {flag: Note(note.description, tuple(with_proposal(note.ids))) for flag, note in notes.items()}


LOG_NOTES = _both(
    {
        "Timestamps": Note("The timestamp comes first, as a number.", ("SDS-STATE-11", "SDS-DELIVER-04")),
        "Tie": Note("Equal timestamps: the bytes of the UTF-8 form of the ID decide.", ("SDS-CONFLICT-01", "AMB-88")),
        "EveryOrder": Note("However they arrive, the log is the same.", ("SDS-DELIVER-05",)),
        "Hashes": Note("IDs that are hashes.", ("SDS-CONFLICT-02",)),
        "Utf16": Note(
            "Beyond the Basic Multilingual Plane the order of UTF-16 differs from that of UTF-8. Who has it is warned.",
            ("SDS-CONFLICT-01", "AMB-88"),
        ),
        "NormalForms": Note(
            "IDs are never normalised: two forms of a letter are two IDs.", ("SDS-CONFLICT-01", "AMB-89")
        ),
        "Large": Note("Timestamps that differ beyond 53 bits.", ("SDS-MSG-05", "SDS-DELIVER-04")),
        "Syncs": SYNCS,
    }
)
HISTORY_NOTES = _both(
    {
        "LastOfTheLog": Note("The last IDs of the log, by timestamp and then ID.", ("SDS-SEND-04", "AMB-28")),
        "Direction": Note("Oldest first or newest first, the same in every message.", ("SDS-SEND-05", "AMB-29")),
        "ShortLog": Note("All there are, if there are fewer than are wanted.", ("SDS-SEND-04", "AMB-30")),
        "Late": Note("What arrives last is not always last in the log.", ("SDS-SEND-04", "AMB-28")),
        "Tie": Note("Equal timestamps at the edge: the ID decides which are the last.", ("SDS-CONFLICT-01", "AMB-88")),
        "AnyOrder": ANY_ORDER,
        "Syncs": SYNCS,
    }
)


def _ordered(arrivals: list[Arrival]) -> list[str]:
    return [message_id for message_id, lamport in sorted(arrivals, key=lambda a: (a[1], a[0].encode()))]


def _by_utf16(arrivals: list[Arrival]) -> list[str]:
    return [message_id for message_id, lamport in sorted(arrivals, key=lambda a: (a[1], a[0].encode("utf-16-be")))]


def _fields(arrivals: list[Arrival]) -> dict[str, object]:
    return {"arrivals": [{"message_id": i, "lamport_timestamp": str(lamport)} for i, lamport in arrivals]}


def _fits(arrivals: list[Arrival], revision: Revision) -> bool:
    """Can the timestamps stand in messages of a revision?"""
    return all(lamport <= revision.wire.max_lamport for _, lamport in arrivals)


def _about(shorts: str, arrivals: list[Arrival]) -> list[str]:
    """Requirements of SDS, and those of the proposal where it can have these messages as well."""
    return of_both(shorts) if _fits(arrivals, FORUM_2024) else of_sds(shorts)


@group("log-order", "log-order", "Messages in the order they arrive, and the log that they make.", LOG_NOTES, EVERY)
def log_order(revision: Revision) -> list[Vector]:
    """Timestamps, ties of every kind, all orders of arrival."""
    shapes = ["a0", "B", "9", "a", "10", "Z", "_", "-", "aa", "A", "~", " "]
    planes = ["\U0001f600", "\ue000", "\uffee", "z", "\U00010000", "\ud7ff"]
    rows: list[tuple[str, str, str, str, list[Arrival]]] = [
        (
            "by-timestamp",
            "Different timestamps.",
            "Timestamps",
            "STATE-11 DELIVER-04",
            [("c", 1030), ("a", 1010), ("d", 1020), ("b", 1040)],
        ),
        (
            "timestamps-are-numbers",
            "Timestamps of different numbers of digits.",
            "Timestamps",
            "DELIVER-04",
            [("a", 1000), ("b", 999), ("c", 10_000), ("d", 9), ("e", 100)],
        ),
        (
            "timestamp-before-id",
            "The smaller ID has the greater timestamp.",
            "Timestamps",
            "STATE-11",
            [("a", 1001), ("b", 1000)],
        ),
        ("zero-first", "A timestamp of zero comes first.", "Timestamps", "DELIVER-04", [("b", 5), ("a", 0)]),
        (
            "beyond-53-bits",
            "Timestamps that are one double.",
            "Timestamps Large",
            "DELIVER-04",
            [("a", 2**53 + 1), ("b", 2**53), ("c", 2**53 + 2)],
        ),
        (
            "ties-of-many-shapes",
            "Digits, capitals, signs and blanks.",
            "Tie",
            "CONFLICT-01",
            [(i, 1000) for i in shapes],
        ),
        (
            "tie-of-a-prefix",
            "An ID before the one that it begins.",
            "Tie",
            "CONFLICT-01",
            [("ab", 1000), ("a", 1000), ("a\x00", 1000), ("abc", 1000)],
        ),
        (
            "tie-of-case",
            "Capitals before small letters.",
            "Tie",
            "CONFLICT-01",
            [("a", 1000), ("B", 1000), ("b", 1000), ("A", 1000)],
        ),
        (
            "tie-of-numbers",
            "Digits are letters, not numbers.",
            "Tie",
            "CONFLICT-01",
            [("2", 1000), ("10", 1000), ("1", 1000), ("02", 1000)],
        ),
        (
            "tie-between-others",
            "A tie between an earlier and a later message.",
            "Tie Timestamps",
            "CONFLICT-01 DELIVER-05",
            [("m", 1000), ("z", 900), ("a", 1100), ("k", 1000)],
        ),
        (
            "ties-of-hashes",
            "IDs in hex, smallest first.",
            "Tie Hashes",
            "CONFLICT-01 CONFLICT-02",
            [(digits * 32, 1000) for digits in ("80", "ff", "00", "7f", "a1")],
        ),
        (
            "ties-of-scripts",
            "Letters of many scripts.",
            "Tie",
            "CONFLICT-01",
            [(i, 1000) for i in ("\u00df", "ss", "\u03c9", "\u4e2d", "z", "\u0131", "i", "I", "\u0130", "\ufb01")],
        ),
        (
            "ties-beyond-the-first-plane",
            "Characters of the supplementary planes come after all others.",
            "Tie Utf16",
            "CONFLICT-01",
            [(i, 1000) for i in planes],
        ),
        (
            "ties-of-normal-forms",
            "One letter in two forms: two IDs, in the order of their bytes.",
            "Tie NormalForms",
            "CONFLICT-01",
            [
                ("\u00e9", 1000),
                ("e\u0301", 1000),
                ("e", 1000),
                ("f", 1000),
                ("\u212b", 1000),
                ("\u00c5", 1000),
                ("A\u030a", 1000),
            ],
        ),
        (
            "ties-of-ignorables",
            "Characters without width are characters.",
            "Tie NormalForms",
            "CONFLICT-01",
            [("a\u200db", 1000), ("ab", 1000), ("a\u00adb", 1000), ("a\ufeffb", 1000)],
        ),
    ]
    rows += [
        (
            f"three-ties-{''.join(order)}",
            "Three ties, in one of the six orders of arrival.",
            "Tie EveryOrder",
            "DELIVER-05 CONFLICT-01",
            [(f"id-{letter}", 1000) for letter in order],
        )
        for order in permutations("abc")
    ]
    out = [_log(*row) for row in rows if _fits(row[4], revision)]
    return [*out, *logs_with_syncs()] if revision.syncs_are_logged else out


def _log(slug: str, comment: str, flags: str, requirements: str, arrivals: list[Arrival]) -> Vector:
    outcomes: list[Outcome] = [{"log": _ordered(arrivals)}]
    if "Utf16" in flags:
        outcomes.append(warned({"log": _by_utf16(arrivals)}, "AMB-88"))
    return vector(slug, comment, flags.split(), _about(requirements, arrivals), _fields(arrivals), *outcomes)


@group(
    "causal-history",
    "causal-history",
    "What has arrived, and the causal history of the next message.",
    HISTORY_NOTES,
    EVERY,
)
def causal_history(revision: Revision) -> list[Vector]:
    """The last n of the log, with ties at the edge, late arrivals and short logs."""
    chain: list[Arrival] = [(f"m{n}", 1000 + 10 * n) for n in range(6)]
    rows: list[tuple[str, str, str, str, int, list[Arrival]]] = [
        ("last-two", "The last two of six.", "LastOfTheLog Direction", "SEND-04 SEND-05", 2, chain),
        ("last-one", "The last of six.", "LastOfTheLog", "SEND-04 SEND-06", 1, chain),
        ("last-five", "The last five of six.", "LastOfTheLog Direction", "SEND-04 SEND-06", 5, chain),
        ("empty-log", "Nothing has arrived.", "ShortLog", "SEND-04 MSG-17", 2, []),
        ("one-in-the-log", "One has arrived, two are wanted.", "ShortLog", "SEND-04 MSG-17", 2, chain[:1]),
        ("as-many-as-wanted", "Three have arrived, three are wanted.", "ShortLog Direction", "SEND-04", 3, chain[:3]),
        (
            "fewer-than-wanted",
            "Three have arrived, ten are wanted.",
            "ShortLog Direction",
            "SEND-04 SEND-06",
            10,
            chain[:3],
        ),
        (
            "late-arrival",
            "The last to arrive is the second of the log.",
            "Late LastOfTheLog Direction",
            "SEND-04",
            2,
            [("a", 1000), ("c", 1020), ("d", 1030), ("b", 1010)],
        ),
        ("reverse-arrival", "They arrive backwards.", "Late LastOfTheLog Direction", "SEND-04", 2, chain[::-1]),
        (
            "tie-at-the-end",
            "The two last have equal timestamps.",
            "Tie LastOfTheLog Direction",
            "SEND-04 CONFLICT-01",
            2,
            [("a", 1000), ("z", 1010), ("k", 1010)],
        ),
        (
            "tie-at-the-edge",
            "Of three with equal timestamps two are the last.",
            "Tie LastOfTheLog Direction",
            "SEND-04 CONFLICT-01",
            2,
            [("y", 1000), ("x", 1000), ("z", 1000)],
        ),
        (
            "tie-across-the-edge",
            "Of two equal ones one is among the last two.",
            "Tie LastOfTheLog Direction",
            "SEND-04 CONFLICT-01",
            2,
            [("b", 1000), ("a", 1000), ("c", 1010)],
        ),
        (
            "tie-of-shapes",
            "A tie between a capital and a small letter.",
            "Tie LastOfTheLog",
            "SEND-04 CONFLICT-01",
            1,
            [("a", 1000), ("B", 1000)],
        ),
        (
            "smaller-id-later",
            "The greater timestamp has the smaller ID.",
            "LastOfTheLog",
            "SEND-04",
            1,
            [("z", 1000), ("a", 1001)],
        ),
        (
            "beyond-53-bits",
            "Timestamps that are one double.",
            "LastOfTheLog Direction",
            "SEND-04",
            2,
            [("c", 2**53 + 1), ("b", 2**53 + 2), ("a", 2**53)],
        ),
    ]
    if revision.prefix == "FORUM":
        # It does not say that causal histories are ordered: with more than two entries there are more outcomes.
        shared = [row for row in rows if _shared(row[4], row[5])]
        return [*(_history(*row) for row in shared), *histories_of_three()]
    return [_history(*row) for row in rows]


def _shared(size: int, arrivals: list[Arrival]) -> bool:
    return min(size, len(arrivals)) <= 2 and _fits(arrivals, FORUM_2024)


def _history(slug: str, comment: str, flags: str, requirements: str, size: int, arrivals: list[Arrival]) -> Vector:
    last = _ordered(arrivals)[-size:]
    outcomes: list[Outcome] = [{"causal_history": last}]
    if len(last) > 1:
        outcomes.append(legal({"causal_history": last[::-1]}, "AMB-29"))
    ids = of_both(requirements) if _shared(size, arrivals) else of_sds(requirements)
    return vector(slug, comment, flags.split(), ids, {**_fields(arrivals), "size": size}, *outcomes)
