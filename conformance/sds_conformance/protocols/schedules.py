"""Generated schedules: what exploring is handed by a protocol."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sds_harness.declaration import Declaration
from sds_harness.link import Link
from sds_harness.schedules import Notation, Operation, Performance, Schedule
from sds_harness.schedules.worlds import Part, World

from ..judging.rules import View
from .properties import Properties
from .reading import Reading


@dataclass(frozen=True)
class Worlds:
    """The small worlds of a protocol, all of whose schedules can be played."""

    alphabet: tuple[str, ...]
    """All that can be asked for."""
    usual: tuple[Part, ...]
    """What is, unless something else is."""
    possible: Callable[[Declaration, str, Collection[Part]], tuple[Part, ...]]
    """What of an alphabet there is for an implementation that declares this, in a profile."""
    world: Callable[[int, Collection[Part]], World]
    """So many participants to whom this can happen. Raises ValueError."""
    setting: Callable[[Collection[Part]], Schedule]
    """What all schedules of a world have in common."""


@dataclass(frozen=True)
class Repertoire:
    """The schedules that can be generated for a protocol, how they are played, and what holds of whole groups."""

    revisions: tuple[str, ...]
    """The revisions that they are about."""
    names: tuple[str, ...]
    """What participants are called; so many there can be."""
    passages: Mapping[str, str]
    """The plots that they consist of, by name, each with a summary."""
    grammar: Callable[..., Any]
    """What schedules may contain: the fewest and the most participants, and which passages."""
    grammar_of: Callable[[str, int, int, tuple[str, ...]], Any]
    """The grammar for a profile, a least and a greatest number of participants, and passages (all if none)."""
    generated: Callable[[int, int, Any], Schedule]
    """The schedule of a seed, a number and a grammar."""
    notation: Notation
    """How they stand in files."""
    play: Callable[[Schedule, Mapping[str, Any]], Performance]
    """Plays a schedule; the mapping says on which stage each of its members stands."""
    reading: Reading
    """How what came of them is told and drawn."""
    simpler: Callable[[Operation, Schedule], Iterable[Operation]]
    """Operations that are like one that only this protocol has, and simpler, the simplest first."""
    stand_in: Callable[[Declaration], Link]
    """A reference model that understands an implementation that declares this."""
    properties: Properties
    """What all participants together have to keep."""
    situations: Mapping[str, str]
    """What is counted to tell whether schedules are any good, in words."""
    counted: Callable[[Performance, Sequence[View]], Counter[str]]
    """How often each situation arose."""
    others: tuple[Repertoire, ...] = ()
    """Those of revisions that are another text."""
    worlds: Worlds | None = None
    """The small worlds that are played to the end, None if there are none."""
