"""Rebuilds traces from files: from the lines of `Trace.to_json_lines`, or from a part of a transcript.

The files are untrusted.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sds_harness.declaration import printable
from sds_harness.environment import PLAIN, Environment
from sds_harness.faults import Breakdown, FaultKind, TesteeError
from sds_harness.files import FileError, parse_json, read_text
from sds_harness.language import Language
from sds_harness.link import Limits, LocalLink
from sds_harness.session import Session
from sds_harness.stage import Stage
from sds_harness.trace import Party, Step, Trace
from sds_harness.transcript.reader import RecordedExchange, TranscriptMessage, TranscriptPart
from sds_testee.framing import Framing, FramingError

from ..judging.rules import Rules
from ..protocols import protocol_of
from ..protocols.words import Narrator
from .stderr_quotes import MAX_CHARS, MAX_LINES


@dataclass(frozen=True)
class StepText:
    """A step as text."""

    participant: str
    """Name of the participant, as in findings; "" if the step has no participant."""
    called: frozenset[str]
    """All names by which the participant is called."""
    channels: frozenset[str]
    answer: str
    done: str
    came_out: Sequence[str]
    wires: Sequence[bytes]
    """The bytes of the messages that the step sent or received."""


class RebuiltPart:
    """A rebuilt trace, and the recorded exchanges from which its steps were rebuilt."""

    def __init__(self, part: TranscriptPart) -> None:
        self.counted: dict[int, int] = {}
        """Maps the line of a request to its step number in the schedule; empty if the revision is unknown, or if the
        handshake is missing or invalid.
        """
        self._steps: dict[int, Step] = {}
        """Maps the line of a request to the step. Exchanges that were not stored completely are missing."""
        self._trace: Trace[Any] | None = None
        self._narrator: Narrator | None = None
        try:
            protocol = protocol_of(part.revision)
        except KeyError:
            return
        stage = _stage(part, protocol.rules)
        if stage is None:
            return
        for number, exchange in enumerate(part.exchanges, 1):
            self.counted[exchange.request.line] = number
            self._rebuild_step(stage, part, exchange, protocol.rules.language)
        self._trace = stage.trace
        # The file is untrusted: exchanges that cannot be described are printed unchanged.
        with suppress(Exception):
            self._narrator = protocol.narrator(stage.trace)

    def describe(self, exchange: RecordedExchange) -> StepText | None:
        """Describe an exchange; None if it cannot be described."""
        step, narrator, trace = self._steps.get(exchange.request.line), self._narrator, self._trace
        if step is None or narrator is None or trace is None:
            return None
        party = trace.parties.get(step.participant)
        called = frozenset({step.participant, party.participant_id if party is not None else ""}) - {""}
        with suppress(Exception):  # the file is not trusted
            return StepText(
                step.participant,
                called,
                narrator.channels(step),
                step.answer,
                narrator.done(step),
                narrator.came_out(step, narrator.touches(step)),
                narrator.on_the_wire(step),
            )
        return None

    def _rebuild_step(
        self, stage: Stage[Any], part: TranscriptPart, exchange: RecordedExchange, language: Language
    ) -> None:
        request = _message(exchange.request, language.request)
        if request is None or request.WhichOneof("command") is None:
            return
        reply = _message(exchange.reply, language.reply) if exchange.reply is not None else None
        step = stage.next("", request)
        step.index = self.counted[exchange.request.line]
        step.reply = reply
        command = getattr(request, step.command)
        step.participant = part.participants.get(getattr(command, "handle", 0), "")
        if step.command == "open":
            opened = getattr(reply, "opened", None) if step.answer == "opened" else None
            asked = getattr(command, "participant_id", "")
            step.participant = part.participants.get(opened.handle, asked) if opened is not None else asked
            if opened is not None:
                stage.trace.parties[step.participant] = party_of(step.participant, command, opened, step.now_ms)
        stage.trace.steps.append(step)
        self._steps[exchange.request.line] = step


def _stage(part: TranscriptPart, rules: Rules) -> Stage[Any] | None:
    """Create a stage for the schedule; None if the handshake is missing or invalid."""
    handshake = part.conversation.handshake
    reply = _message(handshake.reply, rules.language.reply) if handshake is not None and handshake.reply else None
    if reply is None:
        return None
    stage = empty_stage(rules, reply.hello, part.revision, part.dialect, part.name)
    if stage is not None:
        stage.trace.start_ms = part.start_ms
    return stage


def empty_stage(
    rules: Rules, hello: Any, revision: str, dialect: str, name: str, environment: Environment = PLAIN
) -> Stage[Any] | None:
    """Create a stage for a schedule of that name without playing anything.

    ``hello`` is the answer to the handshake; None is returned if it is invalid. Only dialects that ship with the suite
    are known: no file is opened for a dialect.
    """

    def answer(request: Any) -> Any:
        reply = rules.language.reply(id=request.id)
        reply.hello.CopyFrom(hello)
        return reply

    try:
        session = Session(lambda: LocalLink(answer), Limits(), revision, rules.language)
    except TesteeError:
        return None
    translated = rules.dialect(revision, dialect) if dialect in rules.dialects else None
    stage: Stage[Any] = rules.stage(session, name, translated, environment)
    return stage


def _message(entry: TranscriptMessage, kind: type[Any]) -> Any | None:
    return message_of(entry.message, kind) if entry.message is not None else None


def message_of(row: Any, kind: type[Any]) -> Any | None:
    """Parse a message that was stored as JSON; None if the JSON is no message of this kind."""
    try:
        return Framing.JSON.parse(json.dumps(row).encode(), kind, lenient=True)
    except (FramingError, ValueError, RecursionError):
        return None


def party_of(name: str, command: Any, opened: Any, now_ms: int) -> Party:
    """Create a participant from its ``open`` command. Fields that the protocol does not have get their defaults."""
    channels = tuple(getattr(command, "channels", ()))
    asked, in_force = (getattr(message, "configuration", None) for message in (command, opened))
    participant = getattr(command, "participant_id", "")
    return Party(name, opened.handle, channels, now_ms, asked, in_force, not channels, participant)


MAX_BYTES = 256 << 20
"""Maximum size of a file in bytes. A trace of thousands of steps has some megabytes."""


class TraceFileError(Exception):
    """A file is not a valid trace; the message has the reason."""


def load_trace(path: Path) -> Trace[Any]:
    """Load a trace from a file. Raises TraceFileError."""
    try:
        rows = [parse_json(line) for line in read_text(path, MAX_BYTES).removesuffix("\n").split("\n")]
    except FileError as error:
        raise TraceFileError(f"{path} {error}") from None
    try:
        trace = _trace(rows)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise TraceFileError(f"{path} is not a trace of this version") from None
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
        step.stderr = tuple(printable(str(line), MAX_CHARS) for line in row.get("stderr", ())[:MAX_LINES])
        trace.steps.append(step)
        if step.answer == "opened":
            opened = party_of(step.participant, step.request.open, step.reply.opened, step.now_ms)
            trace.parties[step.participant] = opened
    return trace
