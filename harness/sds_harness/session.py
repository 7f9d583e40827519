"""A session is one conversation with one implementation over one link, from the handshake to the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any, NoReturn

from sds_testee.version import suite_version

from . import identifiers
from .declaration import Declaration, printable
from .faults import FaultKind, TesteeError
from .language import HANDSHAKE, REFUSALS, Language
from .link import Limits, Link
from .watchdog import GRACE_S, OverdueError, limit_time

PROTOCOL_VERSION = 1
_LONG_IDENTIFIER = "Is an ID field filled with content? IDs of messages, channels, senders and records are short."


class Session:
    """Numbers the requests, checks replies against the rules of the testee protocol, and keeps the declaration."""

    def __init__(self, connect: Callable[[], Link], limits: Limits, revision: str, language: Language) -> None:
        """``revision`` is the name of the revision that the implementation is asked to speak."""
        self.revision = revision
        self.language = language
        self._limits = limits
        self._last_id = 0
        self.longest_identifier = identifiers.MAX_BYTES
        """Maximum length of an identifier in bytes; at least the size of the largest request that was sent."""
        self.request_bytes = self.reply_bytes = 0
        """Sizes of the last request and its reply, in bytes."""
        self._fault: TesteeError | None = None
        if limits.left_s <= 0:
            total = f"the total time of {limits.total_s:g} s was over before the start of the implementation"
            raise TesteeError(FaultKind.OUT_OF_TIME, total)
        try:
            with limit_time(limits.left_s):
                self.link = connect()
        except OverdueError:
            total = f"the implementation did not start before the end of the total time of {limits.total_s:g} s"
            raise TesteeError(FaultKind.OUT_OF_TIME, total) from None
        try:
            self.declaration = self._handshake(revision)
        except BaseException:
            self.kill()
            raise

    def call(self, request: Any, timeout_s: float | None = None) -> Any:
        """Send ``request`` and return the reply: the answer that belongs to the command, or `unsupported` or
        `rejected`.

        The answer is `unsupported` only if the request needs a capability that was not declared. Raises TesteeError for
        any fault. After a fault, every further call raises the same error.
        """
        if self._fault is not None:
            raise self._fault
        self._last_id += 1
        request.id = self._last_id
        try:
            reply = self._ask(self.link.call, request, timeout_s or self._limits.command_s)
        except TesteeError as fault:
            self._fault = fault
            raise
        self.request_bytes, self.reply_bytes = request.ByteSize(), reply.ByteSize()
        self.longest_identifier = max(self.longest_identifier, self.request_bytes)
        command = request.WhichOneof("command")
        assert command is not None
        answer = reply.WhichOneof("answer")
        if reply.id != request.id:
            # An adapter that cannot parse a request does not know the request's ID. Quote the adapter's error, which is
            # more specific.
            text = f" ({reply.error.message[:200]})" if answer == "error" else ""
            self.fail(FaultKind.WRONG_ID, f"request {request.id} ({command}) was answered with id {reply.id}{text}")
        if answer == "error":
            self.fail(FaultKind.ERROR, f"{command}: {reply.error.message[:300] or 'no reason given'}")
        expected = self.language.answer_to(command)
        if answer != expected and answer not in REFUSALS:
            self.fail(FaultKind.WRONG_ANSWER, f"{command} was answered with {answer or 'nothing'}, not with {expected}")
        if self.reply_bytes > self.longest_identifier:
            self.hold_identifiers(command, identifiers.in_message(reply, self.language.identifiers))
        if answer == "unsupported" and command != HANDSHAKE:
            self._hold_to_declaration(command, request, reply)
        return reply

    def probe_honesty(self) -> None:
        """Send a command that does not exist. Raises TesteeError unless the answer is a refusal."""
        self._last_id += 1
        request = self.language.request(id=self._last_id)
        reply = self._ask(self.link.call_unknown, request, self._limits.command_s)
        answer = reply.WhichOneof("answer")
        if answer not in REFUSALS:
            self.fail(FaultKind.DISHONEST, f"a command that does not exist was answered with {answer or 'nothing'}")

    def hold_identifiers(self, command: str, found: Iterable[tuple[str, str]]) -> None:
        """Check that no identifier in an answer is too long. ``found`` has names and values. Raises TesteeError."""
        if long := identifiers.too_long(found, self.longest_identifier):
            self.fail(FaultKind.OVERSIZED, f"the answer to {command} has {long}", _LONG_IDENTIFIER)

    def fail(self, kind: FaultKind, detail: str, hint: str = "") -> NoReturn:
        """End the session because of a fault of the implementation. Always raises TesteeError."""
        self.link.note("fault", kind=kind.value, detail=printable(detail, 600))
        self.kill()  # first end the process, so that its last lines of stderr are complete
        self._fault = TesteeError(kind, detail, self.link.stderr_lines(), hint)
        raise self._fault

    def close(self) -> None:
        """End the session. Raises TesteeError if the process does not end."""
        try:
            self.link.close()
        except OverdueError:
            self.kill()
            detail = f"the conversation did not end within {self._limits.exit_s:g} s"
            raise TesteeError(FaultKind.NEVER_EXITS, detail, self.link.stderr_lines()) from None

    def kill(self) -> None:
        """End the session without waiting for the implementation."""
        with suppress(OverdueError):  # the guardian kills remaining processes at the end
            self.link.kill()

    def _ask(self, ask: Callable[[Any, float, type[Any]], Any], request: Any, timeout_s: float) -> Any:
        """Send the request by ``ask``, and wait for the answer for ``timeout_s``, but no longer than the total time.
        Raises TesteeError."""
        left_s = self._limits.left_s
        if left_s <= 0:
            self._out_of_time(request)
        timeout_s = min(timeout_s, left_s)
        try:
            return ask(request, timeout_s, self.language.reply)
        except OverdueError:
            if self._limits.left_s <= 0:
                self._out_of_time(request)
            what = request.WhichOneof("command") or "an unknown command"
            self.fail(FaultKind.HANG, f"no answer to {what} within {timeout_s:g} s, nor in the next {GRACE_S:g} s")
        except TesteeError as fault:
            if fault.breakdown.kind is FaultKind.HANG and self._limits.left_s <= 0:
                self._out_of_time(request)
            if own := self.language.advice.get(fault.breakdown.kind):
                fault.breakdown = replace(fault.breakdown, hint=f"{fault.breakdown.advice} {own}")
            raise

    def _out_of_time(self, request: Any) -> NoReturn:
        what = request.WhichOneof("command") or "an unknown command"
        self.fail(FaultKind.OUT_OF_TIME, f"the total time of {self._limits.total_s:g} s was over at {what}")

    def _hold_to_declaration(self, command: str, request: Any, reply: Any) -> None:
        """Raise a fault if `unsupported` was answered although all capabilities that ``request`` needs are declared."""
        needed = self.language.needed(request)
        if not all(self._declares(capability) for capability in needed):
            return
        names = " and ".join(map(self.language.name_of, needed))
        why = f"although Hello declares {names}" if needed else "which every implementation needs"
        what = reply.unsupported.what[:200] or "nothing named"
        self.fail(FaultKind.REFUSAL, f"{command}, {why}, was answered `unsupported` ({what})")

    def _declares(self, capability: int) -> bool:
        implied = self.language.implied.get(capability)
        return self.declaration.can(capability) or (implied is not None and self.declaration.can(implied))

    def _handshake(self, revision: str) -> Declaration:
        request = self.language.request()
        request.hello.protocol_version = PROTOCOL_VERSION
        request.hello.harness = f"sds-conformance {suite_version()}"
        request.hello.revision = revision
        reply = self.call(request, self._limits.start_s)
        if reply.WhichOneof("answer") != HANDSHAKE:
            refusal = reply.rejected.reason or reply.unsupported.what
            self.fail(FaultKind.WRONG_ANSWER, f"the handshake was refused: {refusal[:200] or 'no reason given'}")
        if reply.hello.protocol_version != PROTOCOL_VERSION:
            spoken = reply.hello.protocol_version
            detail = f"the implementation uses version {spoken} of the testee protocol, not {PROTOCOL_VERSION}"
            if not spoken:
                detail = f"the handshake has no protocolVersion: answer {PROTOCOL_VERSION}"
            self.fail(FaultKind.WRONG_ANSWER, detail)
        if not reply.hello.name:
            self.fail(FaultKind.WRONG_ANSWER, "the answer to the handshake names no implementation")
        declared = Declaration.from_hello(reply.hello, self.language)
        return replace(declared, outside_clock=self.link.outside_clock)
