"""Choices that the text leaves and that take other steps rather than other settings: peers of legal variants."""

from __future__ import annotations

import json

from .effects import Effects
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


class SmallestIdWinsTies(Peer):
    """Of two with the same update_time the other one wins than usual, on all peers (CA-9)."""

    def decide(self, one: Record, other: Record) -> tuple[Record, Record]:
        winner, loser = super().decide(one, other)
        return (loser, winner) if one.update_time == other.update_time else (winner, loser)
