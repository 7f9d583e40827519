"""Compares how fast, and how completely, tools find the differences between two corpora.

    python harness/benchmarks/corpora.py FOLDER --rows N
    python harness/benchmarks/corpora_rivals.py FOLDER [--rivals-python PATH] [--only NAME] [--limit-s N]

Each contestant must name the schedules that differ and the first step at which each differs, in the normative columns
of the compared rows. The contestants run one after the other, each in its own process with two threads: one first run,
then --repeats runs, whose median is reported.

  scan             DuckDB reads both corpora once and hashes every row: a unit of time, which compares nothing
  ours             `corpus diff`, which does not judge the schedules here
  ours-read-all    `corpus diff --read-all`, which uses no digests
  duckdb-join      full outer join in DuckDB on schedule and step, then the least step of each schedule
  spark-join       the join of duckdb-join in PySpark with its defaults
  spark-extension  `diff` of G-Research's spark-extension, then the least step
  datacompy        datacompy's SparkSQLCompare, then the least step

The last two do not work with the PySpark of the suite. They run in the environment of the interpreter that
--rivals-python names: pip install pyspark-extension==2.15.1.4.2 datacompy[spark]==1.1.0 pyspark==4.2.0. CPU seconds are
user and system time of the process and all its descendants, including Java and Python workers.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psutil

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the package `benchmarks` is not installed

from benchmarks.corpora import load
from benchmarks.corpora_contestant import CONTESTANTS, Job
from sds_harness.corpus.errors import SparkMissingError
from sds_harness.corpus.java import Java, find_java
from sds_harness.corpus.manifest import MANIFEST
from sds_harness.sds.corpora import COLUMNS

THREADS = 2
ELSEWHERE = ("spark-extension", "datacompy")
"""Contestants that need their own environment."""
WITHOUT_JAVA = ("scan", "duckdb-join")
FOREIGN = ("SPARK_HOME", "SPARK_CONF_DIR", "PYTHONPATH", "PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT")
"""Environment variables that would make a contestant use another installation of Spark."""
END_S = 10.0
LAST_LINES = 5


class ContestantError(Exception):
    """A contestant failed. The message has the reason."""


@dataclass
class Result:
    """The result of one contestant."""

    start_s: float | None = None
    """Seconds until the contestant was ready to compare: it imports packages, and starts Java and a session of
    Spark."""
    start_cpu_s: float | None = None
    seconds: list[float] = field(default_factory=list)
    """Seconds of each run, including the first."""
    cpu_s: list[float] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    found: set[tuple[int, int]] | None = None
    """Schedules with their first differing steps in the last run; None if the contestant does not compare, or has not
    compared yet."""
    stopped: str = ""
    """The reason why the contestant failed; "" if it did not fail."""

    def median(self, of: list[float]) -> float | None:
        """The median of all runs except the first; the first run if there is no other."""
        return statistics.median(of[1:] or of) if of else None

    def as_json(self, truth: list[dict[str, Any]], unit: Result | None) -> dict[str, Any]:
        """The result as JSON values."""
        out: dict[str, Any] = {
            "versions": self.versions,
            "start_s": self.start_s,
            "start_cpu_s": self.start_cpu_s,
            "first_s": self.seconds[0] if self.seconds else None,
            "seconds": self.median(self.seconds),
            "first_cpu_s": self.cpu_s[0] if self.cpu_s else None,
            "cpu_s": self.median(self.cpu_s),
        }
        for name in ("seconds", "cpu_s"):
            mine, whole = out[name], unit.median(getattr(unit, name)) if unit else None
            out[f"{name}_per_scan"] = mine / whole if mine is not None and whole else None
        out = {name: round(value, 3) if isinstance(value, float) else value for name, value in out.items()}
        if self.found is not None:
            wanted = {(change["schedule"], change["step"]): change["kind"] for change in truth}
            found = Counter(wanted[place] for place in self.found & wanted.keys())
            out |= {"found": found.total(), "of": len(wanted), "false": len(self.found - wanted.keys())}
            out["exact"] = out["found"] == out["of"] and not out["false"]
            out["kinds"] = {
                kind: {"found": found[kind], "of": count} for kind, count in sorted(Counter(wanted.values()).items())
            }
        return out | ({"stopped": self.stopped} if self.stopped else {})


class Contestant:
    """The process of one contestant. All its descendants are killed at the end of the block."""

    def __init__(self, python: Path, job: Job, environment: dict[str, str]) -> None:
        self._log = Path(job.scratch) / "stderr"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [str(python), str(Path(__file__).with_name("corpora_contestant.py"))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=environment,
                cwd=job.scratch,
            )
        self._say(json.dumps(asdict(job)))

    def __enter__(self) -> Contestant:
        return self

    def __exit__(self, *what: object) -> None:
        tree = self._tree()
        for process in tree:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self._process.wait()
        psutil.wait_procs(tree, END_S)

    def read_answer(self, limit_s: float) -> dict[str, Any]:
        """The next answer. Raises ContestantError."""
        assert self._process.stdout is not None
        # The contestant writes one line per request, so nothing is left in the buffer.
        if not select.select([self._process.stdout], [], [], limit_s)[0]:
            raise ContestantError(f"stopped after {limit_s:g} s")
        if not (line := self._process.stdout.readline()):
            ended = self._process.wait()
            last = self._log.read_text("utf-8", "replace").strip().splitlines()[-LAST_LINES:]
            raise ContestantError("\n".join([f"ended with code {ended}:", *last]))
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise ContestantError(answer["error"])
        return answer

    def run(self, limit_s: float) -> tuple[dict[str, Any], float]:
        """Compare once. Returns the answer and the CPU seconds. Raises ContestantError."""
        before = self.cpu_s()
        self._say("run")
        answer = self.read_answer(limit_s)
        return answer, self.cpu_s() - before

    def cpu_s(self) -> float:
        """CPU seconds so far, of the running processes and of the children that they have waited for."""
        spent = 0.0
        for process in self._tree():
            with contextlib.suppress(psutil.NoSuchProcess):
                spent += sum(process.cpu_times()[:4])  # user, system, and both for children that have ended
        return spent

    def _tree(self) -> list[psutil.Process]:
        try:
            root = psutil.Process(self._process.pid)
            return [root, *root.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # ``read_answer`` reports why the contestant ended
            print(line, file=self._process.stdin, flush=True)


def environment(python: Path, scratch: Path, java: Java | None) -> dict[str, str]:
    """The environment of a contestant. Spark uses the contestant's Python and the Java that the suite would choose."""
    out = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    out |= {"PYSPARK_PYTHON": str(python), "PYSPARK_DRIVER_PYTHON": str(python), "SPARK_LOCAL_IP": "127.0.0.1"}
    if java is not None:
        out["JAVA_HOME"] = str(java.home_for_spark(scratch))
    return out


def play(name: str, asked: argparse.Namespace, java: Java | None) -> Result:
    """Start a contestant and let it compare ``1 + --repeats`` times. The result has its failure, if it failed."""
    out = Result()
    python = Path(asked.rivals_python if name in ELSEWHERE else sys.executable).absolute()
    a, b = (str(place.resolve()) for place in load(asked.folder)[0])
    with tempfile.TemporaryDirectory(dir=asked.scratch, ignore_cleanup_errors=True) as scratch:
        job = Job(name, a, b, ["schedule", "step"], list(COLUMNS.names), THREADS, asked.memory, scratch)
        began = time.monotonic()
        with Contestant(python, job, environment(python, Path(scratch), java)) as contestant:
            try:
                out.versions = contestant.read_answer(asked.limit_s)["versions"]
                out.start_s, out.start_cpu_s = time.monotonic() - began, contestant.cpu_s()
                for _ in range(1 + asked.repeats):
                    answer, cpu_s = contestant.run(asked.limit_s)
                    out.seconds.append(answer["seconds"])
                    out.cpu_s.append(cpu_s)
                    if answer["found"] is not None:
                        out.found = {(schedule, step) for schedule, step in answer["found"]}
            except ContestantError as reason:
                out.stopped = str(reason)
    return out


HEAD = f"{'':15} {'first s':>8} {'s':>8} {'/ scan':>7} {'CPU s':>8} {'/ scan':>7} {'found':>15} {'false':>5}"


def line(name: str, measured: dict[str, Any]) -> str:
    """A row of the table, 80 columns wide."""

    def cell_text(key: str, width: int) -> str:
        value = measured.get(key)
        return f"{'-' if value is None else f'{value:,.1f}':>{width}}"

    found = f"{measured['found']:,} of {measured['of']:,}" if "found" in measured else "-"
    return (
        f"{name:15} {cell_text('first_s', 8)} {cell_text('seconds', 8)} {cell_text('seconds_per_scan', 7)} "
        f"{cell_text('cpu_s', 8)} {cell_text('cpu_s_per_scan', 7)} {found:>15} {measured.get('false', '-'):>5}"
    )


def remarks(name: str, measured: dict[str, Any]) -> Iterator[str]:
    """Yield the versions, the failure and the missed changes of a contestant, which do not fit into the table."""
    versions = ", ".join(f"{package} {version}" for package, version in measured["versions"].items())
    if versions and name in ELSEWHERE:
        yield f"{name}: {versions}"
    if "stopped" in measured:
        yield f"{name}: {measured['stopped']}"
    for kind, count in measured.get("kinds", {}).items():
        if count["found"] < count["of"]:
            yield f"{name} missed {count['of'] - count['found']:,} of {count['of']:,}: {kind}"


def arguments() -> argparse.Namespace:
    parsing = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parsing.add_argument("folder", type=Path, help="folder of the corpora, made by corpora.py")
    parsing.add_argument("--repeats", type=int, default=3, help="runs after the first (default 3)")
    parsing.add_argument("--memory", default="2g", help="heap of the Java process of each contestant (default 2g)")
    parsing.add_argument("--only", action="append", choices=CONTESTANTS, metavar="NAME", help="can be repeated")
    parsing.add_argument("--limit-s", type=float, default=3600.0, help="stop a run after N seconds (default 3600)")
    parsing.add_argument("--rivals-python", type=Path, metavar="PATH", help="for spark-extension and datacompy")
    parsing.add_argument("--scratch", type=Path, help="folder for temporary files of contestants (default: TMPDIR)")
    parsing.add_argument("--json", action="store_true", help="print JSON")
    asked = parsing.parse_args()
    if asked.repeats < 0 or asked.limit_s <= 0:
        parsing.error("--repeats must be at least 0, and --limit-s more than 0")
    if not re.fullmatch(r"[1-9]\d*[kmgt]", asked.memory):
        parsing.error("--memory must be a number followed by k, m, g or t")
    if asked.rivals_python is None:
        if wanted := [name for name in asked.only or () if name in ELSEWHERE]:
            parsing.error(f"{' and '.join(wanted)} cannot run without --rivals-python PATH")
    elif not os.access(asked.rivals_python, os.X_OK) or asked.rivals_python.is_dir():
        parsing.error(f"--rivals-python {asked.rivals_python} is not a program")
    return asked


def main() -> None:
    asked = arguments()
    chosen = [name for name in CONTESTANTS if not asked.only or name in asked.only]
    left_out = [name for name in chosen if name in ELSEWHERE and asked.rivals_python is None]
    corpora, truth = load(asked.folder)
    facts = {
        "rows": json.loads((corpora[0] / MANIFEST).read_text())["rows"],
        "divergent_schedules": len(truth),
        "threads": THREADS,
        "memory": asked.memory,
        "left_out": left_out,
    }
    try:
        java = find_java() if set(chosen) - set(left_out) - set(WITHOUT_JAVA) else None
    except SparkMissingError as error:
        sys.exit(str(error))
    if not asked.json:
        print(f"{facts['rows']:,} rows each, {len(truth):,} schedules differ; {THREADS} threads, {asked.memory} Java")
        print(HEAD, flush=True)
    unit: Result | None = None
    measured: dict[str, dict[str, Any]] = {}
    for name in (name for name in chosen if name not in left_out):
        result = play(name, asked, java)
        unit = result if name == "scan" else unit
        measured[name] = result.as_json(truth, unit)
        if not asked.json:
            print(line(name, measured[name]), flush=True)
    if asked.json:
        print(json.dumps(facts | {"contestants": measured}, indent=2))
        return
    for name, known in measured.items():
        for remark in remarks(name, known):
            print(remark)
    if left_out:
        print(f"left out: {' and '.join(left_out)}, which cannot run without --rivals-python PATH")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
