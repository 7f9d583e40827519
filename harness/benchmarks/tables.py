"""Makes the tables of the README from the results of ``all.py``, between markers that name them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Results = Mapping[str, Mapping[str, Any]]
"""By name of a unit: the output of the script of the unit."""
Row = Sequence[str]

MARKED = re.compile(r"(<!-- table: (?P<name>[^>]+) -->\n)(?P<table>.*?)(<!-- end -->)", re.DOTALL)
DRIVEN = {"json": "the reference, JSON", "binary": "the reference, binary", "waku": "`@waku/sds`"}
CONTESTANTS = {
    "scan": "a scan by DuckDB",
    "ours": "**`corpus diff`**",
    "ours-read-all": "`corpus diff --read-all`",
    "duckdb-join": "DuckDB, full outer join",
    "spark-join": "PySpark, full outer join",
    "spark-extension": "spark-extension",
    "datacompy": "datacompy",
}


def table(heads: Sequence[str], rows: Sequence[Row], words: int = 1) -> str:
    """A Markdown table; the first ``words`` columns are text, the others numbers."""
    ruler = ["---" if number < words else "---:" for number in range(len(heads))]
    lines = [f"| {' | '.join(heads)} |", f"|{'|'.join(ruler)}|", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines) + "\n"


def throughput(of: Results) -> str:
    rows = [
        (row["workload"], f"{row['messages']:,}", f"{row['per_second']:,}", f"{row['relative']:.2f}")
        for row in of["model_throughput"]["rows"]
    ]
    return table(["workload", "messages", "per second", "relative"], rows)


def waku(of: Results) -> str:
    rows = of["against_waku_sds"]["rows"]
    heads = ["messages", "reference, per second", f"@waku/sds {rows[0]['version']}, per second", "times as fast"]
    keys = ("messages", "reference_per_second", "waku_sds_per_second", "times_as_fast")
    return table(heads, [[f"{row[key]:,}" for key in keys] for row in rows], 0)


def steps(unit: str) -> Callable[[Results], str]:
    """Return a function that makes the table of steps over a pipe, for each framing."""

    def made(of: Results) -> str:
        rows = [
            (
                row["carrier"],
                row["workload"],
                f"{row['sent']:,}, {row['answered']:,}",
                f"{row['echo_per_second']:,}",
                f"{row['steps_per_second']:,}",
                f"{row['ratio']:.2f}",
                f"{row['local_per_second']:,}",
            )
            for carrier in ("binary", "json")
            for row in of[unit]["rows"]
            if row["carrier"] == carrier
        ]
        return table(["framing", "workload", "bytes out, in", "echo/s", "steps/s", "ratio", "local/s"], rows, 2)

    return made


def carriers(of: Results) -> str:
    rows = of["harness_steps, two cores"]["rows"]
    names = list(dict.fromkeys(row["carrier"] for row in rows))
    rates = {(row["workload"], row["carrier"]): f"{row['steps_per_second']:,}" for row in rows}
    workloads = dict.fromkeys(row["workload"] for row in rows)
    return table(["workload", *names], [[w, *(rates.get((w, name), "") for name in names)] for w in workloads])


def shares(prefix: str, working: str) -> Callable[[Results], str]:
    """Return a function that makes the table of how the time of schedules is divided. Generating schedules is not
    counted."""

    def made(of: Results) -> str:
        rows = []
        for key, driven in DRIVEN.items():
            if (one := of.get(f"{prefix}, {key}")) is not None:
                _, *spent = one["shares"].values()
                each = [f"{100 * s / one['seconds']:.0f} %, {1e6 * s / one['steps']:.0f} us a step" for s in spent]
                rows.append([driven, f"{one['schedules']:,}", f"{one['steps']:,}", *each])
        return table(["driven", "schedules", "steps", "the implementation", "driving it", working], rows)

    return made


def forms(of: Results) -> str:
    rows = [
        (one["name"], f"{one['run']:.1f} s", f"{one['forms']:.1f} s", f"{one['ratio']:.3f}")
        for unit in ("report_forms, reference", "report_forms, waku")
        if (one := of.get(unit)) is not None
    ]
    return table(["implementation", "run", "all forms", "with forms / without"], rows)


def rivals(of: Results) -> str:
    one, rows = of["corpora_rivals"], []
    for name, measured in one["contestants"].items():
        numbers = [measured["first_s"], measured["seconds"], measured["seconds_per_scan"], measured["cpu_s"]]
        found = f"{measured['found']:,} of {measured['of']:,}" if "found" in measured else ""
        shown = ["" if number is None else f"{number:.2f}" for number in numbers]
        rows.append([f"{one['rows']:,}", CONTESTANTS[name], *shown, found])
    heads = ["rows a side", "contestant", "first, seconds", "seconds", "times a scan", "CPU seconds", "changes found"]
    return table(heads, rows, 2)


def commands(of: Results) -> str:
    return table(
        [
            "work",
            "CPU s before",
            "after",
            "ratio",
            "wall s before",
            "after",
            "MiB before",
            "after",
            "times the yardstick",
        ],
        [[row["work"], *_command(row)] for row in of["whole_commands"]["rows"]],
    )


def _command(row: Mapping[str, Any]) -> Iterator[str]:
    after, before = row["after"], row.get("before")
    yield f"{before['cpu_s']:.1f}" if before else ""
    yield f"{after['cpu_s']:.1f}"
    yield f"**{row['ratio']['cpu_s']:.2f}**" if before else ""
    yield f"{before['wall_s']:.1f}" if before else ""
    yield f"{after['wall_s']:.1f}"
    yield f"{before['own_peak_mib']:.0f}" if before else ""
    yield f"{after['own_peak_mib']:.0f}"
    yield f"{row['of_yardstick']:.2f}"


TABLES: dict[str, tuple[str, Callable[[Results], str]]] = {
    "model_throughput": ("model_throughput", throughput),
    "against_waku_sds": ("against_waku_sds", waku),
    "harness_steps, two cores": ("harness_steps, two cores", steps("harness_steps, two cores")),
    "harness_steps, one core": ("harness_steps, one core", steps("harness_steps, one core")),
    "harness_steps, carriers": ("harness_steps, two cores", carriers),
    "schedules": ("schedules, ", shares("schedules", "judging")),
    "schedules recorded": ("schedules recorded, ", shares("schedules recorded", "recording")),
    "report_forms": ("report_forms, ", forms),
    "corpora_rivals": ("corpora_rivals", rivals),
    "whole_commands": ("whole_commands", commands),
}
"""For each name in the markers: the prefix of the units from which the table is made, and the function that makes
it."""


def rewritten(page: str, results: Results) -> str:
    """The page with new tables. Tables without results are unchanged."""

    def made(found: re.Match[str]) -> str:
        unit, make = TABLES[found["name"]]
        if not any(name.startswith(unit) for name in results):
            return found[0]
        return f"{found[1]}{make(results)}{found[4]}"

    return MARKED.sub(made, page)
