"""``sds-conformance corpus``: many performances recorded, judged, shown and compared."""

from __future__ import annotations

from importlib import import_module

import click

_EPILOG = """
\b
Examples:
  sds-conformance corpus record --out a --schedules 10000 -- ./my-adapter
  sds-conformance corpus record --out b --schedules 10000
  sds-conformance corpus check a
  sds-conformance corpus diff a b --out difference
  sds-conformance corpus show a 17

Recording, judging and comparing are Spark jobs: in this process by default,
the same on a cluster with --master. They need the extra `spark`:
pip install 'sds-conformance[spark]'
"""


class Commands(click.Group):
    """The commands, each imported when it is wanted: PySpark and Arrow are not for everybody."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return ["record", "check", "diff", "show"]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.list_commands(ctx):
            return None
        command: click.Command = getattr(import_module(f".{name}", __name__), f"{name}_command")
        return command


@click.group(cls=Commands, epilog=_EPILOG)
def corpus() -> None:
    """Record many schedules, judge them without the implementation, compare two implementations."""
