"""Sessions with ClearSkies peers: every command of the language, its answer and its capabilities."""

from __future__ import annotations

from typing import Any

import pytest

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_stages import session_of, without
from sds_harness.clearskies.clubs import READ_WRITE, keys_of, private_pem, public_pem
from sds_harness.clearskies.language import CAPABILITY_OF_COMMAND, CLEARSKIES

COMMANDS = [field.name for field in pb.Request.DESCRIPTOR.oneofs_by_name["command"].fields]
OPEN = pb.Open(peer_id="a" * 32, access_level=pb.ACCESS_LEVEL_READ_WRITE, keys=keys_of(READ_WRITE))
BODY = b'{"type":"x"}'
A, B = b'{"%s":1}' % (b"a" * 32), b'{"%s":2}' % (b"a" * 32)


def requests(handle: int) -> dict[str, pb.Request]:
    """One request for each command except the handshake, in a valid order, to the peer with this handle."""
    at: dict[str, Any] = {"now_ms": 1_800_000_000_000, "handle": handle}
    other: dict[str, Any] = {"peer_id": "b" * 32, "access_level": pb.ACCESS_LEVEL_READ_WRITE}
    verify = pb.Verify(body=BODY, signature=b"x", public_key=public_pem(READ_WRITE))
    made = {
        "connect": pb.Request(connect=pb.Connect(link=1, **other, **at)),
        "receive": pb.Request(receive=pb.Receive(link=1, data=b"m12" + BODY, **at)),
        "put": pb.Request(put=pb.Put(key="k", value="1", **at)),
        "rename": pb.Request(rename=pb.Rename(key="k", new_key="k2", **at)),
        "delete": pb.Request(delete=pb.Delete(key="k2", **at)),
        "tick": pb.Request(tick=pb.Tick(**at)),
        "observe": pb.Request(observe=pb.Observe(**at)),
        "disconnect": pb.Request(disconnect=pb.Disconnect(link=1, **at)),
        "compare_clocks": pb.Request(compare_clocks=pb.CompareClocks(one=A, other=B)),
        "frame": pb.Request(frame=pb.Frame(body=BODY, private_key=private_pem(READ_WRITE))),
        "unframe": pb.Request(unframe=pb.Unframe(data=b"m12" + BODY + b"m")),
        "verify": pb.Request(verify=verify),
        "open": pb.Request(open=OPEN),
        "close": pb.Request(close=pb.Close(**at)),
    }
    assert {*made, "hello"} == set(COMMANDS)
    return made


def test_every_command_is_answered_as_the_language_says() -> None:
    session = session_of()
    handle = session.call(pb.Request(open=OPEN)).opened.handle
    for command, request in requests(handle).items():
        answer = session.call(request).WhichOneof("answer")
        assert answer == CLEARSKIES.answer_to(command), command
    answers = {field.name for field in pb.Reply.DESCRIPTOR.oneofs_by_name["answer"].fields}
    assert {CLEARSKIES.answer_to(command) for command in COMMANDS} == answers - {"unsupported", "rejected", "error"}


@pytest.mark.parametrize("command", CAPABILITY_OF_COMMAND)
def test_what_is_not_declared_may_be_unsupported_and_nothing_else(command: str) -> None:
    lesser = session_of(**without(CAPABILITY_OF_COMMAND[command]))
    handle = lesser.call(pb.Request(open=OPEN)).opened.handle
    assert lesser.call(requests(handle)[command]).WhichOneof("answer") == "unsupported"
