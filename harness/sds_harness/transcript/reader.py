"""Reads a transcript: the parts of its conversations, in order. Damaged lines are reported and skipped."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..files import open_regular_file
from .writer import MAX_LINE, VERSION

Row = Mapping[str, Any]
Complain = Callable[[int, str], None]
"""Called with the number of a line and its error."""


class NotATranscriptError(ValueError):
    """A file is not a transcript, as `--transcript` writes them."""


@dataclass(frozen=True)
class TranscriptMessage:
    """A message in a transcript."""

    line: int
    what: str
    """Name of the command or of the answer."""
    message: Row | None
    """The message as JSON; None if it was too large to be stored whole."""
    raw: bytes = b""
    size: int = 0
    """Length in bytes of a message that was not stored whole."""
    head: Row = field(default_factory=dict)
    """The fields of a message that was too large to be stored whole, without the large fields."""


@dataclass
class RecordedExchange:
    """A request and its reply; the reply is None if there was none."""

    request: TranscriptMessage
    reply: TranscriptMessage | None = None


@dataclass(frozen=True)
class TranscriptBreakdown:
    """A fault that broke a conversation."""

    line: int
    kind: str
    detail: str
    stderr: tuple[str, ...]
    raw: bytes
    """The bytes received instead of a reply."""


@dataclass
class Conversation:
    """One conversation, which is one process."""

    number: int
    """The number of the first line of the conversation in the transcript."""
    command: str = ""
    framing: str = ""
    process: int = 0
    variables: Row = field(default_factory=dict)
    handshake: RecordedExchange | None = None


@dataclass
class TranscriptPart:
    """The exchanges of one schedule in a conversation, or the exchanges before its first schedule."""

    conversation: Conversation
    line: int
    name: str = ""
    """Name of the schedule; "" for the exchanges before the first schedule."""
    environment: str = ""
    revision: str = ""
    dialect: str = ""
    start_ms: int = 0
    vector: str = ""
    """The golden vector that is played; "" if none."""
    exchanges: list[RecordedExchange] = field(default_factory=list)
    participants: dict[int, str] = field(default_factory=dict)
    """The names that findings use for participants, by handle."""
    breakdown: list[TranscriptBreakdown] = field(default_factory=list)
    ends: str = ""
    """How the conversation ended after this part; "" if another part follows."""
    stderr: tuple[str, ...] = ()
    """The last lines of stderr when the conversation ended."""


def remarks(path: Path) -> Iterator[tuple[str, Row]]:
    """The findings of a transcript: rows ``finding`` and ``judged``. Raises NotATranscriptError, FileError."""
    for _, row in _rows(path, lambda line, said: None):
        for kind in ("finding", "judged"):
            if isinstance(row.get(kind), dict):
                yield kind, row[kind]


def parts(path: Path, complain: Complain) -> Iterator[TranscriptPart]:
    """All parts with at least one exchange or fault, in the order in which they end.

    Raises NotATranscriptError, FileError.
    """
    open_: dict[int, TranscriptPart] = {}
    for line, row in _rows(path, complain):
        if "transcript" in row or "finding" in row or "judged" in row:
            continue
        number = row.get("conversation")
        if not isinstance(number, int):
            complain(line, "the line does not belong to a conversation")
            continue
        if "begins" in row:
            open_[number] = TranscriptPart(_conversation(number, _object(row, "begins")), line)
        part = open_.setdefault(number, TranscriptPart(Conversation(number), line))
        if "part" in row or "vector" in row:
            if _said_anything(part):
                yield part
            open_[number] = _next_part(part, line, row)
        elif "direction" in row:
            _exchange(part, line, row, complain)
        elif "participant" in row:
            who = _object(row, "participant")
            part.participants[_number(who, "handle")] = _text(who, "name")
        elif "fault" in row:
            fault = _object(row, "fault")
            raw = _bytes(row)
            part.breakdown.append(
                TranscriptBreakdown(line, _text(fault, "kind"), _text(fault, "detail"), _lines(fault), raw)
            )
        elif "ends" in row:
            part.ends, part.stderr = _text(_object(row, "ends"), "how"), _lines(_object(row, "ends"))
        elif "begins" not in row:
            complain(line, "the line has no known field")
        # An ended conversation has no further lines: free its part.
        if part.ends and open_.pop(number, None) is not None and _said_anything(part):
            yield part
    for part in open_.values():
        if _said_anything(part):
            yield part


def _said_anything(part: TranscriptPart) -> bool:
    return bool(part.exchanges or part.breakdown)


def _rows(path: Path, complain: Complain) -> Iterator[tuple[int, Row]]:
    """The readable lines, with their numbers. Raises NotATranscriptError, FileError."""
    with open_regular_file(path) as file:
        line = 0
        while data := file.readline(MAX_LINE):
            line += 1
            whole = data.endswith(b"\n")
            if not whole and len(data) == MAX_LINE:
                _skip(file)
                row: Any = f"the line is longer than {MAX_LINE:,} bytes"
            else:
                row = _row(data, whole)
            if line == 1 and (isinstance(row, str) or row.get("transcript") != VERSION):
                what = row if isinstance(row, str) else f'the line does not contain "transcript":{VERSION}'
                raise NotATranscriptError(f"line 1: {what}")
            if isinstance(row, str):
                complain(line, row)
            else:
                yield line, row
        if not line:
            raise NotATranscriptError("the file is empty")


def _skip(file: Any) -> None:
    """Skip to the next line."""
    while (data := file.readline(MAX_LINE)) and not data.endswith(b"\n"):
        pass


def _row(data: bytes, whole: bool) -> Row | str:
    """The object in a line, or a phrase that describes the error in the line."""
    try:
        row = json.loads(data.removesuffix(b"\n").decode("utf-8"))
    except UnicodeDecodeError as error:
        return f"byte {error.start + 1} is not UTF-8"
    except json.JSONDecodeError as error:
        return f"no JSON at character {error.pos + 1}" if whole else "the line is cut off"
    except (ValueError, RecursionError):
        return "the line is not valid JSON"
    return row if isinstance(row, dict) else "the line is not a JSON object"


def _conversation(number: int, begins: Row) -> Conversation:
    return Conversation(
        number,
        _text(begins, "command"),
        _text(begins, "framing"),
        _number(begins, "process"),
        _object(begins, "variables"),
    )


def _next_part(before: TranscriptPart, line: int, row: Row) -> TranscriptPart:
    """Begin the part that a line with ``part`` or ``vector`` describes. Several successive parts can belong to one
    vector."""
    description = _object(row, "vector" if "vector" in row else "part")
    return TranscriptPart(
        before.conversation,
        line,
        _text(description, "name"),
        _text(description, "environment"),
        _text(description, "revision"),
        _text(description, "dialect"),
        _number(description, "startMs"),
        _text(description, "name") if "vector" in row else before.vector,
    )


def _exchange(part: TranscriptPart, line: int, row: Row, complain: Complain) -> None:
    message = row.get("json")
    entry = TranscriptMessage(
        line,
        _text(row, "what"),
        message if isinstance(message, dict) else None,
        _bytes(row),
        _number(row, "bytes"),
        _object(row, "head"),
    )
    match row["direction"]:
        case ">":
            part.exchanges.append(RecordedExchange(entry))
            part.conversation.handshake = part.conversation.handshake or part.exchanges[0]
        case "<" if part.exchanges and part.exchanges[-1].reply is None:
            part.exchanges[-1].reply = entry
        case "<":
            complain(line, "the line is a reply without a request")
        case _:
            complain(line, "the direction is neither > nor <")


def _object(row: Row, name: str) -> Row:
    found = row.get(name)
    return found if isinstance(found, dict) else {}


def _text(row: Row, name: str) -> str:
    found = row.get(name)
    return found if isinstance(found, str) else ""


def _number(row: Row, name: str) -> int:
    found = row.get(name)
    return found if isinstance(found, int) and 0 <= found < 1 << 64 else 0


def _lines(row: Row) -> tuple[str, ...]:
    found = row.get("stderr")
    return tuple(line for line in found if isinstance(line, str)) if isinstance(found, list) else ()


def _bytes(row: Row) -> bytes:
    try:
        return base64.b64decode(_text(row, "base64"), validate=True)
    except (binascii.Error, ValueError):
        return b""
