"""The check of prose finds phrases and module names that have to be read twice, and accepts plain ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
import prose_check

SCRIPT = Path(prose_check.__file__)


def patterns(path: str, source: str) -> list[str]:
    return [hit.pattern for hit in prose_check.hits_in(path, source)[0]]


@pytest.mark.parametrize(
    ("sentence", "pattern"),
    [
        ("What is delivered has arrived.", "a clause as subject"),
        ("It waits for a message that nobody sent.", "somebody, nobody"),
        ("The user is told at the end.", "told"),
        ("Return what came of it.", "comes of"),
        ("The ID stands in field 1.", "stands in"),
        ("A hint beside the ID is ignored.", "beside"),
        ("Two messages, of which one is lost.", "of which"),
        ("Play the schedule once more.", "once more, anew"),
        ("It fails for want of a timestamp.", "for want of, at hand"),
    ],
)
def test_a_phrase_that_has_to_be_read_twice_is_found(sentence: str, pattern: str) -> None:
    assert patterns("a.md", sentence) == [pattern]
    assert patterns("a.py", f'"""{sentence}"""') == [pattern]
    assert patterns("a.py", f"x = 1  # {sentence}") == [pattern]


@pytest.mark.parametrize(
    "sentence",
    [
        "Every delivered message has arrived.",
        "The implementation resends messages that are not acknowledged.",
        "The list has two messages; one of them is lost.",
    ],
)
def test_a_plain_sentence_is_accepted(sentence: str) -> None:
    assert patterns("a.md", sentence) == []


def test_hits_have_the_line_of_their_paragraph_docstring_or_comment() -> None:
    """Code in fences is not prose, and a row of a table is a paragraph of its own."""
    markdown = "# Title\n\nplain\n\n```\nit is told\n```\n\n| it is told | x |\n"
    assert [hit.line for hit in prose_check.hits_in("a.md", markdown)[0]] == [9]
    python = '"""Plain."""\n\n\ndef f() -> str:\n    # it is told\n    return "told of"\n'
    assert [hit.line for hit in prose_check.hits_in("a.py", python)[0]] == [5]


@pytest.mark.parametrize(
    ("path", "vague"),
    [
        ("a/looking.py", True),
        ("a/again.py", True),
        ("a/flakiness.py", False),
        ("a/shrinking.py", False),
        ("a/tests/test_looking.py", False),
        ("a/looking.md", False),
    ],
)
def test_a_module_is_named_with_a_noun(path: str, vague: bool) -> None:
    assert prose_check.is_vague(path) is vague


def test_the_command_prints_hits_and_fails_above_the_limit(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("The user is told at the end.\n")
    checked = [sys.executable, str(SCRIPT), str(page)]
    failed = subprocess.run(checked, capture_output=True, text=True)
    assert failed.returncode == 1
    assert "page.md:1: told: The user is told at the end." in failed.stdout
    accepted = subprocess.run([*checked, "--limit", "1000"], capture_output=True, text=True)
    assert (accepted.returncode, accepted.stdout.count("\n")) == (0, 1)
