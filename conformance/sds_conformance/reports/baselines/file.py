"""The file of a baseline: YAML, read with the lines of everything in it. ``baseline.schema.json`` describes it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from sds_harness.declaration import printable
from sds_harness.files import FileError, packaged_schema, read_text

SCHEMA_ID = "sds-conformance/baseline/2"
OLD_SCHEMA_ID = "sds-conformance/baseline/1"
"""Of files that listed how something fails in sentences, under `fails`."""
MAX_BYTES = 1 << 20
DEEPEST = 8
"""Levels of nesting; five are in use."""


class BaselineError(Exception):
    """A file is no baseline, with the place and the reason."""


class OldBaselineError(BaselineError):
    """A file has the format of before, which only ``renewed`` reads."""


@dataclass(frozen=True)
class Entry:
    """A known failure, and the lines on which it stands: from 1, both included."""

    first: int
    last: int
    what: str
    by: str
    scenarios: tuple[str, ...]
    codes: tuple[str, ...]
    """The ways in which it may fail; none for any."""
    reason: str
    link: str

    def lists(self, code: str) -> bool:
        """May it fail in this way?"""
        return not self.codes or code in self.codes

    def allows(self, scenario: str) -> bool:
        """May it fail there?"""
        return not self.scenarios or any(fnmatchcase(scenario, glob) for glob in self.scenarios)

    @property
    def lines(self) -> str:
        """The lines, in words."""
        return f"line {self.first}" if self.first == self.last else f"lines {self.first}-{self.last}"


@dataclass(frozen=True)
class Baseline:
    """A whole file."""

    path: Path
    text: str
    revision: str
    environments: frozenset[str]
    fuzz: tuple[int, int] | None
    """Seed and number of schedules."""
    entries: Sequence[Entry]
    known: int
    """The line on which the list begins."""

    @property
    def shown(self) -> str:
        return printable(str(self.path))


load_schema = partial(packaged_schema, __package__ or "", "baseline.schema.json")
"""Gives the JSON Schema (2020-12) of a baseline."""


def load(path: Path) -> Baseline:
    """The baseline in a file. Raises BaselineError."""
    shown = printable(str(path))
    if not path.is_file():
        raise BaselineError(f"{shown} is no file: `sds-conformance baseline write FILE REPORT` makes one")
    try:
        return parse(read_text(path, MAX_BYTES), path)
    except FileError as error:
        raise BaselineError(f"{shown} {error}") from None


def parse(text: str, path: Path) -> Baseline:
    """The baseline in a text. Raises BaselineError."""
    # Imported here: only commands with a baseline need it, and it takes its time.
    from jsonschema.exceptions import best_match

    shown, data = printable(str(path)), parse_yaml(text, path)
    if isinstance(data, dict) and data.get("schema") == OLD_SCHEMA_ID:
        update = shlex.join(["sds-conformance", "baseline", "update", str(path)])
        raise OldBaselineError(
            f"{shown} is of the format {OLD_SCHEMA_ID}, which lists failures by sentences; this version lists them by "
            f"codes. Type `{printable(update)} REPORT`: it writes the codes of REPORT, and keeps reasons, links and "
            "comments"
        )
    wrong = best_match(_validator().iter_errors(data))
    if wrong is not None:
        raise BaselineError(f"{shown}, line {_line(data, wrong.absolute_path)}: {printable(wrong.message, 200)}")
    rows: Any = data["known"] or []
    starts = [rows.lc.item(number)[0] + 1 for number in range(len(rows))]
    lines = text.splitlines()
    ends = [_end(lines, *pair) for pair in pairwise([*starts, len(lines) + 1])]
    fuzz = data.get("fuzz")
    return Baseline(
        path,
        text,
        str(data["revision"]),
        frozenset(map(str, data.get("environments") or ())),
        (int(fuzz["seed"]), int(fuzz["examples"])) if fuzz else None,
        [_entry(row, first, last) for row, first, last in zip(rows, starts, ends, strict=True)],
        data.lc.key("known")[0] + 1,
    )


def parse_yaml(text: str, path: Path) -> Any:
    """The data in a text, with the lines and comments of everything in it. Raises BaselineError."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    shown = printable(str(path))
    try:
        _bounded(text)
        return YAML().load(text)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark is not None else ""
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        raise BaselineError(f"{shown}, {where}{printable(str(problem))}") from None
    except (ValueError, RecursionError) as error:
        raise BaselineError(f"{shown}: {printable(str(error))}") from None


def _entry(row: Any, first: int, last: int) -> Entry:
    return Entry(
        first,
        last,
        str(row["vector"] if "vector" in row else row["requirement"]),
        "vectors" if "vector" in row else str(row.get("by", "run")),
        tuple(map(str, row.get("scenario") or ())),
        tuple(map(str, row.get("codes") or ())),
        str(row["reason"]),
        str(row.get("link", "")),
    )


def _end(lines: Sequence[str], first: int, after: int) -> int:
    """The last line of an entry: comments and blank lines before the next one belong to that."""
    last = after - 1
    while last > first and (not lines[last - 1].strip() or lines[last - 1].lstrip().startswith("#")):
        last -= 1
    return last


def _line(data: Any, path: Sequence[Any]) -> int:
    """The line of the innermost thing on a path that has one."""
    line = 0
    for key in path:
        place = data.lc.item(key) if isinstance(key, int) else data.lc.key(key) if data.lc.data else None
        if place is None:
            break
        line, data = place[0], data[key]
        if not hasattr(data, "lc"):
            break
    return int(line) + 1


def _bounded(text: str) -> None:
    """Raises ValueError where reading it could take more than its size: what refers to itself, what is nested deep."""
    from ruamel.yaml import YAML
    from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent

    depth = 0
    for event in YAML().parse(text):
        if isinstance(event, AliasEvent):
            raise ValueError(f"line {event.start_mark.line + 1}: nothing may be repeated by *{event.anchor}")
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if depth > DEEPEST:
            raise ValueError(f"line {event.start_mark.line + 1}: nested deeper than a baseline is")


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(load_schema())
