"""Which way an implementation goes where the text leaves a choice: what all traces show, position by position.

A way is no verdict. It is told where a trace proves it, and how often; a position of which no trace tells anything is
open still. More than one way is told as such: nothing is averaged, and no way is guessed from the absence of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sds_harness.environment import PLAIN
from sds_harness.trace import Trace

from .asking import Asking
from .registry import Choice
from .rules import Rules, View


@dataclass(frozen=True, slots=True)
class WayShown:
    """One way that an implementation was seen to go."""

    way: str
    words: str
    """What it is, in a sentence."""
    count: int
    """Places that prove it."""
    run: str
    """The run that shows it best: in the simplest environment, and of these after the fewest steps."""
    step: int


@dataclass(slots=True)
class _Sighting:
    count: int
    rank: tuple[bool, int]
    run: str


@dataclass(slots=True)
class Gone:
    """The ways that one trace shows."""

    found: dict[str, dict[str, _Sighting]] = field(default_factory=dict)
    """By position."""
    errors: dict[str, str] = field(default_factory=dict)
    """Faults of ours by position: what its functions raised, and where."""


class Ways:
    """Looks at traces one by one, takes in what they show, and says at the end which ways these are."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        those = (choice for choices in rules.register.choices.values() for choice in choices)
        self._choices = Asking(rules.register.facts, those)
        self._found: dict[str, dict[str, _Sighting]] = {}
        self.errors: dict[str, str] = {}
        """Faults of ours by position: what its functions raised, and where."""

    def look(self, trace: Trace[Any], views: Sequence[View]) -> Gone:
        """What a trace shows, that was read already.

        What takes nothing of what it is sent goes no way, though it may look so; and another text has other choices.
        """
        gone = Gone()
        if f"{trace.revision.prefix}-" == self._rules.register.prefix:
            speaking = [view for view in views if self._rules.heard(view) is not False]
            asked = [
                (place, number, choice)
                for number, view in enumerate(speaking)
                for place, choice in self._choices.of(view)
            ]
            for _, number, choice in sorted(asked, key=lambda one: one[:2]):
                _ask(choice, speaking[number], gone)
        return gone

    def take(self, gone: Gone) -> None:
        """Take in what one trace shows."""
        for position, ways in gone.found.items():
            for way, seen in ways.items():
                _see(self._found, position, way, seen)
        for position, error in gone.errors.items():
            self.errors.setdefault(position, error)

    def told(self) -> dict[str, list[WayShown]]:
        """By position, of all that a run can tell: the ways that were shown, the one seen most often first."""
        return {
            position: sorted(
                (
                    WayShown(way, _words(choices, way), seen.count, seen.run, seen.rank[1])
                    for way, seen in self._found.get(position, {}).items()
                ),
                key=lambda shown: (-shown.count, shown.way),
            )
            for position, choices in self._rules.register.choices.items()
        }


def _ask(choice: Choice, view: View, gone: Gone) -> None:
    trace = view.trace
    try:
        for step, way in choice.function(view):
            if way not in choice.ways:
                raise LookupError(f"{way!r} is none of its ways")
            rank = (trace.environment != PLAIN.name, step.index)
            _see(gone.found, choice.position, way, _Sighting(1, rank, trace.schedule))
    except Exception as error:  # a fault of ours must cost nothing else
        where = f"{choice.name} on {trace.schedule}"
        gone.errors.setdefault(choice.position, f"{where}: {type(error).__name__}: {error}")


def _see(found: dict[str, dict[str, _Sighting]], position: str, way: str, seen: _Sighting) -> None:
    ways = found.setdefault(position, {})
    known = ways.get(way)
    if known is None:
        ways[way] = seen
        return
    known.count += seen.count
    if seen.rank < known.rank:
        known.rank, known.run = seen.rank, seen.run


def _words(choices: Iterable[Choice], way: str) -> str:
    return next(choice.ways[way] for choice in choices if way in choice.ways)
