"""Addresses and tokens of servers: valid forms, and the errors for invalid ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from sds_harness.endpoint import AUTO, Endpoint
from sds_testee.rpc import TOKEN_VARIABLE

SERVICE = "echo.Service"
CERTIFICATE = "-----BEGIN CERTIFICATE-----\n"


@pytest.mark.parametrize(
    ("address", "host", "port"),
    [
        ("127.0.0.1:50051", "127.0.0.1", 50051),
        ("127.9.9.9:1", "127.9.9.9", 1),
        ("localhost:65535", "localhost", 65535),
        ("[::1]:50051", "::1", 50051),
        ("unix:/run/sds.sock", "", None),
        ("unix:here.sock", "", None),
    ],
)
def test_plain_text_stays_on_this_machine(address: str, host: str, port: int | None) -> None:
    endpoint = Endpoint(address, SERVICE)
    assert (endpoint.host, endpoint.port, endpoint.near, endpoint.one_at_a_time) == (host, port, True, True)


@pytest.mark.parametrize(
    "address", ["10.0.0.1:50051", "0.0.0.0:50051", "[::]:1", "[2001:db8::1]:50051", "testee:50051", "localhost.evil:1"]
)
def test_plain_text_goes_to_another_machine_only_if_that_is_asked_for(address: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"is on another machine: add --grpc-ca FILE for TLS, or --grpc-insecure"):
        Endpoint(address, SERVICE)
    assert not Endpoint(address, SERVICE, insecure=True).near
    ca = tmp_path / "ca.pem"
    ca.write_text(CERTIFICATE)
    assert not Endpoint(address, SERVICE, ca=ca).near


@pytest.mark.parametrize("address", [AUTO, "127.0.0.1:0", "[::1]:0"])
def test_a_place_is_found_only_for_a_server_that_is_started(address: str) -> None:
    assert not Endpoint(address, SERVICE, started=True).one_at_a_time
    with pytest.raises(ValueError, match="is for a server that the suite starts: add `-- COMMAND`"):
        Endpoint(address, SERVICE)


@pytest.mark.parametrize(
    "address",
    ["", "here", "localhost", "localhost:", ":50051", "127.0.0.1:65536", "dns:///a:1", "a b:1", "::1:5", "http://a:1"],
)
def test_what_is_no_address_is_reported_with_two_that_are(address: str) -> None:
    with pytest.raises(ValueError, match=r"is not an address: write for example 127.0.0.1:50051 or unix:/tmp/sds.sock"):
        Endpoint(address, SERVICE)


@pytest.mark.parametrize("path", ["", "x" * 101])
def test_the_path_of_a_socket_has_its_limits(path: str) -> None:
    with pytest.raises(ValueError, match="a socket has a path of 1 to 100 bytes after unix:"):
        Endpoint(f"unix:{path}", SERVICE)


def test_certificates_are_looked_at_at_once(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        Endpoint("a:1", SERVICE, ca=tmp_path / "none.pem")
    (tmp_path / "empty.pem").touch()
    with pytest.raises(ValueError, match="holds no certificate in PEM format"):
        Endpoint("a:1", SERVICE, ca=tmp_path / "empty.pem")


# ---- Tokens --------------------------------------------------------------------------------------------------------


def test_a_token_comes_from_a_file_or_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "token"
    file.write_text("from-the-file\n")
    endpoint = Endpoint("localhost:1", SERVICE)
    assert endpoint.token() == ""
    monkeypatch.setenv(TOKEN_VARIABLE, "from-the-environment")
    assert endpoint.token() == "from-the-environment"
    assert Endpoint("localhost:1", SERVICE, token_file=file).token() == "from-the-file"


@pytest.mark.parametrize("text", [b"", b"\n", b"two words", b"two\nlines", b"caf\xc3\xa9", b"x" * 5_000, b"a\0b"])
def test_what_is_no_token_is_not_shown(text: bytes, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_bytes(text)
    with pytest.raises(ValueError, match="contains no token: a token is one line") as caught:
        Endpoint("localhost:1", SERVICE, token_file=file)
    shown = str(caught.value).replace(str(tmp_path), "")
    assert not any(word in shown for word in ("two", "lines", "caf", "xx", "a\0b"))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"the token cannot be read from .*none: No such file"):
        Endpoint("localhost:1", SERVICE, token_file=tmp_path / "none")


def test_a_token_does_not_go_to_another_machine_in_plain_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, "secret")
    with pytest.raises(ValueError, match="a token is not sent in plain text to a:1: add --grpc-ca FILE") as caught:
        Endpoint("a:1", SERVICE, insecure=True)
    assert "secret" not in str(caught.value)
    ca = tmp_path / "ca.pem"
    ca.write_text(CERTIFICATE)
    assert "secret" not in repr(Endpoint("a:1", SERVICE, ca=ca))
