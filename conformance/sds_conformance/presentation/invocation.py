"""How the implementation was started, and the commands that replay a run or a finding."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from sds_harness.environment import PLAIN

from ..judging.registry import scenario_of
from ..judging.verdict import Finding


@dataclass(frozen=True)
class Invocation:
    """How the implementation was started."""

    command: tuple[str, ...]
    """The command of the implementation; empty for a server that was already running, whose address is in
    ``options``."""
    framing: str = "json"
    options: tuple[str, ...] = ()
    """Options of the original command that the command of a replay needs, too."""
    program: str = "sds-conformance"
    """The name under which the suite was called."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Maps names of scenarios to the scenario files from which they were read."""

    def replay(self, requirement: str, finding: Finding | None) -> str:
        """Return the command that replays a finding; without a ``finding``, all runs of the requirement."""
        options = ["--select", requirement]
        if finding is not None:
            return self.play(finding.run, finding.environment, *options)
        return self._run(*options, *(word for path in self.files.values() for word in ("--scenario-file", path)))

    def play(self, run: str, environment: str, *options: str) -> str:
        """Return the command that replays one run."""
        where = ("--environment", environment) if environment != PLAIN.name else ()
        scenario = scenario_of(run)
        file = self.files.get(scenario)
        what = ("--scenario", scenario) if file is None else ("--scenario-file", file)
        return self._run(*options, *what, *where)

    def _run(self, *options: str) -> str:
        driven = ["--", *self.command] if self.command else []
        return shlex.join([self.program, "run", *options, *self.options, *driven])


def non_default_options(options: Mapping[str, tuple[str | None, str | None]]) -> list[str]:
    """Return the options that differ from their defaults. ``options`` maps names to (value, default)."""
    return [word for name, (value, default) in options.items() if value != default for word in (name, value or "")]
