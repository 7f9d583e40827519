"""``--grpc`` as it is typed: what it goes together with, what is typed to see something again, and who has no gRPC."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from run_helpers import reference_command
from sds_reference.testee.command import main as reference_main
from suite_terminal import typed, words

MUTANT = ("--mutant", "lamport-without-clock")
FEW = ("--schedules", "4", "--participants", "3", "--passage", "syncs")


@pytest.fixture
def server() -> Iterator[str]:
    """The address of a server that runs already, with a fault."""
    with tempfile.TemporaryDirectory() as folder:
        address = f"unix:{folder}/s"
        process = subprocess.Popen([*reference_command(*MUTANT), "--grpc", address])
        try:
            yield address
        finally:
            process.terminate()
            assert process.wait(10) == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "--grpc", "10.0.0.1:50051"), "add --grpc-ca FILE for TLS, or --grpc-insecure to send everything"),
        (
            ("run", "--grpc", "here"),
            "'here' is not an address: write for example 127.0.0.1:50051 or unix:/tmp/sds.sock",
        ),
        (("run", "--grpc", "localhost:0"), "localhost:0 is for a server that the suite starts: add `-- COMMAND`"),
        (("run", "--grpc", "localhost:1", "--framing", "json"), "--framing is for stdin and stdout, which --grpc"),
        (("smoke", "--grpc-insecure"), "--grpc-insecure is about a server: add --grpc ADDRESS"),
        (("smoke", "--grpc-token-file", "t"), "--grpc-token-file is about a server: add --grpc ADDRESS"),
        (
            ("smoke", "--grpc", "localhost:1", "--grpc-ca", "none.pem"),
            "--grpc-ca none.pem cannot be read: No such file",
        ),
        (("fuzz", "--grpc", "localhost:1", "--jobs", "2"), "--jobs 2 needs as many implementations, and there is one"),
        (("fuzz", "--grpc", "localhost:1", "--cast", "apart"), "use --cast together, or `--grpc auto -- COMMAND`"),
        (("replay", "x.json", "--grpc", "localhost:1", "--cast", "apart"), "use --cast together"),
        (("fuzz", "--grpc", "localhost:1", "--cast", "apart", "--", "./mine"), "there is one server at localhost:1"),
        (
            ("exhaust", "--grpc", "localhost:1", "--master", "local[2]"),
            "--master local[2] plays several at a time, and there is one server at localhost:1",
        ),
        pytest.param(
            ("corpus", "record", "--out", "c", "--grpc", "localhost:1", "--master", "local[4]"),
            "--master local[4] plays several at a time, and there is one server at localhost:1",
            marks=pytest.mark.spark,
        ),
        (
            ("interop", "--grpc-insecure", "a=./a", "b=./b"),
            "--grpc-insecure is about a server: add NAME=grpc://ADDRESS",
        ),
        (("interop", "a=grpc://here", "b=./b"), "'here' is not an address"),
        (("interop", "a=grpc://auto", "b=./b"), "auto is for a server that the suite starts"),
    ],
)
def test_what_does_not_go_together_is_reported_with_what_does(
    arguments: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = typed(*arguments)
    assert result.exit_code == 2
    assert said in words(result.stderr)
    assert list(tmp_path.iterdir()) == []


def test_environments_that_need_a_process_of_their_own_are_skipped_on_a_running_server(server: str) -> None:
    result = typed("run", "--grpc", server, "--scenario", "every-kind-*")
    assert result.exit_code == 1
    text = words(result.stdout)
    for environment in ("turkish", "posix"):
        assert f"environment {environment}: skipped, because it needs its own process, and the implementation" in text
    again = shlex.split(next(line for line in result.stdout.splitlines() if "Again " in line))[2:]
    assert again[-2:] == ["--grpc", server]
    repeated = typed(*again)
    assert repeated.exit_code == 1
    assert repeated.stdout.count("\nFAIL") == 1


def test_a_server_that_is_started_plays_in_every_environment() -> None:
    command = reference_command()
    options = ("--scenario", "every-kind-*", "--environment", "plain", "--environment", "turkish")
    result = typed("run", "--json", "--grpc", "auto", *options, "--", *command)
    report = json.loads(result.stdout)
    assert report["summary"]["environments"] == ["plain", "turkish"]
    assert (report["framing"], report["implementation"]["command"]) == ("grpc", command)


def test_the_address_stands_where_the_command_wants_it() -> None:
    command = [sys.executable, "-c", "import os; os.environ['SDS_TESTEE_GRPC'] = 'nowhere:1'; " + _START, "{address}"]
    result = typed("smoke", "--grpc", "127.0.0.1:0", "--", *command)
    assert result.exit_code == 0, result.stderr
    assert "sds-conformance run --grpc 127.0.0.1:0 -- " in result.stdout


_START = "import sys, sds_reference.testee.command as c; sys.exit(c.main(['--grpc', sys.argv[1]]))"


def test_a_counterexample_of_a_server_is_played_again_on_it(server: str, tmp_path: Path) -> None:
    found = typed("fuzz", "--grpc", server, *FEW, "--out", tmp_path)
    assert found.exit_code == 1
    again = next(line for line in found.stdout.splitlines() if "Again " in line)
    arguments = shlex.split(again)[2:]
    assert (arguments[0], arguments[-2:]) == ("replay", ["--grpc", server])
    replayed = typed(*arguments)
    assert replayed.exit_code == 1
    assert "is violated here, too." in replayed.stdout


@pytest.mark.exhaustive
def test_a_counterexample_that_was_found_apart_says_how_it_can_be_played_on_one_server(tmp_path: Path) -> None:
    command = reference_command(*MUTANT)
    options = ("--grpc", "auto", "--cast", "apart", "--jobs", "1")
    found = typed("fuzz", *options, *FEW, "--out", tmp_path, "--", *command)
    assert (found.exit_code, (tmp_path / "SDS-SYNC-03.json").exists()) == (1, True), found.output
    file = tmp_path / "SDS-SYNC-03.json"
    assert json.loads(file.read_text())["notes"]["cast"] == "apart"
    result = typed("replay", file, "--grpc", "localhost:1")
    assert result.exit_code == 2
    assert "use --cast together" in words(result.stderr)


def test_golden_vectors_are_asked_of_a_server(server: str) -> None:
    result = typed("vectors", "run", "--group", "repair-*", "--grpc", server)
    assert result.exit_code == 0
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
    result = typed("run", *options, "--scenario", "every-kind-*", "--environment", "plain", "--", *_program(QUOTING))
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


def _program(text: str) -> list[str]:
    return [sys.executable, "-c", text]


def test_the_library_logs_nothing_of_its_own_and_starts_nothing_that_is_quieter(tmp_path: Path) -> None:
    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(str(other))
    trustme.CA().issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "server.pem"))
    tls = ("--grpc-tls", str(tmp_path / "server.pem"), str(tmp_path / "server.pem"))
    program = "import os, sys; assert 'GRPC_VERBOSITY' not in os.environ; os.execv(sys.executable, sys.orig_argv[3:])"
    command = [sys.executable, "-c", program, *reference_command(*tls)]
    options = ("--grpc", "127.0.0.1:0", "--grpc-ca", str(other), "--start-timeout", "4")
    suite = [sys.executable, "-m", "sds_conformance", "smoke", *options, "--", *command]
    done = subprocess.run(suite, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 3
    assert "CERTIFICATE_VERIFY_FAILED" in words(done.stderr)
    assert [line for line in done.stderr.splitlines() if "ssl_transport" in line and not line.startswith("  ")] == []


# ---- Without the extra ---------------------------------------------------------------------------------------------


def without_grpc(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] in ("grpc", "grpc_health")]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("sds_harness.grpc_link", "sds_harness.quiet_grpc", "sds_testee.grpc_server"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "grpc", None)


def test_who_has_no_grpc_is_told_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    without_grpc(monkeypatch)
    result = typed("smoke", "--grpc", "auto")
    assert result.exit_code == 2
    assert result.stderr == (
        "Error: --grpc needs gRPC, and there is no grpc: type `pip install 'sds-conformance[grpc]'`.\n"
    )


def test_who_has_no_grpc_needs_none(monkeypatch: pytest.MonkeyPatch) -> None:
    without_grpc(monkeypatch)
    assert typed("smoke", "--", *reference_command()).exit_code == 0


def test_the_reference_says_so_as_well(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    without_grpc(monkeypatch)
    with pytest.raises(SystemExit) as ended:
        reference_main(["--grpc", "localhost:1"])
    assert ended.value.code == 2
    assert "pip install 'sds-conformance[grpc]'" in capsys.readouterr().err
