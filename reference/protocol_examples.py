"""Conversations with the reference models that contain every request and every reply of a testee protocol."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from google.protobuf.message import Message

from clearskies_proto.testee.v1 import testee_pb2 as cs
from clearskies_reference.testee import server as clearskies_server
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference.testee.server import Testee, TesteeOptions
from sds_testee.framing import Framing

Exchange = tuple[str, str, str, str]
"""The name of the request, the name of the reply, and both as JSON lines."""

T = 1_800_000_000_000
_TALKATIVE = {
    pb.CAPABILITY_VIRTUAL_CLOCK,
    pb.CAPABILITY_OBSERVE,
    pb.CAPABILITY_DELIVERED,
    pb.CAPABILITY_MESSAGE_CODEC,
}
"""Capabilities that the example declares: a list of all of them would fill the page."""
_UNKNOWN = '{{"id":"{}","frobnicate":{{}}}}'


def of_sds() -> Iterator[Exchange]:
    """Alice and Bob exchange messages of SDS."""
    declared = Testee(TesteeOptions("1.0", name="my-sds", without=frozenset(pb.Capability.values()) - _TALKATIVE))
    hello = pb.Hello(protocol_version=1, harness="sds-conformance", revision="sds-2026-01")
    yield _exchange(declared.handle, 1, pb.Request(hello=hello))
    testee, bob = (Testee(TesteeOptions("1.0", name="my-sds")) for _ in range(2))
    small = pb.Configuration(bloom_capacity=8, bloom_error_rate=0.1, sds_r=False)
    bob.handle(pb.Request(open=pb.Open(now_ms=T, participant_id="bob", channels=["c1"], configuration=small)))
    reply = bob.handle(pb.Request(send=pb.Send(now_ms=T + 5, handle=1, channel_id="c1", content=b"hi")))
    build = pb.BuildFilter(message_ids=["m1", "m2"], bloom_capacity=8, bloom_error_rate=0.1)
    built = testee.handle(pb.Request(build_filter=build)).filter
    query = pb.QueryFilter(message_ids=["m1", "m3"], bloom_capacity=8, bloom_error_rate=0.1)
    query.bloom_filter = built.bloom_filter
    message = pb.Message(sender_id="bob", message_id="m1", channel_id="c1", lamport_timestamp=T, content=b"hi")
    message.causal_history.add(message_id="m0")
    encoded = testee.handle(pb.Request(encode=pb.Encode(message=message))).encoded
    times = pb.RepairTimes(now_ms=T, participant_id="alice", message_id="m1", sender_id="bob", num_response_groups=1)
    times.t_min_ms, times.t_max_ms = 30_000, 300_000
    requests = [
        pb.Request(open=pb.Open(now_ms=T, participant_id="alice", channels=["c1"], configuration=small)),
        pb.Request(send=pb.Send(now_ms=T, handle=1, channel_id="c1", content=b"hello")),
        pb.Request(send_ephemeral=pb.SendEphemeral(now_ms=T + 10, handle=1, channel_id="c1", content=b"psst")),
        pb.Request(send_sync=pb.SendSync(now_ms=T + 20, handle=1, channel_id="c1")),
        pb.Request(receive=pb.Receive(now_ms=T + 250, handle=1, wire=reply.effects.broadcasts[0])),
        pb.Request(receive=pb.Receive(now_ms=T + 260, handle=1, wire=b"\xff")),
        pb.Request(tick=pb.Tick(now_ms=T + 1_000, handle=1)),
        pb.Request(observe=pb.Observe(now_ms=T + 1_000, handle=1, channel_id="c1", filter_ids=["m1"])),
        pb.Request(build_filter=build),
        pb.Request(query_filter=query),
        pb.Request(encode=pb.Encode(message=message)),
        pb.Request(decode=pb.Decode(wire=encoded.wire)),
        pb.Request(repair_times=times),
        pb.Request(close=pb.Close(now_ms=T + 2_000, handle=1)),
    ]
    for number, request in enumerate(requests, 2):
        yield _exchange(testee.handle, number, request)
    yield from _failures(testee.handle, len(requests) + 2, pb, "the database is gone")


def of_clearskies(vectors: Path) -> Iterator[Exchange]:
    """Alice and Bob of ClearSkies exchange updates, with the keys of the golden vectors in the folder ``vectors``."""
    private, public = (
        json.loads((vectors / f"{group}-rsa-pkcs1-sha256.json").read_text("utf-8"))[kind]["read_write"]
        for group, kind in (("signing", "private_keys"), ("signatures", "public_keys"))
    )
    keys = cs.Keys(read_write_private=private, read_write_public=public)
    alice_id, bob_id, uuid = "a1" * 16, "b0" * 16, "c4" * 16
    options = clearskies_server.TesteeOptions("1.0", name="my-database", draw=lambda size: b"\1" * size)
    testee, bob = (clearskies_server.Testee(options) for _ in range(2))
    open_alice, open_bob = (
        cs.Open(now_ms=T, peer_id=peer, access_level=cs.ACCESS_LEVEL_READ_WRITE, keys=keys)
        for peer in (alice_id, bob_id)
    )
    connect_bob = cs.Connect(now_ms=T, handle=1, link=1, peer_id=alice_id, access_level=cs.ACCESS_LEVEL_READ_WRITE)
    bob.handle(cs.Request(open=open_bob))
    asked = bob.handle(cs.Request(connect=connect_bob)).effects.sent[0].data
    body = b'{"type":"core.ping","timeout":60}'
    framed = testee.handle(cs.Request(frame=cs.Frame(body=body, private_key=private))).framed.data
    (message,) = testee.handle(cs.Request(unframe=cs.Unframe(data=framed))).unframed.messages
    connect = cs.Connect(now_ms=T, handle=1, link=1, peer_id=bob_id, access_level=cs.ACCESS_LEVEL_READ_WRITE)
    hello = cs.Hello(protocol_version=1, harness="sds-conformance", revision="clearskies-database")
    requests = [
        cs.Request(hello=hello),
        cs.Request(open=open_alice),
        cs.Request(connect=connect),
        cs.Request(receive=cs.Receive(now_ms=T + 10, handle=1, link=1, data=asked)),
        cs.Request(put=cs.Put(now_ms=T + 20, handle=1, key="photo", value='{"stars":3}', uuid=uuid)),
        cs.Request(rename=cs.Rename(now_ms=T + 30, handle=1, key="photo", new_key="picture")),
        cs.Request(delete=cs.Delete(now_ms=T + 40, handle=1, key="picture")),
        cs.Request(delete=cs.Delete(now_ms=T + 50, handle=1, key="picture")),
        cs.Request(tick=cs.Tick(now_ms=T + 1_000, handle=1)),
        cs.Request(observe=cs.Observe(now_ms=T + 1_000, handle=1)),
        cs.Request(disconnect=cs.Disconnect(now_ms=T + 2_000, handle=1, link=1)),
        cs.Request(compare_clocks=cs.CompareClocks(one=b'{"a":1}', other=b'{"a":1,"b":2}')),
        cs.Request(frame=cs.Frame(body=body)),
        cs.Request(unframe=cs.Unframe(data=framed)),
        cs.Request(verify=cs.Verify(body=body, signature=message.signature, public_key=public)),
        cs.Request(close=cs.Close(now_ms=T + 3_000, handle=1)),
    ]
    for number, request in enumerate(requests, 1):
        yield _exchange(testee.handle, number, request)
    yield from _failures(testee.handle, len(requests) + 1, cs, "the disk is full")


def _exchange(handle: Callable[[Any], Any], number: int, request: pb.Request | cs.Request) -> Exchange:
    request.id = number
    reply = handle(request)
    if reply.HasField("rejected"):  # the reason may come from a library, which can change it
        reply.rejected.reason = "not an SDS message" if isinstance(request, pb.Request) else "no such record"
    command, answer = request.WhichOneof("command"), reply.WhichOneof("answer")
    return command or "", answer or "", _line(request), _line(reply)


def _failures(handle: Callable[[Any], Any], number: int, protocol: Any, error: str) -> Iterator[Exchange]:
    """Yield two exchanges: an unknown command, and a command at which the adapter fails."""
    yield "", "unsupported", _UNKNOWN.format(number), _line(handle(protocol.Request(id=number)))
    tick = protocol.Request(id=number + 1, tick=protocol.Tick(now_ms=T + 4_000, handle=1))
    yield "tick", "error", _line(tick), _line(protocol.Reply(id=number + 1, error=protocol.Error(message=error)))


_PEM = re.compile(r"(-----BEGIN [A-Z ]+-----).*?(-----END [A-Z ]+-----)(?:\\n)?")


def _line(message: Message) -> str:
    """A JSON line in which PEM keys are shortened."""
    return _PEM.sub(r"\1...\2", Framing.JSON.pack(message).decode().rstrip())
