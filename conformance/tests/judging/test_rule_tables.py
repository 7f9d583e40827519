"""Checks that are rows of a table: which of them is blamed, and by which names they are known."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

from sds_conformance.judging.judgement import Observation, Outcome
from sds_conformance.judging.registry import Register
from sds_conformance.judging.table import RuleRow


class Number(NamedTuple):
    """A fact: a number that should be even, and small."""

    step: Any
    value: int


def numbers(view: Any) -> Iterator[Number]:
    """All numbers are even and small."""
    return (Number(SimpleNamespace(index=index), value) for index, value in enumerate(view.values, 1))


def a_register(*, apart: bool) -> Register:
    register = Register("TOY-")
    register.table(
        numbers,
        lambda number, row: (row.why, f"{number.value}"),
        [
            RuleRow("TOY-1", lambda n: True, lambda n: n.value % 2, "odd", "an even number"),
            RuleRow(
                "TOY-2", lambda n: n.value >= 0, lambda n: n.value > 9, "large", "at most 9", lambda n: f"AMB-{n.value}"
            ),
        ],
        apart=apart,
    )
    return register


def said(register: Register, requirement: str, *values: int) -> list[Observation]:
    view = SimpleNamespace(values=values, trace=SimpleNamespace(declaration=SimpleNamespace(can=lambda _: True)))
    return [observation for check in register.checks[requirement] for observation in check.function(view)]


def test_one_mistake_is_one_violation_of_the_first_row_that_explains_it() -> None:
    register = a_register(apart=False)
    assert [o.outcome for o in said(register, "TOY-1", 11, 2)] == [Outcome.VIOLATED, Outcome.HELD]
    assert [o.outcome for o in said(register, "TOY-2", 11, 2)] == [Outcome.HELD]


def test_requirements_that_are_judged_apart_are_all_violated() -> None:
    register = a_register(apart=True)
    assert [o.code for o in said(register, "TOY-1", 11, 2)] == ["odd", ""]
    assert [(o.code, o.position, o.seen) for o in said(register, "TOY-2", 11, 2)] == [
        ("large", "AMB-11", "11"),
        ("", "", ""),
    ]


def test_a_row_says_nothing_of_what_it_does_not_apply_to() -> None:
    assert said(a_register(apart=True), "TOY-2", -1) == []


def test_rows_are_known_by_their_facts_and_apart_ones_by_their_requirement() -> None:
    together, apart = a_register(apart=False), a_register(apart=True)
    assert [check.name for check in together.checks["TOY-1"]] == ["numbers"]
    assert [check.name for check in apart.checks["TOY-2"]] == ["numbers_of_TOY-2"]
    assert apart.checks["TOY-2"][0].summary == "All numbers are even and small."


def test_a_requirement_of_another_text_names_the_rows_by_the_requirement_that_has_them() -> None:
    register = a_register(apart=True)
    register.same_as("OTHER-7", "TOY-1", "TOY-2")
    assert [check.name for check in register.checks["OTHER-7"]] == ["numbers_of_TOY-1", "numbers_of_TOY-2"]
    assert [o.code for o in said(register, "OTHER-7", 11)] == ["odd", "large"]
    assert register.counterparts == {"TOY-1": ["OTHER-7"], "TOY-2": ["OTHER-7"]}
