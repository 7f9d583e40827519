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
    """A short plot."""

    name: str
    write: PassageFunction
    weight: int
    """How often it is chosen, compared with the others."""
    repairs: bool
    """It is about SDS-R."""
    scripted: bool
    """It has scripted peers, or bytes that are no messages."""
    logged_syncs: bool
    """It is about sync messages that are logged."""
    fits: Premise
    """Does it lead anywhere under the configuration that a writer tells?"""

    def is_of(self, text: Text) -> bool:
        """Does it say anything of a text?"""
        return (text.repairs or not self.repairs) and (text.syncs_are_logged or not self.logged_syncs)

    @property
    def summary(self) -> str:
        return first_line(self.write)


PASSAGES: dict[str, Passage] = {}
"""By name."""


def passage(
    weight: int = 10,
    *,
    repairs: bool = False,
    scripted: bool = False,
    logged_syncs: bool = False,
    fits: Premise = lambda writer: True,
) -> Callable[[PassageFunction], PassageFunction]:
    """Register a passage; it is called as its function is."""

    def register(function: PassageFunction) -> PassageFunction:
        name = function.__name__.replace("_", "-")
        PASSAGES[name] = Passage(name, function, weight, repairs, scripted, logged_syncs, fits)
        return function

    return register
