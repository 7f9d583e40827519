"""Scripted peers: members of the club whose messages the harness writes itself, byte by byte if needed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from clearskies_reference import AccessLevel

from .clubs import READ_ONLY, READ_WRITE, record_id
from .frames import GET_UPDATES, UPDATE, Frame, frame_of
from .streams import Message

if TYPE_CHECKING:
    from .stage import Stage


def iso(at_ms: int) -> str:
    """The text on the wire for a time in epoch milliseconds, such as "2027-01-01T00:00:00.000Z"."""
    seconds, rest = divmod(at_ms, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:03}Z"


class ScriptedPeer:
    """A scripted peer. It remembers its revision and the clocks of its records."""

    def __init__(self, stage: Stage, name: str, level: AccessLevel = READ_WRITE) -> None:
        self.stage = stage
        self.name = name
        self.level = level
        self.peer_id = stage.trace.club.join(name)
        self.revision = 1
        """The revision of the last message that changed a record. It is 1 before the first, whose revision is 2."""
        self._clocks: dict[str, dict[str, int]] = {}
        self._uuids: dict[str, str] = {}

    def update(self, key: str, value: Any = None, **rest: Any) -> Frame:
        """A database.update; ``rest`` are further arguments of ``members``."""
        return self.frame(self.members(key, value, **rest))

    def members(
        self,
        key: str,
        value: Any = None,
        *,
        after: Message | None = None,
        at_ms: int | None = None,
        deleted: bool = False,
        **fields: Any,
    ) -> dict[str, Any]:
        """The members of a database.update that changes a record: the peer's own record with that key, the record in
        the message ``after``, or a new one. ``fields`` replace members, with any values."""
        key = self.stage.label(key)
        uuid = str(after.body.members.get("uuid")) if after is not None else self._uuid(key)
        self._uuids[key] = uuid
        clock = self._clocks.setdefault(uuid, {})
        if after is not None:
            _merge(clock, after.body.members.get("vector_clock"))
        clock[self.peer_id] = clock.get(self.peer_id, 0) + 1
        self.revision += 1
        members = {
            "type": UPDATE,
            "key": key,
            "value": self.stage.value(value),
            "uuid": uuid,
            "last_updated_by": self.peer_id,
            "last_updated_rev": self.revision,
            "update_time": iso(self.stage.now_ms if at_ms is None else at_ms),
            "vector_clock": dict(clock),
        }
        if deleted:
            members["deleted"] = True
        return members | fields

    def get_updates(self, since: Any = None, **fields: Any) -> Frame:
        """A database.get_updates; ``since`` is empty by default, and may be any value."""
        return self.frame({"type": GET_UPDATES, "since": {} if since is None else since} | fields)

    def frame(self, members: Mapping[str, Any]) -> Frame:
        """An unsigned message with these members."""
        return frame_of(members, self.stage.clearskies_environment.chatter)

    def sign(self, frame: Frame, level: AccessLevel = READ_WRITE) -> Frame:
        """The message, signed with the private key of an access level, in the declared profile."""
        signed = frame.signed(self.stage.profile, level)
        if level is READ_WRITE:
            self.stage.last_signature = signed.signature
        return signed

    def sign_if_required(self, frame: Frame, listener: AccessLevel) -> Frame:
        """The message as the specification requires it: with a signature of the writers if this peer or the
        ``listener`` is a read-only peer."""
        if frame.signature is not None or READ_ONLY not in (self.level, listener):
            return frame
        return self.sign(frame)

    def _uuid(self, key: str) -> str:
        return self._uuids.get(key) or record_id(f"{key} of {self.name} in {self.stage.trace.schedule}")


def _merge(clock: dict[str, int], other: Any) -> None:
    """Take the larger of both numbers for each member; ignore values that are not integers."""
    for member, number in other.items() if isinstance(other, dict) else ():
        if type(number) is int and number > clock.get(member, 0):
            clock[member] = number
