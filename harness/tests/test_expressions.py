"""Expressions over the configuration in force."""

from __future__ import annotations

import re

import pytest

from sds_harness.schedules.expressions import LONGEST, ExpressionError, names_in, value_of

KNOWN = {"t_max_ms": 120_000, "t_min_ms": 30_000, "zero": 0}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("t_max_ms // 24 + 1000", 6_000),
        ("(2 * t_min_ms + t_max_ms) // 3", 60_000),
        ("-t_min_ms - 1", -30_001),
        ("max(1, zero // 3)", 1),
        ("min(t_min_ms, t_max_ms, 5)", 5),
        ("max(1, t_res_ms // 2)", 1),
        ("max(t_res_ms, t_min_ms)", 30_000),
        ("t_max_ms <= 3600000", 1),
        ("t_max_ms == t_min_ms", 0),
        ("  t_min_ms\t", 30_000),
    ],
)
def test_an_expression_has_the_value_of_python(text: str, value: int) -> None:
    assert value_of(text, KNOWN.get) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "t_max_ms /",
        "2 ** 99",
        "open('x')",
        "t_max_ms.real",
        "[1][0]",
        "1 if t_max_ms else 2",
        "max(*[1])",
        "1 < 2 < 3",
        "'a'",
        "(" * 150 + "1" + ")" * 40,
        "1" * (LONGEST + 1),
        "9" * 30,
        "a\0b",
    ],
)
def test_another_text_is_refused_and_not_executed(text: str) -> None:
    with pytest.raises(ExpressionError):
        names_in(text)
    with pytest.raises(ExpressionError):
        value_of(text, lambda name: 1)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("t_res_ms", "does not report its t_res_ms"),
        ("max(t_res_ms, t_res_ms)", "does not report its t_res_ms"),
        ("t_max_ms // zero", "divides by zero"),
        ("4611686018427387904 * 4611686018427387904", "beyond 2^62"),
    ],
)
def test_an_expression_without_a_value_says_why(text: str, why: str) -> None:
    with pytest.raises(ExpressionError, match=re.escape(why)):
        value_of(text, KNOWN.get)
