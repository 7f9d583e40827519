"""Vectors as dicts, as they are stored in files; the register of groups; and the interface to a protocol."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sds_harness.language import Language
from sds_harness.session import Session

from ..judging.catalogue import Catalogue, Requirement
from ..judging.runner import Connect
from .running.subject import Subject, VectorResult

GENERATOR_VERSION = "1"
"""Version of the format. It changes if the meaning of a field changes, not if vectors change."""

VALID, INVALID, ACCEPTABLE = "valid", "invalid", "acceptable"

Vector = dict[str, Any]
Outcome = dict[str, Any]
Schema = dict[str, Any]
Builder = Callable[[Any], list[Vector]]
"""Computes the vectors of a revision, given the revision object of the protocol."""


@dataclass(frozen=True)
class Note:
    """The meaning of a flag, with the requirements and positions behind it."""

    description: str
    ids: tuple[str, ...]
    """IDs of requirements and positions."""


@dataclass
class Group:
    """A group with computed vectors, and its builder for each revision."""

    name: str
    shape: str
    title: str
    """The content of the group, in one sentence."""
    notes: dict[str, dict[str, Note]] = field(default_factory=dict)
    """The meaning of the flags of the group, by revision."""
    builders: dict[str, Builder] = field(default_factory=dict)
    """The builders by revision. The builders of all revisions register under the name of the group."""


class VectorRegister:
    """The groups of a protocol with computed vectors, by name, in the order of registration."""

    def __init__(self) -> None:
        self.groups: dict[str, Group] = {}

    def group(
        self, name: str, shape: str, title: str, notes: dict[str, Note], revisions: Iterable[str]
    ) -> Callable[[Builder], Builder]:
        """Register a builder of a group of vectors for some revisions. ``notes`` explains the flags of the group."""

        def register(builder: Builder) -> Builder:
            entry = self.groups.setdefault(name, Group(name, shape, title))
            for revision in revisions:
                if revision in entry.builders:
                    raise ValueError(f"two builders are registered for the group {name} of {revision}")
                entry.builders[revision] = builder
                entry.notes[revision] = notes
            return builder

        return register


@dataclass(frozen=True)
class Shape:
    """The common format of the vectors of several groups: their fields, and how to run them."""

    title: str
    test: Schema
    """Schema of one vector."""
    ask: Callable[[Any, Vector], VectorResult]
    """Runs a vector on the subject of the protocol. Raises VectorSkippedError and ScheduleStoppedError."""
    definitions: Mapping[str, Schema] = field(default_factory=dict)
    """Schemas to which the schema of a vector refers."""
    heading: Mapping[str, Schema] = field(default_factory=dict)
    """Schemas of the fields that only files of this shape have."""
    head: Callable[[str], dict[str, Any]] = lambda revision: {}
    """Returns the values of the fields in ``heading``, given the first revision of the file."""
    senseless: Callable[[Vector], Iterable[str]] = lambda vector: ()
    """Returns the paths of fields that refer to something missing, in a vector that matches its schema."""


@dataclass(frozen=True)
class Material:
    """Everything that a protocol provides for its golden vectors. This package uses nothing else of a protocol."""

    folder: str
    """Name of the subfolder with the files of the protocol."""
    revisions: Mapping[str, Any]
    """Revision objects for builders, by name, the current one first."""
    together: Mapping[tuple[str, ...], str]
    """Maps several revisions to their common name in file names and IDs, if it is not the list of their names."""
    computed: Mapping[str, Group]
    """The groups with computed vectors. All other vectors are written by hand and exist only in the files."""
    shapes: Mapping[str, Shape]
    load: Callable[[], Catalogue]
    """Returns the catalogue, the same object each time."""
    open: Callable[[Session, str, str | None, dict[str, str]], Subject]
    """Creates the subject for one vector. Arguments: the session, the revision, the requested dialect (None for the
    declared one), and the values remembered from earlier vectors.
    """
    language: Language
    """The testee protocol."""
    held: Callable[[Any, Vector, VectorResult], VectorResult]
    """Returns the result of a vector, or a failure if the implementation refused an operation without a legal
    reason.
    """
    models: Sequence[Connect]
    """The reference model under each profile that vectors can name. All these models must agree with the vectors."""

    @property
    def requirements(self) -> Mapping[str, Requirement]:
        return self.load().requirements

    @property
    def positions(self) -> Collection[str]:
        return self.load().positions

    @property
    def current(self) -> str:
        """The default revision."""
        return next(iter(self.revisions))

    def soft(self, ids: Sequence[str]) -> bool:
        """Does a violation of these requirements only count as a warning? Yes, if each requirement is a SHOULD, or a
        MUST that a position softens.

        An unknown requirement counts as a MUST.
        """
        known = [self.requirements.get(i) for i in ids]
        return bool(known) and all(r is not None and (not r.is_binding or bool(r.softened)) for r in known)

    def select_stated(self, ids: Iterable[str], revisions: Sequence[str]) -> list[str]:
        """Return the IDs without the requirements that none of the revisions states. Other IDs, such as positions, are
        kept.
        """
        known = self.requirements
        return [i for i in ids if i not in known or any(known[i].is_stated_in(revision) for revision in revisions)]


@dataclass(frozen=True)
class VectorSet:
    """The material of several protocols, whose files are in one folder with one manifest."""

    materials: tuple[Material, ...]

    def __post_init__(self) -> None:
        """Raises ValueError if two protocols use the same name for a folder, revision, group or shape."""
        for kind, names in (
            ("folder", [material.folder for material in self.materials]),
            ("revision", [name for material in self.materials for name in material.revisions]),
            ("group", [name for material in self.materials for name in material.computed]),
            ("shape", [name for material in self.materials for name in material.shapes]),
        ):
            for name, times in Counter(names).items():
                if times > 1:
                    raise ValueError(f"two protocols have a {kind} of vectors called {name}")

    @property
    def revisions(self) -> list[str]:
        """All revisions, beginning with the current revision of the first protocol."""
        return [name for material in self.materials for name in material.revisions]

    @property
    def shapes(self) -> dict[str, Shape]:
        return {name: shape for material in self.materials for name, shape in material.shapes.items()}

    def material_of(self, revision: str) -> Material:
        """The material of a revision. Raises KeyError for an unknown revision."""
        for material in self.materials:
            if revision in material.revisions:
                return material
        raise KeyError(revision)


def vector(
    slug: str,
    comment: str,
    flags: str | Sequence[str],
    requirements: Sequence[str],
    fields: dict[str, Any],
    *outcomes: Outcome,
) -> Vector:
    """Create a vector, with ``slug`` as its ID: the caller puts the name of the group before it. The first outcome is
    the recommended one. Without outcomes, the vector has ``steps`` in ``fields``, with outcomes of their own.
    """
    return {
        "id": slug,
        "comment": comment,
        "flags": flags.split() if isinstance(flags, str) else list(flags),
        "requirements": list(requirements),
        **fields,
        **({"outcomes": list(outcomes)} if outcomes else {}),
    }


def result_of(test: Vector) -> str:
    """Return ``valid`` for a single outcome, ``invalid`` if this is a rejection, ``acceptable`` for several outcomes.

    A vector of steps is ``acceptable`` if a step has several outcomes, else ``valid``.
    """
    several = [len(part["outcomes"]) != 1 for part in ([test] if "outcomes" in test else test["steps"])]
    if any(several):
        return ACCEPTABLE
    return INVALID if "outcomes" in test and test["outcomes"][0].get("rejected") else VALID


def legal(outcome: Outcome, position: str = "") -> Outcome:
    """Return an outcome with the position that allows it; unchanged if ``position`` is ""."""
    return {**outcome, "position": position} if position else outcome
