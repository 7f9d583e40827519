"""The pytest plugin: ``pytest --sds-testee "COMMAND"`` runs the suite as pytest items.

If the suite is installed, pytest loads this module in every run. So it does nothing and imports nothing else unless
there is an implementation to test. Only then it imports ``suite``. The implementation can be named on the command line,
in the configuration file of pytest, or in that of the suite. ``docs/pytest.md`` is for users.

Division of work: this package collects, selects and reports; other packages play, judge and format.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SUITE = "sds-suite"
"""The plugin name under which ``suite`` registers if there is an implementation."""
OPTIONS = {
    "testee": (
        "COMMAND",
        "The implementation to test: a command as a shell takes it. Without it, the suite does not run.",
    ),
    "revision": ("NAME", "The revision of the specification to judge."),
    "profile": ("NAME", "The part of the specification to judge."),
    "environment": ("GLOB", "Play in these environments; may be repeated. By default only in `plain`; '*' is all."),
    "scenario-file": (
        "FILE",
        "Play this scenario file, or all in this folder, in place of the suite's scenarios; may be repeated.",
    ),
    "timeout": ("SECONDS", "Maximum time of one command to the implementation, in seconds."),
    "start-timeout": ("SECONDS", "Maximum time until the first answer of a new process, in seconds."),
    "total-timeout": ("SECONDS", "Maximum time of all commands to the implementation together, in seconds."),
    "dialect": ("NAME", "Translate messages from and to this private wire layout."),
    "framing": ("NAME", "The format of requests and replies on stdin and stdout: json or binary."),
    "baseline": ("FILE", "Expect the failures that this baseline lists (`sds-conformance baseline write` writes one)."),
    "strict": ("", "Report violations as failures even where a position of the suite turns them into warnings."),
}
"""All options, without their common prefix ``--sds-``."""
MARKER = "sds(select=[GLOB, ...]): the requirements by which a test with the fixture `stage` is judged, by default all"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add every option to the command line and, with underscores in its name, to the configuration file."""
    group = parser.getgroup("sds", "conformance to SDS")
    for name, (metavar, what) in OPTIONS.items():
        option, stored = f"--sds-{name}", f"sds_{name.replace('-', '_')}"
        if name == "strict":
            group.addoption(option, action="store_true", default=None, help=what)
            parser.addini(stored, what, type="bool", default=False)
        elif name in ("environment", "scenario-file"):
            group.addoption(option, action="append", metavar=metavar, help=what)
            parser.addini(stored, what, type="args", default=[])
        else:
            group.addoption(option, metavar=metavar, help=what)
            parser.addini(stored, what, type="string", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Register the suite if there is an implementation. Raises UsageError."""
    config.addinivalue_line("markers", MARKER)
    if config.getoption("sds_testee") is None and not config.getini("sds_testee") and not _names_command(config):
        needless = [name for name in OPTIONS if config.getoption(f"sds_{name.replace('-', '_')}") is not None]
        needless = [f"--sds-{name}" for name in needless] or [a for a in config.args if a.startswith("sds::")]
        if needless:
            raise pytest.UsageError(f'{needless[0]} needs an implementation: add --sds-testee "COMMAND"')
        return
    from sds_harness.systems import unsupported_system

    if why := unsupported_system():
        raise pytest.UsageError(why)
    from .suite import SuiteSession

    config.pluginmanager.register(SuiteSession(config), SUITE)


def _names_command(config: pytest.Config) -> bool:
    """Does the configuration file of the suite name a command? Raises UsageError."""
    folder = config.invocation_params.dir
    if not (folder / "sds-conformance.toml").exists() and not _mentions_suite(folder / "pyproject.toml"):
        return False
    from .session_options import file_values  # imported only here, because this import loads the suite

    return "command" in file_values(config)


def _mentions_suite(file: Path) -> bool:
    try:
        return "sds-conformance" in file.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return False


@pytest.fixture
def stage(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A stage, as scenarios of the suite get it, which drives the implementation of --sds-testee.

    The schedule that the test plays is judged when the test function returns: by all checks, or by those that
    ``@pytest.mark.sds`` selects.
    """
    if not request.config.pluginmanager.hasplugin(SUITE):
        pytest.skip('no implementation to test: pytest --sds-testee "COMMAND"')
    from .stages import stage_for_test

    with stage_for_test(request.node) as stage:
        yield stage
