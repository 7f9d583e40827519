"""The model of Echo, as an implementation under test; ``--shouts`` is its one fault."""

from __future__ import annotations

import sys
from typing import Any

from sds_testee.framing import Framing
from sds_testee.stdio import serve

from .messages import Reply, Request


def handle(request: Any, shouts: bool = False) -> Any:
    """The one answer to a request."""
    reply = Reply(id=request.id)
    match request.WhichOneof("command"):
        case "hello":
            reply.hello.protocol_version, reply.hello.name = 1, "shouting echo" if shouts else "echo"
            reply.hello.revisions.append("echo-1")
        case "say":
            reply.said.text = request.say.text.upper() if shouts else request.say.text
        case _:
            reply.unsupported.what = "unknown command"
    return reply


if __name__ == "__main__":
    serve(lambda request: handle(request, "--shouts" in sys.argv), Request, Reply, Framing.JSON)
