"""JSON that reads back the same, in text that can be shown."""

from __future__ import annotations

import json

import pytest

from sds_harness.declaration import printable, without_orders
from sds_harness.json_text import dumps, escape_json

pytestmark = pytest.mark.every_python

VALUES = [
    "plain",
    "tab\tline\nreturn\rnul\x00del\x7f",
    "\x1b[31m\x9b31m\x85\x80\x9f",
    "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029\ufeff\u061c",
    "\ud800 \udfff",
    "##vso[x]y ### \\## \\\\##",
    'quote " and \\ and \u202e"',
    "\U0001d4b3 \U000e0001 \U0001f600",
    {"key \u202e": ["\u2067", {"##": None}]},
]


@pytest.mark.parametrize("value", VALUES, ids=ascii)
@pytest.mark.parametrize("options", [{}, {"indent": 2}, {"separators": (",", ":")}])
def test_it_reads_back_the_same_and_can_be_shown(value: object, options: dict[str, object]) -> None:
    text = dumps(value, **options)
    assert json.loads(text) == value
    assert text.replace("\n", "").isprintable()
    assert "##" not in text
    text.encode("utf-8")


def test_json_of_others_keeps_its_values_whatever_blanks_it_has() -> None:
    raw = '{\t"a" :\r "\u202e",\n "b": "\\u202e \\t ##[x]" }'
    assert json.loads(escape_json(raw)) == json.loads(raw)
    assert escape_json(raw).replace("\n", "").isprintable()
    assert escape_json(raw).startswith('{ "a" :  "')


def test_within_a_line_only_commands_that_are_obeyed_there_are_broken() -> None:
    assert printable("::error::a ##vso[x]") == "::error::a # #vso[x]"


@pytest.mark.parametrize(
    ("text", "harmless"),
    [
        ("::error::x", ": :error::x"),
        (" \t ::add-mask::x", " \t : :add-mask::x"),
        ("a\n::set-output name=x::y", "a\n: :set-output name=x::y"),
        ("a ##vso[task.setvariable variable=x]y", "a # #vso[task.setvariable variable=x]y"),
        ("##[error]x ##teamcity[y]", "# #[error]x # #teamcity[y]"),
        ("## a heading, a::b", "## a heading, a::b"),
        ("[::1]:50051", "[::1]:50051"),
    ],
)
def test_a_command_to_a_ci_is_broken_and_nothing_else_changes(text: str, harmless: str) -> None:
    assert without_orders(text) == harmless
    assert without_orders(harmless) == harmless
