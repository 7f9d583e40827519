"""Answers the commands of the testee protocol with the model."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from clearskies_proto.testee.v1 import testee_pb2 as pb

from .. import json_text
from ..config import AccessLevel, Config
from ..database import Draw
from ..effects import Changed, Conflict, Effects, Event
from ..errors import ClearSkiesError, ConfigurationError
from ..framing import Message, make_signed_message
from ..peer import Peer
from ..signing import Keys, private_key, public_key
from ..sqlite_store import SqliteStore
from ..store import MemoryStore, Store
from ..vector_clock import vector_clock
from .convert import RESOLUTIONS, config_to_pb, effects_to_pb, keys_of, level_of, state_to_pb

PROTOCOL_VERSION = 1
REVISION = "clearskies-database"

_SOMEBODY = "0" * 32
"""The peer ID of the temporary peers that serve commands without a handle."""

_CAPABILITIES: list[Any] = [capability for capability in pb.Capability.values() if capability]

_NEEDS = {
    "observe": pb.CAPABILITY_OBSERVE,
    "rename": pb.CAPABILITY_RENAME,
    "compare_clocks": pb.CAPABILITY_CLOCK_CODEC,
    "frame": pb.CAPABILITY_MESSAGE_CODEC,
    "unframe": pb.CAPABILITY_MESSAGE_CODEC,
    "verify": pb.CAPABILITY_SIGNATURE_CODEC,
}
"""Commands that need a capability. They are answered only if the capability is declared."""

_RESOLUTIONS = {
    pb.RESOLUTION_MERGE: pb.CAPABILITY_RESOLUTION_MERGE,
    pb.RESOLUTION_SEPARATE: pb.CAPABILITY_RESOLUTION_SEPARATE,
}

_SIGNALS: dict[type[Event], Any] = {Changed: pb.CAPABILITY_CHANGED, Conflict: pb.CAPABILITY_CONFLICT}


@dataclass(frozen=True)
class TesteeOptions:
    """How the reference runs, and what it declares."""

    version: str
    config: Config = field(default_factory=Config)
    peer_class: type[Peer] = Peer
    name: str = "clearskies_reference"
    without: frozenset[int] = frozenset()
    """Capabilities that the reference does not declare: the suite then tests it like an implementation that lacks
    them."""
    draw: Draw = os.urandom


class Testee:
    """Serves any number of peers; each has a handle."""

    def __init__(self, options: TesteeOptions) -> None:
        self._options = options
        self._capabilities = [each for each in _CAPABILITIES if each not in options.without]
        self._peers: dict[int, Peer] = {}
        self._last_handle = 0

    def handle(self, request: pb.Request) -> pb.Reply:
        """Return the reply to ``request``. Errors of the model become `rejected`."""
        reply = pb.Reply(id=request.id)
        command = request.WhichOneof("command")
        if command is None:
            reply.unsupported.what = "unknown command"
            return reply
        answer: Callable[[Any, pb.Reply], None] = getattr(self, f"_{command}")
        try:
            if command not in _NEEDS or not self._rejects_undeclared(_NEEDS[command], reply):
                answer(getattr(request, command), reply)
        except ClearSkiesError as error:
            reply.rejected.reason = str(error)
        return reply

    def _hello(self, command: pb.Hello, reply: pb.Reply) -> None:
        options = self._options
        reply.hello.CopyFrom(
            pb.HelloReply(
                protocol_version=PROTOCOL_VERSION,
                name=options.name,
                version=options.version,
                language="Python",
                revisions=[REVISION],
                capabilities=self._capabilities,
                profiles=pb.Profiles(signature=options.config.signature_profile.name),
                limits=_limits(options.peer_class),
            )
        )

    def _open(self, command: pb.Open, reply: pb.Reply) -> None:
        config = self._options.config
        if command.configuration.HasField("resolution"):
            requested_resolution = command.configuration.resolution
            if requested_resolution not in RESOLUTIONS:
                raise ConfigurationError(f"no resolution {requested_resolution}")
            if requested_resolution in _RESOLUTIONS and self._rejects_undeclared(
                _RESOLUTIONS[requested_resolution], reply
            ):
                return
            config = replace(config, resolution=RESOLUTIONS[requested_resolution])
        level = level_of(command.access_level)
        if level is AccessLevel.READ_ONLY and self._rejects_undeclared(pb.CAPABILITY_READ_ONLY, reply):
            return
        if command.store and self._rejects_undeclared(pb.CAPABILITY_STORE, reply):
            return
        keys = keys_of(command.keys, level)
        store = _store(command.store, command.peer_id, config)
        try:
            peer = self._open_peer(command.peer_id, level, config, keys, store)
        except ConfigurationError:
            store.close()
            raise
        self._last_handle += 1
        self._peers[self._last_handle] = peer
        reply.opened.handle = self._last_handle
        reply.opened.configuration.CopyFrom(config_to_pb(config))
        reply.opened.extensions.append(peer.extension)

    def _close(self, command: pb.Close, reply: pb.Reply) -> None:
        self._peer(command.handle).store.close()
        del self._peers[command.handle]
        reply.effects.SetInParent()

    def _connect(self, command: pb.Connect, reply: pb.Reply) -> None:
        peer, level = self._peer(command.handle), level_of(command.access_level)
        self._answer(reply, peer.connect(command.link, command.peer_id, level, command.now_ms))

    def _disconnect(self, command: pb.Disconnect, reply: pb.Reply) -> None:
        self._answer(reply, self._peer(command.handle).disconnect(command.link))

    def _receive(self, command: pb.Receive, reply: pb.Reply) -> None:
        peer = self._peer(command.handle)
        effects = peer.receive(command.link, command.data, command.now_ms)
        nothing = not (effects.taken or effects.sent or effects.events)
        if effects.refused and nothing and not peer.links[command.link].parser.incomplete_bytes:
            reply.rejected.reason = effects.refused[0]
        else:
            self._answer(reply, effects)

    def _put(self, command: pb.Put, reply: pb.Reply) -> None:
        uuid = command.uuid if pb.CAPABILITY_UUID_ACCEPTED in self._capabilities else ""
        self._answer(reply, self._peer(command.handle).put(command.key, command.value, command.now_ms, uuid))

    def _rename(self, command: pb.Rename, reply: pb.Reply) -> None:
        self._answer(reply, self._peer(command.handle).rename(command.key, command.new_key, command.now_ms))

    def _delete(self, command: pb.Delete, reply: pb.Reply) -> None:
        self._answer(reply, self._peer(command.handle).delete(command.key, command.now_ms))

    def _tick(self, command: pb.Tick, reply: pb.Reply) -> None:
        self._answer(reply, self._peer(command.handle).tick(command.now_ms))

    def _observe(self, command: pb.Observe, reply: pb.Reply) -> None:
        reply.state.CopyFrom(state_to_pb(self._peer(command.handle), list(command.uuids)))

    # CompareClocks, Unframe and Verify use the peer class, so that faults of mutants apply to them as well.

    def _compare_clocks(self, command: pb.CompareClocks, reply: pb.Reply) -> None:
        one, other = (vector_clock(json_text.read(text)) for text in (command.one, command.other))
        before = self._options.peer_class.before
        reply.comparison.one_before_other = before(one, other)
        reply.comparison.other_before_one = before(other, one)

    def _frame(self, command: pb.Frame, reply: pb.Reply) -> None:
        message = Message(command.body)
        if command.private_key:
            key = private_key(command.private_key)
            message = make_signed_message(command.body, self._options.config.signature_profile.sign(command.body, key))
        reply.framed.data = message.to_wire()

    def _unframe(self, command: pb.Unframe, reply: pb.Reply) -> None:
        parser = self._options.peer_class.parser_class()
        messages = [
            pb.Message(
                body=message.body, signature=message.signature_bytes() if message.signature is not None else None
            )
            for message in parser.feed(command.data)
        ]
        reply.unframed.CopyFrom(pb.Unframed(messages=messages, rest=parser.incomplete_bytes))

    def _verify(self, command: pb.Verify, reply: pb.Reply) -> None:
        keys = Keys(public_key(command.public_key))
        peer = self._open_peer(_SOMEBODY, AccessLevel.READ_ONLY, self._options.config, keys, MemoryStore(0))
        reply.verified.valid = peer.is_genuine(make_signed_message(command.body, command.signature))

    def _rejects_undeclared(self, capability: pb.Capability, reply: pb.Reply) -> bool:
        """If ``capability`` is not declared, reply `unsupported` and return True."""
        lacks = capability not in self._capabilities
        if lacks:
            reply.unsupported.what = pb.Capability.Name(capability)
        return lacks

    def _answer(self, reply: pb.Reply, effects: Effects) -> None:
        effects.events = [event for event in effects.events if self._is_declared(event)]
        reply.effects.CopyFrom(effects_to_pb(effects))

    def _is_declared(self, event: Event) -> bool:
        """Is the signal declared? Signals that are not declared are not sent."""
        return type(event) not in _SIGNALS or _SIGNALS[type(event)] in self._capabilities

    def _open_peer(self, peer_id: str, level: AccessLevel, config: Config, keys: Keys, store: Store) -> Peer:
        return self._options.peer_class(peer_id, level, config, draw=self._options.draw, keys=keys, store=store)

    def _peer(self, handle: int) -> Peer:
        if handle not in self._peers:
            raise ConfigurationError(f"no peer has handle {handle}")
        return self._peers[handle]


def _limits(peer_class: type[Peer]) -> pb.Limits:
    limits = pb.Limits(depth=peer_class.max_depth, clock_members=peer_class.max_clock_members)
    if peer_class.max_body_bytes < json_text.MAX_BODY_BYTES:
        limits.body_bytes = peer_class.max_body_bytes
    return limits


def _store(path: str, peer_id: str, config: Config) -> Store:
    revision = config.first_revision - 1
    return SqliteStore(path, peer_id, revision) if path else MemoryStore(revision)
