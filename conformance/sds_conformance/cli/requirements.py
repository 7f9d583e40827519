"""``sds-conformance requirements``."""

from __future__ import annotations

from dataclasses import asdict

import click
from rich.progress import Progress, TextColumn

from sds_harness.environment import PLAIN

from ..judging.catalogue import Position, Requirement
from ..judging.registry import Scenario
from ..judging.rules import Rules
from ..judging.sightings import Sightings, kept, played
from ..protocols import Protocol
from ..protocols.properties import GlobalProperty
from .explaining import Row, show
from .known import KINDS, REQUIREMENT, Entry, chosen
from .names import Pattern
from .options import animated, console
from .showing import print_json

_TOLD = ("id", "section", "anchor", "link", "level", "severity", "keyword", "observable", "statement")
"""Of a requirement as it stands in the catalogue."""
_EPILOG = """
\b
Examples:
  sds-conformance requirements
  sds-conformance requirements duplicates
  sds-conformance requirements causal history --kind requirement
  sds-conformance requirements 'SDS-RECV-*'
  sds-conformance requirements SDS-RECV-06
  sds-conformance requirements AMB-24
  sds-conformance requirements G-01
  sds-conformance requirements a-missing-dependency
  sds-conformance requirements --json > requirements.json
  sds-conformance requirements SDS-RECV-06 --run
"""


@click.command("requirements", epilog=_EPILOG)
@click.argument("asked", nargs=-1, type=Pattern("requirements", "scenarios"), metavar="[GLOB | WORD]...")
@click.option("--kind", "kinds", type=click.Choice(KINDS), multiple=True, help="List only this kind; repeatable.")
@click.option(
    "--run/--no-run",
    "to_run",
    default=None,
    help="Play all scenarios to count the runs that exercise each requirement, or omit that count.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON; without GLOB or WORD, only of requirements.")
def requirements_command(asked: tuple[str, ...], kinds: tuple[str, ...], to_run: bool | None, as_json: bool) -> None:
    """List the requirements and how the suite tests them.

    The list shows the level of each requirement, its statement, and the numbers of checks, scenarios, mutants and runs
    of the reference model that exercise it. Properties of the group and scenarios follow. An ID, or the name of a
    scenario, shows all details and the link to the specification.

    'AMB-*' lists the positions: questions that the specification leaves open, with the answer of the suite. Findings
    cite them. 'G-*' lists the properties of the group, which `fuzz` judges. Any other WORD searches names, statements
    and sections.
    """
    found, searched = chosen(asked, kinds or ((REQUIREMENT,) if as_json and not asked else ()))
    concerned = {entry.protocol.name: entry.protocol for entry in found if entry.kind == REQUIREMENT}
    sightings = {
        name: _sightings(protocol, anew=to_run, wait=not searched)
        for name, protocol in concerned.items()
        if to_run is not False
    }
    rows = [explained(entry, sightings.get(entry.protocol.name)) for entry in found]
    if as_json:
        print_json(rows)
    else:
        show(console(), [(entry.protocol, told) for entry, told in zip(found, rows, strict=True)])


def explained(entry: Entry, sightings: Sightings | None) -> Row:
    """Everything that is known about it; without ``sightings`` all but where a requirement was exercised."""
    protocol, about = entry.protocol, entry.about
    match about:
        case Requirement():
            told = row(protocol, about, sightings)
        case Position():
            told = position_row(protocol.rules, about)
        case GlobalProperty():
            told = {"id": about.id, "title": about.title, "summary": about.summary}
            told |= {"says": about.says, "requirements": list(about.requirements)}
        case Scenario():
            environments = [PLAIN.name] if about.long else list(protocol.rules.environments)
            told = {"id": about.name, "summary": about.summary, "requirements": list(about.exercises)}
            told["environments"] = environments
    return {"kind": entry.kind, **told}


def row(protocol: Protocol, requirement: Requirement, sightings: Sightings | None) -> Row:
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


def position_row(rules: Rules, position: Position) -> Row:
    """Everything that is known about one position."""
    concerned = [r.id for r in rules.catalogue.requirements.values() if position.id in r.positions]
    choices = rules.register.choices.get(position.id, ())
    ways = {way: words for choice in choices for way, words in choice.ways.items()}
    return {
        **asdict(position),
        "ways": [{"way": way, "words": words} for way, words in ways.items()],
        "untold": rules.untold.get(position.id, ""),
        "requirements": concerned,
    }


def _sightings(protocol: Protocol, *, anew: bool | None, wait: bool) -> Sightings | None:
    """Where each requirement is exercised. What nothing was kept of is played, unless nobody is to ``wait`` for it."""
    known = None if anew else kept(protocol.model)
    if known is not None or not (anew or wait):
        return known
    err = console(stderr=True)
    with Progress(TextColumn("{task.description}"), console=err, transient=True, disable=not animated(err)) as bar:
        task = bar.add_task("playing the scenarios")

        def progress(name: str, number: int, total: int) -> None:
            bar.update(task, description=f"playing {number} of {total}: {name}")

        return played(protocol.rules, protocol.model, progress)
