"""The register of passages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
    repairs: bool
    """It is about SDS-R."""
    scripted: bool
    """It has scripted peers, or bytes that are no messages."""
    fits: Premise
    """Does it lead anywhere under the configuration that a writer tells?"""

    @property
    def summary(self) -> str:
        return (self.write.__doc__ or "").strip().splitlines()[0]


PASSAGES: dict[str, Passage] = {}
"""By name."""


def passage(
    weight: int = 10, *, repairs: bool = False, scripted: bool = False, fits: Premise = lambda writer: True
) -> Callable[[PassageFunction], PassageFunction]:
    """Register a passage; it is called as its function is."""

    def register(function: PassageFunction) -> PassageFunction:
        name = function.__name__.replace("_", "-")
        PASSAGES[name] = Passage(name, function, weight, repairs, scripted, fits)
        return function

    return register
