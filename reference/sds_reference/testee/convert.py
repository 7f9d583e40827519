"""Between the model's values and the testee protocol's messages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sds_proto.testee.v1 import testee_pb2 as pb

from ..channel import Channel
from ..config import Config, RepairConfig
from ..effects import Acknowledged, Delivered, Effects, Event, Lost, Missing, PossiblyAcknowledged
from ..errors import ConfigurationError
from ..message import HistoryEntry, Kind, Message
from ..outgoing_buffer import AckState
from ..repair_buffer import RepairBuffer

_ACK_STATES = {
    AckState.UNACKNOWLEDGED: pb.ACK_STATE_UNACKNOWLEDGED,
    AckState.POSSIBLY_ACKNOWLEDGED: pb.ACK_STATE_POSSIBLY_ACKNOWLEDGED,
}

_KINDS = {
    Kind.CONTENT: pb.MESSAGE_KIND_CONTENT,
    Kind.SYNC: pb.MESSAGE_KIND_SYNC,
    Kind.EPHEMERAL: pb.MESSAGE_KIND_EPHEMERAL,
    Kind.UNDEFINED: pb.MESSAGE_KIND_UNSPECIFIED,
}


def effects_to_pb(effects: Effects) -> pb.Effects:
    """The Effects of an answer."""
    out = pb.Effects(broadcasts=effects.broadcasts, message_id=effects.message_id)
    for event in effects.events:
        _add_event(out, event)
    return out


def _add_event(out: pb.Effects, event: Event) -> None:
    to = out.events.add(channel_id=event.channel_id)
    match event:
        case Delivered():
            to.delivered.message_id = event.message_id
            to.delivered.content = event.content
        case Acknowledged():
            to.acknowledged.message_id = event.message_id
        case PossiblyAcknowledged():
            to.possibly_acknowledged.message_id = event.message_id
        case Missing():
            for entry in event.entries:
                to.missing.entries.add(message_id=entry.message_id, retrieval_hint=entry.retrieval_hint)
        case Lost():
            to.lost.message_ids.extend(event.message_ids)


def state_to_pb(channel: Channel, filter_ids: list[str]) -> pb.State:
    """Everything that Observe shows."""
    return pb.State(
        lamport_timestamp=channel.clock.value,
        log=pb.Log(
            entries=[
                pb.LogEntry(message_id=entry.message_id, lamport_timestamp=entry.lamport_timestamp)
                for entry in channel.log
            ]
        ),
        outgoing=pb.OutgoingBuffer(
            entries=[
                pb.OutgoingEntry(message_id=entry.message_id, state=_ACK_STATES[entry.state])
                for entry in channel.outgoing
            ]
        ),
        incoming=pb.IncomingBuffer(message_ids=[entry.message.message_id for entry in channel.incoming]),
        filter_hits=[message_id in channel.filter for message_id in filter_ids],
        outgoing_repairs=_repairs_to_pb(channel.repair.outgoing) if channel.repair is not None else None,
        incoming_repairs=_repairs_to_pb(channel.repair.incoming) if channel.repair is not None else None,
    )


def _repairs_to_pb(buffer: RepairBuffer) -> pb.RepairBuffer:
    return pb.RepairBuffer(
        entries=[pb.RepairEntry(message_id=item.entry.message_id, due_ms=item.due_ms) for item in buffer]
    )


def config_from_pb(asked: pb.Configuration, base: Config) -> Config:
    """``base`` with what was asked for. Raises ConfigurationError."""
    changes: dict[str, Any] = {}
    for name in ("causal_history_size", "bloom_capacity", "bloom_error_rate", "resend_unacknowledged_ms"):
        if asked.HasField(name):
            changes[name] = getattr(asked, name)
    if asked.HasField("incoming_sweep_ms"):
        changes["incoming_sweep_ms"] = asked.incoming_sweep_ms
    # On the wire 0 means off, in the model None does.
    for name in ("resend_possibly_acknowledged_ms", "sync_interval_ms", "lost_timeout_ms", "possible_ack_threshold"):
        if asked.HasField(name):
            changes[name] = getattr(asked, name) or None
    if asked.HasField("sds_r"):
        changes["sds_r"] = asked.sds_r
    config = replace(base, **changes, repair=_repair_from_pb(asked, base.repair))
    if config.bloom_capacity > 10_000_000:
        raise ConfigurationError("bloom_capacity above 10,000,000 is refused")
    return config


def _repair_from_pb(asked: pb.Configuration, base: RepairConfig) -> RepairConfig:
    changes: dict[str, Any] = {
        name: getattr(asked, name) for name in ("t_min_ms", "t_max_ms", "num_response_groups") if asked.HasField(name)
    }
    if asked.HasField("num_participants") and not asked.HasField("num_response_groups"):
        changes["num_participants"] = asked.num_participants
        changes["num_response_groups"] = base.derive_groups(asked.num_participants)
    if asked.HasField("max_repair_requests"):
        changes["max_requests"] = asked.max_repair_requests
    return replace(base, **changes)


def config_to_pb(config: Config) -> pb.Configuration:
    """What is in force."""
    out = pb.Configuration(
        causal_history_size=config.causal_history_size,
        bloom_capacity=config.bloom_capacity,
        bloom_error_rate=config.bloom_error_rate,
        resend_unacknowledged_ms=config.resend_unacknowledged_ms,
        resend_possibly_acknowledged_ms=config.resend_possibly_acknowledged_ms or 0,
        sync_interval_ms=config.sync_interval_ms or 0,
        lost_timeout_ms=config.lost_timeout_ms or 0,
        incoming_sweep_ms=config.incoming_sweep_ms,
        possible_ack_threshold=config.possible_ack_threshold or 0,
        sds_r=config.sds_r,
    )
    if config.sds_r:
        out.t_min_ms = config.repair.t_min_ms
        out.t_max_ms = config.repair.t_max_ms
        out.num_response_groups = config.repair.num_response_groups
        if config.repair.num_participants is not None:
            out.num_participants = config.repair.num_participants
        out.max_repair_requests = config.repair.max_requests
    return out


def message_to_pb(message: Message) -> pb.Message:
    """The fields of ``message``, with their presence. Raises ValueError for what no field holds."""
    return pb.Message(
        sender_id=message.sender_id,
        message_id=message.message_id,
        channel_id=message.channel_id,
        lamport_timestamp=message.lamport_timestamp,
        causal_history=map(_entry_to_pb, message.causal_history),
        bloom_filter=message.bloom_filter,
        repair_request=map(_entry_to_pb, message.repair_request),
        content=message.content,
    )


def message_from_pb(fields: pb.Message) -> Message:
    """The message with these fields."""
    return Message(
        fields.sender_id,
        fields.message_id,
        fields.channel_id,
        fields.lamport_timestamp if fields.HasField("lamport_timestamp") else None,
        tuple(map(_entry_from_pb, fields.causal_history)),
        fields.bloom_filter if fields.HasField("bloom_filter") else None,
        tuple(map(_entry_from_pb, fields.repair_request)),
        fields.content if fields.HasField("content") else None,
    )


def kind_to_pb(kind: Kind) -> pb.MessageKind:
    """What a message is; unspecified for one that the text gives no meaning."""
    return _KINDS[kind]


def _entry_to_pb(entry: HistoryEntry) -> pb.HistoryEntry:
    return pb.HistoryEntry(message_id=entry.message_id, retrieval_hint=entry.retrieval_hint, sender_id=entry.sender_id)


def _entry_from_pb(entry: pb.HistoryEntry) -> HistoryEntry:
    return HistoryEntry(
        entry.message_id,
        entry.retrieval_hint if entry.HasField("retrieval_hint") else None,
        entry.sender_id if entry.HasField("sender_id") else None,
    )
