"""Options and helpers that commands share."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from sds_harness.resources import MOST_JOBS, usable_jobs, why_alone

from ..protocols import default, protocols, revisions, scheduled
from ..protocols.properties import GROUP
from .name_types import NameChoice
from .output_filter import DoorConsole

CURRENT = default().rules.current
"""The default revision."""
PROFILES = list(dict.fromkeys(name for protocol in protocols() for name in protocol.rules.profiles))
PREFIXES = tuple({revision.prefix: None for revision in revisions().values()})
"""Prefixes of requirement IDs, one per specification."""
POSITIONS = tuple(dict.fromkeys(protocol.rules.positions for protocol in protocols()))
"""Prefixes of position IDs, without the dash."""


Decorator = Callable[[Callable[..., None]], Callable[..., None]]


def jobs_here(context: click.Context, parameter: click.Parameter, value: int) -> int:
    """Return the number of jobs; 1 if worker processes cannot be started."""
    if value > 1 and not context.resilient_parsing and (why := why_alone()):
        click.echo(f"Using --jobs 1 instead of {value}: {why}", err=True)
        return 1
    return value


JOBS = click.option(
    "--jobs",
    type=click.IntRange(1, MOST_JOBS),
    default=usable_jobs,
    callback=jobs_here,
    metavar="N",
    help="Play in N processes, each with its own implementation. Default: as many as the machine or container has "
    "processors and memory for.",
)


def combine(*options: Decorator) -> Decorator:
    """Combine options into one decorator. The help shows the last option first."""
    return lambda function: reduce(lambda decorated, option: option(decorated), options, function)


def which_revision(what: str) -> Decorator:
    """Return the option ``revision``; ``what`` describes what the command does with the revision."""
    choice = NameChoice(list(revisions()))
    return click.option("--revision", type=choice, default=CURRENT, show_default=True, help=what)


def optional_revision(what: str) -> Decorator:
    """Return the option ``revision`` of a command that plays or judges schedules, with no default."""
    return click.option("--revision", type=NameChoice(scheduled()), help=what)


REVISION = which_revision("Revision to judge; `sds-conformance list revisions` describes them.")
about = combine(
    REVISION,
    click.option(
        "--profile",
        type=NameChoice(PROFILES),
        default=default().rules.full,
        show_default=True,
        help=default().about_profiles,
    ),
)
"""The options ``profile`` and ``revision``."""
STRICT = click.option(
    "--strict",
    is_flag=True,
    help="Report violations as failures even where a position of the suite turns them into warnings.",
)
judging = combine(STRICT, about)
"""The options ``profile``, ``revision`` and ``strict``."""


class StoryCount(click.ParamType[int]):
    """Parameter type: a number of stories, or "all"."""

    name = "number of stories"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if value == "all":
            return sys.maxsize
        number: int = click.IntRange(0).convert(value, param, ctx)
        return number


STORY_OPTIONS = combine(
    click.option("--quiet", is_flag=True, help="Print only the last screen: verdict, root causes, next command."),
    click.option(
        "--stories",
        type=StoryCount(),
        metavar="N|all",
        help="Print the stories of the N most severe root causes, or of all, in full.",
    ),
)
"""The options ``quiet`` and ``stories`` of a command that prints stories."""


def _seed(context: click.Context, parameter: click.Parameter, value: str) -> int:
    """Parse a seed: a number, or "random". Raises BadParameter."""
    if value == "random":
        return secrets.randbelow(1 << 32)
    try:
        seed = int(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is neither a number nor random", context, parameter) from None
    if not 0 <= seed < 1 << 63:
        raise click.BadParameter(f"{value} is not between 0 and 2^63", context, parameter)
    return seed


def which_seed(what: str, metavar: str = "N", default: str = "0") -> Decorator:
    """Return the option ``seed``; ``what`` describes what the seed determines."""
    return click.option("--seed", callback=_seed, default=default, show_default=True, metavar=metavar, help=what)


def full_id(glob: str) -> str:
    """Complete a glob of IDs of requirements, positions or properties, which may be typed in any case and
    without SDS-.
    """
    glob = glob.upper()
    return glob if glob.startswith((*PREFIXES, "*", *POSITIONS, GROUP)) else f"{PREFIXES[0]}-{glob}"


def program() -> str:
    """Return ``sds-conformance``, or the path of this program if the shell does not find that name."""
    name = Path(sys.argv[0])
    if name.name != "sds-conformance" or shutil.which(name.name):
        return "sds-conformance"
    return str(name)


def python() -> str:
    """Return the name of the running Python if the shell finds this Python by it, else the path.

    Another Python with the same name may lack the packages of the suite.
    """
    found = shutil.which("python")
    return "python" if found and Path(found).parent == Path(sys.executable).parent else sys.executable


def console(*, stderr: bool = False) -> Console:
    """Return a console on stdout, for results, or on stderr, for progress and errors. Without a terminal, its width is
    COLUMNS or 80.
    """
    return DoorConsole(
        stderr=stderr,
        highlight=False,
        emoji=False,
        markup=False,
        # rich only disables colours for NO_COLOR; users who set it want no escape codes at all.
        color_system=None if os.environ.get("NO_COLOR") else "auto",
    )
