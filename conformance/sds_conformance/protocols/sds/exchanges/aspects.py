"""The aspects that two implementations of SDS must understand of each other, and the choices in which they may
differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from sds_harness.declaration import Declaration, printable
from sds_proto.testee.v1 import testee_pb2 as pb

from ...exchanges import Pair


class Aspect(StrEnum):
    """An aspect of two implementations that a cell of the `interop` matrix shows. The members are in the order in which
    the cell shows them.
    """

    WIRE = "wire"
    CONTENT = "content"
    DEPENDENCIES = "dependencies"
    ACKNOWLEDGED = "acknowledged"
    FILTER = "filter"
    SYNC = "sync"
    EPHEMERAL = "ephemeral"
    ORDER = "order"
    REPAIR = "repair"


MEANINGS: Mapping[str, str] = {
    Aspect.WIRE: "the column reads the bytes of the row without translation",
    Aspect.CONTENT: "content is delivered with equal content and message ID",
    Aspect.DEPENDENCIES: "no message is delivered before its dependencies",
    Aspect.ACKNOWLEDGED: "the row accepts causal histories of the column as acknowledgements",
    Aspect.FILTER: "the row reads the bloom filters of the column",
    Aspect.SYNC: "sync messages are understood",
    Aspect.EPHEMERAL: "ephemeral messages are delivered",
    Aspect.ORDER: "logs have the same order, even with equal Lamport timestamps",
    Aspect.REPAIR: "SDS-R: the row answers requests of the column, and cancels equal requests of its own",
}


def describe_filters(declared: Declaration) -> str:
    """Describe the filters of an implementation."""
    return f"filters {printable(declared.profile('bloom'), 30) or 'of no name'}"


def describe_declaration(declared: Declaration) -> str:
    """Describe the filters and the SDS-R hash of an implementation."""
    repair = f"SDS-R hash {printable(declared.profile('hash'), 30)}" if declared.profile("hash") else "no SDS-R hash"
    return f"{describe_filters(declared)}, {repair}"


def describe_filter_difference(pair: Pair) -> str:
    """Describe different bloom profiles; "" if they are equal."""
    return _describe_difference(pair, "bloom", "bloom profiles")


def notes(pair: Pair) -> Iterator[str]:
    """Describe declared differences that are no fault of either side."""
    if filters := describe_filter_difference(pair):
        yield f"{filters}. The specification leaves hash and encoding open: both sides must use the same profile"
    hashes = _describe_difference(pair, "hash", "hashes of SDS-R")
    if hashes and not (
        pair.sender.describe_missing_capabilities(pb.CAPABILITY_SDS_R)
        or pair.receiver.describe_missing_capabilities(pb.CAPABILITY_SDS_R)
    ):
        yield f"{hashes}. T_req, T_resp and response groups need not agree"


def _describe_difference(pair: Pair, profile: str, what: str) -> str:
    ours, theirs = pair.sender.declared.profile(profile), pair.receiver.declared.profile(profile)
    if ours == theirs:
        return ""
    mine, yours = (printable(name, 40) or "none" for name in (ours, theirs))
    return f"{what} differ: {pair.sender.name} declares {mine}, {pair.receiver.name} {yours}"
