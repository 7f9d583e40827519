"""What a vector is, and the register of groups. A vector is the dict that stands in its file.

The register is by group and revision: a group of another revision is one more builder under the same name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sds_reference import REVISIONS
from sds_reference.revision import Revision

from ..protocols.sds.catalogue import load_catalogue

GENERATOR_VERSION = "1"
"""Version of the format: it changes with the meaning of a field, not with the vectors."""

VALID, INVALID, ACCEPTABLE = "valid", "invalid", "acceptable"

Vector = dict[str, Any]
Outcome = dict[str, Any]
Builder = Callable[[Revision], list[Vector]]

REJECTED: Outcome = {"rejected": True}

SDS: tuple[str, ...] = ("sds-2026-01", "sds-2025-10-amended")
"""The revisions that share the wire format and the steps of the text as published."""
PROPOSAL: tuple[str, ...] = ("forum-2024",)
"""The proposal that SDS grew from: a text of its own."""
EVERY = SDS + PROPOSAL


@dataclass(frozen=True)
class Note:
    """What a flag means, told once, and what it rests on."""

    description: str
    ids: tuple[str, ...]
    """Requirements and positions."""


@dataclass
class Group:
    """One kind of vectors, and how they are made for each revision."""

    name: str
    shape: str
    """Name of the JSON schema that its vectors have."""
    title: str
    """What it holds, in a sentence."""
    notes: dict[str, dict[str, Note]] = field(default_factory=dict)
    """By the name of a revision: what its flags mean."""
    builders: dict[str, Builder] = field(default_factory=dict)
    """By the name of a revision."""

    def build(self, revision: Revision) -> list[Vector]:
        """The vectors of a revision; none if the group has nothing to say about it."""
        builder = self.builders.get(revision.name)
        return builder(revision) if builder is not None else []


GROUPS: dict[str, Group] = {}
"""The groups by name, in the order they are registered."""


def group(
    name: str, shape: str, title: str, notes: dict[str, Note], revisions: Iterable[str] = SDS
) -> Callable[[Builder], Builder]:
    """Register a builder of a group for some revisions, with the notes on its flags."""

    def register(builder: Builder) -> Builder:
        entry = GROUPS.setdefault(name, Group(name, shape, title))
        for revision in revisions:
            if revision in entry.builders:
                raise ValueError(f"two builders of {name} for {revision}")
            entry.builders[revision] = builder
            entry.notes[revision] = notes
        return builder

    return register


def known_revisions() -> tuple[Revision, ...]:
    """The revisions that the model speaks, the current one first."""
    return tuple(REVISIONS.values())


def vector(
    slug: str,
    comment: str,
    flags: Sequence[str],
    requirements: Sequence[str],
    fields: dict[str, Any],
    *outcomes: Outcome,
) -> Vector:
    """A vector without its group. The recommended outcome comes first; what the result is called follows from them."""
    return {
        "id": slug,
        "comment": comment,
        "result": result_of(outcomes),
        "flags": list(flags),
        "requirements": list(requirements),
        **weight(requirements),
        **fields,
        "outcomes": list(outcomes),
    }


def stepwise(
    slug: str,
    comment: str,
    flags: Sequence[str],
    requirements: Sequence[str],
    fields: dict[str, Any],
    steps: list[dict[str, Any]],
) -> Vector:
    """A vector whose steps have outcomes of their own."""
    loose = any(result_of(step["outcomes"]) == ACCEPTABLE for step in steps)
    return {
        "id": slug,
        "comment": comment,
        "result": ACCEPTABLE if loose else VALID,
        "flags": list(flags),
        "requirements": list(requirements),
        **weight(requirements),
        **fields,
        "steps": steps,
    }


def weight(requirements: Sequence[str]) -> dict[str, bool]:
    """What a vector says of answers that are none of its outcomes: a warning, if no requirement makes them a failure.

    So is an answer against nothing but a SHOULD, or against a MUST that a position softens.
    """
    known = load_catalogue().requirements
    soft = all(name in known and (not known[name].binding or known[name].softened) for name in requirements)
    return {"warned": True} if soft else {}


def result_of(outcomes: Sequence[Outcome]) -> str:
    """``valid`` for the one outcome there is, ``invalid`` if that is a refusal, ``acceptable`` for several."""
    if len(outcomes) != 1:
        return ACCEPTABLE
    return INVALID if outcomes[0].get("rejected") else VALID


def legal(outcome: Outcome, position: str = "") -> Outcome:
    """An outcome that a position allows."""
    return {**outcome, "position": position} if position else outcome


def warned(outcome: Outcome, position: str = "") -> Outcome:
    """An outcome that is no failure, but of which a position warns; without one it is against a SHOULD of the text."""
    return {**legal(outcome, position), "warned": True}
