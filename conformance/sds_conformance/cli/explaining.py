"""How requirements, positions, properties and scenarios are listed, and how one of them is explained."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.style import Style
from rich.table import Table
from rich.text import Text

from ..judging.catalogue import POSITION_VERDICTS
from ..judging.quoting import counted
from ..judging.severity import SEVERITIES
from ..protocols import Protocol, default, repertoires, revisions
from .known import POSITION, PROPERTY, REQUIREMENT, SCENARIO
from .options import program

Row = dict[str, Any]
_STYLES = {"checked": "green", "untestable": "dim"}
_HEADINGS = {
    POSITION: "Positions: what the text leaves open",
    PROPERTY: "Properties of the group, which generated schedules show",
    SCENARIO: "Scenarios",
}


def show(out: Console, found: list[tuple[Protocol, Row]]) -> None:
    """One thing in full, or several in lists with headings."""
    if len(found) == 1:
        protocol, row = found[0]
        {REQUIREMENT: _requirement, POSITION: _position, PROPERTY: _property, SCENARIO: _scenario}[row["kind"]](
            out, protocol, row
        )
        return
    _list_requirements(out, [(protocol, row) for protocol, row in found if row["kind"] == REQUIREMENT])
    began = found[0][1]["kind"] == REQUIREMENT
    for kind, heading in _HEADINGS.items():
        rows = [(protocol, row) for protocol, row in found if row["kind"] == kind]
        if rows and began:
            out.print()
        if rows:
            began = True
            out.print(Text(heading, "bold underline"))
        for number, (protocol, row) in enumerate(rows):
            if kind == POSITION:
                if number:
                    out.print()
                _position(out, protocol, row, statements=False)
            else:
                title = f"  {row['title']}" if kind == PROPERTY else ""
                _listed(out, Text.assemble((row["id"], "bold"), title), row["summary"])


def _listed(out: Console, head: Text, said: str) -> None:
    out.print(head)
    out.print(Padding(Text(said), (0, 0, 0, 2), expand=False))


def _list_requirements(out: Console, found: list[tuple[Protocol, Row]]) -> None:
    if not found:
        return
    ids = max(len(r["id"]) for _, r in found)
    levels = max(len(r["level"]) for _, r in found)
    section = None
    for protocol, r in found:
        if r["section"] != section:
            if section is not None:
                out.print()
            section = r["section"]
            out.print(_heading(protocol, r))
        tested = Text(_tested(r) if r["status"] == "checked" else r["status"], _STYLES[r["status"]])
        _listed(
            out, Text.assemble((f"{r['id']:<{ids}}  ", "bold"), f"{r['level']:<{levels}}  ", tested), r["statement"]
        )
        if r["reason"]:
            out.print(Padding(Text(f"Why not: {r['reason']}.", "dim"), (0, 0, 0, 2), expand=False))
    counts = {status: sum(1 for _, r in found if r["status"] == status) for status in _STYLES}
    told = ", ".join(f"{n} {status}" for status, n in counts.items() if n)
    out.print(f"\n{counted(len(found), 'requirement')}: {told}")


def _heading(protocol: Protocol, r: Row) -> Text:
    """The section of a requirement, and whose: where the terminal can, a click leads to the text."""
    title = next(section.title for section in protocol.rules.catalogue.sections if section.id == r["section"])
    style = Style(bold=True, underline=True, link=r["link"] or None)
    revision = protocol.rules.catalogue.requirements[r["id"]].revisions[0]
    return Text.assemble((title, style), (f"  {revision}: {revisions()[revision].title}", "dim"))


def _tested(r: Row) -> str:
    """How many checks, scenarios, mutants and runs, in columns."""
    counts = [(len(r["checks"]), "check"), (len(r["scenarios"]), "scenario"), (len(r["mutants"]), "mutant")]
    counts += [(r["runs"], "run")] if r["runs"] is not None else []
    return " ".join(f"{n:>3} {what + ('s' if n != 1 else ''):<{len(what) + 1}}" for n, what in counts).rstrip()


def _requirement(out: Console, protocol: Protocol, r: Row) -> None:
    out.print(Text.assemble((r["id"], "bold"), f"  {r['level']} ({r['keyword']}), section {r['anchor']!r}"))
    if r["link"]:
        # Whole, to be copied: a line end in it would break it.
        out.print(Text(r["link"], Style(color="blue", link=r["link"])), soft_wrap=True)
    grid = _grid()
    grid.add_row("Statement", r["statement"])
    grid.add_row("Severity", f"{r['severity']}: a violation {SEVERITIES[r['severity']]}")
    grid.add_row("Observable", r["observable"])
    for name in r["positions"]:
        grid.add_row("Position", f"{name}: {protocol.rules.catalogue.positions[name].position}")
    if r["softened"]:
        grid.add_row("Softened", f"a violation is a warning by {r['softened']}; --strict makes it a failure")
    grid.add_row("Status", r["status"] + (f": {r['reason']}" if r["reason"] else ""))
    _add_codes(grid, r)
    for check in r["checks"]:
        grid.add_row("Check", f"{check['name']}: {check['summary']}")
    for name in r["scenarios"]:
        grid.add_row("Scenario", f"{name}: {protocol.rules.register.scenarios[name].summary}")
    for name in r["mutants"]:
        grid.add_row("Mutant", f"{name}: {protocol.model.mutants[name].summary}")
    if r["exercised_in"] is not None:
        total = sum(r["exercised_in"].values())
        where = ", ".join(f"{name} ({count})" for name, count in r["exercised_in"].items())
        grid.add_row(
            "Exercised", f"{counted(total, 'time')} in {counted(r['runs'], 'run')}: {where}" if total else "never"
        )
    out.print(grid)


def _position(out: Console, protocol: Protocol, r: Row, *, statements: bool = True) -> None:
    """One position; with ``statements`` of the requirements it concerns, else with their IDs alone."""
    out.print(Text(r["id"], "bold"))
    grid = _grid()
    grid.add_row("Open", r["question"])
    grid.add_row("Position", r["position"])
    grid.add_row("Verdict", f"{r['verdict']}: {POSITION_VERDICTS[r['verdict']]}")
    for way in r["ways"]:
        grid.add_row("Way", f"{way['way']}: {way['words']}")
    if r["untold"]:
        grid.add_row("Ways", f"no run tells them: {r['untold']}")
    if statements:
        _add_statements(grid, "Concerns", protocol, r["requirements"])
    else:
        grid.add_row("Concerns", ", ".join(r["requirements"]))
    out.print(grid)


def _property(out: Console, protocol: Protocol, r: Row) -> None:
    out.print(Text.assemble((r["id"], "bold"), "  property of the group"))
    grid = _grid()
    grid.add_row("Rule", f"{r['title']}.")
    grid.add_row("Check", r["summary"])
    if r["says"]:
        grid.add_row("Text", f"“{r['says']}”")
    _add_codes(grid, r)
    _add_statements(grid, "Rests on", protocol, r["requirements"])
    about = next(known.revisions for known in repertoires() if r["id"] in known.properties)
    which = "" if default().rules.current in about else f" --revision {about[0]}"
    grid.add_row("Played by", f"generated schedules: `{program()} fuzz{which} -- COMMAND`")
    out.print(grid)


def _scenario(out: Console, protocol: Protocol, r: Row) -> None:
    out.print(Text.assemble((r["id"], "bold"), "  scenario"))
    grid = _grid()
    grid.add_row("Plot", r["summary"])
    _add_statements(grid, "For", protocol, r["requirements"])
    grid.add_row("Played in", ", ".join(r["environments"]))
    grid.add_row("Play it", f"{program()} run --scenario {r['id']} -- COMMAND")
    out.print(grid)


def _add_codes(grid: Table, r: Row) -> None:
    for violation in r["codes"]:
        grid.add_row("Violation", f"{violation['code']}: {violation['description']}")


def _add_statements(grid: Table, label: str, protocol: Protocol, requirements: list[str]) -> None:
    for name in requirements:
        grid.add_row(label, f"{name}: {protocol.rules.catalogue.requirements[name].statement}")


def _grid() -> Table:
    """Labels on the left, what they say on the right."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    return grid
