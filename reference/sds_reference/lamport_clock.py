"""The Lamport timestamp of one channel (sections "Participant state", "Send Message", "Deliver Message")."""

from __future__ import annotations

from .errors import RefusedSend
from .message import MAX_LAMPORT


class LamportClock:
    """A logical clock that stays close to the epoch time in milliseconds."""

    __slots__ = ("value",)

    def __init__(self, now_ms: int) -> None:
        self.value = now_ms
        """The local Lamport timestamp, milliseconds of the epoch or ahead of them."""

    def next(self, now_ms: int) -> int:
        """Set the clock to ``max(now_ms, value + 1)`` for a message to be sent, and return it.

        Raises RefusedSend, and changes nothing, when that does not fit the wire: wrapping would reorder the log.
        """
        value = max(now_ms, self.value + 1)
        if value > MAX_LAMPORT:
            raise RefusedSend("the Lamport timestamp of the channel has reached 2^64-1: nothing can follow it")
        self.value = value
        return value

    def witness(self, lamport_timestamp: int) -> None:
        """Match a delivered message's timestamp if it is greater; no further increment."""
        if lamport_timestamp > self.value:
            self.value = lamport_timestamp
