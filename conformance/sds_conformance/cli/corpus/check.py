"""``sds-conformance corpus check``."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from sds_harness.declaration import printable

from ...exploration.assessment import Scope, judged_revision
from ...exploration.campaign import CampaignTally
from ...exploration.text import (
    cause_lines,
    coverage_json,
    details_of,
    exercised_line,
    finding_json,
    head_json,
    last_line,
    order_by_root_cause,
    roots_of,
    show_coverage,
    show_head,
    show_seen,
)
from ...judging import formats
from ...judging.causes import Root
from ...presentation.last_screen import LastScreen, show_last_screen
from ...presentation.story import (
    print_labelled,
    show_command,
    show_errors,
    show_implementation,
    show_softened,
    show_under,
)
from ..options import STORY_OPTIONS, STRICT, console, optional_revision, program
from ..output_filter import print_json
from ..paths import INPUT_PLACE
from ..progress import progress_bar
from ..schedule_options import revision_of
from .shared import corpus_at, of_profile, on_spark, spark_job

if TYPE_CHECKING:
    from sds_harness.corpus.manifest import Manifest
    from sds_harness.corpus.spark import SparkOptions

_EPILOG = """
\b
Examples:
  sds-conformance corpus check mine
  sds-conformance corpus check --strict --profile core mine
  sds-conformance corpus check --everything theirs

The verdicts are the verdicts of `fuzz` with the same schedules. Use --everything
for a corpus that you do not trust.

\b
Exit codes:
  0  nothing found                 2   usage error, or a damaged corpus
  1  a requirement violated        4   nothing exercised
                                   70  fault of the suite, or of Spark
"""


@click.command("check", epilog=_EPILOG)
@click.argument("folder", type=INPUT_PLACE, metavar="DIR")
@of_profile
@optional_revision("Revision to judge. Default: the revision of the corpus.")
@click.option(
    "--everything",
    is_flag=True,
    help="First verify all columns, digests, comparison runs and counts; takes twice the time.",
)
@STRICT
@click.option("--json", "json_wanted", is_flag=True, help="Print the result as JSON.")
@STORY_OPTIONS
@on_spark
def check_command(
    spark_options: SparkOptions,
    folder: str,
    profile: str,
    revision: str | None,
    everything: bool,
    strict: bool,
    json_wanted: bool,
    quiet: bool,
    stories: int | None,
) -> None:
    """Judge a stored corpus, without the implementation.

    Every requirement and every property of the group is judged.
    """
    from ...corpus.verdicts import check, check_here, small

    out, err = console(), console(stderr=True)
    corpus = corpus_at(folder)
    manifest = corpus.manifest
    judged = revision_of(judged_revision(manifest.revision), revision, folder)
    scope = Scope.select(profile, judged, strict=strict)
    began = time.monotonic()
    # With --master, use Spark even for a small corpus.
    if spark_options.local and small(corpus):
        with progress_bar(err, "schedules") as bar:
            tally = check_here(corpus, scope, partial(bar, "schedules"), everything=everything)
    else:
        with spark_job(spark_options, "corpus check", err, "schedules") as (spark, progress):
            tally = check(spark, corpus, scope, progress, everything=everything)
    tally.seconds = time.monotonic() - began
    roots = roots_of(tally, scope.rules)
    if json_wanted:
        print_json(_json(tally, roots, manifest, scope, judged, profile))
    else:
        if not quiet:
            show_implementation(out, tally.declaration, printable(manifest.dialect), judged, profile)
            print_labelled(out, "Corpus", f"{folder}: {formats.format_count(manifest.schedules, 'schedule')}")
            out.print()
            show_coverage(out, tally, scope)
            _print_result(out, tally, roots, folder, stories)
            show_errors(out, tally.errors)
        show_last_screen(out, _last_screen(tally, roots, manifest, scope, folder, everything=everything))
    sys.exit(tally.exit_code)


def _last_screen(
    tally: CampaignTally, roots: Sequence[Root], manifest: Manifest, scope: Scope, folder: str, *, everything: bool
) -> LastScreen:
    command, why = "", ""
    if roots:
        command = shlex.join([program(), "corpus", "show", folder, str(tally.found_at[roots[0].id])])
        why = "shows the first schedule with the first finding"
    elif not everything:
        command = shlex.join([program(), "corpus", "check", "--everything", folder])
        why = "also verifies all stored data"
    facts = [exercised_line(tally, scope)]
    return LastScreen(last_line(tally, roots, manifest.name), cause_lines(tally, roots), facts, command, why)


def _print_result(out: Console, tally: CampaignTally, roots: Sequence[Root], folder: str, stories: int | None) -> None:
    for root in roots[:stories]:
        what = root.id
        finding, index = tally.found[what], tally.found_at[what]
        show_head(out, finding)
        schedules = formats.format_count(tally.schedules, "schedule")
        of = f"{tally.found_in[what]:,} of {schedules}, the first is number {index}"
        who = finding.participant or "all participants"
        print_labelled(out, "Found", f"in {of}, at step {finding.step} of {who}")
        show_seen(out, finding)
        show_softened(out, finding)
        show_under(out, root.under, lambda what: details_of(tally.found[what]))
        again = shlex.join([program(), "corpus", "show", folder, str(index)])
        show_command(out, "Look", again)
        out.print()


def _json(
    tally: CampaignTally, roots: Sequence[Root], manifest: Manifest, scope: Scope, revision: str, profile: str
) -> dict[str, Any]:
    return {
        **head_json(tally, revision, profile, printable(manifest.casting), manifest.seed),
        "errors": tally.errors,
        "findings": [
            {
                **finding_json(tally, what, root),
                "participant": tally.found[what].participant,
                "step": tally.found[what].step,
                "expected": tally.found[what].expected,
                "seen": tally.found[what].seen,
            }
            for what, root in order_by_root_cause(roots).items()
        ],
        **coverage_json(tally, scope),
        "situations": dict(sorted(tally.situations.items())),
    }
