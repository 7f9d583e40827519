"""``sds-conformance scenarios validate``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from sds_harness.declaration import printable

from ...judging.exits import Exit
from ...scenario_files.reader import ScenarioFileError, errors_in, files_in
from ..files import usage_errors
from ..paths import INPUT

_EPILOG = """
\b
Examples:
  sds-conformance scenarios validate my-scenario.yaml
  sds-conformance scenarios validate my-scenarios counterexamples

The exit code is 2 if a file has an error.
"""


@click.command("validate", epilog=_EPILOG)
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
