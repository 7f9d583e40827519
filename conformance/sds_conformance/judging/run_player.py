"""Plays runs on one implementation and judges each of them. Then the trace is dropped, or compressed for reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sds_harness.faults import Breakdown
from sds_harness.trace import Trace

from .garbage import garbage_collected_at_end
from .known_runs import KnownRuns
from .registry import Run
from .rules import Rules
from .run_summary import RunSummary, TraceJudge
from .runner import OUR_LIMITS, BrokenRun, Runner
from .trace_storage import pack

RunListener = Callable[[str], None]
"""Called with the name of a run that starts."""


@dataclass(frozen=True)
class RunResult:
    """The result of one run, or of ending the process that played the runs of a unit. Plain data."""

    run: str = ""
    """Name of the run; "" at the end of a unit."""
    summary: RunSummary | None = None
    """None if the handshake failed, and at the end of a unit."""
    breakdowns: tuple[BrokenRun, ...] = ()
    trace: bytes | None = None
    """The compressed trace; None if reports do not need it."""
    doubt_data: Any = None
    """The data that `Rules.extract_doubt_data` extracted; None if there is none. Reports use it to mark doubtful
    verdicts.
    """
    unmet: tuple[tuple[int, str], ...] = ()
    """The unmet expectations of the scenario file: the index of each, and what was seen."""
    unchecked: str = ""
    """Why the expectations of the scenario file were not checked; "" if they were."""

    def count_consecutive_breakdowns(self, before: int) -> int:
        """Return the number of consecutive breakdowns after this result, given the number ``before`` it."""
        if self.run and self.breakdowns:
            return before + any(broken.breakdown.kind not in OUR_LIMITS for broken in self.breakdowns)
        return 0 if self.summary is not None and self.summary.steps else before


@dataclass(frozen=True)
class Keep:
    """Selects the data of a run that are stored in addition to the verdicts."""

    traces: bool = True
    """Traces of runs with findings or breakdowns, and the ways of the implementation at positions."""
    plain: bool = True
    """Traces of all runs in the plain environment, even of those without findings and breakdowns."""


EVERYTHING = Keep()
VERDICTS = Keep(traces=False, plain=False)


class RunPlayer:
    """Plays units in sequence. The runs of a unit share a process of the implementation, which is ended after them."""

    def __init__(
        self,
        runner: Runner,
        rules: Rules,
        requirements: Iterable[str],
        keep: Keep,
        *,
        known: KnownRuns | None = None,
        on_start: RunListener = lambda run: None,
    ) -> None:
        """Results of known runs are taken from ``known``. If it is given, ``keep`` must be `VERDICTS`."""
        assert known is None or keep == VERDICTS, "known runs have no traces: keep must be VERDICTS"
        self.runner = runner
        self._requirements = tuple(requirements)
        self._trace_judge = TraceJudge(rules, self._requirements, ways=keep.traces)
        self._known = known
        self._rules = rules
        self._keep = keep
        self._on_start = on_start
        self._never_exits = False
        """A process has failed to exit by itself. Later processes are killed at once, without waiting for their
        exit.
        """
        self._reported_count = 0

    def play_unit(self, runs: Sequence[Run]) -> Iterator[RunResult]:
        """Play the runs, and yield the result of each and of the end of the process."""
        self.runner.begin()
        for run in runs:
            self._on_start(run.name)
            yield self._recall(run) or self._play(run)
            if self.runner.gave_up:
                break
        yield self.end()

    def end(self) -> RunResult:
        """End the process of a unit, and return a result with the breakdowns at its end, such as a process that does
        not exit.
        """
        if self._never_exits:
            self.runner.kill()
        else:
            self.runner.close()
        broken = self._new_breakdowns()
        self._never_exits |= bool(broken)
        return RunResult(breakdowns=broken)

    def _recall(self, run: Run) -> RunResult | None:
        """Return the result of the run if it is known; None if the run must be played."""
        if self._known is None or (summary := self._known.recall(self.runner, run, self._requirements)) is None:
            return None
        self.runner.begin()
        return RunResult(run.name, summary)

    @garbage_collected_at_end()
    def _play(self, run: Run) -> RunResult:
        trace = self.runner.trace_of(run)
        if trace is None:
            return RunResult(run.name, None, self._new_breakdowns())
        summary = self._trace_judge.judge(trace)
        if self._known is not None:
            self._known.add(self.runner, trace, self._requirements, summary)
        is_notable = summary.has_reports or trace.breakdown is not None or bool(trace.unmet)
        is_kept = is_notable or (self._keep.plain and run.plain)
        doubt_data = self._rules.extract_doubt_data(trace) if self._keep.traces and (is_notable or run.plain) else None
        packed = pack(trace) if self._keep.traces and is_kept else None
        return RunResult(
            run.name, summary, self._new_breakdowns(), packed, doubt_data, trace.unmet, _why_unchecked(run, trace)
        )

    def _new_breakdowns(self) -> tuple[BrokenRun, ...]:
        """The breakdowns since the last call."""
        new = self.runner.breakdowns[self._reported_count :]
        self._reported_count += len(new)
        return tuple(new)


def _why_unchecked(run: Run, trace: Trace[Any]) -> str:
    """Return why the expectations of a scenario file were not checked; "" if they were checked or if there are none."""
    if run.scenario.file is None or not run.scenario.file.expected:
        return ""
    if trace.breakdown is not None:
        return describe_first_breakdown(trace.breakdown)
    return trace.unchecked or trace.suite_error


def describe_first_breakdown(breakdown: Breakdown) -> str:
    """Format a breakdown as the reason why expectations were not checked."""
    return f"the implementation broke down before the expectations were checked ({breakdown.kind.value})"
