"""What a mutant is, and the register of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ..channel import Channel
from ..config import Config
from ..errors import ConfigurationError
from ..participant import Participant
from ..repair import Repair

C = TypeVar("C", bound=type[Channel])


@dataclass(frozen=True)
class Mutant:
    """The reference model with exactly one fault."""

    name: str
    requirement: str
    """ID of the requirement that the fault violates; the check of that one must reject the mutant."""
    summary: str
    participant_class: type[Participant]
    config: tuple[tuple[str, Any], ...] = ()
    unseen: bool = False
    """It does not show its state, so that only what it sends and signals can give it away."""

    def configure(self, base: Config) -> Config:
        """``base`` with what the fault needs to show."""
        return replace(base, **dict(self.config))


MUTANTS: dict[str, Mutant] = {}


def mutant(requirement: str, summary: str, *, unseen: bool = False, **config: object) -> Callable[[C], C]:
    """Register a Channel subclass as a mutant; its name is the class name in kebab case."""

    def register(channel_class: C) -> C:
        participant_class = type(
            f"{channel_class.__name__}Participant", (Participant,), {"channel_class": channel_class}
        )
        _add(channel_class.__name__, requirement, summary, participant_class, config, unseen)
        return channel_class

    return register


R = TypeVar("R", bound=type[Repair])


def repair_mutant(requirement: str, summary: str, *, unseen: bool = False, **config: object) -> Callable[[R], R]:
    """Register a Repair subclass as a mutant."""

    def register(repair_class: R) -> R:
        channel_class = type(f"{repair_class.__name__}Channel", (Channel,), {"repair_class": repair_class})
        participant_class = type(
            f"{repair_class.__name__}Participant", (Participant,), {"channel_class": channel_class}
        )
        _add(repair_class.__name__, requirement, summary, participant_class, config, unseen)
        return repair_class

    return register


P = TypeVar("P", bound=type[Participant])


def participant_mutant(requirement: str, summary: str, **config: object) -> Callable[[P], P]:
    """Register a Participant subclass as a mutant."""

    def register(participant_class: P) -> P:
        _add(participant_class.__name__, requirement, summary, participant_class, config)
        return participant_class

    return register


def _add(
    class_name: str,
    requirement: str,
    summary: str,
    participant_class: type[Participant],
    config: dict[str, object],
    unseen: bool = False,
) -> None:
    name = re.sub(r"(?<!^)(?=[A-Z])", "-", class_name).lower()
    if name in MUTANTS:
        raise ConfigurationError(f"two mutants are called {name}")
    MUTANTS[name] = Mutant(name, requirement, summary, participant_class, tuple(config.items()), unseen)
