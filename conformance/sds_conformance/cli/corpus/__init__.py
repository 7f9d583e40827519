"""``sds-conformance corpus``: many performances recorded, judged, shown and compared."""

from __future__ import annotations

import click

from ..later import Commands

_COMMANDS = {
    "record": "Play generated schedules on an implementation and keep all that happens as a corpus.",
    "check": "Judge every requirement and every property on a stored corpus, without the implementation.",
    "diff": "Compare two corpora of the same schedules, and say whose fault each difference is.",
    "show": "Show one schedule of a corpus: its steps as a table, and its space-time diagram.",
}
"""Imported when they are wanted: PySpark and Arrow are not for everybody."""
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


@click.group("corpus", cls=Commands, package=__name__, said=_COMMANDS, epilog=_EPILOG)
def corpus_command() -> None:
    """Record many schedules, judge them without the implementation, compare two implementations."""
