"""The seven steps by which a deleted record would come back (section "Deleted Records"), as each peer sees them.

    1. A, B and C know about a record.   2. Only A and B are running.   3. The record is deleted on A.
    4. B also deletes its record.   5. A disconnects.   6. C connects to B, and has the record.   7. A reconnects to B.

They are written by hand: what has to come out of a step follows from the text.
"""

from __future__ import annotations

from collections.abc import Mapping

from clearskies_reference import AccessLevel
from sds_harness.clearskies.clubs import READ_ONLY, READ_WRITE
from sds_harness.clearskies.trace import Text

from ....vectors.model import Note, Outcome, Vector, stepwise
from .fields import LATER, A, B, C, Fields, update, version
from .register import group

KEY = "photo-1234"
NOTES = {
    "Ghost": Note(
        "Deleted records are remembered: who has missed the deletion gets it, and what such a peer still has does not "
        "bring the record back.",
        ("CSDB-56", "CSDB-49", "CSDB-59", "CA-13"),
    ),
    "Readers": Note("Your peer is a read-only one, and is sent signed messages.", ("CSDB-05", "CSDB-16")),
}

RECORD = update(A, 2, {A: 1}, value='"there"')
DELETION = update(A, 3, {A: 2}, deleted=True, time=LATER, seen=True)
THERE: Outcome = {"keys": {KEY: '"there"'}, "gone": []}
GONE: Outcome = {"keys": {}, "gone": [KEY]}


def _step(do: str, *outcomes: Outcome, **fields: object) -> Fields:
    return {"do": do, **fields, "outcomes": list(outcomes)}


def _connect(link: str, peer: str, known: int) -> Fields:
    """A link, on which your peer asks for what is above the revision of A that it knows, 0 for none."""
    asked = {"since": {A: str(known)} if known else {}}
    return _step("connect", asked, link=link, peer_id=peer, access_level="read_write")


def _asked(link: str, since: Mapping[str, int], *sent: Fields) -> Fields:
    """The other end asks for updates, and gets these."""
    told = [{**version(each), "deleted": each.get("deleted", False)} for each in sent]
    numbers = {peer: str(revision) for peer, revision in since.items()}
    return _step("ask", {"updates": {link: told}}, link=link, since=numbers)


def _told(link: str, fields: Fields) -> Fields:
    """The other end sends an update; what is passed on to whom is left open here."""
    return _step("update", {}, link=link, update=fields)


def _left(link: str) -> Fields:
    return _step("disconnect", {}, link=link)


def _look(outcome: Outcome) -> Fields:
    """What the application finds."""
    return _step("look", outcome)


@group("ghost-records", "club-transcript", "The seven steps of the ghost record, as one of its peers.", NOTES)
def ghost_records(revision: Text) -> list[Vector]:
    """A transcript for each peer; B and C can be read-only."""
    return [_as_a(), *(make(level) for level in (READ_WRITE, READ_ONLY) for make in (_as_b, _as_c))]


def _transcript(slug: str, comment: str, shorts: str, level: AccessLevel, *steps: Fields) -> Vector:
    slug, flags = (slug, "Ghost") if level is READ_WRITE else (f"{slug}-as-a-reader", "Ghost Readers")
    requirements = [f"CSDB-{short}" for short in shorts.split()]
    return stepwise(slug, comment, flags, requirements, {"access_level": level.value}, list(steps))


def _as_a() -> Vector:
    """The peer that deletes. It chooses uuid and clocks, so what it sent is repeated to it as it was."""
    first, deletion = {"key": KEY, "deleted": False}, {"deleted": True}
    return _transcript(
        "as-a",
        "Your peer is A: it deletes its record, and meets B again.",
        "14 56",
        READ_WRITE,
        _connect("b", B, 0),
        _step("ask", {"updates": {"b": []}}, link="b", since={}),
        _step("put", {"updates": {"b": [first]}}, key=KEY, value='"there"', binds="$record"),
        _step("delete", {"updates": {"b": [deletion]}}, key=KEY),
        _left("b"),
        _look(GONE),
        _connect("b again", B, 0),
        _step("ask", {"updates": {"b again": [deletion]}}, link="b again", since={}),
        _step("repeat", {"updates": {"b again": []}}, link="b again", update="$record"),
        _look(GONE),
    )


def _as_b(level: AccessLevel) -> Vector:
    """The peer in the middle, with which the text is concerned."""
    return _transcript(
        "as-b",
        "Your peer is B: it learns of the deletion, and meets C, which has not.",
        "49 56 59",
        level,
        _connect("a", A, 0),
        _asked("a", {}),
        _told("a", RECORD),
        _connect("c", C, 2),
        _asked("c", {}, RECORD),
        _look(THERE),
        _left("c"),
        _told("a", DELETION),
        _look(GONE),
        _left("a"),
        _connect("c again", C, 3),
        _asked("c again", {A: 2}, DELETION),
        _told("c again", RECORD),
        _look(GONE),
        _connect("a again", A, 3),
        _asked("a again", {A: 3}),
        _look(GONE),
    )


def _as_c(level: AccessLevel) -> Vector:
    """The peer that was away."""
    return _transcript(
        "as-c",
        "Your peer is C: it has the record, and is told of its deletion when it comes back.",
        "29 50 56",
        level,
        _connect("b", B, 0),
        _told("b", RECORD),
        _look(THERE),
        _left("b"),
        _connect("b again", B, 2),
        _told("b again", DELETION),
        _look(GONE),
        _told("b again", RECORD),
        _look(GONE),
        _connect("stranger", A, 3),
        _asked("stranger", {}, DELETION),
    )
