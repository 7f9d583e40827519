"""An adapter whose every word is poisoned, in one of several places.

python poisoned_adapter.py PLACE
"""

from __future__ import annotations

import os
import sys

from poison import POISON, poisoned
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference.testee.server import Testee, TesteeOptions
from sds_testee.framing import ENVIRONMENT_VARIABLE, Framing
from sds_testee.stdio import serve

RAW = POISON.encode() + b" \xed\xa0\x80 \xff\xfe"
"""With half of a surrogate pair, and with bytes that are no UTF-8."""


def main() -> None:
    place = sys.argv[1]
    testee = Testee(TesteeOptions(version="1"))

    def handle(request: pb.Request) -> pb.Reply:
        os.write(2, RAW + b"\n")
        reply = testee.handle(request)
        command = request.WhichOneof("command")
        if place == "greeting" and command == "hello":
            reply.rejected.reason = POISON
        elif place == "everywhere":
            poisoned(request, reply)
        elif command == "receive" and place == "rejected":
            reply.rejected.reason = POISON
        elif command == "send" and place == "unsupported":
            reply.unsupported.what = POISON
        elif command == "send" and place == "error":
            reply.error.message = POISON
        elif command == "send" and place == "crash":
            os._exit(3)
        elif command == "send" and place == "garbage":
            os.write(1, RAW.replace(b"\n", b" ") + b"\n")
        return reply

    serve(handle, pb.Request, pb.Reply, Framing(os.environ[ENVIRONMENT_VARIABLE]))


if __name__ == "__main__":
    main()
