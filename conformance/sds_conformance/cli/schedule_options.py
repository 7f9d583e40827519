"""The options of commands that play or judge schedules: which schedules are played, and in which revision."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from ..exploration.cast_under_test import CastKind
from ..protocols import repertoire_of, revisions, rules_of, scheduled
from ..scenario_files.reader import LoadedScenario, ScenarioFileError, load, one_revision
from .files import usage_errors
from .implementation_options import DrivenImplementation
from .name_types import Name, NameChoice, unknown_name_message
from .options import CURRENT, Decorator, combine, program, which_seed
from .paths import INPUT, OUTPUT_FOLDER

SEED_HELP = "Seed of the schedules; `random` draws a seed and prints it."
SAVE = click.option(
    "--out",
    "folder",
    type=OUTPUT_FOLDER,
    default=Path("counterexamples"),
    show_default=True,
    metavar="DIR",
    help="Folder for counterexamples; created when the first is found.",
)


_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


class Duration(click.ParamType[float]):
    """Parameter type: a duration such as "90", "90s", "10m" or "2h", converted to seconds; at least 0.1 s."""

    name = "time"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> float:
        """Convert the value to seconds. Raises BadParameter."""
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)([smh]?)", str(value).strip().lower(), re.ASCII)
        seconds = float(found[1]) * _UNITS[found[2]] if found else math.nan
        if not seconds >= 0.1:
            self.fail(f"{value!r} is not a time: write for example 90s, 10m or 2h", parameter, context)
        return seconds


def parse_range(context: click.Context, parameter: click.Parameter, value: str, usual: str) -> tuple[int, int]:
    """Parse a range such as "3-8", or one number such as "4". ``usual`` is an example for the message of
    BadParameter."""
    first, _, last = value.partition("-")
    try:
        return int(first), int(last or first)
    except ValueError:
        raise click.BadParameter(f"{value!r}: write for example {usual}", context, parameter) from None


MOST_PARTICIPANTS = len(repertoire_of(CURRENT).names)


def _participants(context: click.Context, parameter: click.Parameter, value: str) -> tuple[int, int]:
    """Parse the minimum and maximum number of participants, such as "3-8" or "4"."""
    bounds = parse_range(context, parameter, value, "3-8, or 4")
    if not 1 <= bounds[0] <= bounds[1] <= MOST_PARTICIPANTS:
        raise click.BadParameter(f"{value!r}: a schedule has 1 to {MOST_PARTICIPANTS} participants", context, parameter)
    return bounds


CAST = click.option(
    "--cast",
    "casting",
    type=NameChoice([casting.value for casting in CastKind]),
    default=CastKind.TOGETHER.value,
    show_default=True,
    help="Play all participants in one process of the implementation (together), each in its own process (apart), or "
    "one of them among reference models (among).",
)
which_schedules = combine(
    click.option(
        "--passage",
        "passages",
        type=Name("passages"),
        multiple=True,
        metavar="NAME",
        help="Generate only this passage; repeatable. `sds-conformance list passages` shows the names.",
    ),
    click.option(
        "--participants",
        callback=_participants,
        default="3-8",
        show_default=True,
        metavar="N-M",
        help="Number of participants in a schedule.",
    ),
    CAST,
    which_seed(SEED_HELP),
)
"""The options for generated schedules, and the option that selects which processes play the participants."""


def grammar_of(
    driven: DrivenImplementation, revision: str, profile: str, participants: tuple[int, int], passages: tuple[str, ...]
) -> Any:
    """Return the grammar for schedules of a revision with these options. Raises UsageError, with the command to type,
    if the revision does not support an option.
    """
    if revision not in scheduled():
        raise click.UsageError(
            f"generated schedules exist only for {' and '.join(scheduled())}. For {revision} use the scenarios of "
            f"`run`: {driven.format_command('run', '--revision', revision)}"
        )
    if wrong := rules_of(revision).find_misfit(revision, profile, driven.dialect or ""):
        raise click.UsageError(wrong)
    repertoire = repertoire_of(revision)
    if strange := [name for name in passages if name not in repertoire.passages]:
        raise click.UsageError(unknown_name_message("passages", strange[0], revision))
    return repertoire.grammar_of(profile, *participants, passages)


def revision_of(noted: str, asked: str | None, what: str) -> str:
    """Return the revision for playing or judging a stored file or corpus: the requested revision (``asked``), else the
    revision in the file or corpus (``noted``), else the current revision. Raises UsageError if ``asked`` and ``noted``
    belong to different specifications. ``what`` names the file or corpus in the message.
    """
    revision = asked or noted or CURRENT
    if noted and revisions()[revision].prefix != revisions()[noted].prefix:
        raise click.UsageError(
            f"{what} was made for {noted}, not for {revision}: omit --revision, or make schedules for {revision} with "
            f"`{program()} fuzz --revision {revision}` or `corpus record`"
        )
    return revision


def with_scenario_files(what: str) -> Decorator:
    """Add the option to a command, which receives ``files`` and ``revision``. ``what`` is the help of the option.

    ``revision`` is the revision that the user typed, or else the revision that the files name.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def wrapper(scenario_files: tuple[Path, ...], revision: str | None, **rest: Any) -> None:
            files: list[LoadedScenario] = []
            if scenario_files:
                with usage_errors(ScenarioFileError):
                    files = load(scenario_files)
                    noted = one_revision(files)
                source = click.get_current_context().get_parameter_source("revision")
                asked = revision if source is not ParameterSource.DEFAULT else None
                first = next((str(loaded.path) for loaded in files if loaded.revision), str(files[0].path))
                if noted or asked:
                    revision = revision_of(noted, asked, first)
            function(files=tuple(files), revision=revision, **rest)

        return click.option(
            "--scenario-file", "scenario_files", multiple=True, type=INPUT, metavar="FILE|DIR", help=what
        )(wrapper)

    return decorate
