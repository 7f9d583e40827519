"""Similar checks as a table: each row is the rule of one requirement for facts of one kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from sds_harness.trace import Step

from .judgement import Observation, observe_met, observe_note, observe_violation
from .view_cache import cache_per_view


class Fact(Protocol):
    """Something in a trace that can be right or wrong."""

    @property
    def step(self) -> Step:
        """The step where it happened."""
        ...


E = TypeVar("E", bound=Fact)


class RuleRow(NamedTuple, Generic[E]):
    """The rule of a requirement for one fact of a trace."""

    requirement: str
    applies: Callable[[E], object]
    """Does the requirement apply to the fact?"""
    wrong: Callable[[E], object]
    """Is it violated, if it applies?"""
    code: str
    """The code of the violation; "" if it is noted and no violation."""
    why: str = ""
    """Reason in a few words."""
    position: str | Callable[[E], str] = ""
    """The position that softens the violation; "" if none does; a function if that depends on the fact."""
    needs: tuple[int, ...] = ()
    """Capabilities without which the row does not apply."""


class Table(Generic[E]):
    """Rows in order of precedence.

    The first row that applies to a fact and is wrong is reported as violated. The other rows are then not exercised, so
    that one mistake is one violation. If no row is wrong, all rows that apply are met.
    """

    def __init__(
        self,
        facts: Callable[[Any], Iterable[E]],
        describe: Callable[[E, RuleRow[E]], tuple[str, str]],
        rows: Sequence[RuleRow[E]],
    ) -> None:
        """``facts`` finds in a view what the rows judge, each with the ``step`` where it happened. ``describe`` returns
        the expected and the seen value of a fact that violates a row.
        """
        self.rows = tuple(rows)
        self._facts, self._describe = facts, describe
        self._judged = cache_per_view(self._judge)

    def check(self, requirement: str, needs: tuple[int, ...]) -> Callable[[Any], Iterator[Observation]]:
        """Return the check for the rows of a requirement with these needs."""

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
