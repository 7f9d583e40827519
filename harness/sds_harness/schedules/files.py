"""Reads and writes schedules as files: counterexamples, and the scenarios of users.

A file is JSON, or YAML if its name ends in .yaml or .yml. Both have the same content, which the JSON Schema of
the protocol describes. The top-level keys that people seldom need may be left out.

Files are untrusted until they are checked: the size is bounded, the shape must match the schema, and every name must be
that of a participant. A ScheduleFileError names the wrong field, and its line if the text is known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import yaml_text
from ..declaration import printable
from ..files import FileError, packaged_schema, read_bytes
from ..suggestions import did_you_mean
from ..yaml_text import YamlError
from . import operations as ops
from .base_player import MAX_STEPS, QUIET_ROUNDS
from .expressions import TIMES, ExpressionError, names_in
from .parameter import ParameterError, value_of

if TYPE_CHECKING:  # imported when a file is read, because the import is slow
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError
    from jsonschema_rs import Validator

VERSION = 1
"""Version of the file format. Other versions are rejected."""
MAX_BYTES = 4 << 20
MAX_YAML_BYTES = 256 << 10
"""Maximum size of a YAML file in bytes. It is smaller than that of a JSON file, because a megabyte of YAML takes eight
seconds to read."""
YAML_SUFFIXES = (".yaml", ".yml")
MOST_ERRORS = 50
MOST_ARRIVALS = 6_000
"""Maximum number of arrivals in one schedule. Each message arrives once at each recipient, and each arrival is a step.
A group trace with so many steps takes a gigabyte of memory.
"""


class ScheduleFileError(Exception):
    """A file is not a valid schedule. The message names the error and its place."""

    def __init__(self, message: str, path: yaml_text.Path = (), line: int = 0) -> None:
        super().__init__(message)
        self.path = path
        """The keys and indices that lead to the field."""
        self.line = line
        """The line in the file, from 1; 0 if it is unknown."""


@dataclass(frozen=True)
class ScheduleDocument:
    """The values in the text of a file, not yet checked to be a schedule."""

    data: Any
    text: str = ""
    """The text of a JSON file; "" for YAML, and for values that were not read from a file."""
    lines: Mapping[yaml_text.Path, int] = field(default_factory=dict)
    """The line of each value of a YAML file; empty for JSON."""

    def line(self, path: yaml_text.Path) -> int:
        """The line of a value, or of the innermost value around it that exists; 0 if it is unknown."""
        if not self.lines:
            return line_in_json(self.text, path)
        return next((self.lines[path[:end]] for end in range(len(path), -1, -1) if path[:end] in self.lines), 0)


@dataclass(frozen=True)
class Notation:
    """The file format for the schedules of a protocol."""

    operations: Mapping[str, type[ops.Operation]]
    """The operations by their names in a file."""
    member: type[ops.Member]
    entry: Callable[..., Any] = dict
    """Converts an object within a list, such as an entry of a causal history. Called with the fields of the object."""
    named: frozenset[str] = field(kw_only=True)
    """The names that expressions may use besides the fields of the configuration: limits, and other names of the
    protocol.
    """
    absent: Mapping[str, frozenset[str]] = field(default_factory=dict, kw_only=True)
    """Maps the name of an operation, or "member", to its fields that this protocol does not have."""
    package: str = field(kw_only=True)
    """The package that contains the schema as ``schedule.schema.json``."""

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema (2020-12) of a schedule."""
        return packaged_schema(self.package, "schedule.schema.json")

    def from_json(self, data: Any) -> ops.Schedule:
        """Parse the output of ``to_json``. Raises ScheduleFileError."""
        self._hold_to_counts(data)
        if not self._quick_validator.is_valid(data):
            self._hold_to_schema(data)
        schedule = self._schedule(data)
        for complaint in _loose_ends(schedule, self._in_expressions):
            raise complaint
        return schedule

    def loads(self, text: str) -> ops.Schedule:
        """Parse the text of a JSON file. Raises ScheduleFileError."""
        return self.from_document(ScheduleDocument(parse_text(text), text))

    def load(self, path: Path) -> ops.Schedule:
        """Read a schedule from a file. Raises ScheduleFileError, also if the file cannot be read."""
        return self.from_document(read(path))

    def from_document(self, document: ScheduleDocument) -> ops.Schedule:
        """Parse a file that was read. Raises ScheduleFileError with the line."""
        try:
            return self.from_json(document.data)
        except ScheduleFileError as error:
            error.line = document.line(error.path)
            raise

    def errors(self, document: ScheduleDocument) -> list[ScheduleFileError]:
        """The errors of a file, at most ``MOST_ERRORS``, in the order of its lines."""
        data = document.data
        try:
            self._hold_to_counts(data)
            wrong = () if self._quick_validator.is_valid(data) else self._validator.iter_errors(data)
            found = [_error(error) for error in islice(wrong, MOST_ERRORS)]
            found = found or list(islice(_loose_ends(self._schedule(data), self._in_expressions), MOST_ERRORS))
        except RecursionError as too_deep:
            found = [ScheduleFileError(f"the text is not JSON: {too_deep}")]
        except ScheduleFileError as only:
            found = [only]
        for each in found:
            each.line = document.line(each.path)
        return sorted(found, key=lambda each: each.line)

    def _schedule(self, data: dict[str, Any]) -> ops.Schedule:
        """Build the schedule from the JSON values of a file, which match the schema."""
        rules = self.schema["properties"]
        notes = dict(data.get("notes", {}))
        if "revision" in data and notes.setdefault("revision", data["revision"]) != data["revision"]:
            message = f"the notes name another revision, {printable(repr(notes['revision']), 60)}"
            raise ScheduleFileError(f"revision: {message}", ("revision",))
        return ops.Schedule(
            tuple(
                self.member(**_values({"name": member} if isinstance(member, str) else member))
                for member in data["members"]
            ),
            tuple(self._operation(dict(row)) for row in data["operations"]),
            tuple(data.get("channels", rules["channels"]["default"])),
            tuple(sorted(data.get("configuration", {}).items())),
            data.get("seed", rules["seed"]["default"]),
            data.get("name", ""),
            tuple(sorted(notes.items())),
            data.get("description", ""),
            tuple(data.get("requirements", ())),
            tuple(
                ops.Expectation(row["who"], what, tuple(labels))
                for row in data.get("expect", ())
                for what, labels in row.items()
                if what != "who"
            ),
            data.get("parameter", ""),
        )

    @cached_property
    def _in_expressions(self) -> frozenset[str]:
        """The names that expressions in a schedule may use: fields of the configuration and ``named``."""
        configuration = self.schema["$defs"].get("configuration", self.schema["properties"]["configuration"])
        return frozenset(configuration["properties"]) | TIMES | self.named

    def _hold_to_schema(self, data: Any) -> None:
        """Check the data against the schema. Raises ScheduleFileError."""
        from jsonschema.exceptions import best_match

        try:
            # A few errors are enough for the message; there may be a million.
            error: ValidationError | None = best_match(islice(self._validator.iter_errors(data), MOST_ERRORS))
        except RecursionError as too_deep:
            raise ScheduleFileError(f"the text is not JSON: {too_deep}") from None
        if error is not None:
            raise _error(error)

    def _hold_to_counts(self, data: Any) -> None:
        """Reject other versions of the format and too long lists. Raises ScheduleFileError.

        This comes before the slow check of the items in the lists.
        """
        version = data.get("version", VERSION) if isinstance(data, dict) else VERSION
        if type(version) is int and version != VERSION:
            shown = version if abs(version) < 1_000_000 else "…"
            raise ScheduleFileError(
                f"version: this is version {shown} of the format, and this suite reads version {VERSION}: record it "
                "again, with `fuzz`, `exhaust` or `corpus record` of this suite",
                ("version",),
            )
        for key, rule in self.schema["properties"].items():
            found = data.get(key) if isinstance(data, dict) else None
            if isinstance(found, list) and len(found) > (most := rule.get("maxItems", len(found))):
                raise ScheduleFileError(f"{key}: the length {len(found):,} exceeds the maximum of {most:,}", (key,))

    @cached_property
    def _quick_validator(self) -> Validator:
        """A validator that is 70 times as fast as ``_validator`` on a valid schedule, but takes a minute to report a
        million errors.
        """
        from jsonschema_rs import validator_for

        return validator_for(self.schema)

    @cached_property
    def _validator(self) -> Draft202012Validator:
        from jsonschema import Draft202012Validator
        from jsonschema.validators import extend

        held_to = extend(Draft202012Validator, {"allOf": _case})  # type: ignore[no-untyped-call]
        validator: Draft202012Validator = held_to(self.schema)
        return validator

    def _operation(self, row: dict[str, Any]) -> ops.Operation:
        kind = self.operations[row.pop("op")]
        if "route" in row:
            route = row["route"]
            row["route"] = ops.Route(
                tuple(route.get("lost", ())), tuple(route.get("late", {}).items()), tuple(route.get("twice", ()))
            )
        return kind(**_values(row, self.entry))


def read(path: Path) -> ScheduleDocument:
    """The content of a file, not yet checked to be a schedule.

    Raises ScheduleFileError, also if the file cannot be read.
    """
    in_yaml = path.suffix.lower() in YAML_SUFFIXES
    try:
        text = read_bytes(path, MAX_YAML_BYTES if in_yaml else MAX_BYTES).decode("utf-8")
        return yaml_document(text) if in_yaml else ScheduleDocument(parse_text(text), text)
    except FileError as error:
        raise ScheduleFileError(f"it {error}") from None
    except UnicodeDecodeError:
        raise ScheduleFileError("the file is not text in UTF-8") from None


def yaml_document(text: str) -> ScheduleDocument:
    """The content of a YAML file. Raises ScheduleFileError."""
    try:
        data, lines = yaml_text.parse(text)
        json.dumps(data, ensure_ascii=False).encode()  # an escape may name a lone surrogate
    except YamlError as error:
        raise ScheduleFileError(f"the text is not the YAML of a schedule: {error}", line=error.line) from None
    except ValueError as error:
        raise ScheduleFileError(f"the text is not the YAML of a schedule: {printable(str(error), 120)}") from None
    return ScheduleDocument(data, lines=lines)


_SPACE = re.compile(r"[ \t\n\r]*")


def line_in_json(text: str, path: yaml_text.Path) -> int:
    """The line of a value in valid JSON, or of the innermost value around it that exists; 0 without a text."""
    if not text:
        return 0
    skip = json.JSONDecoder().raw_decode

    def after_space(at: int) -> int:
        found = _SPACE.match(text, at)
        return found.end() if found is not None else at

    at = place = after_space(0)
    try:
        for part in path:
            index, here = 0, after_space(at + 1)
            while text[here] not in "]}":
                begin, key = here, index
                if text[at] == "{":
                    key, here = skip(text, here)
                    here = after_space(after_space(here) + 1)
                if key == part:
                    at, place = here, begin
                    break
                here = after_space(skip(text, here)[1])
                here = after_space(here + 1) if text[here] == "," else here
                index += 1
            else:
                break
    except (IndexError, ValueError, RecursionError):
        pass  # Python cannot read a number, such as one with too many digits: return the line that was found so far
    return text.count("\n", 0, place) + 1


def parse_text(text: str) -> Any:
    """The JSON in the text of a file. Raises ScheduleFileError."""
    try:
        # int() rejects NaN and Infinity, which are not JSON.
        data = json.loads(text, parse_constant=int, parse_float=_number)
        # Reject lone surrogates, which are not text. A file can contain them directly or as an escape.
        (json.dumps(data, ensure_ascii=False) if "\\u" in text else text).encode()
    except (ValueError, RecursionError) as error:
        raise ScheduleFileError(f"the text is not JSON: {error}") from None
    return data


def _number(text: str) -> int | float:
    """Convert 5.0 to 5: JSON Schema treats it as an integer, and implementations need one."""
    value = float(text)
    return int(value) if value.is_integer() else value


def _case(validator: Any, cases: list[dict[str, Any]], instance: Any, schema: dict[str, Any]) -> Iterator[Any]:
    """Validates the only ``allOf`` of the schema, which has one case for each type of operation.

    Evaluates only the case of the operation's type: evaluating all cases took more than half of the time of reading a
    stored schedule.
    """
    kind = instance.get("op") if isinstance(instance, dict) else None
    for index, case in enumerate(cases):
        if case["if"]["properties"]["op"]["const"] == kind:
            yield from validator.descend(instance, case["then"], schema_path=index)


def to_json(schedule: ops.Schedule) -> dict[str, Any]:
    """The schedule as JSON values, without fields that have their default."""
    out: dict[str, Any] = {"version": VERSION}
    if schedule.name:
        out["name"] = schedule.name
    if schedule.description:
        out["description"] = schedule.description
    if schedule.requirements:
        out["requirements"] = list(schedule.requirements)
    if schedule.parameter:
        out["parameter"] = schedule.parameter
    out["seed"] = schedule.seed
    out["members"] = [_plain(member) for member in schedule.members]
    out["channels"] = list(schedule.channels)
    if schedule.configuration:
        out["configuration"] = dict(schedule.configuration)
    if schedule.notes:
        out["notes"] = dict(schedule.notes)
    if schedule.expect:
        out["expect"] = [{"who": each.who, each.what: list(each.labels)} for each in schedule.expect]
    out["operations"] = [{"op": operation.op, **_plain(operation)} for operation in schedule.operations]
    return out


def dumps(schedule: ops.Schedule) -> str:
    """The schedule as the text of a file, one operation per line."""
    data = to_json(schedule)
    operations = data.pop("operations")
    head = json.dumps(data, ensure_ascii=False, indent=1)[:-2]
    rows = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in operations)
    return f'{head},\n "operations": [\n{rows}\n ]\n}}\n' if rows else f'{head},\n "operations": []\n}}\n'


def _values(row: Mapping[str, Any], entry: Callable[..., Any] = dict) -> dict[str, Any]:
    """Convert the JSON fields of an operation or a member to arguments of its class: lists become tuples, objects
    become sorted tuples of pairs.
    """
    out: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, list):
            value = tuple(entry(**item) if isinstance(item, dict) else item for item in value)
        elif isinstance(value, dict):
            value = tuple(sorted(value.items()))
        out[key] = value
    return out


def to_yaml(schedule: ops.Schedule, notation: Notation) -> str:
    """The schedule as the text of a YAML file for people: one operation per line, without keys that have their
    default."""
    data = to_json(schedule)
    rules = notation.schema["properties"]
    data = {key: value for key, value in data.items() if value != rules[key].get("default")}
    data["members"] = [member["name"] if len(member) == 1 else member for member in data["members"]]
    notes = data.get("notes", {})
    if "revision" in notes:
        data = {"revision": notes.pop("revision"), **data}
        data = {key: value for key, value in data.items() if key != "notes" or value}
    last = [key for key in ("operations", "expect") if key in data]
    out = []
    for key in sorted(data, key=lambda key: last.index(key) + 1 if key in last else 0):
        if key in last:
            out += [f"{key}:" if data[key] else f"{key}: []", *(f"- {_flow(row)}" for row in data[key])]
        else:
            out.append(f"{key}: {_flow(data[key])}")
    return "\n".join(out) + "\n"


_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*([.-][A-Za-z0-9_]+)*")
"""Matches text that needs no quotes in YAML, except for the words in ``_WORDS``."""
_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n", "inf", "nan"}
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def _flow(value: Any) -> str:
    """A JSON value in the flow style of YAML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flow(key)}: {_flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    text = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _plain(item: Any) -> dict[str, Any]:
    """The fields of ``item`` (a member, an operation or an object within an operation) that differ from their
    defaults.
    """
    out: dict[str, Any] = {}
    for f in fields(item):
        value = getattr(item, f.name)
        default = f.default_factory() if f.default_factory is not MISSING else f.default
        if value == default and type(value) is type(default):
            continue
        if isinstance(value, ops.Route):
            value = _plain(value) | ({"late": dict(value.late)} if value.late else {})
        elif f.name == "configuration":
            value = dict(value)
        elif isinstance(value, tuple):
            value = [_plain(one) if is_dataclass(one) else one for one in value]
        out[f.name] = value
    return out


def _error(error: ValidationError) -> ScheduleFileError:
    """Describe the violation of a schema, with a suggestion for an unknown name."""
    path = tuple(error.absolute_path)
    message = error.message if len(error.message) <= 200 else f"{error.message[:200]}…"
    known: Mapping[str, Any] = error.schema.get("properties", {}) if isinstance(error.schema, dict) else {}
    value: Any = error.instance
    if error.validator == "additionalProperties" and (extra := [key for key in value if key not in known]):
        path = (*path, extra[0])
        message = f"this field does not exist.{did_you_mean(extra[0], known) or _list_available(known)}"
    elif error.validator == "enum" and path[-1:] == ("op",) and isinstance(value, str):
        names: list[str] = list(error.schema["enum"]) if isinstance(error.schema, dict) else []
        message = f"there is no operation {value[:60]!r}.{did_you_mean(value, names) or _list_available(names)}"
    return ScheduleFileError(f"{_place(path)}: {printable(message)}", path)


def _list_available(names: Collection[str]) -> str:
    return f" There are {', '.join(names)}." if names else ""


def _place(path: yaml_text.Path) -> str:
    """A path as a user writes it: ``operations[2].who``."""
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
    return printable(where, 200) or "the file"


def _loose_ends(schedule: ops.Schedule, in_expressions: Collection[str]) -> Iterator[ScheduleFileError]:
    """Yield the errors of a schedule that its JSON Schema cannot find, such as a name that occurs twice."""
    names, number = set(schedule.names), len(schedule.channels)
    if len(names) != len(schedule.members):
        yield ScheduleFileError("members: two participants have the same name", ("members",))
    if len(set(schedule.channels)) != number:
        yield ScheduleFileError("channels: two channels have the same name", ("channels",))
    for place, member in enumerate(schedule.members):
        if any(channel >= number for channel in getattr(member, "channels", ())):
            yield ScheduleFileError(
                f"members: {member.name!r} joins a channel that is not in the list of channels",
                ("members", place, "channels"),
            )
    listeners = len(schedule.members) - 1
    sent = sum(getattr(operation, "times", 0) for operation in schedule.operations)
    if (arrivals := sent * listeners) > MOST_ARRIVALS:
        yield ScheduleFileError(
            f"operations: {sent:,} messages to {listeners} participants are {arrivals:,} arrivals, but only "
            f"{MOST_ARRIVALS:,} can be played: lower `times`, or use fewer members",
            ("operations",),
        )
    # A `calm` operation plays at least two rounds, or one if its `rounds` is 1. All participants tick in each round.
    calm = [operation.rounds for operation in schedule.operations if isinstance(operation, ops.Calm)]
    rounds = sum(min(most, QUIET_ROUNDS) for most in calm)
    present_count = sum(not member.late for member in schedule.members)
    if (steps := rounds * present_count) > MAX_STEPS:
        yield ScheduleFileError(
            f"operations: {rounds:,} calm rounds of {present_count} participants are {steps:,} steps or more, but only "
            f"{MAX_STEPS:,} can be played: use fewer calm operations, or fewer members",
            ("operations",),
        )
    for index, operation in enumerate(schedule.operations):
        repeated = operation.operations if isinstance(operation, ops.Repeat) else 0
        if any(isinstance(each, ops.Repeat) for each in schedule.operations[index + 1 : index + 1 + repeated]):
            yield ScheduleFileError(f"operations[{index}]: a `repeat` repeats another `repeat`", ("operations", index))
        for complaint in (*_strangers(operation, names, number), *_wrong_expression(operation, in_expressions)):
            yield ScheduleFileError(f"operations[{index}] ({operation.op}): {complaint}", ("operations", index))
    if schedule.parameter:
        try:
            value_of(schedule)
        except ParameterError as error:
            yield ScheduleFileError(f"parameter: {error}", ("parameter",))
    labels = set(labels_in(schedule))
    for index, expected in enumerate(schedule.expect):
        path = ("expect", index, "who")
        if expected.who not in names:
            text = f"there is no participant {expected.who!r}.{did_you_mean(expected.who, names)}"
            yield ScheduleFileError(f"{_place(path)}: {text}", path)
        for place, label in enumerate(expected.labels):
            if label not in labels:
                where = ("expect", index, expected.what, place)
                text = f"no operation has the label {printable(label, 60)!r}.{did_you_mean(label, sorted(labels))}"
                yield ScheduleFileError(f"{_place(where)}: {text}", where)


def _strangers(operation: ops.Operation, names: Collection[str], channels: int) -> Iterator[str]:
    """Describe the wrong names in an operation: participants and channels that the schedule lacks, and peers that are
    participants."""
    for name in sorted(participants_in(operation)):
        if name not in names:
            yield f"there is no participant {name!r}{did_you_mean(name, names)}"
    if (channel := getattr(operation, "channel", 0) or 0) >= max(1, channels):
        yield f"there is no channel {channel}"
    if (peer := getattr(operation, "peer", None)) in names:
        yield f"the scripted peer {peer!r} is also a participant"


def labels_in(schedule: ops.Schedule) -> Iterator[str]:
    """The labels of all messages of a schedule. An operation that sends several messages numbers them."""
    for operation in schedule.operations:
        if label := getattr(operation, "label", ""):
            yield label
            if (times := getattr(operation, "times", 1)) > 1:
                yield from (f"{label}.{number}" for number in range(1, times + 1))


def _wrong_expression(operation: ops.Operation, known: Collection[str]) -> Iterator[str]:
    """The reason why an expression of an operation is invalid or uses a name that is not in ``known``."""
    for key in ("when", "period", "condition", "lamport", "rounds", "until", "ones", "most", "otherwise"):
        expression = getattr(operation, key, "")
        if isinstance(expression, str) and expression:
            try:
                for name in sorted(names_in(expression).difference(known)):
                    text = f"there is no setting or limit {name!r}.{did_you_mean(name, known)}"
                    yield f"{key}: {text}"
            except ExpressionError as error:
                yield f"{key}: {error}"


def participants_in(operation: ops.Operation) -> set[str]:
    """The participants that an operation names."""
    names: set[str] = set()
    for value in (getattr(operation, key, ops.EVERYBODY) for key in operation.names):
        names |= {value} if isinstance(value, str) else set(value)
    route = getattr(operation, "route", ops.STRAIGHT)
    names |= {*route.lost, *route.twice, *(name for name, _ in route.late)}
    return names - {ops.EVERYBODY}
