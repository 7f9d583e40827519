"""``sds-conformance limits``."""

from __future__ import annotations

import math
import re
import sys

import click

from sds_harness import signals

from ..exploration.limits.measuring import Order, as_json, introduced, measure
from ..exploration.limits.row import Row
from ..exploration.limits.telling import last_line, show_limits
from ..judging.exits import Exit
from ..judging.planning import plan
from ..judging.rules import Rules, UnknownDialect
from ..protocols import protocol_of, protocols
from ..protocols.dimensions import Dimension
from ..telling.story import show_certificate
from .keeping import keeping, record
from .options import CURRENT, Driven, console, driving, judging
from .showing import driven_or_ended, print_json, steps_bar

_NAMES = list(dict.fromkeys(name for protocol in protocols() for name in protocol.dimensions))
_EPILOG = f"""
\b
Examples:
  sds-conformance limits -- node my-adapter.mjs
  sds-conformance limits --budget 20m -- ./my-adapter
  sds-conformance limits --only log --only waiting -- ./my-adapter
  sds-conformance limits --only waiting --at 1001 -- ./my-adapter

Sizes are doubled from 3 on, until one does not hold; then the first of these
is looked for. Exit code 1 where a limit is a finding: it is smaller than what
is declared or, where nothing is declared, than what `run` demands.

Dimensions: {", ".join(_NAMES)}
"""
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


def _budget(context: click.Context, parameter: click.Parameter, value: str) -> float:
    """Seconds, from "90", "90s", "2m" or "1h". Raises BadParameter."""
    found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)([smh]?)", value.strip().lower(), re.ASCII)
    seconds = float(found[1]) * _UNITS[found[2]] if found else math.nan
    if not seconds >= 0.1:
        raise click.BadParameter(f"{value!r} is no time: write for example 90s, 2m or 1h", context, parameter)
    return seconds


@click.command("limits", epilog=_EPILOG)
@click.option(
    "--budget",
    callback=_budget,
    default="2m",
    show_default=True,
    metavar="TIME",
    help="How long it may take; each dimension has a share.",
)
@click.option(
    "--only", multiple=True, type=click.Choice(_NAMES), metavar="DIMENSION", help="Only this one; may be repeated."
)
@click.option("--at", type=click.IntRange(1), metavar="N", help="Play this size alone, beside the smallest.")
@judging
@click.option("--json", "as_json_wanted", is_flag=True, help="Print the outcome as JSON instead of the table.")
@driving
@keeping
def limits_command(
    driven: Driven,
    budget: float,
    only: tuple[str, ...],
    at: int | None,
    profile: str,
    revision: str,
    strict: bool,
    as_json_wanted: bool,
) -> None:
    """Find out how far an implementation holds: where it breaks, and how.

    What holds for three messages is asked for three thousand, and so with whatever there can be more of.
    """
    out, err = console(), console(stderr=True)
    protocol = protocol_of(revision)
    if misfit := protocol.rules.misfit(revision, profile, driven.dialect or ""):
        raise click.UsageError(misfit)
    dimensions = [
        dimension
        for name, dimension in protocol.dimensions.items()
        if (not only or name in only) and _within(dimension, protocol.rules, profile)
    ]
    if not dimensions:
        raise click.UsageError(f"nothing of that is in the profile {profile} of {revision}: leave --only out")
    for dimension in dimensions:
        if at is not None and at > dimension.most:
            raise click.UsageError(f"--at {at}: {dimension.name} is played up to {dimension.most}")
    order = Order(
        driven.connect,
        driven.limits,
        protocol.rules,
        revision,
        profile,
        driven.dialect,
        strict,
        dimensions,
        budget,
        at,
    )
    try:
        with driven_or_ended(err, driven):
            measured = introduced(order)
    except UnknownDialect as error:
        err.print(str(error), style="bold red", soft_wrap=True)
        sys.exit(Exit.NOT_DRIVEN)
    with steps_bar(err, 32, 20) as bar:
        measure(order, measured, bar)
    signals.hold()
    record(driven, (row.first_not.finding for row in measured.rows if row.first_not and row.first_not.finding))
    replays = [_again(driven, order, row) for row in measured.rows]
    if as_json_wanted:
        print_json(as_json(order, measured, replays))
    else:
        declared = measured.declaration
        show_certificate(out, declared, measured.dialect, plan(protocol.rules, (), (), profile, revision))
        show_limits(out, measured, replays)
        out.print(last_line(measured, f"{declared.name} {declared.version}".strip() or "?"))
    sys.exit(measured.exit_code)


def _within(dimension: Dimension, rules: Rules, profile: str) -> bool:
    """Is anything of it judged in a profile?"""
    known = rules.catalogue.requirements
    return any(rules.in_profile(known[requirement], profile) for requirement in dimension.about)


def _again(driven: Driven, order: Order, row: Row) -> str:
    """The command that plays the first size that did not hold, "" if all held."""
    if row.first_not is None or row.held is None:
        return ""
    words = ["limits", "--only", row.dimension.name, "--at", str(row.first_not.size)]
    words += ["--revision", order.revision] if order.revision != CURRENT else []
    words += ["--profile", order.profile] if order.profile != order.rules.full else []
    return driven.typed(*words, *(["--strict"] if order.strict else []))
