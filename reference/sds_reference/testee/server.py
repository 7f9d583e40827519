"""Answers the commands of the testee protocol with the reference model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

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
from .convert import config_from_pb, config_to_pb, effects_to_pb, kind_to_pb, state_to_pb
from .dialect import Dialect

PROTOCOL_VERSION = 1

_SOMEBODY = "somebody"
"""Who encodes: it is not in the message."""

_CAPABILITIES = (
    pb.CAPABILITY_VIRTUAL_CLOCK,
    pb.CAPABILITY_OBSERVE,
    pb.CAPABILITY_SYNC,
    pb.CAPABILITY_EPHEMERAL,
    pb.CAPABILITY_CHANNELS,
    pb.CAPABILITY_DELIVERED,
    pb.CAPABILITY_ACKNOWLEDGED,
    pb.CAPABILITY_POSSIBLY_ACKNOWLEDGED,
    pb.CAPABILITY_MISSING,
    pb.CAPABILITY_LOST,
    pb.CAPABILITY_RESEND,
    pb.CAPABILITY_RESEND_PERIOD,
    pb.CAPABILITY_PERIODIC_SYNC,
    pb.CAPABILITY_MESSAGE_ID_ACCEPTED,
    pb.CAPABILITY_RETRIEVAL_HINTS,
    pb.CAPABILITY_FILTER_CODEC,
    pb.CAPABILITY_UNNAMED_CHANNEL,
    pb.CAPABILITY_SDS_R,
    pb.CAPABILITY_MESSAGE_CODEC,
    pb.CAPABILITY_REPAIR_TIMES,
    pb.CAPABILITY_FILTER_SIZES,
)

_NEEDS = {
    "observe": pb.CAPABILITY_OBSERVE,
    "build_filter": pb.CAPABILITY_FILTER_CODEC,
    "query_filter": pb.CAPABILITY_FILTER_CODEC,
    "encode": pb.CAPABILITY_MESSAGE_CODEC,
    "decode": pb.CAPABILITY_MESSAGE_CODEC,
    "repair_times": pb.CAPABILITY_REPAIR_TIMES,
}
"""Commands that are answered only where a capability is declared."""

_SIGNALS: dict[type[Event], int] = {
    Delivered: pb.CAPABILITY_DELIVERED,
    Acknowledged: pb.CAPABILITY_ACKNOWLEDGED,
    PossiblyAcknowledged: pb.CAPABILITY_POSSIBLY_ACKNOWLEDGED,
    Missing: pb.CAPABILITY_MISSING,
    Lost: pb.CAPABILITY_LOST,
}


@dataclass(frozen=True)
class TesteeOptions:
    """How the reference presents itself."""

    version: str
    config: Config = field(default_factory=Config)
    participant_class: type[Participant] = Participant
    name: str = "sds_reference"
    dialect: Dialect | None = None
    without: frozenset[int] = frozenset()
    """Capabilities it does not declare, to be driven as a lesser implementation would be."""


def _lacking(revision: Revision) -> set[int]:
    """Capabilities that have no meaning in a revision."""
    given = {
        pb.CAPABILITY_RETRIEVAL_HINTS: revision.retrieval_hints,
        pb.CAPABILITY_SDS_R: revision.repairs,
        pb.CAPABILITY_REPAIR_TIMES: revision.repairs,
    }
    return {capability for capability, there_is in given.items() if not there_is}


class Testee:
    """Any number of participants behind ``handle``."""

    def __init__(self, options: TesteeOptions) -> None:
        self._options = options
        self._config = options.config
        self._capabilities = [c for c in _CAPABILITIES if c not in options.without]
        self._participants: dict[int, Participant] = {}
        self._last_handle = 0

    def handle(self, request: pb.Request) -> pb.Reply:
        """The one answer to ``request``. Refusals of the model are `rejected`."""
        reply = pb.Reply(id=request.id)
        command = request.WhichOneof("command")
        if command is None:
            reply.unsupported.what = "unknown command"
            return reply
        answer: Callable[[pb.Request, pb.Reply], None] = getattr(self, f"_{command}")
        try:
            if command not in _NEEDS or not self._lacks(_NEEDS[command], reply):
                answer(request, reply)
        except SdsError as error:
            reply.rejected.reason = str(error)
        return reply

    def _hello(self, request: pb.Request, reply: pb.Reply) -> None:
        options = self._options
        # The revision is what the run is about; one that is not known here is the harness's to complain of.
        revision = REVISIONS.get(request.hello.revision, options.config.revision)
        if options.dialect is not None and revision.wire is not V2026_01:
            raise ConfigurationError(f"the dialect {options.dialect.name} is one of SDS, and not of {revision.name}")
        self._config = replace(options.config, revision=revision)
        self._capabilities = [c for c in _CAPABILITIES if c not in options.without | _lacking(revision)]
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

    def _open(self, request: pb.Request, reply: pb.Reply) -> None:
        command = request.open
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

    def _close(self, request: pb.Request, reply: pb.Reply) -> None:
        self._participant(request.close.handle)
        del self._participants[request.close.handle]
        reply.effects.SetInParent()

    def _send(self, request: pb.Request, reply: pb.Reply) -> None:
        c = request.send
        participant = self._participant(c.handle)
        self._answer(reply, participant.send(c.channel_id, c.content, c.now_ms, c.message_id or None, _hint(c)))

    def _send_ephemeral(self, request: pb.Request, reply: pb.Reply) -> None:
        command = request.send_ephemeral
        participant = self._participant(command.handle)
        self._answer(reply, participant.send_ephemeral(command.channel_id, command.content, command.message_id or None))

    def _send_sync(self, request: pb.Request, reply: pb.Reply) -> None:
        command = request.send_sync
        self._answer(reply, self._participant(command.handle).send_sync(command.channel_id, command.now_ms))

    def _receive(self, request: pb.Request, reply: pb.Reply) -> None:
        command = request.receive
        participant = self._participant(command.handle)
        self._answer(reply, participant.receive(self._from_wire(command.wire), command.now_ms, _hint(command)))

    def _tick(self, request: pb.Request, reply: pb.Reply) -> None:
        self._answer(reply, self._participant(request.tick.handle).tick(request.tick.now_ms))

    def _observe(self, request: pb.Request, reply: pb.Reply) -> None:
        channel = self._channel(request.observe.handle, request.observe.channel_id)
        reply.state.CopyFrom(state_to_pb(channel, list(request.observe.filter_ids)))

    def _build_filter(self, request: pb.Request, reply: pb.Reply) -> None:
        if self._lacks_size(request.build_filter, reply):
            return
        config = self._sized(request.build_filter)
        received = RollingBloomFilter(config.bloom_profile, config.bloom_parameters, config.bloom_retained_ids)
        for message_id in request.build_filter.message_ids:
            received.insert(message_id)
        reply.filter.bloom_filter = received.to_wire()

    def _query_filter(self, request: pb.Request, reply: pb.Reply) -> None:
        if self._lacks_size(request.query_filter, reply):
            return
        command = request.query_filter
        config = self._sized(command)
        view = config.bloom_profile.read(command.bloom_filter, config.bloom_parameters)
        reply.membership.hits.extend(message_id in view for message_id in command.message_ids)

    def _lacks_size(self, command: pb.BuildFilter | pb.QueryFilter, reply: pb.Reply) -> bool:
        sized = command.HasField("bloom_capacity") or command.HasField("bloom_error_rate")
        return sized and self._lacks(pb.CAPABILITY_FILTER_SIZES, reply)

    def _sized(self, command: pb.BuildFilter | pb.QueryFilter) -> Config:
        """The configuration with the size that is asked for, if one is."""
        asked = pb.Configuration()
        if command.HasField("bloom_capacity"):
            asked.bloom_capacity = command.bloom_capacity
        if command.HasField("bloom_error_rate"):
            asked.bloom_error_rate = command.bloom_error_rate
        return config_from_pb(asked, self._config)

    # The model's own participant does what these three ask for, so that a fault of a mutant shows here as well.

    def _encode(self, request: pb.Request, reply: pb.Reply) -> None:
        message = message_of(request.encode.message)
        reply.encoded.wire = self._to_wire(self._member(_SOMEBODY, self._config, 0).encode(message))

    def _decode(self, request: pb.Request, reply: pb.Reply) -> None:
        message = self._config.revision.wire.decode(self._from_wire(request.decode.wire))
        reply.decoded.message.CopyFrom(fields_of(message, pb.Message))
        reply.decoded.kind = kind_to_pb(message.kind)

    def _repair_times(self, request: pb.Request, reply: pb.Reply) -> None:
        command = request.repair_times
        times = replace(
            self._config.repair,
            t_min_ms=command.t_min_ms,
            t_max_ms=command.t_max_ms,
            num_response_groups=command.num_response_groups,
        )
        config = replace(self._config, sds_r=True, repair=times)
        repair = self._member(command.participant_id, config, command.now_ms).repair
        assert repair is not None, "SDS-R is in use"
        entry = HistoryEntry(command.message_id, None, command.sender_id)
        reply.repair_offsets.t_req_ms = repair.t_req(entry, command.now_ms) - command.now_ms
        reply.repair_offsets.t_resp_ms = repair.t_resp(entry, command.now_ms) - command.now_ms
        reply.repair_offsets.in_response_group = repair.eligible_responder(entry)

    def _lacks(self, capability: pb.Capability, reply: pb.Reply) -> bool:
        """Is ``capability`` not declared? Then that is the answer."""
        lacks = capability not in self._capabilities
        if lacks:
            reply.unsupported.what = pb.Capability.Name(capability)
        return lacks

    def _member(self, participant_id: str, config: Config, now_ms: int) -> Channel:
        """A channel of a participant that exists for one answer."""
        participant = self._options.participant_class(participant_id, config)
        participant.join(UNNAMED_CHANNEL, now_ms)
        return participant.channel(UNNAMED_CHANNEL)

    def _to_wire(self, text: bytes) -> bytes:
        return text if self._options.dialect is None else self._options.dialect.to_private(text)

    def _from_wire(self, wire: bytes) -> bytes:
        return wire if self._options.dialect is None else self._options.dialect.to_text(wire)

    def _answer(self, reply: pb.Reply, effects: Effects) -> None:
        effects.broadcasts = [self._to_wire(text) for text in effects.broadcasts]
        effects.events = [event for event in effects.events if self._declared(event)]
        reply.effects.CopyFrom(effects_to_pb(effects))

    def _declared(self, event: Event) -> bool:
        """A signal that is not declared is not given, as an implementation without it would not give it."""
        return _SIGNALS[type(event)] in self._capabilities

    def _participant(self, handle: int) -> Participant:
        if handle not in self._participants:
            raise ConfigurationError(f"no participant has handle {handle}")
        return self._participants[handle]

    def _channel(self, handle: int, channel_id: str) -> Channel:
        return self._participant(handle).channel(channel_id)


def _hint(command: pb.Send | pb.Receive) -> bytes | None:
    return command.retrieval_hint if command.HasField("retrieval_hint") else None
