"""Implementations that meet each other in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from clearskies_reference import Config as ClearSkiesConfig
from clearskies_reference.mutants import MUTANTS as CLEARSKIES_MUTANTS
from clearskies_reference.testee import server as clearskies
from clearskies_reference.variants import VARIANTS as CLEARSKIES_VARIANTS
from run_helpers import reference
from sds_conformance.exploration.assessment import Scope
from sds_conformance.exploration.casts import Cast, CastImplementation
from sds_conformance.interop.matrix import Interop, explore
from sds_conformance.interop.mixed import Mixed, MixedCast, explore_mixed
from sds_conformance.protocols.exchanges import AspectMark
from sds_conformance.protocols.sds.catalogue import CURRENT
from sds_harness.link import LocalLink
from sds_reference import FORUM_2024, Config
from sds_reference.mutants import MUTANTS

FORUM, CLEARSKIES = FORUM_2024.name, "clearskies-database"
Start = Callable[[], Callable[[Any], Any]]


def mutant(name: str) -> Start:
    one = MUTANTS[name]
    return lambda: reference(one.configure(Config()), participant=one.participant_class)


def clearskies_peer(name: str = "", **options: Any) -> Start:
    """The reference of ClearSkies, or its variant or mutant of that name."""
    one = CLEARSKIES_VARIANTS.get(name) or CLEARSKIES_MUTANTS.get(name)
    if one is not None:
        options |= {"config": one.configure(ClearSkiesConfig()), "peer_class": one.peer_class}
    return lambda: clearskies.Testee(clearskies.TesteeOptions("1", **options)).handle


def cast_of(starts: Mapping[str, Start], revision: str = CURRENT) -> Cast:
    def implementation(name: str, start: Start) -> CastImplementation:
        return CastImplementation(name, lambda _: LocalLink(start()))

    return Cast((implementation(name, start) for name, start in starts.items()), revision)


def met(revision: str = CURRENT, **starts: Start) -> Interop:
    with cast_of(starts, revision) as cast:
        return explore(cast)


@contextmanager
def mixed_cast_of(starts: Mapping[str, Start], revision: str = CURRENT) -> Iterator[MixedCast]:
    with cast_of(starts, revision) as cast, MixedCast(cast) as mixed_cast:
        cast.start()
        yield mixed_cast


def explored(starts: Mapping[str, Start], examples: int, seed: int = 0, revision: str = CURRENT) -> Mixed:
    with mixed_cast_of(starts, revision) as mixed_cast:
        return explore_mixed(mixed_cast, seed, examples, Scope.select(revision=revision))


def cells_with(outcome: Interop, mark: AspectMark = AspectMark.NO) -> dict[str, str]:
    """The reasons of the cells with a mark, by ``SENDER to RECEIVER, ASPECT``."""
    return {
        f"{sender} to {receiver}, {aspect}": cell.reason
        for (sender, receiver), result in outcome.pair_results.items()
        for aspect, cell in result.cells.items()
        if cell.mark is mark
    }
