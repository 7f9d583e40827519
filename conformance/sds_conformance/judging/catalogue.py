"""The requirement catalogue: every testable statement of a text, in our own words, under its stable ID."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the text."""

    id: str
    title: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Requirement:
    """One testable statement."""

    id: str
    section: str
    level: str
    """RFC 2119 level: MUST, MUST NOT, SHOULD, SHOULD NOT, MAY or RECOMMENDED."""
    severity: int
    """From 1 to 4, see ``judging.severity``."""
    keyword: str
    """``explicit``, ``lowercase`` or ``implied`` by other rules."""
    anchor: str
    """Heading of the text in which it stands."""
    observable: str
    """``wire``, ``state``, ``statistical`` or ``none``."""
    statement: str
    positions: tuple[str, ...]
    softened: str
    """The position that makes a violation a warning, "" if none does."""
    revisions: tuple[str, ...]
    """The revisions of the text that state it, the current one first if that does."""
    link: str = ""
    """Where the public text has it, as near as one can link to; "" where none is known that states it."""
    codes: Mapping[str, str] = field(default_factory=dict)
    """The ways in which it can be violated: the code of each, ``delivered-early`` in ``SDS-RECV-06/delivered-early``,
    with what is wrong in a few words."""
    untestable: str = ""
    """Why there is no check of it, "" if there is one."""
    experimental: bool = False
    """It is new: a violation is a warning at most, and counts for no level, certificate or exit code."""

    @property
    def binding(self) -> bool:
        """A violation is a failure, not a warning."""
        return self.level.startswith("MUST") and not self.experimental

    @property
    def optional(self) -> bool:
        """A deviation is only told."""
        return self.level in ("MAY", "RECOMMENDED")

    def stated_in(self, revision: str) -> bool:
        """Is it a requirement of that revision?"""
        return revision in self.revisions


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All requirements of all revisions, in the order of the texts."""

    sections: tuple[Section, ...]
    requirements: dict[str, Requirement]
    positions: dict[str, Position]
    """By ID, in the order of their numbers; those on rules that contradict each other come last."""
    consequences: tuple[Consequence, ...] = ()


POSITIONS = "AMB"
"""How the ID of every position begins, before a dash, where a protocol says nothing else."""

POSITION_VERDICTS: dict[str, str] = {
    "assert": "the suite holds every implementation to it",
    "tolerate": "every choice that it names is accepted",
    "warn": "a deviation, or the kind of it that is named, is a warning; --strict fails it where it breaks a MUST",
    "config": "what is judged depends on the configuration in force, or on how the suite plays it",
    "profile": "exact results are judged under a declared profile or for the revision of the run only",
}
"""What the suite makes of a position, by the word in the file."""


@dataclass(frozen=True, slots=True)
class Option:
    """One of the answers that an implementation may give to the question of a position."""

    words: str
    """A description of a few words."""
    taken_by: str = ""
    """The model that takes it: ``reference``, ``variant NAME`` or ``mutant NAME``; "" if none does."""
    reason: str = ""
    """Why no model takes it."""


NOT_SHOWN = {
    "assert": "one way alone is accepted: who goes another violates the requirements that it is about",
    "config": "a choice of the suite, and none of an implementation",
}
"""Why no run shows which way an implementation goes at a position without options, if the row has no reason: by what
the suite makes of it."""


@dataclass(frozen=True, slots=True)
class Position:
    """What the suite does where the text leaves something open."""

    id: str
    question: str
    """What the text leaves open, in a sentence."""
    position: str
    """What the suite does, in a sentence."""
    verdict: str
    """One of POSITION_VERDICTS."""
    options: Mapping[str, Option] = field(default_factory=dict)
    """By name: the choices that a run can show."""
    not_shown: str = ""
    """Why no run shows which way an implementation goes, "" if one can."""
    variants: Sequence[str] = ()
    """The legal variants of the model that go a way which no run shows."""
    explains: Sequence[str] = ()
    """The freedoms of a corpus diff that it explains, by name."""


@dataclass(frozen=True, slots=True)
class Consequence:
    """Requirements that a fault in others fails as well, because it truly violates them, too."""

    of: tuple[str, ...]
    """The requirements that a fault is in."""
    fail: tuple[str, ...]
    """Those that may fail beside them."""
    because: str
    """Why, in a sentence."""

    def explains(self, cause: str, effect: str) -> bool:
        """Does it say why ``effect`` fails beside ``cause``?"""
        return cause in self.of and effect in self.fail


def read_catalogue(package: str, names: Sequence[str]) -> Catalogue:
    """The catalogue in the JSON files ``names`` of a package, one for each text, and its ``positions.json``.

    A row is of all revisions of its text unless it names some. ``consequences.json`` may stand beside them. ``text`` is
    the address of the first revision, and where that is ``anchored``, its headings can be linked to.
    """
    texts = [json.loads(files(package).joinpath(name).read_text("utf-8")) for name in names]
    requirements = [
        Requirement(
            **row
            | {
                "positions": tuple(row["positions"]),
                "softened": row.get("softened", ""),
                "revisions": tuple(row.get("revisions", data["revisions"])),
                "link": _link(data, row),
            }
        )
        for data in texts
        for row in data["requirements"]
    ]
    positions = json.loads(files(package).joinpath("positions.json").read_text("utf-8"))["positions"]
    declared = files(package).joinpath("consequences.json")
    consequences = json.loads(declared.read_text("utf-8"))["consequences"] if declared.is_file() else []
    return Catalogue(
        tuple(Section(**section) for data in texts for section in data["sections"]),
        {requirement.id: requirement for requirement in requirements},
        {row["id"]: _position(row) for row in positions},
        tuple(Consequence(tuple(row["of"]), tuple(row["fail"]), row["because"]) for row in consequences),
    )


def _position(row: dict[str, Any]) -> Position:
    options = {name: Option(**option) for name, option in row.get("options", {}).items()}
    reason = "" if options else row.get("not_shown") or NOT_SHOWN.get(row["verdict"], "")
    return Position(**row | {"options": options, "not_shown": reason})


def _link(data: dict[str, Any], row: dict[str, Any]) -> str:
    if "text" not in data or row.get("experimental") or data["revision"] not in row.get("revisions", data["revisions"]):
        return ""
    return f"{data['text']}#{row['anchor']}" if data["anchored"] else str(data["text"])
