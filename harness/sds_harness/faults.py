"""The faults that can break a conversation with an implementation, with advice for each kind."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .declaration import printable


class FaultKind(Enum):
    """Ways in which an implementation under test, or its adapter, breaks the conversation."""

    advice: str
    """A hint for the user."""

    NO_START = "no-start", "Does the command run by itself in this folder?"
    HANG = (
        "hang",
        "Does the adapter flush stdout after every reply? Raise --timeout, or --start-timeout for hello, if it is only "
        "slow.",
    )
    CRASH = "crash", "Does the library crash on this input by itself?"
    EXIT = "exit", "The process must answer every request and end only when its stdin ends."
    GARBAGE = "garbage", "Does something print to stdout? Only replies may; logs go to stderr."
    OVERSIZED = (
        "oversized",
        "Is the length prefix 4 bytes, big-endian? Does the adapter use the framing that --framing names?",
    )
    TOO_LONG = (
        "too-long",
        "The suite reads replies of up to 64 MiB. A longer reply is not a fault, but its content is not judged. "
        "Shorter messages keep replies short.",
    )
    """A reply that begins like a valid one and is longer than the suite reads (64 MiB)."""
    WRONG_ID = "wrong-id", "A reply echoes the id of its request; each request gets exactly one reply, in order."
    WRONG_ANSWER = "wrong-answer", "`sds-conformance docs proto` lists the answer of each command."
    OUT_OF_MEMORY = "out-of-memory", "Raise --memory if the implementation really needs that much."
    TOO_MUCH = (
        "too-much",
        "Does a reply repeat earlier content, or grow from step to step? Play less with --scenario or --environment.",
    )
    OUT_OF_TIME = (
        "out-of-time",
        "Each answer arrived in time, but all together took too long: raise --total-timeout if that is normal.",
    )
    ERROR = "error", "The adapter itself reports that it could not do its work."
    DISHONEST = "dishonest", "A command that does not exist must be answered `unsupported`."
    REFUSAL = (
        "refusal",
        "Implement the command in the adapter, or remove its capability from the answer to Hello. Open, Close, Send, "
        "Receive and Tick are mandatory; Open ignores settings that it cannot apply.",
    )
    DEAF = (
        "deaf",
        "Does the adapter pass the bytes of `receive` to the implementation, and to the right channel? If it cannot "
        "receive at all, it does not conform: answer `unsupported`, and the report says so.",
    )
    """The implementation answers valid messages, but nothing that it answers or shows depends on any of them."""
    NEVER_EXITS = "never-exits", "The process must end when its stdin ends; is a timer or a thread still alive?"

    def __new__(cls, value: str, advice: str = "") -> FaultKind:
        out = object.__new__(cls)
        out._value_, out.advice = value, advice
        return out


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Describes a broken conversation. The cause is the implementation or its adapter."""

    kind: FaultKind
    detail: str
    """What broke, as a clause such as "no answer to send within 10 s"."""
    stderr: tuple[str, ...] = ()
    """The last lines of the standard error of the implementation."""
    hint: str = ""
    """A hint for the user that replaces the hint of the fault kind; "" to keep the hint of the kind."""

    @property
    def advice(self) -> str:
        """The hint for the user: ``hint`` if it is not empty, else the advice of the fault kind."""
        return self.hint or self.kind.advice


class TesteeError(Exception):
    """The implementation under test broke the conversation."""

    def __init__(self, kind: FaultKind, detail: str, stderr: tuple[str, ...] = (), hint: str = "") -> None:
        detail = printable(detail, 600)
        super().__init__(f"{kind.value}: {detail}")
        self.breakdown = Breakdown(kind, detail, stderr, hint)
