"""Freedoms: choices that a text leaves open, as explanations of a difference between two conforming implementations.

They are tried only if no check finds a violation on either side. A difference that no freedom explains is reported as
unexplained; a person has to examine it.
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
"""Replaces the name of a column if one side has no more steps."""


@dataclass(frozen=True)
class DivergentSide:
    """One side of a divergence: its group trace, and the point where it departs from the other side."""

    group_trace: GroupTrace
    compared: Sequence[Act]
    """The acts that are compared; the first one is step 1."""
    row: Mapping[str, Any] | None
    """The step that differs, None if this side has no more steps."""

    @property
    def act(self) -> Act | None:
        """The differing step as an act."""
        step = self.row["step"] if self.row is not None else 0
        return next(iter(self.compared[step - 1 : step]), None) if step else None

    def can(self, who: str, capability: int) -> bool:
        """Did the implementation of a member declare a capability?"""
        trace = self.group_trace.cast.get(who)
        return trace is None or trace.declaration.can(capability)

    def party(self, who: str) -> Party | None:
        """The settings with which a member was opened; None if it was not."""
        return self.group_trace.parties.get(who)


@dataclass(frozen=True)
class DivergentSteps:
    """A divergence with its two sides."""

    fields: frozenset[str]
    """The differing columns, without those that follow from others."""
    a: DivergentSide
    b: DivergentSide

    @property
    def sides(self) -> tuple[DivergentSide, DivergentSide]:
        return self.a, self.b

    def value_of(self, column: str) -> str:
        """The value of a column in the differing step, from the side that has one; "" if neither has."""
        return str((self.a.row or self.b.row or {}).get(column, ""))

    @property
    def command(self) -> str:
        return self.value_of("command")

    @property
    def participant(self) -> str:
        return self.value_of("participant")

    def differs_only_in(self, *fields: str) -> bool:
        """Do no other columns differ?"""
        return bool(self.fields) and self.fields <= set(fields)

    def unlike(self, field: str) -> set[str]:
        """The names that only one side has in a column."""
        row_a, row_b = self.a.row or {}, self.b.row or {}
        return set(row_a.get(field, ())) ^ set(row_b.get(field, ()))

    def played(self) -> list[tuple[DivergentSide, Act]]:
        """The differing step as an act, for each side that has it."""
        return [(side, side.act) for side in self.sides if side.act is not None]


@dataclass(frozen=True)
class Freedom:
    """A legal difference between traces. The positions that allow it name it under ``explains``."""

    name: str
    words: str
    """The choice that the text leaves open."""
    covers: Callable[[DivergentSteps], bool]


def covering(case: DivergentSteps, freedoms: Sequence[Freedom], columns: Sequence[str]) -> tuple[Freedom, ...]:
    """Find the freedoms that explain a difference; empty if they leave a column unexplained.

    The result is the first freedom that explains the whole difference. Otherwise it is the freedoms that explain its
    columns one by one, in the order of ``columns``, because one step can show two choices.
    """
    parts = [replace(case, fields=frozenset({name})) for name in columns if name in case.fields]
    for those in ([case], parts):
        found = [next((freedom for freedom in freedoms if freedom.covers(part)), None) for part in those]
        if None not in found:
            return tuple(dict.fromkeys(freedom for freedom in found if freedom is not None))
    return ()


# ---- Of any text -----------------------------------------------------------------------------------------------------


def differ_only_in(*fields: str, at: tuple[str, ...] = ()) -> Callable[[DivergentSteps], bool]:
    """Do only these columns differ, at one of these commands? Any command counts if none is named."""
    return lambda case: case.differs_only_in(*fields) and (not at or case.command in at)


def one_declares(signals: Mapping[str, int]) -> Callable[[DivergentSteps], bool]:
    """Are all differing columns signals that only one side declares? ``signals`` maps columns to capabilities."""

    def covers(case: DivergentSteps) -> bool:
        kinds = [signals.get(field) for field in case.fields]
        return bool(kinds) and all(
            kind is not None and case.a.can(case.participant, kind) != case.b.can(case.participant, kind)
            for kind in kinds
        )

    return covers


def left_out(case: DivergentSteps) -> bool:
    """Return whether the operation needs a capability that only one side declares, so that only one side plays it."""
    known = [side.group_trace.left_out for side in case.sides]
    return any(
        (act.operation in known[0]) != (act.operation in known[1])
        and NEEDS in "".join(each.get(act.operation, "") for each in known)
        for _, act in case.played()
    )


def calm(case: DivergentSteps) -> bool:
    """Is the network calm, so that one side continues while the other has nothing more to do?"""
    moved = {"command", "participant", "at_ms", END} & case.fields
    operations = case.a.group_trace.schedule.operations
    played = [operations[act.operation] for _, act in case.played() if act.operation >= 0]
    return bool(moved) and any(isinstance(operation, Calm) for operation in played)
