"""Conversion between the model's values and the testee protocol's messages."""

from __future__ import annotations

from typing import Any

from clearskies_proto.testee.v1 import testee_pb2 as pb

from ..config import AccessLevel, Config, Resolution
from ..effects import Changed, Conflict, Effects, Event, LinkClosed
from ..errors import ConfigurationError
from ..peer import Peer
from ..record import Record
from ..signing import Keys, private_key, public_key

_LEVELS = {
    pb.ACCESS_LEVEL_READ_WRITE: AccessLevel.READ_WRITE,
    pb.ACCESS_LEVEL_READ_ONLY: AccessLevel.READ_ONLY,
}
RESOLUTIONS = {
    pb.RESOLUTION_UNSPECIFIED: Resolution.LARGEST_TIME,
    pb.RESOLUTION_MERGE: Resolution.MERGE,
    pb.RESOLUTION_SEPARATE: Resolution.SEPARATE,
}


def level_of(level: pb.AccessLevel) -> AccessLevel:
    """Convert an access level of the testee protocol. Raises ConfigurationError."""
    if level not in _LEVELS:
        raise ConfigurationError("the access level must be read-write or read-only")
    return _LEVELS[level]


def keys_of(keys: pb.Keys, level: AccessLevel) -> Keys:
    """The keys that a peer of a level has. Raises ConfigurationError."""
    private = None
    if keys.read_write_private:
        if level is AccessLevel.READ_ONLY:
            raise ConfigurationError("a read-only peer must not have the private key of read-write peers")
        private = private_key(keys.read_write_private)
    if keys.read_write_public:
        return Keys(public_key(keys.read_write_public), private)
    return Keys(private.public_key() if private is not None else None, private)


def config_to_pb(config: Config) -> pb.Configuration:
    """The settings of a peer, for the field ``configuration`` of Opened."""
    (resolution,) = (number for number, resolution in RESOLUTIONS.items() if resolution is config.resolution)
    return pb.Configuration(resolution=resolution)


def effects_to_pb(effects: Effects) -> pb.Effects:
    """Convert the effects of an operation to the testee protocol."""
    return pb.Effects(
        sent=[pb.Sent(link=each.link, data=each.data) for each in effects.sent],
        events=[_event(event) for event in effects.events],
        uuid=effects.uuid,
    )


def _event(event: Event) -> pb.Event:
    match event:
        case Changed():
            return pb.Event(changed=pb.Changed(record=_record(event.record)))
        case Conflict():
            return pb.Event(conflict=pb.Conflict(uuid=event.uuid, incoming_uuid=event.incoming_uuid))
        case LinkClosed():
            return pb.Event(link_closed=pb.LinkClosed(link=event.link, reason=event.reason))


def state_to_pb(peer: Peer, uuids: list[str]) -> pb.State:
    """The state that Observe returns. If ``uuids`` is not empty, only these records are included."""
    if uuids:
        stored = (peer.store.get(uuid) for uuid in dict.fromkeys(uuids))
        records = [peer.as_shown(each) for each in stored if each is not None]
    else:
        records = peer.records()
    known: dict[str, Any] = {"since": peer.known()}
    return pb.State(records=map(_record, records), revision=peer.store.revision, known=pb.Known(**known))


def _record(record: Record) -> pb.Record:
    return pb.Record(
        uuid=record.uuid,
        key=record.key,
        value=record.value,
        last_updated_by=record.last_updated_by,
        last_updated_rev=record.last_updated_rev,
        update_time=record.update_time.text,
        vector_clock=dict(record.vector_clock),
        deleted=record.deleted,
    )
