"""``sds-conformance fuzz``."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from sds_harness import signals
from sds_harness.declaration import Declaration

from ..exploration.campaign import CampaignOrder, CampaignTally, explore
from ..exploration.cast_under_test import CastKind
from ..exploration.casts import NotPlayedError, OutOfTimeError
from ..exploration.counterexample import Counterexample, save, save_unshrunk, shrink_finding
from ..exploration.text import (
    Shrunk,
    as_json,
    cause_lines,
    details_of,
    exercised_line,
    last_line,
    plain_story,
    roots_in,
    show_counterexample,
    show_coverage,
    show_flaky,
    show_replay_command,
    show_unshrunk,
    svg_of,
)
from ..exploration.text import show_head as show_finding_head
from ..judging.causes import Root
from ..judging.exits import Exit
from ..judging.finding_replays import FindingReplays
from ..judging.formats import format_count
from ..presentation.last_screen import LastScreen, show_last_screen, sort_causes
from ..presentation.story import show_errors, show_implementation, show_under
from ..protocols import repertoire_of
from ..reports.baseline import Match, read_result
from ..reports.report import Row, unmet
from ..reports.scenario_files import cause_lines as expectation_lines
from ..reports.scenario_files import show_scenario_files
from ..scenario_files.reader import LoadedScenario
from .baseline_option import BASELINE, baseline_json, gate, known_line, load_baseline, match_baseline, show_gate
from .files import print_unwritable_folder
from .implementation_options import DrivenImplementation, add_driving_options, driven_or_ended
from .options import CURRENT, JOBS, STORY_OPTIONS, console, judging
from .output_filter import print_json
from .progress import Plays, progress_bar
from .schedule_options import SAVE, Duration, grammar_of, which_schedules, with_scenario_files
from .transcript_option import add_transcript_option, record

_EPILOG = """
\b
Examples:
  sds-conformance fuzz -- node my-adapter.mjs
  sds-conformance fuzz --schedules 5000 --budget 10m -- ./my-adapter
  sds-conformance fuzz --cast among --participants 3-4 -- ./my-adapter
  sds-conformance fuzz --passage gap --passage partition -- ./my-adapter
  sds-conformance fuzz --revision forum-2024 -- ./my-adapter
  sds-conformance fuzz --schedules 0 --scenario-file mine.yaml -- ./my-adapter

The same seed gives the same schedules on every machine. Counterexamples are
written to the folder of --out; `sds-conformance replay` plays them again, on
any implementation, and `sds-conformance run --scenario-file` judges them.
"""


@click.command("fuzz", epilog=_EPILOG)
@click.option(
    "--schedules",
    "examples",
    type=click.IntRange(0, 10_000_000),
    default=500,
    show_default=True,
    metavar="N",
    help="Number of generated schedules; 0 plays scenario files only.",
)
@with_scenario_files(
    "Play this scenario file, or all scenario files of this folder, before the generated schedules, "
    "and check its expectations; repeatable."
)
@which_schedules
@click.option(
    "--budget",
    type=Duration(),
    metavar="TIME",
    help="Start no schedule after this time: 90s, 10m, 2h.",
)
@click.option(
    "--shrink-budget",
    type=Duration(),
    metavar="TIME",
    help="Shrink each counterexample for at most this time, and show the smallest schedule found by then.",
)
@judging
@JOBS
@SAVE
@BASELINE
@click.option("--json", "json_wanted", is_flag=True, help="Print the result as JSON.")
@STORY_OPTIONS
@add_driving_options
@add_transcript_option
def fuzz_command(
    driven: DrivenImplementation,
    examples: int,
    files: tuple[LoadedScenario, ...],
    seed: int,
    budget: float | None,
    shrink_budget: float | None,
    casting: str,
    participants: tuple[int, int],
    passages: tuple[str, ...],
    profile: str,
    revision: str,
    strict: bool,
    jobs: int,
    folder: Path,
    baseline_file: Path | None,
    json_wanted: bool,
    quiet: bool,
    stories: int | None,
) -> None:
    """Play generated schedules and judge them.

    Schedules have several participants, lost and late messages, partitions, crashes, late joiners and wrong clocks.
    Every requirement and every property of the group is judged. Each failure is shrunk to a short counterexample.
    """
    out, err = console(), console(stderr=True)
    if not (examples or files):
        raise click.UsageError("--schedules 0 plays nothing: add --scenario-file FILE, or a number of schedules")
    grammar = grammar_of(driven, revision, profile, participants, passages)
    baseline = load_baseline(baseline_file, revision)
    order = CampaignOrder(
        driven.connect,
        driven.limits,
        driven.dialect,
        revision,
        profile,
        CastKind(casting),
        grammar,
        seed,
        examples,
        budget or 0.0,
        min(jobs, examples + len(files)),
        strict,
        files=tuple(loaded.schedule for loaded in files),
        shrink_budget_s=shrink_budget or 0.0,
    )
    what = f"{format_count(examples, 'schedule')} of seed {seed}"
    if files:
        what = format_count(len(files), "scenario file") + (f" and {what}" if examples else "")
    err.print(f"Seed {seed}: {format_count(order.schedules, 'schedule')}", soft_wrap=True)
    shows, plays = not (json_wanted or quiet), Plays(out)

    def show_head(declared: Declaration) -> None:
        if shows:
            show_implementation(out, declared, declared.dialect(driven.dialect), revision, profile, driven.transport)
            plays.begin(what)

    with driven_or_ended(err, driven), progress_bar(err, "schedules", order.schedules, plays=plays) as bar:

        def progress(tally: CampaignTally) -> None:
            found = f", {len(tally.found)} found" if tally.found else ""
            bar(f"schedules{found}", tally.schedules, order.schedules)

        tally = explore(order, progress, show_head)
        plays.end()
    roots = roots_in(tally, order)
    found = match_baseline(baseline, read_result(as_json(tally, order, roots, {}))) if baseline is not None else None
    if found is not None and shows:
        show_gate(out, found, tally.declaration.name)
    limit = stories if shows else 0
    shrunk, unwritable = print_findings(out, err, order, tally, roots, driven, folder, found, stories=limit)
    signals.hold_interrupts()
    spoken_of = ["--revision", revision] if revision != CURRENT else []
    cast = ["--cast", casting] if casting != CastKind.TOGETHER.value else []
    rows = [
        loaded.row(
            {loaded.name: tally.expectations[index]} if index in tally.expectations else {},
            driven.format_command("replay", str(loaded.path), *cast, *spoken_of, *(["--strict"] if strict else [])),
        )
        for index, loaded in enumerate(files)
    ]
    data = as_json(tally, order, roots, shrunk) | ({"scenario_files": rows} if rows else {})
    if json_wanted:
        print_json({**data, "baseline": baseline_json(found)} if found is not None else data)
    else:
        if shows:
            show_scenario_files(out, rows)
            show_coverage(out, tally, order.scope)
            show_errors(out, tally.errors)
            if why := tally.gave_up or tally.not_started:
                out.print(f"The remaining schedules were not played: {why}.\n", style="yellow")
        name = f"{tally.declaration.name} {tally.declaration.version}".strip()
        facts = [exercised_line(tally, order.scope)]
        if found is not None and found.requirements:
            facts.append(("Baseline", known_line(found)))
        verdict = last_line(tally, roots, name)
        show_last_screen(out, _last_screen(tally, roots, verdict, facts, shrunk, driven, spoken_of, rows))
    code = gate(found, tally.exit_code)
    if tally.unmet_count and code == Exit.CONFORMANT:
        code = Exit.NON_CONFORMANT  # a baseline lists no expectations
    if code == Exit.CONFORMANT and tally.not_started:
        code = Exit.NOT_DRIVEN  # a baseline does not excuse schedules that were not played
    sys.exit(Exit.USAGE if unwritable else code)


def _last_screen(
    tally: CampaignTally,
    roots: Sequence[Root],
    verdict: Text,
    facts: list[tuple[str, Text]],
    shrunk: Shrunk,
    driven: DrivenImplementation,
    revision: list[str],
    rows: list[Row],
) -> LastScreen:
    """Return the last screen of a campaign. ``rows`` are the results of the scenario files."""
    facts, (command, why) = next_of_found(tally, roots, shrunk, driven, revision, facts)
    if not command and (first := next(unmet(rows), None)) is not None:
        command, why = first.file["again"], "plays the scenario file again"
    if not command:
        what = ("run", "judges every requirement")
        if repertoire_of(revision[1] if revision else CURRENT).alphabet is not None:
            what = ("exhaust", "plays every schedule of a small group")
        command, why = driven.format_command(what[0], *revision), what[1]
    lines = sort_causes([*cause_lines(tally, roots), *expectation_lines(rows)])
    return LastScreen(verdict, lines, facts, command, why)


def next_of_found(
    tally: CampaignTally,
    roots: Sequence[Root],
    shrunk: Shrunk,
    driven: DrivenImplementation,
    revision: list[str],
    facts: list[tuple[str, Text]],
) -> tuple[list[tuple[str, Text]], tuple[str, str]]:
    """Return the facts for the last screen, and the next command with its purpose.

    The facts include the folder of the counterexamples. The next command replays the first saved counterexample. If
    none was saved, it is `smoke`, or "" if there was no finding and all schedules were played.
    """
    for root in roots:
        _, files = shrunk.get(root.id, (None, {}))
        if "schedule" in files:
            rows = [*facts, ("Kept in", Text(f"{files['schedule'].parent}", no_wrap=True))]
            return rows, (driven.format_command("replay", str(files["schedule"])), "replays the first counterexample")
    if tally.found or tally.gave_up or tally.not_started:
        return facts, (driven.format_command("smoke", *revision), "tries the adapter")
    return facts, ("", "")


def print_findings(
    out: Console,
    err: Console,
    order: CampaignOrder,
    tally: CampaignTally,
    roots: Sequence[Root],
    driven: DrivenImplementation,
    folder: Path,
    gated: Match | None,
    *,
    stories: int | None,
) -> tuple[Shrunk, bool]:
    """Shrink, save and print findings: the most severe first, findings that a baseline lists last. Return the
    counterexamples, and True if one could not be saved. At most ``stories`` stories are printed; None prints all.

    After an interrupt, findings are printed and saved without shrinking.
    """
    known = gated.requirements if gated is not None else {}
    shrunk: Shrunk = {}
    unwritable = False
    began, cast_under_test, late = time.monotonic(), order.cast_under_test(), False
    number, total = 0, sum(1 + len(root.under) for root in roots)
    try:
        for place, root in enumerate(sorted(roots, key=lambda root: root.id in known)):
            quiet = stories is not None and place >= stories
            details: dict[str, list[Text]] = {}
            """Maps the ID of the root cause, and of each requirement that it explains, to the lines to print about the
            finding.
            """
            for what in (root.id, *root.under):
                finding = tally.found[what]
                example: Counterexample | FindingReplays | None = None
                try:
                    if not tally.interrupted:
                        with progress_bar(err) as bar:
                            bar(f"shrinking {what}", number, total)
                            if not number:
                                cast_under_test.restart()
                            example = shrink_finding(order, cast_under_test, tally.found_at[what], finding)
                except NotPlayedError as reason:
                    late = isinstance(reason, OutOfTimeError)
                except KeyboardInterrupt:
                    tally.interrupted = True
                number += 1
                unshrunk = example is None and tally.interrupted
                found_by = order.schedule(tally.found_at[what]).name
                with signals.defer_signals():
                    small = example if isinstance(example, Counterexample) else None
                    again = example if isinstance(example, FindingReplays) else None
                    if again is not None:
                        tally.flaky[what] = again
                    record(driven, [small.finding if small is not None else finding])
                    # Print findings before they are saved: otherwise a full disk would lose them.
                    if what == root.id and not quiet:
                        if small is not None:
                            show_counterexample(out, small, tally)
                        else:
                            show_finding_head(out, finding)
                            if unshrunk:
                                show_unshrunk(out, finding, found_by)
                            else:
                                show_flaky(out, finding, found_by, again, late=late)
                    files: dict[str, Path] = {}
                    try:
                        if small is not None and not unwritable:
                            files = save(small, folder, svg_of(small), plain_story(small))
                        elif unshrunk and not unwritable:
                            files = save_unshrunk(order, tally.found_at[what], finding, folder)
                    except OSError as error:
                        unwritable = True
                        print_unwritable_folder(err, folder, error)
                    if small is not None or unshrunk:
                        shrunk[what] = small, files
                    details[what] = details_of(small.finding if small is not None else finding, files)
            if not quiet:
                show_under(out, root.under, details.__getitem__)
                _, files = shrunk.get(root.id, (None, {}))
                if files:
                    show_replay_command(out, files, driven.format_command("replay", str(files["schedule"])))
                out.print()
        left = len(roots) - (stories or 0)
        if stories and left > 0:
            out.print(f"{format_count(left, 'more root cause')}: --stories prints more.\n", style="dim")
    finally:
        cast_under_test.kill()
        tally.shrinking_s = time.monotonic() - began
        tally.seconds += tally.shrinking_s
    return shrunk, unwritable
