"""``sds-conformance scenarios``: list, show and validate scenarios."""

from __future__ import annotations

import sys
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import click
from rich.text import Text

from sds_harness.declaration import printable
from sds_harness.link import Limits
from sds_harness.schedules import Schedule
from sds_harness.schedules.files import to_json, to_yaml

from ..exploration.cast_under_test import CastUnderTest
from ..judging.exits import Exit
from ..judging.plan import plan
from ..judging.registry import Scenario
from ..presentation.story import plain_table, unwrapped_column
from ..protocols import protocol_of, protocols, repertoire_of, rules_of
from ..scenario_files.reader import SUFFIXES, ScenarioFileError, errors_in, files_in, load_one
from .command_groups import HelpGroup
from .files import usage_errors, write_file
from .name_types import Pattern, names_of, unknown_name_message
from .options import CURRENT, console, which_revision
from .output_filter import print_json
from .paths import INPUT, OUTPUT_FILE

_EPILOG = """
\b
Examples:
  sds-conformance scenarios list 'waiting-*'
  sds-conformance scenarios show my-scenario.yaml
  sds-conformance scenarios validate my-scenarios

`sds-conformance docs scenario-files` describes the format, and
`sds-conformance run --scenario-file FILE` plays a file.
"""
_LIST = """
\b
Examples:
  sds-conformance scenarios list
  sds-conformance scenarios list 'waiting-*' '*sync*'
  sds-conformance scenarios list --revision clearskies-database --json
"""
_SHOW = """
\b
Examples:
  sds-conformance scenarios show ties
  sds-conformance scenarios show my-scenario.yaml --svg picture.svg
  sds-conformance scenarios show counterexamples/SDS-RECV-06.json
  sds-conformance scenarios show my-scenario.yaml --json > my-scenario.json
"""
_VALIDATE = """
\b
Examples:
  sds-conformance scenarios validate my-scenario.yaml
  sds-conformance scenarios validate my-scenarios counterexamples

The exit code is 2 if a file has an error.
"""


@click.group("scenarios", cls=HelpGroup, epilog=_EPILOG)
def scenarios_command() -> None:
    """List, show and validate scenarios."""


@scenarios_command.command("list", epilog=_LIST)
@click.argument("globs", nargs=-1, metavar="[GLOB]...", type=Pattern("scenarios"))
@which_revision("The revision whose scenarios to list.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def list_command(globs: tuple[str, ...], revision: str, as_json: bool) -> None:
    """List the scenarios of the suite.

    `sds-conformance scenarios show NAME` prints a scenario as a scenario file, which you can change and play.
    """
    there = plan(rules_of(revision), revision=revision).scenarios
    for glob in globs:
        if not any(fnmatchcase(scenario.name, glob) for scenario in there):
            raise click.UsageError(unknown_name_message("scenarios", glob, revision))
    chosen = [s for s in there if not globs or any(fnmatchcase(s.name, glob) for glob in globs)]
    if as_json:
        print_json(
            [
                {
                    "name": scenario.name,
                    "summary": scenario.summary,
                    "requirements": list(scenario.exercises),
                }
                for scenario in chosen
            ]
        )
        return
    out = console()
    table = plain_table(unwrapped_column("Scenario"), "Summary")
    for scenario in chosen:
        table.add_row(Text(scenario.name), scenario.summary)
    out.print(table)


@scenarios_command.command("show", epilog=_SHOW)
@click.argument("what", metavar="NAME|FILE")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of YAML.")
@click.option(
    "--svg",
    "picture",
    type=OUTPUT_FILE,
    metavar="FILE",
    help="Play the scenario on the reference model, and write a diagram of the run to FILE.",
)
def show_command(what: str, as_json: bool, picture: Path | None) -> None:
    """Show a scenario, as data and as a diagram.

    NAME is a scenario of the suite, FILE a scenario file or a counterexample. The output is a scenario file, in YAML.
    """
    if Path(what).suffix.lower() in SUFFIXES or Path(what).is_file():
        with usage_errors(ScenarioFileError):
            loaded = load_one(Path(what))
        revision, schedule = loaded.revision or CURRENT, loaded.schedule
        if schedule.name == loaded.name:
            schedule = replace(
                schedule, name=""
            )  # a scenario file needs no field for its name, because it has the name of the file
    else:
        revision, scenario = built_in_scenario(what)
        if scenario.schedule is None:
            raise click.UsageError(f"{what} is a function in Python and not a schedule, so it cannot be shown")
        schedule = as_scenario_file(scenario, scenario.schedule, revision)
    if as_json:
        print_json(to_json(schedule))
    else:
        click.echo(to_yaml(schedule, repertoire_of(revision).notation), nl=False)
    if picture is not None:
        write_file(picture, draw(schedule, revision))


@scenarios_command.command("validate", epilog=_VALIDATE)
@click.argument("paths", nargs=-1, required=True, type=INPUT, metavar="FILE|DIR...")
def validate_command(paths: tuple[Path, ...]) -> None:
    """Check scenario files without playing them.

    Each error names the file, the line and the field.
    """
    with usage_errors(ScenarioFileError):
        files = files_in(paths)
    wrong = False
    for file in files:
        found = errors_in(file)
        wrong |= bool(found)
        for sentence in found or [f"{printable(str(file), 300)}: ok"]:
            click.echo(sentence)
    sys.exit(Exit.USAGE if wrong else Exit.CONFORMANT)


def built_in_scenario(name: str) -> tuple[str, Scenario]:
    """Return a scenario of the suite, and a revision for which it is played. Raises UsageError."""
    for protocol in protocols():
        if found := protocol.rules.register.scenarios.get(name):
            stated = protocol.rules.catalogue.requirements
            return next(r for each in found.declared for r in stated[each].revisions), found
    if name in names_of("scenarios"):
        raise AssertionError(f"the scenario {name} is listed but not registered")
    raise click.UsageError(unknown_name_message("scenarios", name, CURRENT))


def as_scenario_file(scenario: Scenario, schedule: Schedule, revision: str) -> Schedule:
    """Return the schedule of a scenario of the suite, with the descriptive fields of a scenario file."""
    stated = rules_of(revision).catalogue.requirements
    met = [one for one in scenario.exercises if one not in scenario.violated and stated[one].is_stated_in(revision)]
    notes = (("revision", revision),) if revision != CURRENT else ()
    return replace(schedule, name="", description=scenario.summary, requirements=tuple(met), notes=notes)


def draw(schedule: Schedule, revision: str) -> str:
    """Play the schedule on the reference model, and return a diagram of the run as SVG."""
    from ..drawing.spacetime import spacetime_svg  # not at the top, because the import is slow

    cast_under_test = CastUnderTest(
        lambda _: protocol_of(revision).model.reference(frozenset()), Limits(), revision=revision
    )
    try:
        cast_under_test.start()
        group_trace = cast_under_test.play(schedule)
    finally:
        cast_under_test.kill()
    return spacetime_svg(group_trace, title=f"{schedule.name or 'a scenario'}: the reference model")
