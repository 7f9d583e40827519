"""Reads and writes schedules as JSON, the format of counterexamples. The JSON Schema of each protocol has shape and
bounds.

Files are untrusted until they are checked: the size is bounded, the shape must match the schema, and every name must be
that of a participant.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..declaration import printable
from ..files import FileError, packaged_schema, read_bytes
from .expressions import ExpressionError, names_in
from .operations import EVERYBODY, STRAIGHT, Calm, Member, Operation, Require, Route, Schedule, Wait
from .performer import MAX_STEPS, QUIET_ROUNDS

if TYPE_CHECKING:  # imported when a file is read, because the import is slow
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError
    from jsonschema_rs import Validator

VERSION = 1
"""Version of the file format. Other versions are rejected."""
MAX_BYTES = 4 << 20
MOST_ERRORS = 50
MOST_ARRIVALS = 6_000
"""Most messages times their recipients in one schedule. Each arrival is a step; this many take a gigabyte of memory."""


class ScheduleFileError(Exception):
    """A file is not a valid schedule. The message says what is wrong and where."""


@dataclass(frozen=True)
class Notation:
    """The file format for the schedules of a protocol."""

    operations: Mapping[str, type[Operation]]
    """The operations by their names in a file."""
    member: type[Member]
    entry: Callable[..., Any] = dict
    """Makes a value of an object within a list, from its fields."""
    package: str = field(kw_only=True)
    """The package that contains the schema as ``schedule.schema.json``."""

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema (2020-12) of a schedule."""
        return packaged_schema(self.package, "schedule.schema.json")

    def from_json(self, data: Any) -> Schedule:
        """Parse the output of ``to_json``. Raises ScheduleFileError."""
        self._hold_to_counts(data)
        if not self._quick_validator.is_valid(data):
            self._hold_to_schema(data)
        schedule = Schedule(
            tuple(self.member(**_values(member)) for member in data["members"]),
            tuple(self._operation(dict(row)) for row in data["operations"]),
            tuple(data["channels"]),
            tuple(sorted(data.get("configuration", {}).items())),
            data["seed"],
            data.get("name", ""),
            tuple(sorted(data.get("notes", {}).items())),
        )
        for complaint in _loose_ends(schedule):
            raise ScheduleFileError(complaint)
        return schedule

    def loads(self, text: str) -> Schedule:
        """Parse the text of a file. Raises ScheduleFileError."""
        return self.from_json(parsed(text))

    def load(self, path: Path) -> Schedule:
        """Read a schedule from a file. Raises ScheduleFileError, also if the file cannot be read."""
        return self.from_json(read(path))

    def _hold_to_schema(self, data: Any) -> None:
        """Check the data against the schema. Raises ScheduleFileError."""
        from jsonschema.exceptions import best_match

        try:
            # A few errors are enough for the message; there may be a million.
            error: ValidationError | None = best_match(islice(self._validator.iter_errors(data), MOST_ERRORS))
        except RecursionError as too_deep:
            raise ScheduleFileError(f"it is no JSON: {too_deep}") from None
        if error is not None:
            raise ScheduleFileError(_in_words(error))

    def _hold_to_counts(self, data: Any) -> None:
        """Reject lists that are too long before their items are checked, which would take long. Raises
        ScheduleFileError."""
        for key, rule in self.schema["properties"].items():
            found = data.get(key) if isinstance(data, dict) else None
            if isinstance(found, list) and len(found) > (most := rule.get("maxItems", len(found))):
                raise ScheduleFileError(f"{key}: {len(found):,} of them, and there can be {most:,}")

    @cached_property
    def _quick_validator(self) -> Validator:
        """Accepts a valid schedule in 1/70 of the time of ``_validator``, but takes a minute to report a million
        errors."""
        from jsonschema_rs import validator_for

        return validator_for(self.schema)

    @cached_property
    def _validator(self) -> Draft202012Validator:
        from jsonschema import Draft202012Validator
        from jsonschema.validators import extend

        held_to = extend(Draft202012Validator, {"allOf": _case})  # type: ignore[no-untyped-call]
        validator: Draft202012Validator = held_to(self.schema)
        return validator

    def _operation(self, row: dict[str, Any]) -> Operation:
        kind = self.operations[row.pop("op")]
        if "route" in row:
            route = row["route"]
            row["route"] = Route(
                tuple(route.get("lost", ())), tuple(route.get("late", {}).items()), tuple(route.get("twice", ()))
            )
        return kind(**_values(row, self.entry))


def read(path: Path) -> Any:
    """The JSON in a file, not yet checked to be a schedule. Raises ScheduleFileError, also if the file cannot
    be read."""
    try:
        return parsed(read_bytes(path, MAX_BYTES).decode("utf-8"))
    except FileError as error:
        raise ScheduleFileError(f"it {error}") from None
    except UnicodeDecodeError:
        raise ScheduleFileError("it is no text in UTF-8") from None


def parsed(text: str) -> Any:
    """The JSON in the text of a file. Raises ScheduleFileError."""
    try:
        # int() rejects NaN and Infinity, which are not JSON.
        data = json.loads(text, parse_constant=int, parse_float=_number)
        # Reject lone surrogates, which are not text. A file can contain them directly or as an escape.
        (json.dumps(data, ensure_ascii=False) if "\\u" in text else text).encode()
    except (ValueError, RecursionError) as error:
        raise ScheduleFileError(f"it is no JSON: {error}") from None
    return data


def _number(text: str) -> int | float:
    """5.0 is an integer in JSON Schema, and must be one for the implementation."""
    value = float(text)
    return int(value) if value.is_integer() else value


def _case(validator: Any, cases: list[dict[str, Any]], instance: Any, schema: dict[str, Any]) -> Iterator[Any]:
    """A fast ``allOf`` for the only one in the schema, which has one case per operation type. Only the matching case is
    evaluated. Evaluating each case for each operation took more than half of the time of reading a stored schedule."""
    kind = instance.get("op") if isinstance(instance, dict) else None
    for index, case in enumerate(cases):
        if case["if"]["properties"]["op"]["const"] == kind:
            yield from validator.descend(instance, case["then"], schema_path=index)


def to_json(schedule: Schedule) -> dict[str, Any]:
    """The schedule as JSON values, without fields that have their default."""
    out: dict[str, Any] = {"version": VERSION}
    if schedule.name:
        out["name"] = schedule.name
    out["seed"] = schedule.seed
    out["members"] = [_plain(member) for member in schedule.members]
    out["channels"] = list(schedule.channels)
    if schedule.configuration:
        out["configuration"] = dict(schedule.configuration)
    if schedule.notes:
        out["notes"] = dict(schedule.notes)
    out["operations"] = [{"op": operation.op, **_plain(operation)} for operation in schedule.operations]
    return out


def dumps(schedule: Schedule) -> str:
    """The schedule as the text of a file, one operation per line."""
    data = to_json(schedule)
    operations = data.pop("operations")
    head = json.dumps(data, ensure_ascii=False, indent=1)[:-2]
    rows = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in operations)
    return f'{head},\n "operations": [\n{rows}\n ]\n}}\n' if rows else f'{head},\n "operations": []\n}}\n'


def _values(row: Mapping[str, Any], entry: Callable[..., Any] = dict) -> dict[str, Any]:
    """The fields of an operation or a member, as its class takes them: tuples for lists, pairs for objects."""
    out: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, list):
            value = tuple(entry(**item) if isinstance(item, dict) else item for item in value)
        elif isinstance(value, dict):
            value = tuple(sorted(value.items()))
        out[key] = value
    return out


def _plain(item: Any) -> dict[str, Any]:
    """The fields of a member, an operation or a part of one whose value differs from their default."""
    out: dict[str, Any] = {}
    for f in fields(item):
        value = getattr(item, f.name)
        default = f.default_factory() if f.default_factory is not MISSING else f.default
        if value == default and type(value) is type(default):
            continue
        if isinstance(value, Route):
            value = _plain(value) | ({"late": dict(value.late)} if value.late else {})
        elif f.name == "configuration":
            value = dict(value)
        elif isinstance(value, tuple):
            value = [_plain(one) if is_dataclass(one) else one for one in value]
        out[f.name] = value
    return out


def _in_words(error: ValidationError) -> str:
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
    message = error.message if len(error.message) <= 200 else f"{error.message[:200]}…"
    return f"{printable(where.lstrip('.')) or 'the file'}: {message}"


def _loose_ends(schedule: Schedule) -> Iterator[str]:
    """Errors that a JSON Schema cannot express."""
    names, number = set(schedule.names), len(schedule.channels)
    if len(names) != len(schedule.members):
        yield "members: two participants have the same name"
    if len(set(schedule.channels)) != number:
        yield "channels: two channels have the same name"
    for member in schedule.members:
        if any(channel >= number for channel in getattr(member, "channels", ())):
            yield f"members: {member.name!r} joins a channel that is not in the list of channels"
    listeners = len(schedule.members) - 1
    sent = sum(getattr(operation, "times", 0) for operation in schedule.operations)
    if (arrivals := sent * listeners) > MOST_ARRIVALS:
        yield (
            f"operations: {sent:,} messages to {listeners} participants are {arrivals:,} arrivals, and "
            f"{MOST_ARRIVALS:,} can be played: lower `times`, or take fewer members"
        )
    # A calm operation plays at least two rounds, unless it asks for one. All participants tick in each round.
    calm = [operation.rounds for operation in schedule.operations if isinstance(operation, Calm)]
    rounds = sum(min(most, QUIET_ROUNDS) for most in calm)
    there = sum(not member.late for member in schedule.members)
    if (steps := rounds * there) > MAX_STEPS:
        yield (
            f"operations: {rounds:,} calm rounds of {there} participants are {steps:,} steps or more, and "
            f"{MAX_STEPS:,} can be played: take fewer calm operations, or fewer members"
        )
    for index, operation in enumerate(schedule.operations):
        where = f"operations[{index}] ({operation.op})"
        for name in named_in(operation):
            if name not in names:
                yield f"{where}: there is no participant {name!r}"
        if (channel := getattr(operation, "channel", 0) or 0) >= max(1, number):
            yield f"{where}: there is no channel {channel}"
        match operation:
            case Wait(period=expression) | Require(condition=expression) if expression:
                yield from _no_expression(expression, where)
        if (peer := getattr(operation, "peer", None)) in names:
            yield f"{where}: the scripted peer {peer!r} is a participant, too"


def _no_expression(text: str, where: str) -> Iterator[str]:
    try:
        names_in(text)
    except ExpressionError as error:
        yield f"{where}: {error}"


def named_in(operation: Operation) -> set[str]:
    """The participants that an operation names."""
    names: set[str] = set()
    for value in (getattr(operation, key, EVERYBODY) for key in operation.names):
        names |= {value} if isinstance(value, str) else set(value)
    route = getattr(operation, "route", STRAIGHT)
    names |= {*route.lost, *route.twice, *(name for name, _ in route.late)}
    return names - {EVERYBODY}
