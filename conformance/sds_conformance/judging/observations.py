"""Applies the checks to one trace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sds_harness.declaration import Declaration
from sds_harness.trace import Trace

from .check_selection import CheckSelection
from .deafness import Hearing
from .judgement import Observation, Outcome
from .registry import Check, Register
from .rules import Rules, View


@dataclass(slots=True)
class CheckResult:
    """The result of one check on one view, if it observed anything or raised an error."""

    check: Check
    participant: str
    channel_id: str
    accepted_any: bool | None
    """Did the participant show any of the messages that it received? See ``Rules.accepted_any``."""
    places: int
    """Number of observations of any kind."""
    held: int
    """Number of observations that met the requirement."""
    reported: list[Observation]
    """Violations and notes."""
    schedule: str = ""
    exception: str = ""

    @property
    def error(self) -> str:
        """The exception, with the names of the check and of the schedule; "" if there was none."""
        return f"{self.check.name} on {self.schedule}: {self.exception}" if self.exception else ""


class CheckResults(dict[str, list[CheckResult]]):
    """Results by requirement, for all requirements that may be judged on the trace."""

    hearing: Hearing
    """The number of messages that the participants received and had to show, and whether they showed any."""

    def __init__(self, requirements: Iterable[str] = ()) -> None:
        super().__init__((requirement, []) for requirement in requirements)
        self.hearing = Hearing()


class Applicable(dict[str, list[Check]]):
    """By requirement: the checks whose needed capabilities are declared."""

    def __init__(
        self, register: Register, requirements: Iterable[str], declared: Declaration, *, together: bool = False
    ) -> None:
        """Select the checks whose capabilities are declared; with ``together``, only those that compare
        participants.
        """
        super().__init__()
        self._facts = register.facts
        for requirement in requirements:
            checks = register.checks.get(requirement, ())
            wanted = (check for check in checks if check.together or not together)
            self[requirement] = [check for check in wanted if not declared.missing_capabilities(check.needs)]

    @cached_property
    def selection(self) -> CheckSelection[Check]:
        return CheckSelection(self._facts, (check for checks in self.values() for check in checks))


def observe(rules: Rules, trace: Trace[Any], views: Sequence[View], applicable: Applicable) -> CheckResults:
    """Apply every check to the views of a trace. A view must have the facts that the check needs."""
    accepted = [(view, rules.accepted_any(view)) for view in views]
    sights = CheckResults(_counting_requirements(rules, trace, views, applicable))
    for sight in apply_checks(applicable, accepted):
        if sight.check.requirement in sights:
            sights[sight.check.requirement].append(sight)
    for view in views:
        sights.hearing.add(rules.count_shown_messages(view))
    return sights


def apply_checks(applicable: Applicable, accepted: Iterable[tuple[View, bool | None]]) -> list[CheckResult]:
    """Apply the checks to views, and return the results ordered by check, then by view. Each view is paired with
    whether its participant showed any of the messages that it received.
    """
    found = [
        (place, number, sight)
        for number, (view, took) in enumerate(accepted)
        for place, check in applicable.selection.select(view)
        if (sight := _apply_check(check, view, took)) is not None
    ]
    found.sort(key=lambda one: one[:2])
    return [sight for _, _, sight in found]


def _counting_requirements(
    rules: Rules, trace: Trace[Any], views: Sequence[View], applicable: Applicable
) -> Sequence[str]:
    """Return the requirements that may be judged on a trace: all of them or, if the trace violates the requirement that
    its environment presumes, only that requirement.
    """
    presumed = rules.environments[trace.environment].presumes
    presumed = next((r for r in rules.register.counterparts.get(presumed, ()) if r in applicable), presumed)
    with suppress(Exception):  # an error of the check is recorded where it is applied
        if any(
            observation.outcome is Outcome.VIOLATED
            for check in rules.register.checks.get(presumed, ())
            for view in views
            for observation in check.function(view)
        ):
            return [presumed] if presumed in applicable else []
    return [*applicable]


def _apply_check(check: Check, view: View, took: bool | None) -> CheckResult | None:
    places, reported, wrong = 0, [], ""
    try:
        for observation in check.function(view):
            places += 1
            if observation.outcome is not _HELD:
                reported.append(observation)
    except Exception as error:  # an error of the suite must not become a verdict on the implementation
        wrong = f"{type(error).__name__}: {error}"
    if not places and not wrong:
        return None
    schedule = view.trace.schedule
    return CheckResult(
        check, view.party.name, view.channel_id, took, places, places - len(reported), reported, schedule, wrong
    )


_HELD = Outcome.HELD
