"""The commands of testee.proto and the capabilities that they need."""

from __future__ import annotations

from collections.abc import Callable

from sds_proto.testee.v1 import testee_pb2 as pb

from ..faults import FaultKind
from ..language import HonouredLimit, Language, short_names
from ..link import Limits, Link
from ..session import Session

_ANSWERS: dict[str, str] = {
    "open": "opened",
    "observe": "state",
    "build_filter": "filter",
    "query_filter": "membership",
    "encode": "encoded",
    "decode": "decoded",
    "repair_times": "repair_offsets",
}
CAPABILITY_OF_COMMAND: dict[str, int] = {
    "send_sync": pb.CAPABILITY_SYNC,
    "send_ephemeral": pb.CAPABILITY_EPHEMERAL,
    "observe": pb.CAPABILITY_OBSERVE,
    "build_filter": pb.CAPABILITY_FILTER_CODEC,
    "query_filter": pb.CAPABILITY_FILTER_CODEC,
    "encode": pb.CAPABILITY_MESSAGE_CODEC,
    "decode": pb.CAPABILITY_MESSAGE_CODEC,
    "repair_times": pb.CAPABILITY_REPAIR_TIMES,
}
"""Maps a command to the capability that it needs. Commands that are not listed need none."""


def needed_capabilities(request: pb.Request) -> list[int]:
    """The capabilities that ``request`` needs. An implementation that lacks one of them may answer `unsupported`."""
    command = request.WhichOneof("command") or ""
    needed = [CAPABILITY_OF_COMMAND[command]] if command in CAPABILITY_OF_COMMAND else []
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


HONOURED_LIMITS: dict[str, HonouredLimit] = {
    "content_bytes": HonouredLimit("every application sends contents of up to 1,024 bytes (AMB-145)", least=1_024),
    "lamport_ahead_ms": HonouredLimit(
        "the last of 1,000 messages sent in one millisecond is legally 999 ms ahead (AMB-107)", least=1_000
    ),
    "log_entries": HonouredLimit("a causal history names the preceding few messages of the log (AMB-96)", least=2),
    "repair_clock_ms": HonouredLimit("clocks must have a resolution of a second or better (AMB-05)", most=1_000),
}
"""The bounds within which checks honour a declared limit, by the name of the limit. Other limits are honoured as
declared."""

SDS = Language(
    pb.Request,
    pb.Reply,
    short_names(pb.Capability),
    _ANSWERS,
    needed_capabilities,
    # An implementation that requires message IDs also accepts them.
    {pb.CAPABILITY_MESSAGE_ID_ACCEPTED: pb.CAPABILITY_MESSAGE_ID_REQUIRED},
    honoured=HONOURED_LIMITS,
    identifiers=frozenset(("message_id", "message_ids", "channel_id", "sender_id")),
    service=pb.DESCRIPTOR.services_by_name["Testee"].full_name,
    advice={FaultKind.TOO_LONG: "Make bloom filters smaller to shorten messages."},
)


def open_session(connect: Callable[[], Link], limits: Limits, revision: str) -> Session:
    """A session that speaks SDS. Raises TesteeError if the handshake fails."""
    return Session(connect, limits, revision, SDS)
