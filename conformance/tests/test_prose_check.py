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
        ("The ID stands in field 1.", "stands in"),
        ("A hint beside the ID is ignored.", "beside"),
    ],
)
def test_a_phrase_that_has_to_be_read_twice_is_found(sentence: str, pattern: str) -> None:
    assert patterns("a.md", sentence) == [pattern]
    assert patterns("a.py", f'"""{sentence}"""') == [pattern]
    assert patterns("a.py", f"x = 1  # {sentence}") == [pattern]


def test_a_plain_sentence_is_accepted() -> None:
    assert patterns("a.md", "Every delivered message has arrived.") == []


@pytest.mark.parametrize(
    ("path", "vague"),
    [
        ("a/looking.py", True),
        ("a/flakiness.py", False),
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
