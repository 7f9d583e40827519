"""A simulated broadcast network under virtual time.

The fate of a copy depends only on the schedule: on its seed, the sender, the number of messages that the sender has
broadcast before, and the listener.
"""

from __future__ import annotations

import heapq
from collections.abc import Set
from hashlib import blake2b
from typing import Generic

from .group_trace import Packet, W
from .operations import EVERYBODY, Cut, Links, Route

PERFECT = Links()


class Network(Generic[W]):
    """The links between participants, and the copies under way on them."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._rules: list[Links] = []
        self._cuts: list[tuple[Set[str], Set[str], bool]] = []
        """Senders, listeners, and whether the other direction is cut, too."""
        self._under_way: list[tuple[int, int, str, Packet[W]]] = []
        self._serial = 0
        self._sent: dict[str, int] = {}

    def change(self, rule: Links) -> None:
        """Set a rule for links from now on. A rule for all links replaces all earlier rules."""
        if not rule.sender and not rule.listener:
            self._rules.clear()
        self._rules.append(rule)

    def cut(self, cut: Cut) -> None:
        self._cuts.append((frozenset(cut.senders), frozenset(cut.listeners), cut.both))

    def heal(self) -> None:
        """Make all links perfect from now on."""
        self._rules.clear()
        self._cuts.clear()

    def carry(self, packet: Packet[W], listeners: list[str], route: Route) -> list[tuple[str, str]]:
        """Send copies of a packet. Returns the listeners whose copy will not arrive, with the reason."""
        number = self._sent.get(packet.sender, 0)
        self._sent[packet.sender] = number + 1
        gone = []
        late = dict(route.late)
        for listener in listeners:
            if listener in route.lost:
                gone.append((listener, "lost"))
                continue
            if self._is_cut(packet.sender, listener):
                gone.append((listener, "cut"))
                continue
            rule = self._rule(packet.sender, listener)
            lost, twice, delay, more = self._fate(packet.sender, number, listener, rule)
            if listener in late or listener in route.twice:
                lost = False  # the route overrides the loss of the links
            if lost:
                gone.append((listener, "lost"))
                continue
            delay = late.get(listener, delay)
            self._put(packet, listener, delay)
            if twice or listener in route.twice:
                self._put(packet, listener, delay + more)
        return gone

    def due(self, until_ms: int) -> tuple[int, str, Packet[W]] | None:
        """Remove and return the next copy that is due by ``until_ms``: its time, its listener and the packet. None if
        no copy is due.
        """
        if self._under_way and self._under_way[0][0] <= until_ms:
            at_ms, _, listener, packet = heapq.heappop(self._under_way)
            return at_ms, listener, packet
        return None

    def _put(self, packet: Packet[W], listener: str, delay_ms: int) -> None:
        self._serial += 1
        heapq.heappush(self._under_way, (packet.at_ms + delay_ms, self._serial, listener, packet))

    def _is_cut(self, sender: str, listener: str) -> bool:
        return any(
            (sender in senders and listener in listeners) or (both and listener in senders and sender in listeners)
            for senders, listeners, both in self._cuts
        )

    def _rule(self, sender: str, listener: str) -> Links:
        """The latest rule for a link."""
        for rule in reversed(self._rules):
            if rule.sender in (EVERYBODY, sender) and rule.listener in (EVERYBODY, listener):
                return rule
        return PERFECT

    def _fate(self, sender: str, number: int, listener: str, rule: Links) -> tuple[bool, bool, int, int]:
        """Whether a copy is lost, whether there is a second copy, the delay of the first one in milliseconds, and how
        much later the second one arrives.
        """
        if rule is PERFECT:
            return False, False, 0, 0
        drawn = blake2b(f"{self._seed}|{sender}|{number}|{listener}".encode(), digest_size=16).digest()
        loss, double, spread, more = (int.from_bytes(drawn[i : i + 4], "big") for i in (0, 4, 8, 12))
        least, most = min(rule.delay_ms), max(rule.delay_ms)
        return (
            loss % 100 < rule.loss_percent,
            double % 100 < rule.duplicate_percent,
            least + spread % (most - least + 1),
            more % (most - least + 1),
        )
