"""The Lamport timestamp of one channel (sections "Participant state", "Send Message", "Deliver Message")."""

from __future__ import annotations

from .errors import RefusedSendError
from .message import MAX_LAMPORT


class LamportClock:
    """A logical clock that stays close to the epoch time in milliseconds.

    If the revision requires it, the clock counts from 0 instead.
    """

    __slots__ = ("_largest", "value")

    def __init__(self, start: int, largest: int = MAX_LAMPORT) -> None:
        """Start at ``start``: the epoch time in milliseconds, or 0.

        ``largest`` is the largest value that the wire can carry.
        """
        self.value = start
        """The local Lamport timestamp."""
        self._largest = largest

    def next(self, floor: int) -> int:
        """Set the clock to ``max(floor, value + 1)`` for a message to be sent, and return it.

        ``floor`` is the epoch time in milliseconds, or 0 if the clock only counts.

        Raises RefusedSendError, and changes nothing, if the value does not fit the wire: a wrapped value would reorder
        the log.
        """
        value = max(floor, self.value + 1)
        if value > self._largest:
            most = f"2^{self._largest.bit_length()}-1"
            raise RefusedSendError(f"the Lamport timestamp of the channel has reached {most}, the largest one")
        self.value = value
        return value

    def witness(self, lamport_timestamp: int) -> None:
        """Set the clock to the timestamp of a delivered message if the timestamp is greater. Do not add 1."""
        if lamport_timestamp > self.value:
            self.value = lamport_timestamp
