"""What one run shows: all that verdicts are made of, worked out where it was played. Its trace can go."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sds_harness.declaration import Declaration
from sds_harness.faults import Breakdown
from sds_harness.trace import Trace

from .deafness import Hearing
from .garbage import garbage_waits
from .judgement import Observation
from .observing import Applicable, Known, Sight, Sights, observe
from .positions import WayReader, Ways
from .rules import Rules


@dataclass(slots=True)
class Told:
    """One observation worth a word, with its place."""

    check: str
    """Its name."""
    participant: str
    channel_id: str
    observation: Observation
    said: tuple[str, ...]
    """What the implementation wrote to stderr at that step, in its own words."""


@dataclass(slots=True)
class Met:
    """What a run shows of one requirement."""

    exercised: int = 0
    """Observations, but for those that seem right for want of messages."""
    places: dict[bool | None, int] = field(default_factory=dict)
    """All observations, by whether the participant took anything of what it was sent there."""
    told: list[Told] = field(default_factory=list)
    error: str = ""
    """What went wrong in a check."""


@dataclass
class Shown:
    """What one run shows. Plain data: it may have been played in another process."""

    run: str
    environment: str
    declaration: Declaration
    steps: int
    recorded: int = 0
    """The line of the transcript with which it begins, 0 without one."""
    breakdown: Breakdown | None = None
    suite_error: str = ""
    stopped: str = ""
    counted: tuple[str, ...] = ()
    """The requirements that it counts for."""
    hearing: Hearing = field(default_factory=Hearing)
    """What participants show of what they received."""
    met: dict[str, Met] = field(default_factory=dict)
    """Of these, what there is to say of each, where there is anything."""
    unread: str = ""
    """What went wrong as the trace was read: then nothing is known of it."""
    ways: Ways = field(default_factory=Ways)
    """The ways that it shows the implementation to go."""

    @classmethod
    def of(cls, trace: Trace[Any]) -> Shown:
        """A run of which nothing was judged yet."""
        return cls(
            trace.schedule,
            trace.environment,
            trace.declaration,
            len(trace.steps),
            trace.recorded,
            trace.breakdown,
            trace.suite_error,
            trace.stopped,
        )

    @property
    def worth_a_word(self) -> bool:
        """Is there anything in it to tell?"""
        return any(met.told for met in self.met.values())


class Looker:
    """Looks at traces, one by one, for what they show of some requirements."""

    def __init__(
        self, rules: Rules, requirements: Iterable[str], *, ways: bool = False, known: Known | None = None
    ) -> None:
        """With ``ways`` it says which way the implementation goes as well: reading a trace costs the most, and is done
        once. Without, a trace of which it is ``known`` what the checks say is not read at all."""
        self._rules = rules
        self._requirements = tuple(requirements)
        self._ways = WayReader(rules) if ways else None
        self._known = known
        self._checks_for: dict[frozenset[int], Applicable] = {}
        """By the capabilities that are declared, and by requirement: the checks that have what they need."""

    def look(self, trace: Trace[Any]) -> Shown:
        """What a trace shows."""
        shown = Shown.of(trace)
        try:
            sights = self._sights(trace, shown)
        except Exception as error:  # a fault of ours must not pass for a verdict on somebody else
            shown.unread = f"{trace.schedule}: {type(error).__name__}: {error}"
            return shown
        shown.counted = tuple(sights)
        shown.hearing = sights.hearing
        shown.met = {requirement: _met(seen, trace) for requirement, seen in sights.items() if seen}
        return shown

    def _sights(self, trace: Trace[Any], shown: Shown) -> Sights:
        applicable = self._applicable(trace.declaration)

        def look() -> Sights:
            with garbage_waits():
                views = self._rules.views(trace)
                if self._ways is not None:
                    shown.ways = self._ways.read(trace, views)
                return observe(self._rules, trace, views, applicable)

        # Nobody else looks which way is gone.
        return look() if self._known is None or self._ways is not None else self._known.sights(trace, applicable, look)

    def _applicable(self, declared: Declaration) -> Applicable:
        known = self._checks_for.get(declared.capabilities)
        if known is None:
            applicable = Applicable(self._rules.register, self._requirements, declared)
            known = self._checks_for[declared.capabilities] = applicable
        return known


def told_of(sight: Sight, observation: Observation, trace: Trace[Any]) -> Told:
    """One of the observations of a check, with its place."""
    step = observation.step
    said = trace.steps[step - 1].said if 0 < step <= len(trace.steps) else ()
    return Told(sight.check.name, sight.participant, sight.channel_id, observation, said)


def _met(seen: Iterable[Sight], trace: Trace[Any]) -> Met:
    met = Met()
    for sight in seen:
        if sight.error:
            met.error = sight.error
        if sight.places:
            met.places[sight.took] = met.places.get(sight.took, 0) + sight.places
        # What was met where nothing was taken is not counted.
        met.exercised += sight.places - (sight.held if sight.took is False else 0)
        met.told += [told_of(sight, observation, trace) for observation in sight.told]
    return met
