"""The parameter of a schedule: a number in it, which `limits` raises.

A path names the number as error messages do: ``operations[0].times``, ``members[1].clock_ms`` or
``configuration.bloom_capacity``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from ..declaration import printable
from ..suggestions import did_you_mean
from .operations import Schedule

_PATH = re.compile(r"(operations|members)\[([0-9]{1,5})\]\.([A-Za-z0-9_]+)|configuration\.([A-Za-z0-9_]+)")
_EXAMPLE = "write a path such as operations[0].times"


class ParameterError(ValueError):
    """A path does not name a number of the schedule. The message has the reason."""


def value_of(schedule: Schedule) -> int:
    """The number that the parameter of a schedule names. Raises ParameterError if there is no such number or it is
    below 1."""
    numbers, name, where = _numbers(schedule)
    if name not in numbers:
        others = f" Its numbers are {', '.join(sorted(numbers))}." if numbers else " It has no numbers."
        raise ParameterError(f"{where} has no number {name!r}.{did_you_mean(name, numbers) or others}")
    if numbers[name] < 1:
        raise ParameterError(f"{schedule.parameter} is {numbers[name]:,}, and `limits` raises only numbers above 0")
    return numbers[name]


def with_value(schedule: Schedule, value: int) -> Schedule:
    """A copy of the schedule in which the parameter has the given value. The copy may be invalid if the value is too
    large."""
    list_name, place, name, setting = _match(schedule).groups()
    if setting:
        return replace(schedule, configuration=tuple({**dict(schedule.configuration), setting: value}.items()))
    changed: dict[str, Any] = {name: value}
    items = list(getattr(schedule, list_name))
    items[int(place)] = replace(items[int(place)], **changed)
    replaced: dict[str, Any] = {list_name: tuple(items)}
    return replace(schedule, **replaced)


def _numbers(schedule: Schedule) -> tuple[Mapping[str, int], str, str]:
    """Look up the item (such as an operation) that contains the parameter. Returns the numbers in the item, by name,
    the name of the parameter in it, and a phrase that names the item."""
    list_name, place, name, setting = _match(schedule).groups()
    if setting:
        return _only_numbers(dict(schedule.configuration)), setting, "the configuration of the file"
    items = getattr(schedule, list_name)
    if int(place) >= len(items):
        raise ParameterError(f"{list_name}[{place}] does not exist: the last one is {list_name}[{len(items) - 1}]")
    item = items[int(place)]
    kind = f" ({item.op})" if list_name == "operations" else ""
    return _only_numbers({f.name: getattr(item, f.name) for f in fields(item)}), name, f"{list_name}[{place}]{kind}"


def _match(schedule: Schedule) -> re.Match[str]:
    if (found := _PATH.fullmatch(schedule.parameter)) is None:
        raise ParameterError(f"{printable(schedule.parameter, 60)!r} does not name a number: {_EXAMPLE}")
    return found


def _only_numbers(values: Mapping[str, Any]) -> dict[str, int]:
    return {name: value for name, value in values.items() if type(value) is int}
