"""``sds-conformance selftest``."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from fnmatch import fnmatchcase
from typing import TypeVar

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

from sds_reference.mutants import MUTANTS
from sds_reference.variants import VARIANTS

from ..exercise import Acceptance, Kill, examine_mutant, examine_variant, unguarded
from .options import console

_EPILOG = """
\b
Examples:
  sds-conformance selftest
  sds-conformance selftest --only 'ties-*'
  sds-conformance selftest --json > kill-table.json
"""

R = TypeVar("R")


@click.command(epilog=_EPILOG)
@click.option(
    "--only", multiple=True, metavar="GLOB", help="Only mutants and variants of these names; may be repeated."
)
@click.option(
    "--jobs", type=click.IntRange(min=1), default=os.cpu_count() or 1, show_default="cores", help="Processes."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def selftest(only: tuple[str, ...], jobs: int, as_json: bool) -> None:
    """Prove that the checks can fail, and that they accept what is legal.

    Every mutant of the reference model must be rejected by the check of its requirement, by name; every legal variant
    must pass everything.
    """
    out, err = console(), console(stderr=True)
    mutants = _matching(MUTANTS, only)
    variants = _matching(VARIANTS, only)
    if not mutants and not variants:
        raise click.UsageError("no mutant or variant of that name: `python -m sds_reference --list` names them")
    with ProcessPoolExecutor(jobs) as pool:
        try:
            kills = list(_tracked(err, "mutants", pool.map(examine_mutant, mutants), len(mutants)))
            acceptances = list(_tracked(err, "legal variants", pool.map(examine_variant, variants), len(variants)))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    without = [] if only else unguarded()
    if as_json:
        data = {
            "mutants": [asdict(k) for k in kills],
            "variants": [asdict(a) for a in acceptances],
            "unguarded": without,
        }
        click.echo(json.dumps(data, indent=2))
    else:
        _show(out, kills, acceptances, without)
    proven = all(k.killed for k in kills) and not any(a.refused for a in acceptances) and not without
    sys.exit(0 if proven else 1)


def _matching(names: Iterable[str], only: tuple[str, ...]) -> list[str]:
    return [name for name in names if not only or any(fnmatchcase(name, glob) for glob in only)]


def _tracked(err: Console, what: str, results: Iterator[R], total: int) -> Iterable[R]:
    return track(results, what, total=total, console=err, transient=True, disable=not err.is_terminal)


def _show(out: Console, kills: list[Kill], acceptances: list[Acceptance], without: list[str]) -> None:
    table = _table("Mutant", "Requirement", "Verdict", "Others")
    for kill in sorted(kills, key=lambda k: (k.killed, k.requirement)):
        style = "green" if kill.killed else "bold red"
        said = kill.verdict if kill.killed else f"{kill.verdict}: ALIVE" + (" (broke)" if kill.breakdowns else "")
        table.add_row(kill.mutant, kill.requirement, Text(said, style), str(len(kill.also) or "·"))
    out.print(table)
    out.print()
    table = _table("Legal variant", "Passed", "Verdict")
    for acceptance in acceptances:
        verdict = (
            Text("accepted", "green") if not acceptance.refused else Text("; ".join(acceptance.refused), "bold red")
        )
        table.add_row(acceptance.variant, str(acceptance.passed), verdict)
    out.print(table)
    out.print()
    killed = sum(kill.killed for kill in kills)
    accepted = sum(not acceptance.refused for acceptance in acceptances)
    good = killed == len(kills) and accepted == len(acceptances)
    out.print(
        f"{killed} of {len(kills)} mutants killed by their requirement, "
        f"{accepted} of {len(acceptances)} legal variants accepted.",
        style="bold green" if good else "bold red",
    )
    if without:
        out.print(f"Without a mutant: {', '.join(without)}", style="bold red")


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
