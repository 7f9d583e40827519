"""Measures how many mutants are found by playing every schedule up to a number of events, and at what cost.

    python harness/benchmarks/small_worlds.py [--events K] [--alphabet NAMES[:K] ...] [--only GLOB] [--jobs N]
                                              [--keep FILE [--minutes M]] [--json]

Each mutant plays all schedules, the shortest first, until one shows a finding. Mutants of core SDS play without SDS-R
first, and with SDS-R if nothing was found. The numbers of schedules and the seconds were measured with an
implementation without a fault, in this process alone.

With ``--keep``, mutants that are in FILE already are not played again. With ``--minutes``, no mutant is started after
this time; the table is printed when all mutants are done.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from sds_conformance.exploration.campaign import CampaignTally
from sds_conformance.exploration.casts import NotPlayedError
from sds_conformance.exploration.exhaustion import ChunkResults, Exhaustion, Prober, Task, alphabet_of, play_chunks
from sds_conformance.exploration.hunt import names_to_hunt, order_for
from sds_conformance.judging.exercise import NOTHING
from sds_conformance.judging.garbage import rare_garbage_collection
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols import default
from sds_harness.files import write_whole
from sds_harness.schedules.worlds import AlphabetPart
from sds_harness.sds.alphabet import REPAIR

REPAIRS = "SDS-R-"
"""Prefix of the requirements of SDS-R."""


PLAIN = frozenset({"send", "sync", "ephemeral", "time", "arrive", "twice"})
"""Events of participants and the network only."""
_COUNT = re.compile(r"-\d+$")
_TIME = re.compile(r"-3[12]$|clock|second|hour|day|patience|early|period|timers|resen[dt]|give-up")


@dataclass(frozen=True)
class Death:
    """The shortest schedule that finds a mutant."""

    events: int
    names: tuple[str, ...]
    """Names of its events."""

    @property
    def plain(self) -> bool:
        """Does the schedule need only participants and the network?"""
        return PLAIN.issuperset(self.names)


def shortest(name: str, events: int, alphabet: tuple[AlphabetPart, ...]) -> Death | None:
    """The shortest schedule that finds a mutant; None if no schedule of at most ``events`` events does."""
    found = None
    if not default().model.mutants[name].requirement.startswith(REPAIRS):
        found = _shortest(name, events, tuple(part.without(REPAIR) for part in alphabet))
    return found or _shortest(name, events, alphabet)


def _shortest(name: str, events: int, wanted: tuple[AlphabetPart, ...]) -> Death | None:
    mutant = default().model.mutants[name]
    campaign = order_for(mutant)
    order = Exhaustion(
        campaign.connect, revision=campaign.revision, include_notes=campaign.include_notes, alphabet=wanted
    )
    cast_under_test = order.make_cast_under_test()
    try:
        order = order.restrict_to(cast_under_test.start())
        prober = Prober(order, cast_under_test)
        for bound in range(1, events + 1):
            for index, word in enumerate(order.world.words(bound)):
                share = ChunkResults(CampaignTally(cast_under_test.declaration), bound)
                prober.probe(word, index, share)
                found = share.tally.found
                if mutant.requirement in found or any(f.severity is not Verdict.PASS for f in found.values()):
                    return Death(bound, tuple(order.world.kinds[event.kind].name for event in word))
    except NotPlayedError:
        return None
    finally:
        cast_under_test.kill()
    return None


def deaths_of(names: list[str], play: Any, jobs: int | None, minutes: float) -> Iterator[tuple[str, Death | None]]:
    """Yield the mutants as they finish. No mutant is started after this many ``minutes``."""
    until = time.monotonic() + 60 * minutes
    left = iter(names)
    with ProcessPoolExecutor(jobs) as pool:
        running = {pool.submit(play, name): name for name in islice(left, jobs or 1)}
        while running:
            done = next(as_completed(running))
            yield running.pop(done), done.result()
            running |= {pool.submit(play, name): name for name in islice(left, int(time.monotonic() < until))}


class Kept:
    """The results of earlier runs, in a file."""

    def __init__(self, file: Path | None, alphabet: tuple[AlphabetPart, ...], events: int) -> None:
        """Read the results in ``file``, if it exists. Raises ValueError if they are for another alphabet or number of
        events.
        """
        self._file = file
        self._about = {"alphabet": list(map(str, alphabet)), "events": events}
        self.deaths: dict[str, Death | None] = {}
        if file is not None and file.exists():
            kept = json.loads(file.read_text())
            if {key: kept[key] for key in self._about} != self._about:
                raise ValueError(
                    f"{file} has results for other schedules, of up to {kept['events']} events of "
                    f"{'; '.join(kept['alphabet'])}: name another file"
                )
            self.deaths = {
                name: Death(d["events"], tuple(d["names"])) if d else None for name, d in kept["mutants"].items()
            }

    def take(self, name: str, death: Death | None) -> None:
        """Add the result of the mutant ``name``, and write the file."""
        self.deaths[name] = death
        if self._file is not None:
            found = {name: asdict(death) if death is not None else None for name, death in self.deaths.items()}
            write_whole(self._file, json.dumps({**self._about, "mutants": found}, indent=1) + "\n")


def needs(name: str) -> str:
    """The kind of schedule that a surviving mutant needs, guessed from its name."""
    if _TIME.search(name):
        return "time"
    return "size or count" if _COUNT.search(name) else "another situation"


def price(events: int, alphabet: tuple[AlphabetPart, ...]) -> list[tuple[int, float]]:
    """For each maximum number of events, the number of schedules and the seconds that they take."""
    order = Exhaustion(lambda _: default().model.reference(NOTHING), alphabet=alphabet)
    cast_under_test = order.make_cast_under_test()
    out = []
    try:
        order = order.restrict_to(cast_under_test.start())
        for bound in range(1, events + 1):
            began = time.perf_counter()
            with rare_garbage_collection():
                for _ in play_chunks(order, cast_under_test, [Task(bound, 0)]):
                    pass
            out.append((order.world.count(bound), time.perf_counter() - began))
    finally:
        cast_under_test.kill()
    return out


def main() -> None:
    """Run the measurement that the command line describes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    letters = alphabet_of(default().rules.current)
    parser.add_argument("--events", type=int, default=4)
    parser.add_argument("--alphabet", nargs="+", metavar="NAMES[:K]", default=[str(part) for part in letters.usual])
    parser.add_argument("--only", default="*", metavar="GLOB")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", type=Path, metavar="FILE")
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    alphabet = tuple(map(AlphabetPart.read, arguments.alphabet))
    if unknown := letters.unknown(alphabet):
        parser.error(f"unknown event {unknown[0]}: events are {', '.join(letters.names)}")
    mutants = [name for name in names_to_hunt()[0] if fnmatchcase(name, arguments.only)]
    play = partial(shortest, events=arguments.events, alphabet=alphabet)
    try:
        kept = Kept(arguments.keep, alphabet, arguments.events)
    except ValueError as error:
        parser.error(str(error))
    left = [name for name in mutants if name not in kept.deaths]
    for name, death in deaths_of(left, play, arguments.jobs, arguments.minutes):
        kept.take(name, death)
    if missing := sum(name not in kept.deaths for name in mutants):
        print(f"{missing} of {len(mutants)} mutants were not played: run the same command again to continue.")
        return
    deaths = {name: kept.deaths[name] for name in mutants}
    paid = price(arguments.events, alphabet)
    if arguments.json:
        bounds = [{"events": n, "schedules": s, "seconds": t} for n, (s, t) in enumerate(paid, 1)]
        found = {name: asdict(death) if death is not None else None for name, death in deaths.items()}
        print(json.dumps({"alphabet": list(map(str, alphabet)), "bounds": bounds, "mutants": found}, indent=1))
        return
    requirements = {name: default().model.mutants[name].requirement for name in mutants}
    repairs = {name for name in mutants if requirements[name].startswith(REPAIRS)}
    core = set(mutants) - repairs
    print(f"Alphabet: {'; '.join(map(str, alphabet))}\n")
    print("| events | schedules | seconds | dead mutants of core SDS | by participants only | dead mutants of SDS-R |")
    print("|---:|---:|---:|---:|---:|---:|")
    for events, (schedules, seconds) in enumerate(paid, 1):
        dead = {name: death for name, death in deaths.items() if death is not None and death.events <= events}
        plain = sum(death.plain for name, death in dead.items() if name in core)
        of_core, of_repairs = (f"{len(dead.keys() & some)} of {len(some)}" for some in (core, repairs))
        print(f"| {events} | {schedules:,} | {seconds:.1f} | {of_core} | {plain} | {of_repairs} |")
    print("\nAlive:\n")
    alive: dict[str, list[str]] = {}
    for name in sorted(core):
        if deaths[name] is None:
            alive.setdefault(needs(name), []).append(name)
    for kind, names in alive.items():
        print(f"- {kind}, {len(names)}: {', '.join(names)}")


if __name__ == "__main__":
    main()
