"""Whatever an implementation says, no control character of it reaches the terminal, and no length of it the reader."""

from __future__ import annotations

import pytest

from odd_adapters import HOSTILE
from run_helpers import broken_adapter, odd_adapter, reference_command
from suite_terminal import SOME, controls, typed

pytestmark = pytest.mark.exhaustive

ODD = [
    "refuses-in-colour",
    "refuses-to-open-in-colour",
    "supports-nothing-in-colour",
    "fails-in-colour",
    "greets-in-colour",
    "presents-itself-in-colour",
    "declares-a-dialect-in-colour",
    "names-messages-in-colour",
]


HERE = [*SOME, "--environment", "plain"]
"""The output of an implementation is printed in the same way by every command."""


def printed(*arguments: str) -> tuple[int, str]:
    """Exit code, and all that was printed to stdout and stderr."""
    result = typed(*arguments)
    return result.exit_code, result.stdout + result.stderr


def test_the_hostile_text_is_hostile() -> None:
    assert controls(HOSTILE) == {"\x1b", "\x07", "\r", "\x9b", "\u202e", "\u2028"}


@pytest.mark.parametrize("name", ODD)
def test_no_control_character_reaches_the_terminal_from_a_run(name: str) -> None:
    code, text = printed("run", *HERE, "--", *odd_adapter(name))
    assert code in (0, 1, 3, 4)
    assert controls(text) == set()


@pytest.mark.parametrize("name", ODD[-4:])
def test_no_control_character_reaches_the_terminal_from_a_smoke_test(name: str) -> None:
    _, text = printed("smoke", "--", *odd_adapter(name))
    assert controls(text) == set()


@pytest.mark.parametrize("name", ODD[-3:])
def test_no_control_character_reaches_the_terminal_as_json(name: str) -> None:
    _, text = printed("run", "--json", *HERE, "--", *odd_adapter(name))
    assert controls(text) == set()


@pytest.mark.parametrize(
    ("name", "requirement"),
    [
        ("refuses-in-colour", "SDS-RECV-07"),
        ("names-messages-in-colour", "SDS-STATE-10"),
        ("supports-nothing-in-colour", "SDS-RECV-08"),
    ],
)
def test_no_control_character_reaches_the_terminal_from_a_conversation(name: str, requirement: str) -> None:
    _, text = printed("run", "--select", requirement, *HERE, "--", *odd_adapter(name))
    assert "Conversation of" in text
    assert controls(text) == set()


@pytest.mark.parametrize("name", ["crashes-in-colour", "has-a-hostile-name", "answers-garbage"])
def test_no_control_character_reaches_the_terminal_from_a_broken_adapter(name: str) -> None:
    _, text = printed("run", "--scenario", "nobody-answers", "--", *broken_adapter(name))
    assert "nobody-answers" in text or "conforms" in text
    assert controls(text) == set()


def test_what_was_said_is_still_told_without_its_colours() -> None:
    _, text = printed("run", *HERE, "--", *odd_adapter("refuses-in-colour"))
    assert "refused" in text
    assert "red" in text
    assert "bell" in text


def test_ids_of_a_megabyte_neither_break_the_story_nor_fill_it() -> None:
    code, text = printed("run", "--scenario", "named-*", "--", *odd_adapter("names-messages-at-length"))
    assert code == 1
    assert len(text) < 100_000


def test_an_ordinary_run_has_no_control_characters_either() -> None:
    code, text = printed("run", *SOME, "--", *reference_command())
    assert code == 0
    assert controls(text) == set()
