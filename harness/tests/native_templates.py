"""The templates of adapters that have to be built: copied, changed where a test wants a fault in them, and built."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

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
    """To be run in the folder."""


def build(language: str, folder: Path, changes: Mapping[str, Mapping[str, str]] | None = None) -> Built:
    """Copy the template to a new ``folder`` and build it there.

    ``changes`` has, by file, text that stands there exactly once, and what is put in its place. A test that asks for a
    language whose tools are not installed is skipped.
    """
    template = json.loads((ADAPTERS / language / "template.json").read_text("utf-8"))
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
    return Built(language, folder, tuple(template["command"]))
