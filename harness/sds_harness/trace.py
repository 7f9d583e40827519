"""The trace: what one schedule did to an implementation, step by step. Everything that judges reads traces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from google.protobuf import json_format

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import SDS_2026_01, V2026_01, MalformedMessage, Message, Revision, WireFormat
from sds_reference.testee.dialect import Dialect
from sds_reference.wire_fields import WireField, split

from .declaration import Declaration
from .environment import PLAIN
from .faults import Breakdown


class Wire:
    """Bytes on the network: as they were, and as a message of the text where they are one."""

    __slots__ = ("_fields", "dialect", "error", "message", "raw", "text")

    def __init__(self, raw: bytes, dialect: Dialect | None, layout: WireFormat = V2026_01) -> None:
        """``layout`` is that of the text: each revision has its own."""
        self.raw = raw
        """The bytes themselves."""
        self.dialect = dialect
        """The private layout they are in, None for that of the text."""
        self.text: bytes = raw
        """The bytes in the layout of the text: translated if a dialect is in use."""
        self.message: Message | None = None
        """What they decode to."""
        self.error = ""
        """Why they do not decode."""
        try:
            if dialect is not None:
                self.text = dialect.to_text(raw)
            self.message = layout.decode(self.text)
        except MalformedMessage as error:
            self.error = str(error)
        self._fields: list[WireField] | None = None

    @property
    def fields(self) -> list[WireField] | None:
        """The top-level fields of the bytes, as they stand there; None if they do not split into any."""
        if self._fields is None:
            with suppress(MalformedMessage):
                self._fields = split(self.raw)
        return self._fields


@dataclass
class Step:
    """One command to one participant, and its answer."""

    index: int
    """Position in the trace, from 1."""
    participant: str
    request: pb.Request
    reply: pb.Reply | None
    """None where the implementation broke down instead of answering."""
    dialect: Dialect | None = None
    layout: WireFormat = V2026_01
    """How messages stand in bytes."""

    # Checks ask a step the same few things again and again; it does not change once it was answered.

    @cached_property
    def command(self) -> str:
        """Name of the command: ``send``, ``receive``, ..."""
        return self.request.WhichOneof("command") or ""

    @cached_property
    def answer(self) -> str:
        """Name of the answer: ``effects``, ``rejected``, ..., or "" for none."""
        return (self.reply.WhichOneof("answer") or "") if self.reply is not None else ""

    @cached_property
    def now_ms(self) -> int:
        return int(getattr(getattr(self.request, self.command), "now_ms", 0))

    @cached_property
    def channel_id(self) -> str:
        """The channel the command names, "" if none."""
        return str(getattr(getattr(self.request, self.command), "channel_id", ""))

    @cached_property
    def events(self) -> list[pb.Event]:
        """Signals of the implementation, in order."""
        return list(self.reply.effects.events) if self.reply is not None and self.answer == "effects" else []

    @cached_property
    def broadcasts(self) -> list[Wire]:
        """What it handed to the network, in order."""
        if self.reply is None or self.answer != "effects":
            return []
        return [Wire(raw, self.dialect, self.layout) for raw in self.reply.effects.broadcasts]

    @cached_property
    def received(self) -> Wire:
        """What arrived, for ``receive``."""
        return Wire(self.request.receive.wire, self.dialect, self.layout)


@dataclass
class Party:
    """A participant under test: how it was opened."""

    name: str
    """What it is called in the trace: its participant ID, unless another participant has the same."""
    handle: int
    channels: tuple[str, ...]
    opened_ms: int
    asked: pb.Configuration
    in_force: pb.Configuration
    unnamed: bool = False
    """It was opened without naming a channel."""
    participant_id: str = ""
    """The ID its messages carry."""

    def __post_init__(self) -> None:
        self.participant_id = self.participant_id or self.name


@dataclass
class Trace:
    """One run of one schedule."""

    schedule: str
    """Name of the scenario or schedule."""
    declaration: Declaration
    dialect: Dialect | None = None
    environment: str = PLAIN.name
    """Name of the environment it was played in."""
    parties: dict[str, Party] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    start_ms: int = 0
    """Virtual time at the start, in epoch milliseconds."""
    revision: Revision = SDS_2026_01
    """The revision of the text that was spoken."""
    breakdown: Breakdown | None = None
    """Set when the conversation broke at the last step."""
    suite_error: str = ""
    """Set when the schedule itself failed: a fault of ours."""
    stopped: str = ""
    """Set when the schedule could not go on for a legal reason: a capability or a refusal, in words."""

    def of(self, participant: str) -> Iterator[Step]:
        """The steps of one participant."""
        known = sum(map(len, self._steps_of.values()))
        for step in self.steps[known:]:
            self._steps_of.setdefault(step.participant, []).append(step)
        return iter(self._steps_of.get(participant, ()))

    _steps_of: dict[str, list[Step]] = field(default_factory=dict, repr=False, compare=False)

    def to_json_lines(self) -> Iterator[str]:
        """A header, then one line a step: for people and tools that look at a single run."""
        yield _dump(
            {
                "schedule": self.schedule,
                "implementation": self.declaration.name,
                "revision": self.revision.name,
                "steps": len(self.steps),
            }
        )
        for step in self.steps:
            row: dict[str, Any] = {"step": step.index, "participant": step.participant}
            row["request"] = json_format.MessageToDict(step.request)
            if step.reply is not None:
                row["reply"] = json_format.MessageToDict(step.reply)
            yield _dump(row)
        if self.breakdown:
            yield _dump({"breakdown": self.breakdown.kind.value, "detail": self.breakdown.detail})


def _dump(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))
