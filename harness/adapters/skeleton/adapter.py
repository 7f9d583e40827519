"""An adapter to fill in: the methods of Implementation, one by one. Python 3.9 or newer, and nothing else."""

from __future__ import annotations

import base64
import inspect
import json
import os
import re
import sys
from typing import Any

ANSWERS = {"open": "opened", "observe": "state", "build_filter": "filter", "query_filter": "membership"}
NEEDS = {"send_sync": "SYNC", "send_ephemeral": "EPHEMERAL", "observe": "OBSERVE", "build_filter": "FILTER_CODEC"}
NEEDS.update(query_filter="FILTER_CODEC", message_id="MESSAGE_ID", retrieval_hint="RETRIEVAL_HINTS")
BYTES = ("content", "wire", "bloom_filter", "retrieval_hint")


class Rejected(Exception):
    """Raise it, with the reason, for input that your implementation refuses."""


class Implementation:
    """Yours. A participant is whatever `open` makes of it; bytes are plain bytes, in what you return as well.

    Effects are {"broadcasts": [b"..."], "events": [...], "messageId": "..."}, an event for example
    {"channelId": "c1", "delivered": {"messageId": "m1", "content": b"hi"}}. What is empty may be left out.
    """

    name, version, language = "my-sds", "0", "Python"
    capabilities: tuple[str, ...] = ()  # What works, for example ("VIRTUAL_CLOCK", "DELIVERED").

    def open(self, now_ms: int = 0, participant_id: str = "", channels: Any = (), configuration: Any = None) -> Any:
        raise NotImplementedError("make a participant, join the channels; return it and the configuration in force")

    def close(self, participant: Any, now_ms: int = 0) -> Any:
        raise NotImplementedError("free the participant while the process goes on; return {}")

    def send(self, participant: Any, now_ms: int = 0, channel_id: str = "", content: bytes = b"", **more: Any) -> Any:
        raise NotImplementedError("send content (more: message_id, retrieval_hint); return effects with the messageId")

    def send_ephemeral(
        self, participant: Any, now_ms: int = 0, channel_id: str = "", content: bytes = b"", **more: Any
    ) -> Any:
        raise NotImplementedError("send an ephemeral message (more: message_id); return effects with the messageId")

    def send_sync(self, participant: Any, now_ms: int = 0, channel_id: str = "") -> Any:
        raise NotImplementedError("send a sync message now; return effects, {} if there was nothing to send")

    def receive(self, participant: Any, now_ms: int = 0, wire: bytes = b"", retrieval_hint: Any = None) -> Any:
        raise NotImplementedError("hand over bytes from the network as they are; return effects, {} if it ignores them")

    def tick(self, participant: Any, now_ms: int = 0) -> Any:
        raise NotImplementedError("run the periodic work that is due, in every channel; return effects, {} if none")

    def observe(self, participant: Any, now_ms: int = 0, channel_id: str = "", filter_ids: Any = ()) -> Any:
        raise NotImplementedError("return the state of the channel; leave out what cannot be seen")

    def build_filter(self, message_ids: Any = ()) -> Any:
        raise NotImplementedError('return {"bloomFilter": bytes} over the IDs, which may exceed the capacity')

    def query_filter(self, bloom_filter: bytes = b"", message_ids: Any = ()) -> Any:
        raise NotImplementedError('return {"hits": [...]}, a bool for each ID')


def answer_to(mine: Implementation, participants: dict[int, Any], name: str, given: dict[str, Any]) -> dict[str, Any]:
    """The answer to one command: what the method of its name returns. Nothing from here on needs a change."""
    if name == "hello":
        about = {"protocolVersion": 1, "name": mine.name, "version": mine.version, "language": mine.language}
        names = ["CAPABILITY_" + capability for capability in mine.capabilities]
        return {"hello": {**about, "revisions": ["sds-2026-01"], "capabilities": names}}
    command, given = snake(name), {snake(field): value for field, value in given.items()}
    todo = vars(Implementation).get(command)
    if not inspect.isfunction(todo):
        return {"unsupported": {"what": name or "no command"}}
    takes = inspect.signature(todo).parameters
    lacking = [f"field {field}" for field in given if field not in (*takes, "handle", "message_id", "retrieval_hint")]
    needed = [NEEDS[what] for what in (command, *(field for field in given if given[field])) if what in NEEDS]
    if command == "open" and len(given.get("channels", ())) != 1:
        needed.append("CHANNELS" if given.get("channels") else "UNNAMED_CHANNEL")
    lacking += [what for what in needed if not any(capability.startswith(what) for capability in mine.capabilities)]
    if lacking:
        return {"unsupported": {"what": ", ".join(lacking)}}
    # ProtoJSON writes bytes in base64 and 64 bits as a string, and leaves out what is 0 or empty.
    fields = {field: empty.default for field, empty in takes.items() if empty.default is not empty.empty}
    fields.update({field: base64.b64decode(v) if field in BYTES else v for field, v in given.items()})
    if "now_ms" in fields:
        fields["now_ms"] = int(fields["now_ms"])
    if "participant" in takes:
        handle = int(fields.pop("handle", 0))
        if handle not in participants:
            raise Rejected(f"no participant has handle {handle}")
        fields["participant"] = participants[handle]
    try:
        result = getattr(mine, command)(**fields)
    except NotImplementedError as sentence:
        return {"error": {"message": f"Implementation.{command} is not filled in: {sentence}"}}
    if command == "open":
        participants[len(participants) + 1], in_force = result
        result = {"handle": len(participants), "configuration": in_force or {}}
    return {ANSWERS.get(command, "effects"): result}


def serve(mine: Implementation) -> None:
    """Answer every line of stdin until it ends."""
    if os.environ.get("SDS_TESTEE_FRAMING", "json") != "json":
        sys.exit("this adapter speaks JSON lines only")
    # Bytes, not text: no locale decides on the encoding. What is printed by mistake goes to stderr.
    stdout, sys.stdout = sys.stdout.buffer, sys.stderr
    participants: dict[int, Any] = {}
    for line in sys.stdin.buffer:
        request_id: Any = 0
        try:
            request = json.loads(line.decode("utf-8"))
            request_id = request.pop("id", 0)
            answer = answer_to(mine, participants, *next(iter(request.items()), ("", {})))
        except Rejected as reason:
            answer = {"rejected": {"reason": str(reason)}}
        except Exception as error:  # A fault: the suite quotes it, and the process goes on.
            answer = {"error": {"message": f"{type(error).__name__}: {error}"}}
        reply = json.dumps({"id": request_id, **answer}, default=lambda value: base64.b64encode(value).decode("ascii"))
        stdout.write(reply.encode("utf-8") + b"\n")
        stdout.flush()


def snake(name: str) -> str:
    """channelId as Python writes it: channel_id."""
    return re.sub("[A-Z]", lambda capital: "_" + capital.group().lower(), name)


if __name__ == "__main__":
    serve(Implementation())
