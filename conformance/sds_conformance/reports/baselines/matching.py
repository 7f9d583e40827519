"""A baseline against what failed: what is known, what is new, and what is wrong with the file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase

from .failures import VECTOR_CODES, Failure, Judged
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
    """What can match nothing, whatever is played."""
    if entry.by != "vectors" and entry.what not in codes:
        near = get_close_matches(entry.what, codes, 1)
        meant = f"write {near[0]}, or remove" if near else "remove"
        yield Complaint(entry.first, entry.what, "there is no such requirement", f"{meant} {entry.lines}")
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
