"""Reads scenario files and makes scenarios from them. A run plays them like the scenarios of the suite.

A scenario has the name of its file, with the file extension. So its name has a dot, unlike the names of the suite's
scenarios.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from sds_harness.declaration import printable
from sds_harness.schedules import Operation, Route, Schedule, ScheduleFileError
from sds_harness.schedules.files import YAML_SUFFIXES, ScheduleDocument, read
from sds_harness.suggestions import did_you_mean

from ..judging.registry import Scenario, ScenarioFile
from ..protocols import repertoire_of, revisions, rules_of, scheduled
from .expectations import ENDLESS, ExpectationResult, check, rows_of, sentence

SUFFIXES = (".json", *YAML_SUFFIXES)
MOST_FILES = 1_000
LONGEST_NAME = 100


class ScenarioFileError(Exception):
    """A file cannot be played. The message has the file, the line if it is known, the field, and what to change."""


@dataclass(frozen=True)
class PlaySchedule:
    """Function of a scenario that plays a schedule with one implementation for all participants. It can be pickled."""

    schedule: Schedule
    revision: str
    length_factor: int = 1
    """Factor by which the limits on the length of a group trace are multiplied."""

    def __call__(self, stage: Any) -> None:
        """Play on a stage, and store in its trace which expectations were not met. Raises TesteeError."""
        repertoire = repertoire_of(self.revision)
        schedule = rename_participants(self.schedule, stage.label)
        show = repertoire.perform(schedule, dict.fromkeys(schedule.names, stage), self.length_factor)
        result = check(show, repertoire.reading)
        endless = ((ENDLESS, "no end of messages"),) if show.storm else ()
        stage.trace.unmet, stage.trace.unchecked = (*endless, *result.unmet), result.unchecked
        stage.trace.stopped = show.ended or next(iter(show.left_out.values()), "")


def rename_participants(schedule: Schedule, label: Callable[[str], str]) -> Schedule:
    """Return the schedule with the names that an environment gives to participants, scripted peers and channels."""

    return replace(
        schedule,
        members=tuple(replace(member, name=label(member.name)) for member in schedule.members),
        operations=tuple(rename_fields(one, (*one.names, "peer", "route"), label) for one in schedule.operations),
        channels=tuple(map(label, schedule.channels)),
        expect=tuple(replace(expected, who=label(expected.who)) for expected in schedule.expect),
    )


def rename_fields(operation: Operation, fields: Iterable[str], rename: Callable[[str], str]) -> Operation:
    """Return an operation with other names in some of its fields. A field has a name, several names or entries with a
    label, or a route.
    """

    def rename_all(value: Any) -> Any:
        match value:
            case str():
                return rename(value)
            case tuple():
                return tuple(map(rename_all, value))
            case Route(lost, late, twice):
                return Route(rename_all(lost), tuple((rename(name), ms) for name, ms in late), rename_all(twice))
        return value if value is None else replace(value, label=rename(value.label))

    return operation.with_values(
        **{key: rename_all(getattr(operation, key)) for key in fields if hasattr(operation, key)}
    )


@dataclass(frozen=True)
class LoadedScenario:
    """The content of a scenario file."""

    path: Path
    name: str
    schedule: Schedule
    revision: str
    """The revision that the file names; "" if it names none."""
    lines: tuple[int, ...] = ()
    """The line of each expectation; 0 if it is unknown."""

    def scenario(self, revision: str, *, everywhere: bool = False) -> Scenario:
        """Return the scenario, to be judged by a revision. Unless ``everywhere``, it is played in one
        environment only.
        """
        file = ScenarioFile(str(self.path), self.schedule.description, self.numbered_expectations)
        play, needed = PlaySchedule(self.schedule, revision), self.schedule.requirements
        return Scenario(self.name, play, needed, long=not everywhere, file=file, write=partial(replace, self.schedule))

    @property
    def numbered_expectations(self) -> tuple[tuple[int, str], ...]:
        """The line and the sentence of each expectation."""
        return tuple(zip(self.lines, map(sentence, self.schedule.expect), strict=True))

    @property
    def printable_path(self) -> str:
        return _printable_path(self.path)

    def describe_unmet(self, unmet: Iterable[tuple[int, str]]) -> str:
        """Describe expectations that were not met: ``unmet`` has (index, what was seen). "" if there are none."""
        texts = {
            ENDLESS: "the participants stop sending messages",
            **dict(enumerate(text for _, text in self.numbered_expectations)),
        }
        return "; ".join(f"expected: {texts[index]}; seen: {seen}" for index, seen in unmet)

    def row(self, results: Mapping[str, ExpectationResult], again: str = "") -> dict[str, Any]:
        """Return the data about the file for a report. ``again`` is the command that plays the file again."""
        return {
            "scenario": self.name,
            "file": _printable_path(self.path),
            "description": self.schedule.description,
            "expectations": rows_of(self.numbered_expectations, results),
            "again": again,
        }


def files_in(paths: Iterable[Path]) -> list[Path]:
    """Return those paths that are files, and the scenario files in those that are folders. Raises ScenarioFileError."""
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        try:
            inside = sorted(each for each in path.iterdir() if each.suffix.lower() in SUFFIXES)
        except OSError as error:
            raise ScenarioFileError(f"{_printable_path(path)} cannot be read: {error.strerror}") from None
        if not inside:
            raise ScenarioFileError(
                f"{_printable_path(path)} has no scenario file: names of scenario files end in {', '.join(SUFFIXES)}"
            )
        found += inside
    found = list(dict.fromkeys(found))
    if len(found) > MOST_FILES:
        raise ScenarioFileError(f"there are {len(found):,} scenario files, and {MOST_FILES:,} can be played at a time")
    return found


def load(paths: Iterable[Path]) -> list[LoadedScenario]:
    """Read scenario files, and all scenario files in folders. Raises ScenarioFileError at the first error."""
    out: dict[str, LoadedScenario] = {}
    for path in files_in(paths):
        loaded = load_one(path)
        if (other := out.setdefault(loaded.name, loaded)) is not loaded:
            message = (
                f"{_printable_path(other.path)} and {_printable_path(path)} would both be the scenario {loaded.name}"
            )
            raise ScenarioFileError(f"{message}: rename one of them")
    return list(out.values())


def load_one(path: Path) -> LoadedScenario:
    """Read a scenario file. Raises ScenarioFileError."""
    document, found = _check_file(path)
    if found:
        raise ScenarioFileError(found[0])
    data = document.data
    revision = _named_revision(data)
    notation = repertoire_of(revision or next(iter(scheduled()))).notation
    name = name_of(path)
    schedule = notation.from_document(document)
    lines = tuple(document.line(("expect", index)) for index in range(len(schedule.expect)))
    return LoadedScenario(path, name, schedule if schedule.name else replace(schedule, name=name), revision, lines)


def errors_in(path: Path) -> list[str]:
    """Return the errors of a scenario file, each as a sentence with the line; empty if the file can be played."""
    return _check_file(path)[1]


def name_of(path: Path) -> str:
    """The name of the scenario in a file."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", path.name)[-LONGEST_NAME:]


def _check_file(path: Path) -> tuple[ScheduleDocument, list[str]]:
    try:
        document = read(path)
    except ScheduleFileError as error:
        return ScheduleDocument(None), [_sentence(path, error)]
    noted = _named_revision(document.data)
    wrong = ""
    if noted and noted not in revisions():
        others = f" Schedules are played for {', '.join(scheduled())}."
        wrong = f"there is no {printable(noted, 60)!r}.{did_you_mean(noted, revisions()) or others}"
    elif noted and noted not in scheduled():
        wrong = f"no schedules of {noted} can be played, only those of {', '.join(scheduled())}"
    if wrong:
        line = document.line(("revision",))
        return document, [_sentence(path, ScheduleFileError(f"revision: {wrong}", line=line))]
    revision = noted or next(iter(scheduled()))
    found = repertoire_of(revision).notation.errors(document)
    if not found:
        stated = rules_of(revision).catalogue.requirements
        for place, requirement in enumerate(document.data.get("requirements", ())):
            if requirement not in stated:
                text = f"requirements[{place}]: there is no {printable(requirement)!r}."
                text += did_you_mean(requirement, stated) or " `sds-conformance requirements` lists the IDs."
                found.append(ScheduleFileError(text, line=document.line(("requirements", place))))
    return document, [_sentence(path, error) for error in found]


def _named_revision(data: Any) -> str:
    """The revision that a file names; "" if it names none."""
    if not isinstance(data, dict):
        return ""
    notes = data.get("notes")
    noted = data.get("revision") or (notes.get("revision") if isinstance(notes, dict) else "")
    return noted if isinstance(noted, str) else ""


def _sentence(path: Path, error: ScheduleFileError) -> str:
    text = str(error)
    if error.line:
        return f"{_printable_path(path)}, line {error.line}: {text}"
    return (
        f"{_printable_path(path)} {text.removeprefix('it ')}"
        if text.startswith("it ")
        else f"{_printable_path(path)}: {text}"
    )


def _printable_path(path: Path) -> str:
    return printable(str(path), 300)


def one_revision(files: Sequence[LoadedScenario]) -> str:
    """The revision that the files name; "" if they name none. Raises ScenarioFileError if they name several."""
    named: dict[str, Path] = {}
    for loaded in files:
        if loaded.revision:
            named.setdefault(loaded.revision, loaded.path)
    if len(named) > 1:
        revisions_text = " and ".join(
            f"{_printable_path(path)} is about {revision}" for revision, path in list(named.items())[:2]
        )
        raise ScenarioFileError(f"{revisions_text}: play them in two runs")
    return next(iter(named), "")
