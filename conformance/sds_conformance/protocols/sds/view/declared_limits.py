"""The limits that an implementation declares and honours, and the messages that a log of declared size keeps."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping

from sds_harness.sds.trace import Trace

from ....judging.view_cache import cache_per_view


def limit_in_force(trace: Trace, name: str) -> int | None:
    """The limit that the implementation declares and honours, in the unit of the limit; None if it declares none.

    If an implementation declares a log of two IDs and shows ten, the limit in force is ten.
    """
    declared = trace.declaration.limit(name)
    return declared if declared is None else max(declared, _largest_shown(trace).get(name, 0))


class KeptEntries:
    """The messages that are certainly in a log of declared size, by every rule for dropping messages (AMB-96).

    A full log may drop the message with the lowest timestamp, or the message that entered first. So an entry is
    certainly in the log while it is among the newest by its timestamp and by the time of its entry.
    """

    def __init__(self, size: int | None) -> None:
        """``size`` is the size of the log in IDs; None for a log without a bound."""
        self._size = size
        self._lamports: list[int] = []
        """The Lamport timestamps of all entries so far, ascending."""
        self._present: dict[str, tuple[int, int]] = {}
        """By ID of a message that is certainly in the log: the number of earlier entries, and its Lamport timestamp."""
        self._waits: set[str] = set()
        """The IDs of messages that waited for dependencies, and may have entered the log at any later time."""
        self._maybe_gone_from: dict[str, int] = {}
        """By message ID: the index of the first step at which the log may have dropped the message."""

    @property
    def bounded(self) -> bool:
        """Can the log drop entries?"""
        return self._size is not None

    def enter(self, message_id: str, lamport: int, named: Iterable[str], at: int) -> None:
        """Record a message that enters the log at step ``at``, or later when all IDs of its causal history (``named``)
        are in the log.
        """
        if self._size is None or message_id in self._present:
            return
        if message_id not in self._maybe_gone_from and message_id not in self._waits:
            known = (i in self._present or (i in self._maybe_gone_from and i not in self._waits) for i in named)
            if all(known):
                self._present[message_id] = (len(self._lamports), lamport)
            else:
                self._waits.add(message_id)
        insort(self._lamports, lamport)
        if len(self._lamports) > self._size:
            self._drop(self._size, at)

    def _drop(self, size: int, at: int) -> None:
        entered = len(self._lamports)
        for message_id in self._waits:
            self._maybe_gone_from.setdefault(message_id, at)
        for message_id, (before, lamport) in list(self._present.items()):
            as_new = entered - min(before, bisect_left(self._lamports, lamport))
            if as_new + len(self._waits) > size:
                del self._present[message_id]
                self._maybe_gone_from[message_id] = at

    def maybe_gone_from(self, message_id: str, otherwise: int) -> int:
        """The index of the first step at which the log may have dropped a message; ``otherwise`` if the message stays
        in the log.
        """
        return self._maybe_gone_from.get(message_id, otherwise)

    def holds(self, message_id: str, by: int | None = None) -> bool:
        """Is a message that entered the log certainly still in it after step ``by``, or at the end if ``by`` is
        None?
        """
        left = self._maybe_gone_from.get(message_id)
        return left is None or (by is not None and by < left)


@cache_per_view
def _largest_shown(trace: Trace) -> Mapping[str, int]:
    """The largest content in bytes, and the longest log of a channel in IDs, that the implementation showed."""
    content = log = 0
    for step in trace.steps:
        sizes = [len(event.content) for event in step.events]
        sizes += [len(message.content or b"") for message in step.messages]
        content = max(content, *sizes) if sizes else content
        named = [len({entry.message_id for entry in message.causal_history}) for message in step.messages]
        log = max(log, len(set(step.shown_log)), *named)
    return {"content_bytes": content, "log_entries": log}
