"""The kit: speaks the testee protocol for an Implementation.

`new-adapter` copies this file: do not change it. Subclass Implementation, fill in its methods one by one, and call
`serve`. The kit needs only Python 3.9 or newer.
"""

import base64
import functools
import inspect
import json
import os
import re
import sys
import traceback
from typing import Any, ClassVar

ANSWERS = {"open": "opened", "observe": "state", "build_filter": "filter", "query_filter": "membership"}
ANSWERS.update(encode="encoded", decode="decoded", repair_times="repairOffsets")
NEEDS = {"send_sync": "SYNC", "send_ephemeral": "EPHEMERAL", "observe": "OBSERVE", "build_filter": "FILTER_CODEC"}
NEEDS.update(query_filter="FILTER_CODEC", encode="MESSAGE_CODEC", decode="MESSAGE_CODEC", repair_times="REPAIR_TIMES")
NEEDS.update(bloom_capacity="FILTER_SIZES", bloom_error_rate="FILTER_SIZES")
# Fields that need a capability only in commands to a participant:
NEEDS.update({"who message_id": "MESSAGE_ID", "who retrieval_hint": "RETRIEVAL_HINTS"})
PLAIN: dict[str, Any] = dict.fromkeys(("content", "wire", "bloom_filter", "retrieval_hint"), base64.b64decode)
PLAIN.update(dict.fromkeys(("now_ms", "handle", "lamport_timestamp", "t_min_ms", "t_max_ms"), int))
MORE = (
    "bloom_capacity",
    "bloom_error_rate",
    "message_id",
    "retrieval_hint",
    "sender_id",
    "t_min_ms",
    "t_max_ms",
    "num_response_groups",
)
snake = functools.partial(re.sub, "[A-Z]", lambda capital: "_" + capital.group().lower())  # channelId to channel_id


class RejectedError(Exception):
    """Raise this, with the reason, for input that your implementation refuses."""


class Implementation:
    """The commands, as methods to fill in; `who` is the participant, as returned by `open`.

    Bytes are plain bytes, also in results, and empty fields may be left out. Effects are {"broadcasts": [b"..."],
    "events": [...], "messageId": "..."}, an event for example {"channelId": "c1", "delivered": {"messageId": "m1",
    "content": b"hi"}}.
    """

    hello: ClassVar[dict[str, Any]] = {"name": "my-sds", "version": "0", "revisions": ["sds-2026-01"]}
    capabilities: tuple[str, ...] = ()  # For example ("CAPABILITY_VIRTUAL_CLOCK",).

    def open(self, now_ms: int = 0, participant_id: str = "", channels: Any = (), configuration: Any = ()) -> Any:
        raise NotImplementedError("make a participant, join the channels; return it and the effective configuration")

    def close(self, who: Any, now_ms: int = 0) -> Any:
        raise NotImplementedError("free the participant, not the process; return nothing")

    def send(self, who: Any, now_ms: int = 0, channel_id: str = "", content: bytes = b"", **more: Any) -> Any:
        raise NotImplementedError(
            "send content (message_id, retrieval_hint are in more); return effects with the messageId"
        )

    def send_ephemeral(self, who: Any, now_ms: int = 0, channel_id: str = "", content: bytes = b"", **more: Any) -> Any:
        raise NotImplementedError(
            "send an ephemeral message (message_id is in more); return effects with the messageId"
        )

    def send_sync(self, who: Any, now_ms: int = 0, channel_id: str = "") -> Any:
        raise NotImplementedError("send a sync message now; return effects, {} if there was nothing to send")

    def receive(self, who: Any, now_ms: int = 0, wire: bytes = b"", retrieval_hint: Any = None) -> Any:
        raise NotImplementedError("pass on the unchanged bytes from the network; return effects, {} for ignored bytes")

    def tick(self, who: Any, now_ms: int = 0) -> Any:
        raise NotImplementedError("run the periodic work that is due, in every channel; return effects, {} if none")

    def observe(self, who: Any, now_ms: int = 0, channel_id: str = "", filter_ids: Any = ()) -> Any:
        raise NotImplementedError("return the state of the channel; leave out what cannot be seen")

    def build_filter(self, message_ids: Any = (), bloom_capacity: Any = None, bloom_error_rate: Any = None) -> Any:
        raise NotImplementedError('return {"bloomFilter": bytes} over the IDs, even if they exceed the capacity')

    def query_filter(self, bloom_filter: bytes = b"", message_ids: Any = (), **more: Any) -> Any:
        # `more` may have bloom_capacity and bloom_error_rate.
        raise NotImplementedError('return {"hits": [...]}, a bool for each ID')

    def encode(self, message: Any = ()) -> Any:
        raise NotImplementedError('return {"wire": bytes} of a message with exactly the fields in the dict')

    def decode(self, wire: bytes = b"") -> Any:
        raise NotImplementedError(
            'return {"message": {fields that are set}, "kind": ...}; raise RejectedError for invalid bytes'
        )

    def repair_times(self, now_ms: int = 0, participant_id: str = "", message_id: str = "", **more: Any) -> Any:
        # `more` may have sender_id, t_min_ms, t_max_ms and num_response_groups, unless they are 0 or empty.
        raise NotImplementedError(
            'return {"tReqMs": ..., "tRespMs": ..., "inResponseGroup": ...}; the times are ms after now_ms'
        )


def plain(field: str, value: Any) -> Any:
    """Convert a value of ProtoJSON to Python.

    ProtoJSON writes bytes as base64 and 64-bit numbers as strings, and omits 0 and "".
    """
    if field == "configuration":
        return value
    if isinstance(value, dict):
        return {snake(inner): plain(snake(inner), item) for inner, item in value.items()}
    if isinstance(value, list):
        return [plain(field, item) for item in value]
    return PLAIN.get(field, lambda v: v)(value)


def answer_to(mine: Implementation, participants: dict[int, Any], name: str, given: dict[str, Any]) -> dict[str, Any]:
    """The answer to one command: the result of the method with the name of the command."""
    if name == "hello":
        return {"hello": {"protocolVersion": 1, "capabilities": mine.capabilities, **mine.hello}}
    command, given = snake(name), {snake(field): value for field, value in given.items()}
    todo = vars(Implementation).get(command)
    if not inspect.isfunction(todo):
        return {"unsupported": {"what": name or "no command"}}
    takes = inspect.signature(todo).parameters
    known = (*takes, "handle", *MORE) if "more" in takes else (*takes, "handle")
    lacking = [f"field {field}" for field in given if field not in known]
    concerns = [command, *given, *(f"who {field}" for field in given if given[field] and "who" in takes)]
    needed = [NEEDS[what] for what in concerns if what in NEEDS]
    if command == "open":
        given = {"channels": [], "configuration": {}, **given}
        needed += {0: ["UNNAMED_CHANNEL"], 1: []}.get(len(given["channels"]), ["CHANNELS"])
    lacking += [what for what in needed if not any(c.startswith("CAPABILITY_" + what) for c in mine.capabilities)]
    if lacking:
        return {"unsupported": {"what": ", ".join(lacking)}}
    fields = {field: empty.default for field, empty in takes.items() if empty.default is not empty.empty}
    fields.update({field: plain(field, value) for field, value in given.items()})
    if "who" in takes:
        handle = fields.pop("handle", 0)
        fields["who"] = participants.pop(handle) if command == "close" else participants[handle]
    result = getattr(mine, command)(**fields)
    if command == "open":
        handle = 1 + max(participants, default=0)
        participants[handle], in_force = result
        result = {"handle": handle, "configuration": in_force}
    return {ANSWERS.get(command, "effects"): result or {}}


def line_of(reply: dict[str, Any]) -> bytes:
    """A reply as a line.

    Replace text that is invalid Unicode by question marks, because a protobuf string cannot contain it.
    """
    text = json.dumps(reply, ensure_ascii=False, default=lambda value: base64.b64encode(value).decode())
    return text.encode("utf-8", "replace") + b"\n"


def reply_to(mine: Implementation, participants: dict[int, Any], line: bytes) -> bytes:
    """The reply to one request; both are a line of ProtoJSON."""
    number: Any = 0
    try:
        request = json.loads(line.decode("utf-8"))
        number = request.pop("id", 0)
        answer = answer_to(mine, participants, *next(iter(request.items()), ("", {})))
        return line_of({"id": number, **answer})
    except RejectedError as reason:
        return line_of({"id": number, "rejected": {"reason": str(reason)}})
    except Exception as error:  # A fault of the adapter: the suite quotes the reply.
        traceback.print_exc()
        where = traceback.extract_tb(error.__traceback__)[-1].name
        return line_of({"id": number, "error": {"message": f"{type(error).__name__} in {where}: {error}"}})


def serve(mine: Implementation) -> None:
    """Answer every line of stdin until it ends."""
    if os.environ.get("SDS_TESTEE_FRAMING", "json") != "json":
        sys.exit("this adapter speaks JSON lines only: run sds-conformance with --framing json")
    # Output that is printed by mistake, also by a library in C, must not mix with the replies.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    participants: dict[int, Any] = {}
    for line in sys.stdin.buffer:  # Read and write bytes, so that the encoding does not depend on the locale.
        replies.write(reply_to(mine, participants, line))
        replies.flush()
