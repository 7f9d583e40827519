"""Output on a narrow terminal: IDs are whole at 80 columns, and counts can be read at 60."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path

import pytest

from sds_conformance.cli.options import console
from sds_conformance.presentation.story import plain_table, unwrapped_column
from sds_conformance.protocols.sds.rules import RULES
from suite_terminal import typed, words

COUNTS = ("pass", "fail", "warn", "inconcl.", "skipped", "error")


@pytest.mark.parametrize("columns", ["60", "80"])
def test_sections_are_reported_whole_and_counts_stand_under_their_names(columns: str) -> None:
    result = typed("run", "--scenario", "a-diamond", "--environment", "plain", COLUMNS=columns)
    lines = result.stdout.splitlines()
    (start,) = (number for number, line in enumerate(lines) if line.startswith("Section "))
    (end,) = (number for number, line in enumerate(lines) if line.startswith("All "))
    table = lines[start : end + 1]
    assert tuple(table[0].split()) == ("Section", *COUNTS)
    assert "…" not in "".join(table)
    edge = table[0].index("pass")
    titles = words(" ".join(line[:edge] for line in table))
    judged = {requirement.section for requirement in RULES.judged_requirements(RULES.current, RULES.full)}
    output = [section.title for section in RULES.catalogue.sections if section.id in judged]
    assert len(output) > 20
    assert [title for title in output if title not in titles] == []
    assert all(re.fullmatch(r"[\d· ]*", line[edge:]) for line in table[1:])


def test_ids_of_vectors_are_whole_at_80_columns_and_comments_stand_below_where_they_have_no_room() -> None:
    groups = ("--group", "hash-murmur3-32-nim", "--group", "transcripts")
    shown = typed("vectors", "list", *groups, COLUMNS="80").stdout.splitlines()
    assert any(line.startswith("hash-murmur3-32-nim/one-beyond-ascii ") for line in shown)
    (at,) = (
        number for number, line in enumerate(shown) if line.startswith("transcripts/named-in-a-history@forum-2024")
    )
    assert shown[at].endswith("@forum-2024  acceptable")
    assert shown[at + 1].startswith("  Of three own messages two are named in a causal history")


def test_a_table_breaks_words_and_neither_names_nor_numbers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "44")
    table = plain_table(unwrapped_column("Name"), "Words", right=("pass", "fail"))
    table.add_row("a-name-of-20-letters", "several words that are long", "1,234", "5,678")
    console().print(table)
    (head, first, *_) = capsys.readouterr().out.splitlines()
    assert head.split() == ["Name", "Words", "pass", "fail"]
    assert first.split()[0] == "a-name-of-20-letters"
    assert first.split()[-2:] == ["1,234", "5,678"]


@pytest.mark.parametrize("value", ["0", "00", "-5", "", "eighty", "²", " 80", "9" * 5000])
@pytest.mark.parametrize("name", ["COLUMNS", "LINES"])
def test_a_size_that_no_terminal_has_costs_no_text(name: str, value: str) -> None:
    shown = typed("requirements", "SDS-RECV-06", "--no-run", **{name: value}).stdout
    usual = typed("requirements", "SDS-RECV-06", "--no-run", COLUMNS="80").stdout
    assert words(shown) == words(usual)
    assert len(words(usual)) > 1000


def test_every_command_tells_its_story_whatever_the_width(tmp_path: Path) -> None:
    columns = "1"
    folder = str(tmp_path / "report")
    selected = ("--select", "SDS-RECV-06", "--environment", "plain")
    output = [
        typed("run", *selected, "--report", folder, COLUMNS=columns),
        typed("report", folder, COLUMNS=columns),
        typed("compare", folder, folder, COLUMNS=columns),
        typed("vectors", "list", "--group", "lamport", COLUMNS=columns),
        typed("run", "--help", COLUMNS=columns),
    ]
    assert [result.exit_code for result in output] == [0] * len(output)
    assert "conforms to what was tested" in words(output[0].stdout)
    assert [len(words(result.stdout)) > 80 for result in output] == [True] * len(output), [r.stdout for r in output]


def test_a_terminal_of_no_columns_gets_text() -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 0, 0, 0, 0))
    child = subprocess.Popen(
        [sys.executable, "-m", "sds_conformance", "requirements", "SDS-RECV-06", "--no-run"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")},
    )
    os.close(theirs)
    shown = b""
    with os.fdopen(ours, "rb", buffering=0) as terminal, suppress(OSError):  # Linux ends a terminal with EIO
        while chunk := terminal.read(1 << 16):
            shown += chunk
    assert child.wait(60) == 0
    assert b"A dependency counts as met only when its id is in the" in shown
