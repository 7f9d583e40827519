"""Your adapter: passes each command to the implementation, and returns the result.

As delivered, the implementation is a toy.
"""

from __future__ import annotations

from typing import Any, ClassVar

from kit import Implementation, RejectedError, serve
from toy import CAPACITY, HISTORY, InvalidInputError, Participant


class Adapter(Implementation):
    hello: ClassVar[dict[str, Any]] = {
        "name": "toy-sds",
        "version": "0.1.0",
        "language": "Python",
        "revisions": ["sds-2026-01"],
    }
    # Declare only what works: tests of undeclared capabilities are skipped, and do not fail.
    capabilities = ("CAPABILITY_VIRTUAL_CLOCK", "CAPABILITY_CHANNELS", "CAPABILITY_DELIVERED")

    def open(self, now_ms: int = 0, participant_id: str = "", channels: Any = (), configuration: Any = ()) -> Any:
        # The toy has nothing to configure. Still report the configuration in force.
        in_force = {"causalHistorySize": HISTORY, "bloomCapacity": CAPACITY, "bloomErrorRate": 0.01, "sdsR": False}
        return Participant(participant_id, channels, now_ms), in_force

    def close(self, who: Participant, now_ms: int = 0) -> Any:
        return {}

    def send(self, who: Participant, now_ms: int = 0, channel_id: str = "", content: bytes = b"", **more: Any) -> Any:
        try:
            message_id, wire = who.send(channel_id, content, now_ms)
        except InvalidInputError as reason:
            raise RejectedError(str(reason)) from None
        return {"broadcasts": [wire], "messageId": message_id}

    def receive(self, who: Participant, now_ms: int = 0, wire: bytes = b"", retrieval_hint: Any = None) -> Any:
        try:
            messages = who.receive(wire)
        except InvalidInputError as reason:
            raise RejectedError(str(reason)) from None
        delivered = [(m.channel_id, {"messageId": m.message_id, "content": m.content}) for m in messages]
        return {"events": [{"channelId": channel_id, "delivered": event} for channel_id, event in delivered]}

    def tick(self, who: Participant, now_ms: int = 0) -> Any:
        return {}  # The toy has no periodic work.


if __name__ == "__main__":
    serve(Adapter())
