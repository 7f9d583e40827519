"""Tests an altered model with the scenarios of judging, in the configurations that execute the alteration."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from sds_harness.trace import Trace

from ..registry import Run
from ..rules import Rules
from ..runner import Connect
from ..verdict import Judge, RequirementVerdict, Verdict
from .copies import importable_copy
from .coverage import RunCoverage, StatementCoverage, plan_of, runs_of
from .places import AlterationPlace, alter_module
from .results import AlterationResult, End
from .source import Configuration, ModelSource
from .timed_run import HashingLink, RunTimeoutError, cpu_time_limit, play

BUDGET_S = 20.0
"""CPU seconds for judging one place. A run that started before they were used up is completed."""
PATIENCE_S = 180.0
"""CPU seconds for one place after which the suite is assumed to hang."""
BRIEF_BUDGET_S = 5.0
"""CPU seconds for judging an excused place. They suffice to see whether the excuse is outdated."""
MOST_CONFIGURATIONS = 3
"""Maximum number of configurations in which other methods are tried."""

OtherMethod = Callable[[Connect, Configuration], str]
"""A method to find a fault that runs do not find. Returns a description of the fault that a model shows in a
configuration, or "" if it finds none.
"""

_WORST = ((Verdict.FAIL, End.FAILS), (Verdict.WARN, End.WARNS), (Verdict.ERROR, End.SUITE_ERROR))


@dataclass(frozen=True)
class AlterationExaminer:
    """Tests altered models: judges the runs that execute an alteration, then tries other methods."""

    rules: Rules
    source: ModelSource
    reached: StatementCoverage
    other_methods: Sequence[tuple[str, OtherMethod]] = ()
    """Methods to try, each with its name, if runs find no fault."""

    def examine(self, place: AlterationPlace, *, briefly: bool = False) -> AlterationResult:
        """Return the result of one alteration; ``briefly`` takes less time and skips other methods."""
        began, result = time.process_time(), AlterationResult(place, End.LIVES)
        try:
            changed = {place.module: alter_module(self.source.package, place)}
            with cpu_time_limit(PATIENCE_S, whole=True), importable_copy(self.source.package, changed) as package:
                result = self._test_copy(result, package, began, briefly=briefly)
        except RunTimeoutError:
            result = replace(result, end=End.SUITE_ERROR, seen=f"no end after {PATIENCE_S:.0f} s")
        except Exception as error:  # an error of the suite at one place must not end the tests of the other places
            result = replace(result, end=End.SUITE_ERROR, seen=f"{type(error).__name__}: {error}")
        return replace(result, seconds=round(time.process_time() - began, 2))

    def _test_copy(self, result: AlterationResult, package: str, began: float, *, briefly: bool) -> AlterationResult:
        reaching = self.reached.find_reaching(result.place)
        result = replace(result, reaching=len(reaching))
        try:
            import_module(package)
            self.source.start(package, self.source.configurations[0])
        except Exception as error:
            return replace(result, end=End.BREAKS, seen=f"no start: {type(error).__name__}: {error}")
        ends = began + (BRIEF_BUDGET_S if briefly else BUDGET_S)
        for configuration, reaches in reaching:
            if time.process_time() > ends:
                break
            found = self._judge_runs(result, package, configuration, reaches, ends)
            result = replace(found, configurations=result.configurations + 1)
            if result.end is not End.LIVES:
                return result
        # Other methods may find alterations that no run executes.
        tried = [configuration for configuration, _ in reaching] or self.source.configurations[:1]
        return result if briefly else self._try_other_methods(result, package, tried)

    def _judge_runs(
        self,
        result: AlterationResult,
        package: str,
        configuration: Configuration,
        reaches: Sequence[RunCoverage],
        ends: float,
    ) -> AlterationResult:
        """Judge the runs that execute the place, those with the fewest steps first; the first failure decides.

        A warning or a breakdown counts if no run fails.
        """
        runs = {run.name: run for run in runs_of(self.rules, configuration)}
        requirements = plan_of(self.rules, configuration).requirements
        best, exercised, differing = result, False, 0
        for reach in reaches:
            if time.process_time() > ends:
                break
            link = HashingLink(self.source.start(package, configuration))
            trace, broke = play(self.rules, configuration, link, runs[reach.run])
            if link.answers == reach.answers and not broke:
                continue
            found, saw = (
                self._judge_run(result, requirements, trace, runs[reach.run]) if trace is not None else (result, False)
            )
            exercised, differing = exercised or saw, differing + 1
            if broke and found.end is not End.FAILS:
                found = replace(result, end=End.BREAKS, seen=broke)
            found = replace(found, configuration=str(configuration), run=reach.run)
            if found.end is End.FAILS:
                return found
            if best.end is End.LIVES and found.end is not End.LIVES:
                best = found
        if best.end is End.LIVES and not exercised and differing == len(self.reached.reaches[configuration]):
            return replace(result, end=End.BREAKS, seen="nothing is exercised", configuration=str(configuration))
        return best

    def _judge_run(
        self, result: AlterationResult, requirements: Sequence[str], trace: Trace[Any], run: Run
    ) -> tuple[AlterationResult, bool]:
        """Return the result of a run, and whether it exercised anything."""
        judge = Judge(self.rules, requirements)
        judge.add(trace, run)
        verdicts = judge.verdicts()
        for verdict, end in _WORST:
            if against := next((found for found in verdicts if found.verdict is verdict), None):
                return replace(result, end=end, by=against.requirement.id, seen=_describe_verdict(against)), True
        return result, any(found.exercised for found in verdicts)

    def _try_other_methods(
        self, result: AlterationResult, package: str, reaching: Sequence[Configuration]
    ) -> AlterationResult:
        """Try methods other than runs, which take longer or test less. The first one that finds the fault decides."""
        tried = list(dict.fromkeys(replace(configuration, environment="plain") for configuration in reaching))
        for configuration in tried[:MOST_CONFIGURATIONS]:
            for name, method in self.other_methods:
                # A finding counts only if the unchanged model does not have it.
                if (seen := self._apply_method(method, package, configuration)) and not self._apply_method(
                    method, self.source.package, configuration
                ):
                    return replace(result, end=End.FOUND, by=name, seen=seen, configuration=str(configuration))
        return result

    def _apply_method(self, method: OtherMethod, package: str, configuration: Configuration) -> str:
        return method(lambda _: HashingLink(self.source.start(package, configuration)), configuration)


def _describe_verdict(verdict: RequirementVerdict) -> str:
    return verdict.findings[0].seen if verdict.findings else verdict.reason
