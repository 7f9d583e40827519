"""Access control: TLS with a certificate of an own authority, and tokens."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
import trustme

from sds_harness.endpoint import Endpoint
from sds_harness.faults import Breakdown, FaultKind, TesteeError
from sds_harness.grpc_link import GrpcLink
from sds_harness.link import Limits
from sds_harness.sds.language import SDS, open_session
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference.testee.server import Testee, TesteeOptions
from sds_testee.grpc_server import Server
from sds_testee.rpc import TOKEN_VARIABLE

pytestmark = pytest.mark.every_python

LIMITS = Limits(start_s=1.5, command_s=10, exit_s=5)


@contextlib.contextmanager
def reference(token: str = "", vouched_by: trustme.CA | None = None) -> Iterator[str]:
    """The address of a server with the reference; it uses TLS if a certificate authority is given."""
    credentials = None
    if vouched_by is not None:
        issued = vouched_by.issue_cert("localhost", "127.0.0.1")
        chain = b"".join(pem.bytes() for pem in issued.cert_chain_pems)
        credentials = grpc.ssl_server_credentials([(issued.private_key_pem.bytes(), chain)])
    testee = Testee(TesteeOptions("1"))
    server = Server(
        lambda: testee.handle,
        pb.Request,
        pb.Reply,
        SDS.service,
        "localhost:0",
        token=token,
        credentials=credentials,
    )
    try:
        yield f"localhost:{server.port}"
    finally:
        server.stop()


def greet(address: str, ca: Path | None = None, token_file: Path | None = None) -> str:
    """The name that the server reports."""
    endpoint = Endpoint(address, SDS.service, ca=ca, token_file=token_file)
    session = open_session(lambda: GrpcLink(endpoint, (), LIMITS), LIMITS, "sds-2026-01")
    session.close()
    return session.declaration.name


def refused(address: str, ca: Path | None = None, token_file: Path | None = None) -> Breakdown:
    with pytest.raises(TesteeError) as caught:
        greet(address, ca, token_file)
    return caught.value.breakdown


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


def written(folder: Path, authority: trustme.CA) -> Path:
    file = folder / "ca.pem"
    authority.cert_pem.write_to_path(str(file))
    return file


def test_who_vouches_for_the_server_is_believed(authority: trustme.CA, tmp_path: Path) -> None:
    with reference(vouched_by=authority) as address:
        assert greet(address, written(tmp_path, authority)) == "sds_reference"


def test_a_server_that_somebody_else_vouches_for_is_not_talked_to(authority: trustme.CA, tmp_path: Path) -> None:
    with reference(vouched_by=trustme.CA()) as address:
        breakdown = refused(address, written(tmp_path, authority))
    assert breakdown.kind is FaultKind.NO_START
    assert "CERTIFICATE_VERIFY_FAILED" in breakdown.detail


def test_nothing_is_said_in_plain_text_to_a_server_of_tls_nor_the_other_way_round(
    authority: trustme.CA, tmp_path: Path
) -> None:
    with reference(vouched_by=authority) as address:
        assert refused(address).kind is FaultKind.NO_START
    with reference() as address:
        assert refused(address, written(tmp_path, authority)).kind is FaultKind.NO_START


def test_the_right_token_lets_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "token"
    file.write_text("open-sesame\n")
    with reference("open-sesame") as address:
        assert greet(address, token_file=file) == "sds_reference"
        monkeypatch.setenv(TOKEN_VARIABLE, "open-sesame")
        assert greet(address) == "sds_reference"


@pytest.mark.parametrize("token", ["", "open-sesam", "open-sesamee", "Open-Sesame"])
def test_no_token_and_a_wrong_one_do_not(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, token)
    with reference("open-sesame") as address:
        breakdown = refused(address)
    assert breakdown.kind is FaultKind.NO_START
    assert breakdown.detail == "the server rejected the token (UNAUTHENTICATED: the token is missing or wrong)"
    assert "--grpc-token-file FILE" in breakdown.advice
