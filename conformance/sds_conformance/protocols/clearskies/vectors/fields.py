"""Peers, records and messages as they stand in vectors: what can be larger than a double holds is a decimal string."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sds_harness.clearskies.clubs import record_id
from sds_harness.clearskies.frames import GET_UPDATES, UPDATE

A = "b934d9de020109fde790cd39acce73fc"
B = "d38a0af145c48b75289e72985e3cc50a"
C = "c35be68aadc0e208b6c71f7be77f2975"
"""Peer IDs: those of the clock in the example of the text."""
PHOTO = "9223bf8014507dca629123485dc3a207"
"""A uuid: that of the update in the example of the text."""
NOON, LATER, LAST = (f"2014-02-23T{hour}:00:00Z" for hour in (12, 13, 14))

Fields = dict[str, Any]


def uuid(name: str) -> str:
    """A uuid for a record of that name."""
    return record_id(f"vectors {name}")


def clock_text(clock: Mapping[str, int]) -> str:
    """The JSON of a vector clock, its members in the order that they have."""
    return json.dumps(dict(clock), separators=(",", ":"))


def update(
    by: str,
    rev: int,
    clock: Mapping[str, int],
    *,
    of: str = PHOTO,
    key: str = "photo-1234",
    value: str = '"new"',
    time: str = NOON,
    deleted: bool = False,
    seen: bool = False,
) -> Fields:
    """An update by its fields; ``value`` is JSON. ``seen``: whoever wrote it had seen what your peer has."""
    out: Fields = {
        "key": key,
        "value": "null" if deleted else value,
        "uuid": of,
        "last_updated_by": by,
        "last_updated_rev": str(rev),
        "update_time": time,
        "vector_clock": {member: str(number) for member, number in clock.items()},
    }
    return {**out, **({"deleted": True} if deleted else {}), **({"seen": True} if seen else {})}


def version(fields: Fields) -> Fields:
    """Which update it is."""
    return {name: fields[name] for name in ("uuid", "last_updated_by", "last_updated_rev")}


def numbers(texts: Mapping[str, str]) -> dict[str, int]:
    """Integers by peer ID, as they are on the wire."""
    return {peer: int(number) for peer, number in texts.items()}


def update_members(fields: Fields) -> Fields:
    """The members of the body that says an update, as the text orders them."""
    known = {name: value for name, value in fields.items() if name != "seen"}
    return {
        "type": UPDATE,
        **known,
        "value": json.loads(fields["value"]),
        "last_updated_rev": int(fields["last_updated_rev"]),
        "vector_clock": numbers(fields["vector_clock"]),
    }


def request_members(since: Mapping[str, str]) -> Fields:
    """The members of the body that asks for updates."""
    return {"type": GET_UPDATES, "since": numbers(since)}


def is_wide(*parts: Any) -> bool:
    """Is there a number in it, or in what is in it, that no double holds?"""
    for part in parts:
        if isinstance(part, dict):
            if is_wide(*part.values()):
                return True
        elif isinstance(part, list):
            if is_wide(*part):
                return True
        elif isinstance(part, str) and part.isdecimal() and (1 << 53) < int(part) < 1 << 64:
            return True
    return False
