"""Runs of a reference model in this process, for self-tests and traceability."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from zlib import crc32

from sds_harness.faults import FaultKind
from sds_harness.link import Limits, Link
from sds_testee.composition import Fault, Variation

from .alterations.source import ModelSource
from .catalogue import SELF_TEST, Requirement
from .causes import consequences
from .certification import Certification, Progress, certify
from .judgement import Outcome
from .known_runs import KnownRuns
from .plan import plan
from .registry import Check, Scenario
from .rules import Rules
from .run_player import EVERYTHING, VERDICTS, Keep
from .verdict import OBSERVE, RequirementVerdict, Verdict, full_code

NOTHING = frozenset[int]()
"""No capabilities."""


Start = Callable[[frozenset[int]], Link]
"""Starts, in this process, a model that does not declare the given capabilities."""


def _raise_unknown_name(name: str, without: frozenset[int]) -> Link:
    raise KeyError(name)


@dataclass(frozen=True)
class Model:
    """The reference model of a protocol, its mutants and its legal variants."""

    module: str
    """Module that ``python -m`` runs as an implementation under test."""
    reference: Start
    load_mutants: Callable[[], Mapping[str, Fault]] = dict
    """Returns the mutants by name. Not called by commands that need no mutants, so that they start faster."""
    mutant: Callable[[str, frozenset[int]], Link] = _raise_unknown_name
    """Starts the mutant of that name. Names joined by ``+`` start one model with several faults. Raises ValueError if
    these faults exclude each other.
    """
    load_variants: Callable[[], Mapping[str, Variation]] = dict
    variant: Callable[[str, frozenset[int]], Link] = _raise_unknown_name
    list_choices: Callable[[str], Sequence[tuple[str, str]]] = lambda name: ()
    """Returns the revisions in which a variant of that name behaves differently from the model, each with the profile
    to judge.
    """
    source: ModelSource | None = None
    """Source code of the model, from which faults are derived; None if no faults are derived."""
    start_in_dialect: Callable[[str, frozenset[int]], Link] | None = None
    """Starts the reference in a wire dialect ("" for none) without declaring the given capabilities; None if the model
    is not tested with other declarations.
    """

    @cached_property
    def mutants(self) -> Mapping[str, Fault]:
        return self.load_mutants()

    @cached_property
    def variants(self) -> Mapping[str, Variation]:
        return self.load_variants()


def certify_reference(
    rules: Rules,
    start: Callable[[], Link],
    progress: Progress = lambda name, number, total: None,
    scenarios: Iterable[str] = (),
    revision: str = "",
    profile: str = "",
    *,
    keep: Keep = EVERYTHING,
    known: KnownRuns | None = None,
) -> Certification:
    """Judge the model that ``start`` starts, in this process."""
    what = plan(rules, profile=profile, scenarios=scenarios, revision=revision)
    return certify(lambda _: start(), what, Limits(), progress=progress, keep=keep, known=known)


def certify_every_revision(
    rules: Rules, start: Callable[[], Link], progress: Progress = lambda name, number, total: None
) -> dict[str, Certification]:
    """Judge, under every revision, the model that ``start`` starts, and return the results by revision. If a revision
    differs from the current one only in a profile, judge only that profile. Raises KeyboardInterrupt when interrupted,
    so that the caller does not use the results of an incomplete run.
    """
    outcomes = {}
    for revision in rules.revisions:
        profile = rules.differs_in.get(revision, "")
        outcomes[revision] = certify_reference(rules, start, progress, revision=revision, profile=profile)
        if outcomes[revision].interrupted:
            raise KeyboardInterrupt
    return outcomes


Sightings = Mapping[str, Mapping[str, int]]
"""Maps each requirement to the runs that exercised it, each with the number of observations."""


def sightings_of(runs: Iterable[Certification]) -> Sightings:
    """Merge the sightings (the runs that exercised each requirement) of several revisions. If several revisions state a
    requirement, the sightings under the first revision are used.
    """
    found: dict[str, Mapping[str, int]] = {}
    for run in reversed([*runs]):
        found |= run.sightings
    return found


def find_sightings(rules: Rules, model: Model, progress: Progress = lambda name, number, total: None) -> Sightings:
    """Return the runs that exercise each requirement. This is slow, because the model is judged under each revision."""
    return sightings_of(certify_every_revision(rules, partial(model.reference, NOTHING), progress).values())


@dataclass(frozen=True)
class MutantResult:
    """Did the check of its requirement reject a mutant, and what else did the mutant violate?"""

    mutant: str
    requirement: str
    summary: str
    verdict: str
    """Verdict on the mutant's requirement; ``noted`` if the mutant deviates only from a MAY."""
    killed: bool
    also: tuple[str, ...]
    """Other requirements that failed or warned."""
    breakdowns: int
    checks: tuple[str, ...]
    """The checks of the mutant's requirement that reject the mutant."""
    skipped: str
    """Why the mutant's requirement cannot be judged without the excluded capabilities; "" if it can be judged."""
    unexplained: tuple[str, ...] = ()
    """Other violated requirements for which no consequence is declared, except experimental requirements. Empty if
    capabilities are excluded. Also empty for a pending mutant, which often violates other requirements only.
    """
    pending: str = ""
    """Why the check of its requirement need not reject the mutant yet; "" if it must."""
    codes: tuple[str, ...] = ()
    """Full codes of all violations, of the mutant's requirement and of other requirements. Deviations from a MAY are
    included.
    """

    @property
    def has_survived(self) -> bool:
        return not self.killed and not self.skipped and not self.pending

    @property
    def overdue(self) -> bool:
        """Is the mutant marked as pending although a check rejects it? Then the mark must be removed."""
        return self.killed and bool(self.pending)


@dataclass(frozen=True)
class VariantResult:
    """Which requirements did a legal variant pass, and which checks rejected it?"""

    variant: str
    summary: str
    passed: int
    skipped: int
    """Number of requirements that cannot be judged without the excluded capabilities."""
    refused: tuple[str, ...]
    """The requirements with a verdict that a legal variant must not get, each with the verdict; and the breakdowns. """


def capabilities_left_out(rules: Rules, mutant: Fault) -> frozenset[int]:
    """The capabilities that a mutant does not declare."""
    names = (*([OBSERVE] if mutant.unseen else []), *mutant.undeclared)
    numbers = map(rules.language.number_of, names)
    return frozenset(number for number in numbers if number is not None)


QUICK_SHARE = 18
"""If this is n, each variant plays only every n-th long scenario in a quick self-test."""
OTHER_SHARE = 16
"""If this is n, each mutant plays only every n-th scenario for other requirements in a quick self-test.
"""


def examine_mutant(
    rules: Rules,
    model: Model,
    name: str,
    without: frozenset[int] = NOTHING,
    known: KnownRuns | None = None,
    *,
    quick: bool = False,
) -> MutantResult:
    """Play a mutant. The mutant is killed if the check of its requirement rejects it; a crash does not kill it.

    The mutant plays the scenarios that are written for its requirement, and those for other requirements of the same
    part of the protocol, except long ones. With ``quick``, it first plays only one in `OTHER_SHARE` of the scenarios
    for other requirements, and plays all if it survives or if an undeclared consequence shows. It does not declare the
    capabilities ``without``. Results of known runs are taken from ``known``.
    """
    result = _play_mutant(rules, model, name, without, known, quick=quick)
    if quick and (result.has_survived or result.unexplained):
        return _play_mutant(rules, model, name, without, known, quick=False)
    return result


def _play_mutant(
    rules: Rules, model: Model, name: str, without: frozenset[int], known: KnownRuns | None, *, quick: bool
) -> MutantResult:
    mutant, whole = model.mutants[name], not without
    without |= capabilities_left_out(rules, mutant)
    requirements = rules.catalogue.requirements
    violated = requirements[mutant.requirement]
    outcome = certify_reference(
        rules,
        lambda: model.mutant(name, without),
        scenarios=_scenarios_of_mutant(rules, name, violated, quick=quick),
        revision=violated.revisions[0],
        keep=VERDICTS,
        known=known,
    )
    verdicts = {v.requirement.id: v for v in outcome.verdicts}
    own = verdicts.get(mutant.requirement)
    rejected = own is not None and own.verdict in (Verdict.FAIL, Verdict.WARN)
    has_notes = own is not None and own.verdict is Verdict.PASS and bool(own.findings)
    also = [v.requirement.id for v in outcome.verdicts if v.verdict in (Verdict.FAIL, Verdict.WARN) and v is not own]
    verdict = "noted" if has_notes else own.verdict.value if own is not None else "no check"
    together = next((cause.requirements for cause in outcome.causes if mutant.requirement in cause.requirements), set())
    # A deaf mutant (one that ignores all messages) counts as rejected by its check, not as broken down.
    broken = sum(broken.breakdown.kind is not FaultKind.DEAF for broken in outcome.breakdowns)
    skipped = own is not None and own.verdict is Verdict.SKIPPED and bool(without) and not broken
    return MutantResult(
        mutant.name,
        mutant.requirement,
        mutant.summary,
        verdict,
        (rejected or has_notes) and not broken,
        tuple(also),
        broken,
        _rejecting_checks(rules, own) if own is not None and (rejected or has_notes) else (),
        own.reason if own is not None and skipped else "",
        tuple(
            other
            for other in also
            if whole and not mutant.pending and not requirements[other].experimental
            if other not in together and not consequences(rules, mutant.requirement, other)
        ),
        mutant.pending,
        tuple(dict.fromkeys(code for v in outcome.verdicts for code in _shown_by(v))),
    )


def _scenarios_of_mutant(rules: Rules, name: str, violated: Requirement, *, quick: bool) -> list[str]:
    """Return the names of the scenarios that a mutant plays: those for its requirement, and those for other
    requirements of the same part of the protocol.
    """
    part, requirements = rules.part_of(violated), rules.catalogue.requirements
    return [
        scenario.name
        for scenario in rules.register.scenarios.values()
        if violated.id in scenario.exercises
        or (
            not (scenario.long or (quick and _is_left_out(name, scenario.name, OTHER_SHARE)))
            and any(rules.part_of(requirements[r]) == part for r in scenario.exercises)
        )
    ]


def _shown_by(verdict: RequirementVerdict) -> Iterator[str]:
    """Yield the full codes of a verdict's violations. For an optional requirement they come from the notes, because the
    tally counts violations only.
    """
    yield from (full_code(verdict.requirement.id, kind.code) for kind in verdict.tally.kinds)
    yield from (finding.full_code for finding in verdict.findings if finding.code)


def _rejecting_checks(rules: Rules, verdict: RequirementVerdict) -> tuple[str, ...]:
    """Return the checks that found a violation; for a verdict of pass, the checks that noted something."""
    against = set(verdict.checks_by_outcome.get(Outcome.VIOLATED, ()))
    if verdict.verdict is Verdict.PASS:
        against |= verdict.checks_by_outcome.get(Outcome.NOTED, set())
    return tuple(check.name for check in rules.register.checks[verdict.requirement.id] if check.name in against)


def examine_variant(
    rules: Rules,
    model: Model,
    name: str,
    without: frozenset[int] = NOTHING,
    known: KnownRuns | None = None,
    *,
    quick: bool = False,
) -> VariantResult:
    """Run a legal variant: every requirement that can be judged without the capabilities ``without`` must pass.

    It runs under every revision in which its choice makes a difference. Requirements that it does not follow may warn;
    in that case other requirements may be inconclusive. With ``quick`` it plays only a share of the long scenarios.
    Requirements for which the omitted scenarios are written may be inconclusive then.
    """
    variant = model.variants[name]
    start = partial(model.variant, name, without)
    left_out = _left_out_when_quick(rules, name) if quick else {}
    runs = [
        certify_reference(
            rules,
            start,
            scenarios=[
                scenario.name
                for scenario in (plan(rules, profile=profile, revision=revision).scenarios if quick else ())
                if scenario.name not in left_out
            ],
            revision=revision,
            profile=profile,
            keep=VERDICTS,
            known=known,
        )
        for revision, profile in model.list_choices(name)
    ]
    accepted = (Verdict.PASS, Verdict.SKIPPED) if without else (Verdict.PASS,)
    verdicts = [v for outcome in runs for v in outcome.verdicts]
    left = {(v, Verdict.WARN) for v in variant.leaves_out}
    left |= {(v.requirement.id, Verdict.INCONCLUSIVE) for v in verdicts} if variant.leaves_out else set()
    left |= {
        (requirement, Verdict.INCONCLUSIVE) for scenario in left_out.values() for requirement in scenario.exercises
    }
    wrong = [v for v in verdicts if v.verdict not in accepted and (v.requirement.id, v.verdict) not in left]
    refused = [f"{v.requirement.id} {v.verdict.value}" for v in wrong]
    refused += [f"broke down: {b.breakdown.kind.value}" for outcome in runs for b in outcome.breakdowns]
    skipped = {v.requirement.id for v in verdicts if v.verdict is Verdict.SKIPPED}
    return VariantResult(
        variant.name,
        variant.summary,
        len({v.requirement.id for v in verdicts if v.verdict is Verdict.PASS}),
        len(skipped) if without else 0,
        tuple(dict.fromkeys(refused)),
    )


def _left_out_when_quick(rules: Rules, variant: str) -> dict[str, Scenario]:
    """Return the long scenarios that a variant does not play in a quick self-test, by name."""
    return {
        name: scenario
        for name, scenario in rules.register.scenarios.items()
        if scenario.long and _is_left_out(variant, name, QUICK_SHARE)
    }


def _is_left_out(model: str, scenario: str, share: int) -> bool:
    """Does this mutant or variant (``model``) omit the scenario, because it plays only one scenario in ``share``?

    The decision depends on the sum of two hashes of the names, so that each scenario is played by about equally many
    mutants or variants.
    """
    return (crc32(model.encode()) + crc32(scenario.encode())) % share != 0


def unguarded_requirements(rules: Rules, model: Model) -> list[str]:
    """Return the requirements with a check for which no mutant shows that the check can fail. Optional requirements are
    left out.
    """
    guarded = {mutant.requirement for mutant in model.mutants.values() if not mutant.pending}
    known = rules.catalogue.requirements
    return [
        requirement
        for requirement in rules.register.checks
        if requirement not in guarded and not known[requirement].optional
    ]


def outdated_consequences(rules: Rules, kills: Iterable[MutantResult]) -> list[str]:
    """Return a sentence for each declared consequence that no mutant shows, although the catalogue says that the
    self-test shows it.
    """
    kills = list(kills)
    out = []
    for row in rules.catalogue.consequences:
        if row.shown_by != SELF_TEST:
            continue
        seen = {
            (cause, effect)
            for kill in kills
            if not kill.pending
            for cause in row.of
            if _shows_cause(rules, kill, cause)
            for effect in row.fail
            if _fails_requirement(rules, kill, effect)
        }
        causes, effects = {cause for cause, _ in seen}, {effect for _, effect in seen}
        out += [f"a fault in {cause} violates {' or '.join(row.fail)}" for cause in row.of if cause not in causes]
        out += [f"a fault in {' or '.join(row.of)} violates {effect}" for effect in row.fail if effect not in effects]
    return out


def _shows_cause(rules: Rules, kill: MutantResult, cause: str) -> bool:
    """Is ``cause``, a requirement or a full code, a violation of the mutant's own requirement?"""
    name, _, code = cause.partition("/")
    alike = rules.register.with_counterparts_of(kill.requirement)
    return name in alike and (not code or full_code(kill.requirement, code) in kill.codes)


def _fails_requirement(rules: Rules, kill: MutantResult, effect: str) -> bool:
    """Does a mutant violate ``effect``: a requirement, or a full code?"""
    name, _, code = effect.partition("/")
    others = [other for other in kill.also if name in rules.register.with_counterparts_of(other)]
    return any(full_code(other, code) in kill.codes for other in others) if code else bool(others)


def compare_codes(rules: Rules, kills: Iterable[MutantResult]) -> tuple[list[str], list[str]]:
    """Return two lists of full codes: those of the catalogue that no mutant shows, and those that a mutant shows and
    the catalogue does not list.
    """
    shown_codes = {code for kill in kills for code in kill.codes}
    listed = [full_code(r.id, code) for r in rules.catalogue.requirements.values() for code in r.codes]
    ours = {code for code in shown_codes if code.partition("/")[0] in rules.catalogue.requirements}
    return [code for code in listed if code not in shown_codes], sorted(ours.difference(listed))


def unproven_checks(rules: Rules, kills: Iterable[MutantResult]) -> list[Check]:
    """Checks that reject no mutant of their requirement, in the order of the catalogue."""
    proven = {(kill.requirement, check) for kill in kills if kill.killed for check in kill.checks}
    return [
        check
        for requirement in rules.catalogue.requirements
        for check in rules.register.checks.get(requirement, ())
        if (requirement, check.name) not in proven
    ]
