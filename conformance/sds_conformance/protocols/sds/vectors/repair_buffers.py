"""The repair request buffers as messages arrive (sections "SDS-R participant state", "SDS-R receive message")."""

from __future__ import annotations

from typing import Any

from sds_reference import HASH_PROFILES, HistoryEntry, Message, t_req_offset, t_resp_offset
from sds_reference.revision import Revision

from ....vectors.model import Note, Outcome, Vector, legal, stepwise, warned
from .fields import message_json
from .register import group
from .texts import of_sds

ALICE = "alice"
T_MIN, T_MAX = 30_000, 120_000

NOTES = {
    "Missing": Note("A dependency that is missing is tracked, with its T_req.", ("SDS-R-STATE-01", "SDS-R-RECV-03")),
    "Should": Note(
        "That an entry is made at all is a SHOULD: none is a warning. One with another time, or of something else, is "
        "a failure.",
        ("SDS-R-RECV-03", "SDS-R-RECV-04", "SDS-R-RECV-05", "SDS-R-RECV-08"),
    ),
    "Arrives": Note("What arrives is not asked for any more.", ("SDS-R-RECV-01",)),
    "Keeps": Note("T_req and T_resp of an entry never move.", ("SDS-R-STATE-02", "SDS-R-STATE-06", "AMB-78")),
    "Here": Note("What is logged is not missing; what waits may be tracked or not.", ("SDS-R-STATE-01", "AMB-70")),
    "Overheard": Note("What somebody else asks for is left to them.", ("SDS-R-RECV-07",)),
    "Again": Note(
        "A later message finds the dependency without an entry: the amended text makes a new one, for whatever waits; "
        "the other leaves it open.",
        ("SDS-R-RECV-03", "SDS-R-RECV-04", "SDS-R-RECV-05", "AMB-68", "AMB-118"),
    ),
    "Asked": Note(
        "A request for a message that is logged is queued, with its T_resp.", ("SDS-R-STATE-04", "SDS-R-RECV-08")
    ),
    "Answered": Note("A copy from somebody else ends a request.", ("SDS-R-RECV-02",)),
    "Unknown": Note(
        "A request for what is not logged is not queued; what waits may count as held.", ("SDS-R-RECV-09", "AMB-71")
    ),
    "NoAuthor": Note("A request without an author may be ignored.", ("SDS-R-RECV-12", "AMB-72")),
    "OwnTraffic": Note(
        "Requests in an own message that comes back should be ignored; who heeds them does it as with any other.",
        ("SDS-RECV-01", "AMB-22", "AMB-74"),
    ),
    "AnyMessage": Note("Sync messages, copies and messages that wait count as well.", ("SDS-R-RECV-13",)),
    "SyncId": Note(
        "The ID of a sync message meets nothing; clearing the entry is tolerated.", ("SDS-SYNC-10", "AMB-43")
    ),
}

Step = tuple[Any, ...]
"""When, the message that comes, and the outcomes."""


def _message(
    message_id: str,
    *depends_on: str,
    sender: str = "bob",
    asks: tuple[HistoryEntry, ...] = (),
    sync: bool = False,
    lamport: int = 1000,
) -> Message:
    entries = tuple(HistoryEntry(name, None, "bob") for name in depends_on)
    content = None if sync else f"content of {message_id}".encode()
    return Message(sender, message_id, "c1", lamport, entries, None, asks, content)


def _asks(message_id: str, sender: str = "carol", sync: bool = False) -> Message:
    """Somebody asks for a message, naming its author."""
    return _message("s" if sync else f"{sender[0]}1", sender=sender, asks=_asked(message_id), sync=sync)


def _asked(message_id: str, author: str | None = "bob") -> tuple[HistoryEntry, ...]:
    return (HistoryEntry(message_id, None, author),)


def _missing(message_id: str, since_ms: int) -> dict[str, Any]:
    due = {p.name: since_ms + t_req_offset(p, ALICE, message_id, T_MIN, T_MAX) for p in HASH_PROFILES.values()}
    return {"message_id": message_id, "due_ms": due}


def _due(message_id: str, since_ms: int, author: str = "bob") -> dict[str, Any]:
    due = {p.name: since_ms + t_resp_offset(p, ALICE, author, message_id, T_MAX) for p in HASH_PROFILES.values()}
    return {"message_id": message_id, "due_ms": due}


def _holds(*outgoing: dict[str, Any], incoming: list[dict[str, Any]] | None = None, position: str = "") -> Outcome:
    out: Outcome = {"outgoing": list(outgoing), "incoming": incoming or []}
    return legal(out, position)


NOTHING = _holds()
NEGLECTED = warned(NOTHING)
"""No entry, which is against a SHOULD."""


def _still_none(outcome: Outcome, *taken: int) -> Outcome:
    """An outcome that is legal after these of the step before: what is kept must not get lost."""
    return {**outcome, "after": list(taken)}


@group("repair-buffers", "repair-buffers", "What arrives, and what it makes of the repair request buffers.", NOTES)
def repair_buffers(revision: Revision) -> list[Vector]:
    """What is missing, what arrives, what others ask for, and who answers."""
    fields = {"participant_id": ALICE, "channel_id": "c1", "t_min_ms": T_MIN, "t_max_ms": T_MAX}
    out = []
    for slug, steps in {**_outgoing(revision), **_incoming()}.items():
        comment, flags, requirements = _TOLD[slug]
        if slug in _ANEW:
            requirements += _ANEW[slug][revision.requests_again]
        if any(NEGLECTED in outcomes for _, _, *outcomes in steps):
            flags += " Should"
        told = [{"at_ms": at, "receive": message_json(said), "outcomes": outcomes} for at, said, *outcomes in steps]
        out.append(stepwise(slug, comment, flags, of_sds(requirements), {**fields, "num_response_groups": 1}, told))
    return out


_SHOULD = "R-STATE-01 R-RECV-03 R-RECV-05"
_TOLD = {
    "missing": ("A message depends on one that is missing.", "Missing", f"{_SHOULD} R-RECV-06 R-TREQ-01"),
    "missing-then-here": ("It arrives.", "Missing Arrives", "R-RECV-01"),
    "two-missing": ("Two are missing, each has its own time.", "Missing", f"{_SHOULD} R-TREQ-04"),
    "detected-later": ("The time counts from when the gap was found.", "Missing", "R-TREQ-05"),
    "named-again": ("Another message depends on the same one.", "Keeps", "R-STATE-02"),
    "a-sync-tells": ("A sync message names one that is missing.", "Missing AnyMessage", "R-RECV-13 SYNC-12"),
    "a-sync-of-that-id": ("A sync message has the ID of what is missing.", "SyncId", "SYNC-10 R-RECV-01"),
    "nothing-is-missing": ("The dependency is logged.", "Here", "R-STATE-01"),
    "what-waits": ("A dependency waits itself.", "Here", "R-STATE-01"),
    "somebody-else-asks": ("Somebody else asks for what is missing.", "Overheard", "R-RECV-07"),
    "somebody-else-asks-in-a-sync": (
        "A sync message asks for what is missing.",
        "Overheard AnyMessage",
        "R-RECV-07 R-RECV-13",
    ),
    "somebody-else-asks-without-an-author": ("The request names no author.", "Overheard NoAuthor", "R-RECV-07"),
    "asked-by-others-and-not-named-again": (
        "Others asked; the next message is about something else.",
        "Overheard Again",
        "R-RECV-07",
    ),
    "asked-by-others-and-named-again": (
        "Others asked; the next message depends on the same one.",
        "Overheard Again",
        "R-RECV-07 R-TREQ-05",
    ),
    "asked": ("Somebody asks for what is logged.", "Asked", "R-STATE-04 R-TRESP-01 R-RECV-08 R-RECV-10"),
    "asked-again": ("Somebody else asks for the same.", "Asked Keeps", "R-STATE-06 R-RECV-08"),
    "asked-twice-in-one": ("It stands twice in one request.", "Asked Keeps", "R-STATE-06 R-RECV-08"),
    "asked-in-a-sync": ("A sync message asks.", "Asked AnyMessage", "R-RECV-13 R-RECV-08"),
    "answered-by-others": ("A copy comes from somebody else.", "Answered", "R-RECV-02"),
    "asked-for-the-unknown": ("Somebody asks for what nobody has seen.", "Unknown", "R-RECV-09"),
    "asked-for-what-waits": ("Somebody asks for what waits.", "Unknown", "R-RECV-09"),
    "asked-without-an-author": (
        "The request names no author, and another one does.",
        "NoAuthor Asked",
        "R-RECV-12 R-RECV-08",
    ),
    "asked-under-the-own-id": ("The request comes under the own ID.", "OwnTraffic", "RECV-01 R-RECV-10"),
}
"""Of each conversation: comment, flags and requirements. Where there may be no entry, the flag Should is added."""
_ANEW = {
    "asked-by-others-and-not-named-again": ("", " R-RECV-05"),
    "asked-by-others-and-named-again": (" R-RECV-03", " R-RECV-05"),
}
"""Further requirements: of the text of today, and of the amended one, which makes a new entry for whatever waits."""


def _outgoing(revision: Revision) -> dict[str, list[Step]]:
    b1, b2 = _message("b1"), _message("b2", "b1", lamport=1001)
    missing = _holds(_missing("b1", 0))
    tracked = (missing, NEGLECTED)
    again = _holds(_missing("b1", 100))
    # The amended text looks at everything that waits on each reception; that of today only at what is named.
    if revision.requests_again:
        unnamed, named = (again, warned(NOTHING, "AMB-118")), (again, NEGLECTED)
    else:
        unnamed, named = (NOTHING, legal(again, "AMB-68")), (again, legal(NOTHING, "AMB-68"))
    first, second = _missing("b1", 0), _missing("b2", 0)
    either = (warned(_holds(first)), warned(_holds(second)))
    both = _holds(first, _missing("b2", 50))
    kept = _still_none(NEGLECTED, 1)
    gap: Step = (0, b2, *tracked)
    overheard: Step = (50, _asks("b1"), NOTHING)
    named_in_c1 = _message("c1", "b1", sender="carol")
    unsigned = _message("c1", sender="carol", asks=_asked("b1", None))
    other, dependent = _message("d1", sender="dave"), _message("d1", "b1", sender="dave")
    return {
        "missing": [gap],
        "missing-then-here": [gap, (50, b1, NOTHING)],
        "two-missing": [(0, _message("b3", "b1", "b2"), _holds(first, second), *either, NEGLECTED)],
        "detected-later": [(0, other, NOTHING), (777, b2, _holds(_missing("b1", 777)), NEGLECTED)],
        "named-again": [gap, (5000, named_in_c1, missing, kept)],
        "a-sync-tells": [(0, _message("s", "b1", sync=True), *tracked)],
        "a-sync-of-that-id": [gap, (50, _message("b1", sync=True), missing, _holds(position="AMB-43"))],
        "nothing-is-missing": [(0, b1, NOTHING), (50, b2, NOTHING)],
        "what-waits": [gap, (50, _message("b3", "b2", lamport=1002), missing, warned(both, "AMB-70"), kept)],
        "somebody-else-asks": [gap, overheard],
        "somebody-else-asks-in-a-sync": [gap, (50, _asks("b1", sync=True), NOTHING)],
        "somebody-else-asks-without-an-author": [gap, (50, unsigned, NOTHING)],
        "asked-by-others-and-not-named-again": [gap, overheard, (100, other, *unnamed)],
        "asked-by-others-and-named-again": [gap, overheard, (100, dependent, *named)],
    }


def _incoming() -> dict[str, list[Step]]:
    b1, b2 = _message("b1"), _message("b2", "b1", lamport=1001)
    asks = _asks("b1")
    of_bob, of_dave = _due("b1", 100), _due("d1", 100, "dave")
    due = _holds(incoming=[of_bob])
    queued = (due, NEGLECTED)
    logged: Step = (0, b1, NOTHING)
    asked: Step = (100, asks, *queued)
    waits, held = _missing("b1", 0), [_due("b2", 100)]
    waiting = (_holds(waits), _holds(waits, incoming=held, position="AMB-71"))
    queued_alone = _still_none(warned(_holds(incoming=held), "AMB-71"), 1)
    kept = _still_none(NEGLECTED, 1)
    twice = _message("c1", sender="carol", asks=_asked("b1") * 2)
    both = _message("c1", sender="carol", asks=(*_asked("d1", None), *_asked("b1")))
    one_or_both = (_holds(incoming=[of_bob, of_dave]), legal(due, "AMB-72"), warned(_holds(incoming=[of_dave])))
    own = _message("a9", sender=ALICE, asks=_asked("b1"))
    return {
        "asked": [logged, asked],
        "asked-again": [logged, asked, (500, _asks("b1", "dave"), due, kept)],
        "asked-twice-in-one": [logged, (100, twice, *queued)],
        "asked-in-a-sync": [logged, (100, _asks("b1", sync=True), *queued)],
        "answered-by-others": [logged, asked, (200, b1, NOTHING)],
        "asked-for-the-unknown": [(0, asks, NOTHING)],
        "asked-for-what-waits": [
            (0, b2, _holds(waits), NEGLECTED),
            (100, _asks("b2"), *waiting, kept, queued_alone),
        ],
        "asked-without-an-author": [
            logged,
            (50, _message("d1", sender="dave"), NOTHING),
            (100, both, *one_or_both, NEGLECTED),
        ],
        "asked-under-the-own-id": [logged, (100, own, NOTHING, warned(due, "AMB-22"))],
    }
