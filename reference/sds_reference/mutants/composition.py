"""Several faults in one implementation: mutants put together.

An implementation with more than one fault shows whether a report tells the faults apart. Mutants can be put together if
no two of them change the same step, the same part of the state or the same setting.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..channel import Channel
from ..participant import Participant
from ..repair import Repair
from .registry import Mutant

_PARTS = {Participant: {"channel_class": Channel}, Channel: {"repair_class": Repair}}
"""By class: the attributes that hold the class of a part, of which a joined class has a joined one."""
_OF_EVERY_CLASS = {"__module__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__parameters__"}
_OF_NEW_PYTHONS = {"__static_attributes__", "__firstlineno__", "__orig_bases__"}


def composed(mutants: Sequence[Mutant]) -> Mutant:
    """Return one mutant with the faults of all of ``mutants``, which are one or more.

    Its requirement is that of the first. Raises ValueError if two of them exclude each other.
    """
    settings: dict[str, Any] = {}
    for mutant in mutants:
        for key, value in mutant.config:
            if settings.setdefault(key, value) != value:
                raise ValueError(f"{mutant.name} and another of these mutants need two values of the setting {key}")
    return Mutant(
        "+".join(mutant.name for mutant in mutants),
        mutants[0].requirement,
        "; ".join(mutant.summary for mutant in mutants),
        _joined([mutant.participant_class for mutant in mutants], Participant),
        tuple(settings.items()),
        any(mutant.unseen for mutant in mutants),
        tuple(dict.fromkeys(name for mutant in mutants for name in mutant.undeclared)),
    )


def _joined(classes: Sequence[type[Any]], base: type[Any]) -> type[Any]:
    """A subclass of all ``classes``, which are subclasses of ``base``. Raises ValueError if two change the same."""
    changed = list(dict.fromkeys(one for one in classes if one is not base))
    if not changed:
        return base
    if len(changed) == 1:
        return changed[0]
    parts = _PARTS.get(base, {})
    owners: dict[str, type[Any]] = {}
    for one in changed:
        for name, owner in _changes(one, base).items():
            if name not in parts and owners.setdefault(name, owner) is not owner:
                raise ValueError(f"{owner.__name__} and {owners[name].__name__} both change {name}")
    joined = {name: _joined([getattr(one, name) for one in changed], part) for name, part in parts.items()}
    try:
        return type("And".join(one.__name__ for one in changed), tuple(changed), joined)
    except TypeError as error:
        raise ValueError(str(error)) from None


def _changes(one: type[Any], base: type[Any]) -> dict[str, type[Any]]:
    """By name: the class that gives ``one`` an attribute that ``base`` has not, or has from another class."""
    out: dict[str, type[Any]] = {}
    for owner in one.__mro__:
        if owner in base.__mro__:
            continue
        for name, value in vars(owner).items():
            if name not in _OF_EVERY_CLASS | _OF_NEW_PYTHONS and not hasattr(value, "fault"):
                out.setdefault(name, owner)
    return out
