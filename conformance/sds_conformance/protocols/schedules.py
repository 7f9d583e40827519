"""The interface between a protocol and the commands that generate schedules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sds_harness.declaration import Declaration
from sds_harness.link import Link
from sds_harness.schedules import GroupTrace, Notation, Operation, Schedule
from sds_harness.schedules.alphabet import Alphabet

from ..judging.rules import View
from .group_trace_reader import Reading
from .properties import Properties


@dataclass(frozen=True)
class Repertoire:
    """The generated schedules of a protocol, with the functions that play and judge them."""

    revisions: tuple[str, ...]
    """The revisions that the schedules cover."""
    names: tuple[str, ...]
    """The names of participants. Schedules have at most as many participants as there are names."""
    passages: Mapping[str, str]
    """By name of a passage: its summary."""
    grammar: Callable[..., Any]
    """Creates a grammar from the minimum and maximum number of participants, and the passages."""
    grammar_of: Callable[[str, int, int, tuple[str, ...]], Any]
    """Creates the grammar for a profile, a minimum and a maximum number of participants, and passages (all if
    empty).
    """
    generated: Callable[[int, int, Any], Schedule]
    """Generates a schedule. Takes the seed, the number of the schedule, and the grammar."""
    notation: Notation
    """The file format of schedules."""
    play: Callable[[Schedule, Mapping[str, Any]], GroupTrace]
    """Plays a schedule. The mapping has the stage of each participant."""
    perform: Callable[[Schedule, Mapping[str, Any], int], GroupTrace]
    """Plays a schedule like ``play``, but leaves the stages open, and raises TesteeError if an implementation breaks
    down. The number is the factor by which the usual limits on the length of a group trace are raised.
    """
    reading: Reading
    """Reads group traces for stories and diagrams."""
    simpler: Callable[[Operation, Schedule], Iterable[Operation]]
    """Yields simpler replacements of an operation that only this protocol has, the simplest first. Used for
    shrinking.
    """
    make_substitute: Callable[[Declaration], Link]
    """Creates a reference model with the known profiles of a declaration, to play in place of the implementation that
    declared them.
    """
    properties: Properties
    """The global properties."""
    situations: Mapping[str, str]
    """The situations that are counted to measure coverage, with their descriptions."""
    counted: Callable[[GroupTrace, Sequence[View]], Counter[str]]
    """Counts how often a group trace reached each situation."""
    others: tuple[Repertoire, ...] = ()
    """The repertoires for those revisions of the protocol for which this repertoire has no schedules."""
    alphabet: Alphabet | None = None
    """The events from which `exhaust` builds all schedules; None if there are none."""
