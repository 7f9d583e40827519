"""What it buys to play every schedule of a small world: how many mutants are dead after each bound, and at what price.

    python harness/benchmarks/small_worlds.py [--events K] [--alphabet NAMES[:K] ...] [--only GLOB] [--jobs N]
                                              [--keep FILE [--minutes M]] [--json]

Each mutant plays all schedules, the shortest first, until something is found against it; those of core SDS without
SDS-R, and with it where nothing is found so. Schedules and seconds are those of an implementation without a fault, in
this process, alone.

With ``--keep`` it goes on where it was: what FILE says of a mutant is not asked again. With ``--minutes`` no mutant is
begun after so long; the table is printed when there is no mutant left.
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

from sds_conformance.exploration.campaign import Tally
from sds_conformance.exploration.casts import NotPlayed
from sds_conformance.exploration.exhaustion import Exhaustion, Prober, Share, Task, shares, worlds_of
from sds_conformance.exploration.hunt import huntable, order_for
from sds_conformance.judging.exercise import NOTHING
from sds_conformance.judging.garbage import rarely_collecting
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols import default
from sds_harness.files import write_whole
from sds_harness.schedules.worlds import Part
from sds_harness.sds.alphabet import REPAIR

REPAIRS = "SDS-R-"
"""How requirements of SDS-R begin."""


PLAIN = frozenset({"send", "sync", "ephemeral", "time", "arrive", "twice"})
"""What participants do and the network does to them."""
_COUNT = re.compile(r"-\d+$")
_TIME = re.compile(r"-3[12]$|clock|second|hour|day|patience|early|period|timers|resen[dt]|give-up")


@dataclass(frozen=True)
class Death:
    """The shortest schedule that finds a mutant."""

    events: int
    names: tuple[str, ...]
    """Of its events."""

    @property
    def plain(self) -> bool:
        """Does it take nobody but participants and the network?"""
        return PLAIN.issuperset(self.names)


def shortest(name: str, events: int, alphabet: tuple[Part, ...]) -> Death | None:
    """The shortest schedule that finds a mutant, None if none of at most so many events does."""
    found = None
    if not default().model.mutants[name].requirement.startswith(REPAIRS):
        found = _shortest(name, events, tuple(part.without(REPAIR) for part in alphabet))
    return found or _shortest(name, events, alphabet)


def _shortest(name: str, events: int, wanted: tuple[Part, ...]) -> Death | None:
    mutant = default().model.mutants[name]
    campaign = order_for(mutant)
    order = Exhaustion(campaign.connect, revision=campaign.revision, told=campaign.told, alphabet=wanted)
    company = order.rehearsed()
    try:
        order = order.for_whom(company.start())
        prober = Prober(order, company)
        for bound in range(1, events + 1):
            for index, word in enumerate(order.world.words(bound)):
                share = Share(Tally(company.declaration), bound)
                prober.probe(word, index, share)
                found = share.tally.found
                if mutant.requirement in found or any(f.severity is not Verdict.PASS for f in found.values()):
                    return Death(bound, tuple(order.world.kinds[event.kind].name for event in word))
    except NotPlayed:
        return None
    finally:
        company.kill()
    return None


def deaths_of(names: list[str], play: Any, jobs: int | None, minutes: float) -> Iterator[tuple[str, Death | None]]:
    """The mutants as they are done; none is begun after so many minutes."""
    until = time.monotonic() + 60 * minutes
    left = iter(names)
    with ProcessPoolExecutor(jobs) as pool:
        running = {pool.submit(play, name): name for name in islice(left, jobs or 1)}
        while running:
            done = next(as_completed(running))
            yield running.pop(done), done.result()
            running |= {pool.submit(play, name): name for name in islice(left, int(time.monotonic() < until))}


class Kept:
    """What is known of mutants from before, in a file."""

    def __init__(self, file: Path | None, alphabet: tuple[Part, ...], events: int) -> None:
        """Raises ValueError for a file that is about other schedules."""
        self._file = file
        self._about = {"alphabet": list(map(str, alphabet)), "events": events}
        self.deaths: dict[str, Death | None] = {}
        if file is not None and file.exists():
            kept = json.loads(file.read_text())
            if {key: kept[key] for key in self._about} != self._about:
                raise ValueError(f"{file} is about {kept['events']} events of {'; '.join(kept['alphabet'])}")
            self.deaths = {
                name: Death(d["events"], tuple(d["names"])) if d else None for name, d in kept["mutants"].items()
            }

    def take(self, name: str, death: Death | None) -> None:
        """One more."""
        self.deaths[name] = death
        if self._file is not None:
            found = {name: asdict(death) if death is not None else None for name, death in self.deaths.items()}
            write_whole(self._file, json.dumps({**self._about, "mutants": found}, indent=1) + "\n")


def needs(name: str) -> str:
    """What a mutant needs that lives: by its name, which says its size or time where it has one."""
    if _TIME.search(name):
        return "time"
    return "size or count" if _COUNT.search(name) else "another situation"


def price(events: int, alphabet: tuple[Part, ...]) -> list[tuple[int, float]]:
    """For each bound: schedules, and the seconds that they take."""
    order = Exhaustion(lambda _: default().model.reference(NOTHING), alphabet=alphabet)
    company = order.rehearsed()
    out = []
    try:
        order = order.for_whom(company.start())
        for bound in range(1, events + 1):
            began = time.perf_counter()
            with rarely_collecting():
                for _ in shares(order, company, [Task(bound, 0)]):
                    pass
            out.append((order.world.count(bound), time.perf_counter() - began))
    finally:
        company.kill()
    return out


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    worlds = worlds_of(default().rules.current)
    parser.add_argument("--events", type=int, default=4)
    parser.add_argument("--alphabet", nargs="+", metavar="NAMES[:K]", default=[str(part) for part in worlds.usual])
    parser.add_argument("--only", default="*", metavar="GLOB")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", type=Path, metavar="FILE")
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    alphabet = tuple(map(Part.read, arguments.alphabet))
    if unknown := {name for part in alphabet for name in part.names} - set(worlds.alphabet):
        parser.error(f"there is no event {min(unknown)}, but {', '.join(worlds.alphabet)}")
    mutants = [name for name in huntable()[0] if fnmatchcase(name, arguments.only)]
    play = partial(shortest, events=arguments.events, alphabet=alphabet)
    try:
        kept = Kept(arguments.keep, alphabet, arguments.events)
    except ValueError as error:
        parser.error(str(error))
    left = [name for name in mutants if name not in kept.deaths]
    for name, death in deaths_of(left, play, arguments.jobs, arguments.minutes):
        kept.take(name, death)
    if missing := sum(name not in kept.deaths for name in mutants):
        print(f"{missing} of {len(mutants)} mutants are left: the same command goes on.")
        return
    deaths = {name: kept.deaths[name] for name in mutants}
    paid = price(arguments.events, alphabet)
    if arguments.json:
        told = [{"events": n, "schedules": s, "seconds": t} for n, (s, t) in enumerate(paid, 1)]
        found = {name: asdict(death) if death is not None else None for name, death in deaths.items()}
        print(json.dumps({"alphabet": list(map(str, alphabet)), "bounds": told, "mutants": found}, indent=1))
        return
    requirements = {name: default().model.mutants[name].requirement for name in mutants}
    repairs = {name for name in mutants if requirements[name].startswith(REPAIRS)}
    core = set(mutants) - repairs
    print(f"Alphabet: {'; '.join(map(str, alphabet))}\n")
    print("| events | schedules | seconds | mutants of core SDS dead | of these by participants alone | of SDS-R |")
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
