"""The options of the pytest command line and configuration file."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sds_harness.link import Limits, Link, StdioLink
from sds_testee.framing import Framing

from ..judging.plan import Plan, plan
from ..judging.registry import Scenario
from ..judging.rules import UnknownDialectError
from ..presentation.invocation import Invocation, unusual
from ..protocols import default, protocol_of, revisions
from ..scenario_files.reader import LoadedScenario, ScenarioFileError, load, one_revision

SHORTEST_S = 0.05
"""Shorter timeouts make no sense for any implementation."""


@dataclass(frozen=True)
class SessionOptions:
    """The implementation, how to communicate with it, and what to judge."""

    command: tuple[str, ...]
    framing: Framing
    dialect: str | None
    """None for the declared one."""
    limits: Limits
    strict: bool
    what: Plan
    files: tuple[Scenario, ...] = ()
    """The scenarios that were read from files."""

    def connect(self, variables: Mapping[str, str]) -> Link:
        """Start a new process with these environment variables in addition to the inherited ones."""
        return StdioLink(self.command, self.framing, self.limits, variables)

    @property
    def invocation(self) -> Invocation:
        """The equivalent invocation of ``sds-conformance run``, for replays."""
        usual = Limits()
        values = {
            "--framing": (self.framing.value, Framing.JSON.value),
            "--dialect": (self.dialect, None),
            "--timeout": (f"{self.limits.command_s:g}", f"{usual.command_s:g}"),
            "--start-timeout": (f"{self.limits.start_s:g}", f"{usual.start_s:g}"),
            "--revision": (self.what.revision, default().rules.current),
        }
        typed = (*unusual(values), *(["--strict"] if self.strict else []))
        files = {scenario.name: scenario.file.path for scenario in self.files if scenario.file is not None}
        return Invocation(self.command, self.framing.value, typed, files=files)


def read_session_options(config: pytest.Config) -> SessionOptions:
    """Read the options. Raises UsageError."""
    loaded = _files(config)
    noted = one_revision(loaded)
    revision = _value(config, "revision") or noted or default().rules.current
    if noted and revision in revisions() and revisions()[noted].prefix != revisions()[revision].prefix:
        raise pytest.UsageError(f"--sds-scenario-file: {loaded[0].path} is about {noted}, and not about {revision}")
    if revision not in revisions():
        raise pytest.UsageError(f"--sds-revision {revision!r}: there are {', '.join(revisions())}")
    rules = protocol_of(revision).rules
    profile = _value(config, "profile") or rules.full
    # An empty option means no dialect; without the option, the declared one is used.
    dialect = _value(config, "dialect") or config.getoption("sds_dialect")
    if profile not in rules.profiles:
        raise pytest.UsageError(f"--sds-profile {profile!r}: there are {', '.join(rules.profiles)}")
    try:
        if dialect:
            rules.dialect(rules.current, dialect)
    except UnknownDialectError as error:
        raise pytest.UsageError(f"--sds-dialect: {error}") from None
    if misfit := rules.misfit(revision, profile, dialect or ""):
        raise pytest.UsageError(misfit.replace(" --", " --sds-"))
    environments = _value(config, "environment") or ["plain"]
    for glob in environments:
        if not plan(rules, environments=[glob]).environments:
            raise pytest.UsageError(f"--sds-environment {glob!r}: there are {', '.join(rules.environments)}")
    framing, known = _value(config, "framing") or Framing.JSON.value, [framing.value for framing in Framing]
    if framing not in known:
        raise pytest.UsageError(f"--sds-framing {framing!r}: there are {', '.join(known)}")
    usual = Limits()
    limits = Limits(
        start_s=_seconds(config, "start-timeout", usual.start_s), command_s=_seconds(config, "timeout", usual.command_s)
    )
    files = tuple(one.scenario(revision, everywhere=True) for one in loaded)
    what = plan(rules, profile=profile, revision=revision, environments=environments, files=files)
    return SessionOptions(
        _command(config), Framing(framing), dialect, limits, bool(_value(config, "strict")), what, files
    )


def _files(config: pytest.Config) -> list[LoadedScenario]:
    try:
        return load(map(Path, _value(config, "scenario-file")))
    except ScenarioFileError as error:
        raise pytest.UsageError(f"--sds-scenario-file: {error}") from None


def _value(config: pytest.Config, name: str) -> Any:
    """The value of the command line, or else of the configuration file."""
    stored = f"sds_{name.replace('-', '_')}"
    typed = config.getoption(stored)
    return config.getini(stored) if typed is None else typed


def _command(config: pytest.Config) -> tuple[str, ...]:
    text = _value(config, "testee")
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise pytest.UsageError(f"--sds-testee {text!r} is no command: {error}") from None
    if not words:
        raise pytest.UsageError('--sds-testee names no command: write for example --sds-testee "node adapter.mjs"')
    return words


def _seconds(config: pytest.Config, name: str, usual: float) -> float:
    text = _value(config, name)
    if not text:
        return usual
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not SHORTEST_S <= seconds < math.inf:
        raise pytest.UsageError(f"--sds-{name} {text!r}: write a number of seconds, {SHORTEST_S:g} or more")
    return seconds
