"""What people read: the story of a run, the conversation, and what the other commands print."""

from __future__ import annotations

import re

import pytest

from run_helpers import reference_command
from suite_terminal import MUTANT, typed, words

pytestmark = pytest.mark.exhaustive


def test_one_id_shows_the_conversation() -> None:
    passed = typed("run", "--select", "SDS-ACK-01", "--scenario", "named-*")
    assert passed.exit_code == 0
    assert re.search(r"^Conversation of named-in-a-history, T = ", passed.stdout, re.MULTILINE)
    assert re.search(r"signals '.+' acknowledged", words(passed.stdout))
    assert "0a05616c" in passed.stdout  # sender_id "alice"
    failed = typed("run", "--select", "SDS-STATE-02", "--scenario", "clock-*", "--", *MUTANT)
    assert re.search(r"^> +\d+ alice sends", failed.stdout, re.MULTILINE)
    several = typed("run", "--select", "SDS-CONFLICT-*", "--scenario", "ties*")
    assert "Conversation" not in several.stdout


def test_a_strict_run_is_strict() -> None:
    softened = ["--scenario", "waiting-from-ahead", "--", *reference_command("--mutant", "updates-clock-on-reception")]
    assert typed("run", *softened).exit_code == 0
    assert typed("run", "--strict", *softened).exit_code == 1
