"""The messages of scripted peers in schedules: valid updates and invalid ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from clearskies_reference import AccessLevel

from .clubs import READ_ONLY, READ_WRITE, record_id
from .frames import Frame
from .operations import Say
from .peer import ScriptedPeer
from .streams import Message

DEPTH = 20_000
"""Levels of nesting that are too deep for a recursive parser."""
LATEST_MS = 253_402_300_799_000
"""The last second of the year 9999, the last one with four digits."""
LARGE_BYTES = 15_000_000
"""Bytes of a string that leaves room for the rest of the largest allowed body."""


def said(op: Say, peer: ScriptedPeer, listener: AccessLevel, after: Message | None, poses_as: str) -> Frame:
    """The message of a Say. ``after`` is the update that it follows, ``poses_as`` the ID of the claimed writer."""
    own = peer.peer_id
    fields: dict[str, Any] = {}
    if op.after and after is None:
        fields["uuid"] = record_id(f"of {op.after}, which was never sent")
    if after is not None and op.concurrent:
        fields["uuid"] = after.body.members.get("uuid")
        after = None
    frame = peer.update(
        op.key,
        op.content or f"value {op.label} of {op.peer}",
        after=after,
        at_ms=min(max(0, peer.stage.now_ms + op.at_ms), LATEST_MS),
        deleted=op.deleted,
        **fields,
    )
    members = json.loads(frame.body)
    members["update_time"] = _with_digits(members["update_time"], op.digits)
    clock = members["vector_clock"]
    if op.clock_number:
        clock[own] = op.clock_number
    clock |= {record_id(f"stranger {number}"): 1 for number in range(op.clock_members)}
    if op.poses_as:
        members["last_updated_by"] = poses_as
        clock[poses_as] = clock.get(poses_as, 0) + 1
    if op.revision:
        members["last_updated_rev"] = op.revision
    frame = peer.frame(members)
    if op.odd:
        frame = Frame(_ODD[op.odd](members))
    return signed(frame, op.signature, peer, listener)


def _with_digits(time: str, digits: int) -> str:
    """Change the number of digits after the decimal point from three; removing digits makes the time earlier."""
    second, _, rest = time.removesuffix("Z").partition(".")
    return f"{second}.{rest:0<9}"[: len(second) + (digits + 1 if digits else 0)] + "Z"


def signed(frame: Frame, how: str, peer: ScriptedPeer, listener: AccessLevel) -> Frame:
    """The message with a signature of the kind ``how``, one of ``SIGNATURES``."""
    match how:
        case "none":
            return frame
        case "forged":
            return peer.sign(frame, READ_WRITE).forged()
        case "flipped":
            return peer.sign(frame, READ_WRITE).flipped()
        case "read-only":
            return peer.sign(frame, READ_ONLY)
        case _:
            # A read-only peer does not have the key of the writers.
            return frame if peer.level is READ_ONLY else peer.suited(frame, listener)


def replayed(message: Message, *, flipped: bool) -> Frame:
    """A message again, unchanged or with one bit of its body flipped."""
    frame = Frame(message.body.raw, message.signature)
    return frame.flipped(len(frame.body) // 2) if flipped else frame


def _text(members: dict[str, Any]) -> bytes:
    return json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode()


def _with(**fields: Any) -> Callable[[dict[str, Any]], bytes]:
    return lambda members: _text(members | fields)


def _without(name: str) -> Callable[[dict[str, Any]], bytes]:
    return lambda members: _text({key: value for key, value in members.items() if key != name})


def _value(text: bytes) -> Callable[[dict[str, Any]], bytes]:
    """A body with this text as its value."""
    return lambda members: _text(members | {"value": 0}).replace(b'"value":0', b'"value":' + text, 1)


_ODD: dict[str, Callable[[dict[str, Any]], bytes]] = {
    "nan": _value(b"NaN"),
    "deep": _value(b"[" * DEPTH + b"]" * DEPTH),
    "twice": lambda members: _text(members).replace(b'"key":', b'"key":"another","key":', 1),
    "surrogate": _value(b'"\\ud800"'),
    "fraction": lambda members: _text(members | {"last_updated_rev": members["last_updated_rev"] + 0.5}),
    "list": lambda members: b"[" + _text(members) + b"]",
    "no-clock": _without("vector_clock"),
    "no-uuid": _without("uuid"),
    "no-time": _with(update_time="yesterday"),
    "negative": _with(last_updated_rev=-1),
    "not-deleted": _with(deleted=False),
    # A lambda, so that the large body is not made when the module is imported.
    "large": lambda members: _value(b'"' + b"x" * LARGE_BYTES + b'"')(members),
}
"""For each oddity, a function from the members to the body."""
