"""Copies the templates of adapters in compiled languages, adds the faults that a test needs, and builds them."""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ADAPTERS = Path(__file__).parents[1] / "adapters"

LANGUAGES = ("go", "rust", "java", "c", "nim")

BUILD_LIMIT_S = 300


@dataclass(frozen=True)
class Built:
    """A template that was built."""

    language: str
    folder: Path
    command: tuple[str, ...]
    """The command of the adapter, to be run in ``folder``."""


def build_once(
    factory: pytest.TempPathFactory, language: str, changes: Mapping[str, Mapping[str, str]] | None = None
) -> Built:
    """Copy a template, change it and build it, once for all the processes that pytest-xdist divides the tests among.

    ``changes`` has, by file, text that occurs there exactly once, and its replacement. A test that asks for a language
    whose tools are not installed is skipped.
    """
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder = base / ("changed" if changes else "as they come") / language
    folder.parent.mkdir(exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = folder.with_suffix(".made")
        if not made.exists():
            _build(language, folder, changes)
            made.touch()
    return Built(language, folder, tuple(_template(language)["command"]))


def _build(language: str, folder: Path, changes: Mapping[str, Mapping[str, str]] | None) -> None:
    template = _template(language)
    for line in template["build"]:
        tool = shlex.split(line)[0]
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed: {template['language']} wants {template['needs']}")
    for name in template["files"]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ADAPTERS / language / name, folder / name)
    for name, replacements in (changes or {}).items():
        text = (folder / name).read_text("utf-8")
        for old, new in replacements.items():
            assert text.count(old) == 1, f"{name} of {language} has {text.count(old)} times {old!r}"
            text = text.replace(old, new)
        (folder / name).write_text(text, "utf-8")
    for line in template["build"]:
        done = subprocess.run(line, shell=True, cwd=folder, capture_output=True, text=True, timeout=BUILD_LIMIT_S)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"


def _template(language: str) -> dict[str, Any]:
    out: dict[str, Any] = json.loads((ADAPTERS / language / "template.json").read_text("utf-8"))
    return out
