"""The register of passages. The decorator ``passage`` adds a function to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...docstrings import first_line
from ..writer import Text, Writer

PassageFunction = Callable[[Writer], None]
Premise = Callable[[Writer], bool]


@dataclass(frozen=True)
class Passage:
    """A function that appends the operations of one kind of passage to a schedule, and the conditions for its use."""

    name: str
    write: PassageFunction
    weight: int
    """The probability with which the passage is chosen, relative to the weights of the other passages."""
    repairs: bool
    """Whether the passage is about SDS-R."""
    scripted: bool
    """Whether the passage uses scripted peers, or bytes that are not messages."""
    logged_syncs: bool
    """Whether the passage is about sync messages in the log, which only some revisions have."""
    fits: Premise
    """Returns whether the passage is possible with the writer's configuration."""

    def is_of(self, text: Text) -> bool:
        """Can the passage be used in schedules for the revision ``text``?"""
        return (text.repairs or not self.repairs) and (text.syncs_are_logged or not self.logged_syncs)

    @property
    def summary(self) -> str:
        return first_line(self.write)


PASSAGES: dict[str, Passage] = {}


def passage(
    weight: int = 10,
    *,
    repairs: bool = False,
    scripted: bool = False,
    logged_syncs: bool = False,
    fits: Premise = lambda writer: True,
) -> Callable[[PassageFunction], PassageFunction]:
    """Register the decorated function as a passage, named like the function but with hyphens."""

    def register(function: PassageFunction) -> PassageFunction:
        name = function.__name__.replace("_", "-")
        PASSAGES[name] = Passage(name, function, weight, repairs, scripted, logged_syncs, fits)
        return function

    return register
