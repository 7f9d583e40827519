"""``sds-conformance scenarios list``."""

from __future__ import annotations

from fnmatch import fnmatchcase

import click
from rich.text import Text

from ...judging.plan import plan
from ...presentation.story import plain_table, unwrapped_column
from ...protocols import revisions, rules_of
from ..name_types import NameChoice, Pattern, unknown_name_message
from ..options import CURRENT, console
from ..output_filter import print_json

_EPILOG = """
\b
Examples:
  sds-conformance scenarios list
  sds-conformance scenarios list 'waiting-*' '*sync*'
  sds-conformance scenarios list --revision clearskies-database --json
"""


@click.command("list", epilog=_EPILOG)
@click.argument("globs", nargs=-1, metavar="[GLOB]...", type=Pattern("scenarios"))
@click.option(
    "--revision",
    type=NameChoice(list(revisions())),
    default=CURRENT,
    show_default=True,
    help="The revision whose scenarios to list.",
)
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
