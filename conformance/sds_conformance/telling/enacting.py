"""A part of a transcript made a trace again, for whoever tells traces."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sds_harness.environment import PLAIN
from sds_harness.faults import FaultKind, TesteeFault
from sds_harness.language import HANDSHAKE, Language
from sds_harness.link import Limits, Link
from sds_harness.session import Session
from sds_harness.stage import Stage
from sds_harness.trace import Party, Step, Trace
from sds_harness.transcript.reading import Exchange, Part, Said
from sds_testee.framing import Framing, FramingError

from ..judging.rules import UnknownDialect
from ..protocols import protocol_of
from ..protocols.words import Narrator


@dataclass(frozen=True)
class Told:
    """A step in words."""

    participant: str
    """What it is called in findings, "" if there is none."""
    called: frozenset[str]
    """All that it is called."""
    channels: frozenset[str]
    answer: str
    done: str
    came_out: Sequence[str]
    wires: Sequence[bytes]
    """What went over the network."""


class Enacted:
    """A trace, and the exchanges of which its steps were made."""

    def __init__(self, part: Part) -> None:
        self.counted: dict[int, int] = {}
        """The number of each exchange among the steps of the schedule, by the line of the request; none if there was no
        schedule, or nothing tells what was spoken."""
        self._steps: dict[int, Step] = {}
        """By the line of the request; what was not kept whole is not among them."""
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
            self._enact(stage, part, exchange, protocol.rules.language)
        self._trace = stage.trace
        # Anybody can have written the file: what cannot be told in words is told as it stands there.
        with suppress(Exception):
            self._narrator = protocol.words.narrator(stage.trace)

    def tell(self, exchange: Exchange) -> Told | None:
        """An exchange in words, None if there are none for it."""
        step, narrator, trace = self._steps.get(exchange.request.line), self._narrator, self._trace
        if step is None or narrator is None or trace is None:
            return None
        party = trace.parties.get(step.participant)
        called = frozenset({step.participant, party.participant_id if party is not None else ""}) - {""}
        with suppress(Exception):  # as above
            return Told(
                step.participant,
                called,
                narrator.channels(step),
                step.answer,
                narrator.done(step),
                narrator.came_out(step, narrator.touches(step)),
                narrator.on_the_wire(step),
            )
        return None

    def _enact(self, stage: Stage[Any], part: Part, exchange: Exchange, language: Language) -> None:
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
                stage.trace.parties[step.participant] = _party(step.participant, command, opened, step.now_ms)
        stage.trace.steps.append(step)
        self._steps[exchange.request.line] = step


def _stage(part: Part, rules: Any) -> Stage[Any] | None:
    """A stage for the schedule, None if the handshake is not there."""
    handshake = part.conversation.handshake
    hello = _message(handshake.reply, rules.language.reply) if handshake is not None and handshake.reply else None
    try:
        session = Session(lambda: _Told(hello), Limits(), part.revision, rules.language)
        try:
            dialect = rules.dialect(part.revision, part.dialect) if part.dialect else None
        except UnknownDialect:
            dialect = None
        stage: Stage[Any] = rules.stage(session, part.name, dialect, PLAIN)
    except TesteeFault:
        return None
    stage.trace.start_ms = part.start_ms
    return stage


class _Told(Link):
    """Answers the handshake as it was answered, and nothing else."""

    def __init__(self, hello: Any) -> None:
        self._hello = hello

    def call(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        if request.WhichOneof("command") != HANDSHAKE or self._hello is None:
            raise TesteeFault(FaultKind.WRONG_ANSWER, "no handshake was kept")
        self._hello.id = request.id
        return self._hello

    def call_unknown(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        return self.call(request, timeout_s, reply)


def _message(said: Said, kind: type[Any]) -> Any | None:
    if said.message is None:
        return None
    try:
        return Framing.JSON.parse(json.dumps(said.message).encode(), kind, lenient=True)
    except (FramingError, ValueError, RecursionError):
        return None


def _party(name: str, command: Any, opened: Any, now_ms: int) -> Party:
    """By the names of fields that every language gives them that has such fields."""
    channels = tuple(getattr(command, "channels", ()))
    asked, in_force = (getattr(message, "configuration", None) for message in (command, opened))
    participant = getattr(command, "participant_id", "")
    return Party(name, opened.handle, channels, now_ms, asked, in_force, not channels, participant)
