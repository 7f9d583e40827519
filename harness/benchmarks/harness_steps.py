"""Compares the harness's steps per second with the round trips per second of a bare pipe.

In a step, a command goes through Stage, Session and Link to `python -m sds_reference`, the answer comes back, and both
are recorded in a Trace. The echo is a Python child that reads as many bytes as the command has, writes as many as the
answer has, and does nothing else. Both take turns in short rounds, and `ratio` is the median of steps over round trips
within a round. `local` is the throughput of the same steps without a pipe, with the reference in this process: it shows
the cost that is not caused by the pipe. Over gRPC the answer comes from the same reference, but the echo still uses a
pipe: the row of gRPC shows the cost of this transport.

The cost of a round trip depends on where the kernel puts the two processes: on one core it is two context switches, on
two cores each end must be woken up every time. --cores sets this for the echo and for the steps.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from statistics import mean, median
from time import perf_counter

from sds_harness.endpoint import AUTO, Endpoint
from sds_harness.grpc_link import GrpcLink
from sds_harness.link import Limits, Link, LocalLink, StdioLink
from sds_harness.sds.language import SDS, open_session
from sds_harness.sds.stage import Stage
from sds_harness.sds.trace import Trace
from sds_harness.session import Session
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config, build_filter
from sds_reference.testee.server import Testee, TesteeOptions
from sds_testee.framing import Framing

GOAL = 0.5
GRPC = "grpc"
CARRIERS = (Framing.BINARY.value, Framing.JSON.value, GRPC)
COMMAND = [sys.executable, "-m", "sds_reference"]
SMALL = Config(bloom_capacity=500, bloom_error_rate=0.01)
FULL = Config()
ECHO = """
import os, sys
command, answer = int(sys.argv[1]), bytes(int(sys.argv[2]))
while True:
    left = command
    while left:
        chunk = os.read(0, 65536)
        if not chunk:
            sys.exit()
        left -= len(chunk)
    view = memoryview(answer)
    while view:
        view = view[os.write(1, view) :]
"""


@dataclass(frozen=True)
class Workload:
    """Commands that are sent and timed, again and again in this order."""

    name: str
    commands: tuple[str, ...]
    filters: Config
    goal: bool
    """Whether the ratio of this workload in binary framing must be at least ``GOAL``."""


WORKLOADS = (
    Workload("tick", ("tick",), SMALL, True),
    Workload("receive", ("receive",), SMALL, True),
    Workload("send", ("send",), SMALL, True),
    Workload("mixed", ("tick", "receive", "send", "receive"), SMALL, True),
    Workload("mixed, full-size filters", ("tick", "receive", "send", "receive"), FULL, False),
)


class Play:
    """One schedule on one session: alice is under test, and bob acknowledges her messages."""

    def __init__(self, session: Session, workload: Workload, steps: int) -> None:
        self.stage = Stage(session, workload.name)
        filters = workload.filters
        asked = pb.Configuration(bloom_capacity=filters.bloom_capacity, bloom_error_rate=filters.bloom_error_rate)
        self._alice = self.stage.open("alice", configuration=asked)
        bloom_filter = build_filter(filters.bloom_profile, filters.bloom_parameters, ["bob-0"])
        self._steps = iter(list(self._write(workload, steps, bloom_filter)))

    def _write(self, workload: Workload, steps: int, bloom_filter: bytes) -> Iterator[Callable[[], object]]:
        """The steps, with bob's messages written in advance."""
        alice, bob, now_ms = self._alice, self.stage.peer("bob"), self.stage.now_ms
        sent: tuple[str, ...] = ()
        for number, command in zip(range(steps), cycle(workload.commands), strict=False):
            if command == "tick":
                yield alice.tick
            elif command == "send":
                sent = (f"alice-{number}",)
                yield partial(alice.send, message_id=sent[0])
            else:
                yield partial(alice.receive, bob.content(now_ms + number, *sent, bloom_filter=bloom_filter))

    def run(self, steps: int) -> float:
        """Run this many steps. Returns the seconds."""
        stage = self.stage
        started = perf_counter()
        for step in islice(self._steps, steps):
            stage.advance(1)
            step()
        return perf_counter() - started


class Cores:
    """Pins this process and its children to one or two cores. With a ``count`` of 0, the kernel chooses the cores."""

    def __init__(self, count: int) -> None:
        self._child: set[int] = set()
        if count:
            available = sorted(os.sched_getaffinity(0))
            if count > len(available):
                raise SystemExit(f"--cores {count}: this process may use only {len(available)} cores")
            os.sched_setaffinity(0, {available[0]})
            self._child = {available[count - 1]}

    def place(self, pid: int) -> None:
        """Pin a child with all its threads."""
        for thread in os.listdir(f"/proc/{pid}/task") if self._child else ():
            os.sched_setaffinity(int(thread), self._child)


def carried(carrier: str, cores: Cores) -> Session:
    """A session over ``carrier`` (gRPC, or a pipe with a framing), with the reference in its own process."""
    limits = Limits()

    def connect() -> Link:
        if carrier == GRPC:
            link: StdioLink | GrpcLink = GrpcLink(Endpoint(AUTO, SDS.service, started=True), COMMAND, limits)
        else:
            link = StdioLink(COMMAND, Framing(carrier), limits)
        assert link.pid is not None
        cores.place(link.pid)
        return link

    return open_session(connect, limits, FULL.revision.name)


def local() -> Session:
    """A session with the reference in this process, without a pipe."""
    testee = Testee(TesteeOptions("benchmark"))
    return open_session(lambda: LocalLink(testee.handle), Limits(), FULL.revision.name)


def time_steps(session: Session, workload: Workload, steps: int) -> tuple[float, Trace]:
    """Steps per second, and the recorded trace."""
    try:
        play = Play(session, workload, 2 * steps)
        play.run(steps // 10)
        rate = steps / play.run(steps)
    finally:
        session.kill()
    return rate, play.stage.trace


def time_echo(sent: int, answered: int, cores: Cores, trips: int) -> float:
    """Round trips per second with an echo that reads ``sent`` bytes and writes ``answered`` bytes."""
    echo = [sys.executable, "-c", ECHO, str(sent), str(answered)]
    with subprocess.Popen(echo, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as child:
        assert child.stdin
        assert child.stdout
        cores.place(child.pid)
        stdin, stdout, command = child.stdin.fileno(), child.stdout.fileno(), bytes(sent)

        def round_trips(count: int) -> None:
            for _ in range(count):
                os.write(stdin, command)
                left = answered
                while left:
                    left -= len(os.read(stdout, 65536))

        round_trips(trips // 10)
        started = perf_counter()
        round_trips(trips)
        return trips / (perf_counter() - started)


def frame_sizes(trace: Trace, carrier: str) -> tuple[int, int]:
    """Mean length of a command and of an answer. gRPC puts 5 bytes before each message, and binary framing puts 4."""
    framing = Framing.BINARY if carrier == GRPC else Framing(carrier)
    steps = [step for step in trace.steps if step.reply is not None][-100:]
    sent = [len(framing.pack(step.request)) for step in steps]
    answered = [len(framing.pack(step.reply)) for step in steps if step.reply is not None]
    return round(mean(sent)), round(mean(answered))


def measure(workload: Workload, carrier: str, cores: Cores, steps: int, rounds: int) -> dict[str, object]:
    """Measure a workload over a carrier; return the row of the table."""
    echo, stepping, alone, ratios = [], [], [], []
    sent = answered = 0
    for _ in range(rounds):
        rate, trace = time_steps(carried(carrier, cores), workload, steps)
        sent, answered = frame_sizes(trace, carrier)
        trips = time_echo(sent, answered, cores, steps)
        echo.append(trips)
        stepping.append(rate)
        ratios.append(rate / trips)
        alone.append(time_steps(local(), workload, steps)[0])
    return {
        "workload": workload.name,
        "carrier": carrier,
        "sent": sent,
        "answered": answered,
        "echo_per_second": round(median(echo)),
        "steps_per_second": round(median(stepping)),
        "ratio": round(median(ratios), 2),
        "local_per_second": round(median(alone)),
        "goal": GOAL if workload.goal and carrier == Framing.BINARY.value else None,
    }


def verdict(row: dict[str, object]) -> str:
    if row["goal"] is None:
        return ""
    return f"goal {GOAL} met" if float(str(row["ratio"])) >= GOAL else f"goal {GOAL} missed"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--steps", type=int, default=2_000, help="number of steps, and of round trips, in a round (%(default)s)"
    )
    parser.add_argument(
        "--rounds", type=int, default=7, help="number of rounds; the result is their median (%(default)s)"
    )
    parser.add_argument("--carrier", choices=CARRIERS, help="measure only this transport")
    parser.add_argument("--cores", type=int, choices=[1, 2], default=0, help="number of cores for both processes")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()
    carriers = [arguments.carrier] if arguments.carrier else CARRIERS
    cores = Cores(arguments.cores)
    rows = [measure(w, carrier, cores, arguments.steps, arguments.rounds) for w in WORKLOADS for carrier in carriers]
    if arguments.json:
        print(json.dumps({"benchmark": "harness_steps", "rows": rows}, indent=2))
        return 0
    print(
        f"{'workload':<26}{'carrier':<8}{'sent':>7}{'answered':>9}{'echo/s':>9}{'steps/s':>9}{'ratio':>7}{'local/s':>10}"
    )
    for row in rows:
        print(f"{row['workload']:<26}{row['carrier']:<8}{row['sent']:>7,}{row['answered']:>9,}", end="")
        print(f"{row['echo_per_second']:>9,}{row['steps_per_second']:>9,}{row['ratio']:>7}", end="")
        print(f"{row['local_per_second']:>10,}  {verdict(row)}".rstrip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
