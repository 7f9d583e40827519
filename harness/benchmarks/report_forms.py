"""Measures the cost of all forms of reports, compared with the run from which they are made.

Plays an implementation once, makes every form of report from the result, and prints the seconds of both and the ratio.
Then it makes the reports again from the files that `run --report` writes.

    python harness/benchmarks/report_forms.py
    python harness/benchmarks/report_forms.py --environment plain -- node harness/adapters/waku-sds/adapter.mjs
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from sds_conformance.cli.report import FORMS, render
from sds_conformance.judging.certification import certify
from sds_conformance.judging.plan import plan
from sds_conformance.presentation.invocation import Invocation
from sds_conformance.protocols import default
from sds_conformance.reports.files import read_report, write_report
from sds_conformance.reports.report import Report
from sds_harness.link import Limits, StdioLink
from sds_testee.framing import Framing

R = TypeVar("R")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--environment", default="*", metavar="GLOB")
    parser.add_argument("--scenario", action="append", default=[], metavar="GLOB", help="play only matching scenarios")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("command", nargs="*", default=[sys.executable, "-m", "sds_reference"])
    asked = parser.parse_args()
    command, limits = tuple(asked.command), Limits()
    what = plan(default().rules, environments=[asked.environment], scenarios=asked.scenario)
    playing, outcome = timed(lambda: certify(lambda _: StdioLink(command, Framing.JSON, limits), what, limits))
    report = Report.from_outcome(outcome, Invocation(command))
    rows = {"run": playing}
    with TemporaryDirectory() as folder:
        rows["report.json, report.jsonl, traces"], _ = timed(lambda: write_report(Path(folder), report))
        for form in (*FORMS, "annotations"):
            rows[form], _ = timed(partial(render, form, report))
        later, _ = timed(lambda: [render(form, read_report(Path(folder))) for form in FORMS])
    forms = sum(rows.values()) - playing
    ratio = (playing + forms) / playing
    if asked.json:
        measured = {"name": outcome.declaration.name, "seconds": rows, "run": playing, "forms": forms, "ratio": ratio}
        print(json.dumps(measured | {"later": later}, indent=2))
        return
    print(f"{outcome.declaration.name}: {outcome.runs} runs, {outcome.steps} steps")
    for name, seconds in rows.items():
        print(f"  {name:<34} {seconds:8.2f} s")
    print(f"  run with all forms / run alone     {ratio:8.3f}")
    print(f"  all forms from stored reports      {later:8.2f} s")


def timed(work: Callable[[], R]) -> tuple[float, R]:
    """Seconds of wall time, and the result."""
    before = time.perf_counter()
    out = work()
    return time.perf_counter() - before, out


if __name__ == "__main__":
    main()
