"""What the checks say of one trace, and what they are known to say of one that is the same."""

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

from .asking import Asking
from .deafness import Hearing
from .judgement import Observation, Outcome
from .registry import Check, Register
from .rules import Rules, View


@dataclass(slots=True)
class Sight:
    """What one check observed in one view, if it observed anything or went wrong."""

    check: Check
    participant: str
    channel_id: str
    took: bool | None
    """Did the participant take anything of what it was sent? See ``Rules.heard``."""
    places: int
    """Observations of any kind."""
    held: int
    """Those of them where the requirement was met."""
    told: list[Observation]
    """The others."""
    schedule: str = ""
    wrong: str = ""
    """What the check raised."""

    @property
    def error(self) -> str:
        """What went wrong in the check, and where."""
        return f"{self.check.name} on {self.schedule}: {self.wrong}" if self.wrong else ""


class Sights(dict[str, list[Sight]]):
    """By requirement, of all that the trace counts for."""

    hearing: Hearing
    """What participants show of what they received."""

    def __init__(self, requirements: Iterable[str] = ()) -> None:
        super().__init__((requirement, []) for requirement in requirements)
        self.hearing = Hearing()


class Applicable(dict[str, list[Check]]):
    """By requirement: the checks that have what they need."""

    def __init__(
        self, register: Register, requirements: Iterable[str], declared: Declaration, *, together: bool = False
    ) -> None:
        """Only those that hold participants against each other, if ``together``."""
        super().__init__()
        self._facts = register.facts
        for requirement in requirements:
            checks = register.checks.get(requirement, ())
            wanted = (check for check in checks if check.together or not together)
            self[requirement] = [check for check in wanted if not declared.lacking(check.needs)]

    @cached_property
    def asking(self) -> Asking[Check]:
        return Asking(self._facts, (check for checks in self.values() for check in checks))


def observe(rules: Rules, trace: Trace[Any], views: Sequence[View], applicable: Applicable) -> Sights:
    """Let every check look at every view of a trace that has what it is about."""
    heard = [(view, rules.heard(view)) for view in views]
    sights = Sights(_counted(rules, trace, views, applicable))
    for sight in looked(applicable, heard):
        if sight.check.requirement in sights:
            sights[sight.check.requirement].append(sight)
    for view in views:
        sights.hearing.add(rules.hearing(view))
    return sights


def looked(applicable: Applicable, heard: Iterable[tuple[View, bool | None]]) -> list[Sight]:
    """What was observed, check by check, and of each view by view."""
    found = [
        (place, number, sight)
        for number, (view, took) in enumerate(heard)
        for place, check in applicable.asking.of(view)
        if (sight := _looked(check, view, took)) is not None
    ]
    found.sort(key=lambda one: one[:2])
    return [sight for _, _, sight in found]


def _counted(rules: Rules, trace: Trace[Any], views: Sequence[View], applicable: Applicable) -> Sequence[str]:
    """What a trace counts for: all requirements, unless its environment presumes what is violated in it."""
    presumed = rules.environments[trace.environment].presumes
    presumed = next((r for r in rules.register.counterparts.get(presumed, ()) if r in applicable), presumed)
    with suppress(Exception):  # an error in it is noted where the check is applied
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
    except Exception as error:  # a fault of ours must not pass for a verdict on somebody else
        wrong = f"{type(error).__name__}: {error}"
    if not places and not wrong:
        return None
    schedule = view.trace.schedule
    return Sight(check, view.party.name, view.channel_id, took, places, places - len(told), told, schedule, wrong)


_HELD = Outcome.HELD


class Known:
    """What the checks said of the traces that came last: most of what a mutant does, others have done to the letter."""

    def __init__(self, size: int = 2_000) -> None:
        """``size`` is how many traces are remembered."""
        self._size = size
        self._sights: OrderedDict[tuple[object, ...], Sights] = OrderedDict()
        self.recalled = 0
        """How often there was no need to look."""

    def sights(
        self, trace: Trace[Any], applicable: Mapping[str, Sequence[Check]], look: Callable[[], Sights]
    ) -> Sights:
        """What the checks say of the trace, by ``look`` unless one that is the same was judged by the same checks."""
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
    """The same for two traces in which checks can see no difference.

    That is all but who the implementation says it is, and the numbers of requests and participants, which count on
    from one schedule to the next.
    """
    seen = hashlib.blake2b(digest_size=32)

    def add(what: bytes) -> None:
        seen.update(b"%d:" % len(what))
        seen.update(what)

    hello = trace.declaration.to_hello()
    hello.name = hello.version = hello.language = hello.homepage = ""
    add(hello.SerializeToString(deterministic=True))
    dialect = trace.dialect.name if trace.dialect is not None else ""
    around = (trace.schedule, trace.environment, trace.revision.name, dialect, trace.start_ms, trace.recorded)
    ended = (trace.breakdown, trace.suite_error, trace.stopped, trace.declaration.outside_clock)
    add(repr((around, ended)).encode())
    for step in trace.steps:
        add(step.participant.encode())
        for message in _unnumbered(step):
            add(message)
    return seen.digest()


def _unnumbered(step: Step) -> tuple[bytes, bytes]:
    """Request and reply of a step, without the numbers that count on."""
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
