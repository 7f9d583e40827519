"""``sds-conformance fuzz``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
from rich.console import Console

from ..exploration.campaign import Order, Tally, explore
from ..exploration.casting import Casting
from ..exploration.casts import NotPlayed
from ..exploration.counterexample import counterexample_of, save
from ..exploration.telling import (
    Shrunk,
    as_json,
    last_line,
    plain_story,
    show_counterexample,
    show_coverage,
    show_head,
    show_unstable,
    svg_of,
)
from ..judging.certification import plan
from ..judging.exits import Exit
from ..judging.verdict import RANK
from ..protocols import protocol_of, protocols, repertoire_of
from ..telling.story import show_certificate, show_errors
from .keeping import keeping, record
from .options import SAVE, Driven, console, driving, exit_code, judging, which_schedules
from .showing import driven_or_ended, found_bar, not_kept, print_json, shrinking_bar

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


@click.command("fuzz", epilog=_EPILOG)
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
@SAVE
@click.option("--json", "json_wanted", is_flag=True, help="Print the outcome as JSON instead of the stories.")
@driving
@keeping
def fuzz_command(
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
            f"{driven.typed('run', '--revision', revision)}"
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
    with driven_or_ended(err, driven), found_bar(err, "schedules", order.examples) as bar:
        tally = explore(order, lambda tally: bar(tally.schedules, len(tally.found)))
    if not json_wanted:
        show_certificate(
            out,
            tally.declaration,
            driven.dialect or tally.declaration.profile("dialect"),
            plan(protocol_of(revision).rules, (), (), profile, revision),
        )
    shrunk = _tell(out, err, order, tally, driven, folder, quiet=json_wanted)
    if json_wanted:
        print_json(as_json(tally, order, shrunk or {}))
    else:
        show_coverage(out, tally, order.scope)
        show_errors(out, tally.errors)
        if tally.gave_up:
            out.print(f"The rest was not played: {tally.gave_up}.\n", style="yellow")
        name = f"{tally.declaration.name} {tally.declaration.version}".strip()
        out.print(last_line(tally, name))
    sys.exit(Exit.USAGE if shrunk is None else exit_code(tally))


def _tell(
    out: Console, err: Console, order: Order, tally: Tally, driven: Driven, folder: Path, *, quiet: bool
) -> Shrunk | None:
    """Shrink, keep and tell what was found, the worst first. None if it could not be written."""
    ordered = sorted(tally.found, key=lambda what: (-RANK[tally.found[what].severity], what))
    shrunk: Shrunk = {}
    company = order.company()
    try:
        if ordered:
            company.start()
        for number, what in enumerate(ordered):
            finding = tally.found[what]
            with shrinking_bar(err, what, number, len(ordered)):
                try:
                    example = counterexample_of(order, company, tally.found_at[what], finding)
                except NotPlayed:
                    example = None
            if example is not None:
                try:
                    files = save(example, folder, svg_of(example), plain_story(example))
                except OSError as error:
                    not_kept(err, folder, error)
                    return None
                shrunk[what] = example, files
                record(driven, [example.finding])
                if not quiet:
                    show_counterexample(out, example, tally, files, driven.typed("replay", str(files["schedule"])))
                continue
            record(driven, [finding])
            if not quiet:
                show_head(out, finding)
                found_by = f"seed {order.seed}, schedule {tally.found_at[what]}"
                show_unstable(out, finding, found_by, "the implementation")
    except KeyboardInterrupt:
        tally.interrupted = True
    finally:
        company.kill()
    return shrunk
