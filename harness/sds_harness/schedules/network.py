"""A simulated broadcast network under virtual time.

A message is sent to each listener separately, as a copy. Whether and when the copy arrives depends only on the seed of
the schedule, the sender, the number of messages that the sender has broadcast before, and the listener.
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
    """The links between participants, and the copies of messages that are under way on the links."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._rules: list[Links] = []
        self._cuts: list[tuple[Set[str], Set[str], bool]] = []
        """The cuts: for each, the senders, the listeners, and whether the direction from listeners to senders is cut,
        too."""
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
        """Send a packet to each listener. Returns the listeners at which the packet will not arrive, with the
        reason."""
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
                lost = False  # the route of the operation has priority over the loss of the link
            if lost:
                gone.append((listener, "lost"))
                continue
            delay = late.get(listener, delay)
            self._put(packet, listener, delay)
            if twice or listener in route.twice:
                self._put(packet, listener, delay + more)
        return gone

    def due(self, until_ms: int) -> tuple[int, str, Packet[W]] | None:
        """Remove and return the next arrival until ``until_ms``: its time in milliseconds, the listener and the packet.
        None if nothing arrives until then.
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
        """The newest rule that applies to the link from ``sender`` to ``listener``."""
        for rule in reversed(self._rules):
            if rule.sender in (EVERYBODY, sender) and rule.listener in (EVERYBODY, listener):
                return rule
        return PERFECT

    def _fate(self, sender: str, number: int, listener: str, rule: Links) -> tuple[bool, bool, int, int]:
        """Whether the first copy is lost, whether there is a second copy, the delay of the first copy in milliseconds,
        and how many milliseconds later the second copy arrives.
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
