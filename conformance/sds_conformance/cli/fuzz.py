"""``sds-conformance fuzz``."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path

import click
from rich.console import Console

from sds_harness.faults import TesteeFault

from ..exploration.campaign import Order, Tally, explore
from ..exploration.casting import Casting, Company
from ..exploration.counterexample import Counterexample, NotPlayed, counterexample_of, save
from ..exploration.telling import (
    as_json,
    last_line,
    plain_story,
    show_counterexample,
    show_coverage,
    show_unstable,
    svg_of,
)
from ..judging.certification import (
    EXIT_NOT_DRIVEN,
    EXIT_USAGE,
    plan,
)
from ..judging.runner import BrokenRun
from ..judging.verdict import RANK
from ..protocols import protocol_of, protocols, repertoire_of
from ..telling.story import show_breakdown, show_certificate
from .options import Driven, console, driving, exit_code, judging, program, progress_bar, which_schedules

_EPILOG = """
\b
Examples:
  sds-conformance fuzz -- node my-adapter.mjs
  sds-conformance fuzz --examples 5000 --time-budget 600 -- ./my-adapter
  sds-conformance fuzz --cast among --participants 3-4 -- ./my-adapter
  sds-conformance fuzz --passage gap --passage partition -- ./my-adapter

The same seed gives the same schedules on every machine. Counterexamples are
shrunk and kept in --save DIR; `sds-conformance replay` plays them again, on
this or on any other implementation.
"""


@click.command(epilog=_EPILOG)
@click.option(
    "--examples", type=click.IntRange(1, 10_000_000), default=500, show_default=True, help="How many schedules."
)
@which_schedules
@click.option(
    "--time-budget",
    type=click.FloatRange(min=0.1),
    metavar="SECONDS",
    help="Begin no further schedule after that time.",
)
@judging
@click.option(
    "--jobs",
    type=click.IntRange(1, 256),
    default=os.cpu_count() or 1,
    metavar="N",
    help="Processes that play at the same time, each with an implementation of its own; as many as processors.",
)
@click.option(
    "--save",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("counterexamples"),
    show_default=True,
    metavar="DIR",
    help="Where counterexamples are kept; made only if there is one.",
)
@click.option("--json", "json_wanted", is_flag=True, help="Print the outcome as JSON instead of the stories.")
@driving
def fuzz(
    driven: Driven,
    examples: int,
    seed: int,
    time_budget: float | None,
    casting: str,
    participants: tuple[int, int],
    passages: tuple[str, ...],
    profile: str,
    revision: str,
    strict: bool,
    jobs: int,
    folder: Path,
    json_wanted: bool,
) -> None:
    """Play generated schedules and judge everything in them.

    Several participants, losses, delays, partitions, crashes, late joiners, clocks that are off: every requirement is
    checked on every trace, and the properties of the whole group besides. What fails is shrunk to a short story.
    """
    out, err = console(), console(stderr=True)
    scheduled = [name for p in protocols() if p.repertoire is not None for name in p.repertoire.revisions]
    if revision not in scheduled:
        raise click.UsageError(
            f"generated schedules are about {' and '.join(scheduled)}. Of {revision} there are the scenarios of `run`: "
            f"{program()} run --revision {revision} -- {driven.shown}"
        )
    order = Order(
        driven.connect,
        driven.limits,
        driven.dialect,
        revision,
        profile,
        Casting(casting),
        repertoire_of(revision).grammar_of(profile, *participants, passages),
        seed,
        examples,
        time_budget or 0.0,
        min(jobs, examples),
        strict,
    )
    err.print(f"Seed {seed}: {examples:,} schedules", soft_wrap=True)
    try:
        tally = _explore(err, order)
    except TesteeFault as fault:
        show_breakdown(err, BrokenRun("handshake", 0, "", fault.breakdown))
        err.print(f"{driven.shown} could not be driven.", style="bold red", soft_wrap=True)
        sys.exit(EXIT_NOT_DRIVEN)
    if not json_wanted:
        show_certificate(
            out,
            tally.declaration,
            driven.dialect or tally.declaration.profile("dialect"),
            plan(protocol_of(revision).rules, (), (), profile, revision),
        )
    examples_found: dict[str, Counterexample] = {}
    files: dict[str, dict[str, Path]] = {}
    written = _tell(out, err, order, tally, driven, folder, examples_found, files, quiet=json_wanted)
    if json_wanted:
        click.echo(json.dumps(as_json(tally, order, examples_found, files), ensure_ascii=False, indent=2))
    else:
        show_coverage(out, tally, order.scope)
        for where, what in tally.errors.items():
            out.print(f"Our fault: {where}: {what}", style="bold white on red", soft_wrap=True)
        if tally.gave_up:
            out.print(f"The rest was not played: {tally.gave_up}.\n", style="yellow")
        name = f"{tally.declaration.name} {tally.declaration.version}".strip()
        out.print(last_line(tally, name))
    sys.exit(EXIT_USAGE if not written else exit_code(tally))


def _explore(err: Console, order: Order) -> Tally:
    with progress_bar(err) as bar:
        task = bar.add_task("schedules", total=order.examples)

        def progress(tally: Tally) -> None:
            found = f", {len(tally.found)} found" if tally.found else ""
            bar.update(task, completed=tally.schedules, description=f"schedules{found}")

        return explore(order, progress)


def _tell(
    out: Console,
    err: Console,
    order: Order,
    tally: Tally,
    driven: Driven,
    folder: Path,
    examples: dict[str, Counterexample],
    files: dict[str, dict[str, Path]],
    *,
    quiet: bool,
) -> bool:
    """Shrink, keep and tell what was found, the worst first. False if it could not be written."""
    ordered = sorted(tally.found, key=lambda what: (-RANK[tally.found[what].severity], what))
    company = order.company()
    status = err.status("") if err.is_terminal and err.color_system is not None else None
    try:
        if ordered:
            company.start()
        for number, what in enumerate(ordered, 1):
            if status is not None:
                status.start()
                status.update(f"shrinking {what} ({number} of {len(ordered)})")
            example = _shrunk(order, company, tally, what)
            if status is not None:
                status.stop()
            if example is None:
                if not quiet:
                    show_unstable(out, what, tally.found[what], tally.found_at[what], order.seed)
                continue
            examples[what] = example
            try:
                files[what] = save(example, folder, svg_of(example), plain_story(example))
            except OSError as error:
                err.print(
                    f"Nothing can be kept in {folder}: {error.strerror}. Name another DIR with --save.", style="red"
                )
                return False
            if not quiet:
                again = shlex.join(
                    [program(), "replay", str(files[what]["schedule"]), *driven.options, "--", *driven.command]
                )
                show_counterexample(out, example, tally, files[what], again)
    except KeyboardInterrupt:
        tally.interrupted = True
    finally:
        if status is not None:
            status.stop()
        company.kill()
    return True


def _shrunk(order: Order, company: Company, tally: Tally, what: str) -> Counterexample | None:
    try:
        return counterexample_of(order, company, tally.found_at[what], tally.found[what])
    except NotPlayed:
        return None
