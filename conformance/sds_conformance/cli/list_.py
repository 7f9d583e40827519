"""``sds-conformance list``."""

from __future__ import annotations

import click
from rich.text import Text

from ..presentation.story import plain_table, unwrapped_column
from .name_types import KINDS, NameChoice, names_of
from .options import console, which_revision
from .output_filter import print_json

_KINDS = "\n".join(f"  {name:<13} names for {kind.used_by}" for name, kind in KINDS.items())
_EPILOG = f"""
\b
KIND is one of:
{_KINDS}

\b
Examples:
  sds-conformance list revisions
  sds-conformance list scenarios
  sds-conformance list passages --revision clearskies-database
  sds-conformance list events --json
"""


@click.command("list", epilog=_EPILOG)
@click.argument("kind", metavar="KIND", type=NameChoice(list(KINDS)))
@which_revision("The revision whose names to list.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object of names and summaries.")
def list_command(kind: str, revision: str, as_json: bool) -> None:
    """List the names that options take.

    The names depend on the revision. `sds-conformance requirements NAME` describes a requirement, a position or a
    scenario in full.
    """
    names = names_of(kind, revision)
    if as_json:
        print_json(names)
        return
    if not names:
        click.echo(f"{revision} has no {kind}.")
        return
    out = console()
    table = plain_table(unwrapped_column(kind.capitalize()), "Summary")
    for name, summary in names.items():
        table.add_row(Text(name), Text(summary))
    out.print(table)
