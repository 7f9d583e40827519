"""The two messages of the extension: database.update and database.get_updates, converted between bodies and values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import json_text
from .errors import MalformedMessageError
from .record import NULL, Record
from .timestamps import timestamp
from .vector_clock import MAX_INTEGER, is_id, vector_clock

EXTENSION = "database"
"""Name of the extension in core.greeting: "The official extension string"."""
UPDATE = f"{EXTENSION}.update"
GET_UPDATES = f"{EXTENSION}.get_updates"


@dataclass(frozen=True, slots=True)
class GetUpdates:
    """Rule: "It asks the server for any new updates, using the highest known revision number for each peer"."""

    since: Mapping[str, int]


def read(body: bytes) -> Record | GetUpdates | None:
    """Parse a body; None for unknown types, which are ignored. Raises MalformedMessageError."""
    value = json_text.read(body)
    if not isinstance(value, dict):
        raise MalformedMessageError("the body is not a JSON object")
    kind = value.get("type")
    if kind == UPDATE:
        return _record(value)
    if kind == GET_UPDATES:
        return GetUpdates(_parse_since(value.get("since")))
    if not isinstance(kind, str):
        raise MalformedMessageError("the message has no type")
    return None


def update_body(record: Record, *, writes_deleted_false: bool = False) -> bytes:
    """The body of a database.update; with ``writes_deleted_false``, "deleted" is written even if it is false."""
    tail = "" if not (record.deleted or writes_deleted_false) else f',"deleted":{json_text.write(record.deleted)}'
    written = json_text.write
    return (
        f'{{"type":"{UPDATE}","key":{written(record.key)},"value":{record.value},"uuid":"{record.uuid}",'
        f'"last_updated_by":"{record.last_updated_by}","last_updated_rev":{record.last_updated_rev},'
        f'"update_time":{written(record.update_time.text)},"vector_clock":{written(dict(record.vector_clock))}{tail}}}'
    ).encode()


def get_updates_body(since: Mapping[str, int]) -> bytes:
    """The body of a database.get_updates."""
    return json.dumps({"type": GET_UPDATES, "since": dict(since)}, separators=(",", ":")).encode()


def _record(value: dict[str, Any]) -> Record:
    deleted = value.get("deleted", False)
    if type(deleted) is not bool:
        raise MalformedMessageError("deleted must be true, false or absent")
    if not isinstance(value.get("key"), str):
        raise MalformedMessageError("an update needs a key that is a string")
    if "value" not in value and not deleted:
        raise MalformedMessageError("an update needs a value")
    revision = value.get("last_updated_rev")
    # The counter starts with one, so no change has 0.
    if type(revision) is not int or not 1 <= revision <= MAX_INTEGER:
        raise MalformedMessageError("last_updated_rev must be an integer from 1 to 2^64-1")
    return Record(
        uuid=_id(value, "uuid"),
        key=value["key"],
        value=NULL if deleted else json_text.write(value["value"]),
        last_updated_by=_id(value, "last_updated_by"),
        last_updated_rev=revision,
        update_time=timestamp(value.get("update_time")),
        vector_clock=vector_clock(value.get("vector_clock")),
        deleted=deleted,
    )


def _id(value: dict[str, Any], name: str) -> str:
    found = value.get(name)
    if not is_id(found):
        raise MalformedMessageError(f"{name} must be an ID of 32 lower-case hex digits")
    return str(found)


def _parse_since(value: object) -> dict[str, int]:
    if not isinstance(value, dict):
        raise MalformedMessageError("since must be a JSON object")
    for peer_id, revision in value.items():
        if not is_id(peer_id) or type(revision) is not int or not 0 <= revision <= MAX_INTEGER:
            raise MalformedMessageError("since must map peer IDs to integers from 0 to 2^64-1")
    return value
