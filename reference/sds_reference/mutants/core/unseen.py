"""Faults of a participant that shows neither its state nor, some of them, what it delivers."""

from __future__ import annotations

from ...channel import Channel
from ...effects import Effects
from ...message import Message
from ..registry import again, mutant

_BLIND = ("delivered",)
"""Only its own messages can show whether it has delivered one."""


@mutant("RECV-07", "delivers every other message, and signals nothing", unseen=True, undeclared=_BLIND)
class QuietlyDeliversHalf(Channel):
    _count = 0

    def deliver(self, message: Message, effects: Effects, retrieval_hint: bytes | None) -> None:
        self._count += 1
        if self._count % 2:
            super().deliver(message, effects, retrieval_hint)


@mutant("RECV-07", "delivers only what depends on something, and signals nothing", unseen=True, undeclared=_BLIND)
class QuietlyIgnoresRoots(Channel):
    def deliver(self, message: Message, effects: Effects, retrieval_hint: bytes | None) -> None:
        if message.causal_history:
            super().deliver(message, effects, retrieval_hint)


again("sends-and-forgets", "secretly-forgets", "does not remember what it sent, and shows nothing", unseen=True)
again(
    "optimistic-buffer",
    "secretly-optimistic",
    "takes every message for possibly acknowledged, and shows nothing",
    unseen=True,
)
again("buffer-of-one", "secret-buffer-of-one", "has room for one waiting message, and shows nothing", unseen=True)
again("possibly-is-gone", "secretly-gone", "drops a possibly acknowledged message, and shows nothing", unseen=True)
again("falls-back", "secretly-falls-back", "falls back to unacknowledged, and shows nothing", unseen=True)
