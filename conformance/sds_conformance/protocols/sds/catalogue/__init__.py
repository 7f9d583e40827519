"""The requirement catalogue: every testable statement of the text, in our own words, under its stable ID."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

CURRENT = "sds-2026-01"
"""The revision that is judged unless another is asked for."""

_FILES = (f"{CURRENT}.json", "forum-2024.json")
"""One for each text: revisions of one text share it."""


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

    @property
    def binding(self) -> bool:
        """A violation is a failure, not a warning."""
        return self.level.startswith("MUST")

    @property
    def optional(self) -> bool:
        """A deviation is only told."""
        return self.level in ("MAY", "RECOMMENDED")

    def stated_in(self, revision: str) -> bool:
        """Is it a requirement of that revision?"""
        return revision in self.revisions

    @property
    def core(self) -> bool:
        """Part of SDS itself, not of the SDS-R extension."""
        return not self.section.startswith("R-")


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All requirements of all revisions, in the order of the texts."""

    sections: tuple[Section, ...]
    requirements: dict[str, Requirement]


@cache
def load_catalogue() -> Catalogue:
    """The catalogue: the statements of each text. A row is of all revisions of its text unless it names some."""
    texts = [json.loads(files(__package__).joinpath(name).read_text("utf-8")) for name in _FILES]
    requirements = [
        Requirement(
            **{key: row[key] for key in ("id", "section", "level", "keyword", "anchor", "observable", "statement")},
            positions=tuple(row["positions"]),
            softened=row.get("softened", ""),
            revisions=tuple(row.get("revisions", data["revisions"])),
        )
        for data in texts
        for row in data["requirements"]
    ]
    return Catalogue(
        tuple(Section(**section) for data in texts for section in data["sections"]),
        {requirement.id: requirement for requirement in requirements},
    )
