"""What it buys to play every schedule of a small world: how many mutants are dead after each bound, and at what price.

    python harness/benchmarks/small_worlds.py [--events K] [--alphabet NAMES] [--only GLOB] [--jobs N] [--json]

Each mutant plays all schedules, the shortest first, until something is found against it; those of core SDS without
SDS-R. Schedules and seconds are those of an implementation without a fault, in this process, alone.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from fnmatch import fnmatchcase
from functools import partial

from sds_conformance.exploration.exhaustion import Exhaustion, Task, shares, worlds_of
from sds_conformance.exploration.hunt import huntable, order_for
from sds_conformance.judging.exercise import NOTHING
from sds_conformance.judging.garbage import rarely_collecting
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols import default
from sds_harness.sds.alphabet import REPAIR

REPAIRS = "SDS-R-"
"""How requirements of SDS-R begin."""


def shortest(name: str, events: int, alphabet: tuple[str, ...]) -> int:
    """The events of the shortest schedule that finds a mutant; 0 if none of at most so many does."""
    mutant = default().model.mutants[name]
    campaign = order_for(mutant)
    wanted = alphabet if mutant.requirement.startswith(REPAIRS) else tuple(n for n in alphabet if n != REPAIR)
    order = Exhaustion(campaign.connect, revision=campaign.revision, told=campaign.told, alphabet=wanted)
    company = order.company()
    try:
        order = order.for_whom(company.start())
        for bound in range(1, events + 1):
            for share in shares(order, company, [Task(bound, 0, frozenset())]):
                found = share.tally.found
                if mutant.requirement in found or any(f.severity is not Verdict.PASS for f in found.values()):
                    return bound
                if share.reason:
                    return 0
    finally:
        company.kill()
    return 0


def price(events: int, alphabet: tuple[str, ...]) -> list[tuple[int, float]]:
    """For each bound: schedules, and the seconds that they take."""
    order = Exhaustion(lambda _: default().model.reference(NOTHING), alphabet=alphabet)
    company = order.company()
    out = []
    try:
        order = order.for_whom(company.start())
        for bound in range(1, events + 1):
            began = time.perf_counter()
            with rarely_collecting():
                for _ in shares(order, company, [Task(bound, 0, frozenset())]):
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
    parser.add_argument("--alphabet", default=",".join(worlds.usual))
    parser.add_argument("--only", default="*", metavar="GLOB")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    alphabet = tuple(arguments.alphabet.split(","))
    if unknown := set(alphabet) - set(worlds.alphabet):
        parser.error(f"there is no event {min(unknown)}, but {', '.join(worlds.alphabet)}")
    mutants = [name for name in huntable()[0] if fnmatchcase(name, arguments.only)]
    play = partial(shortest, events=arguments.events, alphabet=alphabet)
    with ProcessPoolExecutor(arguments.jobs) as pool:
        bounds = dict(zip(mutants, pool.map(play, mutants), strict=True))
    paid = price(arguments.events, alphabet)
    if arguments.json:
        told = [{"events": n, "schedules": s, "seconds": t} for n, (s, t) in enumerate(paid, 1)]
        print(json.dumps({"alphabet": alphabet, "bounds": told, "mutants": bounds}, indent=1))
        return
    requirements = {name: default().model.mutants[name].requirement for name in mutants}
    repairs = {name for name in mutants if requirements[name].startswith(REPAIRS)}
    core = set(mutants) - repairs
    print(f"Alphabet: {', '.join(alphabet)}\n")
    print("| events | schedules | seconds | mutants of core SDS dead | of SDS-R |")
    print("|---:|---:|---:|---:|---:|")
    for events, (schedules, seconds) in enumerate(paid, 1):
        dead = {name for name, bound in bounds.items() if 0 < bound <= events}
        counts = " | ".join(f"{len(dead & some)} of {len(some)}" for some in (core, repairs))
        print(f"| {events} | {schedules:,} | {seconds:.1f} | {counts} |")
    left = Counter(requirements[name].rsplit("-", 1)[0] for name, bound in bounds.items() if not bound)
    print(
        f"\nAlive, by section: {', '.join(f'{section} {number}' for section, number in left.most_common()) or 'none'}"
    )


if __name__ == "__main__":
    main()
