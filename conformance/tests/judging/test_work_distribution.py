"""Several processes play the units of a run, with the same result as one process."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from run_helpers import SHORT, plan, reference_command
from sds_conformance.judging.certification import Certification, certify
from sds_conformance.judging.exits import Exit
from sds_conformance.judging.plan import Plan
from sds_conformance.judging.verdict import Verdict
from sds_conformance.judging.work_distribution import FEWEST
from sds_conformance.presentation.invocation import Invocation
from sds_conformance.protocols import rules_of
from sds_conformance.reports.document import document
from sds_harness.link import Limits, Link
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference.mutants import MUTANTS
from shared_runs import only_here, started

MUTANT = "log-by-arrival"
FEW = SHORT[: FEWEST + 2]


def _played(jobs: int, connect: Any = None, what: Plan | None = None, **more: Any) -> Certification:
    connect = connect or partial(started, reference_command("--mutant", MUTANT), None)
    what = what or plan(scenarios=FEW, environments=["plain", "equal-contents"])
    return certify(connect, what, Limits(), jobs=jobs, rules_of=rules_of, **more)


def _told(outcome: Certification) -> str:
    data = {**document(outcome, Invocation(("x",))), "started": ""}
    traces = {name: list(trace.to_json_lines()) for name, trace in outcome.traces.items()}
    return re.sub(r'"seconds": [\d.]+', "", json.dumps([data, traces], ensure_ascii=False))


def working() -> list[psutil.Process]:
    """Child processes that work for this one or are zombies: forks of the fork server, which lives as long as this
    process."""
    forking = [child for child in psutil.Process().children() if "forkserver" in " ".join(child.cmdline())]
    return [worker for one in forking for worker in one.children()]


def test_the_report_is_the_same_however_many_play(tmp_path: Path) -> None:
    assert MUTANT in MUTANTS
    assert len(plan(scenarios=FEW, environments=["plain", "equal-contents"]).runs) >= 2 * FEWEST
    began: list[str] = []
    alone = _played(1)
    connect = partial(started, reference_command("--mutant", MUTANT), tmp_path)
    shared = _played(2, connect, progress=lambda run, number, total: began.append(run))
    assert len(list(tmp_path.iterdir())) == 2
    assert alone.count(Verdict.FAIL)
    assert _told(alone) == _told(shared)
    assert set(began) == set(shared.played_runs)


def test_one_that_cannot_run_twice_is_not() -> None:
    here = os.getpid()
    connect = partial(only_here, reference_command(), here)

    def alone(variables: Mapping[str, str]) -> Link:
        link = connect(variables)
        call = link.call

        def declares(request: pb.Request, timeout_s: float, reply: type[Any]) -> Any:
            answered = call(request, timeout_s, reply)
            if answered.HasField("hello"):
                answered.hello.alone = True
            return answered

        link.call = declares  # type: ignore[method-assign]
        return link

    outcome = _played(2, alone)
    assert (outcome.declaration.alone, outcome.exit_code) == (True, Exit.CONFORMANT)
    assert len(outcome.played_runs) == len(outcome.plan.runs)


def test_a_process_of_ours_that_is_killed_is_our_fault_and_the_rest_stands() -> None:
    outcome = _played(2, partial(only_here, reference_command(), os.getpid()))
    assert outcome.exit_code == Exit.OURS
    wrong = [verdict for verdict in outcome.verdicts if verdict.verdict is Verdict.ERROR]
    assert wrong
    assert all(
        "a process of the suite ended before its work was done (exit codes: -9)" in verdict.reason for verdict in wrong
    )
    assert 0 < len(outcome.played_runs) < len(outcome.plan.runs)
    assert any(verdict.verdict is Verdict.PASS for verdict in outcome.verdicts)


def test_an_interrupt_ends_all_and_what_was_played_is_judged() -> None:
    def interrupts(run: str, number: int, total: int) -> None:
        if number > 10:
            time.sleep(0.2)  # meanwhile more runs are finished, which the main process does not wait for
            raise KeyboardInterrupt

    outcome = _played(2, progress=interrupts)
    assert outcome.interrupted
    assert 10 <= len(outcome.played_runs) < len(outcome.plan.runs)
    assert any(verdict.exercised for verdict in outcome.verdicts)
    assert not working()


LARGE = 18_752
"""Bytes of a full-size filter."""
_MEASURED = f"""
import resource, sys
sys.path[:0] = {[str(Path(__file__).parent.parent)]!r}
from run_helpers import altered, plan, reference
from sds_conformance.judging.certification import certify
from sds_harness.link import Limits, LocalLink
from sds_reference import decode, encode
from dataclasses import replace

def large(request, reply):
    raws = [replace(decode(raw), bloom_filter=bytes({LARGE})) for raw in reply.effects.broadcasts]
    if raws:
        del reply.effects.broadcasts[:]
        reply.effects.broadcasts.extend(map(encode, raws))

LONG = ["many-own-messages-unacknowledged", "a-thousand-messages"]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
outcome = certify(lambda _: LocalLink(altered(large)), plan(scenarios=LONG), Limits())
assert outcome.steps > 2000, outcome.steps
print(before // 1024, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss counts in another unit elsewhere")
def test_large_filters_do_not_fill_the_memory() -> None:
    done = subprocess.run([sys.executable, "-c", _MEASURED], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    before, most = map(int, done.stdout.split())
    assert most - before < 256, (before, most)
