"""The kit in Python: without methods it declares nothing, and with the reference's methods it answers like the
reference.

    python test_python_kit.py

runs as an adapter in which all methods are implemented.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from google.protobuf import json_format

from sds_harness import faults
from sds_harness.link import Limits, LocalLink, StdioLink
from sds_harness.sds.environments import ENVIRONMENTS
from sds_harness.sds.language import open_session
from sds_harness.sds.stage import Stage
from sds_harness.session import Session
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config, Participant, encode
from sds_reference.bloom_filter import RollingBloomFilter
from sds_reference.effects import Effects
from sds_reference.errors import SdsError
from sds_reference.testee import server
from sds_reference.testee.convert import config_from_pb, config_to_pb, effects_into, state_to_pb
from sds_testee.framing import ENVIRONMENT_VARIABLE, Framing

KIT = Path(__file__).parents[2] / "adapters" / "python" / "kit.py"
LIMITS = Limits(start_s=20, command_s=10, exit_s=5)
AS_IT_IS = f"import runpy; kit = runpy.run_path({str(KIT)!r}); Implementation = kit['Implementation']\n"
EMPTY = [sys.executable, "-c", AS_IT_IS + "kit['serve'](Implementation())"]
FILLED = [sys.executable, __file__]
NOT_DECLARED = {pb.CAPABILITY_UNSPECIFIED, pb.CAPABILITY_SDS_R, pb.CAPABILITY_MESSAGE_ID_REQUIRED}

if TYPE_CHECKING:
    import kit
else:
    # The kit is copied by users and belongs to no package.
    _spec = spec_from_file_location("kit", KIT)
    kit = module_from_spec(_spec)
    _spec.loader.exec_module(kit)


class Filled(kit.Implementation):
    """An adapter as a user would write it with the kit, with the reference as the implementation."""

    hello: ClassVar[dict[str, Any]] = {
        "name": "filled-kit",
        "version": "1",
        "profiles": {"bloom": "waku-sds-js", "idOrder": "utf-8"},
    }
    capabilities = tuple(pb.Capability.Name(c) for c in pb.Capability.values() if c not in NOT_DECLARED)

    def open(self, now_ms: int = 0, participant_id: str = "", channels: Any = (), configuration: Any = None) -> Any:
        config = config_from_pb(json_format.ParseDict(configuration, pb.Configuration()), Config())
        participant = Participant(participant_id, config)
        for channel_id in channels or ["0"]:
            participant.join(channel_id, now_ms)
        return participant, json_format.MessageToDict(config_to_pb(config))

    def close(self, who: Participant, now_ms: int = 0) -> Any:
        return {}

    def send(self, who: Participant, now_ms: int = 0, channel_id: str = "", content: bytes = b"", **more: Any) -> Any:
        if content == b"no memory":
            raise MemoryError("über alles")
        if content == b"a set":
            return {"events": {1, 2}}
        if content == b"half a pair":
            return {"messageId": "\ud83e"}
        return as_dict(
            who.send(channel_id, content, now_ms, more.get("message_id") or None, more.get("retrieval_hint"))
        )

    def send_ephemeral(
        self, who: Participant, now_ms: int = 0, channel_id: str = "", content: bytes = b"", **more: Any
    ) -> Any:
        return as_dict(who.send_ephemeral(channel_id, content, more.get("message_id") or None))

    def send_sync(self, who: Participant, now_ms: int = 0, channel_id: str = "") -> Any:
        return as_dict(who.send_sync(channel_id, now_ms))

    def receive(self, who: Participant, now_ms: int = 0, wire: bytes = b"", retrieval_hint: Any = None) -> Any:
        try:
            return as_dict(who.receive(wire, now_ms, retrieval_hint))
        except SdsError as error:
            raise kit.RejectedError(str(error)) from None

    def tick(self, who: Participant, now_ms: int = 0) -> Any:
        print("what an implementation prints by mistake, Ж字🦊")
        os.write(1, b"or a library that it is made with\n")
        return as_dict(who.tick(now_ms))

    def observe(self, who: Participant, now_ms: int = 0, channel_id: str = "", filter_ids: Any = ()) -> Any:
        return json_format.MessageToDict(state_to_pb(who.channel(channel_id), list(filter_ids)))

    def build_filter(self, message_ids: Any = (), bloom_capacity: Any = None, bloom_error_rate: Any = None) -> Any:
        config = sized(bloom_capacity, bloom_error_rate)
        received = RollingBloomFilter(config.bloom_profile, config.bloom_parameters, config.bloom_retained_ids)
        for message_id in message_ids:
            received.insert(message_id)
        return {"bloomFilter": received.to_wire()}

    def query_filter(self, bloom_filter: bytes = b"", message_ids: Any = (), **more: Any) -> Any:
        config = sized(**more)
        view = config.bloom_profile.read(bloom_filter, config.bloom_parameters)
        return {"hits": [message_id in view for message_id in message_ids]}

    def encode(self, message: Any = ()) -> Any:
        return {"wire": repr(message).encode()}

    def decode(self, wire: bytes = b"") -> Any:
        entry = {"messageId": "a", "retrievalHint": b""}
        return {"message": {"lamportTimestamp": 2**64 - 1, "causalHistory": [entry], "content": wire}}


def sized(bloom_capacity: Any = None, bloom_error_rate: Any = None) -> Config:
    given = {"bloom_capacity": bloom_capacity, "bloom_error_rate": bloom_error_rate}
    return Config(**{name: value for name, value in given.items() if value is not None})


def as_dict(effects: Effects) -> dict[str, Any]:
    """Effects in the form that the kit accepts, bytes as bytes."""
    out = pb.Effects()
    effects_into(out, effects)
    events = [json_format.MessageToDict(event) for event in out.events]
    for event, original in zip(events, out.events, strict=True):
        if "content" in event.get("delivered", {}):
            event["delivered"]["content"] = original.delivered.content
    return {"broadcasts": list(out.broadcasts), "events": events, "messageId": out.message_id}


def session_with(command: Sequence[str], **variables: str) -> Session:
    return open_session(lambda: StdioLink(command, Framing.JSON, LIMITS, variables), LIMITS, "sds-2026-01")


@pytest.fixture
def empty() -> Iterator[Session]:
    session = session_with(EMPTY)
    yield session
    session.kill()


@pytest.fixture
def filled() -> Iterator[Session]:
    session = session_with(FILLED)
    yield session
    session.kill()


# ---- The template without changes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kit.py", "adapter.py", "toy.py"])
def test_it_wants_python_3_9_and_nothing_else(name: str) -> None:
    tree = ast.parse(KIT.with_name(name).read_text("utf-8"), feature_version=(3, 9))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {module.split(".")[0] for module in imported} <= sys.stdlib_module_names | {"kit", "toy"}


def test_every_command_has_a_method_that_says_what_to_do() -> None:
    commands = {field.name for field in pb.Request.DESCRIPTOR.oneofs_by_name["command"].fields} - {"hello"}
    methods = {name for name, value in vars(kit.Implementation).items() if callable(value)}
    assert methods == commands


def test_it_shakes_hands_declares_nothing_and_knows_what_it_does_not_know(empty: Session) -> None:
    assert empty.declaration.name == "my-sds"
    assert empty.declaration.capabilities == frozenset()
    empty.probe_honesty()
    empty.close()


def test_a_method_that_everybody_needs_is_named_when_it_is_not_filled_in(empty: Session) -> None:
    with pytest.raises(faults.TesteeError, match="NotImplementedError in open: make a participant") as caught:
        empty.call(pb.Request(open=pb.Open(participant_id="alice", channels=["c1"])))
    assert caught.value.breakdown.kind is faults.FaultKind.ERROR


@pytest.mark.parametrize(
    ("request_", "what"),
    [
        (pb.Request(send_sync=pb.SendSync()), "SYNC"),
        (pb.Request(build_filter=pb.BuildFilter()), "FILTER_CODEC"),
        (pb.Request(build_filter=pb.BuildFilter(bloom_capacity=9)), "FILTER_CODEC, FILTER_SIZES"),
        (pb.Request(encode=pb.Encode(message=pb.Message(message_id="m"))), "MESSAGE_CODEC"),
        (pb.Request(repair_times=pb.RepairTimes(participant_id="p", message_id="m", t_max_ms=9)), "REPAIR_TIMES"),
        (pb.Request(open=pb.Open(channels=["c1", "c2"])), "CHANNELS"),
        (pb.Request(open=pb.Open()), "UNNAMED_CHANNEL"),
        (pb.Request(send=pb.Send(message_id="m")), "MESSAGE_ID"),
        (pb.Request(receive=pb.Receive(retrieval_hint=b"h")), "RETRIEVAL_HINTS"),
    ],
    ids=repr,
)
def test_what_is_not_declared_is_unsupported(empty: Session, request_: pb.Request, what: str) -> None:
    assert empty.call(request_).unsupported.what == what


def test_it_answers_lines_that_are_no_request_and_goes_on() -> None:
    lines = [b"not json", b"[]", b"\xff", b'{"id":"4"}', b'{"id":"5","tick":{"who_knows":1}}', b'{"id":"6","hello":{}}']
    done = subprocess.run(EMPTY, input=b"\n".join(lines), capture_output=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [list(answer)[1] for answer in answers] == ["error"] * 3 + ["unsupported"] * 2 + ["hello"]
    assert [answer["id"] for answer in answers] == [0, 0, 0, "4", "5", "6"]


def test_it_refuses_the_other_framing_in_words() -> None:
    environment = {**os.environ, ENVIRONMENT_VARIABLE: "binary"}
    done = subprocess.run(EMPTY, input=b"", capture_output=True, env=environment)
    assert done.returncode == 1
    assert b"JSON lines only" in done.stderr


# ---- The kit with all methods ----------------------------------------------------------------------------------------


def story(stage: Stage) -> None:
    """A conversation with every command, and text in many alphabets."""
    alice, carla = stage.open(), stage.open("carla", ("c1", "Ж-字"))
    bob, stranger = stage.peer("bob"), stage.peer("bob", "nowhere")
    first = alice.send("Grüße, 世界 🦊".encode())
    alice.send(b"\x00\xff\xfe", message_id="own-\u0131-ß", retrieval_hint=b"\x01\x80")
    carla.receive(first)
    reply = carla.send(channel_id="c1")
    alice.receive(reply, retrieval_hint=b"hint")
    hidden = bob.content(stage.now_ms + 5)
    alice.receive(bob.content(stage.now_ms + 9, hidden), hidden, hidden)
    alice.receive(b"", b"\xff\xff", encode(stranger.content(stage.now_ms)))
    alice.receive(bob.content(stage.now_ms + 10, content=b""))
    alice.send_ephemeral("tippt…".encode())
    alice.send_sync()
    for _ in range(3):
        stage.advance(60_000)
        alice.tick()
    carla.send(channel_id="Ж-字")
    alice.observe(hidden.message_id, "nothing")
    alice.ask_filter(reply.bloom_filter or b"", reply.message_id, first.message_id, "nothing")
    many = pb.BuildFilter(message_ids=[f"m-{number}" for number in range(12_000)])
    stage.step("", pb.Request(build_filter=many))
    stage.open("dora", ()).send()
    stage.close()


@pytest.mark.every_python
@pytest.mark.parametrize("name", [e.name for e in ENVIRONMENTS.values() if pb.CAPABILITY_SDS_R not in e.needs])
def test_filled_in_it_answers_as_the_implementation_does(name: str) -> None:
    environment = ENVIRONMENTS[name]
    session = session_with(FILLED, **environment.variables)
    stage = Stage(session, "a story", environment=environment)
    story(stage)
    session.probe_honesty()
    session.close()
    options = server.TesteeOptions("1", without=frozenset({pb.CAPABILITY_SDS_R}))
    reference = open_session(lambda: LocalLink(server.Testee(options).handle), LIMITS, "sds-2026-01")
    expected = Stage(reference, "a story", environment=environment)
    story(expected)
    assert len(stage.trace.steps) > 20
    for ours, theirs in zip(stage.trace.steps, expected.trace.steps, strict=True):
        assert (ours.index, ours.request) == (theirs.index, theirs.request)
        if ours.answer == "rejected" == theirs.answer:
            continue
        assert ours.reply == theirs.reply, ours.command
    answers = {step.answer for step in stage.trace.steps}
    assert answers == {"opened", "effects", "state", "filter", "membership", "rejected"}


def test_bytes_and_numbers_in_messages_come_as_those_of_python_and_leave_as_those_of_protojson(filled: Session) -> None:
    entries = [pb.HistoryEntry(message_id="Ж字🦊", retrieval_hint=b"\x00\xff"), pb.HistoryEntry(sender_id="bob")]
    message = pb.Message(lamport_timestamp=2**64 - 1, causal_history=entries, content=b"")
    seen = filled.call(pb.Request(encode=pb.Encode(message=message))).encoded.wire.decode()
    history = [{"message_id": "Ж字🦊", "retrieval_hint": b"\x00\xff"}, {"sender_id": "bob"}]
    assert ast.literal_eval(seen) == {"lamport_timestamp": 2**64 - 1, "causal_history": history, "content": b""}
    decoded = filled.call(pb.Request(decode=pb.Decode(wire=b"\x80"))).decoded.message
    entry = pb.HistoryEntry(message_id="a", retrieval_hint=b"")
    assert decoded == pb.Message(lamport_timestamp=2**64 - 1, causal_history=[entry], content=b"\x80")


@pytest.mark.every_python
def test_a_fault_of_the_implementation_is_quoted_and_the_process_goes_on(filled: Session) -> None:
    opened = filled.call(pb.Request(open=pb.Open(participant_id="alice", channels=["c1"], now_ms=1_000)))

    def answer(content: bytes) -> pb.Reply:
        send = pb.Send(handle=opened.opened.handle, channel_id="c1", content=content, now_ms=1_000)
        reply: pb.Reply = filled.link.call(pb.Request(id=99, send=send), 10, pb.Reply)
        return reply

    assert "not 'set'" in answer(b"a set").error.message
    assert answer(b"no memory").error.message == "MemoryError in send: über alles"
    assert answer(b"half a pair").effects.message_id == "?"
    assert len(answer(b"hello").effects.message_id) == 64
    filled.close()  # close it first, so that its stderr is complete
    assert any("test_python_kit.py" in line for line in filled.link.stderr_lines())


if __name__ == "__main__":
    kit.serve(Filled())
