"""``sds-conformance corpus show``."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sds_harness.declaration import printable
from sds_harness.files import write_whole
from sds_harness.json_text import escape_json
from sds_harness.schedules import Schedule, dumps

from ...drawing.spacetime import spacetime_svg
from ...exploration.assessment import Scope, assess, judged_revision, make_time_key
from ...exploration.counterexample import Counterexample
from ...exploration.text import describe_finding, proof_of, rule_of
from ...judging.exits import Exit
from ...judging.verdict import RANK
from ...presentation.story import headline, plain_table, print_labelled
from ...presentation.story import show_command as show_typed
from ..files import write_errors
from ..options import CURRENT, console, program
from ..output_filter import print_json
from ..paths import INPUT_PLACE, OUTPUT_FOLDER
from ..schedule_options import parse_range
from .shared import corpus_at, corpus_errors

if TYPE_CHECKING:
    from sds_harness.corpus.reader import Stored

_EPILOG = """
\b
Examples:
  sds-conformance corpus show mine 17
  sds-conformance corpus show --steps 40-60 --out pictures mine 17
  sds-conformance replay pictures/schedule-17.json -- ./my-adapter

Messages have the names of the corpus: alice#m1 is the message of alice with the
label m1, bob/sync2 the second sync message of bob, and =ID a foreign message.
"""


def steps_between(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, int] | None:
    """Parse a range of steps, such as "40-60" or "40"."""
    if value is None:
        return None
    bounds = parse_range(context, parameter, value, "40-60, or 40")
    if not 1 <= bounds[0] <= bounds[1]:
        raise click.BadParameter(f"{value!r}: these steps do not exist", context, parameter)
    return bounds


@click.command("show", epilog=_EPILOG)
@click.argument("folder", type=INPUT_PLACE, metavar="DIR")
@click.argument("index", type=click.IntRange(0))
@click.option("--steps", callback=steps_between, metavar="A-B", help="Show only these steps.")
@click.option(
    "--out",
    "saved",
    type=OUTPUT_FOLDER,
    default=Path("shown"),
    show_default=True,
    metavar="DIR",
    help="Folder for the diagram and the schedule for `replay`.",
)
@click.option("--json", "json_wanted", is_flag=True, help="Print the rows as JSON and write no files.")
def show_command(folder: str, index: int, steps: tuple[int, int] | None, saved: Path, json_wanted: bool) -> None:
    """Show one schedule of a corpus, as a table and a diagram."""
    with corpus_errors(console(stderr=True)):
        from sds_harness.corpus.reader import stored_in

        corpus = corpus_at(folder, complete=False)
        if index >= corpus.manifest.schedules:
            raise click.UsageError(
                f"{folder} has the schedules 0 to {corpus.manifest.schedules - 1}; there is no schedule {index}."
            )
        stored = next(stored_in(corpus, index // corpus.manifest.per_shard, [index], None), None)
        if stored is None:
            raise click.UsageError(f"{folder} does not have schedule {index}.")
        rows = [row for row in stored.rows if steps is None or steps[0] <= row["step"] <= steps[1]]
        if json_wanted:
            print_json(_json(stored, rows), bytes.hex)
        else:
            _show(console(), stored, rows, saved)
    sys.exit(Exit.CONFORMANT)


def _show(out: Console, stored: Stored, rows: list[dict[str, Any]], saved: Path) -> None:
    from ...corpus.kinds import corpora_of

    rebuilt, manifest = stored.group_trace(), stored.corpus.manifest
    group_trace = rebuilt.group_trace
    assessment = assess(group_trace, Scope.select("full", judged_revision(manifest.revision)), rebuilt.judged)
    when = make_time_key(group_trace)
    findings = sorted(assessment.findings, key=lambda f: (-RANK[f.severity], when(f)))
    print_labelled(out, "Schedule", Text(f"{group_trace.schedule.name}, played by {manifest.name}", "bold"))
    side = stored.side
    ended = "" if side["ending"] == "played" else f"; it ended with {printable(side['ending'], 40)}"
    who = ", ".join(printable(name, 40) for name in group_trace.schedule.names)
    print_labelled(out, "Members", who)
    compared = f"{side['steps']} that `corpus diff` compares"
    print_labelled(out, "Steps", f"{compared}, digest {side['digest'].hex()}{ended}")
    out.print()
    out.print(_table(rows, corpora_of(manifest.revision).in_words))
    out.print()
    blamed, caption = None, ""
    first = {finding.requirement: finding for finding in reversed(findings)}
    for finding in [f for f in findings if first[f.requirement] is f]:
        example = Counterexample.from_unshrunk(finding, group_trace)
        where, _ = rule_of(finding.requirement)
        out.print(headline(finding.severity, finding.full_code, where, width=0))
        print_labelled(out, "At", f"step {example.act.number if example.act else 0} of {finding.participant}")
        for line in proof_of(example)[:3] or [describe_finding(example)]:
            print_labelled(out, "", line)
        if blamed is None:
            blamed, caption = example.act, describe_finding(example)
    if findings:
        out.print()
    svg = spacetime_svg(group_trace, blamed, f"{group_trace.schedule.name}: {manifest.name}", caption)
    with write_errors(f"cannot write to {saved}", "Name another DIR with --out."):
        saved.mkdir(parents=True, exist_ok=True)
        picture, plan = saved / f"schedule-{stored.schedule}.svg", saved / f"schedule-{stored.schedule}.json"
        write_whole(picture, svg)
        write_whole(plan, escape_json(dumps(_add_revision_note(group_trace.schedule, manifest.revision))))
    print_labelled(out, "Picture", Text(str(picture), "blue"), whole=True)
    again = shlex.join([program(), "replay", str(plan), "--"])
    show_typed(out, "Replay", f"{again} COMMAND")


def _add_revision_note(schedule: Schedule, revision: str) -> Schedule:
    """Add a note with the revision under which the schedule was played, if a replay would use another revision by
    default.
    """
    if revision in ("", CURRENT):
        return schedule
    return replace(schedule, notes=tuple(sorted({**dict(schedule.notes), "revision": revision}.items())))


def _table(rows: list[dict[str, Any]], describe: Callable[[dict[str, Any]], str]) -> Table:
    table = plain_table(right=("step", "ms"))
    for name in ("who", "does", "what"):
        table.add_column(name, no_wrap=name != "what", overflow="fold")
    for row in rows:
        table.add_row(
            str(row["step"] or "·"),
            f"{row['at_ms']:,}",
            printable(row["participant"], 16),
            Text(printable(row["command"], 40).replace("_", " ")),
            Text(printable(describe(row), 400), "" if row["step"] else "dim"),
        )
    return table


def _json(stored: Stored, rows: list[dict[str, Any]]) -> dict[str, Any]:
    side = stored.side
    return {
        "schedule": stored.schedule,
        "steps": side["steps"],
        "digest": side["digest"].hex(),
        "ending": side["ending"],
        "judged": side["judged"],
        "plan": _plan(side["json"]),
        "rows": rows,
    }


def _plan(text: str) -> Any:
    """Return the schedule as JSON values; the unchanged text if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
