"""Measures how the time of generated schedules is divided among the implementation, the harness, and judging or
recording.

    python harness/benchmarks/schedules.py [--schedules N] [--framing json|binary] [--record] [-- COMMAND]

Without COMMAND the reference model is driven. The share of the implementation is the time between a request and its
reply, which includes transporting both. With --record, schedules are written to a corpus instead of being judged; this
needs the extra `spark`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

from sds_conformance.exploration.assessment import Scope, assess
from sds_conformance.exploration.campaign import CampaignOrder
from sds_conformance.judging.garbage import garbage_collected_at_end, rare_garbage_collection
from sds_harness.link import Limits, StdioLink
from sds_harness.schedules import GroupTrace
from sds_harness.sds.generator import generate_schedule
from sds_testee.framing import Framing


class TimedLink(StdioLink):
    """A link that measures how long the implementation takes."""

    seconds = 0.0

    def call(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        began = time.perf_counter()
        try:
            return super().call(request, timeout_s, reply)
        finally:
            self.seconds += time.perf_counter() - began


Work = Callable[[int, GroupTrace, tuple[str, ...]], object]
"""Called with each group trace: its number, the group trace, and the judged members."""


@contextmanager
def recording() -> Iterator[Work]:
    """Yields a function that writes a group trace into a shard of a corpus, as a Spark task of `corpus record` does."""
    from sds_harness.corpus.jobs import settle_garbage
    from sds_harness.corpus.manifest import SIDE, STEPS
    from sds_harness.corpus.place import Place
    from sds_harness.corpus.rows import rows_of
    from sds_harness.corpus.shards import ShardWriter
    from sds_harness.sds.corpora import KIND

    settle_garbage()
    with tempfile.TemporaryDirectory() as folder:
        place = Place.from_name(folder)
        for name in (STEPS, SIDE):
            (place / name).make()
        with ShardWriter(place, 0, KIND.columns) as writer:
            yield lambda index, group_trace, judged: writer.add(rows_of(KIND, group_trace, index, judged))


@contextmanager
def judging(scope: Scope) -> Iterator[Work]:
    """Yields a function that judges a group trace, as a worker of `fuzz` does."""
    with rare_garbage_collection():
        yield partial(judge, scope)


def judge(scope: Scope, index: int, group_trace: GroupTrace, judged: tuple[str, ...]) -> None:
    """Judge one group trace with all checks that fit to it. ``index`` is not used."""
    assess(group_trace, scope, judged)


def measure(command: tuple[str, ...], framing: Framing, examples: int, *, record: bool, as_json: bool) -> None:
    """Play the schedules, and print how the time was divided."""
    links: list[TimedLink] = []

    def connect(variables: Mapping[str, str]) -> TimedLink:
        links.append(TimedLink(command, framing, Limits(), variables))
        return links[-1]

    order = CampaignOrder(connect, examples=examples)
    cast_under_test = order.cast_under_test()
    cast_under_test.start()
    before = sum(link.seconds for link in links)
    generating = playing = working = 0.0
    steps = 0
    try:
        with recording() if record else judging(order.scope) as work:
            for index in range(examples):
                times = [time.perf_counter()]
                schedule = generate_schedule(order.seed, index)
                times.append(time.perf_counter())
                group_trace = cast_under_test.play(schedule)
                times.append(time.perf_counter())
                with nullcontext() if record else garbage_collected_at_end():
                    work(index, group_trace, cast_under_test.participants_under_test(schedule))
                    steps += group_trace.steps
                    del group_trace
                times.append(time.perf_counter())
                generating += times[1] - times[0]
                playing += times[2] - times[1]
                working += times[3] - times[2]
            began = time.perf_counter()
        working += time.perf_counter() - began
    finally:
        cast_under_test.kill()
    answering = sum(link.seconds for link in links) - before
    shares = {
        "generating schedules": generating,
        "the implementation and the transport": answering,
        "driving it, with the simulated network": playing - answering,
        "recording" if record else "judging": working,
    }
    whole = sum(shares.values())
    if as_json:
        print(json.dumps({"schedules": examples, "steps": steps, "seconds": whole, "shares": shares}, indent=2))
        return
    print(f"{' '.join(command)}, {framing.value}: {examples} schedules, {steps} steps, {whole:.1f} s on one processor")
    for what, seconds in shares.items():
        print(f"  {what:<42} {seconds:7.2f} s  {100 * seconds / whole:4.0f} %  {1e6 * seconds / steps:6.0f} us a step")


def main() -> None:
    """Run the measurement that the command line describes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schedules", type=int, default=200)
    parser.add_argument("--framing", choices=[framing.value for framing in Framing], default="json")
    parser.add_argument("--record", action="store_true", help="write a corpus instead of judging")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("command", nargs="*")
    arguments = parser.parse_args()
    command = tuple(arguments.command) or (sys.executable, "-m", "sds_reference")
    measure(command, Framing(arguments.framing), arguments.schedules, record=arguments.record, as_json=arguments.json)


if __name__ == "__main__":
    main()
