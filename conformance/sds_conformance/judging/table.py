"""A table of similar checks. Each row is the rule of one requirement for one kind of item in a trace, such as a sent
message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from sds_harness.trace import Step

from .judgement import Observation, observe_met, observe_note, observe_violation
from .view_cache import cache_per_view


class Fact(Protocol):
    """An item of a trace that a table judges, such as a sent message."""

    @property
    def step(self) -> Step: ...


E = TypeVar("E", bound=Fact)


class RuleRow(NamedTuple, Generic[E]):
    """One row of a table of checks: to which items of a trace the requirement applies, and when it is violated."""

    requirement: str
    applies: Callable[[E], object]
    """Does the requirement apply to the item?"""
    wrong: Callable[[E], object]
    """Does the item violate the requirement? Only called if the requirement applies."""
    code: str
    """The code of the violation; "" if the deviation is only a note."""
    why: str = ""
    """Reason of the rule in a few words."""
    position: str | Callable[[E], str] = ""
    """The position that softens the violation, or "". A function of the item if the position depends on the item."""
    needs: tuple[int, ...] = ()
    """Capabilities without which the row does not apply."""


class Table(Generic[E]):
    """The rows, in order of precedence, and the items that they judge.

    Only the first row that an item violates is reported, and the other rows do not count as exercised, so that one
    mistake is one violation. If the item violates no row, all rows that apply to it are met.
    """

    def __init__(
        self,
        facts: Callable[[Any], Iterable[E]],
        describe: Callable[[E, RuleRow[E]], tuple[str, str]],
        rows: Sequence[RuleRow[E]],
    ) -> None:
        """``facts`` finds the items of a view that the rows judge. ``describe`` returns the expected and the seen value
        of an item that violates a row.
        """
        self.rows = tuple(rows)
        self._facts, self._describe = facts, describe
        self._judged = cache_per_view(self._judge)

    def check(self, requirement: str, needs: tuple[int, ...]) -> Callable[[Any], Iterator[Observation]]:
        """Return the check for those rows of a requirement that need exactly the capabilities ``needs``."""

        @wraps(self._facts)
        def check(view: Any) -> Iterator[Observation]:
            return iter(self._judged(view).get((requirement, needs), ()))

        return check

    def _judge(self, view: Any) -> dict[tuple[str, tuple[int, ...]], list[Observation]]:
        rows = [
            (row.applies, row.wrong, (row.requirement, row.needs), row)
            for row in self.rows
            if all(map(view.trace.declaration.can, row.needs))
        ]
        found: dict[tuple[str, tuple[int, ...]], list[Observation]] = {}
        for fact in self._facts(view):
            condition, is_applicable, met = None, False, []
            for applies, is_wrong, key, row in rows:  # rows with the same condition are adjacent
                if applies is not condition:
                    condition, is_applicable = applies, bool(applies(fact))
                if is_applicable and is_wrong(fact):
                    found.setdefault(key, []).append(self._make_violation(fact, row))
                    break
                if is_applicable and key not in met:
                    met.append(key)
            else:
                for key in met:
                    found.setdefault(key, []).append(observe_met(fact.step))
        return found

    def _make_violation(self, fact: E, row: RuleRow[E]) -> Observation:
        expected, seen = self._describe(fact, row)
        if not row.code:
            return observe_note(fact.step, f"{seen} where {expected}")
        position = row.position if isinstance(row.position, str) else row.position(fact)
        return observe_violation(fact.step, row.code, expected, seen, position)
