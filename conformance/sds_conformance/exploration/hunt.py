"""Plays generated schedules against mutants. Reports after how many schedules each mutant is found, and the size of the
counterexample.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sds_harness.schedules import Schedule
from sds_testee.composition import Fault

from ..judging.exercise import NOTHING, capabilities_left_out
from ..judging.finding_replays import FindingReplays
from ..judging.verdict import Finding, Verdict
from ..protocols import Protocol, default, protocol_of, repertoire_of
from .assessment import BREAKDOWN, Scope
from .campaign import CampaignOrder, explore, play_one
from .cast_under_test import CastKind, CastUnderTest
from .casts import NotPlayedError
from .counterexample import shrink_finding

EXAMPLES = 1_000
"""Maximum number of schedules that are played in the search for one mutant."""


def names_to_hunt(revision: str = "") -> tuple[list[str], list[str]]:
    """Return the mutants of a revision, without pending ones, and its legal variants. By default, those of all
    revisions that have schedules.

    Raises ValueError for a revision without schedules.
    """
    protocol = _protocol(revision)
    known, model = protocol.rules.catalogue.requirements, protocol.model
    scheduled = _revisions_with_schedules(protocol, revision)
    rejected = {name: m for name, m in model.mutants.items() if not m.pending}
    if revision:
        mutants = [name for name, m in rejected.items() if known[m.requirement].is_stated_in(revision)]
        return mutants, [n for n in model.variants if revision in {chosen for chosen, _ in model.list_choices(n)}]
    mutants = [name for name, m in rejected.items() if known[m.requirement].revisions[0] in scheduled]
    return mutants, [name for name in model.variants if model.list_choices(name)[0][0] in scheduled]


def _protocol(revision: str) -> Protocol:
    return protocol_of(revision) if revision else default()


def _revisions_with_schedules(protocol: Protocol, revision: str) -> tuple[str, ...]:
    known = repertoire_of(revision or protocol.rules.current).revisions
    return (revision,) if revision else known


@dataclass(frozen=True)
class MutantHunt:
    """The result for one mutant."""

    mutant: str
    requirement: str
    summary: str
    found_after: int = 0
    """Number of schedules that were played until one found the mutant; 0 if none found it."""
    found_by: str = ""
    """The violated requirement or property: the requirement of the mutant, if that is violated."""
    operations: int = 0
    """Number of operations in the shrunk schedule."""
    participants: int = 0
    schedule: Schedule | None = None
    out_of_reach: str = ""
    """Why schedules cannot find the mutant; "" if they can."""


def order_for(mutant: Fault, casting: CastKind = CastKind.TOGETHER, seed: int = 0, revision: str = "") -> CampaignOrder:
    """Return a campaign against a mutant in this process, by default under the revision of its requirement."""
    protocol = _protocol(revision)
    violated = protocol.rules.catalogue.requirements[mutant.requirement]
    without = capabilities_left_out(protocol.rules, mutant)
    connect = lambda _: protocol.model.mutant(mutant.name, without)  # noqa: E731
    judged = revision or violated.revisions[0]
    return CampaignOrder(connect, revision=judged, casting=casting, seed=seed, include_notes=violated.optional)


def hunt(name: str, examples: int = EXAMPLES, seed: int = 0, revision: str = "") -> MutantHunt:
    """Play schedules against a mutant until one finds it, and shrink that schedule.

    First only the requirement of the mutant is judged. If no schedule violates it, any finding counts. Every second
    schedule is played among references, because a fault that all participants share may stay hidden.
    """
    mutant, missed = _protocol(revision).model.mutants[name], not_found(name, revision)
    orders = [order_for(mutant, casting, seed, revision) for casting in (CastKind.TOGETHER, CastKind.AMONG)]
    casts_under_test = [order.cast_under_test() for order in orders]
    for cast_under_test in casts_under_test:
        cast_under_test.start()
    scope = orders[0].scope
    own = replace(scope.restricted_to(mutant.requirement), properties=())
    # A deviation from a MAY does not show the fault, unless that MAY is the requirement of the mutant.
    for narrowed in (own, replace(scope, include_notes=False)):
        for index, finding in _findings(orders, casts_under_test, narrowed, examples):
            if finding.requirement == BREAKDOWN:
                continue
            which = index % 2
            small = shrink_finding(orders[which], casts_under_test[which], index, finding)
            if isinstance(small, FindingReplays):
                continue
            return replace(
                missed,
                found_after=index + 1,
                found_by=finding.requirement,
                operations=len(small.schedule.operations),
                participants=len(small.schedule.members),
                schedule=small.schedule,
            )
    return missed


def not_found(name: str, revision: str = "") -> MutantHunt:
    """The result for a mutant that was not found."""
    mutant = _protocol(revision).model.mutants[name]
    return MutantHunt(name, mutant.requirement, mutant.summary, out_of_reach=mutant.out_of_reach)


def _findings(
    orders: list[CampaignOrder], casts_under_test: list[CastUnderTest], scope: Scope, examples: int
) -> Iterator[tuple[int, Finding]]:
    """Yield the worst finding of each schedule with findings. Ends early if an implementation is
    abandoned.
    """
    for index in range(examples):
        order, cast_under_test = orders[index % 2], casts_under_test[index % 2]
        try:
            found = play_one(order, cast_under_test, index, scope).assessment.findings
        except NotPlayedError:
            return
        if found:
            yield index, min(found, key=lambda finding: finding.severity is not Verdict.FAIL)


@dataclass(frozen=True)
class VariantHunt:
    """The findings against one legal variant; there should be none."""

    variant: str
    schedules: int
    accused: tuple[str, ...]


def hunt_false_accusations(name: str, examples: int, seed: int = 0, revision: str = "") -> VariantHunt:
    """Play schedules against a legal variant, by default under every revision that has schedules."""
    protocol = _protocol(revision)
    scheduled, left_out = _revisions_with_schedules(protocol, revision), protocol.model.variants[name].leaves_out
    accused: dict[str, None] = {}
    for judged in sorted(scheduled):
        for casting in (CastKind.TOGETHER, CastKind.AMONG):
            tally = explore(
                CampaignOrder(
                    lambda _: protocol.model.variant(name, NOTHING),
                    revision=judged,
                    casting=casting,
                    seed=seed,
                    examples=max(1, examples // (2 * (1 + len(scheduled)))),
                )
            )
            for what, finding in tally.found.items():
                if what in left_out and finding.severity is Verdict.WARN:
                    continue
                accused[f"{what} in schedule {tally.found_at[what]}: {finding.seen}"] = None
            accused |= {f"error in {where}: {what}": None for where, what in tally.errors.items()}
    return VariantHunt(name, examples, tuple(accused))
