"""A conversation with the reference model in which every command and every answer of the testee protocol occurs."""

from __future__ import annotations

from collections.abc import Iterator

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference.testee.server import Testee, TesteeOptions
from sds_testee.framing import Framing

T = 1_800_000_000_000
_TALKATIVE = {
    pb.CAPABILITY_VIRTUAL_CLOCK,
    pb.CAPABILITY_OBSERVE,
    pb.CAPABILITY_DELIVERED,
    pb.CAPABILITY_MESSAGE_CODEC,
}
"""Capabilities that the example declares: a list of all of them would fill the page."""
_UNKNOWN = '{{"id":"{}","frobnicate":{{}}}}'


def examples() -> Iterator[tuple[str, str, str, str]]:
    """Of each exchange: the name of the command and of the answer, and both as JSON lines."""
    declared = Testee(TesteeOptions("1.0", name="my-sds", without=frozenset(pb.Capability.values()) - _TALKATIVE))
    hello = pb.Hello(protocol_version=1, harness="sds-conformance", revision="sds-2026-01")
    yield _exchange(declared, 1, pb.Request(hello=hello))
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
        yield _exchange(testee, number, request)
    number = len(requests) + 2
    unknown = testee.handle(pb.Request(id=number))
    yield "", "unsupported", _UNKNOWN.format(number), _line(pb.Reply(id=number, unsupported=unknown.unsupported))
    failed = pb.Reply(id=number + 1, error=pb.Error(message="the database is gone"))
    yield "tick", "error", _line(pb.Request(id=number + 1, tick=pb.Tick(now_ms=T + 3_000, handle=1))), _line(failed)


def _exchange(testee: Testee, number: int, request: pb.Request) -> tuple[str, str, str, str]:
    request.id = number
    reply = testee.handle(request)
    if reply.HasField("rejected"):
        reply.rejected.reason = "not an SDS message"  # the text is that of a library and may change
    command, answer = request.WhichOneof("command"), reply.WhichOneof("answer")
    return command or "", answer or "", _line(request), _line(reply)


def _line(message: pb.Request | pb.Reply) -> str:
    return Framing.JSON.pack(message).decode().rstrip()
