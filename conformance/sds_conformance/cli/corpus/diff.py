"""``sds-conformance corpus diff``."""

from __future__ import annotations

import re
import shlex
import sys
import time
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Column
from rich.text import Text

from sds_harness.resources import usable_processors

from ...exploration.assessment import Scope, judged_revision
from ...exploration.text import severity_number
from ...judging.exits import Exit
from ...judging.formats import format_count
from ...judging.verdict import Verdict
from ...presentation.last_screen import CauseLine, LastScreen, show_last_screen, sort_causes
from ...presentation.story import plain_table, print_labelled, show_command
from ...protocols import stating
from ..options import STORY_OPTIONS, console, program
from ..output_filter import print_json
from ..paths import INPUT_PLACE, OUTPUT_PLACE
from .shared import corpus_at, of_profile, on_spark, spark_job

if TYPE_CHECKING:
    from sds_harness.corpus.place import Place
    from sds_harness.corpus.spark import SparkOptions

    from ...corpus.difference import CorpusDifference, DivergenceCause
    from ...corpus.report import DivergenceSample

_EPILOG = """
\b
Examples:
  sds-conformance corpus diff old new --out difference
  sds-conformance corpus diff --verify-digests old new --out difference

A and B are corpora of the same schedules. The checks judge each difference: it
is legal, a violation by A, by B or by both, or unexplained. DIR receives
index.html, summary.json, causes.parquet, divergences/ (Parquet) and samples/,
schedules for `replay`. `corpus check` judges the traces that are equal.

\b
Exit codes:
  0   equal, or only legal differences
  1   other differences
  2   usage error, or corpora that are damaged or not comparable
  70  fault of the suite, or of Spark
"""
_SHOWN = 12
"""Maximum number of causes that are printed."""
_LINES = 3
"""Maximum number of lines of proof that are printed for a cause."""


@click.command("diff", epilog=_EPILOG)
@click.argument("a", type=INPUT_PLACE, metavar="A")
@click.argument("b", type=INPUT_PLACE, metavar="B")
@click.option(
    "--out",
    "folder",
    type=OUTPUT_PLACE,
    required=True,
    metavar="DIR",
    help="Folder for the result, as a path or a URI.",
)
@click.option("--verify-digests", "verify", is_flag=True, help="Compute all digests again from the stored rows.")
@click.option("--read-all", is_flag=True, help="Compare all rows, not only the digests.")
@click.option("--checks/--no-checks", default=True, help="Judge the differences, or only list them.")
@of_profile
@click.option("--overwrite", is_flag=True, help="Replace an existing result.")
@click.option("--json", "json_wanted", is_flag=True, help="Print the result as JSON.")
@STORY_OPTIONS
@on_spark
def diff_command(
    spark_options: SparkOptions,
    a: str,
    b: str,
    folder: str,
    verify: bool,
    read_all: bool,
    checks: bool,
    profile: str,
    overwrite: bool,
    json_wanted: bool,
    quiet: bool,
    stories: int | None,
) -> None:
    """Compare two corpora and judge each difference."""
    from sds_harness.corpus.place import Place

    from ...corpus.classes import Class
    from ...corpus.difference import Differ, diff, diff_here, range_size, require_comparable
    from ...corpus.report import as_json, finish, prepare_folder, write_samples
    from ...corpus.verdicts import small

    out, err = console(), console(stderr=True)
    began = time.monotonic()
    one, other = corpus_at(a), corpus_at(b)
    require_comparable(one, other)
    place = Place.from_name(folder)
    prepare_folder(place, overwrite=overwrite)
    scopes = tuple(Scope.select(profile, judged_revision(corpus.manifest.revision)) for corpus in (one, other))
    size = range_size(one, other, 8 * usable_processors())
    differ = Differ(one, other, place, size, (scopes[0], scopes[1]), checks, verify, read_all)
    # With --master, use Spark even for small corpora.
    if spark_options.local and small(one) and small(other):
        difference = diff_here(differ)
    else:
        with spark_job(spark_options, "corpus diff", err, "ranges") as (spark, progress):
            difference = diff(spark, differ, progress)
    samples = write_samples(difference, differ.scopes, place)
    difference.seconds = time.monotonic() - began
    data = as_json(difference, samples)
    finish(difference, samples, data, place)
    if json_wanted:
        print_json(data)
    else:
        if not quiet:
            _print_result(out, difference, samples, place, stories)
        show_last_screen(out, _last_screen(difference, place))
    if Class.ERROR in difference.classes:
        sys.exit(Exit.OURS)
    sys.exit(Exit.CONFORMANT if difference.is_legal else Exit.NON_CONFORMANT)


def _last_screen(difference: CorpusDifference, place: Place) -> LastScreen:
    from ...corpus.classes import Class

    found = [cause for cause in difference.causes if cause.kind is not Class.LEGAL]
    causes = [
        CauseLine(
            Verdict.FAIL, _severity(one), one.cause, f"{one.kind.value}, in {format_count(one.schedules, 'schedule')}"
        )
        for one in found
    ]
    legal = difference.classes.get(Class.LEGAL, 0)
    facts = [("Page", Text(f"{place.label}/index.html", no_wrap=True))]
    if legal:
        text = f"{format_count(legal, 'schedule')} differ where the specification leaves a choice"
        facts.insert(0, ("Legal", Text(text)))
    command = shlex.join([program(), "corpus", "check", difference.a.place.label])
    why = "judges A, because `diff` does not show faults that A and B share"
    if found and found[0].samples:
        command = shlex.join([program(), "corpus", "show", difference.a.place.label, str(found[0].samples[0])])
        why = "shows the first schedule of the first cause"
    return LastScreen(_last_line(difference), sort_causes(causes), facts, command, why)


def _severity(cause: DivergenceCause) -> int:
    """Return the severity of the first requirement that a cause names; 3 if it names none."""
    named = re.search(r"\b(?:[A-Z]+-)+[0-9]{2}\b", cause.cause)
    return severity_number(named.group()) if named is not None and stating(named.group()) is not None else 3


def _print_result(
    out: Console, difference: CorpusDifference, samples: list[DivergenceSample], place: Place, stories: int | None
) -> None:
    from ...corpus.report import samples_of_cause

    print_labelled(out, "A", f"{difference.a.manifest.name} ({difference.a.place.label})")
    print_labelled(out, "B", f"{difference.b.manifest.name} ({difference.b.place.label})")
    for sentence in difference.dialect_notes:
        print_labelled(out, "Dialect", sentence)
    out.print()
    total = difference.identical + difference.divergent
    table = plain_table(Column("Class", no_wrap=True), right=("schedules", ""))
    table.add_column("")
    table.add_row("identical", f"{difference.identical:,}", _percent(difference.identical, total), "")
    for kind, count in difference.classes.items():
        table.add_row(kind.value, f"{count:,}", _percent(count, total), Text(kind.words, "dim"))
    out.print(table)
    out.print()
    shown = _SHOWN if stories is None else stories
    for cause in difference.causes[:shown]:
        _print_cause(out, cause, samples_of_cause(samples, cause), place)
    more = difference.other_causes + sum(cause.schedules for cause in difference.causes[shown:])
    if more:
        out.print(f"Other causes: {format_count(more, 'schedule')}, in {place.label}.\n", soft_wrap=True)


def _print_cause(out: Console, cause: DivergenceCause, samples: list[DivergenceSample], place: Place) -> None:
    from ...corpus.report import rules_of

    head = Text.assemble((cause.kind.value, "bold"), f": {cause.cause}, in {format_count(cause.schedules, 'schedule')}")
    out.print(head, soft_wrap=False)
    for rule in rules_of(cause):
        print_labelled(out, "Rule", rule)
    if cause.reason:
        print_labelled(out, "Because", cause.reason)
    for sample in samples[:1]:
        if sample.proof or sample.story:
            print_labelled(out, "Example", f"schedule {sample.schedule}. {'' if sample.proof else sample.story}")
        for line in sample.proof[:_LINES]:
            print_labelled(out, "", line)
        again = shlex.join([program(), "replay", f"{place.label}/{sample.file}", "--"])
        show_command(out, "Again", f"{again} COMMAND")
    out.print()


def _percent(count: int, total: int) -> str:
    return f"{100 * count / total:.2f} %" if total else ""


def _last_line(difference: CorpusDifference) -> Text:
    total = difference.identical + difference.divergent
    in_all = f"({format_count(total, 'schedule')}, {difference.seconds:.1f} s)"
    divergent = format_count(difference.divergent, "schedule")
    if not difference.divergent:
        return Text(f"Nothing differs {in_all}.", "bold green")
    if difference.is_legal:
        return Text(f"Only legal differences: {divergent} differ {in_all}.", "bold green")
    return Text(f"Differences in {divergent} {in_all}; not all of them are legal.", "bold red")
