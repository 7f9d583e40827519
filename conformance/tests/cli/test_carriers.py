"""The same implementation over each carrier: the same verdicts, and the same command line to see a finding again."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from run_helpers import reference_command
from suite_terminal import SOME, typed

RUNNING = "running"
CARRIERS = {
    "binary": ("--framing", "binary"),
    "grpc": ("--grpc", "auto"),
    "grpc-tcp": ("--grpc", "127.0.0.1:0"),
    "grpc-running": (RUNNING,),
}
"""Options of each, JSON lines apart."""
IMPLEMENTATIONS = {
    "reference": (),
    "mutant": ("--mutant", "lamport-without-clock"),
    "little-declared": ("--without", "observe", "--without", "sds-r", "--without", "virtual-clock"),
}
WHERE = ("--environment", "plain", "--environment", "all-scripts", *SOME)


@contextlib.contextmanager
def running(command: Sequence[str]) -> Iterator[str]:
    """The address of a server that runs already. It may not listen yet: it is waited for."""
    with tempfile.TemporaryDirectory() as folder:
        address = f"unix:{folder}/s"
        server = subprocess.Popen([*command, "--grpc", address])
        try:
            yield address
        finally:
            server.terminate()
            assert server.wait(10) == 0


def report(carrier: Sequence[str], command: Sequence[str]) -> dict[str, Any]:
    """The results over a transport, without the parts that must differ."""
    if RUNNING in carrier:
        with running(command) as address:
            result = typed("run", "--json", *WHERE, "--grpc", address)
    else:
        result = typed("run", "--json", *WHERE, *carrier, "--", *command)
    found: dict[str, Any] = json.loads(result.stdout)
    found["exit_code"] = result.exit_code
    del found["framing"], found["options"], found["implementation"]["command"], found["started"]
    for cause in found["causes"]:
        del cause["again"]
    for requirement in found["requirements"]:
        for finding in requirement["findings"]:
            del finding["again"]
    return found


@pytest.fixture(scope="module")
def over_json() -> dict[str, dict[str, Any]]:
    return {}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", IMPLEMENTATIONS)
@pytest.mark.parametrize("carrier", CARRIERS)
def test_the_verdicts_are_the_same_over_each_carrier(
    name: str, carrier: str, over_json: dict[str, dict[str, Any]]
) -> None:
    command = reference_command(*IMPLEMENTATIONS[name])
    if name not in over_json:
        over_json[name] = report((), command)
    expected = over_json[name]
    assert expected["summary"]["runs"] > 20
    assert expected["exit_code"] == (name == "mutant")
    assert report(CARRIERS[carrier], command) == expected
