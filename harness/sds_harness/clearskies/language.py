"""The commands of the ClearSkies testee protocol and the capabilities that they need."""

from __future__ import annotations

from collections.abc import Callable

from clearskies_proto.testee.v1 import testee_pb2 as pb

from ..language import HonouredLimit, Language, short_names
from ..link import Limits, Link
from ..session import Session

_ANSWERS: dict[str, str] = {
    "open": "opened",
    "observe": "state",
    "compare_clocks": "comparison",
    "frame": "framed",
    "unframe": "unframed",
    "verify": "verified",
}
CAPABILITY_OF_COMMAND: dict[str, int] = {
    "rename": pb.CAPABILITY_RENAME,
    "observe": pb.CAPABILITY_OBSERVE,
    "compare_clocks": pb.CAPABILITY_CLOCK_CODEC,
    "frame": pb.CAPABILITY_MESSAGE_CODEC,
    "unframe": pb.CAPABILITY_MESSAGE_CODEC,
    "verify": pb.CAPABILITY_SIGNATURE_CODEC,
}
"""The capability that each command needs; commands that are missing here need none."""
CAPABILITY_OF_RESOLUTION: dict[int, int] = {
    pb.RESOLUTION_MERGE: pb.CAPABILITY_RESOLUTION_MERGE,
    pb.RESOLUTION_SEPARATE: pb.CAPABILITY_RESOLUTION_SEPARATE,
}
"""The capability that an implementation needs to resolve conflicts in this way; the default way needs none."""


def needed_capabilities(request: pb.Request) -> list[int]:
    """The capabilities that ``request`` needs. An implementation that lacks one of them may answer `unsupported`."""
    command = request.WhichOneof("command") or ""
    needed = [CAPABILITY_OF_COMMAND[command]] if command in CAPABILITY_OF_COMMAND else []
    if command == "open":
        needed += _needed_to_open(request.open)
    if request.put.uuid:
        needed.append(pb.CAPABILITY_UUID_ACCEPTED)
    return needed


def _needed_to_open(command: pb.Open) -> list[int]:
    needed: list[int] = []
    if command.access_level == pb.ACCESS_LEVEL_READ_ONLY:
        needed.append(pb.CAPABILITY_READ_ONLY)
    if command.store:
        needed.append(pb.CAPABILITY_STORE)
    if command.configuration.resolution in CAPABILITY_OF_RESOLUTION:
        needed.append(CAPABILITY_OF_RESOLUTION[command.configuration.resolution])
    return needed


HONOURED_LIMITS: dict[str, HonouredLimit] = {
    "body_bytes": HonouredLimit("the example update in the specification fits into 4,096 bytes (CA-16)", least=4_096),
    "depth": HonouredLimit("the example update in the specification has two levels of nesting (CA-16)", least=2),
    "clock_members": HonouredLimit(
        "the example update in the specification has three members in its vector clock (CA-16)", least=3
    ),
}
UPDATE_IDENTIFIERS = ("uuid", "last_updated_by", "vector_clock", "since")
"""Identifiers in messages of the specification, and in replies under the same names. Keys are not among them: they are
content of the application."""

CLEARSKIES = Language(
    pb.Request,
    pb.Reply,
    short_names(pb.Capability),
    _ANSWERS,
    needed_capabilities,
    honoured=HONOURED_LIMITS,
    identifiers=frozenset((*UPDATE_IDENTIFIERS, "uuids", "incoming_uuid")),
    service=pb.DESCRIPTOR.services_by_name["Testee"].full_name,
)


def open_session(connect: Callable[[], Link], limits: Limits, revision: str) -> Session:
    """A session about peers of the database extension. Raises TesteeError if the handshake fails."""
    return Session(connect, limits, revision, CLEARSKIES)
