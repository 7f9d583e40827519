"""Applies the checks to one trace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sds_harness.declaration import Declaration
from sds_harness.trace import Trace

from .check_selection import CheckSelection
from .judgement import Observation, Outcome
from .registry import Check, Register
from .rules import Rules, View


@dataclass(slots=True)
class ReportedObservation:
    """One observation to report, with its place."""

    check: str
    run: str
    environment: str
    participant: str
    channel_id: str
    observation: Observation
    stderr: tuple[str, ...]
    """Lines that the implementation wrote to stderr at that step."""
    recorded: int
    """First line of the run's trace in the transcript; 0 without a transcript."""


@dataclass(slots=True)
class CheckResult:
    """The result of one check on one view, if it observed anything or raised an error."""

    check: Check
    accepted_any: bool | None
    """Did the participant show any of the messages that it received? See ``Rules.accepted_any``."""
    places: int
    """Number of observations of any kind."""
    reported: list[ReportedObservation]
    """Violations and notes."""
    exception: str = ""


class ApplicableChecks:
    """Selects the checks of some requirements whose capabilities are declared."""

    def __init__(self, register: Register, requirements: Iterable[str]) -> None:
        self._facts = register.facts
        self._checks = [check for requirement in requirements for check in register.checks.get(requirement, ())]
        self._known: dict[tuple[frozenset[int], bool], CheckSelection[Check]] = {}
        """Cache: most implementations declare the same capabilities in all runs."""

    def select(self, declared: Declaration, *, together: bool = False) -> CheckSelection[Check]:
        """Return the checks for a declaration; with ``together``, only those that compare participants."""
        key = declared.capabilities, together
        if key not in self._known:
            wanted = (check for check in self._checks if check.together or not together)
            self._known[key] = CheckSelection(
                self._facts, (check for check in wanted if not declared.missing_capabilities(check.needs))
            )
        return self._known[key]


def apply_checks(applicable: CheckSelection[Check], accepted: Iterable[tuple[View, bool | None]]) -> list[CheckResult]:
    """Apply the checks to views, and return the results ordered by check, then by view. Each view is paired with
    whether its participant showed any of the messages that it received.
    """
    found = [
        (place, number, sight)
        for number, (view, took) in enumerate(accepted)
        for place, check in applicable.select(view)
        if (sight := _apply_check(check, view, took)) is not None
    ]
    found.sort(key=lambda one: one[:2])
    return [sight for _, _, sight in found]


def counting_requirements(
    rules: Rules, trace: Trace[Any], views: Sequence[View], requirements: Sequence[str]
) -> Sequence[str]:
    """Return the requirements that may be judged on a trace: all of them or, if the trace violates the requirement that
    its environment presumes, only that requirement.
    """
    presumed = rules.environments[trace.environment].presumes
    presumed = next((r for r in rules.register.counterparts.get(presumed, ()) if r in requirements), presumed)
    with suppress(Exception):  # an error of the check is recorded where it is applied
        if any(
            observation.outcome is Outcome.VIOLATED
            for check in rules.register.checks.get(presumed, ())
            for view in views
            for observation in check.function(view)
        ):
            return [presumed] if presumed in requirements else []
    return requirements


def _apply_check(check: Check, view: View, took: bool | None) -> CheckResult | None:
    places, reported, wrong = 0, [], ""
    try:
        for observation in check.function(view):
            places += 1
            if observation.outcome is not _HELD:
                reported.append(_report(check, view, observation))
    except Exception as error:  # an error of the suite must not become a verdict on the implementation
        wrong = f"{type(error).__name__}: {error}"
    return CheckResult(check, took, places, reported, wrong) if places or wrong else None


def _report(check: Check, view: View, observation: Observation) -> ReportedObservation:
    trace, number = view.trace, observation.step
    return ReportedObservation(
        check.name,
        trace.schedule,
        trace.environment,
        view.party.name,
        view.channel_id,
        observation,
        trace.steps[number - 1].stderr if 0 < number <= len(trace.steps) else (),
        trace.recorded,
    )


_HELD = Outcome.HELD
