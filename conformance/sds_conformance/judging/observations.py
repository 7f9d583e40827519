"""Applies the checks to one trace, and caches their results for equal traces."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sds_harness.declaration import Declaration
from sds_harness.trace import Step, Trace

from .check_selection import CheckSelection
from .deafness import Hearing
from .judgement import Observation, Outcome
from .registry import Check, Register
from .rules import Rules, View


@dataclass(slots=True)
class Sight:
    """The result of one check on one view, if it observed anything or raised an error."""

    check: Check
    participant: str
    channel_id: str
    took: bool | None
    """Did the participant show any message that it was sent? See ``Rules.heard``."""
    places: int
    """Number of observations of any kind."""
    held: int
    """Number of observations that met the requirement."""
    told: list[Observation]
    """Violations and notes."""
    schedule: str = ""
    wrong: str = ""
    """The exception that the check raised."""

    @property
    def error(self) -> str:
        """The error with the check and the schedule; "" if there was none."""
        return f"{self.check.name} on {self.schedule}: {self.wrong}" if self.wrong else ""


class Sights(dict[str, list[Sight]]):
    """Results by requirement, for all requirements that the trace counts for."""

    hearing: Hearing
    """What participants showed of the messages that they received."""

    def __init__(self, requirements: Iterable[str] = ()) -> None:
        super().__init__((requirement, []) for requirement in requirements)
        self.hearing = Hearing()


class Applicable(dict[str, list[Check]]):
    """By requirement: the checks whose needed capabilities are declared."""

    def __init__(
        self, register: Register, requirements: Iterable[str], declared: Declaration, *, together: bool = False
    ) -> None:
        """With ``together``, only the checks that compare participants with each other."""
        super().__init__()
        self._facts = register.facts
        for requirement in requirements:
            checks = register.checks.get(requirement, ())
            wanted = (check for check in checks if check.together or not together)
            self[requirement] = [check for check in wanted if not declared.lacking(check.needs)]

    @cached_property
    def asking(self) -> CheckSelection[Check]:
        return CheckSelection(self._facts, (check for checks in self.values() for check in checks))


def observe(rules: Rules, trace: Trace[Any], views: Sequence[View], applicable: Applicable) -> Sights:
    """Apply every check to every view of a trace that has the facts which the check is about."""
    heard = [(view, rules.heard(view)) for view in views]
    sights = Sights(_counted(rules, trace, views, applicable))
    for sight in looked(applicable, heard):
        if sight.check.requirement in sights:
            sights[sight.check.requirement].append(sight)
    for view in views:
        sights.hearing.add(rules.hearing(view))
    return sights


def looked(applicable: Applicable, heard: Iterable[tuple[View, bool | None]]) -> list[Sight]:
    """Return the results ordered by check, then by view."""
    found = [
        (place, number, sight)
        for number, (view, took) in enumerate(heard)
        for place, check in applicable.asking.of(view)
        if (sight := _looked(check, view, took)) is not None
    ]
    found.sort(key=lambda one: one[:2])
    return [sight for _, _, sight in found]


def _counted(rules: Rules, trace: Trace[Any], views: Sequence[View], applicable: Applicable) -> Sequence[str]:
    """The requirements that a trace counts for: all, unless the one presumed by its environment is violated."""
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


def _looked(check: Check, view: View, took: bool | None) -> Sight | None:
    places, told, wrong = 0, [], ""
    try:
        for observation in check.function(view):
            places += 1
            if observation.outcome is not _HELD:
                told.append(observation)
    except Exception as error:  # an error of the suite must not become a verdict on the implementation
        wrong = f"{type(error).__name__}: {error}"
    if not places and not wrong:
        return None
    schedule = view.trace.schedule
    return Sight(check, view.party.name, view.channel_id, took, places, places - len(told), told, schedule, wrong)


_HELD = Outcome.HELD


class Known:
    """Cache of check results for recent traces: most of what a mutant does equals what other mutants did."""

    def __init__(self, size: int = 2_000) -> None:
        """``size`` is the number of cached traces."""
        self._size = size
        self._sights: OrderedDict[tuple[object, ...], Sights] = OrderedDict()
        self.recalled = 0
        """Number of cache hits."""

    def sights(
        self, trace: Trace[Any], applicable: Mapping[str, Sequence[Check]], look: Callable[[], Sights]
    ) -> Sights:
        """Return the results for a trace from the cache, or by ``look`` if no equal trace was judged by the same
        checks.
        """
        key = (*((requirement, len(checks)) for requirement, checks in applicable.items()), identity(trace))
        known = self._sights.pop(key, None)
        if known is None:
            known = look()
        else:
            self.recalled += 1
        self._sights[key] = known
        if len(self._sights) > self._size:
            self._sights.popitem(last=False)
        return known


def identity(trace: Trace[Any]) -> bytes:
    """Return a hash that is equal for two traces between which checks cannot see a difference.

    It covers everything except the name, version, language and homepage of the implementation, and the numbers of
    requests and participants, which continue from one schedule to the next.
    """
    hello = trace.declaration.to_hello()
    hello.name = hello.version = hello.language = hello.homepage = ""
    dialect = trace.dialect.name if trace.dialect is not None else ""
    around = (trace.schedule, trace.environment, trace.revision.name, dialect, trace.start_ms, trace.recorded)
    ended = (trace.breakdown, trace.suite_error, trace.stopped, trace.declaration.outside_clock)
    parts = [hello.SerializeToString(deterministic=True), repr((around, ended)).encode()]
    for step in trace.steps:
        parts += (step.participant.encode(), *_unnumbered(step))
    lengths = repr([*map(len, parts)]).encode()
    return hashlib.blake2b(b"".join([lengths, *parts]), digest_size=32).digest()


def _unnumbered(step: Step) -> tuple[bytes, bytes]:
    """Serialize request and reply of a step, without the running numbers."""
    asked = step.whole_request
    numbered = [(asked, "id"), (getattr(asked, step.command, None), "handle")]
    if step.reply is not None:
        numbered += [(step.reply, "id"), (getattr(step.reply, step.answer, None), "handle")]
    kept = [
        (message, name, getattr(message, name))
        for message, name in numbered
        if message is not None and name in message.DESCRIPTOR.fields_by_name
    ]
    for message, name, _ in kept:
        message.ClearField(name)
    whole = step.whole_reply
    reply = whole.SerializeToString(deterministic=True) if whole is not None else b""
    request = asked.SerializeToString(deterministic=True)
    for message, name, number in kept:
        setattr(message, name, number)
    return request, reply
