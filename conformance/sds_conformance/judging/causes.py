"""Root causes: which requirements fail because another one does, as far as the catalogue and the runs can tell.

Two faults that have nothing to do with each other meet in a run now and then, and one that is everywhere meets all. So
a requirement is told under another only where both are violated in a run, and it is known that the one follows from the
other, or it fails nowhere but at the same steps or after them, and so much company is no chance.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .catalogue import Consequence
from .registry import scenario_of
from .rules import Rules
from .verdict import RANK, Finding, RequirementVerdict, Verdict

BY_CHANCE = 0.1
"""How likely it may be that a requirement fails only where another one does although they are strangers."""
BY_CHANCE_AT_THE_STEP = 0.5
"""The same where they fail at the same steps, which strangers hardly ever do."""


@dataclass
class Cause:
    """A requirement that is violated, and those that are told under it."""

    verdict: RequirementVerdict
    under: list[tuple[RequirementVerdict, str]] = field(default_factory=list)
    """With the reason, in a sentence."""

    @property
    def severity(self) -> int:
        """That of the most severe requirement among them, see ``judging.severity``."""
        return min(verdict.requirement.severity for verdict in self._all)

    @property
    def total(self) -> int:
        """How many violations there are in all."""
        return sum(verdict.tally.total for verdict in self._all)

    @property
    def scenarios(self) -> int:
        """How many scenarios show any of it."""
        return len({scenario for verdict in self._all for scenario in verdict.tally.scenarios})

    @property
    def requirements(self) -> set[str]:
        """The IDs of all of them."""
        return {verdict.requirement.id for verdict in self._all}

    @property
    def _all(self) -> list[RequirementVerdict]:
        return [self.verdict, *(verdict for verdict, _ in self.under)]


@dataclass(frozen=True)
class _Tie:
    """Why one requirement may fail because of another."""

    why: str
    declared: bool = False
    """The catalogue says so; else it looks like that."""


def causes(
    rules: Rules, verdicts: Sequence[RequirementVerdict], exercised: Mapping[str, Collection[str]]
) -> list[Cause]:
    """The root causes of what fails and warns, the most severe first; ``exercised``: where each was."""
    found = [v for v in verdicts if v.verdict in (Verdict.FAIL, Verdict.WARN) and v.tally.places]
    place = {requirement: number for number, requirement in enumerate(rules.catalogue.requirements)}
    found.sort(key=lambda v: (-RANK[v.verdict], -len(v.tally.places), -v.tally.total, place[v.requirement.id]))
    ties = {v.requirement.id: _ties(rules, v, found, exercised.get(v.requirement.id, ())) for v in found}
    left = {v.requirement.id: v for v in found}
    out = []
    while left:
        # The one from which most of the rest follows, best of all as it is known to; of several the most severe, and
        # the one in most runs.
        following = {root: [one for one in left if one != root and root in ties[one]] for root in left}
        root = max(left, key=lambda one: (len(following[one]), sum(ties[o][one].declared for o in following[one])))
        cause = Cause(left.pop(root))
        cause.under = [(left.pop(one), ties[one][root].why) for one in following[root]]
        out.append(cause)
    return sorted(out, key=lambda cause: (-RANK[cause.verdict.verdict], cause.severity, -cause.scenarios, -cause.total))


def consequences(rules: Rules, cause: str, effect: str) -> list[Consequence]:
    """What is declared of a fault in ``cause`` that fails ``effect`` as well.

    What is declared of requirements holds of those of other texts that say the same; two that the same check judges
    say the same themselves.
    """
    alike, effects = rules.register.said_by(cause), rules.register.said_by(effect)
    declared = rules.catalogue.consequences
    found = [row for row in declared if any(row.explains(c, e) for c in alike for e in effects)]
    return found or [Consequence((cause,), (effect,), f"Both say what {c} says.") for c in alike if c in effects]


def told_as_another(rules: Rules, note: Finding, verdicts: Iterable[RequirementVerdict]) -> bool:
    """Is what is noted reproached at the same step, under a requirement that fails because of that of the note? One
    thing is told once, as what it weighs most."""
    return any(
        note.step in verdict.tally.places.get(note.run, ())
        and consequences(rules, note.requirement, verdict.requirement.id)
        for verdict in verdicts
        if verdict.verdict in (Verdict.FAIL, Verdict.WARN)
    )


def _ties(
    rules: Rules, verdict: RequirementVerdict, others: Iterable[RequirementVerdict], exercised: Iterable[str]
) -> dict[str, _Tie]:
    """By requirement: what speaks for it that this one fails because that one does."""
    ties = {other.requirement.id: _tie(rules, verdict, other, exercised) for other in others if other is not verdict}
    return {root: tie for root, tie in ties.items() if tie is not None}


def _tie(rules: Rules, verdict: RequirementVerdict, other: RequirementVerdict, exercised: Iterable[str]) -> _Tie | None:
    """What speaks for it that a requirement fails because ``other`` does, None if nothing does."""
    own, theirs, root = verdict.tally.places, other.tally.places, other.requirement.id
    if RANK[other.verdict] < RANK[verdict.verdict] or not own.keys() & theirs.keys():
        return None  # no failure hides under a warning
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
