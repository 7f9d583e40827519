"""Permitted differences (freedoms) between the traces of two conforming implementations.

They are effects of choices that the specification leaves open. They explain a difference in `corpus diff`, and are
tried only if no check finds a violation on either side. A difference that none of them explains is reported as
unexplained, and a person has to examine it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sds_harness.schedules import Act, GroupTrace
from sds_harness.schedules.operations import Calm
from sds_harness.stage import NEEDS
from sds_harness.trace import Party

END = "end"
"""Stands for the name of a column if one side has no more steps."""


@dataclass(frozen=True)
class DivergentSide:
    """One side of a divergence: its group trace, and the first step that differs from the other side."""

    group_trace: GroupTrace
    compared: Sequence[Act]
    """The steps that are compared. ``row["step"]`` counts them from 1."""
    row: Mapping[str, Any] | None
    """The corpus row of the step that differs; None if this side has no more steps."""

    @property
    def act(self) -> Act | None:
        """The act of the step that differs; None if this side has no more steps."""
        step = self.row["step"] if self.row is not None else 0
        return next(iter(self.compared[step - 1 : step]), None) if step else None

    def can(self, who: str, capability: int) -> bool:
        """Did the implementation of participant ``who`` declare a capability?"""
        trace = self.group_trace.cast.get(who)
        return trace is None or trace.declaration.can(capability)

    def party(self, who: str) -> Party | None:
        """The settings with which participant ``who`` was opened; None if it was not opened."""
        return self.group_trace.parties.get(who)


@dataclass(frozen=True)
class DivergentSteps:
    """A divergence with its two sides."""

    fields: frozenset[str]
    """The differing columns, without columns that differ only because other columns differ."""
    a: DivergentSide
    b: DivergentSide

    @property
    def sides(self) -> tuple[DivergentSide, DivergentSide]:
        return self.a, self.b

    def value_of(self, column: str) -> str:
        """The value of a column in the step that differs, of side a or else of side b; "" if neither has it."""
        return str((self.a.row or self.b.row or {}).get(column, ""))

    @property
    def command(self) -> str:
        return self.value_of("command")

    @property
    def participant(self) -> str:
        return self.value_of("participant")

    def differs_only_in(self, *fields: str) -> bool:
        """Does any column differ, and only columns of ``fields``?"""
        return bool(self.fields) and self.fields <= set(fields)

    def unlike(self, field: str) -> set[str]:
        """The names of messages that only one of the two sides has in a column."""
        row_a, row_b = self.a.row or {}, self.b.row or {}
        return set(row_a.get(field, ())) ^ set(row_b.get(field, ()))

    def played(self) -> list[tuple[DivergentSide, Act]]:
        """(Side, act of the step that differs) for each side that has this step."""
        return [(side, side.act) for side in self.sides if side.act is not None]


@dataclass(frozen=True)
class Freedom:
    """A permitted difference between traces. The positions that allow it list its name under ``explains``."""

    name: str
    words: str
    """A phrase for the choice that the specification leaves open."""
    covers: Callable[[DivergentSteps], bool]
    """Returns whether this choice explains a difference."""


def covering(case: DivergentSteps, freedoms: Sequence[Freedom], columns: Sequence[str]) -> tuple[Freedom, ...]:
    """Find the permitted differences that explain a divergence; empty if they leave a column unexplained.

    The result is the first freedom that explains all differing columns. If there is none, it has the first freedom for
    each differing column, in the order of ``columns``, because one step can show two choices.
    """
    parts = [replace(case, fields=frozenset({name})) for name in columns if name in case.fields]
    for those in ([case], parts):
        found = [next((freedom for freedom in freedoms if freedom.covers(part)), None) for part in those]
        if None not in found:
            return tuple(dict.fromkeys(freedom for freedom in found if freedom is not None))
    return ()


# ---- For all protocols -----------------------------------------------------------------------------------------------


def differ_only_in(*fields: str, at: tuple[str, ...] = ()) -> Callable[[DivergentSteps], bool]:
    """Return a function that tells whether only ``fields`` differ, at a command of ``at``. If ``at`` is empty, any
    command counts.
    """
    return lambda case: case.differs_only_in(*fields) and (not at or case.command in at)


def one_declares(signals: Mapping[str, int]) -> Callable[[DivergentSteps], bool]:
    """Return a function that tells whether all differing columns are signals that only one side declares.

    ``signals`` has the capability of each column.
    """

    def covers(case: DivergentSteps) -> bool:
        kinds = [signals.get(field) for field in case.fields]
        return bool(kinds) and all(
            kind is not None and case.a.can(case.participant, kind) != case.b.can(case.participant, kind)
            for kind in kinds
        )

    return covers


def left_out(case: DivergentSteps) -> bool:
    """Does the operation need a capability that only one side declares, so that only this side plays it?"""
    known = [side.group_trace.left_out for side in case.sides]
    return any(
        (act.operation in known[0]) != (act.operation in known[1])
        and NEEDS in "".join(each.get(act.operation, "") for each in known)
        for _, act in case.played()
    )


def calm(case: DivergentSteps) -> bool:
    """Do the sides differ in a calm phase, in which one side may take more steps than the other?"""
    moved = {"command", "participant", "at_ms", END} & case.fields
    operations = case.a.group_trace.schedule.operations
    played = [operations[act.operation] for _, act in case.played() if act.operation >= 0]
    return bool(moved) and any(isinstance(operation, Calm) for operation in played)
