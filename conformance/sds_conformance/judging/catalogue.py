"""The requirement catalogue: every testable statement of a specification, paraphrased, with a stable ID."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the specification."""

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
    """Severity of a violation, from 1 to 4, see ``judging.severity``."""
    keyword: str
    """How the specification states the level: ``explicit``, in ``lowercase``, or ``implied`` by other rules."""
    anchor: str
    """Heading of the section that states the requirement."""
    observable: str
    """Where a violation shows: ``wire``, ``state``, ``statistical`` (only in many samples) or ``none`` (nowhere)."""
    statement: str
    positions: tuple[str, ...]
    softened: str
    """The position that turns a violation into a warning; "" if none does."""
    revisions: tuple[str, ...]
    """The revisions that state the requirement. The current revision comes first if it states the requirement."""
    link: str = ""
    """Link to the nearest heading with an anchor in the published specification; "" if no published specification is
    known to state the requirement.
    """
    codes: Mapping[str, str] = field(default_factory=dict)
    """Short descriptions of the violations, by code. The code of ``SDS-RECV-06/delivered-early`` is
    ``delivered-early``.
    """
    untestable: str = ""
    """Why no check tests the requirement; "" if a check does."""
    experimental: bool = False
    """The requirement is new: a violation is at most a warning and does not count for levels, certificates or exit
    codes.
    """

    @property
    def is_binding(self) -> bool:
        """Is a violation a failure, not a warning?"""
        return self.level.startswith("MUST") and not self.experimental

    @property
    def optional(self) -> bool:
        """Is a deviation only noted, because the requirement is a MAY?"""
        return self.level in ("MAY", "RECOMMENDED")

    def is_stated_in(self, revision: str) -> bool:
        """Does that revision state the requirement?"""
        return revision in self.revisions


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All requirements of all revisions, in the order of the specification."""

    sections: tuple[Section, ...]
    requirements: dict[str, Requirement]
    positions: dict[str, Position]
    """The positions by ID, in the order of their numbers; positions on rules that contradict each other come last."""
    consequences: tuple[Consequence, ...] = ()


ANOTHER_LAYOUT = "another-layout"
"""The code of violations that disappear when the dialect in use translates the messages."""

POSITIONS = "AMB"
"""Default prefix of position IDs, before the dash. A protocol can use another one."""

POSITION_VERDICTS: dict[str, str] = {
    "assert": "the suite demands the position of every implementation",
    "tolerate": "every choice that the position names is accepted",
    "warn": "a deviation, or only the named kind of it, is a warning; with --strict, it fails if it breaks a MUST",
    "config": "the verdict depends on the configuration in force, or on how the suite plays the scenarios",
    "profile": "exact results are judged only under a declared profile, or only under the revision of the run",
}
"""Description of each value of ``verdict`` in ``positions.json``: how the suite treats the position."""


@dataclass(frozen=True, slots=True)
class Option:
    """One of the choices that a position leaves to implementations."""

    words: str
    """Description of the choice in a few words, for reports."""
    taken_by: str = ""
    """The model that makes this choice: ``reference``, ``variant NAME`` or ``mutant NAME``; "" if none does."""
    reason: str = ""
    """Why no model makes this choice."""


NOT_SHOWN = {
    "assert": "only the position is legal, and any other choice violates a requirement that rests on the position",
    "config": "the suite makes this choice, not an implementation",
}
"""By ``verdict``: the default reason why no run shows the choice of an implementation at a position without options."""


@dataclass(frozen=True, slots=True)
class Position:
    """The decision of the suite on a point that the specification leaves open."""

    id: str
    question: str
    """The point that the specification leaves open, in one sentence."""
    position: str
    """The decision of the suite, in one sentence."""
    verdict: str
    """One of POSITION_VERDICTS."""
    options: Mapping[str, Option] = field(default_factory=dict)
    """The choices that a run can show, by name."""
    not_shown: str = ""
    """Why no run shows the choice of an implementation; "" if a run can."""
    variants: Sequence[str] = ()
    """Legal variants of the model that take another choice at this position, if no run can show the choice."""
    explains: Sequence[str] = ()
    """Names of the permitted differences in a corpus diff that this position explains."""


SELF_TEST = "self-test"
"""The default of `Consequence.shown_by`."""


@dataclass(frozen=True, slots=True)
class Consequence:
    """A declared relation: a fault in some requirements can violate other requirements as well."""

    of: tuple[str, ...]
    """The requirements that can be the cause: a fault that violates one of them can violate those in ``fail``. A full
    code means that only a fault with this violation can.
    """
    fail: tuple[str, ...]
    """The requirements or properties of the group that may fail as well. A full code means that only this violation of
    the requirement may occur.
    """
    because: str
    """Why the consequence follows from the cause, in one sentence."""
    shown_by: str = SELF_TEST
    """The runs that show the consequence on a mutant: ``self-test`` (each mutant plays some scenarios), ``all
    scenarios``, or ``schedules`` (generated ones).
    """

    def explains(self, cause: str, effect: str) -> bool:
        """Does the consequence declare that a fault in ``cause`` can violate ``effect``, with any code or with some
        codes only?
        """
        return any(one.partition("/")[0] == cause for one in self.of) and any(
            one.partition("/")[0] == effect for one in self.fail
        )

    def is_caused_by(self, cause: str, codes: frozenset[str]) -> bool:
        """Does the consequence hold for a fault in ``cause`` that shows as these ``codes``?"""
        return cause in self.of or any(f"{cause}/{code}" in self.of for code in codes)

    def explained_codes(self, effect: str, codes: frozenset[str]) -> frozenset[str]:
        """The ``codes`` of ``effect`` that the consequence declares."""
        if effect in self.fail:
            return codes
        named = (one.partition("/") for one in self.fail)
        return codes & {code for requirement, _, code in named if requirement == effect}


def read_catalogue(package: str, names: Sequence[str]) -> Catalogue:
    """Read the catalogue of a package from the JSON files ``names``, one for each specification, and
    ``positions.json``.

    A row belongs to all revisions of its file unless it lists revisions of its own. ``consequences.json`` is optional.
    The JSON key ``text`` is the address of the first revision. If ``anchored`` is set, links go to the headings of that
    page.
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
        tuple(Consequence(**row | {"of": tuple(row["of"]), "fail": tuple(row["fail"])}) for row in consequences),
    )


def _position(row: dict[str, Any]) -> Position:
    options = {name: Option(**option) for name, option in row.get("options", {}).items()}
    reason = "" if options else row.get("not_shown") or NOT_SHOWN.get(row["verdict"], "")
    return Position(**row | {"options": options, "not_shown": reason})


def _link(data: dict[str, Any], row: dict[str, Any]) -> str:
    if "text" not in data or row.get("experimental") or data["revision"] not in row.get("revisions", data["revisions"]):
        return ""
    return f"{data['text']}#{row['anchor']}" if data["anchored"] else str(data["text"])
