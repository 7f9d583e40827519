"""The Lamport timestamp of one channel (sections "Participant state", "Send Message", "Deliver Message")."""

from __future__ import annotations

from .errors import RefusedSend
from .message import MAX_LAMPORT


class LamportClock:
    """A logical clock that stays close to the epoch time in milliseconds, or counts from 0 where the text says so."""

    __slots__ = ("_largest", "value")

    def __init__(self, start: int, largest: int = MAX_LAMPORT) -> None:
        """``start`` is milliseconds of the epoch, or 0; ``largest`` is what the wire has room for."""
        self.value = start
        """The local Lamport timestamp."""
        self._largest = largest

    def next(self, floor: int) -> int:
        """Set the clock to ``max(floor, value + 1)`` for a message to be sent, and return it.

        ``floor`` is the epoch time in milliseconds, or 0 where the clock just counts.

        Raises RefusedSend, and changes nothing, when that does not fit the wire: wrapping would reorder the log.
        """
        value = max(floor, self.value + 1)
        if value > self._largest:
            most = f"2^{self._largest.bit_length()}-1"
            raise RefusedSend(f"the Lamport timestamp of the channel has reached {most}: nothing can follow it")
        self.value = value
        return value

    def witness(self, lamport_timestamp: int) -> None:
        """Match a delivered message's timestamp if it is greater; no further increment."""
        if lamport_timestamp > self.value:
            self.value = lamport_timestamp
