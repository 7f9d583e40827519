"""The messages of scripted peers in schedules: valid updates and invalid ones."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from clearskies_reference import AccessLevel

from ..declaration import printable
from ..stage import ScheduleStoppedError
from .bodies import read
from .clubs import READ_ONLY, READ_WRITE, record_id
from .frames import Frame
from .operations import Write
from .peer import ScriptedPeer
from .streams import Message

DEPTH = 20_000
"""A number of nested lists that overflows the stack of a recursive parser."""
DEEPEST = 200
"""Maximum number of nested lists and objects in a value that an operation states as JSON."""
LONGEST = 100
"""Maximum length, in characters, of a text that is quoted in the reason why an operation was not played."""
LATEST_MS = 253_402_300_799_000
"""The last second of the year 9999, which is the last year with four digits; in epoch milliseconds."""
_FLAT = "the value"
"""Stands for a value that is too deep for Python's JSON encoder, until the text of the body is written."""
LARGE_BYTES = 15_000_000
"""Length in bytes of a value with which a body is almost as large as the specification allows."""


def message_of_write(
    op: Write, peer: ScriptedPeer, after: Message | None, clock: dict[str, int] | None, poses_as: str
) -> Frame:
    """The message of a Write, not yet signed.

    ``after`` is the update that the message changes, ``clock`` the vector clock of the message (None to compute it),
    ``poses_as`` the ID of the claimed writer.

    Raises ScheduleStoppedError if a text is not valid JSON.
    """
    if op.body:
        return peer.frame(members_of(op.body))
    own = peer.peer_id
    fields: dict[str, Any] = {}
    if op.after and after is None:
        fields["uuid"] = record_id(f"of {op.after}, which was never sent")
    if after is not None and op.concurrent:
        fields["uuid"] = after.body.members.get("uuid")
        after = None
    if op.record:
        fields["uuid"] = record_id(op.record)
    if clock is not None:
        fields["vector_clock"] = clock
    if op.time:
        fields["update_time"] = op.time
    members = peer.members(
        op.key,
        _value_of_write(op),
        after=after,
        at_ms=min(max(0, peer.stage.now_ms + op.at_ms), LATEST_MS),
        deleted=op.deleted,
        **fields,
    )
    if not op.time:
        members["update_time"] = _with_digits(members["update_time"], op.digits)
    numbers = members["vector_clock"]
    if op.clock_number:
        numbers[own] = op.clock_number
    numbers |= {record_id(f"stranger {number}"): 1 for number in range(op.clock_members)}
    if op.poses_as:
        members["last_updated_by"] = poses_as
        numbers[poses_as] = numbers.get(poses_as, 0) + 1
    if op.revision:
        members["last_updated_rev"] = op.revision
    members |= members_of(op.members)
    members = {name: value for name, value in members.items() if name not in op.without}
    if op.body_bytes:
        around = len(peer.frame(members | {"value": ""}).body)
        members["value"] = "x" * max(0, op.body_bytes - around)
    if op.levels:
        flat = peer.frame(members | {"value": _FLAT}).body
        # Python's JSON encoder cannot write such deep nesting, so replace the value in the text.
        return Frame(flat.replace(b'"' + _FLAT.encode() + b'"', b"[" * op.levels + b"]" * op.levels, 1))
    return Frame(_ODD[op.odd](members)) if op.odd else peer.frame(members)


def _value_of_write(op: Write) -> Any:
    if op.length:
        return "y" * op.length
    return value_of(op.value) if op.value else op.content or f"value {op.label} of {op.peer}"


def members_of(text: str) -> dict[str, Any]:
    """The members of a JSON object, none for "". Raises ScheduleStoppedError if the text is not a JSON object."""
    members = value_of(text) if text else {}
    if not isinstance(members, dict):
        raise ScheduleStoppedError(f"{printable(text, LONGEST)} is not a JSON object")
    return members


def value_of(text: str) -> Any:
    """The value of a JSON text. Raises ScheduleStoppedError if the text is not JSON, or its value cannot be written."""
    body = read(text.encode())
    deep = body.depth or _is_deep(body.value)
    if body.error or deep or not body.is_unicode:
        why = body.error or ("the value is nested too deep" if deep else "the value has lone surrogates")
        raise ScheduleStoppedError(f"{printable(text, LONGEST)} is not JSON that can be written: {why}")
    return body.value


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        level = [part for each in level for part in _parts(each)]
    return bool(level)


def _parts(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def alter_time(frame: Frame) -> Frame:
    """The message with its original signature, and a changed last digit of its update_time."""
    place = frame.body.rfind(b'Z"') - 1
    return frame.flipped(place) if place > 0 else frame


def _with_digits(time: str, digits: int) -> str:
    """Change the number of digits after the decimal point from three; removing digits makes the time earlier."""
    second, _, rest = time.removesuffix("Z").partition(".")
    return f"{second}.{rest:0<9}"[: len(second) + (digits + 1 if digits else 0)] + "Z"


def sign_frame(frame: Frame, how: str, peer: ScriptedPeer, listener: AccessLevel) -> Frame:
    """The message with a signature of the kind ``how``, see ``Write.signature``."""
    match how:
        case "none":
            return frame
        case "forged":
            return peer.sign(frame, READ_WRITE).forged()
        case "flipped":
            return peer.sign(frame, READ_WRITE).flipped()
        case "read-only":
            return peer.sign(frame, READ_ONLY)
        case "read-write":
            return peer.sign(frame, READ_WRITE)
        case "empty":
            return Frame(frame.body, b"")
        case "reordered" | "sorted" | "spaced" | "cited" | "repeated":
            return _sign_another_text(frame, how, peer)
        case _:
            # A read-only peer does not have the key of the writers.
            return frame if peer.level is READ_ONLY else peer.sign_if_required(frame, listener)


def _sign_another_text(frame: Frame, how: str, peer: ScriptedPeer) -> Frame:
    """The message with a valid signature of another text: another form of its JSON object, or another message."""
    if how == "repeated":
        return replace(frame, signature=peer.stage.last_signature)
    members = json.loads(frame.body)
    match how:
        case "sorted":
            body, signed = frame.body, _text(dict(sorted(members.items())))
        case "reordered":
            body, signed = _text(dict(reversed(members.items()))), frame.body
        case "spaced":
            body, signed = json.dumps(members, ensure_ascii=False).encode(), frame.body
        case _:
            body, signed = frame.body, _text({"value": members.get("value")})
    return Frame(body, peer.sign(Frame(signed), READ_WRITE).signature)


def replay_message(message: Message, *, flipped: bool) -> Frame:
    """The message to send for a repeated ``message``: unchanged, or with one bit of its body flipped."""
    frame = Frame(message.body.raw, message.signature)
    return frame.flipped(len(frame.body) // 2) if flipped else frame


def _text(members: dict[str, Any]) -> bytes:
    return json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode()


def _with_members(**fields: Any) -> Callable[[dict[str, Any]], bytes]:
    return lambda members: _text(members | fields)


def _without_members(name: str) -> Callable[[dict[str, Any]], bytes]:
    return lambda members: _text({key: value for key, value in members.items() if key != name})


def _value(text: bytes) -> Callable[[dict[str, Any]], bytes]:
    """Return a function that makes a body in which this text is the value of the record."""
    return lambda members: _text(members | {"value": 0}).replace(b'"value":0', b'"value":' + text, 1)


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\de[-+\d]')
"""Matches strings, and the exponents of numbers."""
_SHORT = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "/": "\\/", '"': '\\"', "\\": "\\\\"}


def _escape(found: re.Match[str]) -> str:
    """A JSON string with every character escaped: by a letter if it has such an escape, else by hex digits in lower
    or upper case. Exponents get an upper-case E."""
    if found[0][0] != '"':
        return found[0].upper()
    units = json.loads(found[0]).encode("utf-16-be")
    numbers = [units[at] * 256 + units[at + 1] for at in range(0, len(units), 2)]
    hexadecimal = (f"\\u{n:04x}" if n % 2 else f"\\u{n:04X}" for n in numbers)
    return '"' + "".join(_SHORT.get(chr(n), digits) for n, digits in zip(numbers, hexadecimal, strict=True)) + '"'


_ODD: dict[str, Callable[[dict[str, Any]], bytes]] = {
    "nan": _value(b"NaN"),
    "deep": _value(b"[" * DEPTH + b"]" * DEPTH),
    "twice": lambda members: _text(members).replace(b'"key":', b'"key":"another","key":', 1),
    "surrogate": _value(b'"\\ud800"'),
    "fraction": lambda members: _text(members | {"last_updated_rev": members["last_updated_rev"] + 0.5}),
    "list": lambda members: b"[" + _text(members) + b"]",
    "no-clock": _without_members("vector_clock"),
    "no-uuid": _without_members("uuid"),
    "no-time": _with_members(update_time="yesterday"),
    "negative": _with_members(last_updated_rev=-1),
    "not-deleted": _with_members(deleted=False),
    "blanks": lambda members: json.dumps(members, ensure_ascii=False, indent="\t ").replace("\n", "\r\n").encode(),
    "escaped": lambda members: _TOKEN.sub(_escape, _text(members).decode()).encode(),
    # A lambda, so that the large body is not made when the module is imported.
    "large": lambda members: _value(b'"' + b"x" * LARGE_BYTES + b'"')(members),
}
"""Maps an oddity to the function that creates a body with this oddity from the members of the object."""
