"""The register of passages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...docstrings import first_line
from ..writer import Writer

PassageFunction = Callable[[Writer], None]
Premise = Callable[[Writer], bool]


@dataclass(frozen=True)
class Passage:
    """A short plot."""

    name: str
    write: PassageFunction
    weight: int
    """How often it is chosen, compared with the others."""
    scripted: bool
    """It has scripted peers."""
    fits: Premise
    """Does it lead anywhere with those who are there?"""

    @property
    def summary(self) -> str:
        return first_line(self.write)


PASSAGES: dict[str, Passage] = {}
"""By name."""


def passage(
    weight: int = 10, *, scripted: bool = False, fits: Premise = lambda writer: True
) -> Callable[[PassageFunction], PassageFunction]:
    """Register a passage; it is called as its function is."""

    def register(function: PassageFunction) -> PassageFunction:
        name = function.__name__.replace("_", "-")
        PASSAGES[name] = Passage(name, function, weight, scripted, fits)
        return function

    return register


def two_writers(writer: Writer) -> bool:
    """Two are there that may write."""
    return len(writer.writers) > 1


def a_reader(writer: Writer) -> bool:
    """Somebody is there who may only read."""
    return bool(writer.readers)
