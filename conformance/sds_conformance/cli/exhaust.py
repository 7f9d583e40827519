"""``sds-conformance exhaust``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem
from rich.console import Console
from rich.text import Text

from sds_harness import signals
from sds_harness.declaration import Declaration
from sds_harness.docstrings import first_line
from sds_harness.schedules.worlds import AlphabetPart

from ..exploration.campaign import CampaignTally
from ..exploration.cast_under_test import CachingCast, CastKind
from ..exploration.casts import NotPlayedError
from ..exploration.checkpoint import ResumeError, load, save
from ..exploration.exhaustion import SCHEMA_ID, Exhaustion, alphabet_of
from ..exploration.exhaustion_campaign import MOST_EVENTS, Coverage, Source, exhaust
from ..exploration.text import Shrunk, as_json, cause_lines, exercised_line, roots_in, summarize_failures
from ..judging.causes import Root
from ..judging.exits import Exit
from ..judging.formats import format_count
from ..judging.verdict import Verdict
from ..presentation.last_screen import LastScreen, show_last_screen
from ..presentation.story import plain_table, print_labelled, show_errors, show_implementation
from ..protocols import repertoires
from .corpus.shared import corpus_errors
from .files import require_folders
from .fuzz import next_of_found, print_findings
from .implementation_options import DrivenImplementation, add_driving_options, driven_or_ended
from .name_types import complete_name, names_of, unknown_name_message
from .options import CURRENT, JOBS, STORY_OPTIONS, console, judging
from .output_filter import print_json
from .paths import KEPT_FILE
from .progress import progress_bar, span
from .schedule_options import CAST, SAVE, Duration
from .transcript_option import add_transcript_option

_EPILOG = """
\b
Examples:
  sds-conformance exhaust -- node my-adapter.mjs
  sds-conformance exhaust --events 4 -- ./my-adapter
  sds-conformance exhaust --participants 3 --budget 1h -- ./my-adapter
  sds-conformance exhaust --alphabet send,time,arrive,twice -- ./my-adapter
  sds-conformance exhaust --resume covered.json -- ./my-adapter

Schedules that differ only in the order of independent events count as one. A
message that never arrives is lost. The result holds for all schedules of up to
K events; longer ones are not covered.
"""


def _alphabet(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[AlphabetPart, ...]:
    try:
        parts = tuple(map(AlphabetPart.read, values))
    except ValueError:
        raise click.BadParameter("write for example send,arrive or send,arrive,odd:3", context, parameter) from None
    return parts


def _complete_alphabet(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the last of the comma-separated names."""
    before, comma, last = incomplete.rpartition(",")
    names = names_of("events", context.params.get("revision") or CURRENT)
    return [CompletionItem(f"{before}{comma}{item.value}") for item in complete_name(names, last)]


@click.command("exhaust", epilog=_EPILOG)
@click.option(
    "--participants",
    type=click.IntRange(2, 3),
    default=2,
    show_default=True,
    help="Number of participants in a schedule.",
)
@click.option(
    "--events",
    type=click.IntRange(1, MOST_EVENTS),
    metavar="K",
    help="Maximum number of events. Default: as many as the budget is expected to allow.",
)
@click.option(
    "--alphabet",
    callback=_alphabet,
    shell_complete=_complete_alphabet,
    multiple=True,
    show_default="several alphabets with all events",
    metavar="NAMES[:K]",
    help="An alphabet: events, separated by commas, and the maximum number K of events in a schedule. "
    "Repeatable; each schedule uses one alphabet. `sds-conformance list events` shows the names.",
)
@click.option(
    "--budget",
    type=Duration(),
    metavar="TIME",
    help="Start no schedule after this time: 90s, 10m, 2h. Default: 10m, or none with --events.",
)
@CAST
@judging
@JOBS
@click.option(
    "--master",
    metavar="URL",
    help="Play on Spark: on this machine (local[*]), on a cluster (spark://HOST:PORT) or with Spark Connect "
    "(sc://HOST:PORT).",
)
@click.option(
    "--whole", is_flag=True, help="Send every command of every schedule to the implementation; reuse no answers."
)
@click.option(
    "--resume",
    "resume_file",
    type=KEPT_FILE,
    metavar="FILE",
    help="Continue from FILE, if it exists, and save the progress in it.",
)
@SAVE
@click.option("--json", "json_wanted", is_flag=True, help="Print the result as JSON.")
@STORY_OPTIONS
@add_driving_options
@add_transcript_option
def exhaust_command(
    driven: DrivenImplementation,
    participants: int,
    events: int | None,
    alphabet: tuple[AlphabetPart, ...],
    budget: float | None,
    casting: str,
    profile: str,
    revision: str,
    strict: bool,
    jobs: int,
    master: str | None,
    whole: bool,
    resume_file: Path | None,
    folder: Path,
    json_wanted: bool,
    quiet: bool,
    stories: int | None,
) -> None:
    """Play every schedule of up to K events.

    In a schedule, messages are sent, messages arrive in any order, twice or never, and time passes. The shortest
    schedules are played first, and judged as by `fuzz`: a requirement that passes holds up to K events, and a failure
    is as short as possible.
    """
    out, err = console(), console(stderr=True)
    alphabet = _select_alphabets(driven, revision, participants, alphabet)
    require_folders(resume_file)
    order = Exhaustion(
        driven.connect,
        driven.limits,
        driven.dialect,
        revision,
        profile,
        CastKind(casting),
        time_budget_s=budget or (0.0 if events else 600.0),
        jobs=jobs,
        strict=strict,
        participants=participants,
        alphabet=alphabet,
        whole=whole,
    )
    cast_under_test = order.make_cast_under_test()
    with driven_or_ended(err, driven):
        declared = cast_under_test.start()
    order = order.restrict_to(declared)
    shows = not (json_wanted or quiet)
    if shows:
        show_implementation(out, declared, declared.dialect(driven.dialect), revision, profile, driven.transport)
        out.print()
    coverage = _load_coverage(order, cast_under_test, declared, resume_file)
    with progress_bar(err, "counting") as bar:

        def print_forecast(coverage: Coverage) -> None:
            err.print(_forecast(coverage))

        def progress(coverage: Coverage) -> None:
            open_bound = next((bound for bound in coverage.bounds if not bound.is_complete), coverage.bounds[-1])
            found = f", {len(coverage.tally.found)} found" if coverage.tally.found else ""
            text = f"{format_count(open_bound.events, 'event')}{found}"
            bar(text, open_bound.settled_count, open_bound.schedules)

        with _spark_source(err, master) as source:
            exhaust(order, cast_under_test, coverage, events, print_forecast, progress, source)
    tally = coverage.tally
    saved = _save_coverage(err, coverage, resume_file)
    roots = roots_in(tally, order)
    shrunk, unwritable = print_findings(
        out, err, order, tally, roots, driven, folder, None, stories=stories if shows else 0
    )
    signals.hold_interrupts()
    if json_wanted:
        data = {key: value for key, value in as_json(tally, order, roots, shrunk).items() if key != "seed"}
        print_json({**data, "schema": SCHEMA_ID, **_as_json(coverage)})
    else:
        if shows:
            show_errors(out, tally.errors)
            _show(out, coverage)
        show_last_screen(out, _last_screen(coverage, roots, shrunk, driven))
    unplayed = tally.errors or tally.gave_up or tally.not_started or tally.interrupted
    nothing = not (tally.found or unplayed or coverage.last_complete)
    code = Exit.NOTHING_EXERCISED if nothing else tally.exit_code
    sys.exit(Exit.USAGE if unwritable or not saved else code)


@contextmanager
def _spark_source(err: Console, master: str | None) -> Iterator[Source | None]:
    """Yield a source that plays on Spark, if ``master`` is given. Otherwise yield None, and do not import PySpark."""
    if master is None:
        yield None
        return
    with corpus_errors(err):
        from sds_harness.corpus.spark import SparkOptions, spark_session

        from ..corpus.exhaustion import spread

        with spark_session(SparkOptions(master), "sds-conformance exhaust") as spark:
            yield spread(spark)


def _select_alphabets(
    driven: DrivenImplementation, revision: str, participants: int, parts: tuple[AlphabetPart, ...]
) -> tuple[AlphabetPart, ...]:
    """Return the selected alphabets, by default the alphabets of the protocol. Raises UsageError if nothing can be
    played.
    """
    small = [name for known in repertoires() if known.alphabet is not None for name in known.revisions]
    if revision not in small:
        raise click.UsageError(
            f"`exhaust` supports only {' and '.join(small)}. For {revision} use the scenarios of `run`: "
            f"{driven.format_command('run', '--revision', revision)}"
        )
    letters = alphabet_of(revision)
    parts = parts or letters.usual
    if strange := letters.unknown(parts):
        raise click.BadParameter(unknown_name_message("events", strange[0], revision), param_hint="--alphabet")
    if not any(kind.broadcasts and not kind.copies for kind in letters.world(participants, parts).kinds):
        raise click.UsageError(
            f"no event of this alphabet sends a message: add one, such as --alphabet {letters.example}"
        )
    return parts


def _load_coverage(
    order: Exhaustion, cast_under_test: CachingCast, declared: Declaration, file: Path | None
) -> Coverage:
    """Load the progress from a file, if it exists. Raises UsageError."""
    if file is None or not file.exists():
        return Coverage(order, CampaignTally(declared))
    try:
        return load(file, order, cast_under_test)
    except (ResumeError, NotPlayedError) as error:
        cast_under_test.kill()
        raise click.UsageError(f"cannot continue from {file}: {error}") from None
    except KeyboardInterrupt:
        cast_under_test.kill()
        raise


def _save_coverage(err: Console, coverage: Coverage, file: Path | None) -> bool:
    """Save the progress in ``file``, if one is given. Return False if it could not be saved."""
    if file is None:
        return True
    try:
        with signals.defer_signals():
            save(coverage, file)
    except OSError as error:
        text = f"The progress of `exhaust` cannot be written to {file}: {error.strerror}."
        err.print(f"{text} Name another FILE with --resume.", style="red")
        return False
    return True


def _forecast(coverage: Coverage) -> str:
    """Return the number of schedules to play and the expected duration, in one sentence."""
    last = coverage.bounds[-1]
    left = coverage.remaining_count
    head = f"Up to {format_count(last.events, 'event')} of {coverage.order.participants} participants"
    all_of = format_count(coverage.count_shorter(last.events + 1), "schedule")
    if not left:
        return f"{head}: {all_of}."
    return f"{head}: {all_of}, {left:,} of them still to play, in about {span(coverage.expected_s)}."


def _show(out: Console, coverage: Coverage) -> None:
    """Print a table of the bounds, and why schedules were excluded or not played."""
    order, tally = coverage.order, coverage.tally
    left_out = ("left out",) if coverage.left_out else ()
    table = plain_table(right=("Events", "Schedules", "played", "impossible", "renamed", *left_out, ""))
    for bound in coverage.bounds:
        numbers = [bound.events, bound.schedules, bound.played, bound.impossible, bound.renamed]
        numbers += [bound.left_out] if left_out else []
        table.add_row(*(f"{number:,}" for number in numbers), f"{bound.percent} %")
    out.print(table)
    out.print()
    print_labelled(out, "Alphabet", "; ".join(str(part) for part in order.alphabet))
    if coverage.without:
        for event in events_left_out(coverage):
            print_labelled(out, "Left out", Text(event, "yellow"))
        text = (
            f"{tally.declaration.name} breaks down at {'these events' if len(coverage.without) > 1 else 'this event'}."
        )
        advice = "To leave out such events from the start, select all other events with --alphabet."
        out.print(f"{text} {advice}\n", style="yellow")
    if coverage.otherwise:
        text = f"{tally.declaration.name} is not deterministic: {coverage.otherwise}."
        out.print(f"{text} So no cached reply was used.\n", style="yellow")
    if why := tally.gave_up or tally.not_started:
        out.print(f"The remaining schedules were not played: {why}.\n", style="yellow")


def _last_screen(coverage: Coverage, roots: Sequence[Root], shrunk: Shrunk, driven: DrivenImplementation) -> LastScreen:
    tally, order = coverage.tally, coverage.order
    revision = ["--revision", order.revision] if order.revision != CURRENT else []
    facts, (command, why) = next_of_found(tally, roots, shrunk, driven, revision, [exercised_line(tally, order.scope)])
    if not command:
        command, why = driven.format_command("limits", *revision), "finds the sizes at which the implementation breaks"
    verdict = last_line(coverage, roots, f"{tally.declaration.name} {tally.declaration.version}".strip())
    return LastScreen(verdict, cause_lines(tally, roots), facts, command, why)


def events_left_out(coverage: Coverage) -> list[str]:
    """Describe the kinds of events that are excluded, each with its name in the alphabet."""
    kinds = (coverage.order.world.kinds[kind] for kind in sorted(coverage.without))
    descriptions = ((kind.name, first_line(kind.write) if kind.write else "") for kind in kinds)
    return list(dict.fromkeys(f"{name}: {words}" if words else name for name, words in descriptions))


def describe_progress(coverage: Coverage) -> str:
    """Describe the progress: the last complete bound, and the percentage of the next bound that is covered."""
    finished = coverage.last_complete
    parts = []
    if finished is not None:
        among = f"{format_count(finished.events, 'event')} of {coverage.order.participants} participants"
        left_out = sum(bound.left_out for bound in coverage.bounds[: finished.events])
        but = f" except {left_out:,} with {_letters(coverage)}" if left_out else ""
        parts.append(f"all {coverage.schedules:,} schedules of up to {among}{but}")
    after = finished.events if finished is not None else 0
    if after < len(coverage.bounds):
        parts.append(f"{format_count(after + 1, 'event')}: {coverage.bounds[after].percent} %")
    return "; ".join(parts) or "nothing"


def _letters(coverage: Coverage) -> str:
    """Return the names of the excluded events for the end of a sentence about schedules, such as "send or time in
    them".
    """
    names = dict.fromkeys(coverage.order.world.kinds[kind].name for kind in sorted(coverage.without))
    return f"{' or '.join(names)} in them"


def last_line(coverage: Coverage, roots: Iterable[Root], name: str) -> Text:
    """Return the verdict, with the schedules that were covered."""
    tally = coverage.tally
    failed = summarize_failures(tally, roots)
    warned = sum(finding.severity is Verdict.WARN for finding in tally.found.values())
    cut = ", interrupted" if tally.interrupted else ", the time was used up" if tally.out_of_time else ""
    played = f"{describe_progress(coverage)} ({tally.seconds:.1f} s{cut})"
    warnings = f"; {warned} warn" if warned else ""
    if failed:
        return Text(f"{name} does not conform: {failed}{warnings}. Covered: {played}.", "bold red")
    if tally.errors:
        return Text(f"A fault of the suite: no verdict on {name}. Covered: {played}.", "bold white on red")
    if tally.not_started:
        return Text(f"The test of {name} ended early: no verdict. Covered: {played}.", "magenta")
    if tally.exit_code is Exit.NON_CONFORMANT:
        return Text(f"{name} does not conform: {tally.gave_up}{warnings}. Covered: {played}.", "bold red")
    if coverage.last_complete is None:
        return Text(f"No bound was completed: nothing is proved about {name}. Covered: {played}.", "magenta")
    return Text(f"Nothing was found against {name}{warnings} in {played}.", "bold green")


def _as_json(coverage: Coverage) -> dict[str, Any]:

    order, proved = coverage.order, coverage.last_proved
    return {
        "participants": order.participants,
        "alphabet": [str(part) for part in order.alphabet],
        "digest": order.digest,
        "otherwise": coverage.otherwise,
        "left_out": events_left_out(coverage),
        "finished": proved.events if proved is not None else 0,
        "proved_schedules": coverage.count_shorter(proved.events + 1) if proved is not None else 0,
        "bounds": [
            {
                "events": bound.events,
                "schedules": bound.schedules,
                "played": bound.played,
                "impossible": bound.impossible,
                "renamed": bound.renamed,
                "left_out": bound.left_out,
                "whole": bound.is_complete,
            }
            for bound in coverage.bounds
        ],
    }
