"""Completion: the scripts of the shells, and the words that real shells find with them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sds_conformance.cli.completion import SHELLS, VARIABLE

BASH = """
eval "$(_SDS_CONFORMANCE_COMPLETE=bash_source sds-conformance)"
COMP_WORDS=({words}) COMP_CWORD={last}
_sds_conformance_completion sds-conformance
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ZSH = """
autoload -Uz compinit && compinit -u -D
eval "$(_SDS_CONFORMANCE_COMPLETE=zsh_source sds-conformance)"
_describe() {{ shift 2; print -l -- ${{completions_with_descriptions%%:*}} }}
compadd() {{ print -l -- $completions }}
words=({words}) CURRENT=$(({last} + 1))
_sds_conformance_completion
"""
FISH = """
_SDS_CONFORMANCE_COMPLETE=fish_source sds-conformance | source
complete --do-complete {line}
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment in which the shell finds the program, and no start file of the user."""
    program = tmp_path / "bin" / "sds-conformance"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sds_conformance "$@"\n')
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}


def _suite(environment: dict[str, str], **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sds-conformance"], env={**environment, **more}, capture_output=True, text=True, timeout=60, check=False
    )


def _completed(shell: str, line: str, environment: dict[str, str]) -> set[str]:
    """The words that a shell offers for the last word of a command line."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = {"bash": BASH, "zsh": ZSH, "fish": FISH}[shell]
    words = line.split(" ")
    quoted = " ".join(f"'{word}'" for word in words)
    typed = script.format(words=quoted, last=len(words) - 1, line=f"'{line}'")
    options = {"bash": ["--norc", "-c"], "zsh": ["-f", "-c"], "fish": ["--no-config", "-c"]}[shell]
    done = subprocess.run(
        [shell, *options, typed], env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stderr == ""
    return {line.split("\t")[0] for line in done.stdout.splitlines() if line}


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_completes(shell: str, environment: dict[str, str]) -> None:
    assert _completed(shell, "sds-conformance re", environment) >= {"replay", "report", "requirements"}
    line = "sds-conformance run --revision forum-2024 --select FORUM-1"
    assert _completed(shell, line, environment) >= {f"FORUM-1{n}" for n in range(10)}


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_that_of_the_program_however_it_is_started(shell: str, environment: dict[str, str]) -> None:
    done = _suite(environment, **{VARIABLE: f"{shell}_source"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "_sds_conformance_completion" in done.stdout
    assert "python" not in done.stdout


@pytest.mark.parametrize("wanted", ["bash_nonsense", "tcsh_source", "nonsense"])
def test_2_an_unknown_shell_is_refused_with_the_known_ones(wanted: str, environment: dict[str, str]) -> None:
    done = _suite(environment, **{VARIABLE: wanted})
    assert (done.returncode, done.stdout) == (2, "")
    assert "bash_source, zsh_source, fish_source" in done.stderr


@pytest.mark.parametrize("words", [{}, {"COMP_WORDS": "sds-conformance 'run", "COMP_CWORD": "x"}])
def test_a_completion_that_fails_prints_nothing(words: dict[str, str], environment: dict[str, str]) -> None:
    done = _suite(environment, **{VARIABLE: "bash_complete"}, **words)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")
