"""What a vector is, namely the dict that stands in its file; the register of groups; and what a protocol brings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sds_harness.language import Language
from sds_harness.session import Session

from ..judging.catalogue import Catalogue, Requirement
from ..judging.runner import Connect
from .running.subject import Answer, Subject

GENERATOR_VERSION = "1"
"""Version of the format: it changes with the meaning of a field, not with the vectors."""

VALID, INVALID, ACCEPTABLE = "valid", "invalid", "acceptable"

Vector = dict[str, Any]
Outcome = dict[str, Any]
Schema = dict[str, Any]
Builder = Callable[[Any], list[Vector]]
"""Computes the vectors of a revision, which it is given as the protocol knows it."""


@dataclass(frozen=True)
class Note:
    """What a flag means, told once, and what it rests on."""

    description: str
    ids: tuple[str, ...]
    """Requirements and positions."""


@dataclass
class Group:
    """A group with vectors that a formula gives, and how they are computed for each revision."""

    name: str
    shape: str
    title: str
    """What it holds, in a sentence."""
    notes: dict[str, dict[str, Note]] = field(default_factory=dict)
    """By the name of a revision: what its flags mean."""
    builders: dict[str, Builder] = field(default_factory=dict)
    """By the name of a revision: a group of another one is one more builder under the same name."""


class Register:
    """The groups of a protocol that have computed vectors, by name, in the order they are registered."""

    def __init__(self) -> None:
        self.groups: dict[str, Group] = {}

    def group(
        self, name: str, shape: str, title: str, notes: dict[str, Note], revisions: Iterable[str]
    ) -> Callable[[Builder], Builder]:
        """Register a builder of a group for some revisions, with the notes on its flags."""

        def register(builder: Builder) -> Builder:
            entry = self.groups.setdefault(name, Group(name, shape, title))
            for revision in revisions:
                if revision in entry.builders:
                    raise ValueError(f"two builders of {name} for {revision}")
                entry.builders[revision] = builder
                entry.notes[revision] = notes
            return builder

        return register


@dataclass(frozen=True)
class Shape:
    """What the vectors of several groups have in common: their fields, and who asks for them."""

    title: str
    test: Schema
    """Of one vector."""
    ask: Callable[[Any, Vector], Answer]
    """Asks the subject of the protocol. Raises Skip, and ScheduleStopped."""
    definitions: Mapping[str, Schema] = field(default_factory=dict)
    """Schemas that the one of a vector refers to."""
    heading: Mapping[str, Schema] = field(default_factory=dict)
    """The fields of a file beside those that every file has."""
    head: Callable[[str], dict[str, Any]] = lambda revision: {}
    """What stands in them, by the name of the first revision of the file."""
    senseless: Callable[[Vector], Iterable[str]] = lambda vector: ()
    """Where a vector that is what the schema says asks for nothing all the same: what refers to what is not there, by
    paths within the vector."""


@dataclass(frozen=True)
class Material:
    """What a protocol brings to its golden vectors. Nothing else of it is known in this package."""

    folder: str
    """Where its files stand in a folder of vectors, beside ``schema/`` and those of other protocols."""
    revisions: Mapping[str, Any]
    """By name, the current one first: what builders are given."""
    together: Mapping[tuple[str, ...], str]
    """What several revisions are called together in names of files and IDs, where that is not all of their names."""
    computed: Mapping[str, Group]
    """The groups that have vectors which a formula gives. All other vectors are written in their files."""
    shapes: Mapping[str, Shape]
    load: Callable[[], Catalogue]
    """Gives the catalogue, the same each time."""
    open: Callable[[Session, str, str | None, dict[str, str]], Subject]
    """From a session, the revision and the dialect asked for (None for the declared one): who answers one vector, given
    what is remembered from one vector to the next."""
    language: Language
    """In which implementations are driven."""
    held: Callable[[Any, Vector, Answer], Answer]
    """The answer of a subject to a vector, or what it did on the way to it that nothing allows."""
    models: Sequence[Connect]
    """The reference model under each profile that vectors can name: what is written must agree with each."""

    @property
    def requirements(self) -> Mapping[str, Requirement]:
        return self.load().requirements

    @property
    def positions(self) -> Collection[str]:
        return self.load().positions

    @property
    def current(self) -> str:
        """The revision that is meant unless another is asked for."""
        return next(iter(self.revisions))

    def soft(self, ids: Sequence[str]) -> bool:
        """Is it no failure to violate them all: is each a SHOULD, or a MUST that a position softens?

        What a requirement weighs that nobody knows, nobody knows, so that softens nothing.
        """
        known = [self.requirements.get(i) for i in ids]
        return bool(known) and all(r is not None and (not r.binding or bool(r.softened)) for r in known)

    def stated(self, ids: Iterable[str], revisions: Sequence[str]) -> list[str]:
        """Of the requirements those that one of the revisions states; what else has an ID, such as positions, stays."""
        known = self.requirements
        return [i for i in ids if i not in known or any(known[i].stated_in(revision) for revision in revisions)]


@dataclass(frozen=True)
class VectorSet:
    """The material of several protocols, whose files stand in one folder of vectors under one manifest."""

    materials: tuple[Material, ...]
    """That of the protocol that comes first stands first."""

    def __post_init__(self) -> None:
        """Raises ValueError for what two protocols call alike: files, schemas and IDs have one name each."""
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
        """The current one of the first protocol first."""
        return [name for material in self.materials for name in material.revisions]

    @property
    def shapes(self) -> dict[str, Shape]:
        return {name: shape for material in self.materials for name, shape in material.shapes.items()}

    def of(self, revision: str) -> Material:
        """The material that a revision belongs to. Raises KeyError for a revision of none."""
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
    """A vector without its group; flags are words. The recommended outcome comes first, and decides on the result."""
    told = _told(slug, comment, result_of(outcomes), flags, requirements)
    return {**told, **fields, "outcomes": list(outcomes)}


def stepwise(
    slug: str,
    comment: str,
    flags: str | Sequence[str],
    requirements: Sequence[str],
    fields: dict[str, Any],
    steps: list[dict[str, Any]],
) -> Vector:
    """A vector whose steps have outcomes of their own."""
    told = _told(slug, comment, result_of_steps(steps), flags, requirements)
    return {**told, **fields, "steps": steps}


def _told(slug: str, comment: str, result: str, flags: str | Sequence[str], requirements: Sequence[str]) -> Vector:
    """What every vector begins with; the order is that of the file."""
    return {
        "id": slug,
        "comment": comment,
        "result": result,
        "flags": flags.split() if isinstance(flags, str) else list(flags),
        "requirements": list(requirements),
    }


def result_of(outcomes: Sequence[Outcome]) -> str:
    """``valid`` for the one outcome there is, ``invalid`` if that is a refusal, ``acceptable`` for several."""
    if len(outcomes) != 1:
        return ACCEPTABLE
    return INVALID if outcomes[0].get("rejected") else VALID


def result_of_steps(steps: Iterable[dict[str, Any]]) -> str:
    """``acceptable`` if a step has several outcomes."""
    return ACCEPTABLE if any(result_of(step["outcomes"]) == ACCEPTABLE for step in steps) else VALID


def legal(outcome: Outcome, position: str = "") -> Outcome:
    """An outcome that a position allows."""
    return {**outcome, "position": position} if position else outcome
