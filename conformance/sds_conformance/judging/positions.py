"""Shows the ways of an implementation: the options that its traces prove at positions.

A position and its options are a row of the catalogue's ``positions.json``. Functions registered under its ID yield the
steps that prove an option. A way is not a verdict: it is reported if a trace proves it, with the number of steps that
prove it. If no trace proves an option of a position, the position stays open; the absence of one way does not prove
another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sds_harness.environment import PLAIN
from sds_harness.trace import Trace

from .check_selection import CheckSelection
from .registry import Showing
from .rules import Rules, View


@dataclass(frozen=True, slots=True)
class WayShown:
    """One option of a position that an implementation was seen to take."""

    way: str
    words: str
    """The description of the option."""
    count: int
    """Number of steps that prove the option."""
    run: str
    """The run that shows the option best: in the plain environment if possible, and after the fewest steps."""
    step: int


@dataclass(frozen=True, slots=True)
class _Sighting:
    rank: tuple[bool, int]
    """False for the plain environment, else True; and the index of the step. The sighting with the lowest rank is
    reported.
    """
    run: str
    count: int = 1


@dataclass(slots=True)
class Ways:
    """The ways that one or more traces show. Plain data."""

    found: dict[tuple[str, str], _Sighting] = field(default_factory=dict)
    """The sightings, by position and way."""
    errors: dict[str, str] = field(default_factory=dict)
    """Maps positions to the first exception that their functions raised, and the place of the exception. Each exception
    is an error of the suite.
    """

    def add(self, position: str, way: str, seen: _Sighting) -> None:
        """Count steps that prove a way."""
        if known := self.found.get((position, way)):
            seen = replace(min(known, seen, key=lambda one: one.rank), count=known.count + seen.count)
        self.found[position, way] = seen

    def merge(self, other: Ways) -> None:
        """Add the counts of another trace."""
        for (position, way), seen in other.found.items():
            self.add(position, way, seen)
        self.errors = other.errors | self.errors

    def group_by_position(self, rules: Rules) -> dict[str, list[WayShown]]:
        """Map each position that a run can show to the ways that were shown, the most frequent first."""
        positions = rules.catalogue.positions
        out: dict[str, list[WayShown]] = {position: [] for position in positions if position in rules.register.shown}
        for (position, way), seen in self.found.items():
            words = positions[position].options[way].words
            out[position].append(WayShown(way, words, seen.count, seen.run, seen.rank[1]))
        for shown in out.values():
            shown.sort(key=lambda one: (-one.count, one.way))
        return out


class WayReader:
    """Reads from traces which options of positions (ways) the implementation takes."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._showing = CheckSelection(
            rules.register.facts, (one for many in rules.register.shown.values() for one in many)
        )

    def read(self, trace: Trace[Any], views: Sequence[View]) -> Ways:
        """Return the ways that a trace shows in its views.

        Participants that show none of the messages that they receive are skipped. Traces of another specification are
        skipped as well.
        """
        ways = Ways()
        if f"{trace.revision.prefix}-" != self._rules.register.prefix:
            return ways
        hearing = [view for view in views if self._rules.accepted_any(view) is not False]
        selected = [(place, n, one) for n, view in enumerate(hearing) for place, one in self._showing.select(view)]
        for _, n, showing in sorted(selected, key=lambda each: each[:2]):
            if all(trace.declaration.can(capability) for capability in showing.needs):
                self._read_position(showing, hearing[n], ways)
        return ways

    def _read_position(self, showing: Showing, view: View, ways: Ways) -> None:
        trace, position = view.trace, showing.position
        try:
            for step, way in showing.function(view):
                if way not in self._rules.catalogue.positions[position].options:
                    raise LookupError(f"{way!r} is not an option of the position")
                ways.add(position, way, _Sighting((trace.environment != PLAIN.name, step.index), trace.schedule))
        except Exception as error:  # an error of one function must not prevent the calls of the other functions
            where = f"{showing.name} on {trace.schedule}"
            ways.errors.setdefault(position, f"{where}: {type(error).__name__}: {error}")
