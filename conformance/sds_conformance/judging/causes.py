"""Root causes: which requirements fail because another one fails, derived from the catalogue and the runs.

Unrelated faults can occur in the same run by chance, and a fault that occurs in every run meets all others. So a
requirement is reported under another one only if both are violated in one run. In addition, the catalogue must declare
the consequence, or the requirement must fail only at the same steps as the other one or after them, and in so many runs
that chance is unlikely.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .catalogue import Consequence
from .registry import scenario_of
from .rules import Rules
from .verdict import RANK, Finding, RequirementVerdict, Verdict

BY_CHANCE = 0.1
"""Largest accepted probability that unrelated requirements fail only in the same scenarios by chance."""
BY_CHANCE_AT_THE_STEP = 0.5
"""The same for failures at the same steps, where a coincidence is far less likely."""


@dataclass
class Cause:
    """A violated requirement, and the requirements that are reported under it."""

    verdict: RequirementVerdict
    under: list[tuple[RequirementVerdict, str]] = field(default_factory=list)
    """Each with the reason, in one sentence."""

    @property
    def severity(self) -> int:
        """The severity of the most severe requirement among them, see ``judging.severity``."""
        return min(verdict.requirement.severity for verdict in self._all)

    @property
    def total(self) -> int:
        """Total number of violations."""
        return sum(verdict.tally.total for verdict in self._all)

    @property
    def scenarios(self) -> int:
        """Number of scenarios with a violation."""
        return len({scenario for verdict in self._all for scenario in verdict.tally.scenarios})

    @property
    def requirements(self) -> set[str]:
        """The IDs of all requirements of this root cause."""
        return {verdict.requirement.id for verdict in self._all}

    @property
    def _all(self) -> list[RequirementVerdict]:
        return [self.verdict, *(verdict for verdict, _ in self.under)]


@dataclass(frozen=True)
class _Tie:
    """Why one requirement may fail because of another."""

    why: str
    declared: bool = False
    """The catalogue declares it; otherwise it is inferred from the runs."""


def causes(
    rules: Rules, verdicts: Sequence[RequirementVerdict], exercised: Mapping[str, Collection[str]]
) -> list[Cause]:
    """Return the root causes of all failures and warnings, the most severe first.

    ``exercised`` maps a requirement to the runs that exercised it.
    """
    found = [v for v in verdicts if v.verdict in (Verdict.FAIL, Verdict.WARN) and v.tally.places]
    place = {requirement: number for number, requirement in enumerate(rules.catalogue.requirements)}
    found.sort(key=lambda v: (-RANK[v.verdict], -len(v.tally.places), -v.tally.total, place[v.requirement.id]))
    ties = {v.requirement.id: _ties(rules, v, found, exercised.get(v.requirement.id, ())) for v in found}
    left = {v.requirement.id: v for v in found}
    out = []
    while left:
        # Take the root that explains most of the remaining requirements, preferably by declared consequences. Among
        # equals, `max` takes the first: the most severe verdict that is violated in most runs.
        following = {root: [one for one in left if one != root and root in ties[one]] for root in left}
        root = max(left, key=lambda one: (len(following[one]), sum(ties[o][one].declared for o in following[one])))
        cause = Cause(left.pop(root))
        cause.under = [(left.pop(one), ties[one][root].why) for one in following[root]]
        out.append(cause)
    return sorted(out, key=lambda cause: (-RANK[cause.verdict.verdict], cause.severity, -cause.scenarios, -cause.total))


def consequences(rules: Rules, cause: str, effect: str) -> list[Consequence]:
    """Return the declared consequences by which a fault in ``cause`` fails ``effect``.

    A declaration also holds for the equivalent requirements of other texts. Two requirements that the same check judges
    are consequences of each other.
    """
    alike, effects = rules.register.said_by(cause), rules.register.said_by(effect)
    declared = rules.catalogue.consequences
    found = [row for row in declared if any(row.explains(c, e) for c in alike for e in effects)]
    return found or [Consequence((cause,), (effect,), f"Both say what {c} says.") for c in alike if c in effects]


def told_as_another(rules: Rules, note: Finding, verdicts: Iterable[RequirementVerdict]) -> bool:
    """Is a note also reported as a failure or warning of a requirement that fails as a consequence?

    One deviation is reported once, at its highest severity.
    """
    return any(
        note.step in verdict.tally.places.get(note.run, ())
        and consequences(rules, note.requirement, verdict.requirement.id)
        for verdict in verdicts
        if verdict.verdict in (Verdict.FAIL, Verdict.WARN)
    )


def _ties(
    rules: Rules, verdict: RequirementVerdict, others: Iterable[RequirementVerdict], exercised: Iterable[str]
) -> dict[str, _Tie]:
    """By requirement: the reason why ``verdict`` may fail because that requirement does."""
    ties = {other.requirement.id: _tie(rules, verdict, other, exercised) for other in others if other is not verdict}
    return {root: tie for root, tie in ties.items() if tie is not None}


def _tie(rules: Rules, verdict: RequirementVerdict, other: RequirementVerdict, exercised: Iterable[str]) -> _Tie | None:
    """The reason why a requirement may fail because ``other`` does; None if there is none."""
    own, theirs, root = verdict.tally.places, other.tally.places, other.requirement.id
    if RANK[other.verdict] < RANK[verdict.verdict] or not own.keys() & theirs.keys():
        return None  # a failure is never reported under a warning
    if declared := consequences(rules, root, verdict.requirement.id):
        return _Tie(declared[0].because, declared=True)
    if not all(run in theirs and min(theirs[run]) <= min(steps) for run, steps in own.items()):
        return None
    same = all(steps <= theirs[run] for run, steps in own.items())
    shown = {scenario_of(run) for run in own}
    asked = {scenario_of(run) for run in exercised} | shown
    chance = (len(asked & {scenario_of(run) for run in theirs}) / len(asked)) ** len(shown)
    if chance > (BY_CHANCE_AT_THE_STEP if same else BY_CHANCE):
        return None
    return _Tie(f"It fails at the same steps as {root}." if same else f"It fails only where {root} has failed.")
