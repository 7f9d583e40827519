"""Conversion between the model's values and the testee protocol's messages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sds_proto.testee.v1 import testee_pb2 as pb

from ..channel import Channel
from ..config import Config, RepairConfig
from ..effects import Acknowledged, Delivered, Effects, Event, Lost, Missing, PossiblyAcknowledged
from ..errors import ConfigurationError
from ..message import Kind
from ..outgoing_buffer import AckState
from ..repair_buffer import RepairBuffer

_ACK_STATES = {
    AckState.UNACKNOWLEDGED: pb.ACK_STATE_UNACKNOWLEDGED,
    AckState.POSSIBLY_ACKNOWLEDGED: pb.ACK_STATE_POSSIBLY_ACKNOWLEDGED,
}

KINDS = {
    Kind.CONTENT: pb.MESSAGE_KIND_CONTENT,
    Kind.SYNC: pb.MESSAGE_KIND_SYNC,
    Kind.EPHEMERAL: pb.MESSAGE_KIND_EPHEMERAL,
    Kind.UNDEFINED: pb.MESSAGE_KIND_UNSPECIFIED,
}
"""Kinds of messages in the testee protocol; unspecified for a message to which the specification gives no meaning."""

_SAME = (
    *("causal_history_size", "bloom_capacity", "bloom_error_rate"),
    *("resend_unacknowledged_ms", "incoming_sweep_ms", "sds_r"),
)
"""Settings that have the same name in the model and in the testee protocol."""
_OFF_IS_0 = ("resend_possibly_acknowledged_ms", "sync_interval_ms", "lost_timeout_ms", "possible_ack_threshold")
"""Settings that are disabled by 0 in the testee protocol, and by None in the model."""
_REPAIR = ("t_min_ms", "t_max_ms", "num_response_groups")


def effects_into(out: pb.Effects, effects: Effects) -> None:
    """Fill ``out``, the Effects of a reply."""
    out.SetInParent()  # the reply says `effects` even if there are none
    out.broadcasts.extend(effects.broadcasts)
    if effects.message_id:
        out.message_id = effects.message_id
    for event in effects.events:
        _add_event(out, event)


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
    """The state of a channel, for the reply to Observe. ``filter_ids`` are looked up in the filter."""
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
    """Return ``base`` with the settings that the request gives. Raises ConfigurationError."""
    changes: dict[str, Any] = {name: getattr(asked, name) for name in _SAME if asked.HasField(name)}
    changes |= {name: getattr(asked, name) or None for name in _OFF_IS_0 if asked.HasField(name)}
    config = replace(base, **changes, repair=_repair_from_pb(asked, base.repair))
    if config.bloom_capacity > 10_000_000:
        raise ConfigurationError("bloom_capacity is above the maximum of 10,000,000")
    return config


def _repair_from_pb(asked: pb.Configuration, base: RepairConfig) -> RepairConfig:
    changes: dict[str, Any] = {name: getattr(asked, name) for name in _REPAIR if asked.HasField(name)}
    if asked.HasField("num_participants") and not asked.HasField("num_response_groups"):
        changes["num_participants"] = asked.num_participants
        changes["num_response_groups"] = base.derive_groups(asked.num_participants)
    if asked.HasField("max_repair_requests"):
        changes["max_requests"] = asked.max_repair_requests
    return replace(base, **changes)


def config_to_pb(config: Config) -> pb.Configuration:
    """The settings of a participant, for the field ``configuration`` of Opened."""
    in_force: dict[str, Any] = {name: getattr(config, name) for name in _SAME}
    in_force |= {name: getattr(config, name) or 0 for name in _OFF_IS_0}
    if config.causal_history_varies:
        del in_force["causal_history_size"]
    out = pb.Configuration(**in_force)
    if config.sds_r:
        for name in _REPAIR:
            setattr(out, name, getattr(config.repair, name))
        if config.repair.num_participants is not None:
            out.num_participants = config.repair.num_participants
        out.max_repair_requests = config.repair.max_requests
    return out
