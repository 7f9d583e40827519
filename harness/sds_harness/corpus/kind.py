"""The kind of a corpus: the functions by which a protocol takes part in recording, reading and rebuilding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..language import Language
from ..schedules import Act, GroupTrace, Schedule
from ..session import Session
from ..stage import Stage
from ..trace import Dialect
from .schema import Columns, Row


class RowReader(Protocol):
    """Reads the columns of its protocol from the steps of one group trace."""

    def normative_columns(self, step: Any, trace: Any) -> Row:
        """The values of the protocol's own normative columns for a step."""
        ...

    def informative(self, step: Any, trace: Any) -> Row:
        """The values of the protocol's own informative columns for a step."""
        ...


# Functions of the module, because a kind is pickled for other processes.
def _as_it_is(value: Any) -> Any:
    return value


def _refuse_dialect(text: str) -> Dialect:
    raise ValueError("the protocol has no dialects")


@dataclass(frozen=True)
class CorpusKind:
    """The corpora of a protocol. All functions must be picklable by name, because workers receive them."""

    language: Language
    columns: Columns
    facts: Callable[[GroupTrace], RowReader]
    """Makes the reader of the columns of a group trace."""
    stage: Callable[[Session, str, Any], Stage[Any]]
    """Makes the stage on which a schedule is played, from the name of the schedule and a dialect."""
    play: Callable[[Schedule, Mapping[str, Any]], GroupTrace]
    """Plays a schedule. The mapping has the stage of each participant under test, by name."""
    loads: Callable[[str], Schedule]
    """Parses a schedule of the side table. Raises ScheduleFileError."""
    write_dialect: Callable[[Any], str] = str
    """Serialises a dialect for the side table."""
    read_dialect: Callable[[str], Dialect] = _refuse_dialect
    """Parses a dialect of the side table. Raises ValueError."""
    translate: Callable[[GroupTrace], None] = _as_it_is
    """Translates the bytes on the network from a dialect to the layout of the specification, in place."""
    not_compared: frozenset[str] = frozenset()
    """Commands that the harness sends for its own purposes. Which ones it sends depends on the declared
    capabilities."""
    shown_columns: str = "observe"
    """The command, and the capability, by which an implementation shows its state."""
    portable: Callable[[Any], Any] = _as_it_is
    """Returns a request without the parts that depend on the machine, such as paths."""
    stored_names: Mapping[str, str] = field(default_factory=dict)
    """Maps names of profiles in the handshake to their names in a manifest, if the two differ."""

    def compares(self, act: Act) -> bool:
        """Does a comparison of two corpora compare the row of this act (a step of the group trace)?"""
        return act.step.command not in self.not_compared

    def stored_name(self, profile: str) -> str:
        """The name that a manifest uses for a profile that the handshake calls ``profile``."""
        return self.stored_names.get(profile, profile)
