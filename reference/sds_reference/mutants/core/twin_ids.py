"""Faults that treat two IDs as equal: they are equal when they are cut, normalized or without leading zeros."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar
from unicodedata import normalize

from ...channel import Channel
from ...effects import Effects
from ...message import HistoryEntry, Message
from ...participant import Participant
from ...repair import Repair
from ..registry import mutant

Faulty = TypeVar("Faulty", bound=type[Channel] | type[Participant] | type[Repair])

KEYS: dict[str, tuple[str, Callable[[str], str]]] = {
    "cut": ("cut at the first NUL", lambda text: text.partition("\0")[0]),
    "normal": ("in Unicode normal form C", lambda text: normalize("NFC", text)),
    "short": ("cut after 64 characters", lambda text: text[:64]),
    "compatible": ("in Unicode normal form KC", lambda text: normalize("NFKC", text)),
    "number": (
        "without leading zeros if they are numbers",
        lambda text: text.lstrip("0") if text.isdecimal() else text,
    ),
}
"""Transformations of IDs. The key is the word for the transformation in the name of a mutant."""


def keyed(requirement: str, summary: str, *keys: str) -> Callable[[Faulty], Faulty]:
    """Register a fault once for each of ``keys``, by default "cut" and "normal".

    "{}" in the summary becomes the description of the transformation in ``KEYS``.
    """

    def register(faulty: Faulty) -> Faulty:
        for name in keys or ("cut", "normal"):
            what, key = KEYS[name]
            of_key = type(faulty.__name__, (faulty,), {"key": staticmethod(key)})
            known_as = "".join("-" + c.lower() if c.isupper() else c for c in faulty.__name__).lstrip("-")
            mutant(requirement, summary.format(what), name=f"{known_as}-{name}")(of_key)
        return faulty

    return register


class _Keyed(Channel):
    @staticmethod
    def key(text: str) -> str:
        """Return the text by which the fault compares an ID or name."""
        raise NotImplementedError

    def known(self) -> set[str]:
        return {self.key(entry.message_id) for entry in self.log}


# ---- Receiving -------------------------------------------------------------------------------------------------------


@keyed("RECV-05", "compares IDs of dependencies {}", "cut", "normal", "compatible")
class ComparesDependencies(_Keyed):
    def unmet_dependencies(self, message: Message) -> set[str]:
        known = self.known()
        return {i for i in super().unmet_dependencies(message) if self.key(i) not in known}


@keyed("RECV-07", "detects duplicates by IDs {}", "cut", "normal", "compatible")
class TellsCopies(_Keyed):
    def is_duplicate(self, message: Message) -> bool:
        return super().is_duplicate(message) or self.key(message.message_id) in self.known()


@keyed("RECV-08", "stores waiting messages by IDs {}", "cut", "normal", "number")
class KeepsWhatWaits(_Keyed):
    def buffer(self, message: Message, unmet: set[str], now_ms: int, retrieval_hint: bytes | None) -> None:
        waiting = {self.key(entry.message.message_id) for entry in self.incoming}
        if self.key(message.message_id) not in waiting:
            super().buffer(message, unmet, now_ms, retrieval_hint)


@keyed("STATE-05", "puts IDs into its filter {}")
class FiltersKeys(_Keyed):
    def insert_into_filter(self, message: Message) -> None:
        self.filter.insert(self.key(message.message_id))


@keyed("RECV-07", "recognizes its own messages by sender IDs {}")
class TakesOthersForItself(_Keyed):
    def is_own(self, message: Message) -> bool:
        return self.key(message.sender_id) == self.key(self.participant_id)


@keyed("MSG-15", "distinguishes channels by names {}", "cut", "normal", "short", "number")
class KnowsChannels(Participant):
    @staticmethod
    def key(text: str) -> str:
        """Return the text by which the fault compares an ID or name."""
        raise NotImplementedError

    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        message = self.config.revision.wire.decode(wire)
        for name in self.channels:
            if self.key(name) == self.key(message.channel_id):
                message = replace(message, channel_id=name)
        return super().receive(self.config.revision.wire.encode(message), now_ms, retrieval_hint)


# ---- Sending and acknowledgement -------------------------------------------------------------------------------------


@keyed("SEND-04", "lists messages in causal histories by IDs {}")
class NamesMessages(_Keyed):
    def causal_history(self) -> tuple[HistoryEntry, ...]:
        return tuple(replace(entry, message_id=self.key(entry.message_id)) for entry in super().causal_history())


@keyed("STATE-12", "acknowledges messages with the same ID {}")
class AcknowledgesTwins(_Keyed):
    def acknowledge(self, message_id: str, effects: Effects) -> None:
        for entry in list(self.outgoing):
            if self.key(entry.message_id) == self.key(message_id):
                super().acknowledge(entry.message_id, effects)


@keyed("STATE-12", "looks for its messages in filters by IDs {}")
class LooksForTwins(_Keyed):
    def review_bloom_filter(self, message: Message, effects: Effects, now_ms: int) -> None:
        super().review_bloom_filter(message, effects, now_ms)
        view = self.read_filter(message)
        for entry in self.outgoing.unacknowledged() if view is not None else ():
            if view is not None and self.key(entry.message_id) in view:
                self.count_filter_hit(entry, effects, now_ms)
