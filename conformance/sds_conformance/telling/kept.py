"""Traces that were kept in files by `Trace.to_json_lines`, read again. Anybody can have written such a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sds_harness.declaration import printable
from sds_harness.environment import PLAIN
from sds_harness.faults import Breakdown, FaultKind
from sds_harness.files import FileError, parse_json, read_text
from sds_harness.trace import Trace

from ..protocols import protocol_of
from .enacting import empty_stage, message_of, party_of
from .said import MAX_CHARS, MAX_LINES

MAX_BYTES = 256 << 20
"""Of one file. A trace of thousands of steps takes some megabytes."""


class TraceFileError(Exception):
    """A file is no trace, with the reason."""


def load_trace(path: Path) -> Trace[Any]:
    """The trace in a file. Raises TraceFileError."""
    try:
        rows = [parse_json(line) for line in read_text(path, MAX_BYTES).removesuffix("\n").split("\n")]
    except FileError as error:
        raise TraceFileError(f"{path} {error}") from None
    try:
        trace = _trace(rows)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise TraceFileError(f"{path} is no trace of this version") from None
    if len(trace.steps) != rows[0]["steps"]:
        raise TraceFileError(f"{path} has {len(trace.steps)} of {rows[0]['steps']} steps: it was cut off")
    return trace


def _trace(rows: list[dict[str, Any]]) -> Trace[Any]:
    head, *rest = rows
    rules = protocol_of(head["revision"]).rules
    answer = message_of({"hello": head["hello"]}, rules.language.reply)
    environment = rules.environments.get(head["environment"], PLAIN)
    stage = answer and empty_stage(
        rules, answer.hello, head["revision"], head["dialect"], str(head["schedule"]), environment
    )
    if stage is None:
        raise ValueError("no handshake")
    trace: Trace[Any] = stage.trace
    trace.start_ms, trace.stopped = int(head["startMs"]), str(head["stopped"])
    for row in rest:
        if "breakdown" in row:
            trace.breakdown = Breakdown(FaultKind(row["breakdown"]), str(row["detail"]))
            continue
        step = stage.next(str(row["participant"]), message_of(row["request"], rules.language.request))
        if step.request.WhichOneof("command") is None:
            raise ValueError("no command")
        step.reply = message_of(row["reply"], rules.language.reply) if "reply" in row else None
        step.said = tuple(printable(str(line), MAX_CHARS) for line in row.get("stderr", ())[:MAX_LINES])
        trace.steps.append(step)
        if step.answer == "opened":
            opened = party_of(step.participant, step.request.open, step.reply.opened, step.now_ms)
            trace.parties[step.participant] = opened
    return trace
