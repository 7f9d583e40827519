"""Where a server of a testee protocol is, and how to be let in. Nothing here needs gRPC to be installed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from sds_testee.rpc import TOKEN_VARIABLE, read_token

from .files import FileError, read_bytes
from .redaction import SHORTEST

AUTO = "auto"
"""The address of a server that we start, where we find one: a socket in a private folder."""
_HOST_AND_PORT = re.compile(r"(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):(?P<port>[0-9]{1,5})")
_UNIX = "unix:"
LONGEST_PATH = 100
"""Bytes in the path of a socket: the kernel takes a few more."""
_LARGEST_CA = 4 << 20


@dataclass(frozen=True)
class Endpoint:
    """A server, from the command line. It is checked when it is made, and then holds no secret.

    Raises ValueError, which says what to type.
    """

    address: str
    """HOST:PORT or unix:PATH. Of a server that is started also ``auto``, or port 0 for one that is free."""
    service: str
    """Full name of what it serves."""
    started: bool = False
    """It is started for the conversation, and does not run already."""
    ca: Path | None = None
    """Certificates (PEM) of whoever vouches for the server; with them TLS is spoken."""
    token_file: Path | None = None
    insecure: bool = False
    """Plain text may go to another machine."""

    def __post_init__(self) -> None:
        if not self.service:
            raise ValueError("this protocol has no gRPC service: leave --grpc out, and use stdin and stdout")
        self._check_address()
        if self.ca is not None:
            self.certificates()
        elif not self.near and not self.insecure:
            raise ValueError(
                f"{self.address} is on another machine: add --grpc-ca FILE for TLS, or --grpc-insecure to send "
                f"everything in plain text"
            )
        if read_token(self.token_file) and self.ca is None and not self.near:
            raise ValueError(f"a token is not sent in plain text to {self.address}: add --grpc-ca FILE for TLS")
        self.token()

    @property
    def host(self) -> str:
        """Without brackets; "" where it is not about one."""
        found = _HOST_AND_PORT.fullmatch(self.address)
        return found["host"].strip("[]") if found else ""

    @property
    def port(self) -> int | None:
        found = _HOST_AND_PORT.fullmatch(self.address)
        return int(found["port"]) if found else None

    @property
    def near(self) -> bool:
        """Does nothing that is sent leave this machine?"""
        if not self.host or self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def one_at_a_time(self) -> bool:
        """Is there one address only, and so one server?"""
        return self.address != AUTO and self.port != 0

    def certificates(self) -> bytes:
        """Those of ``ca``. Raises ValueError."""
        assert self.ca is not None
        try:
            found = read_bytes(self.ca, _LARGEST_CA)
        except FileError as error:
            raise ValueError(f"--grpc-ca {self.ca} {error}") from None
        if b"-----BEGIN CERTIFICATE-----" not in found:
            raise ValueError(f"--grpc-ca {self.ca} holds no certificate in PEM format")
        return found

    def token(self) -> str:
        """Read at each call, and kept nowhere; "" for none. Raises ValueError.

        A token of fewer than `SHORTEST` characters is refused: it could not be removed from what a server says.
        """
        token = read_token(self.token_file)
        if 0 < len(token) < SHORTEST:
            where = self.token_file or TOKEN_VARIABLE
            raise ValueError(
                f"{where} holds a token of fewer than {SHORTEST} characters, which could not be removed from reports "
                "if the server quotes it: use a longer token"
            )
        return token

    def _check_address(self) -> None:
        if self.address.startswith(_UNIX):
            path = self.address.removeprefix(_UNIX)
            if not path or len(path.encode()) > LONGEST_PATH:
                raise ValueError(f"{self.address!r}: a socket has a path of 1 to {LONGEST_PATH} bytes after unix:")
            return
        if self.address != AUTO and (self.port is None or self.port > 65535):
            raise ValueError(f"{self.address!r} is no address: write for example 127.0.0.1:50051 or unix:/tmp/sds.sock")
        if not self.one_at_a_time and not self.started:
            raise ValueError(
                f"{self.address} is for a server that the suite starts: add `-- COMMAND`, or say where yours listens"
            )
