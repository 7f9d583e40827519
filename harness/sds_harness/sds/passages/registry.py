"""The register of passages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...docstrings import first_line
from ..writer import Text, Writer

PassageFunction = Callable[[Writer], None]
Premise = Callable[[Writer], bool]


@dataclass(frozen=True)
class Passage:
    """A function that writes operations about one kind of trouble, and when it applies."""

    name: str
    write: PassageFunction
    weight: int
    """How often it is chosen, relative to the others."""
    repairs: bool
    """Whether it is about SDS-R."""
    scripted: bool
    """Whether it has scripted peers, or bytes that are not messages."""
    logged_syncs: bool
    """Whether it is about logged sync messages."""
    fits: Premise
    """Returns whether the passage is possible with the writer's configuration."""

    def is_of(self, text: Text) -> bool:
        """Does it apply to a revision?"""
        return (text.repairs or not self.repairs) and (text.syncs_are_logged or not self.logged_syncs)

    @property
    def summary(self) -> str:
        return first_line(self.write)


PASSAGES: dict[str, Passage] = {}
"""All passages by name."""


def passage(
    weight: int = 10,
    *,
    repairs: bool = False,
    scripted: bool = False,
    logged_syncs: bool = False,
    fits: Premise = lambda writer: True,
) -> Callable[[PassageFunction], PassageFunction]:
    """Register a passage. Its name is that of the function, with hyphens."""

    def register(function: PassageFunction) -> PassageFunction:
        name = function.__name__.replace("_", "-")
        PASSAGES[name] = Passage(name, function, weight, repairs, scripted, logged_syncs, fits)
        return function

    return register
