"""``sds-conformance corpus``: record, judge, compare and show stored schedules."""

from __future__ import annotations

import click

from ..command_groups import Commands

_SECTIONS = {
    "Commands": {
        "record": "Play generated schedules and store their traces as a corpus.",
        "check": "Judge a stored corpus, without the implementation.",
        "diff": "Compare two corpora and judge each difference.",
        "show": "Show one schedule of a corpus, as a table and a diagram.",
    }
}
"""Headings and commands. The commands are imported when they are invoked, because they need PySpark and Arrow."""
_EPILOG = """
\b
Examples:
  sds-conformance corpus record --out a --schedules 10000 -- ./my-adapter
  sds-conformance corpus record --out b --schedules 10000
  sds-conformance corpus check a
  sds-conformance corpus diff a b --out difference
  sds-conformance corpus show a 17

`record`, `check` and `diff` are Spark jobs. They run on this machine by default
and on a cluster with --master. Install Spark with
pip install 'sds-conformance[spark]'
"""


@click.group("corpus", cls=Commands, package=__name__, sections=_SECTIONS, epilog=_EPILOG)
def corpus_command() -> None:
    """Record, judge, compare and show stored schedules."""
