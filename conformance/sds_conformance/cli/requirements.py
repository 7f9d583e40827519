"""``sds-conformance requirements``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

import click
from rich.console import Console
from rich.padding import Padding
from rich.progress import Progress, TextColumn
from rich.table import Table
from rich.text import Text

from ..judging.catalogue import POSITION_VERDICTS, POSITIONS, Catalogue, Position, Requirement
from ..judging.exercise import NOTHING, certify_every_revision
from ..protocols import Protocol, protocols
from .options import animated, console, full_id
from .showing import print_json

Sightings = Mapping[str, Mapping[str, int]]
"""By requirement: the runs in which it was exercised, and how often."""

_TOLD = ("id", "section", "anchor", "level", "keyword", "observable", "statement")
"""Of a requirement as it stands in the catalogue."""
_STYLES = {"checked": "green", "untestable": "dim"}
_EPILOG = """
\b
Examples:
  sds-conformance requirements
  sds-conformance requirements 'SDS-RECV-*'
  sds-conformance requirements SDS-RECV-06
  sds-conformance requirements AMB-24
  sds-conformance requirements --json > requirements.json
"""


@click.command("requirements", epilog=_EPILOG)
@click.argument("ids", nargs=-1, metavar="[GLOB]...")
@click.option("--no-run", is_flag=True, help="Play nothing, and leave out in how many runs each was exercised.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def requirements_command(ids: tuple[str, ...], no_run: bool, as_json: bool) -> None:
    """List the requirements, and how each is tested.

    For each: its level, the numbers of checks, scenarios and mutants, in how many runs of the reference model it was
    exercised just now, and its statement. One ID shows everything that is known about it.

    A GLOB that begins with AMB lists positions instead: what the text leaves open, what the suite does about it, and
    which requirements it concerns. Findings cite them.
    """
    globs = [full_id(glob) for glob in ids]
    chosen = [
        (protocol, requirement)
        for protocol in protocols()
        for requirement in protocol.rules.catalogue.requirements.values()
        if not globs or any(fnmatchcase(requirement.id, glob) for glob in globs)
    ]
    # Who types '*' wants requirements, as ever: a position has to be asked for by the beginning of its ID.
    wanted = [glob for glob in globs if glob.startswith(POSITIONS)]
    positions = [
        (protocol.rules.catalogue, position)
        for protocol in protocols()
        for position in protocol.rules.catalogue.positions.values()
        if any(fnmatchcase(position.id, glob) for glob in wanted)
    ]
    if not chosen and not positions:
        raise click.UsageError(
            f"no requirement matches {' '.join(ids)}: without GLOB all are listed, and '{POSITIONS}-*' lists the "
            "positions"
        )
    sightings = None if no_run or not chosen else _sightings(console(stderr=True))
    rows = [row(protocol, requirement, sightings) for protocol, requirement in chosen]
    open_points = [position_row(*found) for found in positions]
    out = console()
    if as_json:
        print_json(rows + open_points)
        return
    if len(rows) == 1:
        _show_one(out, chosen[0][0], rows[0])
    elif rows:
        _show_all(out, rows)
    for number, r in enumerate(open_points):
        if rows or number:
            out.print()
        _show_position(out, positions[number][0], r, statements=len(open_points) == 1)


def row(protocol: Protocol, requirement: Requirement, sightings: Sightings | None) -> dict[str, Any]:
    """Everything that is known about one requirement; without ``sightings`` all but where it was exercised."""
    register = protocol.rules.register
    checks = register.checks.get(requirement.id, [])
    status, reason = ("checked", "") if checks else ("untestable", protocol.rules.untestable[requirement.id])
    exercised = None if sightings is None else dict(sightings.get(requirement.id, {}))
    return {
        **{key: getattr(requirement, key) for key in _TOLD},
        "positions": list(requirement.positions),
        "softened": requirement.softened,
        "status": status,
        "reason": reason,
        "checks": [{"name": check.name, "summary": check.summary} for check in checks],
        "scenarios": [s.name for s in register.scenarios.values() if requirement.id in s.exercises],
        "mutants": [m.name for m in protocol.model.mutants.values() if m.requirement == requirement.id],
        "runs": None if exercised is None else len(exercised),
        "exercised_in": exercised,
    }


def position_row(catalogue: Catalogue, position: Position) -> dict[str, Any]:
    """Everything that is known about one position."""
    concerned = [r.id for r in catalogue.requirements.values() if position.id in r.positions]
    return {**asdict(position), "requirements": concerned}


def _sightings(err: Console) -> Sightings:
    """Where each requirement was exercised in a run of the reference model."""
    with Progress(TextColumn("{task.description}"), console=err, transient=True, disable=not animated(err)) as bar:
        task = bar.add_task("playing the scenarios")

        def progress(name: str, number: int, total: int) -> None:
            bar.update(task, description=f"playing {number} of {total}: {name}")

        found: dict[str, Mapping[str, int]] = {}
        for protocol in protocols():
            runs = certify_every_revision(protocol.rules, partial(protocol.model.reference, NOTHING), progress)
            for run in reversed(runs.values()):
                found |= run.sightings
        return found


def _show_all(out: Console, rows: list[dict[str, Any]]) -> None:
    ids = max(len(r["id"]) for r in rows)
    levels = max(len(r["level"]) for r in rows)
    for r in rows:
        tested = Text(_tested(r) if r["status"] == "checked" else r["status"], _STYLES[r["status"]])
        out.print(Text.assemble((f"{r['id']:<{ids}}  ", "bold"), f"{r['level']:<{levels}}  ", tested))
        out.print(Padding(Text(r["statement"]), (0, 0, 0, 2), expand=False))
        if r["reason"]:
            out.print(Padding(Text(f"Why not: {r['reason']}.", "dim"), (0, 0, 0, 2), expand=False))
    counts = {status: sum(1 for r in rows if r["status"] == status) for status in _STYLES}
    out.print(f"\n{len(rows)} requirements: " + ", ".join(f"{n} {status}" for status, n in counts.items() if n))


def _tested(r: dict[str, Any]) -> str:
    """How many checks, scenarios, mutants and runs, in columns."""
    counts = [(len(r["checks"]), "check"), (len(r["scenarios"]), "scenario"), (len(r["mutants"]), "mutant")]
    counts += [(r["runs"], "run")] if r["runs"] is not None else []
    return " ".join(f"{n:>3} {what + ('s' if n != 1 else ''):<{len(what) + 1}}" for n, what in counts).rstrip()


def _show_one(out: Console, protocol: Protocol, r: dict[str, Any]) -> None:
    out.print(Text.assemble((r["id"], "bold"), f"  {r['level']} ({r['keyword']}), section {r['anchor']!r}"))
    grid = _grid()
    grid.add_row("Statement", r["statement"])
    grid.add_row("Observable", r["observable"])
    for name in r["positions"]:
        grid.add_row("Position", f"{name}: {protocol.rules.catalogue.positions[name].position}")
    if r["softened"]:
        grid.add_row("Softened", f"a violation is a warning by {r['softened']}; --strict makes it a failure")
    grid.add_row("Status", r["status"] + (f": {r['reason']}" if r["reason"] else ""))
    for check in r["checks"]:
        grid.add_row("Check", f"{check['name']}: {check['summary']}")
    for name in r["scenarios"]:
        grid.add_row("Scenario", f"{name}: {protocol.rules.register.scenarios[name].summary}")
    for name in r["mutants"]:
        grid.add_row("Mutant", f"{name}: {protocol.model.mutants[name].summary}")
    if r["exercised_in"] is not None:
        total = sum(r["exercised_in"].values())
        where = ", ".join(f"{name} ({count})" for name, count in r["exercised_in"].items())
        grid.add_row("Exercised", f"{total} times in {r['runs']} runs: {where}" if total else "never")
    out.print(grid)


def _show_position(out: Console, catalogue: Catalogue, r: dict[str, Any], *, statements: bool) -> None:
    """One position; with ``statements`` of the requirements it concerns, else with their IDs alone."""
    out.print(Text(r["id"], "bold"))
    grid = _grid()
    grid.add_row("Open", r["question"])
    grid.add_row("Position", r["position"])
    grid.add_row("Verdict", f"{r['verdict']}: {POSITION_VERDICTS[r['verdict']]}")
    known = catalogue.requirements
    if statements:
        for requirement_id in r["requirements"]:
            grid.add_row("Concerns", f"{requirement_id}: {known[requirement_id].statement}")
    else:
        grid.add_row("Concerns", ", ".join(r["requirements"]))
    out.print(grid)


def _grid() -> Table:
    """Labels on the left, what they say on the right."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    return grid
