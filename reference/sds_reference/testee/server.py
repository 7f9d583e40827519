"""Answers the commands of the testee protocol with the reference model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from sds_proto.testee.v1 import testee_pb2 as pb

from ..bloom_filter import RollingBloomFilter
from ..channel import Channel
from ..config import Config
from ..effects import Acknowledged, Delivered, Effects, Event, Lost, Missing, PossiblyAcknowledged
from ..errors import ConfigurationError, SdsError
from ..message import HistoryEntry, fields_of, message_of
from ..participant import UNNAMED_CHANNEL, Participant
from ..revision import REVISIONS, Revision
from ..wire_formats import V2026_01
from .convert import KINDS, config_from_pb, config_to_pb, effects_into, state_to_pb
from .dialect import Dialect

PROTOCOL_VERSION = 1

_SOMEBODY = "somebody"
"""ID of the temporary participant that encodes a message; it does not appear in the message."""

_CAPABILITIES: list[Any] = [c for c in pb.Capability.values() if c not in (0, pb.CAPABILITY_MESSAGE_ID_REQUIRED)]
"""All capabilities except MESSAGE_ID_REQUIRED: the model computes the ID of a message if none is given."""

_NEEDS = {
    "observe": pb.CAPABILITY_OBSERVE,
    "build_filter": pb.CAPABILITY_FILTER_CODEC,
    "query_filter": pb.CAPABILITY_FILTER_CODEC,
    "encode": pb.CAPABILITY_MESSAGE_CODEC,
    "decode": pb.CAPABILITY_MESSAGE_CODEC,
    "repair_times": pb.CAPABILITY_REPAIR_TIMES,
}
"""Commands that need a capability. They are answered only if the capability is declared."""

_SIZE = ("bloom_capacity", "bloom_error_rate")
"""Fields of the filter commands that give a size."""

_SIGNALS: dict[type[Event], int] = {
    Delivered: pb.CAPABILITY_DELIVERED,
    Acknowledged: pb.CAPABILITY_ACKNOWLEDGED,
    PossiblyAcknowledged: pb.CAPABILITY_POSSIBLY_ACKNOWLEDGED,
    Missing: pb.CAPABILITY_MISSING,
    Lost: pb.CAPABILITY_LOST,
}


@dataclass(frozen=True)
class TesteeOptions:
    """How the reference runs, and what it declares."""

    version: str
    config: Config = field(default_factory=Config)
    participant_class: type[Participant] = Participant
    name: str = "sds_reference"
    dialect: Dialect | None = None
    without: frozenset[int] = frozenset()
    """Capabilities that the reference does not declare: the suite then tests it like an implementation that lacks
    them."""


def _missing_capabilities(revision: Revision) -> set[int]:
    """Capabilities that have no meaning in a revision."""
    given = {
        pb.CAPABILITY_RETRIEVAL_HINTS: revision.retrieval_hints,
        pb.CAPABILITY_SDS_R: revision.repairs,
        pb.CAPABILITY_REPAIR_TIMES: revision.repairs,
    }
    return {capability for capability, there_is in given.items() if not there_is}


class Testee:
    """Answers requests for any number of participants. The entry point is ``handle``."""

    def __init__(self, options: TesteeOptions) -> None:
        self._options = options
        self._config = options.config
        self._capabilities = [c for c in _CAPABILITIES if c not in options.without]
        self._participants: dict[int, Participant] = {}
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
        except SdsError as error:
            reply.rejected.reason = str(error)
        return reply

    def _hello(self, command: pb.Hello, reply: pb.Reply) -> None:
        options = self._options
        # An unknown revision is not an error of the model: the suite sees it in the reply, and reports it.
        revision = REVISIONS.get(command.revision, options.config.revision)
        if options.dialect is not None and revision.wire is not V2026_01:
            raise ConfigurationError(f"the dialect {options.dialect.name} is for SDS, not for {revision.name}")
        self._config = replace(options.config, revision=revision)
        self._capabilities = [c for c in _CAPABILITIES if c not in options.without | _missing_capabilities(revision)]
        reply.hello.CopyFrom(
            pb.HelloReply(
                protocol_version=PROTOCOL_VERSION,
                name=options.name,
                version=options.version,
                language="Python",
                revisions=list(REVISIONS),
                capabilities=self._capabilities,
                profiles=pb.Profiles(
                    bloom=options.config.bloom_profile.name,
                    hash=options.config.repair.hash_profile.name,
                    id_order="utf-8",
                    dialect=options.dialect.name if options.dialect else "",
                ),
            )
        )
        if options.config.max_lamport_ahead_ms is not None:
            reply.hello.limits.lamport_ahead_ms = options.config.max_lamport_ahead_ms
        if options.config.repair.clock_ms > 1:
            reply.hello.limits.repair_clock_ms = options.config.repair.clock_ms

    def _open(self, command: pb.Open, reply: pb.Reply) -> None:
        config = config_from_pb(command.configuration, self._config)
        if pb.CAPABILITY_SDS_R not in self._capabilities:
            config = replace(config, sds_r=False)
        participant = self._options.participant_class(command.participant_id, config)
        if not command.channels and pb.CAPABILITY_UNNAMED_CHANNEL not in self._capabilities:
            reply.unsupported.what = "CAPABILITY_UNNAMED_CHANNEL"
            return
        for channel_id in command.channels or [UNNAMED_CHANNEL]:
            participant.join(channel_id, command.now_ms)
        self._last_handle += 1
        self._participants[self._last_handle] = participant
        reply.opened.handle = self._last_handle
        reply.opened.configuration.CopyFrom(config_to_pb(config))

    def _close(self, command: pb.Close, reply: pb.Reply) -> None:
        self._participant(command.handle)
        del self._participants[command.handle]
        reply.effects.SetInParent()

    def _send(self, c: pb.Send, reply: pb.Reply) -> None:
        participant = self._participant(c.handle)
        self._answer(reply, participant.send(c.channel_id, c.content, c.now_ms, c.message_id or None, _hint(c)))

    def _send_ephemeral(self, command: pb.SendEphemeral, reply: pb.Reply) -> None:
        c, participant = command, self._participant(command.handle)
        self._answer(reply, participant.send_ephemeral(c.channel_id, c.content, c.message_id or None, c.now_ms))

    def _send_sync(self, command: pb.SendSync, reply: pb.Reply) -> None:
        self._answer(reply, self._participant(command.handle).send_sync(command.channel_id, command.now_ms))

    def _receive(self, command: pb.Receive, reply: pb.Reply) -> None:
        participant = self._participant(command.handle)
        self._answer(reply, participant.receive(self._from_wire(command.wire), command.now_ms, _hint(command)))

    def _tick(self, command: pb.Tick, reply: pb.Reply) -> None:
        self._answer(reply, self._participant(command.handle).tick(command.now_ms))

    def _observe(self, command: pb.Observe, reply: pb.Reply) -> None:
        channel = self._participant(command.handle).channel(command.channel_id)
        reply.state.CopyFrom(state_to_pb(channel, list(command.filter_ids)))

    def _build_filter(self, command: pb.BuildFilter, reply: pb.Reply) -> None:
        if self._rejects_undeclared_size(command, reply):
            return
        config = self._filter_parameters(command)
        received = RollingBloomFilter(config.bloom_profile, config.bloom_parameters, config.bloom_retained_ids)
        for message_id in command.message_ids:
            received.insert(message_id)
        reply.filter.bloom_filter = received.to_wire()

    def _query_filter(self, command: pb.QueryFilter, reply: pb.Reply) -> None:
        if self._rejects_undeclared_size(command, reply):
            return
        config = self._filter_parameters(command)
        view = config.bloom_profile.read(command.bloom_filter, config.bloom_parameters)
        reply.membership.hits.extend(message_id in view for message_id in command.message_ids)

    def _rejects_undeclared_size(self, command: pb.BuildFilter | pb.QueryFilter, reply: pb.Reply) -> bool:
        return any(map(command.HasField, _SIZE)) and self._rejects_undeclared(pb.CAPABILITY_FILTER_SIZES, reply)

    def _filter_parameters(self, command: pb.BuildFilter | pb.QueryFilter) -> Config:
        """Return the configuration of the testee, with the filter size of the command if the command has one."""
        asked: dict[str, Any] = {name: getattr(command, name) for name in _SIZE if command.HasField(name)}
        return config_from_pb(pb.Configuration(**asked), self._config)

    # Encode and RepairTimes use a participant of the model, so that faults of mutants apply to them as well.

    def _encode(self, command: pb.Encode, reply: pb.Reply) -> None:
        message = message_of(command.message)
        reply.encoded.wire = self._to_wire(self._open_participant(_SOMEBODY, self._config, 0).encode(message))

    def _decode(self, command: pb.Decode, reply: pb.Reply) -> None:
        message = self._config.revision.wire.decode(self._from_wire(command.wire))
        reply.decoded.message.CopyFrom(fields_of(message, pb.Message))
        reply.decoded.kind = KINDS[message.kind]

    def _repair_times(self, command: pb.RepairTimes, reply: pb.Reply) -> None:
        times = replace(
            self._config.repair,
            t_min_ms=command.t_min_ms,
            t_max_ms=command.t_max_ms,
            num_response_groups=command.num_response_groups,
        )
        config = replace(self._config, sds_r=True, repair=times)
        repair = self._open_participant(command.participant_id, config, command.now_ms).repair
        assert repair is not None, "sds_r is set"
        entry = HistoryEntry(command.message_id, None, command.sender_id)
        reply.repair_offsets.t_req_ms = repair.t_req(entry, command.now_ms) - command.now_ms
        reply.repair_offsets.t_resp_ms = repair.t_resp(entry, command.now_ms) - command.now_ms
        reply.repair_offsets.in_response_group = repair.is_eligible_responder(entry)

    def _rejects_undeclared(self, capability: pb.Capability, reply: pb.Reply) -> bool:
        """If ``capability`` is not declared, reply `unsupported` and return True."""
        lacks = capability not in self._capabilities
        if lacks:
            reply.unsupported.what = pb.Capability.Name(capability)
        return lacks

    def _open_participant(self, participant_id: str, config: Config, now_ms: int) -> Channel:
        """A channel of a temporary participant that exists for one reply."""
        participant = self._options.participant_class(participant_id, config)
        participant.join(UNNAMED_CHANNEL, now_ms)
        return participant.channel(UNNAMED_CHANNEL)

    def _to_wire(self, text: bytes) -> bytes:
        return text if self._options.dialect is None else self._options.dialect.to_private(text)

    def _from_wire(self, wire: bytes) -> bytes:
        return wire if self._options.dialect is None else self._options.dialect.to_text(wire)

    def _answer(self, reply: pb.Reply, effects: Effects) -> None:
        if self._options.dialect is not None:
            effects.broadcasts = [self._options.dialect.to_private(text) for text in effects.broadcasts]
        effects.events = [event for event in effects.events if self._is_declared(event)]
        effects_into(reply.effects, effects)

    def _is_declared(self, event: Event) -> bool:
        """Signals that are not declared are left out, as in an implementation without them."""
        return _SIGNALS[type(event)] in self._capabilities

    def _participant(self, handle: int) -> Participant:
        if handle not in self._participants:
            raise ConfigurationError(f"no participant has handle {handle}")
        return self._participants[handle]


def _hint(command: pb.Send | pb.Receive) -> bytes | None:
    return command.retrieval_hint if command.HasField("retrieval_hint") else None
