"""The reference model without virtual time: it reads the clock of the system.

    python system_clock.py [WAY]

WAY selects one of the oddities below.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference.testee.server import Testee, TesteeOptions
from sds_testee.framing import ENVIRONMENT_VARIABLE, Framing
from sds_testee.stdio import serve

COMMAND = (sys.executable, __file__)
MONOTONIC = "monotonic-timers"
"""Timers use monotonic time."""
IDLE = "idle"
"""The model has no periodic work."""
DEAF = "deaf"
"""It starts itself again without the preloaded library."""
SHY = "shy"
"""It does not start with a preloaded library."""


def main(arguments: Sequence[str]) -> None:
    way = arguments[0] if arguments else ""
    preloaded = os.environ.pop("LD_PRELOAD", "")
    if preloaded and way == DEAF:
        os.execv(sys.executable, [*COMMAND, way])
    if preloaded and way == SHY:
        sys.exit("what is this?")
    testee = Testee(TesteeOptions("1", name="system-clock", without=frozenset({pb.CAPABILITY_VIRTUAL_CLOCK})))
    began_ms = time.time_ns() // 1_000_000 - time.monotonic_ns() // 1_000_000

    def answer(request: pb.Request) -> pb.Reply:
        name = request.WhichOneof("command") or ""
        command = getattr(request, name, None)
        if command is not None and "now_ms" in command.DESCRIPTOR.fields_by_name:
            command.now_ms = time.time_ns() // 1_000_000
        if name == "tick" and way == MONOTONIC:
            request.tick.now_ms = began_ms + time.monotonic_ns() // 1_000_000
        if name == "tick" and way == IDLE:
            return pb.Reply(id=request.id, effects=pb.Effects())
        return testee.handle(request)

    serve(answer, pb.Request, pb.Reply, Framing(os.environ.get(ENVIRONMENT_VARIABLE, "json")))


if __name__ == "__main__":
    main(sys.argv[1:])
