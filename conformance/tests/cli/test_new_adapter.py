"""``new-adapter``, for every template there is, and what the templates do as they are."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from run_helpers import REPOSITORY
from sds_conformance.cli.new_adapter import DESCRIPTION, Template, templates, write
from suite_terminal import too_wide, typed, words

ADAPTERS = REPOSITORY / "harness" / "adapters"
TEMPLATES = templates()
PATIENCE_S = 300


def files_below(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# ---- The templates -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", TEMPLATES)
def test_a_template_names_every_file_that_is_kept_of_it(lang: str) -> None:
    if shutil.which("git") is None or not (REPOSITORY / ".git").exists():
        pytest.skip("this is not a clone: git cannot say what is kept")
    asked = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "."]
    done = subprocess.run(asked, cwd=ADAPTERS / lang, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"git says: {done.stderr.strip()[:200]}")
    assert set(done.stdout.splitlines()) == {*TEMPLATES[lang].files, DESCRIPTION}


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_what_a_template_tells_to_read_is_in_it(template: Template) -> None:
    text = (template.folder / "README.md").read_text("utf-8")
    links = re.findall(r"\]\((?!https?://)([^)#]+)", text)
    assert set(links) <= set(template.files)
    assert "sds-conformance smoke -- " in text


# ---- The command -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", TEMPLATES)
def test_it_writes_the_files_and_says_what_to_type_next(tmp_path: Path, lang: str) -> None:
    template, folder = TEMPLATES[lang], tmp_path / "deep" / "my adapter"
    result = typed("new-adapter", lang, folder)
    assert result.exit_code == 0
    kept = {name: (ADAPTERS / lang / name).read_bytes() for name in template.files}
    assert files_below(folder) == kept
    lines = [line.strip() for line in result.stdout.splitlines()]
    assert lines[1] == f"cd '{folder}'"
    assert lines[2 : 2 + len(template.build)] == list(template.build)
    assert lines[2 + len(template.build)] == f"sds-conformance smoke -- {' '.join(template.command)}"
    assert lines[-2].startswith(f"Then {folder / 'README.md'} lists")
    assert (
        Path(lines[-1].removeprefix("each step: ")).read_text("utf-8").startswith("# From a checkout to a certificate")
    )


def test_an_empty_folder_is_taken_this_one_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = typed("new-adapter", "python", ".")
    assert result.exit_code == 0
    assert set(files_below(tmp_path)) == set(TEMPLATES["python"].files)
    assert "cd " not in result.stdout


def test_2_a_folder_in_which_something_is_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("mine", "utf-8")
    result = typed("new-adapter", "python", tmp_path)
    assert result.exit_code == 2
    assert "is not empty: name a folder that does not exist yet, or an empty one" in words(result.stderr)
    assert files_below(tmp_path) == {"mine.py": b"mine"}


def test_2_an_unknown_language_is_reported_those_there_are(tmp_path: Path) -> None:
    result = typed("new-adapter", "cobol", tmp_path / "x")
    assert result.exit_code == 2
    assert all(lang in result.stderr for lang in ("'cobol'", *TEMPLATES))
    assert "in any language: `sds-conformance docs adapter` says how" in words(result.stderr)
    assert not (tmp_path / "x").exists()


def test_2_what_cannot_be_written_to_is_said_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "below", tmp_path / ("x" * 300)):
        result = typed("new-adapter", "python", place)
        assert result.exit_code == 2
        assert "Error: " in result.stderr
        assert result.stdout == ""
    assert files_below(tmp_path) == {"file": b""}


def test_the_help_says_what_each_language_needs() -> None:
    text = typed("new-adapter", "--help").stdout
    assert all(f"{lang:<11} {template.needs}" in text for lang, template in TEMPLATES.items())
    assert too_wide(text) == []


@pytest.mark.parametrize("there", [False, True])
def test_nothing_stays_of_what_was_not_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool) -> None:
    folder = tmp_path / "deep" / "er"
    if there:
        folder.mkdir(parents=True)
    opened = Path.open

    def until_full(self: Path, mode: str = "r", **more: Any) -> Any:
        if self.name == TEMPLATES["python"].files[-1] and mode == "xb":
            assert len(files_below(folder)) == len(TEMPLATES["python"].files) - 1
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return opened(self, mode, **more)

    monkeypatch.setattr(Path, "open", until_full)
    result = typed("new-adapter", "python", folder)
    assert result.exit_code == 2
    assert f"nothing was written to {folder}: No space left on device" in words(result.stderr)
    assert list(tmp_path.rglob("*")) == ([tmp_path / "deep", folder] if there else [])


# ---- What was written --------------------------------------------------------------------------------------------


def shell(folder: Path, lines: list[str]) -> subprocess.CompletedProcess[str]:
    """Run typed lines. ``sds-conformance`` is this suite."""
    programs = folder.parent / "bin"
    programs.mkdir()
    program = programs / "sds-conformance"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sds_conformance "$@"\n', "utf-8")
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    typed_lines = "\n".join(["set -e", *lines])
    return subprocess.run(
        ["sh", "-c", typed_lines], capture_output=True, text=True, timeout=PATIENCE_S, env=environment, check=False
    )


def missing_tools(template: Template) -> list[str]:
    tools = {line.split()[0] for line in template.build} | {template.command[0]}
    return sorted(tool for tool in tools if not tool.startswith("./") and shutil.which(tool) is None)


@pytest.mark.exhaustive
@pytest.mark.parametrize("lang", TEMPLATES)
def test_what_it_says_to_type_next_ends_in_a_green_smoke(tmp_path: Path, lang: str) -> None:
    if missing := missing_tools(TEMPLATES[lang]):
        pytest.skip(f"not on this machine: {', '.join(missing)}")
    folder = tmp_path / "my adapter"
    output = typed("new-adapter", lang, folder).stdout.splitlines()
    done = shell(folder, [line.strip() for line in output if line.startswith("  ")])
    assert done.returncode == 0, done.stderr
    assert "The adapter answers." in done.stdout


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The reports on the templates that run without a build; a language that is not here is left out."""
    out = {}
    for lang, template in TEMPLATES.items():
        if template.build or missing_tools(template):
            continue
        folder = tmp_path_factory.mktemp(lang) / "adapter"
        write(template, folder)
        command = [shutil.which(template.command[0]) or "", str(folder / template.command[1])]
        result = typed("run", "--json", "--", *command)
        assert result.exit_code == 0, result.stdout
        out[lang] = json.loads(result.stdout)
    return out


@pytest.mark.exhaustive
def test_the_first_report_is_honest(reports: dict[str, dict[str, Any]]) -> None:
    assert "python" in reports
    for report in reports.values():
        summary = report["summary"]
        assert report["breakdowns"] == []
        assert summary["complete"]
        assert {summary[verdict] for verdict in ("fail", "warn", "inconclusive", "error")} == {0}
        assert summary["pass"] > 60
        skipped = [row for row in report["requirements"] if row["verdict"] == "skipped"]
        assert len(skipped) > 100
        assert all(row["reason"].startswith("not declared: ") for row in skipped)
        declared = {"virtual-clock", "channels", "delivered"}
        lacking = {name for row in skipped for name in row["reason"].removeprefix("not declared: ").split(", ")}
        assert lacking & declared == set()


@pytest.mark.exhaustive
def test_the_toys_are_the_same_in_every_language(reports: dict[str, dict[str, Any]]) -> None:
    verdicts = {lang: {row["id"]: row["verdict"] for row in report["requirements"]} for lang, report in reports.items()}
    for lang, judged in verdicts.items():
        assert judged == verdicts["python"], lang
        assert reports[lang]["implementation"]["name"] == "toy-sds"
        assert reports[lang]["implementation"]["language"] == TEMPLATES[lang].language
