"""The register of passages. The decorator ``passage`` adds a function to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...docstrings import first_line
from ..writer import Writer

PassageFunction = Callable[[Writer], None]
Premise = Callable[[Writer], bool]


@dataclass(frozen=True)
class Passage:
    """A function that appends the operations of one kind of passage to a schedule, and the conditions for its use."""

    name: str
    write: PassageFunction
    weight: int
    """How often the passage is chosen, relative to the weights of the other passages."""
    scripted: bool
    fits: Premise
    """Returns whether the passage is possible with the present participants."""

    @property
    def summary(self) -> str:
        return first_line(self.write)


PASSAGES: dict[str, Passage] = {}


def passage(
    weight: int = 10, *, scripted: bool = False, fits: Premise = lambda writer: True
) -> Callable[[PassageFunction], PassageFunction]:
    """Register a passage. Its name is that of the function, with hyphens."""

    def register(function: PassageFunction) -> PassageFunction:
        name = function.__name__.replace("_", "-")
        PASSAGES[name] = Passage(name, function, weight, scripted, fits)
        return function

    return register


def two_writers(writer: Writer) -> bool:
    """Are two writers present?"""
    return len(writer.writers) > 1


def a_reader(writer: Writer) -> bool:
    """Is a read-only peer present?"""
    return bool(writer.readers)
