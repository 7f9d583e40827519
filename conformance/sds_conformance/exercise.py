"""Runs of the reference model in this process: what self-tests and traceability are derived from."""

from __future__ import annotations

from dataclasses import dataclass

from sds_harness.link import Limits, LocalLink
from sds_reference import Config
from sds_reference.mutants import MUTANTS, Mutant
from sds_reference.testee.server import Testee, TesteeOptions
from sds_reference.testee.version import suite_version
from sds_reference.variants import VARIANTS, Variant

from .catalogue import load_catalogue
from .certification import Certification, certify, plan
from .registry import CHECKS
from .verdict import RequirementVerdict, Verdict


def certify_reference(options: TesteeOptions | None = None) -> Certification:
    """The reference model, or what ``options`` make of it, judged without a process of its own."""
    chosen = options or TesteeOptions(suite_version())
    return certify(lambda: LocalLink(Testee(chosen).handle), plan(), Limits())


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


@dataclass(frozen=True)
class Acceptance:
    """What became of one legal variant."""

    variant: str
    summary: str
    passed: int
    refused: tuple[str, ...]
    """Requirements whose verdict is not pass, with it."""


def examine_mutant(name: str) -> Kill:
    """Run the mutant; it is killed if the check of its requirement, by name, rejects it. A crash is no kill."""
    mutant: Mutant = MUTANTS[name]
    options = TesteeOptions(
        suite_version(), mutant.configure(Config()), mutant.participant_class, f"mutant {mutant.name}"
    )
    outcome = certify_reference(options)
    verdicts = {v.requirement.id: v for v in outcome.verdicts}
    own = verdicts.get(mutant.requirement)
    rejected = own is not None and own.verdict in (Verdict.FAIL, Verdict.WARN)
    told = own is not None and own.verdict is Verdict.PASS and _deviates(own)
    also = [v.requirement.id for v in outcome.verdicts if v.verdict in (Verdict.FAIL, Verdict.WARN) and v is not own]
    verdict = "told" if told else own.verdict.value if own is not None else "no check"
    return Kill(
        mutant.name,
        mutant.requirement,
        mutant.summary,
        verdict,
        (rejected or told) and not outcome.breakdowns,
        tuple(also),
        len(outcome.breakdowns),
    )


def _deviates(verdict: RequirementVerdict) -> bool:
    return bool(verdict.findings)


def examine_variant(name: str) -> Acceptance:
    """Run the legal variant; every requirement must pass."""
    variant: Variant = VARIANTS[name]
    outcome = certify_reference(TesteeOptions(suite_version(), variant.configure(Config()), name=f"variant {name}"))
    refused = [f"{v.requirement.id} {v.verdict.value}" for v in outcome.verdicts if v.verdict is not Verdict.PASS]
    refused += [f"broke down: {broken.breakdown.kind.value}" for broken in outcome.breakdowns]
    return Acceptance(variant.name, variant.summary, outcome.count(Verdict.PASS), tuple(refused))


def unguarded() -> list[str]:
    """Requirements that have a check and no mutant to prove that it can fail; a MAY has nothing to reject."""
    guarded = {mutant.requirement for mutant in MUTANTS.values()}
    known = load_catalogue().requirements
    return [requirement for requirement in CHECKS if requirement not in guarded and not known[requirement].optional]
