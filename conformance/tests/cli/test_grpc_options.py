"""The same verdicts over each carrier; ``--grpc`` and its options, and a suite without gRPC."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme

from run_helpers import reference_command
from suite_terminal import SOME, typed, words

RUNNING = "running"
CARRIERS = {
    "binary": ("--framing", "binary"),
    "grpc": ("--grpc", "auto"),
    "grpc-tcp": ("--grpc", "127.0.0.1:0"),
    "grpc-running": (RUNNING,),
}
"""Options of each, JSON lines apart."""
IMPLEMENTATIONS = {
    "reference": reference_command(),
    "mutant": reference_command("--mutant", "lamport-without-clock"),
    "little-declared": reference_command("--without", "observe", "--without", "sds-r", "--without", "virtual-clock"),
}


@contextmanager
def running(command: Sequence[str]) -> Iterator[str]:
    """The address of a server that runs already. It may not listen yet: it is waited for."""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen([*command, "--grpc", f"unix:{folder}/s"])
        try:
            yield f"unix:{folder}/s"
        finally:
            process.terminate()
            assert process.wait(10) == 0


@pytest.fixture
def server() -> Iterator[str]:
    """The address of a server that runs already, with a fault."""
    with running(IMPLEMENTATIONS["mutant"]) as address:
        yield address


# ---- The same over each carrier --------------------------------------------------------------------------------------


def report(carrier: Sequence[str], command: Sequence[str]) -> dict[str, Any]:
    """The results over a transport, without the parts that must differ."""
    where = ("--environment", "plain", "--environment", "all-scripts", *SOME)
    if RUNNING in carrier:
        with running(command) as address:
            result = typed("run", "--json", *where, "--grpc", address)
    else:
        result = typed("run", "--json", *where, *carrier, "--", *command)
    found: dict[str, Any] = json.loads(result.stdout) | {"exit_code": result.exit_code}
    del found["framing"], found["options"], found["implementation"]["command"], found["started"]
    for finding in (*found["causes"], *(each for row in found["requirements"] for each in row["findings"])):
        del finding["again"]
    return found


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_the_verdicts_are_the_same_over_each_carrier(name: str) -> None:
    command = IMPLEMENTATIONS[name]
    expected = report((), command)
    assert expected["summary"]["runs"] > 20
    assert expected["exit_code"] == (name == "mutant")
    for carrier, options in CARRIERS.items():
        assert report(options, command) == expected, carrier


# ---- Options ---------------------------------------------------------------------------------------------------------


def test_environments_that_need_a_process_of_their_own_are_skipped_on_a_running_server(server: str) -> None:
    result = typed("run", "--grpc", server, "--scenario", "every-kind-*")
    assert result.exit_code == 1
    text = words(result.stdout)
    for environment in ("turkish", "posix"):
        assert f"environment {environment}: skipped, because the environment needs its own process, and" in text
    again = shlex.split(next(line for line in result.stdout.splitlines() if "Again " in line))[2:]
    assert again[-2:] == ["--grpc", server]
    repeated = typed(*again)
    assert repeated.exit_code == 1
    assert repeated.stdout.count("\nFAIL") == 1


def test_a_counterexample_of_a_server_is_played_again_on_it(server: str, tmp_path: Path) -> None:
    found = typed(
        "fuzz", "--grpc", server, "--schedules", "4", "--participants", "3", "--passage", "syncs", "--out", tmp_path
    )
    assert found.exit_code == 1
    again = next(line for line in found.stdout.splitlines() if "Again " in line)
    arguments = shlex.split(again)[2:]
    assert (arguments[0], arguments[-2:]) == ("replay", ["--grpc", server])
    replayed = typed(*arguments)
    assert replayed.exit_code == 1
    assert "is violated in this run as well." in replayed.stdout


def test_golden_vectors_are_asked_of_a_server(server: str) -> None:
    result = typed("vectors", "run", "--group", "repair-*", "--grpc", server)
    assert "Every answer of sds_reference mutant lamport-without-clock is legal" in result.stdout


def test_implementations_that_are_reached_in_different_ways_play_together(server: str, tmp_path: Path) -> None:
    started = f"b=grpc://auto {shlex.join(reference_command())}"
    options = ("--schedules", "2", "--out", tmp_path)
    result = typed("interop", f"a=grpc://{server}", started, *options)
    assert result.exit_code == 1
    again = next(line for line in result.stdout.splitlines() if "Again " in line)
    assert f"a=grpc://{server}" in shlex.split(again)


def test_tls_and_a_token_are_typed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1")
    authority.cert_pem.write_to_path("ca.pem")
    issued.cert_chain_pems[0].write_to_path("certificate.pem")
    issued.private_key_pem.write_to_path("key.pem")
    Path("token").write_text("open-sesame\n")
    command = reference_command("--grpc-tls", "certificate.pem", "key.pem", "--grpc-token-file", "token")
    options = ("--grpc", "127.0.0.1:0", "--grpc-ca", "ca.pem", "--grpc-token-file", "token")
    result = typed("smoke", *options, "--", *command)
    assert result.exit_code == 0, result.stderr
    assert f"sds-conformance run {shlex.join(options)} -- " in result.stdout
    assert "open-sesame" not in result.output
    without = typed("smoke", *options[:4], "--", *command)
    assert without.exit_code == 3
    assert "the token is missing or wrong" in words(without.stderr)


QUOTING = """
import os, sys
from sds_reference.testee import server
from sds_reference.testee.command import main

token = os.environ["SDS_TESTEE_GRPC_TOKEN"]
print("started with", token, file=sys.stderr)
right = server.Testee.handle

def handle(self, request):
    reply = right(self, request)
    command = request.WhichOneof("command")
    if command == "hello":
        reply.hello.version = token
    elif command == "send":
        reply.error.message = f"refused: Bearer {token}"
    return reply

server.Testee.handle = handle
sys.exit(main(["--grpc", os.environ["SDS_TESTEE_GRPC"]]))
"""


def test_a_token_that_the_server_quotes_is_in_no_output_and_in_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SDS_TESTEE_GRPC_TOKEN", "open-sesame-4711")
    forms = [word for form in ("html", "junit", "markdown", "sarif", "badge") for word in (f"--{form}", f"x.{form}")]
    options = ("--grpc", "auto", "--report", "out", "--transcript", "t.jsonl", "--annotations", *forms)
    result = typed(
        "run", *options, "--scenario", "every-kind-*", "--environment", "plain", "--", sys.executable, "-c", QUOTING
    )
    assert result.exit_code == 3, result.output
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(files) > 8
    assert [file for file in files if "open-sesame-4711" in file.read_text("utf-8")] == []
    assert "open-sesame-4711" not in result.output
    for file in ("out/report.json", "out/report.jsonl", "t.jsonl", "x.html", "x.junit", "x.markdown"):
        assert "token removed" in Path(file).read_text("utf-8"), file
    shown = typed("report", "out")
    assert "open-sesame-4711" not in shown.output


def test_a_token_of_few_characters_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDS_TESTEE_GRPC_TOKEN", "a")
    result = typed("smoke", "--grpc", "auto", "--", *reference_command())
    assert result.exit_code == 2
    assert "SDS_TESTEE_GRPC_TOKEN holds a token of fewer than 6 characters" in words(result.stderr)


# ---- Without the extra ---------------------------------------------------------------------------------------------


def without_grpc(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] in ("grpc", "grpc_health")]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("sds_harness.grpc_link", "sds_harness.quiet_grpc", "sds_testee.grpc_server"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "grpc", None)


def test_who_has_no_grpc_needs_none_and_is_told_what_to_type_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    without_grpc(monkeypatch)
    assert typed("smoke", "--", *reference_command()).exit_code == 0
    result = typed("smoke", "--grpc", "auto")
    assert result.exit_code == 2
    said = "Error: --grpc needs gRPC, but grpc is not installed: type `pip install 'sds-conformance[grpc]'`.\n"
    assert result.stderr == said
