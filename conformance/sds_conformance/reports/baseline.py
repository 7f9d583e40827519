"""Baselines: a file of known failures, so that CI fails only for new failures and for errors in the file.

A listed failure is still shown as a failure: a baseline only changes the exit code of a command. ``read_result`` reads
the failures from the JSON of any command. ``load`` reads the file (YAML, described by ``baseline.schema.json``) with
line numbers. ``match`` returns the known failures, the new failures, and the errors in the file.

An entry that is marked flaky covers a failure that does not occur in every run. Such an entry is correct whether the
requirement fails or passes. ``match`` lists it with its outcome.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from enum import Enum
from fnmatch import fnmatchcase
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from sds_harness.declaration import printable
from sds_harness.files import FileError, packaged_schema, read_text

from ..exploration.text import SCHEMA_ID as FUZZ
from ..judging.finding_replays import FindingReplays
from ..judging.registry import scenario_of
from ..judging.runner import tolerated_breakdowns
from ..judging.verdict import Verdict, full_code
from ..protocols import withdrawn
from ..vectors.running.examination import SCHEMA_ID as VECTORS
from .document import SCHEMA_ID as RUN
from .document import validator_of

BY = {RUN: "run", FUZZ: "fuzz", VECTORS: "vectors"}
"""Maps the schema of a command's JSON to the name of the command in a baseline."""
VECTOR_CODES = ("fail", "broken")
"""The statuses of a failing golden vector; baselines use them as codes."""
PASSING = ("pass", "warn", "acceptable")
"""Verdicts and statuses that are not failures, so that no entry covers them."""
BREAKDOWN = "breakdown"
"""The ID of failures that are breakdowns: the implementation hung, crashed or sent an invalid reply."""


@dataclass(frozen=True)
class FailureKey:
    """One failure: a requirement, property or vector, and the code of the failure."""

    what: str
    """ID of the requirement, property or golden vector."""
    code: str
    """A code of the catalogue, the kind of a breakdown, or the status of a vector; "" for none."""
    scenarios: tuple[str, ...] = ()
    """The scenarios that show the failure; empty unless the command is `run`."""

    @property
    def full_code(self) -> str:
        return full_code(self.what, self.code)


@dataclass(frozen=True)
class JudgedResult:
    """The part of a command's result that baselines need."""

    by: str
    implementation: str
    revision: str
    failures: Sequence[FailureKey]
    verdicts: Mapping[str, str]
    """Maps a requirement, property or vector to its verdict, with the reason if it was not judged."""
    whole: bool
    """True if the command finished and all scenarios were selected."""
    environments: frozenset[str] = frozenset()
    """The environments that were played; empty unless the command is `run`."""
    scenarios: frozenset[str] = frozenset()
    """The scenarios that were played; empty unless the command is `run`."""
    seed: int = 0
    """The seed of the generated schedules; 0 unless the command is `fuzz`."""
    examples: int = 0
    """Number of generated schedules; 0 unless the command is `fuzz`."""
    errors: int = 0
    """Number of errors of the suite, which no baseline covers."""
    under: Mapping[str, str] = field(default_factory=dict)
    """Maps requirements and properties to the root cause that explains them; empty for `vectors run`."""
    flaky: Mapping[str, str] = field(default_factory=dict)
    """Maps flaky requirements and properties to the evidence, in a few words; empty for `vectors run`."""


def read_result(data: Mapping[str, Any]) -> JudgedResult:
    """Read the result from the JSON of a command. Raises KeyError, TypeError or ValueError for any other JSON."""
    return _READERS[BY[data["schema"]]](data)


def _read_run(data: Mapping[str, Any]) -> JudgedResult:
    rows, summary = data["requirements"], data["summary"]
    failures = [
        FailureKey(row["id"], _code(kind), tuple(kind["scenarios"]))
        for row in rows
        if row["verdict"] == Verdict.FAIL.value
        for kind in row["kinds"]
        if kind["severity"] == Verdict.FAIL.value
    ]
    soft = tolerated_breakdowns(strict=data["strict"], narrowed=data["narrowed"])
    broken: dict[str, dict[str, None]] = {}
    for row in data["breakdowns"]:
        if row["kind"] not in soft:
            broken.setdefault(row["kind"], {})[scenario_of(row["where"])] = None
    failures += [FailureKey(BREAKDOWN, kind, tuple(where)) for kind, where in broken.items()]
    replayed = [(row["id"], row) for row in rows] + [(BREAKDOWN, row) for row in data["breakdowns"]]
    under = {under["requirement"]: cause["requirement"] for cause in data["causes"] for under in cause["under"]}
    return JudgedResult(
        "run",
        _name(data),
        data["revision"],
        failures,
        {row["id"]: f"{row['verdict']}: {row['reason']}".rstrip(": ") for row in rows},
        summary["complete"] and "scenarios" not in data["narrowed"],
        frozenset(summary["environments"]),
        frozenset(scenario_of(run) for row in rows for run in row["runs"]),
        errors=summary["error"],
        under=under,
        flaky=_flaky([(what, row["repeated"]) for what, row in replayed if "repeated" in row], under),
    )


def _flaky(replayed: Sequence[tuple[str, Mapping[str, Any]]], under: Mapping[str, str]) -> dict[str, str]:
    """Map the requirements that replays did not reproduce every time, and the requirements under them, to the evidence.

    Only root causes are replayed, so a requirement under a flaky root cause counts as flaky as well.
    """
    flaky = {what: evidence for what, repeated in replayed if (evidence := _evidence(repeated))}
    return {what: flaky_cause_reason(cause) for what, cause in under.items() if cause in flaky} | flaky


def _evidence(repeated: Mapping[str, Any]) -> str:
    """Return how many replays reproduced a failure; "" if all did."""
    again = FindingReplays(int(repeated["shown"]), int(repeated["played"]))
    return f"reproduced by {again.shown} of {again.played} replays" if again.flaky else ""


def flaky_cause_reason(cause: str) -> str:
    """Return the reason why a requirement under a flaky root cause is flaky, as text."""
    return f"its root cause {printable(cause, 80)} is flaky"


def _read_fuzz(data: Mapping[str, Any]) -> JudgedResult:
    under = {row["id"]: str(row["under"]["id"]) for row in data["findings"] if "under" in row}
    return JudgedResult(
        "fuzz",
        _name(data),
        data["revision"],
        [FailureKey(row["id"], _code(row)) for row in data["findings"] if row["severity"] == Verdict.FAIL.value],
        dict.fromkeys(data["exercised"], "pass") | {row["id"]: row["severity"] for row in data["findings"]},
        not (data["interrupted"] or data["out_of_time"] or data["gave_up"]),
        seed=data["seed"],
        examples=data["schedules"],
        errors=len(data["errors"]),
        under=under,
        flaky=_flaky([(row["id"], row["again"]) for row in data["findings"] if "again" in row], under),
    )


def _read_vectors(data: Mapping[str, Any]) -> JudgedResult:
    rows = data["vectors"]
    return JudgedResult(
        "vectors",
        _name(data),
        data["revision"],
        [FailureKey(row["id"], row["status"]) for row in rows if row["status"] in VECTOR_CODES],
        {row["id"]: row["status"] for row in rows},
        not data["interrupted"] and not data["unasked"],
        errors=data["counts"]["error"],
    )


def _code(row: Mapping[str, Any]) -> str:
    """Return the code of a row, without the requirement."""
    return str(row["code"]).partition("/")[2]


_READERS = {"run": _read_run, "fuzz": _read_fuzz, "vectors": _read_vectors}


def _name(data: Mapping[str, Any]) -> str:
    about = data["implementation"]
    return f"{about['name']} {about['version']}".strip()


SCHEMA_ID = "sds-conformance/baseline/2"
OLD_SCHEMA_ID = "sds-conformance/baseline/1"
"""Schema of older files, which listed sentences under `fails`."""
MAX_BYTES = 1 << 20
DEEPEST = 8
"""Maximum depth of nesting in the YAML. Baselines need five levels."""


class BaselineError(Exception):
    """A file is not a valid baseline. The message has the place and the reason."""


class OldBaselineError(BaselineError):
    """A file has the old format, which only `convert_old_baseline` reads."""


@dataclass(frozen=True)
class BaselineEntry:
    """A known failure, with its first and last line in the file, counted from 1."""

    first: int
    last: int
    what: str
    by: str
    scenarios: tuple[str, ...]
    codes: tuple[str, ...]
    """The codes with which the requirement may fail; empty if every code is allowed."""
    reason: str
    link: str
    flaky: bool = False
    """True if the failure does not occur in every run."""

    def lists(self, code: str) -> bool:
        """Return whether a code is expected to fail."""
        return not self.codes or code in self.codes

    def allows(self, scenario: str) -> bool:
        """Return whether a failure is expected in a scenario."""
        return not self.scenarios or any(fnmatchcase(scenario, glob) for glob in self.scenarios)

    def is_about(self, what: str, by: str) -> bool:
        """Return whether the entry is about a requirement, property or vector as judged by the command ``by``. Entries
        for `run` also apply to `fuzz`.
        """
        return self.what == what and (self.by == by or (self.by, by) == ("run", "fuzz"))

    def covers(self, what: str, code: str, scenario: str, by: str) -> bool:
        """Return whether the entry lists a failure that the command ``by`` shows in a scenario."""
        return self.is_about(what, by) and self.lists(code) and self.allows(scenario)

    @property
    def lines(self) -> str:
        """Return the line numbers for a message: ``line 7``, or ``lines 7-9``."""
        return f"line {self.first}" if self.first == self.last else f"lines {self.first}-{self.last}"


@dataclass(frozen=True)
class Baseline:
    """The content of a baseline file."""

    path: Path
    text: str
    revision: str
    environments: frozenset[str]
    fuzz: tuple[int, int] | None
    """Seed and number of schedules of the `fuzz` campaign; None if the baseline has none."""
    entries: Sequence[BaselineEntry]
    known: int
    """The line of the file where the list of entries begins."""

    def mismatch(self, revision: str) -> str:
        """Return a message if the baseline is for another revision than the judged ``revision``; otherwise ""."""
        if self.revision == revision:
            return ""
        return f"{self.printable_path} is for {printable(self.revision, 40)}, but {revision} is judged"

    @property
    def printable_path(self) -> str:
        return printable(str(self.path))


load_schema = partial(packaged_schema, __package__ or "", "baseline.schema.json")
"""Returns the JSON Schema (2020-12) of a baseline."""


def load(path: Path) -> Baseline:
    """Load a baseline from a file. Raises BaselineError."""
    path_text = printable(str(path))
    if not path.is_file():
        raise BaselineError(f"{path_text} is not a file: `sds-conformance baseline write FILE REPORT` makes one")
    try:
        return parse(read_text(path, MAX_BYTES), path)
    except FileError as error:
        raise BaselineError(f"{path_text} {error}") from None


def parse(text: str, path: Path) -> Baseline:
    """Parse a baseline. Raises BaselineError."""
    # Import here: only commands with a baseline need it, and the import is slow.
    from jsonschema.exceptions import best_match

    shown, data = printable(str(path)), parse_yaml(text, path)
    if isinstance(data, dict) and data.get("schema") == OLD_SCHEMA_ID:
        update = shlex.join(["sds-conformance", "baseline", "update", str(path)])
        raise OldBaselineError(
            f"{shown} is of the format {OLD_SCHEMA_ID}, which lists failures by sentences; this version lists them by "
            f"codes. Type `{printable(update)} REPORT`: it writes the codes of REPORT, and keeps reasons, links and "
            "comments"
        )
    wrong = best_match(validator_of(load_schema).iter_errors(data))
    if wrong is not None:
        raise BaselineError(f"{shown}, line {_line(data, wrong.absolute_path)}: {printable(_explain(wrong), 300)}")
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
    """Parse YAML with line numbers and comments. Raises BaselineError."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    path_text = printable(str(path))
    try:
        _reject_huge_yaml(text)
        return YAML().load(text)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark is not None else ""
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        raise BaselineError(f"{path_text}, {where}{printable(str(problem))}") from None
    except (ValueError, RecursionError) as error:
        raise BaselineError(f"{path_text}: {printable(str(error))}") from None


def _entry(row: Any, first: int, last: int) -> BaselineEntry:
    return BaselineEntry(
        first,
        last,
        str(row["vector"] if "vector" in row else row["requirement"]),
        "vectors" if "vector" in row else str(row.get("by", "run")),
        tuple(map(str, row.get("scenario") or ())),
        tuple(map(str, row.get("codes") or ())),
        str(row["reason"]),
        str(row.get("link", "")),
        bool(row.get("flaky", False)),
    )


def _explain(wrong: Any) -> str:
    """Return the message of a validation error, with a suggestion for a misspelled key or a wrong value of `flaky`."""
    if wrong.absolute_path and wrong.absolute_path[-1] == "flaky":
        value = "and this is empty" if wrong.instance is None else f"not {wrong.instance!r}"
        return f"`flaky` must be true or false, {value}; put the explanation under `reason`"
    if wrong.validator == "additionalProperties":
        keys = wrong.schema["properties"]
        for key in wrong.instance:
            if key not in keys and (near := get_close_matches(str(key), keys, 1)):
                return f"there is no key {str(key)!r}: did you mean `{near[0]}`?"
    return str(wrong.message)


def _end(lines: Sequence[str], first: int, after: int) -> int:
    """Return the last line of an entry. Comments and blank lines before the next entry belong to that next entry."""
    last = after - 1
    while last > first and (not lines[last - 1].strip() or lines[last - 1].lstrip().startswith("#")):
        last -= 1
    return last


def _line(data: Any, path: Sequence[Any]) -> int:
    """Return the line of the innermost element on a path that has a line number."""
    line = 0
    for key in path:
        place = data.lc.item(key) if isinstance(key, int) else data.lc.key(key) if data.lc.data else None
        if place is None:
            break
        line, data = place[0], data[key]
        if not hasattr(data, "lc"):
            break
    return int(line) + 1


def _reject_huge_yaml(text: str) -> None:
    """Reject aliases and deep nesting, with which a small YAML file can use much memory. Raises ValueError."""
    from ruamel.yaml import YAML
    from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent

    depth = 0
    for event in YAML().parse(text):
        if isinstance(event, AliasEvent):
            raise ValueError(f"line {event.start_mark.line + 1}: aliases such as *{event.anchor} are not allowed")
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if depth > DEEPEST:
            raise ValueError(f"line {event.start_mark.line + 1}: nested more deeply than a baseline may be")


@dataclass(frozen=True)
class Complaint:
    """One error in a baseline file."""

    line: int
    what: str
    """ID of the requirement or vector."""
    says: str
    change: str
    """The instruction to correct the line."""
    unknown: bool = False
    """True if no requirement, property or vector has the ID, so that the entry can never match."""


class FlakyOutcome(Enum):
    """Result of a flaky entry in one run."""

    FAILED = "failed"
    PASSED = "passed"
    NOT_SHOWN = "not-shown"
    """The failure did not occur: the requirement was not judged, or failed with another code or in another scenario."""

    @property
    def phrase(self) -> str:
        """Return the result for a message, such as "flaky, failed this time"."""
        return f"flaky, {self.value.replace('-', ' ')} this time"


@dataclass
class Match:
    """The comparison of a baseline with the result of a command."""

    baseline: Baseline
    judged: JudgedResult
    known: list[tuple[FailureKey, BaselineEntry]] = field(default_factory=list)
    new: list[FailureKey] = field(default_factory=list)
    """Failures that no entry covers, each with the scenarios for which no entry covers it."""
    complaints: list[Complaint] = field(default_factory=list)
    unseen: int = 0
    """Number of entries whose failure did not occur, in a run that is too small to prove that they are stale."""
    flaky: list[tuple[BaselineEntry, FlakyOutcome]] = field(default_factory=list)
    """The flaky entries that the run can judge, in the order of the file."""

    @property
    def requirements(self) -> dict[str, BaselineEntry]:
        """Return the requirements whose failures are all known, each with an entry."""
        new = {failure.what for failure in self.new}
        return {failure.what: entry for failure, entry in self.known if failure.what not in new}

    @property
    def codes_by_known_cause(self) -> dict[str, str]:
        """Maps codes of new failures to the requirement of the known root cause that explains them."""
        known, under = self.requirements, self.judged.under
        return {failure.full_code: under[failure.what] for failure in self.new if under.get(failure.what) in known}


def match(
    baseline: Baseline, judged: JudgedResult, codes: Mapping[str, Collection[str]], scenarios: Collection[str]
) -> Match:
    """Compare a baseline with the failures.

    ``codes`` maps each requirement and property to its codes (empty if these are unknown). ``scenarios`` are the names
    of all scenarios.
    """
    out = Match(baseline, judged)
    used: set[BaselineEntry | tuple[BaselineEntry, str]] = set()
    for failure in judged.failures:
        about = [entry for entry in baseline.entries if entry.is_about(failure.what, judged.by)]
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
            out.complaints += [_complain_of_other_codes(about, new)] if about else []
    for entry in baseline.entries:
        nonsense = list(_impossible(entry, codes, scenarios))
        stale = list(_stale(entry, judged, used)) if not nonsense else []
        out.complaints += nonsense
        if entry.flaky:
            out.complaints += [complaint for complaint in stale if complaint.unknown]
            if not nonsense and (outcome := _outcome(entry, judged, used)) is not None:
                out.flaky.append((entry, outcome))
        elif _proves_stale(baseline, entry, judged):
            out.complaints += stale
        else:
            out.unseen += bool(stale)
    # Keep only the first complaint about each line.
    first = {complaint.line: complaint for complaint in reversed(out.complaints)}
    out.complaints = [first[line] for line in sorted(first)]
    return out


def covers(entries: Sequence[BaselineEntry], failure: FailureKey, judged: JudgedResult) -> bool:
    """Return whether the entries cover a failure in each of its scenarios."""
    return all(
        any(entry.covers(failure.what, failure.code, scenario, judged.by) for entry in entries)
        for scenario in failure.scenarios or ("",)
    )


def _complain_of_other_codes(about: Sequence[BaselineEntry], failure: FailureKey) -> Complaint:
    """Return the complaint about a failure that is listed only with other codes or scenarios."""
    listed = [entry for entry in about if entry.lists(failure.code)]
    entry = (listed or about)[0]
    where = f" ({', '.join(failure.scenarios[:3])})" if failure.scenarios and entry.scenarios else ""
    says = f"fails in another {'scenario' if listed else 'way'}{where}: {failure.full_code}"
    return Complaint(entry.first, failure.what, says, f"fix the failure, or list it at {entry.lines}")


def _impossible(
    entry: BaselineEntry, codes: Mapping[str, Collection[str]], scenarios: Collection[str]
) -> Iterator[Complaint]:
    """Yield complaints about the parts of an entry that can match in no run: an unknown ID, code or scenario."""
    if entry.by != "vectors" and entry.what not in codes:
        gone = withdrawn(entry.what)
        near = get_close_matches(entry.what, codes, 1) if not gone else []
        meant = f"write {near[0]}, or remove" if near else "remove"
        says = gone or "there is no such requirement"
        yield Complaint(entry.first, entry.what, says, f"{meant} {entry.lines}", unknown=True)
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


def _stale(
    entry: BaselineEntry, judged: JudgedResult, used: Collection[BaselineEntry | tuple[BaselineEntry, str]]
) -> Iterator[Complaint]:
    """Yield a complaint about an entry whose failure did not occur, or about codes of the entry that did not occur."""
    if entry.by != judged.by:
        return
    if entry not in used:
        verdict = judged.verdicts.get(entry.what)
        if verdict is None:
            if entry.by != "vectors":
                return  # not judged in this run; `_impossible` reports unknown requirements
            says = "there is no such vector"
        elif verdict.partition(":")[0] in ("fail", "broken"):
            says = (
                "does not fail in the scenario of the entry"
                if entry.scenarios
                else "fails, but with none of the listed codes"
            )
        elif verdict.partition(":")[0] in PASSING:
            says = "passes" if verdict != "warn" else "only warns"
        else:
            says = f"is not judged ({verdict})"
        yield Complaint(entry.first, entry.what, says, f"remove {entry.lines}", unknown=verdict is None)
        return
    # `fuzz` reports one code per requirement, even if the schedules show other codes.
    gone = [code for code in entry.codes if (entry, code) not in used and judged.by != "fuzz"]
    if gone:
        which = ", ".join(gone)
        yield Complaint(
            entry.first, entry.what, f"still fails, but not with {which}", f"remove {which} from {entry.lines}"
        )


def _outcome(
    entry: BaselineEntry, judged: JudgedResult, used: Collection[BaselineEntry | tuple[BaselineEntry, str]]
) -> FlakyOutcome | None:
    """Return the outcome of a flaky entry; None if the run does not show whether the failure occurs."""
    if entry in used:
        return FlakyOutcome.FAILED
    # A breakdown has no verdict: a complete run without a breakdown passes.
    verdict = "pass" if entry.what == BREAKDOWN and judged.whole else judged.verdicts.get(entry.what)
    played = judged.by != "run" or not entry.scenarios or _matches_scenarios(entry.scenarios, judged.scenarios)
    if entry.by != judged.by or verdict is None or not played:
        return None
    return FlakyOutcome.PASSED if verdict.partition(":")[0] in PASSING else FlakyOutcome.NOT_SHOWN


def _proves_stale(baseline: Baseline, entry: BaselineEntry, judged: JudgedResult) -> bool:
    """Return whether enough was played to conclude that an entry without a failure is stale."""
    match judged.by:
        case "run":
            within = judged.whole or (entry.scenarios and _matches_scenarios(entry.scenarios, judged.scenarios))
            return bool(within) and baseline.environments <= judged.environments
        case "fuzz":
            seed, examples = baseline.fuzz or (judged.seed, 0)
            return judged.whole and seed == judged.seed and examples <= judged.examples
        case _:
            return True


def _matches_scenarios(globs: Sequence[str], scenarios: Collection[str]) -> bool:
    return any(fnmatchcase(scenario, glob) for glob in globs for scenario in scenarios)
