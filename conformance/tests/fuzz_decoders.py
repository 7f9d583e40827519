"""Fuzzes the decoders: python conformance/tests/fuzz_decoders.py --format reports --seconds 600

Prints each distinct failure once, with its count and the `Attempt` that reproduces it with --again. --out keeps the
mutated inputs. The exit code is 1 if anything failed.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

sys.path.insert(0, str(Path(__file__).parent))

from fuzzed_formats import FORMATS
from fuzzing import Attempt, Format, Replies
from mutations import Mutation

_A_BATCH = 100
"""Attempts of one run of Hypothesis, which keeps all of them in memory."""
_ADDRESS_SPACE = 12 << 30


@dataclass
class Outcome:
    """The failures of many attempts."""

    tried: int = 0
    found: Counter[str] = field(default_factory=Counter)
    first: dict[str, Attempt] = field(default_factory=dict)
    """The first attempt with each failure."""


def fuzz(form: Format | Replies, seconds: float, start: int, save: Callable[[int], Path | None]) -> Outcome:
    """Fuzz a format for so many seconds."""
    outcome, end, number = Outcome(), time.monotonic() + seconds, start

    def attempt_(attempt: Attempt) -> None:
        if time.monotonic() > end:
            return
        outcome.tried += 1
        wrong = form.attempted(attempt, save(len(outcome.found)))
        if wrong:
            outcome.found[wrong] += 1
            if wrong not in outcome.first:
                outcome.first[wrong] = attempt
                print(f"NEW {wrong}\n    {attempt}", flush=True)

    while time.monotonic() < end:
        how = settings(
            max_examples=_A_BATCH,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        how(seed(number)(given(form.attempts())(attempt_)))()
        number += 1
    return outcome


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--format", choices=list(FORMATS), action="append", help="the format to fuzz; may be repeated (default: all)"
    )
    parser.add_argument("--seconds", type=float, default=600, help="for each format (default: 600)")
    parser.add_argument("--seed", type=int, default=0, help="of the mutations (default: 0)")
    parser.add_argument("--out", type=Path, help="keep the inputs of failures in this folder")
    parser.add_argument("--again", help="reproduce this Attempt, as it was printed")
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, _ADDRESS_SPACE))
    failed = False
    for name in arguments.format or FORMATS:
        form = FORMATS[name]
        if arguments.again:
            attempt = eval(arguments.again, {"Attempt": Attempt, "Mutation": Mutation})
            print(form.attempted(attempt, arguments.out) or "nothing is wrong")
            continue

        def folder(number: int, name: str = name) -> Path | None:
            return arguments.out / name / str(number) if arguments.out else None

        outcome = fuzz(form, arguments.seconds, arguments.seed, folder)
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        print(f"{name}: {outcome.tried} inputs, {len(outcome.found)} failures, at most {used} MiB", flush=True)
        for wrong, times in outcome.found.most_common():
            print(f"  {times} times: {wrong}\n    {outcome.first[wrong]}")
        failed = failed or bool(outcome.found)
    sys.exit(failed)


if __name__ == "__main__":
    main()
