"""The hunt for mutants with generated schedules alone: how soon each is found, and how small its counterexample is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sds_harness.link import LocalLink
from sds_harness.schedules import Schedule
from sds_harness.sds.generator import generated
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config
from sds_reference.mutants import MUTANTS, Mutant
from sds_reference.testee.server import Testee, TesteeOptions
from sds_reference.variants import VARIANTS
from sds_testee.version import suite_version

from ..judging.verdict import Finding, Verdict
from ..protocols.sds.catalogue import load_catalogue
from .campaign import Order, explore, play_one
from .casting import Casting, Company
from .counterexample import counterexample
from .judging import BREAKDOWN, SCHEDULED, Scope

EXAMPLES = 1_000
"""Schedules after which a mutant got away."""

_SHARE = "its hash is its own: only the share that it answers of the messages of dozens of authors gives it away"
_SPREAD = "its hash is its own: only how dozens of its answers are spread over the time gives it away"
OUT_OF_REACH: dict[str, str] = {
    "checks-on-arrival": "it shows where a message waits for one that its participant then sends under an ID of the "
    "application's choice; schedules choose no IDs",
    "no-group-test": _SHARE,
    "two-groups-always": _SHARE,
    "answers-for-the-neighbours": _SHARE,
    "group-of-one": _SHARE,
    "answers-in-the-first-third": _SPREAD,
    "half-at-once": _SPREAD,
    "t-resp-without-the-message": _SPREAD,
    "t-resp-without-the-message-unseen": _SPREAD,
    "distance-without-itself-unseen": "what it does not show can be told of many holders of many messages only",
    "answers-strictly-after": "several answers would have to be due in one millisecond, and more in another",
}
"""Mutants that need more than a schedule of a few participants has, with the reason. They are not hunted unless asked
for by name; `selftest` finds them with scenarios made for each."""


def huntable() -> tuple[list[str], list[str]]:
    """The mutants and the legal variants of the revisions that schedules are about."""
    known = load_catalogue().requirements
    mutants = [m.name for m in MUTANTS.values() if known[m.requirement].revisions[0] in SCHEDULED]
    return mutants, [v.name for v in VARIANTS.values() if not v.revision or v.revision in SCHEDULED]


@dataclass(frozen=True)
class Catch:
    """What became of one mutant."""

    mutant: str
    requirement: str
    summary: str
    found_after: int
    """So many schedules were played, the last of which found it; 0 if none did."""
    found_by: str
    """The requirement or property that was violated: its own, if that is."""
    operations: int
    """Of the shrunk schedule."""
    participants: int
    schedule: Schedule | None


def order_for(mutant: Mutant, casting: Casting = Casting.TOGETHER, seed: int = 0) -> Order:
    """A campaign against a mutant, in this process, under the revision that its requirement belongs to."""
    violated = load_catalogue().requirements[mutant.requirement]
    options = TesteeOptions(
        suite_version(),
        mutant.configure(Config()),
        mutant.participant_class,
        f"mutant {mutant.name}",
        without=frozenset({pb.CAPABILITY_OBSERVE} if mutant.unseen else ()),
    )
    connect = lambda _: LocalLink(Testee(options).handle)  # noqa: E731
    return Order(connect, revision=violated.revisions[0], casting=casting, seed=seed, told=violated.optional)


def hunt(name: str, examples: int = EXAMPLES, seed: int = 0) -> Catch:
    """Play schedules against a mutant until one finds it, and shrink that.

    First its own requirement alone is judged; if that finds nothing, whatever finds something counts. Every other
    schedule is played among reference participants: a fault that all share may hide.
    """
    mutant = MUTANTS[name]
    orders = [order_for(mutant, casting, seed) for casting in (Casting.TOGETHER, Casting.AMONG)]
    companies = [order.company() for order in orders]
    for company in companies:
        company.start()
    scope = orders[0].scope
    own = replace(scope.only(mutant.requirement), properties=())
    # That something else is told says nothing.
    for narrowed in (own, replace(scope, told=False)):
        for index, finding in _findings(orders, companies, narrowed, examples):
            which = index % 2
            schedule = generated(seed, index, orders[which].grammar)
            small = counterexample(orders[which], companies[which], schedule, finding)
            if small is None or finding.requirement == BREAKDOWN:
                continue
            return Catch(
                name,
                mutant.requirement,
                mutant.summary,
                index + 1,
                finding.requirement,
                len(small.schedule.operations),
                len(small.schedule.members),
                small.schedule,
            )
    return Catch(name, mutant.requirement, mutant.summary, 0, "", 0, 0, None)


def _findings(
    orders: list[Order], companies: list[Company], scope: Scope, examples: int
) -> Iterator[tuple[int, Finding]]:
    """The worst finding of each schedule in which there is one."""
    for index in range(examples):
        order, company = orders[index % 2], companies[index % 2]
        found = play_one(order, company, index, scope).assessment.findings
        if found:
            yield index, min(found, key=lambda finding: finding.severity is not Verdict.FAIL)


@dataclass(frozen=True)
class Peace:
    """What was found against one legal variant, which should be nothing."""

    variant: str
    schedules: int
    accused: tuple[str, ...]


def leave_in_peace(name: str, examples: int, seed: int = 0) -> Peace:
    """Play schedules with a legal variant, under every revision that they are about."""
    options = TesteeOptions(suite_version(), VARIANTS[name].configure(Config()), name=f"variant {name}")
    accused: dict[str, None] = {}
    for revision in sorted(SCHEDULED):
        for casting in (Casting.TOGETHER, Casting.AMONG):
            tally = explore(
                Order(
                    lambda _: LocalLink(Testee(options).handle),
                    revision=revision,
                    casting=casting,
                    seed=seed,
                    examples=max(1, examples // (2 * (1 + len(SCHEDULED)))),
                )
            )
            for what, finding in tally.found.items():
                accused[f"{what} in schedule {tally.found_at[what]}: {finding.seen}"] = None
            accused |= {f"error in {where}: {what}": None for where, what in tally.errors.items()}
    return Peace(name, examples, tuple(accused))
