"""``sds-conformance requirements``."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sds_reference.mutants import MUTANTS

from ..catalogue import Requirement, load_catalogue
from ..catalogue.unchecked import unchecked
from ..exercise import certify_reference
from ..registry import CHECKS, SCENARIOS
from .options import console

_EPILOG = """
\b
Examples:
  sds-conformance requirements
  sds-conformance requirements 'SDS-RECV-*'
  sds-conformance requirements SDS-RECV-06
  sds-conformance requirements --traced --json
"""


@click.command(epilog=_EPILOG)
@click.argument("ids", nargs=-1, metavar="[GLOB]...")
@click.option("--traced", is_flag=True, help="Run the reference and show where each requirement was exercised.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def requirements(ids: tuple[str, ...], traced: bool, as_json: bool) -> None:
    """List the requirements: statement, level, checks, scenarios, mutants.

    One ID shows everything that is known about it.
    """
    out = console()
    chosen = [
        requirement
        for requirement in load_catalogue().requirements.values()
        if not ids or any(fnmatchcase(requirement.id, glob) for glob in ids)
    ]
    if not chosen:
        raise click.UsageError(f"no requirement matches {' '.join(ids)}: without GLOB all are listed")
    sightings = certify_reference().sightings if traced else {}
    rows = [row(requirement, sightings) for requirement in chosen]
    if as_json:
        click.echo(json.dumps(rows, ensure_ascii=False, indent=2))
    elif len(rows) == 1:
        _show_one(out, rows[0])
    else:
        _show_all(out, rows, traced)


def row(requirement: Requirement, sightings: dict[str, dict[str, int]]) -> dict[str, Any]:
    """Everything that is known about one requirement."""
    checks = CHECKS.get(requirement.id, [])
    status, reason = ("checked", "") if checks else unchecked(requirement)
    out: dict[str, Any] = {
        "id": requirement.id,
        "section": requirement.section,
        "anchor": requirement.anchor,
        "level": requirement.level,
        "keyword": requirement.keyword,
        "observable": requirement.observable,
        "statement": requirement.statement,
        "positions": list(requirement.positions),
        "softened": requirement.softened,
        "status": status,
        "reason": reason,
        "checks": [{"name": check.name, "summary": check.summary} for check in checks],
        "scenarios": [s.name for s in SCENARIOS.values() if requirement.id in s.exercises],
        "mutants": [m.name for m in MUTANTS.values() if m.requirement == requirement.id],
    }
    if sightings:
        out["exercised_in"] = sightings.get(requirement.id, {})
    return out


def _show_all(out: Console, rows: list[dict[str, Any]], traced: bool) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("ID", no_wrap=True)
    table.add_column("Level", no_wrap=True)
    table.add_column("Runs" if traced else "Check", no_wrap=True, justify="right" if traced else "left")
    table.add_column("Statement", overflow="fold")
    styles = {"checked": "green", "planned": "yellow", "untestable": "dim"}
    for r in rows:
        third = str(len(r["exercised_in"])) if traced else r["status"]
        table.add_row(r["id"], _short_level(r["level"]), Text(third, styles[r["status"]]), r["statement"])
    out.print(table)
    counts = {status: sum(1 for r in rows if r["status"] == status) for status in styles}
    out.print(f"\n{len(rows)} requirements: " + ", ".join(f"{n} {status}" for status, n in counts.items() if n))


def _short_level(level: str) -> str:
    return {"RECOMMENDED": "RECOMM.", "SHOULD NOT": "SHLD NOT"}.get(level, level)


def _show_one(out: Console, r: dict[str, Any]) -> None:
    out.print(Text.assemble((r["id"], "bold"), f"  {r['level']} ({r['keyword']}), section {r['anchor']!r}"))
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row("Statement", r["statement"])
    grid.add_row("Observable", r["observable"])
    grid.add_row("Positions", ", ".join(r["positions"]) or "none")
    if r["softened"]:
        grid.add_row("Softened", f"a violation is a warning by {r['softened']}; --strict makes it a failure")
    grid.add_row("Status", r["status"] + (f": {r['reason']}" if r["reason"] else ""))
    for check in r["checks"]:
        grid.add_row("Check", f"{check['name']}: {check['summary']}")
    for name in r["scenarios"]:
        grid.add_row("Scenario", f"{name}: {SCENARIOS[name].summary}")
    for name in r["mutants"]:
        grid.add_row("Mutant", f"{name}: {MUTANTS[name].summary}")
    for name, count in r.get("exercised_in", {}).items():
        grid.add_row("Exercised", f"{count} times in {name}")
    out.print(grid)
