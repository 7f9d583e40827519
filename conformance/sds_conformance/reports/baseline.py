"""Baselines: a file of known failures, so that a CI fails for new ones only, and for a list that is wrong.

A listed failure is still a failure wherever verdicts are shown: a baseline changes the exit code of a command and
nothing else. ``judged`` reads what failed from the JSON of any command. ``load`` reads the file (YAML, described by
``baseline.schema.json``) with the lines of everything in it. ``match`` finds what is known, what is new, and what is
wrong with the file.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from sds_harness.declaration import printable
from sds_harness.files import FileError, packaged_schema, read_text

from ..exploration.telling import SCHEMA_ID as FUZZ
from ..judging.registry import scenario_of
from ..judging.runner import tolerated
from ..judging.verdict import Verdict, full_code
from ..protocols import withdrawn
from ..vectors.running.asking import SCHEMA_ID as VECTORS
from .document import SCHEMA_ID as RUN

BY = {RUN: "run", FUZZ: "fuzz", VECTORS: "vectors"}
"""By the schema of their JSON: what the commands are called in a baseline."""
VECTOR_CODES = ("fail", "broken")
"""The statuses of a golden vector that fails, which are its codes."""
BREAKDOWN = "breakdown"
"""Stands for a requirement where an implementation hung, crashed or answered nonsense."""


@dataclass(frozen=True)
class Failure:
    """One way in which one thing fails."""

    what: str
    """The requirement, property of the group, or golden vector."""
    code: str
    """Its code: of a requirement one of the catalogue, of a breakdown its kind, of a vector its status; "" for none."""
    scenarios: tuple[str, ...] = ()
    """That show it, for `run`."""

    @property
    def full_code(self) -> str:
        return full_code(self.what, self.code)


@dataclass(frozen=True)
class Judged:
    """The outcome of a command, as far as a baseline is about it."""

    by: str
    implementation: str
    revision: str
    failures: Sequence[Failure]
    verdicts: Mapping[str, str]
    """By requirement, property or vector: the verdict, and the reason of one that was not judged."""
    whole: bool
    """It ended in order, and no scenario was left out."""
    environments: frozenset[str] = frozenset()
    """Those that were played in, for `run`."""
    scenarios: frozenset[str] = frozenset()
    """Those that were played, for `run`."""
    seed: int = 0
    """The seed and the number of schedules, for `fuzz`."""
    examples: int = 0
    errors: int = field(default=0)
    """Faults of ours, which nothing excuses."""
    under: Mapping[str, str] = field(default_factory=dict)
    """By requirement that a root cause explains: the requirement of that root cause; for `run`."""


def judged(data: Mapping[str, Any]) -> Judged:
    """The outcome in the JSON of a command. Raises KeyError, TypeError or ValueError for any other JSON."""
    return _READERS[BY[data["schema"]]](data)


def _of_run(data: Mapping[str, Any]) -> Judged:
    rows, summary = data["requirements"], data["summary"]
    failures = [
        Failure(row["id"], _code(kind), tuple(kind["scenarios"]))
        for row in rows
        if row["verdict"] == Verdict.FAIL.value
        for kind in row["kinds"]
        if kind["severity"] == Verdict.FAIL.value
    ]
    soft = tolerated(strict=data["strict"], narrowed=data["narrowed"])
    failures += [
        Failure(BREAKDOWN, kind, tuple(dict.fromkeys(scenario_of(row["where"]) for row in rows_of_kind)))
        for kind, rows_of_kind in _by_kind(data["breakdowns"]).items()
        if kind not in soft
    ]
    return Judged(
        "run",
        _name(data),
        data["revision"],
        failures,
        {row["id"]: f"{row['verdict']}: {row['reason']}".rstrip(": ") for row in rows},
        summary["complete"] and "scenarios" not in data["narrowed"],
        frozenset(summary["environments"]),
        frozenset(scenario_of(run) for row in rows for run in row["runs"]),
        errors=summary["error"],
        under={under["requirement"]: cause["requirement"] for cause in data["causes"] for under in cause["under"]},
    )


def _of_fuzz(data: Mapping[str, Any]) -> Judged:
    return Judged(
        "fuzz",
        _name(data),
        data["revision"],
        [Failure(row["id"], _code(row)) for row in data["findings"] if row["severity"] == Verdict.FAIL.value],
        dict.fromkeys(data["exercised"], "pass") | {row["id"]: row["severity"] for row in data["findings"]},
        not (data["interrupted"] or data["out_of_time"] or data["gave_up"]),
        seed=data["seed"],
        examples=data["schedules"],
        errors=len(data["errors"]),
    )


def _of_vectors(data: Mapping[str, Any]) -> Judged:
    rows = data["vectors"]
    return Judged(
        "vectors",
        _name(data),
        data["revision"],
        [Failure(row["id"], row["status"]) for row in rows if row["status"] in VECTOR_CODES],
        {row["id"]: row["status"] for row in rows},
        not data["interrupted"] and not data["unasked"],
        errors=data["counts"]["error"],
    )


def _code(row: Mapping[str, Any]) -> str:
    """The code in a row that has it in full."""
    return str(row["code"]).partition("/")[2]


def _by_kind(breakdowns: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for row in breakdowns:
        kinds.setdefault(row["kind"], []).append(row)
    return kinds


_READERS = {"run": _of_run, "fuzz": _of_fuzz, "vectors": _of_vectors}


def _name(data: Mapping[str, Any]) -> str:
    about = data["implementation"]
    return f"{about['name']} {about['version']}".strip()


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
        """The lines for a message: ``line 7``, or ``lines 7-9``."""
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


@dataclass(frozen=True)
class Complaint:
    """One thing that is wrong with the file."""

    line: int
    what: str
    """The requirement or vector."""
    says: str
    change: str
    """What to do with the line."""


@dataclass
class Match:
    """A baseline against the outcome of a command."""

    baseline: Baseline
    judged: Judged
    known: list[tuple[Failure, Entry]] = field(default_factory=list)
    new: list[Failure] = field(default_factory=list)
    """Failures that no entry covers, in the scenarios that none covers."""
    complaints: list[Complaint] = field(default_factory=list)
    unseen: int = 0
    """Entries that did not come up, in a run that is too small to say more."""

    @property
    def requirements(self) -> dict[str, Entry]:
        """What fails and is known, all of it, with an entry that says so."""
        new = {failure.what for failure in self.new}
        return {failure.what: entry for failure, entry in self.known if failure.what not in new}

    @property
    def explained(self) -> dict[str, str]:
        """The codes of new failures that a known root cause explains, with the requirement of that cause."""
        known, under = self.requirements, self.judged.under
        return {failure.full_code: under[failure.what] for failure in self.new if under.get(failure.what) in known}


def match(
    baseline: Baseline, judged: Judged, codes: Mapping[str, Collection[str]], scenarios: Collection[str]
) -> Match:
    """Hold a baseline against what failed.

    ``codes`` are those of each requirement and property that there is, none where they are not known; ``scenarios`` are
    the names of all.
    """
    out = Match(baseline, judged)
    used: set[Entry | tuple[Entry, str]] = set()
    for failure in judged.failures:
        about = [entry for entry in baseline.entries if entry.what == failure.what and _speaks_of(entry, judged)]
        left = list(failure.scenarios) or [""]
        for entry in about:
            here = [scenario for scenario in failure.scenarios or ("",) if entry.allows(scenario)]
            if here and entry.lists(failure.code):
                used |= {entry, (entry, failure.code)}
                out.known.append((failure, entry))
                left = [scenario for scenario in left if scenario not in here]
        if left:
            new = replace(failure, scenarios=tuple(filter(None, left)))
            out.new.append(new)
            out.complaints += [_otherwise(about, new)] if about else []
    for entry in baseline.entries:
        nonsense = list(_nonsense(entry, codes, scenarios))
        stale = list(_stale(entry, judged, used)) if not nonsense else []
        out.complaints += nonsense
        if _says_enough(baseline, entry, judged):
            out.complaints += stale
        else:
            out.unseen += bool(stale)
    # The first that is wrong with a line says what to do with it.
    first = {complaint.line: complaint for complaint in reversed(out.complaints)}
    out.complaints = [first[line] for line in sorted(first)]
    return out


def _speaks_of(entry: Entry, judged: Judged) -> bool:
    """Is an entry about what a command finds? What `run` finds may be found by generated schedules as well."""
    return entry.by == judged.by or (entry.by, judged.by) == ("run", "fuzz")


def _otherwise(about: Sequence[Entry], failure: Failure) -> Complaint:
    """A failure of which a part is listed: in other ways, or in other scenarios."""
    listed = [entry for entry in about if entry.lists(failure.code)]
    entry = (listed or about)[0]
    where = f" ({', '.join(failure.scenarios[:3])})" if failure.scenarios and entry.scenarios else ""
    says = f"fails in another {'scenario' if listed else 'way'}{where}: {failure.full_code}"
    return Complaint(entry.first, failure.what, says, f"fix it, or add it to {entry.lines}")


def _nonsense(entry: Entry, codes: Mapping[str, Collection[str]], scenarios: Collection[str]) -> Iterator[Complaint]:
    """Complaints about an entry that can match nothing, whatever is played."""
    if entry.by != "vectors" and entry.what not in codes:
        gone = withdrawn(entry.what)
        near = get_close_matches(entry.what, codes, 1) if not gone else []
        meant = f"write {near[0]}, or remove" if near else "remove"
        yield Complaint(entry.first, entry.what, gone or "there is no such requirement", f"{meant} {entry.lines}")
    known = VECTOR_CODES if entry.by == "vectors" else codes.get(entry.what, ())
    for code in [code for code in entry.codes if known and code not in known]:
        near = get_close_matches(code, known, 1)
        meant = f"write {near[0]}, or remove it from" if near else f"its codes are {', '.join(known)}: correct"
        yield Complaint(entry.first, entry.what, f"has no code {code!r}", f"{meant} {entry.lines}")
    for glob in entry.scenarios:
        if not any(fnmatchcase(name, glob) for name in scenarios):
            yield Complaint(
                entry.first, entry.what, f"there is no scenario {glob!r}", f"correct or remove {entry.lines}"
            )


def _stale(entry: Entry, judged: Judged, used: Collection[Entry | tuple[Entry, str]]) -> Iterator[Complaint]:
    """Complaints about an entry, or codes of it, that did not fail."""
    if entry.by != judged.by:
        return
    if entry not in used:
        verdict = judged.verdicts.get(entry.what)
        if verdict is None:
            if entry.by != "vectors":
                return  # not judged here, or there is no such thing, which is told elsewhere
            says = "there is no such vector"
        elif verdict.partition(":")[0] in ("fail", "broken"):
            says = "does not fail where the entry says" if entry.scenarios else "fails by none of the listed codes"
        elif verdict.partition(":")[0] in ("pass", "warn", "acceptable"):
            says = "passes" if verdict != "warn" else "only warns"
        else:
            says = f"is not judged ({verdict})"
        yield Complaint(entry.first, entry.what, says, f"remove {entry.lines}")
        return
    # `fuzz` names one code of each requirement, whatever other ways its schedules show.
    gone = [code for code in entry.codes if (entry, code) not in used and judged.by != "fuzz"]
    if gone:
        which = ", ".join(gone)
        yield Complaint(
            entry.first, entry.what, f"still fails, but not by {which}", f"remove {which} from {entry.lines}"
        )


def _says_enough(baseline: Baseline, entry: Entry, judged: Judged) -> bool:
    """Was so much played that what did not come up is out of date?"""
    match judged.by:
        case "run":
            within = judged.whole or (entry.scenarios and _played(entry.scenarios, judged.scenarios))
            return bool(within) and baseline.environments <= judged.environments
        case "fuzz":
            seed, examples = baseline.fuzz or (judged.seed, 0)
            return judged.whole and seed == judged.seed and examples <= judged.examples
        case _:
            return True


def _played(globs: Sequence[str], scenarios: Collection[str]) -> bool:
    return any(fnmatchcase(scenario, glob) for glob in globs for scenario in scenarios)
