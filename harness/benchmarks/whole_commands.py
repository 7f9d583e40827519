"""Measures the cost of whole commands, before and after a change.

    python harness/benchmarks/whole_commands.py --before FOLDER
    python harness/benchmarks/whole_commands.py --only requirements --only run-plain --rounds 5

FOLDER is a checkout of an earlier commit. Each command is its own process. In each round the commands of both checkouts
and a calibration loop take turns; the medians are printed. The calibration loop (the yardstick) is a loop in Python
that never changes. Without --before, only this checkout is measured, against the calibration loop. CPU seconds are
given for the process of the command and, separately, for all its descendants: workers and the implementation. Memory is
the peak resident size of the process, and of the largest of its descendants.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil

from sds_harness.family import adopt

HERE = Path(__file__).resolve().parent
TREE = HERE.parents[1]
ROOMS = ("conformance", "harness", "reference")
SUITE = [sys.executable, "-m", "sds_conformance"]
REFERENCE = ["--", sys.executable, "-m", "sds_reference"]
WAKU = TREE / "harness" / "adapters" / "waku-sds"
LOOP = "total = 0\nfor number in range({}):\n    total += number ^ (total & 7)\n"
LOOKS_EVERY_S = 0.02
PATIENCE_S = 10.0
"""Seconds that descendants may run after the command has ended."""


@dataclass(frozen=True)
class Sizes:
    """How much each command has to do."""

    examples: int
    schedules: int
    rows: int
    loop: int
    mutants: tuple[str, ...]
    scenarios: tuple[str, ...] = ()
    """The scenarios that `run` plays; all if empty."""


FULL = Sizes(2_000, 500, 10_000_000, 20_000_000, ("ties-*", "a*", "b*"))
QUICK = Sizes(2, 2, 2_000, 200_000, ("starts-at-zero",), ("two-channels",))


@dataclass(frozen=True)
class Measured:
    """Measurements of one process, or the medians of several processes."""

    wall_s: float
    own_cpu_s: float
    other_cpu_s: float
    own_peak_mib: float
    other_peak_mib: float

    @property
    def cpu_s(self) -> float:
        return self.own_cpu_s + self.other_cpu_s

    def as_json(self) -> dict[str, float]:
        """The values as JSON."""
        return {name: round(value, 3) for name, value in vars(self).items()} | {"cpu_s": round(self.cpu_s, 3)}


class CommandError(Exception):
    """A command failed, so there are no results to compare."""


def median(of: Sequence[Measured]) -> Measured:
    """The median of each number separately."""
    return Measured(*(statistics.median(values) for values in zip(*(vars(one).values() for one in of), strict=True)))


Work = Callable[[Path, Sizes], list[str]]
"""Makes the arguments of a command from a scratch folder and the sizes."""


def played(sizes: Sizes) -> list[str]:
    return [word for glob in sizes.scenarios for word in ("--scenario", glob)]


def fuzzing(folder: Path, sizes: Sizes) -> list[str]:
    return ["fuzz", "--schedules", str(sizes.examples), "--out", str(folder / "found")]


def recording(folder: Path, sizes: Sizes) -> list[str]:
    return ["corpus", "record", "--overwrite", "--schedules", str(sizes.schedules), "--out", str(folder / "recorded")]


def diffing(folder: Path) -> list[str]:
    a, b = folder / "made" / "a", folder / "made" / "b"
    return ["corpus", "diff", "--no-checks", "--overwrite", "--out", str(folder / "difference"), str(a), str(b)]


WORKS: dict[str, Work] = {
    "run": lambda folder, sizes: ["run", *played(sizes), *REFERENCE],
    "run-plain": lambda folder, sizes: ["run", "--environment", "plain", *played(sizes), *REFERENCE],
    "run-waku": lambda folder, sizes: ["run", *played(sizes), "--", "node", str(WAKU / "adapter.mjs")],
    "fuzz-json": lambda folder, sizes: [*fuzzing(folder, sizes), *REFERENCE],
    "fuzz-binary": lambda folder, sizes: [*fuzzing(folder, sizes), "--framing", "binary", *REFERENCE],
    "requirements": lambda folder, sizes: ["requirements", "SDS-RECV-06"],
    "selftest": lambda folder, sizes: ["selftest", *(word for glob in sizes.mutants for word in ("--only", glob))],
    "corpus-record": lambda folder, sizes: [*recording(folder, sizes), *REFERENCE],
    "corpus-check": lambda folder, sizes: ["corpus", "check", str(folder / "recorded")],
    "corpus-diff": lambda folder, sizes: diffing(folder),
    "corpus-diff-read-all": lambda folder, sizes: [*diffing(folder), "--read-all"],
}
"""The kinds of work by name. A corpus is recorded before it is checked."""


def missing(work: str) -> str:
    """The missing software and how to install it; "" if none is missing."""
    if work == "run-waku":
        if shutil.which("node") is None:
            return "node is not on the PATH: install Node 20 or newer"
        if not (WAKU / "node_modules" / "@waku" / "sds").is_dir():
            return "@waku/sds is not installed: npm ci --prefix harness/adapters/waku-sds"
    if work.startswith("corpus") and find_spec("pyspark") is None:
        return "PySpark is not installed: pip install 'sds-conformance[spark]'"
    return ""


def variables(tree: Path, folder: Path) -> dict[str, str]:
    """The environment of a process that runs a checkout. Compiled files are cached outside of the checkout."""
    out = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    path = os.pathsep.join(str(tree / room) for room in ROOMS)
    return out | {"PYTHONPATH": path, "PYTHONPYCACHEPREFIX": str(folder / "compiled"), "NO_COLOR": "1"}


def measure(command: Sequence[str], environment: dict[str, str], folder: Path) -> Measured:
    """Run a command in ``folder`` and measure it. Raises CommandError if it fails."""
    log = folder / "log"
    with log.open("wb") as out:
        began = time.perf_counter()
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment, cwd=folder)
        try:
            own, other = peaks(child.pid)
        except BaseException:
            child.terminate()
            child.wait()
            raise
        wall_s = time.perf_counter() - began
        spent = psutil.Process(child.pid).cpu_times()  # The child has ended and was not reaped: the times are final.
        code = child.wait()
    left_s = outlasting()
    if code not in (0, 1):
        said = log.read_text("utf-8", "replace").strip().splitlines()[-3:]
        raise CommandError("\n".join([f"{' '.join(command)} ended with code {code}:", *said]))
    others_s = spent.children_user + spent.children_system + left_s
    return Measured(wall_s, spent.user + spent.system, others_s, own / 2**20, other / 2**20)


def outlasting() -> float:
    """CPU seconds of processes that end after the process that started them, such as worker processes of a fork server.
    0 on systems where orphans cannot be adopted."""
    seconds, patient = 0.0, time.monotonic() + PATIENCE_S
    for left in psutil.Process().children():
        while left.status() != psutil.STATUS_ZOMBIE and time.monotonic() < patient:
            time.sleep(LOOKS_EVERY_S)
        seconds += sum(left.cpu_times()[:4])
        os.waitpid(left.pid, os.WNOHANG)
    return seconds


def peaks(pid: int) -> tuple[int, int]:
    """The peak resident bytes of a process and of the largest of its descendants. Returns when the process has
    ended."""
    own, others = 0, [0]
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(pid)
            own = max(own, resident(process))
            for child in process.children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    others.append(resident(child))
        time.sleep(LOOKS_EVERY_S)
    return own, max(others)


def resident(process: psutil.Process) -> int:
    """The peak resident bytes of a process so far if the system reports them; otherwise its current resident bytes."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return int(process.memory_info().rss)


def prepare(work: str, folder: Path, sizes: Sizes) -> None:
    """Make the corpora that the command reads, unless they exist."""
    if work == "corpus-check" and not (folder / "recorded").exists():
        measure([*SUITE, *WORKS["corpus-record"](folder, sizes)], variables(TREE, folder), folder)
    if work.startswith("corpus-diff") and not (folder / "made").exists():
        script = str(HERE / "corpora.py")
        measure(
            [sys.executable, script, str(folder / "made"), "--rows", str(sizes.rows)], variables(TREE, folder), folder
        )


def compared(work: str, before: Path | None, sizes: Sizes, rounds: int, folder: Path) -> dict[str, Any]:
    """Measure the command ``work`` in this checkout and in the checkout ``before``; return the row of the table."""
    trees = ({"before": before} if before is not None else {}) | {"after": TREE}
    prepare(work, folder, sizes)
    seen: dict[str, list[Measured]] = {name: [] for name in (*trees, "yardstick")}
    for _ in range(rounds):
        for name, tree in trees.items():
            seen[name].append(measure([*SUITE, *WORKS[work](folder, sizes)], variables(tree, folder), folder))
        loop = [sys.executable, "-c", LOOP.format(sizes.loop)]
        seen["yardstick"].append(measure(loop, dict(os.environ), folder))
    out = {name: median(of) for name, of in seen.items()}
    row: dict[str, Any] = {"work": work, **{name: one.as_json() for name, one in out.items()}}
    row["of_yardstick"] = round(out["after"].cpu_s / out["yardstick"].cpu_s, 3)
    if "before" in out:
        row["ratio"] = {
            name: round(getattr(out["after"], name) / (getattr(out["before"], name) or 1), 3)
            for name in ("cpu_s", "wall_s", "own_cpu_s", "own_peak_mib")
        }
    return row


def lines(row: dict[str, Any]) -> Iterator[str]:
    """A row of the table, with one line per checkout."""
    for name in ("before", "after"):
        if name in row:
            one = row[name]
            yield (
                f"{row['work']:<22}{name:<8}{one['wall_s']:>8.2f}{one['own_cpu_s']:>9.2f}{one['other_cpu_s']:>9.2f}"
                f"{one['own_peak_mib']:>9.0f}{one['other_peak_mib']:>9.0f}"
            )
    if "ratio" in row:
        ratio = row["ratio"]
        shown = f"{ratio['wall_s']:>8.2f}{ratio['own_cpu_s']:>9.2f}{'':>9}{ratio['own_peak_mib']:>9.2f}"
        yield f"{'':<22}{'ratio':<8}{shown}  CPU of all processes {ratio['cpu_s']:.2f}"
    yield f"{'':<22}{row['of_yardstick']:.2f} times the CPU time of the calibration loop"


HEAD = f"{'':<22}{'':<8}{'wall s':>8}{'own CPU':>9}{'others':>9}{'own MiB':>9}{'others':>9}"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, metavar="FOLDER", help="a checkout of an earlier commit")
    parser.add_argument("--only", action="append", choices=WORKS, metavar="NAME", help=f"of {', '.join(WORKS)}")
    parser.add_argument(
        "--rounds", type=int, default=3, help="number of rounds; the result is their median (default 3)"
    )
    parser.add_argument("--quick", action="store_true", help="use tiny sizes, to test that all commands run")
    for name in ("examples", "schedules", "rows"):
        parser.add_argument(f"--{name}", type=int, metavar="N", help=f"(default {getattr(FULL, name):,})")
    parser.add_argument("--scratch", type=Path, help="folder for corpora (default: TMPDIR)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    asked = parser.parse_args()
    if asked.before is not None:
        asked.before = asked.before.resolve()
        if absent := [room for room in ROOMS if not (asked.before / room).is_dir()]:
            parser.error(f"--before {asked.before} is not a checkout: it has no {' and no '.join(absent)}")
    if asked.rounds < 1:
        parser.error("--rounds must be at least 1")
    return asked


def main() -> None:
    asked = arguments()
    adopt()
    known = vars(QUICK if asked.quick else FULL)
    sizes = Sizes(**known | {name: value for name in known if (value := getattr(asked, name, None)) is not None})
    chosen = [work for work in WORKS if not asked.only or work in asked.only]
    skipped = {work: sentence for work in chosen if (sentence := missing(work))}
    rows = []
    if not asked.json:
        print(HEAD, flush=True)
    with tempfile.TemporaryDirectory(dir=asked.scratch, ignore_cleanup_errors=True) as scratch:
        for work in [work for work in chosen if work not in skipped]:
            try:
                rows.append(compared(work, asked.before, sizes, asked.rounds, Path(scratch)))
            except CommandError as error:
                skipped[work] = str(error)
                continue
            if not asked.json:
                print("\n".join(lines(rows[-1])), flush=True)
    if asked.json:
        print(json.dumps({"sizes": vars(sizes), "rows": rows, "skipped": skipped}, indent=2))
        return
    for work, sentence in skipped.items():
        print(f"{work}: left out, {sentence}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
