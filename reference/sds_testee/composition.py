"""Models with a fault or with another legal choice, and several faults in one implementation.

An implementation with more than one fault shows whether a report distinguishes faults. Several mutants are joined into
one, if no two of them change the same step, the same part of the state or the same setting.
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

M = TypeVar("M")
C = TypeVar("C")

JOINT = "+"
"""Separates the names of joined mutants: ``starts-at-zero+recomputes-t-req-when-missing-again``."""
Parts = Mapping[type[Any], Mapping[str, type[Any]]]
"""Maps a class of the model to its replaceable parts: by the attribute that holds the class of a part, the class that
the model uses."""
_OF_EVERY_CLASS = {
    *vars(ABCMeta("Empty", (), {})),
    "__annotations__",
    "__firstlineno__",
    "__orig_bases__",
    "__parameters__",
    "__static_attributes__",
}
"""Attributes that every class has. They change no step."""


@dataclass(frozen=True)
class Fault:
    """A mutant: a model with exactly one fault."""

    name: str
    requirement: str
    """ID of the requirement that the fault violates. The check of this requirement must reject the mutant."""
    summary: str
    config: tuple[tuple[str, Any], ...] = ()
    unseen: bool = False
    """The mutant does not show its state, so only its messages and signals can reveal the fault."""
    undeclared: tuple[str, ...] = ()
    """Short names of further capabilities that the mutant does not declare."""
    pending: str = ""
    """Why the check of the requirement does not reject the mutant yet; "" if the check rejects the mutant."""
    out_of_reach: str = ""
    """Why no generated schedule of a few participants can reveal the fault; "" if one can."""

    def configure(self, base: C) -> C:
        """Return ``base`` with the settings under which the fault has an effect."""
        return replace(base, **dict(self.config))  # type: ignore[type-var]


@dataclass(frozen=True)
class Variation:
    """A legal variant: the settings or the class that differ from those of the reference."""

    name: str
    summary: str
    config: tuple[tuple[str, Any], ...] = ()
    leaves_out: tuple[str, ...] = ()
    """IDs of the SHOULD requirements that the variant does not follow. They may warn, and other requirements may be
    inconclusive.
    """

    def configure(self, base: C) -> C:
        """Return ``base`` with the settings of the variant."""
        return replace(base, **dict(self.config))  # type: ignore[type-var]


class IncompatibleMutantsError(ValueError):
    """The mutants cannot be joined; the message says why."""


def join_mutants_of_model(mutants: Sequence[M], attribute: str, model: type[Any], parts: Parts) -> M:
    """Return a mutant with the faults of all ``mutants``, and the requirement of the first.

    ``attribute`` is the name of the field of a mutant that holds its class, a subclass of ``model``. Raises
    IncompatibleMutantsError.
    """
    those: Sequence[Any] = mutants
    joined: M = replace(
        those[0],
        name=JOINT.join(one.name for one in those),
        summary="; ".join(one.summary for one in those),
        config=_joined_config(one.config for one in those),
        unseen=any(one.unseen for one in those),
        undeclared=tuple(dict.fromkeys(name for one in those for name in one.undeclared)),
        pending="",
        out_of_reach="",
        **{attribute: joined_class([getattr(one, attribute) for one in those], model, parts)},
    )
    return joined


def joined_class(classes: Sequence[type[Any]], model: type[Any], parts: Parts) -> type[Any]:
    """Return a subclass of all ``classes``, which are ``model`` or subclasses of it.

    Raises IncompatibleMutantsError.
    """
    changed = list(dict.fromkeys(one for one in classes if one is not model))
    if not changed:
        return model
    if len(changed) == 1:
        return changed[0]
    of_model = parts.get(model, {})
    owners: dict[str, type[Any]] = {}
    for one in changed:
        for name, owner in _changes(one, model).items():
            if name not in of_model and owners.setdefault(name, owner) is not owner:
                raise IncompatibleMutantsError(
                    f"the mutants cannot be joined: {owners[name].__name__} and {owner.__name__} both change {name}"
                )
    joined = {
        name: joined_class([getattr(one, name) for one in changed], part, parts) for name, part in of_model.items()
    }
    try:
        return type("And".join(one.__name__ for one in changed), tuple(changed), joined)
    except TypeError as error:  # the classes have no common order of base classes
        raise IncompatibleMutantsError(str(error)) from None


def _joined_config(configs: Iterable[Iterable[tuple[str, Any]]]) -> tuple[tuple[str, Any], ...]:
    """Return the settings of all mutants. Raises IncompatibleMutantsError."""
    out: dict[str, Any] = {}
    for config in configs:
        for key, value in config:
            if out.setdefault(key, value) != value:
                raise IncompatibleMutantsError(f"the mutants need different values of the setting {key}")
    return tuple(out.items())


def _changes(one: type[Any], model: type[Any]) -> dict[str, type[Any]]:
    """The attributes of ``model`` that ``one`` overrides or adds: by name, the class that defines the attribute."""
    out: dict[str, type[Any]] = {}
    for owner in one.__mro__:
        if owner not in model.__mro__:
            for name, value in vars(owner).items():
                # A common base class of mutants defines faulty methods with names of their own, which change no step.
                # Only a mutant assigns such a method to the name of a step.
                in_family = hasattr(value, "fault") and value.__name__ == name
                if name not in _OF_EVERY_CLASS and not in_family:
                    out.setdefault(name, owner)
    return out
