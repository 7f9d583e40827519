"""A link that records the traffic of another link in a transcript."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

from google.protobuf import json_format

from ..faults import Breakdown, TesteeError
from ..link import Link, Listener, WrappedLink
from .writer import Transcript

MAX_RAW = 1 << 20
"""Maximum size in bytes of a message that is recorded whole."""
_BEGINNING = 4096
"""At most this many bytes of a message, or of bytes that are not a message, are recorded."""
_SHORT = 256


class RecordedLink(WrappedLink, Listener):
    """A link whose conversation is recorded in a transcript."""

    def __init__(self, link: Link, transcript: Transcript, **about: Any) -> None:
        """``about`` describes the process: the command, the framing, the variables."""
        super().__init__(link)
        self._transcript = transcript
        self._asked: Any = None
        """The request that was sent but is not yet written to the transcript."""
        self._received: list[bytes] = []
        self._ended = False
        process = {"process": link.pid} if link.pid is not None else {}
        self._number = transcript.add({"begins": {**about, **process}})
        self._in_bytes = link.listen(self)

    def call(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        return self._exchange(request, lambda: self._link.call(request, timeout_s, reply))

    def call_unknown(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        return self._exchange(request, lambda: self._link.call_unknown(request, timeout_s, reply))

    def note(self, kind: str, /, **said: Any) -> int:
        return self._add({kind: said})

    def close(self) -> None:
        try:
            self._link.close()
        except TesteeError as fault:
            self._record_breakdown(fault.breakdown)
            self._end("killed")
            raise
        self._end("closed")

    def kill(self) -> None:
        self._link.kill()
        self._end("killed")

    def sent(self, body: bytes) -> None:
        self._tell_request(body)

    def on_frame(self, body: bytes, whole: bool) -> None:
        self._received.append(body)

    def _exchange(self, request: Any, call: Callable[[], Any]) -> Any:
        self._asked, self._received = request, []
        if not self._in_bytes:
            self._tell_request(None)
        try:
            reply = call()
        except TesteeError as fault:
            self._record_breakdown(fault.breakdown)
            raise
        finally:
            self._asked = None
        body = self._received[-1] if self._received else None
        self._received = []
        self._write_exchange("<", reply.WhichOneof("answer") or "", reply, body)
        return reply

    def _tell_request(self, body: bytes | None) -> None:
        request, self._asked = self._asked, None
        if request is not None:
            self._write_exchange(">", request.WhichOneof("command") or "", request, body)

    def _write_exchange(self, direction: str, what: str, message: Any, body: bytes | None) -> None:
        row: dict[str, Any] = {"direction": direction, "what": what}
        if body is not None and (line := _as_json(body)):
            self._add(row, line)
            return
        data = json_format.MessageToDict(message)
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        size = len(body) if body is not None else len(text)
        if max(size, len(text)) > MAX_RAW:
            row |= {"bytes": size, "head": _head(data)}
            self._add(row | _to_base64(body))
        else:
            self._add(row | _to_base64(body), text)

    def _record_breakdown(self, breakdown: Breakdown) -> None:
        fault = {"kind": breakdown.kind.value, "detail": breakdown.detail, "stderr": list(breakdown.stderr)}
        self._add({"fault": fault, **_to_base64(b"\n".join(self._received) or None)})

    def _end(self, how: str) -> None:
        if not self._ended:
            self._ended = True
            self._add({"ends": {"how": how, "stderr": list(self._link.stderr_lines())}})

    def _add(self, row: dict[str, Any], raw: str = "") -> int:
        return self._transcript.add({"conversation": self._number, **row}, raw)


def _as_json(body: bytes) -> str:
    """The text of the line, unchanged; "" if the line is not a JSON object or is too large to be recorded whole."""
    if len(body) > MAX_RAW:
        return ""
    try:
        text = body.decode("utf-8")
        return text if isinstance(json.loads(text, parse_constant=_reject_constant), dict) else ""
    except (ValueError, RecursionError):
        return ""


def _reject_constant(name: str) -> Any:
    raise ValueError(name)


def _to_base64(body: bytes | None) -> dict[str, Any]:
    if body is None:
        return {}
    beginning = body if len(body) <= MAX_RAW else body[:_BEGINNING]
    cut = {"bytes": len(body)} if len(beginning) < len(body) else {}
    return {**cut, "base64": base64.b64encode(beginning).decode()}


def _head(message: dict[str, Any]) -> dict[str, Any]:
    """The small fields of a message and of the command in it."""
    return {name: _small(value) if isinstance(value, dict) else value for name, value in message.items()}


def _small(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in fields.items()
        if not isinstance(value, dict | list) and len(str(value)) <= _SHORT
    }
