"""A configuration file supplies options, loses to the command line, and is refused with the key that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from run_helpers import reference_command
from sds_conformance.cli.configuration import KEYS
from suite_terminal import typed

DOCS = Path(__file__).parents[3] / "docs"
FAULTY = reference_command("--mutant", "log-by-arrival")
RUN = ("run", "--scenario", "ties", "--environment", "plain", "--quiet")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def listed(words: tuple[str, ...] | list[str]) -> str:
    return "[" + ", ".join(f"'{word}'" for word in words) + "]"


def test_the_command_and_the_options_of_a_file_are_used_and_named(here: Path) -> None:
    (here / "sds-conformance.toml").write_text(f"command = {listed(FAULTY)}\ntimeout = 7\n", "utf-8")
    result = typed(*RUN)
    assert result.exit_code == 1
    assert result.stderr.startswith("Configuration: sds-conformance.toml (command, timeout)\n")
    assert "mutant log-by-arrival" in result.stdout
    assert "--timeout 7" in result.stdout, "the printed command works without the file"


def test_the_table_of_a_project_file_is_used_too_and_the_command_line_wins(here: Path) -> None:
    text = f"[project]\nname = 'mine'\n[tool.sds-conformance]\ncommand = \"{' '.join(FAULTY)}\"\n"
    (here / "pyproject.toml").write_text(text, "utf-8")
    result = typed(*RUN)
    assert result.exit_code == 1
    assert "Configuration: pyproject.toml (command)" in result.stderr
    (here / "pyproject.toml").write_text("[tool.other]\nx = 1\n", "utf-8")
    assert "Configuration" not in typed(*RUN).stderr
    (here / "sds-conformance.toml").write_text("grpc = '127.0.0.1:1'\nstrict = true\n", "utf-8")
    assert typed(*RUN, "--", *reference_command()).exit_code == 0, "the command is not driven over that address"


def test_a_file_elsewhere_is_named_with_an_option(here: Path) -> None:
    (here / "mine.toml").write_text(f"command = {listed(FAULTY)}\n", "utf-8")
    assert typed(*RUN).exit_code == 0
    assert typed("--config", "mine.toml", *RUN).exit_code == 1
    missing = typed("--config", "none.toml", *RUN)
    assert (missing.exit_code, "none.toml" in missing.stderr) == (2, True)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("comand = 'x'", "there is no key 'comand'. Did you mean command?"),
        ("jobs = 2", "there is no key 'jobs'. The keys are baseline, clock, command"),
        ("timeout = 'x'", "`timeout` must be a number of seconds, not 'x'"),
        ("strict = 1", "`strict` must be true or false, not 1"),
        ("command = []", "`command` must be a string, or a list of strings, and not empty"),
        ('command = "a \'b"', "`command` is not a command line: No closing quotation"),
        ("x = [", "sds-conformance.toml is not TOML"),
        ("\x1b[31m = 1", "sds-conformance.toml is not TOML"),
        ("'\\u001b[31mred' = 1", "there is no key"),
    ],
)
def test_a_wrong_file_is_refused_with_the_key(here: Path, text: str, complaint: str) -> None:
    (here / "sds-conformance.toml").write_text(text, "utf-8")
    result = typed(*RUN)
    assert result.exit_code == 2
    assert complaint in " ".join(result.stderr.split())
    assert "\x1b" not in result.stderr


def test_a_value_that_the_option_refuses_is_traced_to_the_file(here: Path) -> None:
    (here / "sds-conformance.toml").write_text("framing = 'xml'\n", "utf-8")
    result = typed(*RUN)
    assert result.exit_code == 2
    assert "Invalid value for '--framing'" in result.stderr
    assert "The value is set in sds-conformance.toml." in result.stderr
    typed_wrong = typed(*RUN, "--framing", "csv")
    assert "The value is set" not in typed_wrong.stderr


def test_every_key_is_in_the_guide() -> None:
    guide = (DOCS / "configuration.md").read_text("utf-8")
    assert [key for key in KEYS if f"| `{key}` |" not in guide] == []


@pytest.mark.parametrize(
    ("command", "old", "new"),
    [("fuzz", "--examples", "--schedules"), ("fuzz", "--save", "--out"), ("replay", "--save", "--out")],
)
def test_the_old_name_of_an_option_works_and_is_answered_with_the_new_one(command: str, old: str, new: str) -> None:
    assert f" {old} " not in typed(command, "--help").stdout
    for words in ([old, "no-such"], [f"{old}=no-such"]):
        assert typed(command, *words, "--help").stderr.startswith(f"{old} is now called {new}: did you mean {new}?\n")
    implementation = typed("fuzz", "--schedules", "0", "--", "no-such-adapter", "--examples")
    assert "did you mean" not in implementation.stderr
