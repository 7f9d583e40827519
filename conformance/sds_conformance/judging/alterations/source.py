"""The interface that a protocol provides so that faults can be derived from the source of its model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sds_harness.environment import PLAIN
from sds_harness.link import Link


@dataclass(frozen=True)
class Configuration:
    """One way to play a model: unchanged, or as one of its legal variants."""

    revision: str
    profile: str = ""
    """The profile to judge; "" for the whole revision."""
    variant: str = ""
    """Name of the legal variant; "" for the unchanged model."""
    environment: str = PLAIN.name

    def __str__(self) -> str:
        where = "" if self.environment == PLAIN.name else f"@{self.environment}"
        return f"{self.variant or 'the model'}{where}, {self.revision}"


@dataclass(frozen=True)
class ModelSource:
    """The source code of a model, and how to play the model and its altered copies."""

    package: str
    """The package of the model. For every fault, a copy of the package is imported under another name."""
    modules: tuple[str, ...]
    """Names of the modules to alter, without the name of the package."""
    configurations: tuple[Configuration, ...]
    """The configurations to play, first the unchanged model under the current revision in the plain environment."""
    start: Callable[[str, Configuration], Link]
    """Starts a copied model in this process, given the name of the copied package."""
    choice: Callable[[str], bool] = lambda condition: False
    """Is a condition a choice that the specification leaves open? Negating it gives a legal variant, not a fault."""
    misuse: frozenset[str] = frozenset()
    """Names of exceptions that report a mistake of the model's caller; implementations are not tested for these."""
    excuses: Callable[[], str] = lambda: ""
    """Returns the list of excuses as text, see ``results``."""
