"""Links carry a request to an implementation and its reply back. A link does not interpret messages."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

from google.protobuf.json_format import Parse, ParseError

from sds_testee.framing import ENVIRONMENT_VARIABLE, Framing, FramingError, TooLongError

from .declaration import OutsideClock, printable
from .faults import FaultKind, TesteeError
from .moment import Instant
from .process import TesteeProcess
from .watchdog import limit_time

_BANNER_S = 0.5
"""Seconds to wait for the text of a banner after its first, blank line."""
_LOOK_EVERY_S = 0.02


class Listener(Protocol):
    """Receives the bytes that go over a link."""

    def sent(self, body: bytes) -> None:
        """Called with the body of each frame that is sent."""
        ...

    def on_frame(self, body: bytes, whole: bool) -> None:
        """Called with the body of each frame that is received.

        ``whole`` is False for a partial frame and for unexpected output.
        """
        ...


class Link(Protocol):
    """One conversation with an implementation."""

    outside_clock: OutsideClock | None = None
    """The result of setting the implementation's clock from outside; None if the suite does not set it."""

    @property
    def pid(self) -> int | None:
        """The ID of the process that was started for the conversation; None if none was started."""
        return None

    def call(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        """Send ``request`` and return the answer, a message of type ``reply``. Raises TesteeError."""
        ...

    def call_unknown(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        """Send a command that does not exist, with the ID of ``request``, and return the answer. Raises TesteeError."""
        ...

    def listen(self, listener: Listener) -> bool:
        """Pass all bytes to the listener from now on. Returns False if the link carries no bytes."""
        return False

    def note(self, kind: str, /, **said: Any) -> int:
        """Add a line to the transcript: an object with the values ``said``, in the field ``kind``. Returns the number
        of the line; 0 if no transcript is written."""
        return 0

    def stderr_lines(self) -> tuple[str, ...]:
        """The last lines that the implementation wrote to stderr, if any."""
        return ()

    def new_stderr_lines(self) -> tuple[str, ...]:
        """Some lines that the implementation wrote to stderr since the last call; empty if stderr cannot be read."""
        return ()

    def close(self) -> None:
        """End the conversation. Raises TesteeError if the implementation does not end."""
        return

    def kill(self) -> None:
        """End the conversation at once, whatever the implementation is doing."""
        return


class WrappedLink(Link):
    """Passes everything on to another link. Subclasses override the methods whose effect they change."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self.outside_clock = link.outside_clock

    @property
    def pid(self) -> int | None:
        return self._link.pid

    def call(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        return self._link.call(request, timeout_s, reply)

    def call_unknown(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        return self._link.call_unknown(request, timeout_s, reply)

    def listen(self, listener: Listener) -> bool:
        return self._link.listen(listener)

    def note(self, kind: str, /, **said: Any) -> int:
        return self._link.note(kind, **said)

    def stderr_lines(self) -> tuple[str, ...]:
        return self._link.stderr_lines()

    def new_stderr_lines(self) -> tuple[str, ...]:
        return self._link.new_stderr_lines()

    def close(self) -> None:
        self._link.close()

    def kill(self) -> None:
        self._link.kill()


@dataclass(frozen=True)
class Limits:
    """Limits for an implementation. Times are in seconds."""

    start_s: float = 30.0
    """Seconds that a new process may take until its first answer."""
    command_s: float = 10.0
    """Seconds that an implementation may take to answer any later command."""
    exit_s: float = 3.0
    """Seconds that a process may take to exit after its stdin was closed."""
    memory_bytes: int = 4 << 30
    """Maximum resident memory, in bytes, of the process and its children together."""
    kept_bytes: int = 1 << 30
    """Maximum size, in bytes, of all requests and replies of one run. The harness keeps them until the run is
    judged.
    """
    total_s: float = math.inf
    """Seconds from ``began`` within which all commands together must be answered."""
    began: Instant = field(default_factory=Instant, compare=False, repr=False)
    """The moment from which ``total_s`` counts."""

    @property
    def left_s(self) -> float:
        """Seconds left of the total time; negative when it is over."""
        return self.total_s - self.began.ago_s

    @property
    def starting_s(self) -> float:
        """Seconds left for the start of a process, within the total time."""
        return max(0.0, min(self.start_s, self.left_s))


# A command number and name that no version of the protocol will use.
UNKNOWN_BINARY = b"\xfa\xff\xff\x0f\x00"
UNKNOWN_COMMAND = "frobnicate"


class StdioLink(Link):
    """A process that speaks one of the framings on stdin and stdout."""

    def __init__(
        self, command: Sequence[str], framing: Framing, limits: Limits, variables: Mapping[str, str] | None = None
    ) -> None:
        """``variables`` are added to the inherited environment."""
        self._framing = framing
        self._limits = limits
        self._buffer = bytearray()
        self._answered = False
        self._listeners: list[Listener] = []
        environment = {**(variables or {}), ENVIRONMENT_VARIABLE: framing.value}
        self._process = TesteeProcess(command, environment, limits.memory_bytes)

    @property
    def pid(self) -> int:
        return self._process.pid

    def listen(self, listener: Listener) -> bool:
        self._listeners.append(listener)
        return True

    def call(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        what = request.WhichOneof("command") or "nothing"
        with limit_time(timeout_s):
            return self._exchange(self._framing.pack(request), timeout_s, what, reply, request.hello.revision)

    def call_unknown(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        if self._framing is Framing.BINARY:
            body = request.SerializeToString() + UNKNOWN_BINARY
            frame = len(body).to_bytes(4, "big") + body
        else:
            frame = f'{{"id":"{request.id}","{UNKNOWN_COMMAND}":{{}}}}\n'.encode()
        with limit_time(timeout_s):
            return self._exchange(frame, timeout_s, "an unknown command", reply)

    def stderr_lines(self) -> tuple[str, ...]:
        return self._process.stderr_lines()

    def new_stderr_lines(self) -> tuple[str, ...]:
        return self._process.new_stderr_lines()

    def close(self) -> None:
        with limit_time(self._limits.exit_s):
            ended = self._process.close(self._limits.exit_s)
        if not ended:
            detail = f"the process still ran {self._limits.exit_s:g} s after its stdin ended, and was killed"
            raise TesteeError(FaultKind.NEVER_EXITS, detail, self.stderr_lines())

    def kill(self) -> None:
        """Kill the process at once, whatever it is doing."""
        with limit_time(0):
            self._process.close(0)

    def _exchange(self, frame: bytes, timeout_s: float, what: str, kind: type[Any], revision: str = "") -> Any:
        process = self._process
        if self._buffer:
            self._fail(FaultKind.GARBAGE, f"more on stdout than one reply: {_excerpt(self._buffer)}")
        for listener in self._listeners:
            listener.sent(frame[4:] if self._framing is Framing.BINARY else frame[:-1])
        process.deadline_in(timeout_s)
        if not process.write(frame):
            self._fail_ended(what, timeout_s, "stdin")
        body: bytes | None = None
        try:
            while body is None:
                searched = len(self._buffer)
                chunk = process.read()
                if not chunk:
                    self._fail_ended(what, timeout_s, "stdout")
                self._buffer += chunk
                body = self._framing.take(self._buffer, searched)
        except FramingError as error:
            too_long = isinstance(error, TooLongError) and self._answered
            self._fail(FaultKind.TOO_LONG if too_long else FaultKind.OVERSIZED, f"the answer to {what} is {error}")
        self._answered = True
        process.deadline_in(float("inf"))
        for listener in self._listeners:
            listener.on_frame(body, True)
        if self._framing is Framing.JSON and not body.strip():
            self._fail_blank(what)
        try:
            return read_reply(self._framing, body, kind, what)
        except FramingError as error:
            echoed = body.strip() == frame.strip()
            advice = _ECHO if echoed else _advise_reply(self._framing, body, kind, revision)
            self._fail(FaultKind.GARBAGE, str(error), advice)

    def _fail_blank(self, what: str) -> NoReturn:
        """Raise the fault for an answer that is a blank line, as in a banner of npm.

        Quotes the next line that is not blank.
        """
        until = time.monotonic() + _BANNER_S
        while not (words := _first_words(self._buffer)) and time.monotonic() < until:
            time.sleep(_LOOK_EVERY_S)
            self._buffer += self._process.read_remaining()
        self._fail(FaultKind.GARBAGE, f"the answer to {what} is not a reply ({_blank(words)}): {_excerpt(words)}")

    def _fail_ended(self, what: str, timeout_s: float, pipe: str) -> NoReturn:
        """Raise the fault for a conversation that ended while ``pipe`` was in use."""
        process = self._process
        if process.failure is FaultKind.HANG and pipe == "stdin":
            self._fail(FaultKind.HANG, f"{what} was not read from stdin within {timeout_s:g} s")
        if process.failure is FaultKind.HANG:
            text = f"; stdout had only {_excerpt(self._buffer)}" if self._buffer else ""
            self._fail(FaultKind.HANG, f"no answer to {what} within {timeout_s:g} s{text}")
        died = describe_exit(process, f"in answer to {what}")
        if died is None:
            self._fail(FaultKind.EXIT, f"{pipe} closed in answer to {what}, and the process still runs")
        kind, detail = died
        if pipe == "stdin":
            # The process ended without reading, but may have printed before. Read that output now, so that the reported
            # fault does not depend on whether the exit or the output came first.
            self._buffer += process.read_remaining()
            line, end, _ = self._buffer.partition(b"\n")
            if kind is FaultKind.EXIT and self._framing is Framing.JSON and end and not line.lstrip().startswith(b"{"):
                words = _first_words(self._buffer)
                self._fail(
                    FaultKind.GARBAGE, f"the answer to {what} is not a reply ({_blank(words)}): {_excerpt(words)}"
                )
        text = f"; stdout had only {_excerpt(self._buffer)}" if self._buffer else ""
        # A crash before the first answer: probably the command is wrong, or something is not installed.
        at_once = kind is FaultKind.CRASH and what == "hello"
        self._fail(kind, f"{detail}{text}", process.why_at_once if at_once else "")

    def _fail(self, kind: FaultKind, detail: str, hint: str = "") -> NoReturn:
        self.kill()
        for listener in self._listeners if self._buffer else ():
            listener.on_frame(bytes(self._buffer), False)
        raise TesteeError(kind, detail, self.stderr_lines(), hint)


class LocalLink(Link):
    """An implementation in this process, for self-tests: any function from request to reply."""

    def __init__(self, handle: Callable[[Any], Any]) -> None:
        self._handle = handle

    def call(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        try:
            return self._handle(request)
        except Exception as error:  # every exception counts as a crash of the implementation
            raise TesteeError(FaultKind.CRASH, f"{type(error).__name__}: {error}") from error

    def call_unknown(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        return self.call(request, timeout_s, reply)


def read_reply(framing: Framing, body: bytes, kind: type[Any], what: str) -> Any:
    """Parse the answer to ``what`` as a reply of type ``kind``. Raises FramingError with a complete message."""
    try:
        reply = framing.parse(body, kind)
    except FramingError as error:
        raise FramingError(f"the answer to {what} is not a reply ({error}): {_excerpt(body)}") from None
    if not reply.id and reply.WhichOneof("answer") is None:
        raise FramingError(f"the answer to {what} is not a reply: {_excerpt(body)}")
    return reply


_ECHO = "The adapter sends back the request: answer it with a reply, as `sds-conformance docs adapter` describes."


def _advise_reply(framing: Framing, body: bytes, kind: type[Any], revision: str) -> str:
    """A hint about a frame that is not a reply: its wrong field, another revision, or both. "" if neither is found."""
    other = _advise_revision(body, kind, revision) if framing is Framing.JSON else ""
    # Imported here, because a schema is loaded only for a wrong reply.
    from .field_errors import describe_wrong_field

    wrong = describe_wrong_field(body, kind) if framing is Framing.JSON else ""
    # Another revision explains unknown names. It does not explain names that are misspelt.
    if not wrong or (other and "did you mean" not in wrong):
        return other
    end = "" if wrong.endswith("?") else "."
    return f"{wrong}{end} `sds-conformance smoke --validate` checks each field. {other}".rstrip()


def _advise_revision(body: bytes, kind: type[Any], revision: str) -> str:
    """A hint if ``body`` looks like the handshake of an implementation that does not support ``revision``, else ""."""
    with suppress(ParseError, UnicodeDecodeError):
        supported = Parse(body, kind(), ignore_unknown_fields=True).hello.revisions
        if revision and supported and revision not in supported:
            names = printable(", ".join(supported), 200)
            return f"The implementation declares {names}, not {revision}: choose the revision with --revision."
    return ""


def describe_exit(process: TesteeProcess, when: str, settling_s: float = 0.5) -> tuple[FaultKind, str] | None:
    """How and ``when`` a process ended; None if it still runs after ``settling_s`` seconds."""
    if process.failure is FaultKind.OUT_OF_MEMORY:
        limit = process.memory_bytes >> 20
        return FaultKind.OUT_OF_MEMORY, f"the process used more than {limit} MiB of memory {when}, and was killed"
    status = process.wait_for_exit(settling_s)
    if status is None:
        return None
    if status < 0:
        name = signal.Signals(-status).name if -status in set(signal.Signals) else f"signal {-status}"
        return FaultKind.CRASH, f"killed by {name} {when}"
    kind = FaultKind.CRASH if status else FaultKind.EXIT
    return kind, f"the process ended with exit code {status} {when}"


def _first_words(data: bytes | bytearray) -> bytes:
    """The first line that is not blank; b"" if there is none."""
    return next((line for line in bytes(data).split(b"\n") if line.strip()), b"")


def _blank(words: bytes) -> str:
    """Why the answer is not a reply; ``words`` is its first line that is not blank."""
    return "a blank line before it" if words.lstrip().startswith(b"{") else "not a JSON object"


def _excerpt(data: bytes | bytearray) -> str:
    text = bytes(data[:120]).decode("utf-8", "backslashreplace")
    escaped = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
    return f'"{escaped}"' + ("..." if len(data) > 120 else "")
