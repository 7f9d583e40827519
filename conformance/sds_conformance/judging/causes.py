"""Root causes: which requirements fail because another one fails.

A fault in one requirement often violates others as well: an implementation that does not keep a message does not resend
it either. The catalogue declares which requirements a fault in one of them can violate, as consequences. A root cause
is a violated requirement that no other violated one explains, or that explains most. Nothing is inferred from what
fails together: two faults can meet in one run by chance, and a fault that shows in every run meets all others.

A fault that shows in few of the runs that exercise it does not explain a requirement that fails in most of its runs:
then the other one is a separate root cause, unless the fault shows in each run in which that requirement fails. For
example, an outgoing buffer that is too small shows in one long scenario, together with everything that it causes.

A fault that shows in very few of the runs that exercise it acts in few situations. The runs of scenarios show whether
it acted: if some of the runs in which another requirement fails exercise it, and none of them violates it, the other
one is a separate root cause. Frequent faults are not ruled out in this way, because a check can miss their effects. Nor
are requirements of one table (see ``judging.table``): a mistake violates only the first of them that applies, so one
fault violates different ones in different situations. A generated schedule rules out nothing: it has so many events
that a fault can act unseen by any check.

Two requirements can explain each other, such as a rule and a special case of it. The one that explains more is the root
cause; if both explain equally many, the one that is violated in the larger part of the runs that exercise it. A
requirement that another one explains becomes a root cause if it explains two that no root cause explains yet.

A dialect is a separate root cause. Its layout of messages differs from that of the text, which violates the
requirements on the layout, and it causes no other violation: everything else is judged after translation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .catalogue import ANOTHER_LAYOUT, Consequence
from .rules import Rules
from .verdict import RANK, Finding, RequirementVerdict, Verdict

LEAST_SHARE = 0.1
"""A cause has at least this part of the share of its effect, see `Failure.share`."""
RARE_SHARE = 0.025
"""A fault of a smaller share must show in a run with the effect, if one exercises it.

Measured on 180 mixtures of three faults (see ``judging.mixtures``): without it, 91 % of the faults are root causes
instead of 94 %. With a share of 0.1, 94 % are, and one more in a hundred root causes is an effect.
"""


@dataclass(frozen=True)
class Failure:
    """A violated requirement or property of the group, with the facts that decide on root causes."""

    id: str
    verdict: Verdict
    """FAIL or WARN."""
    runs: int
    """Number of runs, or of generated schedules, that violate it."""
    exercised: int
    """Number of those that exercise it."""
    violations: int = 0
    codes: frozenset[str] = frozenset()
    """How it is violated."""
    rests_on: tuple[str, ...] = ()
    """Of a property of the group: the requirements that it follows from."""
    held: frozenset[str] = frozenset()
    """The requirements that some of those runs exercise and none of them violates. Empty for schedules."""
    accompanied_by: frozenset[str] = frozenset()
    """The requirements that all of those runs violate. Empty for schedules."""

    @property
    def share(self) -> float:
        """The part of the runs that exercise it that violate it, from 0 to 1."""
        return self.runs / max(self.runs, self.exercised, 1)


@dataclass(frozen=True)
class Root:
    """The ID of a root cause, and the failures that it explains."""

    id: str
    under: Mapping[str, str] = field(default_factory=dict)
    """By requirement or property: why it fails as well, in one sentence."""
    title: str = ""
    """A description of the fault, such as "speaks the layout nim-sds"; "" if the statement of the requirement is
    enough."""


@dataclass
class Cause:
    """A violated requirement, and the requirements that are reported under it."""

    verdict: RequirementVerdict
    under: list[tuple[RequirementVerdict, str]] = field(default_factory=list)
    """The requirements that it explains, each with the reason in one sentence."""
    title: str = ""
    """See `Root.title`."""

    @property
    def severity(self) -> int:
        """The severity of the most severe requirement among them, see ``judging.severity``."""
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
                name for name, other in found.items() if other.tally.places.keys() >= v.tally.places.keys()
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
    """Return the root causes of ``failures``, each of which is one of them or under one of them."""
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
        # A failure that follows from an earlier root is a root as well if it explains two that are left.
        following = {cause: [effect for effect in left if cause in why[effect]] for cause in others}
        covered = {cause: len({cause, *following[cause]} & {*left}) for cause in others}
        possible = [cause for cause in others if cause not in root_of or covered[cause] > 1]
        root = max(possible, key=lambda cause: (covered[cause], cause in left))
        root_of |= dict.fromkeys([root, *following[root]], root)
    for root in dict.fromkeys(root_of.values()):
        under = [effect for effect, cause in root_of.items() if cause == root != effect]
        out.append(Root(root, {effect: why[effect][root] for effect in under}))
    return out


_ELSEWHERE = "The dialect in use lays it out in another way."


def consequences(rules: Rules, cause: str, effect: str) -> list[Consequence]:
    """Return the declared consequences by which a fault in ``cause`` fails ``effect``.

    A declaration also holds for the equivalent requirements of other texts. Two requirements that the same check judges
    are consequences of each other.
    """
    alike, effects = rules.register.with_counterparts_of(cause), rules.register.with_counterparts_of(effect)
    declared = rules.catalogue.consequences
    found = [row for row in declared if any(row.explains(c, e) for c in alike for e in effects)]
    return found or [Consequence((cause,), (effect,), f"Both say what {c} says.") for c in alike if c in effects]


def is_reported_elsewhere(rules: Rules, note: Finding, verdicts: Iterable[RequirementVerdict]) -> bool:
    """Is a note also reported as a failure or warning of a requirement that fails as a consequence?

    One deviation is reported once, at its highest severity.
    """
    return any(
        note.step in verdict.tally.places.get(note.run, ())
        and consequences(rules, note.requirement, verdict.requirement.id)
        for verdict in verdicts
        if verdict.verdict in (Verdict.FAIL, Verdict.WARN)
    )


def _reasons(rules: Rules, effect: Failure, others: Iterable[Failure]) -> dict[str, str]:
    """By requirement: why ``effect`` may be violated because that requirement is. A failure never follows from a
    warning.
    """
    return {
        cause.id: why
        for cause in others
        if cause is not effect and RANK[cause.verdict] >= RANK[effect.verdict]
        if cause.share >= LEAST_SHARE * effect.share or cause.id in effect.accompanied_by
        if cause.share >= RARE_SHARE or cause.id not in effect.held or rules.register.share_table(cause.id, effect.id)
        if (why := _reason(rules, cause, effect))
    }


def _reason(rules: Rules, cause: Failure, effect: Failure) -> str:
    """Why ``effect`` may be violated because ``cause`` is, in each of its ways; "" if it may not."""
    if cause.id in effect.rests_on:
        return f"It follows from {cause.id}."
    for name in (effect.id, *effect.rests_on):
        declared = consequences(rules, cause.id, name)
        codes = effect.codes if name == effect.id else frozenset[str]()
        alike = rules.register.with_counterparts_of(name)
        explained = [row.explained_codes(one, codes) for row in declared for one in alike]
        if declared and codes == frozenset[str]().union(*explained):
            return declared[0].because
    return ""
