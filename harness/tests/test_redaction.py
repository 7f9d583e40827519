"""The harness stores no token that a server quotes."""

from __future__ import annotations

import base64
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import grpc
import pytest

from sds_harness.endpoint import Endpoint
from sds_harness.faults import TesteeError
from sds_harness.grpc_link import GrpcLink
from sds_harness.link import Limits, StdioLink
from sds_harness.redaction import REMOVED, SHORTEST, Redaction
from sds_harness.sds.language import SDS, open_session
from sds_harness.session import Session
from sds_harness.transcript.recording import RecordedLink
from sds_harness.transcript.writer import Transcript
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference.testee.server import Testee, TesteeOptions
from sds_testee.framing import Framing
from sds_testee.grpc_server import Server
from sds_testee.rpc import TOKEN_VARIABLE

TOKEN = 'Kx9/"\\&+mR2~vQ-7'
LIMITS = Limits(start_s=10, command_s=10, exit_s=5)


def encodings(token: str) -> Iterator[str]:
    """The encodings of the token that programs may log."""
    yield token
    yield json.dumps(token)[1:-1]
    yield quote(token, safe="")
    yield re.sub("%..", lambda code: code[0].lower(), quote(token, safe=""))
    yield token.encode().hex()
    for before in ("", "x", "Bearer "):
        yield base64.b64encode(f"{before}{token}".encode()).decode()
        yield base64.urlsafe_b64encode(f"{before}{token}-".encode()).decode()


@pytest.mark.parametrize("said", list(encodings("Kx9/+mR2~vQ-7a")))
def test_a_token_is_removed_in_every_encoding(said: str) -> None:
    redaction = Redaction(["Kx9/+mR2~vQ-7a"])
    text = redaction.text(f"token={said}; go away")
    assert REMOVED in text
    assert text.startswith("token=")
    assert text.endswith("; go away")
    data = redaction.data(f"token={said}".encode())
    assert len(data) == len(f"token={said}".encode())
    assert said.encode() not in data


def test_a_short_token_is_refused_and_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, "q7q")
    with pytest.raises(ValueError, match=f"{TOKEN_VARIABLE} holds a token of fewer than {SHORTEST}") as caught:
        Endpoint("localhost:1", SDS.service)
    assert "q7q" not in str(caught.value)
    file = tmp_path / "token"
    file.write_text("q7q\n")
    with pytest.raises(ValueError, match="token holds a token of fewer than"):
        Endpoint("localhost:1", SDS.service, token_file=file)
    file.write_text("long-enough")
    assert Endpoint("localhost:1", SDS.service, token_file=file).token() == "long-enough"


# ---- Over gRPC -----------------------------------------------------------------------------------------------------


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN)
    return TOKEN


def session_with(endpoint: Endpoint, command: tuple[str, ...] = (), transcript: Transcript | None = None) -> Session:
    def connect() -> GrpcLink | RecordedLink:
        link = GrpcLink(endpoint, command, LIMITS)
        return RecordedLink(link, transcript) if transcript is not None else link

    return open_session(connect, LIMITS, "sds-2026-01")


@pytest.mark.usefixtures("token")
def test_a_server_that_quotes_the_token_in_the_details_of_a_status(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Server, context: grpc.ServicerContext) -> None:
        brought = str(dict(context.invocation_metadata())["authorization"])
        context.abort(grpc.StatusCode.UNAUTHENTICATED, f"not accepted: {brought}")

    monkeypatch.setattr(Server, "_let_in", refuse)
    server = Server(lambda: Testee(TesteeOptions("1")).handle, pb.Request, pb.Reply, SDS.service, "localhost:0")
    try:
        with pytest.raises(TesteeError) as caught:
            session_with(Endpoint(f"localhost:{server.port}", SDS.service))
    finally:
        server.stop()
    assert f"not accepted: Bearer {REMOVED}" in caught.value.breakdown.detail
    assert TOKEN not in str(caught.value)


def handle_with(what: str) -> Server:
    """A server that puts the token into one place of its replies."""
    testee = Testee(TesteeOptions("1", name=f"mine, Bearer {TOKEN}" if what == "name" else "mine"))

    def handle(request: pb.Request) -> pb.Reply:
        reply = testee.handle(request)
        command = request.WhichOneof("command")
        if command == "open" and what == "error":
            reply.error.message = f"no entry with {TOKEN}"
        if command == "open" and what == "rejected":
            reply.rejected.reason = base64.b64encode(f"Bearer {TOKEN}".encode()).decode()
        return reply

    return Server(lambda: handle, pb.Request, pb.Reply, SDS.service, "localhost:0")


@pytest.mark.parametrize("what", ["name", "error", "rejected"])
def test_replies_and_transcripts_are_without_the_token(what: str, token: str, tmp_path: Path) -> None:
    server = handle_with(what)
    transcript = Transcript.begin(tmp_path / "t.jsonl")
    try:
        session = session_with(Endpoint(f"localhost:{server.port}", SDS.service), transcript=transcript)
        said = session.declaration.name
        try:
            said += str(session.call(pb.Request(open=pb.Open(now_ms=1, participant_id="alice"))))
        except TesteeError as fault:
            said += str(fault)
        session.close()
    finally:
        server.stop()
    kept = transcript.path.read_text("utf-8")
    for form in (token, json.dumps(token)[1:-1], base64.b64encode(f"Bearer {token}".encode()).decode()[8:-4]):
        assert form not in said
        assert form not in kept
        assert base64.b64encode(form.encode()).decode()[:-4] not in kept
    assert "[token" in said
    assert "[token" in kept


@pytest.mark.usefixtures("token")
def test_a_process_on_stdin_and_stdout_does_not_get_the_token() -> None:
    program = f"import os, sys; sys.exit(repr(os.environ.get({TOKEN_VARIABLE!r})))"
    with pytest.raises(TesteeError) as caught:
        open_session(lambda: StdioLink((sys.executable, "-c", program), Framing.JSON, LIMITS), LIMITS, "sds-2026-01")
    assert caught.value.breakdown.stderr == ("None",)
    assert os.environ[TOKEN_VARIABLE] == TOKEN
