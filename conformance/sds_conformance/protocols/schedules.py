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
    """The names of participants; their number is the largest number of participants."""
    passages: Mapping[str, str]
    """The passages of schedules, by name, each with a summary."""
    grammar: Callable[..., Any]
    """Creates a grammar from the least and greatest number of participants, and the passages."""
    grammar_of: Callable[[str, int, int, tuple[str, ...]], Any]
    """Creates the grammar for a profile, a least and a greatest number of participants, and passages (all if empty)."""
    generated: Callable[[int, int, Any], Schedule]
    """Returns the schedule of a seed, a number and a grammar."""
    notation: Notation
    """The file format of schedules."""
    play: Callable[[Schedule, Mapping[str, Any]], GroupTrace]
    """Plays a schedule. The mapping has the stage of each member."""
    perform: Callable[[Schedule, Mapping[str, Any], int], GroupTrace]
    """The same, but leaves the stages open, and raises TesteeError if an implementation breaks down. The number is the
    factor of the usual limits."""
    reading: Reading
    """Reads group traces for stories and diagrams."""
    simpler: Callable[[Operation, Schedule], Iterable[Operation]]
    """Yields simpler replacements of an operation that only this protocol has, the simplest first; used for shrinking.
    """
    make_substitute: Callable[[Declaration], Link]
    """Creates a reference model that understands an implementation with this declaration."""
    properties: Properties
    """The properties of whole groups."""
    situations: Mapping[str, str]
    """Descriptions of the situations that are counted to measure coverage."""
    counted: Callable[[GroupTrace, Sequence[View]], Counter[str]]
    """Counts how often a group trace reached each situation."""
    others: tuple[Repertoire, ...] = ()
    """The schedules of revisions with a separate text."""
    alphabet: Alphabet | None = None
    """The events from which `exhaust` makes all schedules; None if there are none."""
