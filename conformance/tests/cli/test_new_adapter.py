"""``new-adapter``, for every template there is, and what the templates do as they are."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from native_templates import LANGUAGES, build_once
from run_helpers import REPOSITORY
from sds_conformance.cli.docs import PAGES
from sds_conformance.cli.new_adapter import Template, templates, write
from suite_terminal import typed, words

ADAPTERS = REPOSITORY / "harness" / "adapters"
TEMPLATES = templates()


def files_below(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# ---- The command -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", TEMPLATES)
def test_it_writes_the_files_and_says_what_to_type_next(tmp_path: Path, lang: str) -> None:
    template, folder = TEMPLATES[lang], tmp_path / "deep" / "my adapter"
    result = typed("new-adapter", lang, folder)
    assert result.exit_code == 0
    assert files_below(folder) == {name: (ADAPTERS / lang / name).read_bytes() for name in template.files}
    lines = [line.strip() for line in result.stdout.splitlines()]
    smoke = f"sds-conformance smoke -- {' '.join(template.command)}"
    assert lines[1 : 3 + len(template.build)] == [f"cd '{folder}'", *template.build, smoke]
    assert lines[-2].startswith(f"Then {folder / 'README.md'} lists")
    assert Path(lines[-1].removeprefix("each step: ")).read_text("utf-8").startswith("# From a checkout to a cert")
    assert f"{lang:<11} {template.needs}" in typed("new-adapter", "--help").stdout


def test_2_a_folder_in_which_something_is_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("mine", "utf-8")
    result = typed("new-adapter", "python", tmp_path)
    assert result.exit_code == 2
    assert "is not empty: name a new or an empty folder" in words(result.stderr)
    assert files_below(tmp_path) == {"mine.py": b"mine"}


def test_2_an_unknown_language_is_reported_those_there_are(tmp_path: Path) -> None:
    result = typed("new-adapter", "cobol", tmp_path / "x")
    assert result.exit_code == 2
    assert all(lang in result.stderr for lang in ("'cobol'", *TEMPLATES))
    assert "in any language: `sds-conformance docs adapter` describes how" in words(result.stderr)
    assert not (tmp_path / "x").exists()


def test_2_only_python_has_a_grpc_server(tmp_path: Path) -> None:
    assert "smoke --grpc auto -- python3 server.py" in typed("new-adapter", "python", tmp_path / "x", "--grpc").stdout
    assert (tmp_path / "x" / "testee.proto").read_bytes() == PAGES["proto"].file.read_bytes()
    assert "describes how to generate code" in words(typed("new-adapter", "go", tmp_path / "y", "--grpc").stderr)


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
    command = ["sh", "-c", "\n".join(["set -e", *lines])]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, check=False)


def missing_tools(template: Template) -> list[str]:
    tools = {line.split()[0] for line in template.build} | {template.command[0]}
    return sorted(tool for tool in tools if not tool.startswith("./") and shutil.which(tool) is None)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("lang", "options"), [*((lang, ()) for lang in TEMPLATES), ("python", ("--grpc",))])
def test_what_it_says_to_type_next_ends_in_a_green_smoke(tmp_path: Path, lang: str, options: tuple[str, ...]) -> None:
    if missing := missing_tools(TEMPLATES[lang]):
        pytest.skip(f"not on this machine: {', '.join(missing)}")
    output = typed("new-adapter", lang, tmp_path / "my adapter", *options).stdout.splitlines()
    done = shell(tmp_path / "my adapter", [line.strip() for line in output if line.startswith("  ")])
    assert done.returncode == 0, done.stderr
    assert "The adapter answers." in done.stdout


@pytest.mark.exhaustive
def test_the_toys_have_the_same_honest_report(tmp_path: Path) -> None:
    """Of the templates that run without a build; a language that is not here is left out."""
    verdicts = {}
    for lang, template in TEMPLATES.items():
        if template.build or missing_tools(template):
            continue
        write(template, tmp_path / lang)
        command = [shutil.which(template.command[0]) or "", str(tmp_path / lang / template.command[1])]
        result = typed("run", "--json", "--", *command)
        assert result.exit_code == 0, result.stdout
        report = json.loads(result.stdout)
        rows, name = report["requirements"], report["implementation"]["name"]
        assert (name, report["breakdowns"], report["summary"]["complete"]) == ("toy-sds", [], True)
        assert all(row["reason"].startswith("not declared: ") for row in rows if row["verdict"] == "skipped")
        verdicts[lang] = {row["id"]: row["verdict"] for row in rows}
    assert Counter(verdicts["python"].values()) == {"pass": 68, "skipped": 102}
    assert all(judged == verdicts["python"] for judged in verdicts.values())


@pytest.mark.exhaustive
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_first_report_of_a_template_that_is_built_is_the_same(
    language: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = build_once(tmp_path_factory, language)
    monkeypatch.chdir(built.folder)
    where = [] if language == "go" else ["--environment", "plain"]
    result = typed("run", "--json", *where, "--", *built.command)
    assert result.exit_code == 0, result.output
    report = json.loads(result.output)
    assert Counter(row["verdict"] for row in report["requirements"]) == {"pass": 68, "skipped": 102}
    assert report["summary"]["complete"]
