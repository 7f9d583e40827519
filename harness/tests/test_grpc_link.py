"""Each breakdown of a server is classified within its time limit, and leaves nothing behind."""

from __future__ import annotations

import gzip
import os
import re
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from hostile_servers import HELLO, NOT_SERVING, SERVING, between, listening, serving
from raw_http2 import answer, flood, message
from sds_harness import grpc_link
from sds_harness.endpoint import AUTO, Endpoint
from sds_harness.faults import Breakdown, FaultKind, TesteeError
from sds_harness.grpc_link import GrpcLink
from sds_harness.link import Limits
from sds_harness.sds.language import SDS, open_session
from sds_harness.session import Session
from sds_proto.testee.v1 import testee_pb2 as pb

SERVERS = Path(__file__).with_name("hostile_servers.py")
LIMITS = Limits(start_s=20, command_s=10, exit_s=5, memory_bytes=1 << 30)
IMPATIENT = replace(LIMITS, command_s=0.4, exit_s=0.4)
CLOSE_S = 1.0
"""Seconds that a connection may take to close, before and after the process is ended."""
SLACK_S = 3.0
"""Seconds beyond the time limit that the harness may need on a busy machine to detect a breakdown."""


def connected(port: int, limits: Limits = LIMITS) -> Session:
    """A conversation with a running server."""
    endpoint = Endpoint(f"127.0.0.1:{port}", SDS.service)
    return open_session(lambda: GrpcLink(endpoint, (), limits), limits, "sds-2026-01")


def started(name: str, limits: Limits = LIMITS, address: str = AUTO) -> Session:
    """A conversation with a server that is started for it."""
    endpoint = Endpoint(address, SDS.service, started=True)
    command = (sys.executable, str(SERVERS), name)
    return open_session(lambda: GrpcLink(endpoint, command, limits), limits, "sds-2026-01")


def ticked(session: Session) -> pb.Reply:
    """The answer to the Tick of a fresh participant."""
    opened = session.call(pb.Request(open=pb.Open(now_ms=1, participant_id="alice", channels=["c"])), 10)
    reply: pb.Reply = session.call(pb.Request(tick=pb.Tick(now_ms=2, handle=opened.opened.handle)))
    return reply


def broken(call: Callable[[], object], within_s: float) -> Breakdown:
    """The breakdown in ``call``, which must be detected in time."""
    began = time.monotonic()
    with pytest.raises(TesteeError) as caught:
        call()
    assert time.monotonic() - began < within_s + SLACK_S
    return caught.value.breakdown


def command_of(process: psutil.Process) -> list[str]:
    """The command of a process; empty for a zombie, which other tests of this process may have left."""
    try:
        return process.cmdline()
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return []


@pytest.fixture(autouse=True)
def nothing_is_left(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Assert after each test that no server process and no folder of a socket is left."""
    tmp_path_factory.getbasetemp()  # make the folder of pytest before: it must not be in the folder that is removed
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield
        assert list(Path(folder).iterdir()) == []
    assert [child for child in psutil.Process().children(recursive=True) if str(SERVERS) in command_of(child)] == []


@pytest.mark.every_python
@pytest.mark.parametrize(
    ("name", "kind", "sentence"),
    [
        ("never-answers", FaultKind.HANG, "no answer to tick within 0.4 s"),
        ("answers-with-another-id", FaultKind.WRONG_ID, r"request 3 \(tick\) was answered with id 77"),
        ("answers-garbage", FaultKind.GARBAGE, r'the answer to tick is not a reply \(.*\): "\\xff\\xfe'),
        ("answers-with-a-huge-id", FaultKind.OVERSIZED, r"an identifier of 40,000,000 bytes \(message_id\)"),
        ("is-too-large", FaultKind.TOO_LONG, r"the answer to tick is too large .*\(67108865 vs. 67108864\)"),
        ("unpacks-to-too-much", FaultKind.TOO_LONG, r"the answer to tick is too large .*vs\. 67108864\)"),
        ("fails", FaultKind.CRASH, "the server ended the call in answer to tick .*UNKNOWN.*the log is inside out"),
        ("ends-the-stream", FaultKind.EXIT, "the server ended the conversation in answer to tick"),
    ],
)
def test_what_a_server_does_wrong_has_a_kind_and_a_sentence(name: str, kind: FaultKind, sentence: str) -> None:
    limits = IMPATIENT if kind is FaultKind.HANG else LIMITS
    with serving(name) as (port, _):
        session = connected(port, limits)
        breakdown = broken(lambda: ticked(session), IMPATIENT.command_s)
    assert breakdown.kind is kind
    assert re.search(sentence, breakdown.detail)
    assert breakdown.detail.isprintable()
    assert len(breakdown.detail) < 700


def test_a_connection_that_is_reset_in_the_middle_is_a_breakdown_and_the_next_one_begins_anew() -> None:
    cuts: list[Callable[[], None]] = []
    with serving("honest", at_tick=lambda: cuts.pop()()) as (behind, _), between(behind) as (port, cut):
        session = connected(port)
        cuts.append(cut)
        breakdown = broken(lambda: ticked(session), 0.0)
        assert breakdown.kind is FaultKind.CRASH
        assert "the connection broke in answer to tick (UNAVAILABLE" in breakdown.detail
        assert "The suite did not start it" in breakdown.advice
        assert broken(lambda: ticked(session), 0.0) == breakdown
        cuts.append(lambda: None)
        again = connected(port)
        assert ticked(again).HasField("effects")
        again.close()


def test_a_server_that_never_ends_the_stream_is_left() -> None:
    with serving("never-ends-the-stream") as (port, _):
        session = connected(port, IMPATIENT)
        ticked(session)
        breakdown = broken(session.close, IMPATIENT.exit_s)
    assert (breakdown.kind, breakdown.detail) == (
        FaultKind.NEVER_EXITS,
        "the server did not end the conversation within 0.4 s",
    )


def test_a_server_with_too_many_connections_that_do_not_close_is_not_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serving("honest") as (port, _):
        monkeypatch.setattr(grpc_link, "_stuck", [f"127.0.0.1:{port}"] * 7)
        connected(port).close()
        monkeypatch.setattr(grpc_link, "_stuck", [f"127.0.0.1:{port}"] * 8)
        breakdown = broken(lambda: connected(port), 0.0)
    assert breakdown.kind is FaultKind.NO_START
    assert breakdown.detail == f"8 connections to the server at 127.0.0.1:{port} did not close"
    assert "PING" in breakdown.advice


def test_a_request_that_the_server_has_no_room_for_is_reported_as_the_limit_of_the_server() -> None:
    with serving("honest", takes=1 << 20) as (port, _):
        session = connected(port)
        received = pb.Receive(now_ms=1, handle=1, wire=bytes(2 << 20))
        breakdown = broken(lambda: session.call(pb.Request(receive=received)), 0.0)
    assert breakdown.kind is FaultKind.OVERSIZED
    assert "receive is larger than the server accepts" in breakdown.detail
    assert breakdown.advice.startswith("Let the server receive messages of 67108864 bytes")


# ---- Bytes that no library would send --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "encoding", "kind", "sentence"),
    [
        (message(b"", announced=1 << 30), b"identity", FaultKind.OVERSIZED, "too large .*1073741824 vs. 67108864"),
        (message(HELLO, announced=len(HELLO) + 9), b"identity", FaultKind.HANG, "no answer to hello within 1 s"),
        (message(gzip.compress(HELLO), compressed=True), b"gzip", FaultKind.CRASH, "[Cc]ompression algorithm .gzip"),
        (b"\xff" * 64, b"identity", FaultKind.HANG, "no answer to hello within 1 s"),
    ],
    ids=["announces-1-gib", "stops-in-the-middle", "compresses-unasked", "no-message"],
)
def test_what_no_library_would_send_is_not_waited_for(
    sent: bytes, encoding: bytes, kind: FaultKind, sentence: str
) -> None:
    limits = replace(LIMITS, start_s=1.0)
    before = psutil.Process().memory_info().rss
    with listening(lambda connection: answer(connection, sent, encoding)) as port:
        breakdown = broken(lambda: connected(port, limits), limits.start_s)
    assert breakdown.kind is kind
    assert re.search(sentence, breakdown.detail)
    assert psutil.Process().memory_info().rss - before < 100 << 20


def test_a_server_that_floods_a_connection_with_pings_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped: list[bool] = []
    flooding = lambda connection: answer(  # noqa: E731
        connection, message(HELLO), after=lambda it: flood(it, lambda: not stopped)
    )
    monkeypatch.setattr(grpc_link, "_stuck", [])
    try:
        with listening(flooding) as port:
            session = connected(port, IMPATIENT)
            opening = pb.Request(open=pb.Open(now_ms=1, participant_id="alice"))
            breakdown = broken(lambda: session.call(opening), IMPATIENT.command_s + 2 * CLOSE_S)
            assert (breakdown.kind, breakdown.detail) == (FaultKind.HANG, "no answer to open within 0.4 s")
    finally:
        stopped.append(True)


# ---- Before the handshake ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "greet",
    [
        lambda connection: connection.close(),
        lambda connection: time.sleep(60),
        lambda connection: connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    ],
    ids=["closes-at-once", "says-nothing", "speaks-http-1"],
)
def test_what_is_no_grpc_server_is_reported_as_that(greet: Callable[[socket.socket], object]) -> None:
    with listening(greet) as port:
        breakdown = broken(lambda: connected(port, replace(LIMITS, start_s=0.5)), 0.5)
    assert breakdown.kind is FaultKind.NO_START
    assert breakdown.detail.startswith(f"no gRPC server at 127.0.0.1:{port} within 0.5 s")


def test_a_server_without_a_health_service_is_taken_as_it_is() -> None:
    with serving("honest", status=None) as (port, _):
        assert ticked(connected(port)).HasField("effects")


def test_a_server_is_waited_for_until_it_is_ready() -> None:
    with serving("honest", status=NOT_SERVING) as (port, health):
        breakdown = broken(lambda: connected(port, replace(LIMITS, start_s=0.5)), 0.5)
        assert breakdown.kind is FaultKind.HANG
        assert breakdown.detail == "the server was not ready within 0.5 s: the health service does not report SERVING"
        health.set(SDS.service, SERVING)
        session = connected(port)
        assert ticked(session).HasField("effects")
        session.close()


def test_a_server_of_something_else_is_reported_as_that() -> None:
    with serving("honest", service="another.Service") as (port, _):
        breakdown = broken(lambda: connected(port), 0.0)
    assert breakdown.kind is FaultKind.WRONG_ANSWER
    assert "the server does not serve sds.testee.v1.Testee/Converse" in breakdown.detail


# ---- Servers that are started --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind", "sentence"),
    [
        ("crashes", FaultKind.CRASH, "the process ended with exit code 3 in answer to tick"),
        (
            "allocates",
            FaultKind.OUT_OF_MEMORY,
            "the process used more than 300 MiB of memory in answer to tick, and was killed",
        ),
    ],
)
def test_a_process_that_breaks_is_reported_as_it_would_be_on_a_pipe(name: str, kind: FaultKind, sentence: str) -> None:
    session = started(name, replace(LIMITS, memory_bytes=300 << 20))
    breakdown = broken(lambda: ticked(session), LIMITS.command_s - SLACK_S)
    assert (breakdown.kind, breakdown.detail) == (kind, sentence)
    assert breakdown.advice == kind.advice
    assert name != "crashes" or breakdown.stderr[-1] == "panic: the log is inside out"


@pytest.mark.every_python
@pytest.mark.parametrize("address", [AUTO, "127.0.0.1:0", "localhost:0", "[::1]:0"])
def test_what_a_server_prints_holds_it_up_nowhere_and_it_ends_with_its_stdin(address: str) -> None:
    session = started("prints-to-stdout", address=address)
    assert ticked(session).HasField("effects")
    assert session.link.stderr_lines()[-1] == "y" * 99
    session.close()


@pytest.mark.parametrize(
    ("name", "kind", "sentence"),
    [
        ("floods-at-once", FaultKind.NO_START, r"the process runs, but no server listens at unix:\S+ within 1.5 s"),
        ("floods-after-hello", FaultKind.HANG, "no answer to open within 1.5 s"),
    ],
)
def test_a_server_that_floods_is_killed(name: str, kind: FaultKind, sentence: str) -> None:
    limits = replace(LIMITS, start_s=1.5, command_s=1.5)

    def converse() -> None:
        started(name, limits).call(pb.Request(open=pb.Open(now_ms=1, participant_id="alice")))

    breakdown = broken(converse, 2 * 1.5 + 2 * CLOSE_S)
    assert breakdown.kind is kind
    assert re.match(sentence, breakdown.detail)
    assert kind is FaultKind.HANG or "SDS_TESTEE_GRPC" in breakdown.advice


@pytest.mark.every_python
def test_a_server_that_ends_before_it_listens_is_reported_with_its_last_words() -> None:
    breakdown = broken(lambda: started("ends-before-it-listens"), 0.0)
    assert breakdown.kind is FaultKind.CRASH
    assert re.fullmatch(r"the process ended with exit code 5 before it served at unix:\S+", breakdown.detail)
    assert breakdown.stderr == ("no configuration",)


@pytest.mark.every_python
def test_a_server_that_runs_on_after_its_stdin_has_ended_is_killed() -> None:
    session = started("never-exits", IMPATIENT)
    ticked(session)
    breakdown = broken(session.close, 2 * IMPATIENT.exit_s)
    assert (breakdown.kind, breakdown.detail) == (
        FaultKind.NEVER_EXITS,
        "the process still ran 0.4 s after its stdin ended, and was killed",
    )


@pytest.mark.every_python
def test_starting_a_server_runs_no_fork_handlers_of_grpc() -> None:
    forks: list[int] = []
    os.register_at_fork(before=lambda: forks.append(1))
    endpoint = Endpoint(AUTO, SDS.service, started=True)
    GrpcLink(endpoint, [sys.executable, "-m", "sds_reference"], Limits()).kill()
    assert not forks
