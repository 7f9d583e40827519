"""The kind of a corpus: what recording one, reading it and making its performances again is handed by a protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..language import Language
from ..schedules import Act, Performance, Schedule
from ..session import Session
from ..stage import Stage
from ..trace import Dialect
from .schema import Columns, Row


class Facts(Protocol):
    """What the steps of one performance tell, in the columns of their protocol."""

    def compared(self, step: Any, trace: Any) -> Row:
        """The normative columns, but for those that every corpus has."""
        ...

    def informative(self, step: Any, trace: Any) -> Row:
        """The others, but for these."""
        ...


# Of the module, for a kind goes to other processes.
def _as_it_is(request: Any) -> Any:
    return request


@dataclass(frozen=True)
class Kind:
    """The corpora of a protocol. Functions are given by their names, for workers to be handed them."""

    language: Language
    columns: Columns
    facts: Callable[[Performance], Facts]
    """Reads a performance."""
    stage: Callable[[Session, str, Any], Stage[Any]]
    """Makes the stage for a schedule of that name, with the dialect that it is played in."""
    play: Callable[[Schedule, Mapping[str, Any]], Performance]
    """Plays a schedule; the mapping says on which stage each of its members stands."""
    dumps: Callable[[Schedule], str]
    """A schedule as the side table has it."""
    loads: Callable[[str], Schedule]
    """The schedule in such a text. Raises ScheduleFileError."""
    name_of: Callable[[int, int], str]
    """What the schedule of a seed and a number is called."""
    write_dialect: Callable[[Any], str]
    """A dialect as the side table has it."""
    read_dialect: Callable[[str], Dialect]
    """The dialect in such a text. Raises ValueError."""
    translate: Callable[[Performance], None]
    """Puts the bytes on the network, where they are in a dialect, into the layout of the text, for good."""
    not_compared: frozenset[str] = frozenset()
    """Commands that the harness gives for itself: which of them it gives hangs on what an implementation declares."""
    shown: str = "observe"
    """The command, and the capability, by which an implementation shows its state."""
    portable: Callable[[Any], Any] = _as_it_is
    """A request without what hangs on the machine that it was made on, such as paths."""
    stored_names: Mapping[str, str] = field(default_factory=dict)
    """What profiles of the handshake are called in a manifest, where that is not their name."""

    def compares(self, act: Act) -> bool:
        """Is the row of an act one of those that are compared?"""
        return act.step.command not in self.not_compared

    def stored_name(self, profile: str) -> str:
        """What a profile of the handshake is called in a manifest."""
        return self.stored_names.get(profile, profile)
