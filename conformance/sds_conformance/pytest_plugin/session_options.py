"""Reads options: from the command line of pytest, else its configuration file, else the suite's configuration file."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sds_harness.declaration import printable
from sds_harness.link import Limits, Link, StdioLink
from sds_harness.suggestions import did_you_mean
from sds_testee.framing import Framing

from ..cli.configuration import ConfigurationFileError, key_of, read_here
from ..cli.implementation_options import as_typed
from ..judging.plan import Plan, plan
from ..judging.registry import Scenario
from ..judging.rules import UnknownDialectError
from ..presentation.invocation import Invocation, non_default_options
from ..protocols import default, protocol_of, revisions
from ..reports.baseline import Baseline, BaselineError
from ..reports.baseline import load as load_baseline
from ..scenario_files.reader import LoadedScenario, ScenarioFileError, load, one_revision

OF_FILE = {
    "testee": "command",
    "baseline": "baseline_file",
    **{name: name for name in ("revision", "profile", "timeout", "start-timeout", "total-timeout")},
    **{name: name for name in ("dialect", "framing", "strict")},
}
"""Maps options to the key in the configuration file of the suite."""
_FILE = pytest.StashKey[tuple[Path | None, dict[str, Any]]]()
SHORTEST_S = 0.05
"""Minimum timeout in seconds. No implementation can work with a shorter timeout."""


@dataclass(frozen=True)
class SessionOptions:
    """The implementation, how to communicate with it, and what to judge."""

    command: tuple[str, ...]
    framing: Framing
    dialect: str | None
    """None for the declared dialect; "" for no dialect."""
    limits: Limits
    strict: bool
    what: Plan
    files: tuple[Scenario, ...] = ()
    """The scenarios that were read from files."""
    baseline: Baseline | None = None
    """The known failures; None without a baseline."""
    adds_items: bool = True
    """Are the tests of the suite added to the tests of the user? False if only the configuration file of the suite
    names the command.
    """
    configured: str = ""
    """The configuration file of the suite, and the keys that are read from it, as text; "" for none."""

    def connect(self, variables: Mapping[str, str]) -> Link:
        """Start a new process with these environment variables in addition to the inherited ones."""
        return StdioLink(self.command, self.framing, self.limits, variables)

    @property
    def invocation(self) -> Invocation:
        """The equivalent invocation of ``sds-conformance run``, for replays."""
        values = {
            "--framing": (self.framing.value, Framing.JSON.value),
            "--dialect": (self.dialect, None),
            **as_typed(self.limits),
            "--revision": (self.what.revision, default().rules.current),
        }
        typed = (*non_default_options(values), *(["--strict"] if self.strict else []))
        files = {scenario.name: scenario.file.path for scenario in self.files if scenario.file is not None}
        return Invocation(self.command, self.framing.value, typed, files=files)


def file_values(config: pytest.Config) -> dict[str, Any]:
    """Return the values in the configuration file of the suite, by the names of parameters. Raises UsageError."""
    if _FILE not in config.stash:
        try:
            found = read_here()
        except ConfigurationFileError as error:
            raise pytest.UsageError(error.format_message()) from None
        config.stash[_FILE] = found or (None, {})
    return config.stash[_FILE][1]


def read_session_options(config: pytest.Config) -> SessionOptions:
    """Read the options. Raises UsageError."""
    values = file_values(config)
    for key in ("grpc", "clock"):
        if values.get(key) not in (None, "declared") and _is_of_file(config, "testee"):
            raise pytest.UsageError(
                f"{_place(config)}: `{key}` is not for pytest, which talks to a process over stdin and stdout: add "
                '--sds-testee "COMMAND"'
            )
    loaded = _files(config)
    noted = one_revision(loaded)
    revision = _value(config, "revision") or noted or default().rules.current
    if noted and revision in revisions() and revisions()[noted].prefix != revisions()[revision].prefix:
        raise pytest.UsageError(f"--sds-scenario-file: {loaded[0].path} is about {noted}, and not about {revision}")
    if revision not in revisions():
        raise _unknown_name_error(config, "revision", revision, revisions())
    rules = protocol_of(revision).rules
    profile = _value(config, "profile") or rules.full
    # An empty option means no dialect; without the option, the declared one is used.
    dialect = _value(config, "dialect") or config.getoption("sds_dialect")
    if dialect is None and _is_of_file(config, "dialect"):
        dialect = values["dialect"]
    if profile not in rules.profiles:
        raise _unknown_name_error(config, "profile", profile, rules.profiles)
    try:
        if dialect:
            rules.dialect(rules.current, dialect)
    except UnknownDialectError as error:
        message = f"{_option_label(config, 'dialect')}: {error}.{did_you_mean(dialect or '', rules.dialects)}"
        raise pytest.UsageError(message) from None
    if misfit := rules.find_misfit(revision, profile, dialect or ""):
        raise pytest.UsageError(misfit.replace(" --", " --sds-"))
    environments = _value(config, "environment") or ["plain"]
    for glob in environments:
        if not plan(rules, environments=[glob]).environments:
            raise _unknown_name_error(config, "environment", glob, rules.environments)
    framing, known = _value(config, "framing") or Framing.JSON.value, [framing.value for framing in Framing]
    if framing not in known:
        raise _unknown_name_error(config, "framing", framing, known)
    usual = Limits()
    limits = Limits(
        start_s=_seconds(config, "start-timeout", usual.start_s),
        command_s=_seconds(config, "timeout", usual.command_s),
        total_s=_seconds(config, "total-timeout", usual.total_s),
    )
    files = tuple(one.scenario(revision, everywhere=True) for one in loaded)
    what = plan(rules, profile=profile, revision=revision, environments=environments, files=files)
    return SessionOptions(
        _command(config),
        Framing(framing),
        dialect,
        limits,
        bool(_value(config, "strict")),
        what,
        files,
        _baseline(config, revision),
        not _is_of_file(config, "testee"),
        _keys_from_file(config),
    )


def _files(config: pytest.Config) -> list[LoadedScenario]:
    try:
        return load(map(Path, _value(config, "scenario-file")))
    except ScenarioFileError as error:
        raise pytest.UsageError(f"--sds-scenario-file: {error}") from None


def _value(config: pytest.Config, name: str) -> Any:
    """Return the value from the command line, the file of pytest or the file of the suite, in this order."""
    stored = _attribute_name(name)
    typed = config.getoption(stored)
    if typed is not None:
        return typed
    return file_values(config)[_parameter(name)] if _is_of_file(config, name) else config.getini(stored)


def _attribute_name(name: str) -> str:
    return f"sds_{name.replace('-', '_')}"


def _parameter(name: str) -> str:
    return OF_FILE.get(name, "").replace("-", "_")


def _is_of_file(config: pytest.Config, name: str) -> bool:
    """Does the value of an option come from the configuration file of the suite?"""
    stored = _attribute_name(name)
    ours = _parameter(name) in file_values(config)
    return ours and config.getoption(stored) is None and stored not in config.inicfg


def _place(config: pytest.Config) -> str:
    return printable(str(config.stash[_FILE][0]))


def _option_label(config: pytest.Config, name: str) -> str:
    """Return, for messages, the option or the key in the configuration file of the suite, from which a value comes."""
    if _is_of_file(config, name):
        return f"{_place(config)}: `{key_of(_parameter(name))}`"
    return f"--sds-{name}"


def _unknown_name_error(
    config: pytest.Config, name: str, value: str, known: Mapping[str, object] | list[str]
) -> pytest.UsageError:
    names = list(known)
    meant = did_you_mean(value, names)
    text = f"{_option_label(config, name)} {value!r} is unknown; known are {', '.join(names)}"
    return pytest.UsageError(f"{text}.{meant}" if meant else text)


def _keys_from_file(config: pytest.Config) -> str:
    names = [name for name in OF_FILE if _is_of_file(config, name)]
    keys = [key_of(_parameter(name)) for name in names]
    return f"{_place(config)} ({', '.join(sorted(keys))})" if keys else ""


def _baseline(config: pytest.Config, revision: str) -> Baseline | None:
    path = _value(config, "baseline")
    if not path:
        return None
    try:
        baseline = load_baseline(Path(path))
    except BaselineError as error:
        raise pytest.UsageError(f"{_option_label(config, 'baseline')}: {error}") from None
    if mismatch := baseline.mismatch(revision):
        raise pytest.UsageError(f"{_option_label(config, 'baseline')}: {mismatch}")
    return baseline


def _command(config: pytest.Config) -> tuple[str, ...]:
    if _is_of_file(config, "testee"):
        command: tuple[str, ...] = file_values(config)["command"]
        return command
    text = _value(config, "testee")
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise pytest.UsageError(f"--sds-testee {text!r} is not a command: {error}") from None
    if not words:
        raise pytest.UsageError('--sds-testee names no command: write for example --sds-testee "node adapter.mjs"')
    return words


def _seconds(config: pytest.Config, name: str, usual: float) -> float:
    text = _value(config, name)
    if text == "":
        return usual
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not SHORTEST_S <= seconds < math.inf:
        message = f"{_option_label(config, name)} {text!r}: write a number of seconds, {SHORTEST_S:g} or more"
        raise pytest.UsageError(message)
    return seconds
