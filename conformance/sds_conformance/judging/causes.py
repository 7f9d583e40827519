"""Root causes: which requirements fail because another one fails.

A fault in one requirement often violates others as well: an implementation that does not keep a message does not resend
it either. The catalogue declares such consequences: which requirements a fault in one requirement can violate, too. A
root cause is a violated requirement that no other violated one explains, or that explains the most other ones. The
suite does not infer causes from requirements that fail together: two faults can occur in one run by chance, and a fault
that shows in every run occurs together with all others.

Suppose that a fault shows in few of the runs that exercise it, and that another requirement fails in most of its runs.
Then the fault does not explain that requirement, which is a separate root cause. There is one exception: the fault
shows in at least half of the runs in which that requirement fails. For example, an outgoing buffer that is too small
shows in one long scenario, together with all its consequences; and a log with ephemeral messages shows in few of all
runs, but in most of those with ephemeral messages.

A fault in requirement A that shows in very few of the runs that exercise A has an effect in few situations only.
Suppose that requirement B fails as well. If some of the runs in which B fails exercise A, and none of them violates A,
then A does not explain B, and B is a separate root cause. Frequent faults are not ruled out in this way, because a
check can miss their effects. Requirements of one table (see ``judging.table``) are not ruled out either: a mistake
violates only the first requirement of the table that applies, so one fault violates different requirements in different
situations. Neither are requirements with a common code: if an implementation refuses long histories, it refuses content
in one run and sync messages in another one. The rule does not apply to generated schedules: they have so many events
that a fault can have an effect that no check sees.

Two requirements can explain each other, such as a rule and a special case of it. The requirement that explains more is
the root cause. If both explain equally many, it is the requirement with the larger share of violating runs, see
`Failure.share`. A requirement that another one explains is a root cause, too, if it explains two requirements that no
root cause explains yet.

A dialect is a separate root cause. Its layout of messages violates the requirements on the layout, and it causes no
other violation, because everything else is judged after translation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .catalogue import ANOTHER_LAYOUT, Consequence
from .rules import Rules
from .verdict import RANK, Finding, RequirementVerdict, Verdict

LEAST_SHARE = 0.1
"""Minimum ratio of the `Failure.share` of a cause to the `Failure.share` of its effect, unless the cause is violated in
at least half of the runs with the effect.
"""
RARE_SHARE = 0.015
"""A cause with a smaller `Failure.share` explains an effect only if no run with the effect exercises the cause, if
one of these runs violates it, if both requirements have rows in one table, or if violations of both have the same
code.

Measured on 167 mixtures of three faults (see ``judging.mixtures``): 94 % of the faults are reported as root causes, and
5 % of the root causes are only effects of a fault. Without this rule, 90 % of the faults are reported. With a share of
0.025, 95 % are reported, and 6 % of the root causes are only effects.
"""


@dataclass(frozen=True)
class Failure:
    """A violated requirement or property of the group, with the facts that decide on root causes."""

    id: str
    verdict: Verdict
    """FAIL or WARN."""
    runs: int
    """Number of runs, or of generated schedules, that violate the requirement."""
    exercised: int
    """Number of runs, or of generated schedules, that exercise the requirement."""
    violations: int = 0
    codes: frozenset[str] = frozenset()
    """Codes of its violations."""
    rests_on: tuple[str, ...] = ()
    """For a property of the group: the requirements from which it follows."""
    held: frozenset[str] = frozenset()
    """Requirements that at least one of the violating runs exercises and none of them violates. Empty for schedules."""
    accompanied_by: frozenset[str] = frozenset()
    """Requirements that are violated in at least half of the violating runs. Empty for schedules."""

    @property
    def share(self) -> float:
        """Violating runs divided by exercising runs, from 0 to 1."""
        return self.runs / max(self.runs, self.exercised, 1)


@dataclass(frozen=True)
class Root:
    """The ID of a root cause, and the failures that it explains."""

    id: str
    under: Mapping[str, str] = field(default_factory=dict)
    """Maps each explained requirement or property to the reason why it fails as well, in one sentence."""
    title: str = ""
    """A description of the fault, such as "speaks the layout nim-sds"; "" if the statement of the requirement is
    enough."""


@dataclass
class Cause:
    """A violated requirement, and the requirements that are reported under it."""

    verdict: RequirementVerdict
    under: list[tuple[RequirementVerdict, str]] = field(default_factory=list)
    """The requirements that the root cause explains, each with the reason in one sentence."""
    title: str = ""
    """See `Root.title`."""

    @property
    def severity(self) -> int:
        """Severity of the most severe requirement in `requirements`, see ``judging.severity``."""
        return min(verdict.requirement.severity for verdict in self._verdicts)

    @property
    def total(self) -> int:
        """Total number of violations."""
        return sum(verdict.tally.total for verdict in self._verdicts)

    @property
    def scenarios(self) -> int:
        """Number of scenarios with a violation."""
        return len({scenario for verdict in self._verdicts for scenario in verdict.tally.scenarios})

    @property
    def requirements(self) -> set[str]:
        """The IDs of all requirements of this root cause."""
        return {verdict.requirement.id for verdict in self._verdicts}

    @property
    def _verdicts(self) -> list[RequirementVerdict]:
        return [self.verdict, *(verdict for verdict, _ in self.under)]


def causes(
    rules: Rules, verdicts: Sequence[RequirementVerdict], exercised: Mapping[str, Collection[str]], dialect: str = ""
) -> list[Cause]:
    """Return the root causes of all failures and warnings, the most severe first.

    ``exercised`` maps a requirement to the runs that exercised it; ``dialect`` is the dialect in use.
    """
    found = {v.requirement.id: v for v in verdicts if v.verdict in (Verdict.FAIL, Verdict.WARN) and v.tally.places}
    failures = [
        Failure(
            name,
            v.verdict,
            len(v.tally.places),
            len(exercised.get(name, ())),
            v.tally.total,
            frozenset(kind.code for kind in v.tally.kinds),
            held=_held(v, found.values(), exercised),
            accompanied_by=frozenset(
                other
                for other, by in found.items()
                if 2 * len(by.tally.places.keys() & v.tally.places.keys()) >= len(v.tally.places)
            ),
        )
        for name, v in found.items()
    ]
    out = [
        Cause(found[root.id], [(found[name], why) for name, why in root.under.items()], root.title)
        for root in roots(rules, failures, dialect)
    ]
    return sorted(out, key=lambda cause: (-RANK[cause.verdict.verdict], cause.severity, -cause.scenarios, -cause.total))


def _held(
    effect: RequirementVerdict, others: Iterable[RequirementVerdict], exercised: Mapping[str, Collection[str]]
) -> frozenset[str]:
    """See `Failure.held`."""
    places = effect.tally.places.keys()
    never_violated = (v.requirement.id for v in others if places.isdisjoint(v.tally.places))
    return frozenset(what for what in never_violated if not places.isdisjoint(exercised.get(what, ())))


def roots(rules: Rules, failures: Sequence[Failure], dialect: str = "") -> list[Root]:
    """Return the root causes of ``failures``. Each failure is a root cause or is listed under one."""
    place = {requirement: number for number, requirement in enumerate(rules.catalogue.requirements)}
    found = sorted(
        failures,
        key=lambda one: (-RANK[one.verdict], -one.share, -one.runs, -one.violations, place.get(one.id, len(place))),
    )
    out = []
    if layout := [one for one in found if dialect and one.codes == {ANOTHER_LAYOUT}]:
        first, *rest = sorted(layout, key=lambda one: (-RANK[one.verdict], place.get(one.id, len(place))))
        out.append(Root(first.id, dict.fromkeys((one.id for one in rest), _ELSEWHERE), f"speaks the layout {dialect}"))
    others = {one.id: one for one in found if one not in layout}
    why = {effect: _reasons(rules, one, others.values()) for effect, one in others.items()}
    root_of: dict[str, str] = {}
    while left := [name for name in others if name not in root_of]:
        # A failure that follows from an earlier root is a root as well if it explains two of the remaining failures.
        following = {cause: [effect for effect in left if cause in why[effect]] for cause in others}
        covered = {cause: len({cause, *following[cause]} & {*left}) for cause in others}
        possible = [cause for cause in others if cause not in root_of or covered[cause] > 1]
        root = max(possible, key=lambda cause: (covered[cause], cause in left))
        root_of |= dict.fromkeys([root, *following[root]], root)
    for root in dict.fromkeys(root_of.values()):
        under = [effect for effect, cause in root_of.items() if cause == root != effect]
        out.append(Root(root, {effect: why[effect][root] for effect in under}))
    return out


_ELSEWHERE = "The dialect in use has another layout of messages."


def consequences(rules: Rules, cause: str, effect: str) -> list[Consequence]:
    """Return the declared consequences by which a fault in ``cause`` fails ``effect``.

    A declaration also holds for the equivalent requirements of other specifications. Two requirements that the same
    check judges are consequences of each other.
    """
    alike, effects = rules.register.with_counterparts_of(cause), rules.register.with_counterparts_of(effect)
    declared = rules.catalogue.consequences
    found = [row for row in declared if any(row.explains(c, e) for c in alike for e in effects)]
    return found or [
        Consequence((cause,), (effect,), f"Both requirements state what {c} states.") for c in alike if c in effects
    ]


def is_reported_elsewhere(rules: Rules, note: Finding, verdicts: Iterable[RequirementVerdict]) -> bool:
    """Is the deviation of a note also reported as a failure or warning of another requirement, at the same step?

    One deviation is reported once, at its highest severity.
    """
    return any(
        note.step in verdict.tally.places.get(note.run, ())
        and consequences(rules, note.requirement, verdict.requirement.id)
        for verdict in verdicts
        if verdict.verdict in (Verdict.FAIL, Verdict.WARN)
    )


def _reasons(rules: Rules, effect: Failure, others: Iterable[Failure]) -> dict[str, str]:
    """Map each possible cause among ``others`` to the reason why it explains ``effect``. A warning never explains a
    failure.
    """
    return {
        cause.id: why
        for cause in others
        if cause is not effect and RANK[cause.verdict] >= RANK[effect.verdict]
        if cause.share >= LEAST_SHARE * effect.share or cause.id in effect.accompanied_by
        if (
            cause.share >= RARE_SHARE
            or cause.id not in effect.held
            or not cause.codes.isdisjoint(effect.codes)
            or rules.register.share_table(cause.id, effect.id)
        )
        if (why := _reason(rules, cause, effect))
    }


def _reason(rules: Rules, cause: Failure, effect: Failure) -> str:
    """Return why ``cause`` explains all violations (codes) of ``effect``; "" if it does not."""
    if cause.id in effect.rests_on:
        return f"It follows from {cause.id}."
    for name in (effect.id, *effect.rests_on):
        same = rules.register.with_counterparts_of(cause.id)
        declared = [
            row
            for row in consequences(rules, cause.id, name)
            if any(row.is_caused_by(one, cause.codes) for one in same)
        ]
        codes = effect.codes if name == effect.id else frozenset[str]()
        alike = rules.register.with_counterparts_of(name)
        explained = [row.explained_codes(one, codes) for row in declared for one in alike]
        if declared and codes == frozenset[str]().union(*explained):
            # A reason that is stated for the codes of the cause is more exact.
            return min(declared, key=lambda row: not same.isdisjoint(row.of)).because
    return ""
