"""The class of mutants, and their registry. A fault that overrides one step is a method marked with ``fault``;
``register_faults`` registers the methods of a class one by one. A fault that needs more code is a class, registered
with ``mutant``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Concatenate, ParamSpec, TypeVar

from sds_testee.composition import Fault, Parts, join_mutants_of_model

from ..errors import ConfigurationError
from ..logical_clock import LogicalClock
from ..peer import Peer

P = ParamSpec("P")
Self = TypeVar("Self")
Result = TypeVar("Result")
Faulty = TypeVar("Faulty", bound=type[Peer] | type[LogicalClock])


@dataclass(frozen=True)
class Mutant(Fault):
    """The model with exactly one fault."""

    peer_class: type[Peer] = Peer


MUTANTS: dict[str, Mutant] = {}
_PARTS: Parts = {Peer: {"clock_class": LogicalClock}}


def join_mutants(mutants: Sequence[Mutant]) -> Mutant:
    """Return a mutant with the faults of all ``mutants``, and the requirement of the first.

    Raises IncompatibleMutantsError.
    """
    return join_mutants_of_model(mutants, "peer_class", Peer, _PARTS)


def mutant(
    requirement: str, summary: str, *, name: str = "", pending: str = "", out_of_reach: str = "", **config: Any
) -> Callable[[Faulty], Faulty]:
    """Register a subclass of Peer or LogicalClock, by default under the name of the class in kebab case.

    ``requirement`` is given without its prefix CSDB-; ``config`` are settings under which the fault
    has an effect. ``out_of_reach`` is the reason why no generated schedule can reveal the fault.
    """

    def register(faulty: Faulty) -> Faulty:
        peer: type[Any] = faulty
        if issubclass(faulty, LogicalClock):
            peer = type(f"{faulty.__name__}Peer", (Peer,), {"clock_class": faulty})
        known_as = name or _kebab(faulty.__name__)
        violated, settings = f"CSDB-{requirement}", tuple(config.items())
        _add(Mutant(known_as, violated, summary, settings, pending=pending, out_of_reach=out_of_reach, peer_class=peer))
        return faulty

    return register


def fault(
    step: Callable[Concatenate[Any, P], Result], requirement: str, summary: str, **more: Any
) -> Callable[[Callable[Concatenate[Self, P], Result]], Callable[Concatenate[Self, P], Result]]:
    """Mark a method as a faulty version of ``step``. The mutant is named like the method, in kebab case.

    ``more`` are further arguments of ``mutant``.
    """

    def mark(method: Callable[Concatenate[Self, P], Result]) -> Callable[Concatenate[Self, P], Result]:
        vars(method)["fault"] = step.__name__, mutant(requirement, summary, **more)
        return method

    return mark


def register_faults(family: Faulty) -> Faulty:
    """Register a mutant for each method of ``family`` that is marked as a fault. Each mutant has one fault."""
    for name, method in list(vars(family).items()):
        if hasattr(method, "fault"):
            step, register = method.fault
            register(type(name, (family,), {step: method}))
    return family


def add_unseen(known: str, name: str, *capabilities: str, more: str = "and does not show its records") -> None:
    """Register the mutant ``known`` again as ``name``, for a peer that does not show its state.

    The peer does not declare ``capabilities`` either. ``more`` is appended to the summary of ``known``.
    """
    add_undeclared(known, name, more, *capabilities)
    MUTANTS[name] = replace(MUTANTS[name], unseen=True)


def add_undeclared(known: str, name: str, more: str, *capabilities: str) -> None:
    """Register the mutant ``known`` again as ``name``, for a peer that does not declare ``capabilities``.

    ``more`` is appended to the summary of ``known``.
    """
    other = MUTANTS[known]
    _add(replace(other, name=name, summary=f"{other.summary}, {more}", undeclared=capabilities))


def add_counting_hops(known: str) -> None:
    """Register the mutant ``known`` again, for a peer that counts sending and receiving in all clocks.

    For such a peer, most changes of others conflict with its own versions.
    """
    other = MUTANTS[known]
    summary = f"{other.summary}, and counts sending and receiving in clocks"
    _add(
        replace(
            other, name=f"{known}-and-counts-hops", summary=summary, config=(*other.config, ("clocks_count_hops", True))
        )
    )


def _kebab(name: str) -> str:
    """The name of a class or method in kebab case."""
    return re.sub(r"(?<!^)(?=[A-Z])|_", "-", name).lower()


def _add(fault: Mutant) -> None:
    if fault.name in MUTANTS:
        raise ConfigurationError(f"two mutants are named {fault.name}")
    MUTANTS[fault.name] = fault
