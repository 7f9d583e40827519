"""A baseline against what failed: what is known, what is new, and what is wrong with the file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase

from ...protocols import withdrawn
from .failures import Failure, Judged
from .file import Baseline, Entry


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
    """What came of it."""

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
        """The requirements with new failures that a known root cause explains, with the requirement of that cause."""
        known, under = self.requirements, self.judged.under
        return {failure.what: under[failure.what] for failure in self.new if under.get(failure.what) in known}


def match(baseline: Baseline, judged: Judged, ids: Collection[str], scenarios: Collection[str]) -> Match:
    """Hold a baseline against what failed; ``ids`` and ``scenarios`` are all that there are."""
    out = Match(baseline, judged)
    used: set[Entry | tuple[Entry, int]] = set()
    for failure in judged.failures:
        about = [entry for entry in baseline.entries if entry.is_about(failure) and _speaks_of(entry, judged)]
        left = list(failure.scenarios) or [""]
        for entry in about:
            ways = [way for way in entry.ways if way.covers(failure) or _loosely(judged, way.check, failure)]
            here = [scenario for scenario in failure.scenarios or ("",) if entry.allows(scenario)]
            if here and (ways or not entry.ways):
                used |= {entry, *((entry, way.line) for way in ways)}
                out.known.append((failure, entry))
                left = [scenario for scenario in left if scenario not in here]
        if left:
            new = Failure(failure.what, failure.check, failure.expected, failure.seen, tuple(filter(None, left)))
            out.new.append(new)
            out.complaints += [_otherwise(entry, new) for entry in about[:1]]
    for entry in baseline.entries:
        nonsense = list(_nonsense(entry, ids, scenarios))
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


def _loosely(judged: Judged, check: str, failure: Failure) -> bool:
    """Of all the ways in which a check fails, `fuzz` does not tell which."""
    return judged.by == "fuzz" and check == failure.check


def _otherwise(entry: Entry, failure: Failure) -> Complaint:
    elsewhere = f" in {', '.join(failure.scenarios[:3])}" if failure.scenarios and entry.scenarios else ""
    says = f"fails for another reason{elsewhere}: {failure.check}"
    if failure.expected or failure.seen:
        says += f": expected {failure.expected or 'something else'}; seen: {failure.seen or 'nothing'}"
    return Complaint(entry.first, failure.what, says, f"mend what is new, or add it to {entry.lines}")


def _nonsense(entry: Entry, ids: Collection[str], scenarios: Collection[str]) -> Iterator[Complaint]:
    """What can match nothing, whatever is played."""
    if entry.by != "vectors" and entry.what not in ids:
        gone = withdrawn(entry.what)
        near = get_close_matches(entry.what, ids, 1) if not gone else []
        meant = f"write {near[0]}, or remove" if near else "remove"
        yield Complaint(entry.first, entry.what, gone or "there is no such requirement", f"{meant} {entry.lines}")
    for glob in entry.scenarios:
        if not any(fnmatchcase(name, glob) for name in scenarios):
            yield Complaint(
                entry.first, entry.what, f"there is no scenario {glob!r}", f"correct or remove {entry.lines}"
            )


def _stale(entry: Entry, judged: Judged, used: Collection[Entry | tuple[Entry, int]]) -> Iterator[Complaint]:
    """What is listed and did not come up."""
    if entry.by != judged.by:
        return
    if entry not in used:
        verdict = judged.verdicts.get(entry.what)
        if verdict is None:
            if entry.by != "vectors":
                return  # not judged here, or there is no such thing, which is told elsewhere
            says = "there is no such vector"
        elif verdict.partition(":")[0] in ("fail", "broken"):
            says = (
                "does not fail where the entry says" if entry.scenarios else "fails in none of the ways that are listed"
            )
        elif verdict.partition(":")[0] in ("pass", "warn", "acceptable"):
            says = "passes" if verdict != "warn" else "only warns"
        else:
            says = f"is not judged ({verdict})"
        yield Complaint(entry.first, entry.what, says, f"remove {entry.lines}")
        return
    for way in entry.ways:
        if (entry, way.line) not in used:
            says = f"still fails, but not by {way.check} in this way"
            yield Complaint(way.line, entry.what, says, f"remove line {way.line} and what belongs to it")


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
