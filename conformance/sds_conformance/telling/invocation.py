"""How the implementation was driven, and the commands to type to see something again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from sds_harness.environment import PLAIN

from ..judging.registry import scenario_of
from ..judging.verdict import Finding


@dataclass(frozen=True)
class Invocation:
    """How the implementation was driven."""

    command: tuple[str, ...]
    """Empty for a server that runs already: ``options`` say where."""
    framing: str = "json"
    options: tuple[str, ...] = ()
    """Options of the command line that a replay must repeat."""
    program: str = "sds-conformance"
    """The suite as it was called."""

    def replay(self, requirement: str, finding: Finding | None) -> str:
        """The command that replays a finding; without one, all runs of the requirement."""
        options = ("--select", requirement)
        return self._run(*options) if finding is None else self.play(finding.run, finding.environment, *options)

    def play(self, run: str, environment: str, *options: str) -> str:
        """The command that plays one run again."""
        where = ("--environment", environment) if environment != PLAIN.name else ()
        return self._run(*options, "--scenario", scenario_of(run), *where)

    def _run(self, *options: str) -> str:
        driven = ["--", *self.command] if self.command else []
        return shlex.join([self.program, "run", *options, *self.options, *driven])


def unusual(options: Mapping[str, tuple[str | None, str | None]]) -> list[str]:
    """The options whose value, the first, is not the default, the second, as they would be typed."""
    return [word for name, (value, default) in options.items() if value != default for word in (name, value or "")]
