"""The GitHub Action: its steps are run as a runner does, against implementations that pass, fail, lie and attack."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from check_jsonschema.builtin_schemas import get_builtin_schema
from jsonschema import Draft7Validator

from action_runner import ACTION, INSTALLED, Done, act, load
from process_waiting import lives, wait_for
from run_helpers import REPOSITORY, odd_adapter, reference_command
from sds_conformance.reports.files import read_report

SHORT = "--environment plain --scenario 'named-*' --scenario every-kind-of-message"
MUTANT = shlex.join(reference_command("--mutant", "sends-after-each-reception"))
SCRIPT = REPOSITORY / "action" / "run.sh"


def test_it_is_an_action_and_no_input_is_part_of_a_script() -> None:
    action = load(ACTION)
    errors = Draft7Validator(get_builtin_schema("vendor.github-actions")).iter_errors(action)
    assert [error.message for error in errors] == []
    text = ACTION.read_text("utf-8")
    for name in action["inputs"]:
        assert f"inputs.{name} }}}}" in text, name
    for step in action["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
        assert ("shell" in step) == ("run" in step)


def test_the_script_is_one_that_every_shell_can_read() -> None:
    assert SCRIPT.stat().st_mode & 0o111
    subprocess.run(["bash", "-n", str(SCRIPT)], check=True)
    if (linter := shutil.which("shellcheck")) is not None:
        subprocess.run([linter, str(SCRIPT)], check=True)
    wrong = subprocess.run(["bash", str(SCRIPT), "sing"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "usage: run.sh" in wrong.stderr


def test_what_conforms_passes_with_all_reports(tmp_path: Path) -> None:
    done = act(tmp_path, args=SHORT)
    assert not done.failed, done.log
    assert (done.outputs["exit-code"], done.outputs["verdict"]) == ("0", "conformant")
    written = {path.name for path in done.report.iterdir() if path.is_file()}
    assert written == {
        "report.json",
        "report.jsonl",
        "report.html",
        "junit.xml",
        "summary.md",
        "badge.svg",
        "report.sarif",
    }
    assert done.summary == (done.report / "summary.md").read_text("utf-8")
    assert done.used["actions/upload-artifact@v4"]["path"] == str(done.report)
    assert done.used["actions/upload-artifact@v4"]["name"] == "sds-conformance"
    assert {command for command, *_ in done.commands} == {"notice"} or {c for c, *_ in done.commands} == {"warning"}


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """The result of a job that judged a mutant."""
    return act(tmp_path_factory.mktemp("failing"), command=MUTANT, args=SHORT, report_name="mine")


def test_what_fails_stops_the_job_after_all_was_kept(failing: Done) -> None:
    assert failing.failed
    assert (failing.outputs["exit-code"], failing.outputs["verdict"]) == ("1", "failed")
    assert failing.used["actions/upload-artifact@v4"]["name"] == "mine"
    root = read_report(failing.report).data["causes"][0]
    assert any(command == "error" and root["requirement"] in properties for command, properties, _ in failing.commands)
    assert root["again"] in failing.summary


@pytest.mark.exhaustive
def test_a_command_is_words_and_no_script(tmp_path: Path) -> None:
    command = (
        "no-such-program touch hacked; touch hacked && $(touch hacked) `touch hacked` * $HOME | tee hacked > hacked"
    )
    done = act(tmp_path, command=command, args=SHORT)
    assert done.failed
    assert done.outputs["verdict"] == "not-driven"
    assert not (tmp_path / "hacked").exists()
    assert read_report(done.report).data["implementation"]["command"] == shlex.split(command)


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"command": "an 'open quote"}, "The input command is not a command line"),
        ({"revision": "no-such"}, "no-such"),
        ({"baseline": "not-there.yaml"}, "not-there.yaml"),
    ],
)
def test_wrong_use_stops_it_with_the_reason(tmp_path: Path, inputs: dict[str, str], said: str) -> None:
    done = act(tmp_path, until="", install=False, **inputs)
    assert done.failed
    assert said in done.log
    assert (done.outputs["exit-code"], done.outputs["verdict"]) == ("2", "not-judged")
    assert done.summary == ""


@pytest.mark.exhaustive
def test_an_implementation_gives_the_runner_no_commands(tmp_path: Path) -> None:
    name = "::error::owned\n::set-output name=verdict::owned"
    done = act(tmp_path, command=shlex.join(odd_adapter(name)), args=SHORT)
    assert ":error::owned" in done.log
    assert "\n::error::owned" not in done.log
    assert [command for command in done.commands if "owned" in command[2][:5] or command[0] == "set-output"] == []
    assert done.outputs["verdict"] == "conformant"


def test_a_version_is_a_version(tmp_path: Path) -> None:
    done = act(tmp_path, install=True, version="1; touch hacked")
    assert done.failed
    assert "The input version is no version" in done.log
    assert not (tmp_path / "hacked").exists()
    assert "report" not in done.used.get("actions/upload-artifact@v4", {})


@pytest.mark.exhaustive
def test_it_installs_the_suite_that_it_came_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_COMPILE", "0")  # it is used once
    done = act(tmp_path, install=True, args=SHORT)
    assert done.outputs["verdict"] == "conformant", done.log
    assert (tmp_path / "temp" / "sds-conformance.venv" / "bin" / "sds-conformance").exists()


def test_a_job_that_is_cancelled_is_interrupted_and_leaves_no_process(tmp_path: Path) -> None:
    pids, output, summary = (tmp_path / name for name in ("pids", "output", "summary"))
    inputs = {f"SDS_{name}": "" for name in ("REVISION", "PROFILE", "BASELINE", "STRICT", "ARGS")}
    step = subprocess.Popen(
        ["bash", str(SCRIPT), "judge"],
        env={
            **os.environ,
            **inputs,
            "SDS_BIN": str(INSTALLED),
            "SDS_COMMAND": shlex.join(odd_adapter("slow", "0.02", str(pids))),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(summary),
            "RUNNER_TEMP": str(tmp_path),
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # A shell starts its background jobs with SIGINT ignored, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert wait_for(lambda: pids.exists() and len(pids.read_text().split()) > 20)
    step.send_signal(signal.SIGTERM)
    assert step.wait(60) == 0
    outputs = dict(line.split("=", 1) for line in output.read_text("utf-8").splitlines())
    assert (outputs["exit-code"], outputs["verdict"]) == ("143", "interrupted")
    assert (Path(outputs["report"]) / "report.json").is_file()
    assert not any(lives(int(pid)) for pid in set(pids.read_text().split()))
