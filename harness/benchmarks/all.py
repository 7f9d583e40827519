"""Runs all benchmarks that measure speed, and reports which measured ratios became worse.

    python harness/benchmarks/all.py --json now.json
    python harness/benchmarks/all.py --json now.json --against harness/benchmarks/measured.json
    python harness/benchmarks/all.py --only schedules --quick
    python harness/benchmarks/all.py --json harness/benchmarks/measured.json --readme

Every script is started with --json. FILE receives the output of each script and the measures from it. A measure has a
value, and the ratio of this value to a reference that was measured in the same run: only ratios are comparable between
machines. FILE is written after each script, so that Ctrl-C loses only the running one. Results of other scripts in FILE
are kept. With --against FILE of an earlier run, every ratio that became more than 20 % worse is reported, and the exit
code is then 1. --readme makes the tables of the README from FILE, without measuring.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rich.console import Console

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the package `benchmarks` is not installed

from benchmarks.tables import rewritten
from benchmarks.units import FEW, FOLDER, UNITS, Measure, Unit

HERE = Path(__file__).resolve().parent
README = HERE / "README.md"
MEASURED = HERE / "measured.json"
"""The file with the measurements from which the tables of the README are made."""
TOLERATED = 0.2
PACKAGES = ("sds-conformance", "protobuf", "orjson", "grpcio", "pyspark", "pyarrow", "duckdb")
LOOPS = 2_000_000
Kept = dict[str, dict[str, Any]]
"""By name of a unit: the time, the machine and the arguments of its measurement, and the output of its script."""


class ScriptError(Exception):
    """A script failed. The message is the last line that it printed."""


def yardstick_s() -> float:
    """CPU seconds of the calibration loop, which never changes."""
    began, total = time.process_time(), 0
    for number in range(LOOPS):
        total += number ^ (total & 7)
    return time.process_time() - began


def printed(script: str, arguments: list[str]) -> str:
    """The output of a script. Raises ScriptError."""
    command = [sys.executable, str(HERE / f"{script}.py"), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        try:
            out, err = child.communicate()
        except BaseException:
            child.terminate()
            raise
    if child.returncode:
        last = err.strip().splitlines()[-1:] or ["it said nothing"]
        raise ScriptError(f"{script}.py ended with code {child.returncode}: {last[0]}")
    return out


def arguments_of(unit: Unit, quick: bool, before: Path | None) -> list[str]:
    """The arguments of the unit's script, without --json: tiny sizes with ``quick``. ``before`` is a checkout to
    compare with.
    """
    given = [*(unit.quick if quick else unit.full)]
    if unit.script == "whole_commands" and before is not None:
        given = ["--before", str(before), *given]
    return given


def measured(unit: Unit, given: list[str], quick: bool) -> dict[str, Any]:
    """Run the unit's script, and return its entry in the file of results. Raises ScriptError."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        folder = str(Path(scratch) / "made")
        if unit.first:
            script, *size = (folder if word == FOLDER else word for word in unit.first)
            printed(script, [*size[:-1], FEW] if quick else size)
        before = yardstick_s()
        began = time.perf_counter()
        result = json.loads(printed(unit.script, ["--json", *(folder if word == FOLDER else word for word in given)]))
        seconds = time.perf_counter() - began
        beside = (before + yardstick_s()) / 2
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "versions": versions(),
        "quick": quick,
        "seconds": round(seconds, 1),
        "yardstick_s": round(beside, 4),
        "measures": [asdict(measure) for measure in unit.read(result, beside)],
        "result": result,
    }


def machine() -> dict[str, Any]:
    return {"system": platform.system(), "machine": platform.machine(), "processors": os.cpu_count()}


def versions() -> dict[str, str]:
    out = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            out[package] = version(package)
        except PackageNotFoundError:
            continue
    return out


def read(file: Path) -> Kept:
    """The results of an earlier run. Ends the program if the file cannot be read."""
    try:
        units: Kept = json.loads(file.read_text("utf-8"))["units"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"{file} is not a file that all.py --json has written: {error}")
    return units


def write(file: Path, units: Kept, skipped: Mapping[str, str]) -> None:
    """Write the file atomically, so that no reader sees half of it."""
    half = file.with_name(f"{file.name}.half")
    half.write_text(json.dumps({"units": units, "skipped": skipped}, indent=1) + "\n", "utf-8")
    half.replace(file)


def losses(new: Kept, old: Kept) -> Iterator[str]:
    """A sentence for each ratio that became worse by more than ``TOLERATED``."""
    for name, now in new.items():
        then = old.get(name)
        if then is None or then["quick"] != now["quick"]:
            continue
        known = {measure["name"]: Measure(**measure) for measure in then["measures"]}
        for measure in (Measure(**measure) for measure in now["measures"]):
            earlier = known.get(measure.name)
            if earlier is not None and (lost := measure.lost(earlier.ratio)) > TOLERATED:
                yield (
                    f"{name}, {measure.name}: {lost:.0%} worse, {earlier.ratio:.3g} before and {measure.ratio:.3g} now "
                    f"({measure.unit}, relative to {measure.against})"
                )


def uncompared(new: Kept, old: Kept) -> Iterator[str]:
    """A sentence for each unit that has no comparable result in the earlier run."""
    for name, now in new.items():
        if name not in old:
            yield f"not compared, because the earlier run does not have it: {name}"
        elif old[name]["quick"] != now["quick"]:
            yield f"not compared, because only one of the two runs was made with --quick: {name}"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    scripts = sorted({unit.script for unit in UNITS})
    parser.add_argument("--json", type=Path, metavar="FILE", help="file for the results")
    parser.add_argument("--against", type=Path, metavar="FILE", help="results of an earlier run")
    parser.add_argument("--only", action="append", choices=scripts, metavar="NAME", help=f"of {', '.join(scripts)}")
    parser.add_argument("--quick", action="store_true", help="use tiny sizes, to test that all scripts run")
    parser.add_argument("--before", type=Path, metavar="FOLDER", help="a checkout that whole_commands.py compares with")
    parser.add_argument("--readme", action="store_true", help="only make the tables of the README, from FILE")
    return parser.parse_args()


def main() -> int:
    asked = parse()
    if asked.readme:
        file = asked.json or MEASURED
        results = {name: unit["result"] for name, unit in read(file).items()}
        README.write_text(rewritten(README.read_text("utf-8"), results), "utf-8")
        return 0
    err, out = Console(stderr=True), Console(highlight=False)
    earlier = read(asked.against) if asked.against is not None else {}
    kept = read(asked.json) if asked.json is not None and asked.json.exists() else {}
    done: Kept = {}
    chosen = [unit for unit in UNITS if not asked.only or unit.script in asked.only]
    skipped = {unit.name: unit.missing for unit in chosen if unit.missing}
    broken = []
    for number, unit in enumerate((unit for unit in chosen if unit.name not in skipped), 1):
        with err.status(f"{number} of {len(chosen) - len(skipped)}: {unit.name}"):
            try:
                given = arguments_of(unit, asked.quick, asked.before)
                done[unit.name] = measured(unit, given, asked.quick)
            except ScriptError as reason:
                broken.append(f"{unit.name}: {reason}")
                continue
        if asked.json is not None:
            write(asked.json, kept | done, skipped)
        out.print(f"{unit.name}  ({done[unit.name]['seconds']:.0f} s)", style="bold")
        for measure in (Measure(**measure) for measure in done[unit.name]["measures"]):
            what = f"{measure.value:,.4g} {measure.unit}"
            out.print(f"  {measure.name:<44} {what:>22} {measure.ratio:>10.3g} of {measure.against}", soft_wrap=True)
    for name, sentence in skipped.items():
        out.print(f"left out {name}: {sentence}", soft_wrap=True)
    for sentence in uncompared(done, earlier) if asked.against is not None else ():
        out.print(sentence, soft_wrap=True)
    worse = [*broken, *losses(done, earlier)]
    for sentence in worse:
        out.print(sentence, style="red", soft_wrap=True)
    return 1 if worse else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
