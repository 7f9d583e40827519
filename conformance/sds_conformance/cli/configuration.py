"""The configuration file: default values of options.

The file is `sds-conformance.toml` or, in the table `[tool.sds-conformance]`, `pyproject.toml`, each in the current
folder. A value applies to all commands that have the option. An option on the command line takes precedence.
"""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click
from click.core import ParameterSource

from sds_harness.declaration import printable
from sds_harness.suggestions import did_you_mean

FILE = Path("sds-conformance.toml")
PROJECT_FILE = Path("pyproject.toml")
TABLE = "sds-conformance"
"""Name of the table under `[tool]` in `pyproject.toml`."""
_LARGEST_BYTES = 1 << 20
_KEYS: Mapping[str, tuple[str, tuple[type, ...], str]] = MappingProxyType(
    {
        "baseline": ("baseline_file", (str,), "the name of a file"),
        "clock": ("clock", (str,), "a string"),
        "command": ("command", (str, list), "a string, or a list of strings"),
        "dialect": ("dialect", (str,), "a string"),
        "framing": ("framing", (str,), "a string"),
        "grpc": ("grpc", (str,), "an address"),
        "memory": ("memory", (str,), "a size, such as '512m'"),
        "profile": ("profile", (str,), "a string"),
        "revision": ("revision", (str,), "a string"),
        "start-timeout": ("start_timeout", (int, float), "a number of seconds"),
        "strict": ("strict", (bool,), "true or false"),
        "timeout": ("timeout", (int, float), "a number of seconds"),
        "total-timeout": ("total_timeout", (int, float), "a number of seconds"),
    }
)
"""Maps each key of the file to (name of the parameter in the commands, allowed types of the value, the types in words).
"""
KEYS = tuple(_KEYS)
_IN_USE = __name__


class ConfigurationFileError(click.UsageError):
    """The configuration file cannot be used."""


def key_of(parameter: str) -> str:
    """Return the key in the configuration file for a parameter."""
    return next(key for key, (name, _, _) in _KEYS.items() if name == parameter)


def use(context: click.Context, parameter: click.Parameter, file: Path | None) -> None:
    """Callback of --config: read FILE, by default the configuration of the current folder. Raises
    ConfigurationFileError.
    """
    if context.resilient_parsing:
        return
    found = (file, read(file)) if file is not None else read_here()
    if found is not None:
        context.meta[_IN_USE] = found


def read_here() -> tuple[Path, dict[str, Any]] | None:
    """Read the configuration of the current folder. Return its path and the values by the names of parameters; None if
    there is none. Raises ConfigurationFileError.
    """
    if FILE.exists():
        return FILE, read(FILE)
    if not PROJECT_FILE.exists():
        return None
    # Not imported at the top: `sds_harness.files` imports modules that Windows lacks, and `sds-conformance` must be
    # able to say so first.
    from sds_harness.files import FileError, read_text

    try:
        text = read_text(PROJECT_FILE, _LARGEST_BYTES)
    except FileError:
        return None  # an unreadable pyproject.toml is probably for other programs
    if TABLE not in text:
        return None
    found = read(PROJECT_FILE)
    return (PROJECT_FILE, found) if found else None


def read(file: Path) -> dict[str, Any]:
    """Read the values in a file, by the names of parameters. Raises ConfigurationFileError."""
    from sds_harness.files import FileError, read_text

    path_text = printable(str(file))
    try:
        data: Any = tomllib.loads(read_text(file, _LARGEST_BYTES))
    except FileError as error:
        raise ConfigurationFileError(f"{path_text}: {error}") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigurationFileError(f"{path_text} is not TOML: {printable(str(error))}") from None
    if file.name == PROJECT_FILE.name:
        tool = data.get("tool")
        data = tool.get(TABLE, {}) if isinstance(tool, dict) else {}
        if not isinstance(data, dict):
            raise ConfigurationFileError(f"{path_text}: [tool.{TABLE}] is not a table")
    return dict(_value(path_text, key, value) for key, value in data.items())


def _value(shown: str, key: str, value: Any) -> tuple[str, Any]:
    if key not in _KEYS:
        known = did_you_mean(key, _KEYS) or f" The keys are {', '.join(_KEYS)}."
        raise ConfigurationFileError(f"{shown}: there is no key {printable(key, 60)!r}.{known}")
    name, types, what = _KEYS[key]
    if type(value) not in types:
        raise ConfigurationFileError(f"{shown}: `{key}` must be {what}, not {printable(repr(value), 60)}")
    if name != "command":
        return name, value
    try:
        words = shlex.split(value) if isinstance(value, str) else value
    except ValueError as error:
        raise ConfigurationFileError(f"{shown}: `{key}` is not a command line: {error}") from None
    if not words or not all(isinstance(word, str) for word in words):
        raise ConfigurationFileError(f"{shown}: `{key}` must be {what}, and not empty")
    return name, tuple(words)


def apply_defaults(context: click.Context) -> None:
    """Set defaults of the options of a command from the configuration file. Print once which file and keys are used."""
    found = context.meta.get(_IN_USE)
    if found is None or context.resilient_parsing:
        return
    file, values = found
    names = {parameter.name for parameter in context.command.params} & values.keys()
    if names:
        context.default_map = {name: values[name] for name in names}
        keys = ", ".join(key for key, (name, _, _) in _KEYS.items() if name in names)
        click.echo(f"Configuration: {printable(str(file))} ({keys})", err=True)


def explain(error: click.UsageError) -> str:
    """Return a sentence that names the configuration file in which a wrong value is set; "" if the user typed the
    value.
    """
    if not isinstance(error, click.BadParameter) or error.ctx is None or error.param is None:
        return ""
    found = error.ctx.meta.get(_IN_USE)
    if found is None or error.param.name not in (error.ctx.default_map or {}):
        return ""
    if error.ctx.get_parameter_source(error.param.name or "") is ParameterSource.COMMANDLINE:
        return ""
    return f"The value is set in {printable(str(found[0]))}."


def is_overridden_by(context: click.Context, name: str, other: str) -> bool:
    """Return whether the user typed the option ``other``, but the option ``name`` is only set in the configuration
    file.
    """
    sources = context.get_parameter_source(name), context.get_parameter_source(other)
    return sources == (ParameterSource.DEFAULT_MAP, ParameterSource.COMMANDLINE)
