"""Helpers of the tests of the ClearSkies model: keys, IDs, updates written by hand, and a club of peers in memory."""

from __future__ import annotations

import json
from collections import deque
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key

from clearskies_reference import AccessLevel, Config, Effects, Keys, Message, Parser, Peer, Sent, SqliteStore
from clearskies_reference.framing import make_signed_message
from clearskies_reference.signing import RSA_PKCS1_SHA256

RW, RO = AccessLevel.READ_WRITE, AccessLevel.READ_ONLY
A, B, C, D = ("a" * 32, "b" * 32, "c" * 32, "d" * 32)
NOW = 1_700_000_000_000


def private(level: AccessLevel = RW) -> RSAPrivateKey:
    """The private key of a level; all tests share it."""
    return _generated(level)


@cache
def _generated(level: AccessLevel) -> RSAPrivateKey:
    return generate_private_key(65537, 2048)


def keys_of(level: AccessLevel) -> Keys:
    return Keys(private().public_key(), private() if level is RW else None)


def peer(peer_id: str = A, level: AccessLevel = RW, seed: int = 0, **more: Any) -> Peer:
    """A peer whose random bytes are derived from its ID."""
    return Peer(peer_id, level, keys=keys_of(level), draw=Random(f"{peer_id} {seed}").randbytes, **more)


def update(**fields: Any) -> dict[str, Any]:
    """The members of an update by B, written by hand."""
    return {
        "type": "database.update",
        "key": "k",
        "value": {"n": 1},
        "uuid": "1" * 32,
        "last_updated_by": B,
        "last_updated_rev": 1,
        "update_time": "2014-02-23T23:45:39Z",
        "vector_clock": {B: 1},
    } | fields


def body(members: dict[str, Any]) -> bytes:
    return json.dumps(members).encode()


def plain(members: dict[str, Any]) -> bytes:
    return Message(body(members)).to_wire()


def by_read_write(members: dict[str, Any], key: RSAPrivateKey | None = None) -> bytes:
    """The bytes of a message with these members, signed by a read-write peer."""
    return make_signed_message(body(members), RSA_PKCS1_SHA256.sign(body(members), key or private())).to_wire()


def get_updates(**since: int) -> bytes:
    return plain({"type": "database.get_updates", "since": since})


def bodies_of(sent: list[Sent], link: int | None = None) -> list[dict[str, Any]]:
    """The bodies of the sent messages, on one link or on all."""
    data = b"".join(each.data for each in sent if link in (None, each.link))
    return [json.loads(message.body) for message in Parser().feed(data)]


def values(peer: Peer) -> dict[str, str]:
    """The values that the application sees, by key."""
    shown = [record for record in peer.records() if not record.deleted]
    assert len({record.key for record in shown}) == len(shown), "a key is unique"
    return {record.key: record.value for record in shown}


class SimulatedClub:
    """Peers and the links between them. Each link carries its bytes in order, in pieces of any size."""

    def __init__(
        self,
        levels: list[AccessLevel],
        *,
        seed: int = 0,
        config: Config | None = None,
        stores: Path | None = None,
    ) -> None:
        self.random = Random(seed)
        self.config, self.stores = config or Config(), stores
        self.levels = {f"{index:032x}": level for index, level in enumerate(levels, start=1)}
        self.ids = list(self.levels)
        self.peers = {peer_id: self._opened(peer_id) for peer_id in self.ids}
        self.clocks = dict.fromkeys(self.ids, NOW)
        self.links: dict[frozenset[str], int] = {}
        self.under_way: dict[tuple[int, str], deque[bytes]] = {}
        self._last_link = 0
        self.messages = 0

    def _opened(self, peer_id: str) -> Peer:
        level = self.levels[peer_id]
        store = None
        if self.stores is not None:
            path = str(self.stores / f"{peer_id}.db")
            store = SqliteStore(path, peer_id, self.config.first_revision - 1)
        seed = self.random.randrange(1 << 30)
        return peer(peer_id, level, seed, config=self.config, store=store)

    def link(self, one: str, other: str) -> None:
        pair = frozenset((one, other))
        if pair in self.links or one == other:
            return
        self._last_link += 1
        number = self.links[pair] = self._last_link
        for here in (one, other):
            self.under_way[number, here] = deque()
        begun = [
            (here, self.peers[here].connect(number, there, self.levels[there], self.clocks[here]))
            for here, there in ((one, other), (other, one))
        ]
        for here, effects in begun:
            self.send_output(here, effects)

    def cut(self, one: str, other: str) -> None:
        """Lose the bytes in flight, perhaps in the middle of a message."""
        number = self.links.pop(frozenset((one, other)), None)
        if number is not None:
            for here in (one, other):
                del self.under_way[number, here]
                self.send_output(here, self.peers[here].disconnect(number))

    def restart(self, peer_id: str) -> None:
        for pair in [pair for pair in self.links if peer_id in pair]:
            self.cut(*pair)
        self.peers[peer_id].store.close()
        self.peers[peer_id] = self._opened(peer_id)

    def send_output(self, peer_id: str, effects: Effects) -> None:
        """Assert that a peer rejected nothing, and put the bytes that it sends on its links."""
        assert effects.refused == []
        for each in effects.sent:
            if (each.link, peer_id) in self.under_way:
                self.under_way[each.link, peer_id].append(each.data)
                self.messages += 1

    def step(self) -> bool:
        """Deliver some bytes on some link. Return False if none are in flight."""
        waiting = [place for place, queue in self.under_way.items() if queue]
        if not waiting:
            return False
        number, sender = self.random.choice(waiting)
        queue = self.under_way[number, sender]
        data = queue.popleft()
        cut = self.random.choice((len(data), self.random.randrange(len(data)) + 1))
        if data[cut:]:
            queue.appendleft(data[cut:])
        (receiver,) = next(pair for pair, link in self.links.items() if link == number) - {sender}
        self.send_output(receiver, self.peers[receiver].receive(number, data[:cut], self.clocks[receiver]))
        return True

    def settle(self, most: int = 20_000) -> None:
        """Deliver bytes until none are in flight: this must end (CA-3, CA-8)."""
        for _ in range(most):
            if not self.step():
                return
        raise AssertionError("the gossip does not end")

    def join_all(self) -> None:
        """Link all pairs of peers, a second time where a link exists."""
        for index, one in enumerate(self.ids):
            for other in self.ids[:index]:
                self.cut(one, other)
                self.link(one, other)

    def maps(self) -> list[dict[str, str]]:
        return [values(each) for each in self.peers.values()]
