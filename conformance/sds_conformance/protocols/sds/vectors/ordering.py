"""The order of the log, and the causal histories that come from it (sections "Resolve Conflicts", "Send Message")."""

from __future__ import annotations

from itertools import permutations

from sds_reference import FORUM_2024
from sds_reference.revision import Revision

from ....vectors.model import Note, Outcome, Vector, legal, vector, warned
from .forum_ordering import ANY_ORDER, SYNCS, histories_of_three, logs_with_syncs
from .register import EVERY, group
from .texts import of_both, of_sds, with_proposal

Arrivals = dict[str, int]
"""Timestamps by ID, in the order of arrival."""


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
HISTORY_TITLE = "What has arrived, and the causal history of the next message."
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


def _tied(*ids: str) -> Arrivals:
    return dict.fromkeys(ids, 1000)


def _chain(number: int) -> Arrivals:
    return {f"m{n}": 1000 + 10 * n for n in range(number)}


def _ordered(arrivals: Arrivals, encoding: str = "utf-8") -> list[str]:
    return sorted(arrivals, key=lambda message_id: (arrivals[message_id], message_id.encode(encoding)))


def _fields(arrivals: Arrivals) -> dict[str, object]:
    return {"arrivals": [{"message_id": i, "lamport_timestamp": str(lamport)} for i, lamport in arrivals.items()]}


def _fits(arrivals: Arrivals, revision: Revision) -> bool:
    """Can the timestamps stand in messages of a revision?"""
    return all(lamport <= revision.wire.max_lamport for lamport in arrivals.values())


def _about(shorts: str, arrivals: Arrivals) -> list[str]:
    """Requirements of SDS, and those of the proposal where it can have these messages as well."""
    return of_both(shorts) if _fits(arrivals, FORUM_2024) else of_sds(shorts)


@group("log-order", "log-order", "Messages in the order they arrive, and the log that they make.", LOG_NOTES, EVERY)
def log_order(revision: Revision) -> list[Vector]:
    """Timestamps, ties of every kind, all orders of arrival."""
    in_order = {"c": 1030, "a": 1010, "d": 1020, "b": 1040}
    of_many_digits = {"a": 1000, "b": 999, "c": 10_000, "d": 9, "e": 100}
    one_double = {"a": 2**53 + 1, "b": 2**53, "c": 2**53 + 2}
    shapes = _tied("a0", "B", "9", "a", "10", "Z", "_", "-", "aa", "A", "~", " ")
    hashes = _tied(*(digits * 32 for digits in ("80", "ff", "00", "7f", "a1")))
    scripts = _tied("\u00df", "ss", "\u03c9", "\u4e2d", "z", "\u0131", "i", "I", "\u0130", "\ufb01")
    planes = _tied("\U0001f600", "\ue000", "\uffee", "z", "\U00010000", "\ud7ff")
    forms = _tied("\u00e9", "e\u0301", "e", "f", "\u212b", "\u00c5", "A\u030a")
    between = {"m": 1000, "z": 900, "a": 1100, "k": 1000}
    beyond = "Characters of the supplementary planes come after all others."
    one_letter = "One letter in two forms: two IDs, in the order of their bytes."
    ignorables = _tied("a\u200db", "ab", "a\u00adb", "a\ufeffb")
    numbers, tie = "Timestamps of different numbers of digits.", "CONFLICT-01"
    smaller, apart = "The smaller ID has the greater timestamp.", {"a": 1001, "b": 1000}
    among = "A tie between an earlier and a later message."
    rows: list[tuple[str, str, str, str, Arrivals]] = [
        ("by-timestamp", "Different timestamps.", "Timestamps", "STATE-11 DELIVER-04", in_order),
        ("timestamps-are-numbers", numbers, "Timestamps", "DELIVER-04", of_many_digits),
        ("timestamp-before-id", smaller, "Timestamps", "STATE-11", apart),
        ("zero-first", "A timestamp of zero comes first.", "Timestamps", "DELIVER-04", {"b": 5, "a": 0}),
        ("beyond-53-bits", "Timestamps that are one double.", "Timestamps Large", "DELIVER-04", one_double),
        ("ties-of-many-shapes", "Digits, capitals, signs and blanks.", "Tie", tie, shapes),
        ("tie-of-a-prefix", "An ID before the one that it begins.", "Tie", tie, _tied("ab", "a", "a\x00", "abc")),
        ("tie-of-case", "Capitals before small letters.", "Tie", tie, _tied("a", "B", "b", "A")),
        ("tie-of-numbers", "Digits are letters, not numbers.", "Tie", tie, _tied("2", "10", "1", "02")),
        ("tie-between-others", among, "Tie Timestamps", f"{tie} DELIVER-05", between),
        ("ties-of-hashes", "IDs in hex, smallest first.", "Tie Hashes", f"{tie} CONFLICT-02", hashes),
        ("ties-of-scripts", "Letters of many scripts.", "Tie", tie, scripts),
        ("ties-beyond-the-first-plane", beyond, "Tie Utf16", tie, planes),
        ("ties-of-normal-forms", one_letter, "Tie NormalForms", tie, forms),
        ("ties-of-ignorables", "Characters without width are characters.", "Tie NormalForms", tie, ignorables),
    ]
    for order in permutations("abc"):
        slug, comment = f"three-ties-{''.join(order)}", "Three ties, in one of the six orders of arrival."
        tied = _tied(*(f"id-{letter}" for letter in order))
        rows.append((slug, comment, "Tie EveryOrder", "DELIVER-05 CONFLICT-01", tied))
    out = [_log(*row) for row in rows if _fits(row[4], revision)]
    return [*out, *logs_with_syncs()] if revision.syncs_are_logged else out


def _log(slug: str, comment: str, flags: str, requirements: str, arrivals: Arrivals) -> Vector:
    outcomes: list[Outcome] = [{"log": _ordered(arrivals)}]
    if "Utf16" in flags:
        outcomes.append(warned({"log": _ordered(arrivals, "utf-16-be")}, "AMB-88"))
    return vector(slug, comment, flags, _about(requirements, arrivals), _fields(arrivals), *outcomes)


@group("causal-history", "causal-history", HISTORY_TITLE, HISTORY_NOTES, EVERY)
def causal_history(revision: Revision) -> list[Vector]:
    """The last n of the log, with ties at the edge, late arrivals and short logs."""
    chain = _chain(6)
    backwards, after = dict(reversed(chain.items())), {"a": 1000, "c": 1020, "d": 1030, "b": 1010}
    last, late, tied = "LastOfTheLog Direction", "Late LastOfTheLog Direction", "Tie LastOfTheLog Direction"
    at_the_end, across = {"a": 1000, "z": 1010, "k": 1010}, {"b": 1000, "a": 1000, "c": 1010}
    one_double, tie = {"c": 2**53 + 1, "b": 2**53 + 2, "a": 2**53}, "CONFLICT-01"
    shapes, later = "A tie between a capital and a small letter.", {"z": 1000, "a": 1001}
    rows: dict[str, tuple[str, str, str, int, Arrivals]] = {
        "last-two": ("The last two of six.", last, "SEND-05", 2, chain),
        "last-one": ("The last of six.", "LastOfTheLog", "SEND-06", 1, chain),
        "last-five": ("The last five of six.", last, "SEND-06", 5, chain),
        "empty-log": ("Nothing has arrived.", "ShortLog", "MSG-17", 2, {}),
        "one-in-the-log": ("One has arrived, two are wanted.", "ShortLog", "MSG-17", 2, _chain(1)),
        "as-many-as-wanted": ("Three have arrived, three are wanted.", "ShortLog Direction", "", 3, _chain(3)),
        "fewer-than-wanted": ("Three have arrived, ten are wanted.", "ShortLog Direction", "SEND-06", 10, _chain(3)),
        "late-arrival": ("The last to arrive is the second of the log.", late, "", 2, after),
        "reverse-arrival": ("They arrive backwards.", late, "", 2, backwards),
        "tie-at-the-end": ("The two last have equal timestamps.", tied, tie, 2, at_the_end),
        "tie-at-the-edge": ("Of three with equal timestamps two are the last.", tied, tie, 2, _tied("y", "x", "z")),
        "tie-across-the-edge": ("Of two equal ones one is among the last two.", tied, tie, 2, across),
        "tie-of-shapes": (shapes, "Tie LastOfTheLog", tie, 1, _tied("a", "B")),
        "smaller-id-later": ("The greater timestamp has the smaller ID.", "LastOfTheLog", "", 1, later),
        "beyond-53-bits": ("Timestamps that are one double.", last, "", 2, one_double),
    }
    # The proposal does not say that histories are ordered: with more than two entries there are more outcomes.
    orders = revision.histories_are_ordered
    told = [_history(slug, *row) for slug, row in rows.items() if orders or _shared(row[3], row[4])]
    return told if orders else [*told, *histories_of_three()]


def _shared(size: int, arrivals: Arrivals) -> bool:
    return min(size, len(arrivals)) <= 2 and _fits(arrivals, FORUM_2024)


def _history(slug: str, comment: str, flags: str, more: str, size: int, arrivals: Arrivals) -> Vector:
    last = _ordered(arrivals)[-size:]
    outcomes: list[Outcome] = [{"causal_history": last}]
    if len(last) > 1:
        outcomes.append(legal({"causal_history": last[::-1]}, "AMB-29"))
    requirements = f"SEND-04 {more}"
    ids = of_both(requirements) if _shared(size, arrivals) else of_sds(requirements)
    return vector(slug, comment, flags, ids, {**_fields(arrivals), "size": size}, *outcomes)
