"""Runs the steps of ``action.yml`` as a runner of GitHub does. Has only the features that the action uses.

The steps that are scripts are run, with the environment and the files that a runner gives them; of other actions it is
kept with what they were called.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from run_helpers import REPOSITORY

ACTION = REPOSITORY / "action.yml"
INSTALLED = Path(sys.executable).parent
"""Where the suite that is tested stands."""
_EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")
_CONDITION = re.compile(r"(?:always\(\))?(?: && )?(?:([\w.-]+) != '')?")
_COMMAND = re.compile(r"\s*::([\w-]+)(?: ([^:]*))?::(.*)")


def load(path: Path) -> Any:
    """A YAML file as plain data."""
    return YAML(typ="safe", pure=True).load(path.read_text("utf-8"))


@dataclass
class Done:
    """The result of a job with one step, the action."""

    folder: Path
    """Where it ran."""
    failed: bool = False
    outputs: dict[str, str] = field(default_factory=dict)
    summary: str = ""
    commands: list[tuple[str, str, str]] = field(default_factory=list)
    """Commands to the runner in the log: command, properties, message."""
    used: dict[str, dict[str, str]] = field(default_factory=dict)
    """Other actions, with what they were called with."""
    log: str = ""

    @property
    def report(self) -> Path:
        return Path(self.outputs["report"])


def act(folder: Path, *, install: bool = False, until: str = "", **inputs: str) -> Done:
    """Run the action in a folder, up to a step; without ``install`` with the suite that is there.

    Inputs have ``_`` for ``-``.
    """
    action, done = load(ACTION), Done(folder)
    given = {name.replace("_", "-"): value for name, value in inputs.items()}
    assert given.keys() <= action["inputs"].keys()
    known = {f"inputs.{name}": given.get(name, declared["default"]) for name, declared in action["inputs"].items()}
    known |= {"github.action_path": str(REPOSITORY), "runner.os": "Linux", "runner.arch": "X64"}
    (folder / "temp").mkdir(exist_ok=True)
    for step in action["runs"]["steps"]:
        if not _wanted(str(step.get("if", "")), done.failed, known):
            continue
        if until and step.get("id") == until:
            break
        name = f"steps.{step['id']}.outputs" if "id" in step else ""
        if "uses" in step:
            done.used[step["uses"]] = {key: _filled(str(what), known) for key, what in step.get("with", {}).items()}
            known[f"{name}.python-path"] = sys.executable
        elif step.get("id") == "install" and not install:
            known[f"{name}.bin"] = str(INSTALLED)
        else:
            outputs = _run(step, folder, done, known)
            known |= {f"{name}.{key}": what for key, what in outputs.items()}
    done.outputs = {key: _filled(what["value"], known) for key, what in action["outputs"].items()}
    return done


def _wanted(condition: str, failed: bool, known: dict[str, str]) -> bool:
    found = _CONDITION.fullmatch(condition)
    assert found, condition
    return ("always()" in condition or not failed) and (found[1] is None or known.get(found[1], "") != "")


def _filled(text: str, known: dict[str, str]) -> str:
    """Unknown values are empty, as on GitHub."""
    return _EXPRESSION.sub(lambda found: known.get(found[1], ""), text)


def _run(step: dict[str, Any], folder: Path, done: Done, known: dict[str, str]) -> dict[str, str]:
    script, output, summary = (folder / "temp" / name for name in ("script.sh", "output", "summary"))
    script.write_text(_filled(step["run"], known), "utf-8")
    output.write_text("")
    summary.write_text("")
    runner = {
        "GITHUB_OUTPUT": str(output),
        "GITHUB_STEP_SUMMARY": str(summary),
        "GITHUB_WORKSPACE": str(folder),
        "RUNNER_TEMP": str(folder / "temp"),
    }
    said = {key: _filled(str(what), known) for key, what in step.get("env", {}).items()}
    ended = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
        cwd=folder,
        env={**os.environ, **runner, **said},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    done.log += ended.stdout
    done.commands += obeyed(ended.stdout)
    done.summary += summary.read_text("utf-8")
    done.failed |= ended.returncode != 0
    return dict(line.split("=", 1) for line in output.read_text("utf-8").splitlines())


def obeyed(log: str) -> list[tuple[str, str, str]]:
    """The commands in a log that a runner obeys: none between ``stop-commands`` and the line with its token."""
    out, token = [], ""
    for line in log.splitlines():
        found = _COMMAND.match(line)
        if token:
            token = "" if line.strip() == f"::{token}::" else token
        elif found and found[1] == "stop-commands":
            token = found[3]
        elif found:
            out.append((found[1], found[2] or "", found[3]))
    return out
