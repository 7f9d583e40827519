"""The option --scenario-file: scenarios that users wrote as files."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from ..scenario_files.reader import LoadedScenario, ScenarioFileError, load, one_revision
from .options import Decorator
from .paths import INPUT
from .schedule_revision import revision_of


def with_scenario_files(what: str) -> Decorator:
    """Add the option to a command, which receives ``files`` and ``revision``. ``what`` is the help of the option.

    ``revision`` is the revision that the user typed, or else the revision that the files name.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def wrapper(scenario_files: tuple[Path, ...], revision: str | None, **rest: Any) -> None:
            files: list[LoadedScenario] = []
            if scenario_files:
                try:
                    files = load(scenario_files)
                    noted = one_revision(files)
                except ScenarioFileError as error:
                    raise click.UsageError(str(error)) from None
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
