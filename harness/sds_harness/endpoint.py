"""The address of a testee protocol server, and how to connect. This module does not need gRPC to be installed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from sds_testee.rpc import TOKEN_VARIABLE, read_token

from .files import FileError, read_bytes
from .redaction import SHORTEST

AUTO = "auto"
"""Address of a server that the suite starts: the suite chooses a socket in a private folder."""
_HOST_AND_PORT = re.compile(r"(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):(?P<port>[0-9]{1,5})")
_UNIX = "unix:"
LONGEST_PATH = 100
"""Maximum length of a socket path in bytes. The kernel accepts a few more."""
_LARGEST_CA = 4 << 20


@dataclass(frozen=True)
class Endpoint:
    """The address of a server, as given on the command line. The constructor checks it; tokens are not stored in it.

    Raises ValueError with a message that names the option to add.
    """

    address: str
    """HOST:PORT or unix:PATH. For a server that the suite starts also ``auto``, or port 0 for a free port."""
    service: str
    """Full name of the gRPC service."""
    started: bool = False
    """Whether the suite starts the server for each conversation. Otherwise the server is already running."""
    ca: Path | None = None
    """CA certificates (PEM) that verify the server. If given, the connection uses TLS."""
    token_file: Path | None = None
    insecure: bool = False
    """Whether plain text may be sent to another machine."""

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
        """The host without brackets; "" if the address has none."""
        found = _HOST_AND_PORT.fullmatch(self.address)
        return found["host"].strip("[]") if found else ""

    @property
    def port(self) -> int | None:
        found = _HOST_AND_PORT.fullmatch(self.address)
        return int(found["port"]) if found else None

    @property
    def near(self) -> bool:
        """Is the server on this machine?"""
        if not self.host or self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def one_at_a_time(self) -> bool:
        """Is the address fixed, so that only one server can run at a time?"""
        return self.address != AUTO and self.port != 0

    def certificates(self) -> bytes:
        """The content of ``ca``. Raises ValueError."""
        assert self.ca is not None
        try:
            found = read_bytes(self.ca, _LARGEST_CA)
        except FileError as error:
            raise ValueError(f"--grpc-ca {self.ca} {error}") from None
        if b"-----BEGIN CERTIFICATE-----" not in found:
            raise ValueError(f"--grpc-ca {self.ca} holds no certificate in PEM format")
        return found

    def token(self) -> str:
        """The token; "" for none. It is read at each call and never stored. Raises ValueError.

        A token of fewer than `SHORTEST` characters is rejected, because it could not be removed from the output of a
        server.
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
            raise ValueError(
                f"{self.address!r} is not an address: write for example 127.0.0.1:50051 or unix:/tmp/sds.sock"
            )
        if not self.one_at_a_time and not self.started:
            raise ValueError(
                f"{self.address} is for a server that the suite starts: "
                "add `-- COMMAND`, or give the address of your server"
            )
