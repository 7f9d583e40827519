"""The class of mutants, and their registry.

A fault that overrides one step is a method marked with ``fault``; ``register_faults`` registers the methods of a class
one by one. A fault that needs more code is a class, registered with ``mutant``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Concatenate, ParamSpec, TypeVar

from sds_testee.composition import Fault, IncompatibleMutantsError, Parts, join_mutants_of_model

from ..channel import Channel
from ..errors import ConfigurationError
from ..local_log import LocalLog, LogEntry
from ..participant import Participant
from ..repair import Repair

P = ParamSpec("P")
Self = TypeVar("Self")
Result = TypeVar("Result")
T = TypeVar("T")
Faulty = TypeVar("Faulty", bound=type[Channel] | type[Repair] | type[Participant])


@dataclass(frozen=True)
class Mutant(Fault):
    """The reference model with exactly one fault."""

    participant_class: type[Participant] = Participant
    dialect: str = ""
    """The wire dialect that the mutant declares and uses; "" for the layout of the specification."""


MUTANTS: dict[str, Mutant] = {}
_PARTS: Parts = {Participant: {"channel_class": Channel}, Channel: {"repair_class": Repair}}


def join_mutants(mutants: Sequence[Mutant]) -> Mutant:
    """Return a mutant with the faults of all ``mutants`` and the requirement of the first. Raises
    IncompatibleMutantsError."""
    dialects = {mutant.dialect for mutant in mutants if mutant.dialect}
    if len(dialects) > 1:
        raise IncompatibleMutantsError(f"the mutants use different dialects: {' and '.join(sorted(dialects))}")
    return replace(join_mutants_of_model(mutants, "participant_class", Participant, _PARTS), dialect="".join(dialects))


def mutant(
    requirement: str,
    summary: str,
    *,
    name: str = "",
    unseen: bool = False,
    undeclared: tuple[str, ...] = (),
    pending: str = "",
    out_of_reach: str = "",
    **config: Any,
) -> Callable[[Faulty], Faulty]:
    """Register a subclass of Channel, Repair or Participant. The default name is that of the class in kebab case.

    ``requirement`` is given without the prefix SDS-, or with the prefix FORUM-; ``config`` contains the settings under
    which the fault has an effect.
    """

    def register(faulty: Faulty) -> Faulty:
        violated = requirement if requirement.startswith("FORUM-") else f"SDS-{requirement}"
        known_as = name or _kebab(faulty.__name__)
        participant, settings = _participant_class(faulty), tuple(config.items())
        _add(Mutant(known_as, violated, summary, settings, unseen, undeclared, pending, out_of_reach, participant))
        return faulty

    return register


def fault(
    step: Callable[Concatenate[Any, P], Result],
    requirement: str,
    summary: str,
    **more: Any,
) -> Callable[[Callable[Concatenate[Self, P], Result]], Callable[Concatenate[Self, P], Result]]:
    """Mark a method as a faulty version of ``step``. The mutant is named like the method, in kebab case.

    ``more`` are further arguments of ``mutant``.
    """

    def mark(method: Callable[Concatenate[Self, P], Result]) -> Callable[Concatenate[Self, P], Result]:
        vars(method)["fault"] = step.__name__, mutant(requirement, summary, **more)
        return method

    return mark


def omit(step: Callable[..., None], requirement: str, summary: str) -> Callable[..., None]:
    """Return a fault that omits ``step``."""
    return fault(step, requirement, summary)(lambda *_, **__: None)


def register_faults(family: Faulty) -> Faulty:
    """Register a mutant for each method of ``family`` that is marked as a fault. Each mutant has one fault."""
    for name, method in list(vars(family).items()):
        if hasattr(method, "fault"):
            step, register = method.fault
            register(type(name, (family,), {step: method}))
            if hasattr(method, "unseen_too"):
                _unseen_too(_kebab(name), *method.unseen_too)
    return family


def unseen_too(name: str, *, summary: str = "", out_of_reach: str = "") -> Callable[[T], T]:
    """Register the decorated fault a second time as mutant ``name``, for a participant that does not show its state.

    ``summary`` replaces the default, which is the summary of the fault with "and does not show its state".
    """

    def register(faulty: T) -> T:
        if isinstance(faulty, type):
            _unseen_too(_kebab(faulty.__name__), name, summary, out_of_reach)
        else:
            vars(faulty)["unseen_too"] = name, summary, out_of_reach
        return faulty

    return register


def _unseen_too(known: str, name: str, summary: str, out_of_reach: str) -> None:
    summary = summary or f"{MUTANTS[known].summary}, and does not show its state"
    add_again(known, name, summary, unseen=True, out_of_reach=out_of_reach)


def for_sizes(requirement: str, summary: str, *sizes: int, **config: Any) -> Callable[[Faulty], Faulty]:
    """Register a fault once for each of ``sizes``. The size is a limit or a count at which the fault appears; the
    class has it as its attribute ``size``.

    "{}" in the ``summary`` becomes the size, and the name ends with the size.
    """

    def register(faulty: Faulty) -> Faulty:
        for size in sizes:
            of_size = type(faulty.__name__, (faulty,), {"size": size})
            mutant(requirement, summary.format(size), name=f"{_kebab(faulty.__name__)}-{size}", **config)(of_size)
        return faulty

    return register


def add_configured(name: str, requirement: str, summary: str, **config: Any) -> None:
    """Register a fault that consists of an illegal configuration."""
    mutant(requirement, summary, name=name, **config)(Participant)


def add_with_dialect(dialect: str, name: str, requirement: str, summary: str) -> None:
    """Register a participant that declares and uses a wire dialect."""
    _add(Mutant(name, f"SDS-{requirement}", summary, dialect=dialect))


def replace_part(part: str, requirement: str, summary: str, **config: Any) -> Callable[[type[T]], type[T]]:
    """Register a channel that uses the decorated class for a part of its state, for example ``log_class``."""

    def register(kept: type[T]) -> type[T]:
        mutant(requirement, summary, **config)(type(kept.__name__, (Channel,), {part: kept}))
        return kept

    return register


def add_log_order(name: str, requirement: str, summary: str, place: Callable[[LocalLog, LogEntry], Any]) -> None:
    """Register a channel whose log is ordered by ``place`` first and by message ID second."""
    replace_part("log_class", requirement, summary, name=name)(type("Log", (LocalLog,), {"sort_key": place}))


def add_again(
    known: str,
    name: str,
    summary: str,
    *,
    requirement: str = "",
    unseen: bool = False,
    undeclared: tuple[str, ...] = (),
    pending: str = "",
    out_of_reach: str = "",
) -> None:
    """Register the mutant ``known`` again as ``name``, with other details.

    It violates another requirement, does not show its state (``unseen``), or declares fewer capabilities (it lacks
    ``undeclared``). See Mutant for ``pending`` and ``out_of_reach``.
    """
    fault = MUTANTS[known]
    requirement = requirement or fault.requirement
    unseen, undeclared = unseen or fault.unseen, undeclared or fault.undeclared
    changed = replace(fault, name=name, requirement=requirement, summary=summary, unseen=unseen, undeclared=undeclared)
    _add(replace(changed, pending=pending, out_of_reach=out_of_reach or fault.out_of_reach))


def _kebab(name: str) -> str:
    """The mutant name of a class or method."""
    return re.sub(r"(?<!^)(?=[A-Z])|_", "-", name).lower()


def _participant_class(faulty: type[Any]) -> type[Participant]:
    """The class of participants that has the fault."""
    if issubclass(faulty, Repair):
        faulty = type(f"{faulty.__name__}Channel", (Channel,), {"repair_class": faulty})
    if issubclass(faulty, Channel):
        faulty = type(f"{faulty.__name__}Participant", (Participant,), {"channel_class": faulty})
    return faulty


def _add(fault: Mutant) -> None:
    if fault.name in MUTANTS:
        raise ConfigurationError(f"two mutants are named {fault.name}")
    MUTANTS[fault.name] = fault
