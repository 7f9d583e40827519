"""Hostile text in every place that commands print: names and notes in files, names of files and folders, and all output
of an implementation, also when it comes from a file."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from odd_adapters import HOSTILE
from run_helpers import broken_adapter, odd_adapter, reference_command
from sds_conformance.reports.files import JSON_LINES
from suite_terminal import controls, typed, words

LOUD = f"{HOSTILE}\n::stop-commands::x\n  ::error::x\n##[group]x \x1b[2J\x1b[32mPASS \u2066\u200f\u061c"
PATH = LOUD.replace("/", " ")
"""Possible names of a folder."""
SHORT = "\x1b[2J\u202e\n::error::x"
NIM = {"sender_id": 20, "content": 21}
FEW = ("--scenario", "nobody-answers", "--environment", "plain")


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def tame(*arguments: str | Path) -> str:
    """All that a command line prints, which does nothing but stand there."""
    result = typed(*arguments)
    text = result.stdout + result.stderr
    assert text.strip()
    assert result.exit_code != 70, text
    assert controls(text) == set()
    for line in text.splitlines():
        assert not line.lstrip().startswith("::"), line
        assert "##[" not in line
    return text


def a_schedule(**notes: str) -> dict[str, Any]:
    """One in which everything that may be is hostile, and which the reference can play."""
    return {
        "version": 1,
        "name": LOUD[:200],
        "seed": 0,
        "members": [{"name": f"{SHORT}{number}"} for number in range(2)],
        "channels": [SHORT],
        "notes": {LOUD: LOUD, "shows": LOUD, "cast": LOUD, **notes},
        "operations": [
            {"op": "send", "who": f"{SHORT}0", "label": SHORT, "content": LOUD},
            {"op": "say", "peer": f"peer {SHORT}", "label": f"x{SHORT}", "content": LOUD, "after": [SHORT]},
            {"op": "look", "who": f"{SHORT}1"},
            {"op": "calm", "rounds": 2},
        ],
    }


@pytest.mark.parametrize("options", [[], ["--json"], ["--out", "kept"]])
def test_a_schedule(options: list[str]) -> None:
    Path("schedule.json").write_text(json.dumps(a_schedule()), "utf-8")
    text = tame("replay", *options, "schedule.json", "--", *reference_command("--mutant", "starts-at-zero"))
    assert "stop-commands" in text
    if options == ["--json"]:
        assert json.loads(typed("replay", "--json", "schedule.json").stdout)["schedule"] == LOUD[:200]


def test_a_schedule_of_several_implementations() -> None:
    notes = {f"plays {SHORT}0": "ref", f"plays {SHORT}1": "ref", "cast": "mixed"}
    Path("mixed.json").write_text(json.dumps(a_schedule(**notes)), "utf-8")
    pairs = [f"ref={shlex.join(reference_command())}", f"two={shlex.join(reference_command())}"]
    tame("interop", "--replay", "mixed.json", *pairs)
    Path("other.json").write_text(json.dumps(a_schedule(**{f"plays {SHORT}0": LOUD})), "utf-8")
    tame("interop", "--replay", "other.json", *pairs)


@pytest.mark.parametrize(
    "data",
    [
        {"version": LOUD},
        {LOUD: 1},
        a_schedule() | {"operations": [{"op": LOUD}]},
        a_schedule() | {"operations": [{"op": "tick", "who": LOUD[:60]}]},
        a_schedule() | {"members": [{"name": "a"}, {"name": "a"}]},
        a_schedule(revision=LOUD),
    ],
)
def test_a_schedule_that_is_none(data: dict[str, Any]) -> None:
    Path("schedule.json").write_text(json.dumps(data), "utf-8")
    tame("replay", "schedule.json")


@pytest.mark.parametrize(
    "data",
    [
        {"dialect": LOUD, "description": LOUD, "message": NIM},
        {"dialect": LOUD, "message": {LOUD: 1}},
        {"dialect": LOUD, "message": {"content": LOUD}},
    ],
)
def test_a_dialect(data: dict[str, Any]) -> None:
    Path("own.json").write_text(json.dumps(data), "utf-8")
    tame("run", "--dialect", "own.json", *FEW, "--", *reference_command())


def test_names_of_files_and_folders_that_are_there() -> None:
    for name in (PATH, f"{PATH}.json", f"{PATH}.jsonl"):
        Path(name).mkdir()
    Path(PATH, "sds").mkdir()
    for arguments in (
        ["report", PATH],
        ["compare", PATH, PATH],
        ["certificate", "show", PATH],
        ["certificate", "write", PATH],
        ["baseline", "write", "new.yaml", PATH],
        ["vectors", "lint", PATH],
        ["vectors", "export", PATH],
        ["vectors", "run", "--vectors", PATH, "--", *reference_command()],
        ["replay", f"{PATH}.json"],
        ["explain", f"{PATH}.jsonl"],
        ["new-adapter", "python", PATH],
    ):
        tame(*arguments)


def test_names_of_files_and_folders_that_are_not_there() -> None:
    for arguments in (
        ["report", PATH],
        ["report", PATH, "--html", f"{PATH}/below/x"],
        ["compare", PATH, PATH],
        ["certificate", "show", PATH],
        ["baseline", "check", PATH, PATH],
        ["replay", PATH],
        ["explain", PATH],
        ["run", "--since", PATH],
        ["run", "--baseline", PATH],
        ["run", "--dialect", f"{PATH}.json"],
        ["run", "--transcript", f"{PATH}/below/x"],
        ["run", "--grpc", "127.0.0.1:1", "--grpc-ca", PATH],
        ["run", "--grpc", PATH],
        ["vectors", "run", "--vectors", PATH],
        ["vectors", "run", "--group", LOUD],
        ["run", "--select", LOUD],
        ["requirements", LOUD],
        ["run", "--", LOUD.replace("\0", "")],
        [LOUD],
        ["run", f"--{LOUD}"],
    ):
        tame(*arguments)


def test_what_a_run_writes_to_a_folder_with_such_a_name() -> None:
    command = odd_adapter("presents-itself-in-colour")
    tame("run", *FEW, "--report", PATH, "--transcript", f"{PATH}.jsonl", "--html", f"{PATH}.html", "--", *command)
    tame("explain", f"{PATH}.jsonl")
    tame("compare", PATH, PATH)
    tame("certificate", "write", PATH, "--out", f"{PATH}.cert")
    tame("certificate", "show", f"{PATH}.cert")


def _loud(data: Any) -> Any:
    """The same with a hostile end of every text that says something."""
    if isinstance(data, dict):
        return {key: value if key in KEPT else _loud(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_loud(value) for value in data]
    return f"{data} {LOUD}" if isinstance(data, str) else data


KEPT = {"schema", "type", "revision", "profile", "verdict", "severity", "id", "requirement", "framing", "started"}
"""Fields with few allowed values; a report with others is refused at once."""


def test_a_report_that_somebody_forged() -> None:
    tame("run", *FEW, "--report", "out", "--", *reference_command("--mutant", "starts-at-zero"))
    lines = [_loud(json.loads(line)) for line in Path("out", JSON_LINES).read_text("utf-8").splitlines()]
    Path("out", JSON_LINES).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    for arguments in (
        ["report", "out"],
        ["report", "out", "--json"],
        ["compare", "out", "out", "--all", "--ways"],
        ["baseline", "write", "known.yaml", "out"],
        ["certificate", "write", "out"],
        ["run", *FEW, "--since", "out", "--", *reference_command()],
    ):
        tame(*arguments)


IN_COLOUR = ("refuses-in-colour", "names-messages-in-colour", "refuses-to-open-in-colour", "presents-itself-in-colour")
RARELY = ("greets-in-colour", "declares-a-dialect-in-colour", "supports-nothing-in-colour", "fails-in-colour")


@pytest.mark.parametrize(
    "name", [*IN_COLOUR[:2], *(pytest.param(n, marks=pytest.mark.exhaustive) for n in (*IN_COLOUR[2:], *RARELY))]
)
def test_what_an_implementation_says(name: str) -> None:
    run = ("run", "--scenario", "every-kind-*", "--environment", "plain")
    tame(*run, "--", *odd_adapter(name))
    tame(*run, "--select", "SDS-RECV-07", "--json", "--", *odd_adapter(name))
    tame("smoke", "--", *odd_adapter(name))


@pytest.mark.parametrize("name", ["crashes-in-colour", "has-a-hostile-name", "answers-garbage"])
@pytest.mark.exhaustive
def test_what_a_broken_implementation_says(name: str) -> None:
    tame("run", *FEW, "--", *broken_adapter(name))


def test_ids_of_a_megabyte_neither_break_the_story_nor_fill_it() -> None:
    text = tame("run", "--scenario", "named-*", *FEW[2:], "--", *odd_adapter("names-messages-at-length"))
    assert "does not conform" in words(text)
    assert len(text) < 100_000


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [*IN_COLOUR, "fails-in-colour"])
def test_what_an_implementation_says_everywhere_else(name: str) -> None:
    command = odd_adapter(name)
    tame("fuzz", "--schedules", "4", "--jobs", "1", "--", *command)
    tame("vectors", "run", "--group", "lamport*", "--", *command)
    tame("interop", "--schedules", "2", f"ref={shlex.join(reference_command())}", f"odd={shlex.join(command)}")


def test_stderr_is_printed_line_by_line_as_that_of_another() -> None:
    text = tame("run", *FEW, "--transcript", "talk.jsonl", "--", *broken_adapter("orders-the-ci-about"))
    assert "  stderr    | ::stop-commands::x\n" in text
    assert "            |   ::error file=a::x\n" in text
    assert "            |   ::error file=a::x\n" in tame("explain", "talk.jsonl")


def test_the_only_orders_to_the_ci_are_ours() -> None:
    text = typed("run", *FEW, "--annotations", "--", *broken_adapter("orders-the-ci-about")).stdout
    orders = [line for line in text.splitlines() if line.startswith("::")]
    assert orders
    assert all(line.startswith(("::error title=", "::warning title=", "::notice title=")) for line in orders)
