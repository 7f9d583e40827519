"""All that is printed goes through one door: nothing moves the cursor or gives orders. A lost reader is no verdict."""

from __future__ import annotations

import errno
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import click
import pytest
from rich.text import Text

from odd_adapters import HOSTILE
from run_helpers import reference_command
from sds_conformance.cli import main
from sds_conformance.cli.output_filter import DoorConsole, filter_output, print_json
from sds_conformance.exploration import campaign
from sds_conformance.judging.exits import Exit
from suite_terminal import controls, typed, words

ORDERS = (
    "::stop-commands::x",
    "  ::error::x",
    "\n \n::warning file=a::x",
    "a ##[stop-commands]x",
    "##vso[task.complete]x",
    "##teamcity[x]",
)


class KeptOutput(io.StringIO):
    """A stream that keeps what it is given."""

    encoding = "utf-8"


def through(monkeypatch: pytest.MonkeyPatch, *texts: str, styled: bool = False) -> str:
    """What of these texts comes out of stdout."""
    out = KeptOutput()
    monkeypatch.setattr(sys, "stdout", out)
    with filter_output():
        console = DoorConsole(width=60, force_terminal=styled, color_system="standard" if styled else None)
        for text in texts:
            sys.stdout.write(text)
            click.echo(text)
            console.print(Text(text, "bold red" if styled else ""))
            console.print(f"aside {text}", soft_wrap=True, markup=False, highlight=False)
    assert sys.stdout is out
    return out.getvalue()


def test_nothing_that_moves_the_cursor_or_turns_the_text_gets_through(monkeypatch: pytest.MonkeyPatch) -> None:
    marks = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
    text = through(monkeypatch, HOSTILE, marks, "\x1b[2J\x1b[32mPASS", "\x9b2J", "\x7f\x00\b")
    assert controls(text) == set()
    assert text.count("PASS") == 4
    assert "red" in text
    kept = "Grüße\n  日本 · ✓ │ … 🙂\n"
    assert through(monkeypatch, kept).startswith(kept * 2)
    coloured = through(monkeypatch, "\x1b[32mgreen\x1b[0m", styled=True)
    assert "\x1b[1;31mgreen\x1b[0m" in coloured, "a colour of ours"
    assert "\x1b[32m" not in coloured


@pytest.mark.parametrize("text", ORDERS)
@pytest.mark.parametrize("styled", [False, True])
def test_nobody_speaks_to_the_ci_but_we(monkeypatch: pytest.MonkeyPatch, text: str, styled: bool) -> None:
    wrapped = f"{'word ' * 12}{text}"  # its end begins a line of 60 columns
    for line in through(monkeypatch, text, wrapped, styled=styled).splitlines():
        assert not line.replace("\x1b[1;31m", "").lstrip().startswith("::"), line
        assert not any(word in line for word in ("##[", "##vso[", "##teamcity[")), line


@pytest.mark.parametrize("data", [HOSTILE, *ORDERS, "\U000e0001 \u2028 ü 🙂 # ##"])
@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_json_says_the_same_and_shows_nothing_else(monkeypatch: pytest.MonkeyPatch, encoding: str, data: str) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", out)
    with filter_output():
        print_json({data: [data]})
    text = out.buffer.getvalue().decode(encoding)
    assert json.loads(text) == {data: [data]}
    assert controls(text) == set()
    assert "##" not in text


@pytest.mark.parametrize("styled", [False, True])
def test_names_stay_different_and_our_own_signs_are_spelt_in_ascii(
    monkeypatch: pytest.MonkeyPatch, styled: bool
) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", out)
    names = ["é", "ю", "日", "本", "🙂", "🦊"]
    with filter_output():
        for text in (*names, "pass  ·  3", "a·b", "cut…", "one → two"):
            DoorConsole(width=60).print(Text(text)) if styled else click.echo(text)
    lines = out.buffer.getvalue().decode("ascii").splitlines()
    assert len(set(lines[: len(names)])) == len(names)
    assert "?" not in "".join(lines)
    assert lines[len(names) :] == ["pass  -  3", r"a\xb7b", "cut...", "one -> two"]


def test_the_story_is_reported_where_the_locale_has_only_ascii() -> None:
    c = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    selected = ["run", "--json", "--select", "SDS-MSG-13", "--scenario", "every-kind-*", "--environment", "plain"]
    shown_text = subprocess.run(
        [sys.executable, "-m", "sds_conformance", *selected], capture_output=True, env={**os.environ, **c}, check=False
    )
    assert shown_text.stdout.isascii(), shown_text.stdout
    assert json.loads(shown_text.stdout)["implementation"]["name"] == "sds_reference"
    assert b"Traceback" not in shown_text.stderr


# ---- The reader is gone, or full -----------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [["vectors", "list"], ["run", "--help"]], ids=" ".join)
@pytest.mark.parametrize(("full", "code", "said"), [(True, 70, "stdout cannot be written"), (False, 141, "")])
def test_stdout_that_is_full_or_closed_has_a_code_of_its_own(
    arguments: list[str], full: bool, code: int, said: str
) -> None:
    """The interpreter writes at its end what is left, and would end with 120 if it could not."""
    reading, closed = os.pipe()
    os.close(reading)
    writing = os.open("/dev/full", os.O_WRONLY) if full else closed
    command = [sys.executable, "-m", "sds_conformance", *arguments]
    ended = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    for descriptor in {closed, writing}:
        os.close(descriptor)
    assert ended.returncode == code
    assert said in ended.stderr
    assert bool(said) == bool(ended.stderr)
    assert "Traceback" not in ended.stderr


# ---- Faults of ours ------------------------------------------------------------------------------------------------


def test_a_crash_of_ours_has_no_code_of_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: Any, **__: Any) -> NoReturn:
        raise ZeroDivisionError(HOSTILE)

    monkeypatch.setattr("sds_conformance.cli.vectors.default_folder", crash)
    result = typed("vectors", "list")
    assert result.exit_code == Exit.OURS
    assert "ZeroDivisionError" in result.stderr
    assert "This is a fault of the suite, not a verdict." in words(result.stderr)
    assert controls(result.stderr) == set()


ENDED_EARLY = "a process of the suite ended before its work was done"


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (EOFError(), Exit.OURS, ENDED_EARLY),
        (BrokenPipeError(errno.EPIPE, "x"), Exit.OURS, ENDED_EARLY),
        (SystemExit("the wrong module"), Exit.OURS, "an imported module ended the program: the wrong module"),
        (KeyboardInterrupt(), Exit.INTERRUPTED, "Interrupted."),
        (click.Abort(), Exit.INTERRUPTED, "Interrupted."),
        (SystemExit(1), Exit.NON_CONFORMANT, ""),
    ],
    ids=lambda value: type(value).__name__,
)
def test_only_a_verdict_ends_with_the_code_of_a_verdict(
    monkeypatch: pytest.MonkeyPatch, raised: BaseException, code: Exit, said: str
) -> None:
    def fail(*_: Any, **__: Any) -> NoReturn:
        raise raised

    monkeypatch.setitem(main.commands, "fail", click.Command("fail", callback=fail))
    result = typed("fail")
    assert result.exit_code == code
    assert said in words(result.stderr)


def die(*_: Any, **__: Any) -> None:
    """Stands for the work of a process that the system kills."""
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_worker_of_generated_schedules_is_no_verdict_and_no_baseline_excuses_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(campaign, "_work", die)
    known = tmp_path / "known.yaml"
    known.write_text("schema: sds-conformance/baseline/2\nrevision: sds-2026-01\nknown: []\n", "utf-8")
    for more in ((), ("--baseline", known)):
        result = typed("fuzz", "--jobs", "2", "--schedules", "2", *more, "--", *reference_command())
        assert result.exit_code == Exit.OURS
        assert "a worker ended with exit code" in words(result.stdout)


def test_a_forged_transcript_sends_no_control_character_to_the_terminal(tmp_path: Path) -> None:
    talk = tmp_path / "talk.jsonl"
    command = ["run", "--environment", "plain", "--scenario", "ties", "--transcript", str(talk)]
    assert typed(*command, "--", *reference_command()).exit_code == 0
    forged = talk.read_text("utf-8").replace('"alice"', r'"al\u001b[2J\u202eice"').replace("sds_reference", r"\u0007x")
    talk.write_text(forged, "utf-8")
    shown = typed("explain", talk)
    assert shown.exit_code == 0
    assert "ice" in shown.stdout
    assert controls(shown.stdout + shown.stderr) == set()
