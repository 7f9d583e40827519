"""A session: one link to one implementation, from the handshake to its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import REVISIONS, SDS_2026_01
from sds_testee.version import suite_version

from .declaration import Declaration, capability_name
from .faults import FaultKind, TesteeFault
from .link import Limits, Link

PROTOCOL_VERSION = 1

_ANSWERS: dict[str, str] = {
    "hello": "hello",
    "open": "opened",
    "observe": "state",
    "build_filter": "filter",
    "query_filter": "membership",
    "encode": "encoded",
    "decode": "decoded",
    "repair_times": "repair_offsets",
}
_REFUSALS = ("unsupported", "rejected", "error")

_CAPABILITY_OF_COMMAND: dict[str, int] = {
    "send_sync": pb.CAPABILITY_SYNC,
    "send_ephemeral": pb.CAPABILITY_EPHEMERAL,
    "observe": pb.CAPABILITY_OBSERVE,
    "build_filter": pb.CAPABILITY_FILTER_CODEC,
    "query_filter": pb.CAPABILITY_FILTER_CODEC,
    "encode": pb.CAPABILITY_MESSAGE_CODEC,
    "decode": pb.CAPABILITY_MESSAGE_CODEC,
    "repair_times": pb.CAPABILITY_REPAIR_TIMES,
}
"""The other commands are for everybody."""


def needed_capabilities(request: pb.Request) -> list[int]:
    """Capabilities without which an implementation may answer `unsupported` to ``request``."""
    command = request.WhichOneof("command") or ""
    needed = [_CAPABILITY_OF_COMMAND[command]] if command in _CAPABILITY_OF_COMMAND else []
    if command == "open" and len(request.open.channels) > 1:
        needed.append(pb.CAPABILITY_CHANNELS)
    if command == "open" and not request.open.channels:
        needed.append(pb.CAPABILITY_UNNAMED_CHANNEL)
    if request.send.message_id or request.send_ephemeral.message_id:
        needed.append(pb.CAPABILITY_MESSAGE_ID_ACCEPTED)
    if request.send.HasField("retrieval_hint") or request.receive.HasField("retrieval_hint"):
        needed.append(pb.CAPABILITY_RETRIEVAL_HINTS)
    if any(_names_a_size(filter_) for filter_ in (request.build_filter, request.query_filter)):
        needed.append(pb.CAPABILITY_FILTER_SIZES)
    return needed


def _names_a_size(command: pb.BuildFilter | pb.QueryFilter) -> bool:
    return command.HasField("bloom_capacity") or command.HasField("bloom_error_rate")


class Session:
    """Numbers requests, holds replies to the rules of the protocol, and knows what was declared."""

    def __init__(self, connect: Callable[[], Link], limits: Limits, revision: str) -> None:
        """``revision`` is the name of the one that the conversation is about."""
        self.revision = REVISIONS.get(revision, SDS_2026_01)
        self._limits = limits
        self._last_id = 0
        self._fault: TesteeFault | None = None
        self.link = connect()
        try:
            self.declaration = self._handshake(revision)
        except BaseException:
            self.kill()
            raise

    def call(self, request: pb.Request, timeout_s: float | None = None) -> pb.Reply:
        """The answer to ``request``: of the kind that belongs to the command, or `unsupported` or `rejected`.

        It can be `unsupported` only where the request needs a capability that was not declared. Raises TesteeFault, and
        the same one for whatever is asked after it.
        """
        if self._fault is not None:
            raise self._fault
        self._last_id += 1
        request.id = self._last_id
        try:
            reply = self.link.call(request, timeout_s or self._limits.command_s)
        except TesteeFault as fault:
            self._fault = fault
            raise
        command = request.WhichOneof("command")
        assert command is not None
        answer = reply.WhichOneof("answer")
        if reply.id != request.id:
            # An adapter that cannot read a request cannot know its id either: quote what it says first.
            said = f" ({reply.error.message[:200]})" if answer == "error" else ""
            self._fail(FaultKind.WRONG_ID, f"request {request.id} ({command}) was answered with id {reply.id}{said}")
        if answer == "error":
            self._fail(FaultKind.ERROR, f"{command}: {reply.error.message[:300] or 'no reason given'}")
        if answer != _ANSWERS.get(command, "effects") and answer not in _REFUSALS:
            expected = _ANSWERS.get(command, "effects")
            self._fail(
                FaultKind.WRONG_ANSWER, f"{command} was answered with {answer or 'nothing'}, not with {expected}"
            )
        if answer == "unsupported" and command != "hello":
            self._hold_to_declaration(command, request, reply)
        return reply

    def probe_honesty(self) -> None:
        """Send a command that does not exist. Raises TesteeFault unless the answer is a refusal."""
        self._last_id += 1
        reply = self.link.call_unknown(self._last_id, self._limits.command_s)
        answer = reply.WhichOneof("answer")
        if answer not in _REFUSALS:
            self._fail(FaultKind.DISHONEST, f"a command that does not exist was answered with {answer or 'nothing'}")

    def close(self) -> None:
        """End the session. Raises TesteeFault if the process does not end."""
        self.link.close()

    def kill(self) -> None:
        """End the session at once."""
        self.link.kill()

    def _hold_to_declaration(self, command: str, request: pb.Request, reply: pb.Reply) -> None:
        """Is there anything in ``request`` that was not declared? `unsupported` is honest only then."""
        needed = needed_capabilities(request)
        if not all(self._declares(capability) for capability in needed):
            return
        names = " and ".join(capability_name(capability) for capability in needed)
        why = f"although Hello declares {names}" if needed else "which every implementation needs"
        what = reply.unsupported.what[:200] or "nothing named"
        self._fail(FaultKind.REFUSAL, f"{command}, {why}, was answered `unsupported` ({what})")

    def _declares(self, capability: int) -> bool:
        # An implementation that needs message IDs takes them.
        of_ids = capability == pb.CAPABILITY_MESSAGE_ID_ACCEPTED
        required = of_ids and self.declaration.can(pb.CAPABILITY_MESSAGE_ID_REQUIRED)
        return required or self.declaration.can(capability)

    def _handshake(self, revision: str) -> Declaration:
        hello = pb.Hello(
            protocol_version=PROTOCOL_VERSION, harness=f"sds-conformance {suite_version()}", revision=revision
        )
        reply = self.call(pb.Request(hello=hello), self._limits.start_s)
        if reply.WhichOneof("answer") != "hello":
            refusal = reply.rejected.reason or reply.unsupported.what
            self._fail(FaultKind.WRONG_ANSWER, f"the handshake was refused: {refusal[:200] or 'no reason given'}")
        if reply.hello.protocol_version != PROTOCOL_VERSION:
            spoken = reply.hello.protocol_version
            self._fail(
                FaultKind.WRONG_ANSWER, f"speaks version {spoken} of the testee protocol, not {PROTOCOL_VERSION}"
            )
        if not reply.hello.name:
            self._fail(FaultKind.WRONG_ANSWER, "the answer to the handshake names no implementation")
        return Declaration.from_hello(reply.hello)

    def _fail(self, kind: FaultKind, detail: str) -> NoReturn:
        self.kill()  # first, for its last words on stderr to be complete
        self._fault = TesteeFault(kind, detail, self.link.stderr_lines())
        raise self._fault
