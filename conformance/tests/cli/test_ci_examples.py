"""What docs/ci.md tells people to copy is valid, and its commands do what it says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from check_jsonschema.builtin_schemas import get_builtin_schema
from jsonschema import Draft7Validator
from ruamel.yaml import YAML

from action_runner import ACTION, INSTALLED, load
from run_helpers import REPOSITORY, reference_command
from sds_conformance.judging.exits import Exit
from suite_terminal import typed

PAGE = (REPOSITORY / "docs" / "ci.md").read_text("utf-8")
SHORT = ["--environment", "plain", "--scenario", "named-*", "--scenario", "every-kind-of-message"]
BLOCKS = dict(re.findall(r"```(?:yaml|sh)\n(?:#!/bin/sh\n)?# ([\w./-]+)[^\n]*\n(.*?)```", PAGE, re.DOTALL))
"""The examples to copy, by file."""
WORKFLOWS = [name for name in BLOCKS if name.startswith(".github/workflows/")]


def parsed(name: str) -> Any:
    return YAML(typ="safe", pure=True).load(BLOCKS[name])


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with an adapter that conforms, and a baseline without a failure in it."""
    adapter = tmp_path / "my-adapter"
    adapter.write_text(f"#!/bin/sh\nexec {shlex.join(reference_command())}\n", "utf-8")
    adapter.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert typed("run", "--report", "first", *SHORT, "--", "./my-adapter").exit_code == 0
    assert typed("baseline", "write", "sds-baseline.yaml", "first").exit_code == 0
    return tmp_path


def shortened(command: str) -> list[str]:
    """The words of a `run` command, with a few scenarios only."""
    program, run, *rest = shlex.split(command)
    assert (program, run) == ("sds-conformance", "run")
    return [run, *SHORT, *rest]


@pytest.mark.parametrize(
    ("name", "schema"),
    [*((name, "vendor.github-workflows") for name in WORKFLOWS), (".gitlab-ci.yml", "vendor.gitlab-ci")],
)
def test_it_is_valid(name: str, schema: str) -> None:
    assert len(WORKFLOWS) == 2
    errors = Draft7Validator(get_builtin_schema(schema)).iter_errors(parsed(name))
    assert [error.message for error in errors] == []


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_gives_the_action_what_it_knows(name: str) -> None:
    action = load(ACTION)
    for job in parsed(name)["jobs"].values():
        (step,) = (step for step in job["steps"] if "sds-conformance" in step.get("uses", ""))
        assert step["with"].keys() <= action["inputs"].keys()
        used = re.findall(r"steps\.sds\.outputs\.([\w-]+)", str(job))
        assert set(used) <= action["outputs"].keys()


def test_all_inputs_outputs_and_exit_codes_are_reported() -> None:
    action = load(ACTION)
    for name in [*action["inputs"], *action["outputs"]]:
        assert f"`{name}`" in PAGE, name
    for name, declared in action["inputs"].items():
        assert declared["default"] in ("", "false", "sds-conformance"), name
    output = [code for row in re.findall(r"^\| ([\d, ]+) \|", PAGE, re.MULTILINE) for code in row.split(", ")]
    assert sorted(map(int, output)) == sorted(code.value for code in Exit)


def test_the_job_of_gitlab_and_the_hook_leave_what_they_promise(project: Path) -> None:
    job = parsed(".gitlab-ci.yml")["sds-conformance"]
    install, prepare, judge = job["script"]
    assert install == "pip install sds-conformance"
    subprocess.run(["sh", "-c", prepare], check=True)
    assert typed(*shortened(judge)).exit_code == 0
    assert (project / job["artifacts"]["reports"]["junit"]).is_file()
    assert (project / "sds-report" / "index.html").is_file()
    (hook,) = parsed(".pre-commit-config.yaml")["repos"][0]["hooks"]
    assert typed(*shortened(hook["entry"].replace("--environment plain ", ""))).exit_code == 0


@pytest.mark.exhaustive
def test_the_script_runs_and_tells_how_it_went(project: Path) -> None:
    script = project / "sds.sh"
    script.write_text(BLOCKS["sds.sh"], "utf-8")
    env = {**os.environ, "PATH": f"{INSTALLED}{os.pathsep}{os.environ['PATH']}"}

    def ended() -> subprocess.CompletedProcess[str]:
        return subprocess.run(["sh", str(script), *SHORT], env=env, capture_output=True, text=True, check=False)

    well = ended()
    assert well.returncode == 0, well.stderr
    assert well.stdout.endswith("It may be merged.\n")
    written = {path.name for path in (project / "sds-report").iterdir()}
    assert {"index.html", "junit.xml", "summary.md", "badge.svg", "report.jsonl"} <= written
    (project / "my-adapter").write_text("#!/bin/sh\nexit 1\n")
    badly = ended()
    assert badly.returncode == 3
    assert "smoke -- ./my-adapter" in badly.stdout
