"""What a protocol hands over, for faults to be derived from the source of its model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sds_harness.environment import PLAIN
from sds_harness.link import Link


@dataclass(frozen=True)
class Configuration:
    """One way to play a model: as it is, or as one of its legal variants."""

    revision: str
    profile: str = ""
    """What of the revision is judged, "" for all of it."""
    variant: str = ""
    """"" is the model as it is."""
    environment: str = PLAIN.name

    def __str__(self) -> str:
        where = "" if self.environment == PLAIN.name else f"@{self.environment}"
        return f"{self.variant or 'the model'}{where}, {self.revision}"


@dataclass(frozen=True)
class Source:
    """The source of a model."""

    package: str
    """The package of the model; a copy of it is imported under another name for every fault."""
    modules: tuple[str, ...]
    """Those of its modules that hold the protocol, without the name of the package."""
    configurations: tuple[Configuration, ...]
    """In which it is played: first as it is, under the current revision, in the plain environment."""
    start: Callable[[str, Configuration], Link]
    """Starts the model of a copy, given the name of the copied package, in this process."""
    choice: Callable[[str], bool] = lambda condition: False
    """Is a condition one that the text leaves open? To turn it round is no fault, but a legal variant."""
    misuse: frozenset[str] = frozenset()
    """Names of the exceptions that tell the caller of the model that it makes a mistake: no implementation is asked."""
    excuses: Callable[[], str] = lambda: ""
    """The text that names the faults that change nothing or are legal, see ``excuses``."""
