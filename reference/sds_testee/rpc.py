"""Constants and functions that both ends of a gRPC connection share. They do not need the package grpcio."""

from __future__ import annotations

import os
from pathlib import Path

from .framing import MAX_FRAME_BYTES

METHOD = "Converse"
"""The one method of the service of a testee protocol: a stream of requests, a stream of replies."""
ADDRESS_VARIABLE = "SDS_TESTEE_GRPC"
"""The environment variable with the address at which the server must listen: HOST:PORT or unix:PATH. The harness sets
it."""
TOKEN_VARIABLE = "SDS_TESTEE_GRPC_TOKEN"
"""The environment variable with the token; used if no file is given."""
MESSAGE_SIZES = (
    ("grpc.max_receive_message_length", MAX_FRAME_BYTES),
    ("grpc.max_send_message_length", MAX_FRAME_BYTES),
)
"""gRPC options of a channel and of a server: frames of the same maximum size as on stdin and stdout."""
_LONGEST_TOKEN = 4096
"""Maximum number of characters of a token, because servers accept at most 8 KiB of metadata."""


def authorization(token: str) -> tuple[tuple[str, str], ...]:
    """The metadata that carry a token; none if there is no token."""
    return (("authorization", f"Bearer {token}"),) if token else ()


def read_token(file: Path | None) -> str:
    """The token in a file or, without a file, in the environment; "" if there is none.

    Raises ValueError, which describes the error and never quotes the file.
    """
    if file is None:
        where, text = TOKEN_VARIABLE, os.environ.get(TOKEN_VARIABLE, "")
    else:
        where = str(file)
        if file.exists() and not file.is_file():
            raise ValueError(f"the token cannot be read from {file}: it is not a regular file")
        try:
            with file.open("rb") as opened:
                text = opened.read(_LONGEST_TOKEN + 1).decode("ascii")
        except OSError as error:
            raise ValueError(f"the token cannot be read from {file}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise ValueError(f"{file} contains no token: a token is one line of ASCII") from None
    token = text.strip()
    if len(text) > _LONGEST_TOKEN or not all("!" <= c <= "~" for c in token) or (file is not None and not token):
        raise ValueError(
            f"{where} contains no token: a token is one line of at most {_LONGEST_TOKEN} ASCII characters "
            "without blanks"
        )
    return token
