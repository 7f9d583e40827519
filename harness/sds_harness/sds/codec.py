"""Codec operations: pure functions of an implementation, called one by one, without a participant or a trace.

An operation whose capability is not declared is not sent, and returns Undeclared. If the implementation refuses the
input, which is legal, the operation returns Refused. All other failures raise TesteeError.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind, MalformedMessageError, Message
from sds_reference.message import fields_of, message_of
from sds_reference.testee.convert import KINDS
from sds_reference.testee.dialect import Dialect

from ..declaration import printable
from ..session import Session
from .language import SDS, needed_capabilities

NOW_MS = 1_800_000_000_000
"""The default moment for repair times: the start of virtual time."""

_KINDS = {number: kind for kind, number in KINDS.items() if kind is not Kind.UNDEFINED}


@dataclass(frozen=True, slots=True)
class Undeclared:
    """The operation was not sent, because the implementation does not declare the capability."""

    capability: int

    @property
    def reason(self) -> str:
        return f"needs the capability {SDS.name_of(self.capability)}"


@dataclass(frozen=True, slots=True)
class Refused:
    """The implementation refused the input."""

    reason: str
    """The reason that the implementation gives, cut and without control characters."""


@dataclass(frozen=True, slots=True)
class DecodedMessage:
    """The message that an implementation decodes from wire bytes."""

    message: Message
    kind: Kind | None
    """The kind of message that the implementation reports; None if it reports no kind."""


@dataclass(frozen=True, slots=True)
class RepairOffsets:
    """T_req and T_resp in milliseconds after the time in the command; None for a value that the implementation does not
    report."""

    t_req_ms: int | None
    t_resp_ms: int | None
    in_response_group: bool | None


@dataclass(frozen=True, slots=True)
class FilterSize:
    """The capacity and the error rate of a bloom filter, for a size other than the implementation's default."""

    capacity: int
    error_rate: float


NoAnswer = Undeclared | Refused


class Codec:
    """The codec operations of the implementation in a session.

    With a dialect, wire bytes are translated: arguments and results are in the layout of the specification.
    """

    def __init__(self, session: Session, dialect: Dialect | None = None) -> None:
        self._session = session
        self._dialect = dialect

    def encode(self, message: Message) -> bytes | NoAnswer:
        """The wire bytes of a message. Raises ValueError for a message that no wire format can carry."""
        answer = self._ask(pb.Request(encode=pb.Encode(message=fields_of(message, pb.Message))))
        if not isinstance(answer, pb.Reply):
            return answer
        wire = answer.encoded.wire
        if self._dialect is None:
            return wire
        try:
            return self._dialect.to_text(wire)
        except MalformedMessageError:
            # The bytes cannot be translated from the dialect: return them unchanged, so that the error is visible.
            return wire

    def decode(self, wire: bytes) -> DecodedMessage | NoAnswer:
        """The message that the implementation decodes from the bytes ``wire``."""
        private = wire if self._dialect is None else self._dialect.to_private(wire)
        answer = self._ask(pb.Request(decode=pb.Decode(wire=private)))
        if not isinstance(answer, pb.Reply):
            return answer
        decoded = answer.decoded
        return DecodedMessage(message_of(decoded.message), _KINDS.get(decoded.kind))

    def build_filter(self, message_ids: Iterable[str], size: FilterSize | None = None) -> bytes | NoAnswer:
        """The ``bloom_filter`` of a participant that received exactly these IDs, in this order."""
        command = pb.BuildFilter(message_ids=message_ids)
        if size is not None:
            command.bloom_capacity, command.bloom_error_rate = size.capacity, size.error_rate
        answer = self._ask(pb.Request(build_filter=command))
        return answer.filter.bloom_filter if isinstance(answer, pb.Reply) else answer

    def query_filter(
        self, bloom_filter: bytes, message_ids: Iterable[str], size: FilterSize | None = None
    ) -> tuple[bool, ...] | NoAnswer:
        """For each ID, whether the ``bloom_filter`` contains it. Returns as many answers as the implementation
        gives."""
        query = pb.QueryFilter(bloom_filter=bloom_filter, message_ids=message_ids)
        if size is not None:
            query.bloom_capacity, query.bloom_error_rate = size.capacity, size.error_rate
        answer = self._ask(pb.Request(query_filter=query))
        return tuple(answer.membership.hits) if isinstance(answer, pb.Reply) else answer

    def repair_times(
        self,
        participant_id: str,
        message_id: str,
        sender_id: str,
        *,
        t_min_ms: int,
        t_max_ms: int,
        num_response_groups: int,
        now_ms: int = NOW_MS,
    ) -> RepairOffsets | NoAnswer:
        """T_req, T_resp and response group of a participant for a message of ``sender_id``.

        Raises ValueError for numbers that the testee protocol cannot carry: times are uint64, groups int32.
        """
        command = pb.RepairTimes(
            now_ms=now_ms,
            participant_id=participant_id,
            message_id=message_id,
            sender_id=sender_id,
            t_min_ms=t_min_ms,
            t_max_ms=t_max_ms,
            num_response_groups=num_response_groups,
        )
        answer = self._ask(pb.Request(repair_times=command))
        if not isinstance(answer, pb.Reply):
            return answer
        offsets = answer.repair_offsets
        return RepairOffsets(
            offsets.t_req_ms if offsets.HasField("t_req_ms") else None,
            offsets.t_resp_ms if offsets.HasField("t_resp_ms") else None,
            offsets.in_response_group if offsets.HasField("in_response_group") else None,
        )

    def _ask(self, request: pb.Request) -> pb.Reply | NoAnswer:
        """Send the command if its capability is declared. Returns the reply, Undeclared or Refused."""
        for capability in needed_capabilities(request):
            if not self._session.declaration.can(capability):
                return Undeclared(capability)
        reply: pb.Reply = self._session.call(request)
        # `unsupported` cannot occur here: the session raises a fault if the capability was declared.
        if reply.WhichOneof("answer") == "rejected":
            return Refused(printable(reply.rejected.reason) or "no reason given")
        return reply
