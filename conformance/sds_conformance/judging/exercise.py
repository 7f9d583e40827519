"""Runs of the reference model in this process: what self-tests and traceability are derived from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sds_harness.link import Limits, LocalLink
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import REVISIONS, Config
from sds_reference.mutants import MUTANTS, Mutant
from sds_reference.testee.server import Testee, TesteeOptions
from sds_reference.variants import VARIANTS, Variant
from sds_testee.version import suite_version

from ..protocols.sds.catalogue import CURRENT, load_catalogue
from ..protocols.sds.view.channel_view import channel_views
from .certification import Certification, Progress, certify, plan
from .judgement import Outcome
from .registry import CHECKS, SCENARIOS, Check
from .verdict import RequirementVerdict, Verdict


def certify_reference(
    options: TesteeOptions | None = None,
    progress: Progress = lambda name, number, total: None,
    scenarios: Iterable[str] = (),
    revision: str = CURRENT,
    profile: str = "full",
) -> Certification:
    """The reference model, or what ``options`` make of it, judged without a process of its own."""
    chosen = options or TesteeOptions(suite_version())
    what = plan(profile=profile, scenarios=scenarios, revision=revision)
    return certify(lambda _: LocalLink(Testee(chosen).handle), what, Limits(), progress=progress)


def certify_every_revision(
    options: TesteeOptions | None = None, progress: Progress = lambda name, number, total: None
) -> dict[str, Certification]:
    """A run for each revision: the current one in full, and so is one of another text; of those of the same text SDS-R
    alone, which is where they differ."""
    runs: dict[str, Certification] = {}
    for name, revision in REVISIONS.items():
        differs = name != CURRENT and revision.prefix == REVISIONS[CURRENT].prefix
        runs[name] = certify_reference(options, progress, revision=name, profile="sds-r" if differs else "full")
    return runs


@dataclass(frozen=True)
class Kill:
    """What became of one mutant."""

    mutant: str
    requirement: str
    summary: str
    verdict: str
    """Verdict on its requirement; ``told`` where a deviation from a MAY is reported without reproach."""
    killed: bool
    also: tuple[str, ...]
    """Other requirements that failed or warned."""
    breakdowns: int
    checks: tuple[str, ...]
    """The checks of its requirement that reject it."""
    skipped: str
    """Why its requirement cannot be judged without the capabilities that were left out; "" if it can."""

    @property
    def alive(self) -> bool:
        return not self.killed and not self.skipped


@dataclass(frozen=True)
class Acceptance:
    """What became of one legal variant."""

    variant: str
    summary: str
    passed: int
    skipped: int
    """Requirements that cannot be judged without the capabilities that were left out."""
    refused: tuple[str, ...]
    """The other requirements whose verdict is not pass, with it."""


def examine_mutant(name: str, without: frozenset[int] = frozenset()) -> Kill:
    """Run the mutant; it is killed if the check of its requirement, by name, rejects it. A crash is no kill.

    Played are the scenarios of its part of SDS, core or SDS-R, and of its requirement; long ones for the latter alone.
    It runs without declaring the capabilities ``without``.
    """
    mutant: Mutant = MUTANTS[name]
    configured = mutant.configure(Config())
    without |= {pb.CAPABILITY_OBSERVE} if mutant.unseen else frozenset()
    known = load_catalogue().requirements
    violated = known[mutant.requirement]
    outcome = certify_reference(
        TesteeOptions(suite_version(), configured, mutant.participant_class, f"mutant {name}", without=without),
        scenarios=[
            s.name
            for s in SCENARIOS.values()
            if violated.id in s.exercises
            or (not s.long and any(known[exercised].core == violated.core for exercised in s.exercises))
        ],
        revision=violated.revisions[0],
    )
    verdicts = {v.requirement.id: v for v in outcome.verdicts}
    own = verdicts.get(mutant.requirement)
    rejected = own is not None and own.verdict in (Verdict.FAIL, Verdict.WARN)
    told = own is not None and own.verdict is Verdict.PASS and bool(own.findings)
    also = [v.requirement.id for v in outcome.verdicts if v.verdict in (Verdict.FAIL, Verdict.WARN) and v is not own]
    verdict = "told" if told else own.verdict.value if own is not None else "no check"
    skipped = own is not None and own.verdict is Verdict.SKIPPED and bool(without) and not outcome.breakdowns
    return Kill(
        mutant.name,
        mutant.requirement,
        mutant.summary,
        verdict,
        (rejected or told) and not outcome.breakdowns,
        tuple(also),
        len(outcome.breakdowns),
        _rejecting(own, outcome) if own is not None and (rejected or told) else (),
        own.reason if own is not None and skipped else "",
    )


def _rejecting(verdict: RequirementVerdict, outcome: Certification) -> tuple[str, ...]:
    """The checks behind a verdict. Its findings are too few to tell: only the first are kept."""
    checks = CHECKS[verdict.requirement.id]
    if len(checks) == 1:
        return (checks[0].name,)
    views = [view for trace in outcome.traces.values() for view in channel_views(trace)]
    against = (Outcome.VIOLATED,) if verdict.verdict is not Verdict.PASS else (Outcome.VIOLATED, Outcome.NOTED)
    return tuple(
        check.name
        for check in checks
        if any(
            observation.outcome in against
            for view in views
            if all(view.can(capability) for capability in check.needs)
            for observation in check.function(view)
        )
    )


def examine_variant(name: str, without: frozenset[int] = frozenset()) -> Acceptance:
    """Run the legal variant; every requirement must pass that can be judged without the capabilities ``without``.

    One that chooses something of SDS-R is run under every revision of the text that has it, one that is about another
    text under that.
    """
    variant: Variant = VARIANTS[name]
    options = TesteeOptions(suite_version(), variant.configure(Config()), name=f"variant {name}", without=without)
    runs = [certify_reference(options, revision=variant.revision or CURRENT)]
    if "repair" in dict(variant.config):
        others = [name for name, revision in REVISIONS.items() if revision.repairs and name != CURRENT]
        runs += [certify_reference(options, revision=other, profile="sds-r") for other in others]
    accepted = (Verdict.PASS, Verdict.SKIPPED) if without else (Verdict.PASS,)
    verdicts = [v for outcome in runs for v in outcome.verdicts]
    refused = [f"{v.requirement.id} {v.verdict.value}" for v in verdicts if v.verdict not in accepted]
    refused += [f"broke down: {b.breakdown.kind.value}" for outcome in runs for b in outcome.breakdowns]
    skipped = {v.requirement.id for v in verdicts if v.verdict is Verdict.SKIPPED}
    return Acceptance(
        variant.name,
        variant.summary,
        len({v.requirement.id for v in verdicts if v.verdict is Verdict.PASS}),
        len(skipped) if without else 0,
        tuple(dict.fromkeys(refused)),
    )


def unguarded() -> list[str]:
    """Requirements that have a check and no mutant to prove that it can fail; a MAY has nothing to reject."""
    guarded = {mutant.requirement for mutant in MUTANTS.values()}
    known = load_catalogue().requirements
    return [requirement for requirement in CHECKS if requirement not in guarded and not known[requirement].optional]


def unproven(kills: Iterable[Kill]) -> list[Check]:
    """Checks that none of the mutants makes fail, in the order of the catalogue."""
    proven = {(kill.requirement, check) for kill in kills if kill.killed for check in kill.checks}
    return [
        check
        for requirement in load_catalogue().requirements
        for check in CHECKS.get(requirement, ())
        if (requirement, check.name) not in proven
    ]
