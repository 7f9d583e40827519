"""Adapters that write JSON by hand, and one thing in it wrongly.

python misspelling_adapters.py NAME
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference.testee.server import Testee, TesteeOptions
from sds_testee.framing import Framing

Reply = dict[str, Any]


def misspells_a_field(reply: Reply) -> None:
    for event in reply.get("effects", {}).get("events", []):
        if "delivered" in event:
            event["delivered"]["mesageId\x1b[31m"] = event["delivered"].pop("messageId")


def misspells_an_answer(reply: Reply) -> None:
    if "opened" in reply:
        reply["open"] = reply.pop("opened")


def abbreviates_a_capability(reply: Reply) -> None:
    if "hello" in reply:
        reply["hello"]["capabilities"][0] = "VIRTUAL_CLOCK"


def echoes_no_id(reply: Reply) -> None:
    del reply["id"]


def writes_odd_base64(reply: Reply) -> None:
    broadcasts = reply.get("effects", {}).get("broadcasts", [])
    broadcasts[:] = [f"{one[:4]}\n{one[4:]}" for one in broadcasts]


def is_out_of_range(reply: Reply) -> None:
    if "opened" in reply:
        reply["opened"]["configuration"]["bloomCapacity"] = 1 << 32


def writes_as_one_may(reply: Reply) -> None:
    """Numbers that are numbers, names of the .proto, null for nothing: all of it is allowed."""
    reply["id"] = int(reply["id"])
    reply["error"] = None
    for event in reply.get("effects", {}).get("events", []):
        event["channel_id"] = event.pop("channelId")


ADAPTERS: dict[str, Callable[[Reply], None]] = {
    function.__name__.replace("_", "-"): function
    for function in (
        misspells_a_field,
        misspells_an_answer,
        abbreviates_a_capability,
        echoes_no_id,
        writes_odd_base64,
        is_out_of_range,
        writes_as_one_may,
    )
}

if __name__ == "__main__":
    change, testee = ADAPTERS[sys.argv[1]], Testee(TesteeOptions("1"))
    for line in sys.stdin.buffer:
        right = Framing.JSON.pack(testee.handle(Framing.JSON.parse(line.rstrip(), pb.Request, lenient=True)))
        reply = json.loads(right)
        change(reply)
        print(json.dumps(reply), flush=True)
