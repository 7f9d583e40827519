"""Positions: what the text leaves open, and what the suite does about each, under the IDs that findings cite."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

PREFIX = "AMB-"
"""How the ID of every position begins."""

VERDICTS: dict[str, str] = {
    "assert": "the suite holds every implementation to it",
    "tolerate": "every choice that it names is accepted",
    "warn": "a deviation, or the kind of it that is named, is a warning; --strict fails it where it breaks a MUST",
    "config": "what is judged depends on the configuration in force, or on how the suite plays it",
    "profile": "exact results are judged under a declared profile or for the revision of the run only",
}
"""What the suite makes of a position, by the word in the file."""


@dataclass(frozen=True, slots=True)
class Position:
    """What the suite does where the text leaves something open."""

    id: str
    question: str
    """What the text leaves open, in a sentence."""
    position: str
    """What the suite does, in a sentence."""
    verdict: str
    """One of VERDICTS."""


@cache
def load_positions() -> dict[str, Position]:
    """The positions by ID, in the order of their numbers; those on rules that contradict each other come last."""
    data = json.loads(files(__package__).joinpath("positions.json").read_text("utf-8"))
    return {row["id"]: Position(**row) for row in data["positions"]}
