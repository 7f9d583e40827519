"""The trace: the recorded steps of one schedule on an implementation. All judging reads traces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cache, partial
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from google.protobuf.descriptor import Descriptor

from sds_testee.protojson import write

from .declaration import Declaration
from .environment import PLAIN
from .faults import Breakdown
from .json_text import dumps, escape_json
from .lazy import LazyProperty
from .revision import Revision


class Dialect(Protocol):
    """A private wire layout and its translation."""

    @property
    def name(self) -> str: ...


LARGE_REPLY_BYTES = 1 << 16
"""Of a reply of at least this size in bytes, the messages are stored separately, and once for all steps of a trace."""


@dataclass
class Step:
    """One command to one participant, and the answer to it, as recorded in a trace."""

    index: int
    """Position in the trace, from 1."""
    participant: str
    request: Any
    reply: Any | None
    """The reply, a message of the testee protocol; None if the conversation broke before a valid reply."""
    stderr: tuple[str, ...] = field(default=(), compare=False, kw_only=True)
    """Some lines that the implementation wrote to stderr during the step."""
    known: dict[bytes, Any] = field(default_factory=dict, compare=False, repr=False, kw_only=True)
    """Values that the steps of the trace share: equal bytes are stored once, and decoded once."""
    _moved: list[Any] = field(default_factory=list, init=False, compare=False, repr=False)
    """The messages that were moved out of the reply, because they are shared with other steps."""
    messages_field: ClassVar[str]
    """The field of the effects in a reply that has the messages to other participants."""

    def lighten(self) -> None:
        """Replace large values by equal ones of other steps, to save memory. Called when the answer has arrived."""

    @property
    def whole_request(self) -> Any:
        """The request exactly as it was sent."""
        return self.request

    @property
    def whole_reply(self) -> Any | None:
        """The reply exactly as it was received."""
        if not self._moved or self.reply is None:
            return self.reply
        whole = type(self.reply)()
        whole.CopyFrom(self.reply)
        getattr(whole.effects, self.messages_field).extend(map(self._sent_again, self._moved))
        return whole

    def _move_messages(self, messages: list[Any]) -> None:
        """Store the messages of the reply in ``_moved``, and remove them from the reply."""
        assert self.reply is not None
        self._moved = messages
        self.reply.effects.ClearField(self.messages_field)
        lighter = type(self.reply)()  # clearing a field does not free its memory
        lighter.CopyFrom(self.reply)
        self.reply = lighter

    def _sent_again(self, message: Any) -> Any:
        """An element of ``_moved`` as it was in the reply."""
        return message

    def __getstate__(self) -> dict[str, Any]:
        """Omit values that can be recomputed."""
        return {part.name: getattr(self, part.name) for part in fields(self) if part.name != "known"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, known={})

    # Checks read these properties of a step many times. A step does not change once it was answered.

    @LazyProperty
    def command(self) -> str:
        """Name of the command: ``send``, ``receive``, ..."""
        return self.request.WhichOneof("command") or ""

    @LazyProperty
    def answer(self) -> str:
        """Name of the answer: ``effects``, ``rejected``, ..., or "" for none."""
        return (self.reply.WhichOneof("answer") or "") if self.reply is not None else ""

    @LazyProperty
    def now_ms(self) -> int:
        return int(getattr(getattr(self.request, self.command), "now_ms", 0))

    @LazyProperty
    def channel_id(self) -> str:
        """The channel that the command names; "" if none."""
        command = getattr(self.request, self.command)
        return str(command.channel_id) if _names_a_channel(command.DESCRIPTOR) else ""


@cache
def _names_a_channel(command: Descriptor) -> bool:
    """Does a command have the field ``channel_id``? Cached: reading a missing field takes six times as long."""
    return "channel_id" in command.fields_by_name


@dataclass
class Party:
    """A participant under test, and how it was opened."""

    name: str
    """The name of the participant in the trace: its participant ID, followed by a distinguishing word in brackets if
    another participant has the same ID."""
    handle: int
    channels: tuple[str, ...]
    opened_ms: int
    asked: Any
    """The requested configuration, a message of the testee protocol."""
    in_force: Any
    """The configuration in force, as the implementation reports it."""
    unnamed: bool = False
    """Whether the participant was opened without naming a channel."""
    participant_id: str = ""
    """The participant ID in the participant's messages."""

    def __post_init__(self) -> None:
        self.participant_id = self.participant_id or self.name


S = TypeVar("S", bound=Step)


@dataclass
class Trace(Generic[S]):
    """The recorded steps of one schedule on one implementation, with the declaration and the reason for an early
    end."""

    schedule: str
    """Name of the scenario or schedule."""
    declaration: Declaration
    revision: Revision
    """The revision of the specification that was spoken."""
    dialect: Dialect | None = None
    environment: str = PLAIN.name
    parties: dict[str, Party] = field(default_factory=dict)
    steps: list[S] = field(default_factory=list)
    start_ms: int = 0
    """Virtual time at the start, in epoch milliseconds."""
    breakdown: Breakdown | None = None
    """The breakdown at the last step; None if the conversation did not break."""
    suite_error: str = ""
    """The exception that a fault of the suite raised while the schedule was played; "" if there was none."""
    stopped: str = ""
    """The legal reason why the schedule stopped, such as a missing capability or a refused command; "" if it did not
    stop."""
    unmet: tuple[tuple[int, str], ...] = field(default=(), compare=False)
    """The expectations of the schedule that were not met: the index of each, and what was seen instead."""
    unchecked: str = field(default="", compare=False)
    """Why the expectations of the schedule were not checked; "" if they were checked."""
    recorded: int = field(default=0, compare=False)
    """The number of the line at which the trace begins in the transcript; 0 without a transcript."""

    def of(self, participant: str) -> Iterator[S]:
        """The steps of one participant."""
        if self._sorted < len(self.steps):
            for step in self.steps[self._sorted :]:
                self._steps_of.setdefault(step.participant, []).append(step)
            self._sorted = len(self.steps)
        return iter(self._steps_of.get(participant, ()))

    _steps_of: dict[str, list[S]] = field(default_factory=dict, repr=False, compare=False)
    _sorted: int = field(default=0, repr=False, compare=False)
    """The number of steps that were sorted into ``_steps_of``."""

    @property
    def answered(self) -> Self:
        """This trace without the step at which the conversation broke.

        The step has no reply, so it shows nothing that the implementation did or failed to do.
        """
        if self.breakdown is None or not self.steps or self.steps[-1].reply is not None:
            return self
        return replace(self, steps=self.steps[:-1], _steps_of={}, _sorted=0)

    def to_json_lines(self) -> Iterator[str]:
        """A header and then one JSON line per step, for people and tools that inspect a single run."""
        about = {
            "schedule": self.schedule,
            "implementation": self.declaration.name,
            "revision": self.revision.name,
            "steps": len(self.steps),
            "environment": self.environment,
            "dialect": self.dialect.name if self.dialect is not None else "",
            "startMs": self.start_ms,
            "stopped": self.stopped,
        }
        yield _object(**_texts(about), hello=write(self.declaration.to_hello(), compact=True))
        for step in self.steps:
            row = _texts({"step": step.index, "participant": step.participant})
            row["request"] = write(step.whole_request, compact=True)
            if (reply := step.whole_reply) is not None:
                row["reply"] = write(reply, compact=True)
            if step.stderr:
                row["stderr"] = _dump(step.stderr)
            yield _object(**row)
        if self.breakdown:
            yield _dump({"breakdown": self.breakdown.kind.value, "detail": self.breakdown.detail})


_dump = partial(dumps, separators=(",", ":"))


def _texts(values: dict[str, Any]) -> dict[str, str]:
    return {name: _dump(value) for name, value in values.items()}


def _object(**texts: str) -> str:
    """The JSON text of an object, made from the JSON texts of the values of its keys."""
    return escape_json("{" + ",".join(f'"{name}":{text}' for name, text in texts.items()) + "}")
