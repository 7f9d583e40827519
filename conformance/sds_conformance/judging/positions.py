"""Which way an implementation goes where a position leaves a choice: the options that its traces show.

A position and its options are a row of the catalogue's ``positions.json``. Functions registered under its ID yield the
steps that prove an option. A way is no verdict: it is reported where a trace proves it, with the number of places. A
position of which no trace shows anything stays open, and no way is concluded from the absence of another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sds_harness.environment import PLAIN
from sds_harness.trace import Trace

from .asking import Asking
from .registry import Showing
from .rules import Rules, View


@dataclass(frozen=True, slots=True)
class WayShown:
    """One way that an implementation was seen to go."""

    way: str
    """The name of the option."""
    words: str
    """The description of the option."""
    count: int
    """Places that prove it."""
    run: str
    """The run that shows it best: in the simplest environment, and of these after the fewest steps."""
    step: int


@dataclass(frozen=True, slots=True)
class _Sighting:
    rank: tuple[bool, int]
    """Whether the environment is not the plain one, and the step: the lowest rank shows a way best."""
    run: str
    count: int = 1


@dataclass(slots=True)
class Ways:
    """The ways that one trace shows, or many. Plain data."""

    found: dict[str, dict[str, _Sighting]] = field(default_factory=dict)
    """By position and way."""
    errors: dict[str, str] = field(default_factory=dict)
    """By position: the first exception that its functions raised, and where. It is a fault of the suite."""

    def add(self, position: str, way: str, seen: _Sighting) -> None:
        """Count places that prove a way."""
        ways = self.found.setdefault(position, {})
        if known := ways.get(way):
            seen = replace(min(known, seen, key=lambda one: one.rank), count=known.count + seen.count)
        ways[way] = seen

    def merge(self, other: Ways) -> None:
        """Count what another trace shows as well."""
        for position, ways in other.found.items():
            for way, seen in ways.items():
                self.add(position, way, seen)
        self.errors = other.errors | self.errors

    def by_position(self, rules: Rules) -> dict[str, list[WayShown]]:
        """The ways shown at each position of which a run can show any, the most frequent one first."""
        positions = rules.catalogue.positions
        return {
            position: sorted(
                (
                    WayShown(way, positions[position].options[way].words, seen.count, seen.run, seen.rank[1])
                    for way, seen in self.found.get(position, {}).items()
                ),
                key=lambda shown: (-shown.count, shown.way),
            )
            for position in positions
            if position in rules.register.shown
        }


class WayReader:
    """Reads from traces which ways an implementation goes."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._showing = Asking(rules.register.facts, (one for many in rules.register.shown.values() for one in many))

    def read(self, trace: Trace[Any], views: Sequence[View]) -> Ways:
        """The ways that a trace shows in its views.

        A participant that takes nothing of what it is sent shows none, and neither does the trace of another text.
        """
        ways = Ways()
        if f"{trace.revision.prefix}-" != self._rules.register.prefix:
            return ways
        hearing = [view for view in views if self._rules.heard(view) is not False]
        asked = [(place, n, one) for n, view in enumerate(hearing) for place, one in self._showing.of(view)]
        for _, n, showing in sorted(asked, key=lambda each: each[:2]):
            if all(trace.declaration.can(capability) for capability in showing.needs):
                self._show(showing, hearing[n], ways)
        return ways

    def _show(self, showing: Showing, view: View, ways: Ways) -> None:
        trace, position = view.trace, showing.position
        try:
            for step, way in showing.function(view):
                if way not in self._rules.catalogue.positions[position].options:
                    raise LookupError(f"{way!r} is none of its options")
                ways.add(position, way, _Sighting((trace.environment != PLAIN.name, step.index), trace.schedule))
        except Exception as error:  # an error of one function must not cost the others
            where = f"{showing.name} on {trace.schedule}"
            ways.errors.setdefault(position, f"{where}: {type(error).__name__}: {error}")
