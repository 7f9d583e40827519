"""Choices that the text leaves and that take other steps rather than other settings: peers of legal variants."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .config import AccessLevel
from .effects import Effects, Sent
from .framing import Message
from .peer import Link, Peer
from .record import Record


class ClosesOnRefusal(Peer):
    """Nothing says what becomes of a link on which nonsense came: it is closed."""

    def refuse(self, link: Link, reason: str, effects: Effects) -> None:
        super().refuse(link, reason, effects)
        if link.number in self.links:
            self.close_link(link, reason, effects)


class SpacedBodies(Peer):
    """JSON with blanks, its members in another order, and one that nobody knows."""

    def body(self, record: Record) -> bytes:
        said = json.loads(super().body(record))
        return json.dumps(dict(sorted(said.items())) | {"written": "by hand"}, indent=1).encode()


class SendsAtTicks(Peer):
    """Nothing says when something is sent: here when periodic work runs, and on links that are still there."""

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self.waiting: list[Sent] = []

    @contextmanager
    def _whole(self) -> Iterator[Effects]:
        with super()._whole() as effects:
            yield effects
        self.wait(effects)

    def connect(self, number: int, peer_id: str, level: AccessLevel, now_ms: int) -> Effects:
        return self.wait(super().connect(number, peer_id, level, now_ms))

    def disconnect(self, number: int) -> Effects:
        return self.wait(super().disconnect(number))

    def wait(self, effects: Effects) -> Effects:
        """Keep back what would be sent."""
        self.waiting += effects.sent
        effects.sent = []
        return effects

    def tick(self, now_ms: int) -> Effects:
        sent = [each for each in self.waiting if each.link in self.links]
        self.waiting = []
        return Effects(sent=sent)


class TakesTheFirstAtOnce(Peer):
    """Nothing says when what has arrived is taken: here one message at once, and the rest when periodic work runs."""

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self.waiting: list[tuple[Link, Message]] = []

    def take_in(self, link: Link, message: Message, effects: Effects) -> None:
        if self.waiting or effects.taken or effects.refused:
            self.waiting.append((link, message))
        else:
            super().take_in(link, message, effects)

    def tick(self, now_ms: int) -> Effects:
        waiting, self.waiting = self.waiting, []
        with self._whole() as effects:
            for link, message in waiting:
                if self.links.get(link.number) is link:
                    super().take_in(link, message, effects)
        return effects


class Pings(Peer):
    """ "A peer may send it at any time, and nobody answers" (core protocol)."""

    def tick(self, now_ms: int) -> Effects:
        ping = Message(b'{"type":"core.ping","timeout":60}').to_wire()
        return Effects(sent=[Sent(number, ping) for number in self.links])


class Polls(Peer):
    """Nothing says that a request is not made once more on the same connection: here whenever periodic work runs."""

    def tick(self, now_ms: int) -> Effects:
        request = Message(self.request_body()).to_wire()
        return Effects(sent=[Sent(link.number, request) for link in self.links.values() if link.asked])


class SmallestIdWinsTies(Peer):
    """Of two with the same update_time the other one wins than usual, on all peers (CA-9)."""

    def decide(self, one: Record, other: Record) -> tuple[Record, Record]:
        winner, loser = super().decide(one, other)
        return (loser, winner) if one.update_time == other.update_time else (winner, loser)
