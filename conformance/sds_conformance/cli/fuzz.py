"""``sds-conformance fuzz``."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Callable
from pathlib import Path

import click
from rich.console import Console

from ..exploration.campaign import Order, Tally, explore
from ..exploration.casting import Casting, Company
from ..exploration.casts import NotPlayed
from ..exploration.counterexample import Counterexample, counterexample_of, save
from ..exploration.telling import (
    as_json,
    last_line,
    plain_story,
    show_counterexample,
    show_coverage,
    show_head,
    show_unstable,
    svg_of,
)
from ..judging.certification import (
    EXIT_CONFORMANT,
    EXIT_INTERRUPTED,
    EXIT_NON_CONFORMANT,
    EXIT_NOTHING_EXERCISED,
    EXIT_USAGE,
    plan,
)
from ..judging.verdict import RANK, Verdict
from ..protocols import protocol_of, protocols, repertoire_of
from ..telling.story import show_certificate, show_errors
from .options import CURRENT, SAVE, Driven, animated, console, driving, judging, program
from .showing import driven_or_ended, found_bar, not_kept, print_json

_USUAL = repertoire_of(CURRENT)

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


def participants(context: click.Context, parameter: click.Parameter, value: str) -> tuple[int, int]:
    """ "3-8" or "4"."""
    least, _, most = value.partition("-")
    try:
        bounds = int(least), int(most or least)
    except ValueError:
        raise click.BadParameter(f"{value!r}: write for example 3-8, or 4", context, parameter) from None
    if not 1 <= bounds[0] <= bounds[1] <= len(_USUAL.names):
        raise click.BadParameter(f"{value!r}: from 1 to {len(_USUAL.names)} there can be", context, parameter)
    return bounds


def seed_of(context: click.Context, parameter: click.Parameter, value: str) -> int:
    """A number, or "random"."""
    if value == "random":
        return secrets.randbelow(1 << 32)
    try:
        seed = int(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is neither a number nor random", context, parameter) from None
    if not 0 <= seed < 1 << 63:
        raise click.BadParameter(f"{value} is not between 0 and 2^63", context, parameter)
    return seed


def which_schedules(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say which schedules are generated, and who plays in them."""
    for decorate in (
        click.option(
            "--passage",
            "passages",
            type=click.Choice(list(_USUAL.passages)),
            multiple=True,
            metavar="NAME",
            help=f"Only schedules of these passages; may be repeated. There are {', '.join(_USUAL.passages)}.",
        ),
        click.option(
            "--participants",
            callback=participants,
            default="3-8",
            show_default=True,
            metavar="N-M",
            help="How many there are in a schedule.",
        ),
        click.option(
            "--cast",
            "casting",
            type=click.Choice([casting.value for casting in Casting]),
            default=Casting.TOGETHER.value,
            show_default=True,
            help="All participants of the implementation in one process, each apart in its own, or one among "
            "references.",
        ),
        click.option(
            "--seed",
            callback=seed_of,
            default="0",
            show_default=True,
            metavar="N",
            help="Which ones; `random` for others each time, the seed is printed.",
        ),
    ):
        function = decorate(function)
    return function


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
@SAVE
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
    with driven_or_ended(err, driven), found_bar(err, "schedules", order.examples) as bar:
        tally = explore(order, lambda tally: bar(tally.schedules, len(tally.found)))
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
        print_json(as_json(tally, order, examples_found, files))
    else:
        show_coverage(out, tally, order)
        show_errors(out, tally.errors)
        if tally.gave_up:
            out.print(f"The rest was not played: {tally.gave_up}.\n", style="yellow")
        name = f"{tally.declaration.name} {tally.declaration.version}".strip()
        out.print(last_line(tally, name))
    sys.exit(EXIT_USAGE if not written else exit_code(tally))


def exit_code(tally: Tally) -> int:
    """As for every other command."""
    if tally.interrupted:
        return EXIT_INTERRUPTED
    if not (tally.found or tally.errors or any(tally.exercised.values())):
        return EXIT_NOTHING_EXERCISED
    bad = tally.errors or any(finding.severity is Verdict.FAIL for finding in tally.found.values())
    return EXIT_NON_CONFORMANT if bad else EXIT_CONFORMANT


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
    status = err.status("") if animated(err) else None
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
                    show_head(out, tally.found[what])
                    found_by = f"seed {order.seed}, schedule {tally.found_at[what]}"
                    show_unstable(out, tally.found[what], found_by, "the implementation")
                continue
            examples[what] = example
            try:
                files[what] = save(example, folder, svg_of(example), plain_story(example))
            except OSError as error:
                not_kept(err, folder, error)
                return False
            if not quiet:
                again = driven.typed("replay", str(files[what]["schedule"]))
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
