"""``sds-conformance corpus record``."""

from __future__ import annotations

import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.text import Text

from sds_harness.corpus.errors import SparkFailedError
from sds_harness.declaration import Declaration

from ...exploration.campaign import TWINS_EVERY, CampaignOrder
from ...exploration.cast_under_test import CastKind
from ...judging.exits import Exit
from ...judging.formats import format_count
from ..implementation_options import DrivenImplementation, add_driving_options, driven_or_ended
from ..options import about, console
from ..output_filter import print_json
from ..paths import OUTPUT_PLACE
from ..schedule_options import grammar_of, which_schedules
from .shared import on_spark, spark_job

if TYPE_CHECKING:
    from sds_harness.corpus.manifest import Manifest
    from sds_harness.corpus.recorder import RecordingOutcome
    from sds_harness.corpus.spark import SparkOptions

_EPILOG = """
\b
Examples:
  sds-conformance corpus record --out mine --schedules 10000 -- ./my-adapter
  sds-conformance corpus record --out model --schedules 10000
  sds-conformance corpus record --out hdfs://host/mine \\
      --master spark://host:7077 -- ./my-adapter

The same seed gives the same schedules on every machine. Type the same command
again to continue after an interruption. On a cluster, COMMAND and this package
must have the same path on every machine.

\b
Exit codes:
  0   recorded                         70   fault of the suite, or of Spark
  2   usage error, or another corpus   129  hung up (SIGHUP)
  3   implementation not tested        130  interrupted (SIGINT)
                                       143  terminated (SIGTERM)

An interruption loses no recorded schedule.
"""


@click.command("record", epilog=_EPILOG)
@click.option(
    "--out",
    "folder",
    type=OUTPUT_PLACE,
    required=True,
    metavar="DIR",
    help="Folder for the corpus, as a path or a URI such as hdfs://host/mine.",
)
@click.option(
    "--schedules", type=click.IntRange(1, 1 << 40), default=1_000, show_default=True, help="Number of schedules."
)
@which_schedules
@click.option(
    "--twins/--no-twins",
    default=True,
    help=f"For every {TWINS_EVERY}th schedule, also record the comparison runs that properties of the group need.",
)
@click.option("--overwrite", is_flag=True, help="Replace an existing corpus.")
@click.option("--json", "json_wanted", is_flag=True, help="Print the result as JSON.")
@on_spark
@about
@add_driving_options
def record_command(
    spark_options: SparkOptions,
    driven: DrivenImplementation,
    folder: str,
    schedules: int,
    seed: int,
    participants: tuple[int, int],
    casting: str,
    passages: tuple[str, ...],
    twins: bool,
    overwrite: bool,
    json_wanted: bool,
    profile: str,
    revision: str,
) -> None:
    """Play generated schedules and store their traces as a corpus."""
    from sds_harness.corpus.manifest import Manifest, declaration_json, grammar_json, shard_size
    from sds_harness.corpus.place import Place
    from sds_harness.corpus.recorder import Recording, prepare, record

    from ...corpus.kinds import kind_of
    from ...corpus.restarting_cast import RestartingCast

    out, err = console(), console(stderr=True)
    grammar = grammar_of(driven, revision, profile, participants, passages)
    order = CampaignOrder(
        driven.connect, driven.limits, driven.dialect, revision, profile, CastKind(casting), grammar, seed, schedules
    )
    declared = _declaration(err, driven, order)
    place, kind = Place.from_name(folder), kind_of(revision)
    manifest = Manifest(
        declaration_json(declared, kind),
        seed,
        schedules,
        grammar_json(grammar),
        revision,
        casting,
        declared.dialect(driven.dialect),
        shard_size(schedules),
        list(driven.words),
        TWINS_EVERY if twins else 0,
    )
    recording = Recording(place, manifest, kind, partial(RestartingCast, order))
    prepare(recording, overwrite=overwrite)
    began = time.monotonic()
    try:
        with spark_job(spark_options, "corpus record", err, "schedules") as (spark, progress):
            outcome = record(spark, recording, progress)
    except (KeyboardInterrupt, SparkFailedError):
        err.print(f"The recorded part is kept in {folder}: the same command continues there.", soft_wrap=True)
        raise
    _print_result(out, err, place.label, manifest, outcome, time.monotonic() - began, json_wanted=json_wanted)
    sys.exit(Exit.NOT_DRIVEN if outcome.troubles else Exit.CONFORMANT)


def _declaration(err: Console, driven: DrivenImplementation, order: CampaignOrder) -> Declaration:
    """Perform the handshake, before anything is written and before the slow start of Spark."""
    cast_under_test = order.cast_under_test()
    try:
        with driven_or_ended(err, driven):
            return cast_under_test.start()
    finally:
        cast_under_test.kill()


def _print_result(
    out: Console,
    err: Console,
    place_name: str,
    manifest: Manifest,
    outcome: RecordingOutcome,
    seconds: float,
    *,
    json_wanted: bool,
) -> None:
    if json_wanted:
        data: dict[str, Any] = {
            "corpus": place_name,
            "implementation": manifest.implementation,
            "seed": manifest.seed,
            "schedules": manifest.schedules,
            "recorded": outcome.recorded,
            "known": outcome.known,
            "steps": outcome.steps,
            "rows": outcome.rows,
            "seconds": round(seconds, 3),
            "task_seconds": round(outcome.seconds, 3),
            "complete": not outcome.troubles,
            "troubles": list(outcome.troubles),
        }
        print_json(data)
        return
    for trouble in outcome.troubles:
        err.print(trouble, style="bold red", soft_wrap=True)
    before = f"; {outcome.known:,} had been recorded before" if outcome.known else ""
    speed = outcome.rows / outcome.seconds if outcome.seconds else 0.0
    text = (
        f"{format_count(outcome.recorded, 'schedule')} of {manifest.name} recorded in {place_name}{before} "
        f"({format_count(outcome.rows, 'step')}, {seconds:.1f} s, {speed:,.0f} steps per second and task)."
    )
    out.print(Text(text, "yellow" if outcome.troubles else "bold green"), soft_wrap=not out.is_terminal)
    if outcome.troubles:
        out.print("The corpus is incomplete: the same command records the missing part.", style="yellow")
