"""Fuzzes the decoders: python conformance/tests/fuzz_decoders.py --format reports --seconds 600

Prints each distinct failure once, with the `Attempt` that reproduces it with --again. --out keeps the mutated inputs.
The exit code is 1 if anything failed.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

sys.path.insert(0, str(Path(__file__).parent))

from fuzzed_formats import FORMATS
from fuzzing import Attempt
from mutations import Mutation

_A_BATCH = 100
"""Attempts of one run of Hypothesis, which keeps all of them in memory."""
_ADDRESS_SPACE = 12 << 30


def fuzz(name: str, seconds: float, number: int, out: Path | None) -> bool:
    """Fuzz a format for so many seconds. True if anything failed."""
    form, end, found, tried = FORMATS[name], time.monotonic() + seconds, set[str](), 0

    def try_out(attempt: Attempt) -> None:
        nonlocal tried
        if time.monotonic() > end:
            return
        tried += 1
        wrong = form.attempted(attempt, out and out / name / str(len(found)))
        if wrong and wrong not in found:
            found.add(wrong)
            print(f"NEW {wrong}\n    {attempt}", flush=True)

    how = settings(
        max_examples=_A_BATCH,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    while time.monotonic() < end:
        how(seed(number)(given(form.attempts())(try_out)))()
        number += 1
    print(f"{name}: {tried} inputs, {len(found)} failures", flush=True)
    return bool(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--format", choices=list(FORMATS), action="append", help="the format to fuzz; may be repeated (default: all)"
    )
    parser.add_argument("--seconds", type=float, default=600, help="for each format (default: 600)")
    parser.add_argument("--seed", type=int, default=0, help="of the mutations (default: 0)")
    parser.add_argument("--out", type=Path, help="keep the inputs of failures in this folder")
    parser.add_argument("--again", help="reproduce this Attempt, as it was printed")
    given_ = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, _ADDRESS_SPACE))
    names = given_.format or list(FORMATS)
    if given_.again:
        attempt = eval(given_.again, {"Attempt": Attempt, "Mutation": Mutation})
        for name in names:
            print(FORMATS[name].attempted(attempt, given_.out) or "nothing is wrong")
        return
    failed = [fuzz(name, given_.seconds, given_.seed, given_.out) for name in names]
    sys.exit(any(failed))


if __name__ == "__main__":
    main()
