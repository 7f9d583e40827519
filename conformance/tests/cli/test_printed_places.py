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
from suite_terminal import controls, typed

LOUD = f"{HOSTILE}\n::stop-commands::x\n  ::error::x\n##[group]x \x1b[2J\x1b[32mPASS \u2066\u200f\u061c"
PATH = LOUD.replace("/", " ")
"""Possible names of a folder."""
SHORT = "\x1b[2J\u202e\n::error::x"
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


@pytest.mark.parametrize(
    "data",
    [
        {"version": LOUD},
        {LOUD: 1},
        a_schedule() | {"operations": [{"op": LOUD}]},
        a_schedule() | {"operations": [{"op": "tick", "who": LOUD[:60]}]},
        a_schedule(revision=LOUD),
        a_schedule(cast="mixed", **{f"plays {SHORT}0": LOUD}),
        a_schedule(cast="mixed", **{f"plays {SHORT}{number}": "ref" for number in range(2)}),
        {"dialect": LOUD, "message": {LOUD: 1}},
        {"dialect": LOUD, "description": LOUD, "message": {"sender_id": 20, "content": 21}},
    ],
)
def test_a_file(data: dict[str, Any]) -> None:
    """A schedule or a dialect, or neither."""
    Path("own.json").write_text(json.dumps(data), "utf-8")
    tame("replay", "own.json")
    tame("interop", "--replay", "own.json", REF, f"two={shlex.join(reference_command())}")
    tame("run", "--dialect", "own.json", *FEW, "--", *reference_command())


REF = f"ref={shlex.join(reference_command())}"
READING = [
    ["report", PATH],
    ["compare", PATH, PATH],
    ["certificate", "show", PATH],
    ["certificate", "write", PATH],
    ["baseline", "write", "new.yaml", PATH],
    ["vectors", "lint", PATH],
    ["vectors", "export", PATH],
    ["vectors", "run", "--vectors", PATH],
    ["replay", f"{PATH}.json"],
    ["explain", f"{PATH}.jsonl"],
    ["new-adapter", "python", PATH],
    ["run", "--since", PATH],
    ["run", "--baseline", PATH],
    ["run", "--grpc", "127.0.0.1:1", "--grpc-ca", PATH],
]
NAMING = [
    ["report", PATH, "--html", f"{PATH}/below/x"],
    ["run", "--dialect", f"{PATH}.json"],
    ["run", "--transcript", f"{PATH}/below/x"],
    ["run", "--grpc", PATH],
    ["vectors", "run", "--group", LOUD],
    ["run", "--select", LOUD],
    ["requirements", LOUD],
    ["run", "--", LOUD.replace("\0", "")],
    [LOUD],
    ["run", f"--{LOUD}"],
]


@pytest.mark.parametrize("there", [False, True])
def test_names_of_files_and_folders(there: bool) -> None:
    if there:
        for name in (f"{PATH}/sds", f"{PATH}.json", f"{PATH}.jsonl"):
            Path(name).mkdir(parents=True)
    for arguments in READING if there else [*READING[:6], *READING[7:10], *READING[11:], *NAMING]:
        tame(*arguments)


IN_COLOUR = ("refuses-in-colour", "names-messages-in-colour")
RARELY = (
    *("refuses-to-open-in-colour", "presents-itself-in-colour", "greets-in-colour", "declares-a-dialect-in-colour"),
    *("supports-nothing-in-colour", "fails-in-colour"),
)


@pytest.mark.parametrize("name", [*IN_COLOUR, *(pytest.param(name, marks=pytest.mark.exhaustive) for name in RARELY)])
def test_what_an_implementation_says(name: str) -> None:
    command = odd_adapter(name)
    run = ("run", "--scenario", "every-kind-*", "--environment", "plain")
    tame(*run, "--", *command)
    tame(*run, "--select", "SDS-RECV-07", "--json", "--", *command)
    tame("smoke", "--", *command)
    tame("fuzz", "--schedules", "4", "--jobs", "1", "--", *command)
    tame("vectors", "run", "--group", "lamport*", "--", *command)
    tame("interop", "--schedules", "2", REF, f"odd={shlex.join(command)}")


def test_the_only_orders_to_the_ci_are_ours() -> None:
    text = typed("run", *FEW, "--annotations", "--", *broken_adapter("orders-the-ci-about")).stdout
    orders = [line for line in text.splitlines() if line.startswith("::")]
    assert orders
    assert all(line.startswith(("::error title=", "::warning title=", "::notice title=")) for line in orders)
