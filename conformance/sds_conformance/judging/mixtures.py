"""Several faults in one implementation: does a report distinguish them?

A mixture is the reference model with the faults of several mutants at once. A report should have each fault as a
separate root cause, and no other root causes. The mutants of a mixture are drawn at random. They must not change the
same code or hide each other's fault.

The specification states some duties twice, such as SDS-RECV-08 and SDS-STATE-09. If the catalogue declares that two
requirements explain each other, a fault in one of them also counts as found if the other one is the root cause and the
first one is reported under it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from heapq import nsmallest
from math import sqrt

from sds_harness.link import Limits
from sds_testee.composition import JOINT, Fault

from .causes import consequences
from .certification import certify
from .exercise import Model, capabilities_left_out
from .known_runs import KnownRuns
from .plan import plan
from .rules import Rules
from .run_player import VERDICTS

FAULTS = 3
"""Number of faults in a mixture."""
LEAST_FOUND = 0.93
"""At least this part of all faults must be root causes, see `are_separated`."""
MOST_EFFECTS = 0.06
"""At most this part of all reported root causes may be effects of a fault instead of faults of the mixture."""
_DRAWS = 100
_SECONDS = 60.0
"""Time limit of one mixture in seconds: some combinations of faults make endless conversations."""


@dataclass(frozen=True)
class Mixture:
    """The root causes that were reported for a mixture of faults."""

    protocol: str
    mutants: tuple[str, ...]
    faults: tuple[str, ...]
    """The requirements that the mutants violate."""
    roots: tuple[str, ...]
    """The requirements that were reported as root causes."""
    found_as: tuple[str, ...]
    """For each fault: the root cause as which it was found. This is its requirement, or a requirement that explains it
    and is explained by it; "" if the fault was not found.
    """

    @property
    def found(self) -> int:
        """Number of faults that are separate root causes."""
        return len({*self.found_as} - {""})

    @property
    def effects(self) -> tuple[str, ...]:
        """The reported root causes that are only effects of the faults."""
        return tuple(root for root in self.roots if root not in self.found_as)


def are_separated(mixtures: Iterable[Mixture]) -> bool:
    """Are at least `LEAST_FOUND` of the faults reported as root causes, and are at most `MOST_EFFECTS` of the reported
    root causes only effects of a fault?

    Each share may miss its limit by two standard deviations of the sample, because the shares of a small sample vary.
    """
    mixtures = list(mixtures)
    faults, roots = sum(len(one.faults) for one in mixtures), sum(len(one.roots) for one in mixtures)
    found, effects = sum(one.found for one in mixtures), sum(len(one.effects) for one in mixtures)
    least = LEAST_FOUND * faults - _allowance(LEAST_FOUND, faults)
    return found >= least and effects <= MOST_EFFECTS * roots + _allowance(MOST_EFFECTS, roots)


def _allowance(part: float, count: int) -> float:
    """Return two standard deviations of the number of hits among ``count`` samples, each of which is a hit with
    probability ``part``.
    """
    return 2 * sqrt(count * part * (1 - part))


def examine_mixture(
    rules: Rules, model: Model, protocol: str, seed: int, number: int, known: KnownRuns | None = None
) -> Mixture | None:
    """Return the result of the mixture with that number; None if no mixture was found in which all faults show."""
    catalogue = rules.catalogue.requirements
    pool = [
        mutant
        for mutant in model.mutants.values()
        if rules.current in catalogue[mutant.requirement].revisions and catalogue[mutant.requirement].is_binding
        if not (mutant.pending or mutant.unseen or mutant.undeclared)
    ]
    for draw in range(_DRAWS):
        mutants = nsmallest(FAULTS, pool, key=partial(_place_in_draw, f"{protocol} {seed} {number} {draw}"))
        if len({mutant.requirement for mutant in mutants}) < FAULTS:
            continue
        names = [mutant.name for mutant in mutants]
        without = frozenset[int]().union(*(capabilities_left_out(rules, mutant) for mutant in mutants))
        try:
            model.mutant(JOINT.join(names), without).kill()
        except ValueError:
            continue  # the mutants exclude each other
        root_of = _play_joint_mutant(rules, model, names, without, known)
        faults = tuple(mutant.requirement for mutant in mutants)
        if root_of is not None and {*faults} <= root_of.keys():
            roots = tuple(dict.fromkeys(root_of.values()))
            found_as = tuple(_find_root_of(rules, fault, root_of[fault]) for fault in faults)
            return Mixture(protocol, tuple(names), faults, roots, found_as)
    return None


def _place_in_draw(draw: str, mutant: Fault) -> bytes:
    """Return a key that sorts the mutants in a random order. A mutant that is added later leaves the order of the
    others unchanged.
    """
    return sha256(f"{draw} {mutant.name}".encode()).digest()


def _find_root_of(rules: Rules, fault: str, root: str) -> str:
    return root if fault == root or consequences(rules, fault, root) else ""


def _play_joint_mutant(
    rules: Rules, model: Model, names: list[str], without: frozenset[int], known: KnownRuns | None
) -> dict[str, str] | None:
    """Play the model with the faults of several mutants. Return the root cause of each violated requirement, which can
    be the requirement itself; None if the model broke down.
    """
    what = plan(rules, environments=("plain",))
    joint = JOINT.join(names)
    outcome = certify(
        lambda _: model.mutant(joint, without), what, Limits(total_s=_SECONDS), keep=VERDICTS, known=known
    )
    if outcome.gave_up or outcome.breakdowns:
        return None
    return {name: cause.verdict.requirement.id for cause in outcome.causes for name in cause.requirements}
