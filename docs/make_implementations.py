"""Plays every implementation that this machine can run, and writes ``implementations.md`` next to this file.

This takes several minutes. ``@waku/sds`` needs Node and

    npm ci --prefix harness/adapters/waku-sds

The toy, the minimal implementation in a template, is played only if the tools of its language are installed.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from sds_conformance.cli.new_adapter import Template, templates, write
from sds_conformance.reports.comparing import markdown
from sds_conformance.reports.comparing.columns import ReportColumn, gather
from sds_conformance.reports.comparing.comparison import Comparison, compare
from sds_conformance.reports.gfm import JOINER, prose
from sds_harness.files import write_whole

HERE = Path(__file__).resolve().parent
PAGE = HERE / "implementations.md"
WAKU = HERE.parent / "harness" / "adapters" / "waku-sds"
TOY = "toy-sds"
_HEAD = """# Implementations of SDS in comparison

This page shows what the suite finds in every implementation that it can drive: the reference model, every release of
`@waku/sds` on npm, and the toy, a minimal implementation in the [templates of adapters](../harness/adapters/README.md).
The toy shows what a first report looks like: requirements that need an undeclared capability are skipped.

`python docs/make_implementations.py` writes this page, and overwrites changes by hand. To see a verdict for yourself:

    sds-conformance run --select SDS-RECV-06 -- node harness/adapters/waku-sds/adapter.mjs
    sds-conformance run --select SDS-RECV-06 -- node harness/adapters/waku-sds/adapter.mjs --release 0.0.7

To compare your own reports in this way: `sds-conformance compare --ways REPORT REPORT`.
"""
_CHOICES = """## What each implementation does where the specification leaves a choice

Positions are the suite's decisions where the specification leaves a choice; `sds-conformance requirements AMB-29`
explains one of them. The table names the way of each implementation, as runs showed it. "Not shown" means that no run
showed it. "Mixed" means that the implementation took several ways. A way is not a verdict: if a way violates a
requirement, the tables above show that. Positions in which implementations differ come first. Below the table, each way
has the scenario and the step that first show it.
"""


@dataclass(frozen=True)
class Candidate:
    """An implementation that is to be played."""

    name: str
    command: tuple[str, ...]
    folder: Path | None = None
    """The folder in which the command runs; the current folder if None."""


def releases() -> list[str]:
    """The releases of @waku/sds that the adapter drives, the oldest first."""
    wanted = json.loads((WAKU / "package.json").read_text("utf-8"))["dependencies"]
    return sorted((version.rpartition("@")[2] for version in wanted.values()), key=_age)


def _age(version: str) -> tuple[tuple[int, ...], bool, str]:
    """The sort key of a version. A version with a suffix, such as 0.0.7-4d5c152.0, comes before 0.0.7."""
    numbers, _, suffix = version.partition("-")
    return tuple(map(int, re.findall(r"\d+", numbers))), not suffix, suffix


def candidates(folder: Path) -> Iterator[Candidate]:
    """All implementations that can be played. The toys are built from the templates, in subfolders of ``folder``."""
    yield Candidate("reference", (sys.executable, "-m", "sds_reference"))
    for release in releases():
        yield Candidate(f"waku-{release}", ("node", str(WAKU / "adapter.mjs"), "--release", release))
    for language, template in templates().items():
        tools = {shlex.split(line)[0] for line in (*template.build, shlex.join(template.command))}
        if missing := sorted(tool for tool in tools if not tool.startswith(".") and shutil.which(tool) is None):
            print(f"not played: the toy in {template.language}. To play it, install {', '.join(missing)}.")
            continue
        yield Candidate(f"toy-{language}", template.command, _built(template, folder / f"built-{language}"))


def _built(template: Template, folder: Path) -> Path:
    if not folder.exists():
        write(template, folder)
        for line in template.build:
            subprocess.run(line, shell=True, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder


def play(one: Candidate, report: Path, environments: Sequence[str]) -> None:
    """Run an implementation and write its report into the folder ``report``. Do nothing if the folder has a report."""
    if (report / "report.jsonl").is_file():
        return
    options = [part for glob in environments for part in ("--environment", glob)]
    command = [sys.executable, "-m", "sds_conformance", "run", "--report", str(report), *options, "--", *one.command]
    print(f"playing {one.name}", flush=True)
    done = subprocess.run(command, cwd=one.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{one.name} could not be judged: {shlex.join(command)}\n{done.stderr}")


def merge_equal_toys(columns: Iterable[ReportColumn]) -> tuple[list[ReportColumn], list[str]]:
    """Return the columns and the languages of all toys. Of several toys with equal results, keep only the first
    column."""
    kept: list[ReportColumn] = []
    languages: list[str] = []
    for column in columns:
        alike = [k for k in kept if column.name == k.name == TOY and _have_same_results(column, k)]
        if column.name == TOY:
            languages.append(column.language)
        if not alike:
            kept.append(column)
    return kept, languages


def _have_same_results(one: ReportColumn, other: ReportColumn) -> bool:
    ways = ({position: {way.way for way in ways} for position, ways in c.ways.items()} for c in (one, other))
    return one.verdicts == other.verdicts and next(ways) == next(ways)


def page(columns: Iterable[ReportColumn]) -> str:
    """The Markdown of the page, with a column for each implementation."""
    kept, languages = merge_equal_toys(columns)
    comparison = compare(kept)
    lines = [_HEAD, *markdown.summary_table(comparison.columns)]
    if languages:
        lines += [f"The toy was played in {', '.join(languages)}; languages with equal results share a column.", ""]
    if comparison.cautions:
        lines += [*(f"> {prose(sentence)}" for sentence in comparison.cautions), ""]
    lines += markdown.changes(comparison)
    lines += ["## Verdicts that differ", "", *markdown.matrix(comparison.columns, comparison.differences)]
    lines += markdown.agreements(comparison, every=True)
    lines += [_CHOICES, *markdown.choices_table(comparison), *_choices_table(comparison)]
    # Remove the invisible characters that keep GitHub from turning names such as @waku/sds in comments into links. In
    # files, GitHub makes no such links, and a search in the page must find the names.
    return "\n".join(lines).rstrip().replace(JOINER, "") + "\n"


def _choices_table(comparison: Comparison) -> list[str]:
    first = sorted(comparison.choices, key=lambda choice: not choice.differs)
    return markdown.choices(replace(comparison, choices=tuple(first)))


def main() -> None:
    """Play all implementations and write the page, as the options on the command line say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--environment",
        action="append",
        default=[],
        metavar="GLOB",
        help="play in these environments, as with `run --environment`",
    )
    parser.add_argument(
        "--reports", type=Path, metavar="DIR", help="keep the reports in DIR, and reuse reports that are in DIR already"
    )
    parser.add_argument(
        "--out", type=Path, default=PAGE, metavar="FILE", help="the file to write, in place of implementations.md"
    )
    given = parser.parse_args()
    with TemporaryDirectory() as temporary:
        folder = (given.reports or Path(temporary)).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        reports = []
        for one in candidates(folder):
            report = folder / one.name
            play(one, report, given.environment)
            reports.append(report)
        write_whole(given.out, page(gather(reports)))
    print(f"written: {given.out}")


if __name__ == "__main__":
    main()
