"""The environments in which ClearSkies is played."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clearskies_proto.testee.v1 import testee_pb2 as pb

from ..environment import PLAIN, PROCESSES, UNSTEADY_MS, Environment

SINGLE_BYTES = 6
"""Number of bytes at the beginning of a delivery that arrive one by one, because they contain the length of a message.
``LAST_BYTES`` is the same for the end of a delivery, which contains newlines."""
LAST_BYTES = 2


@dataclass(frozen=True)
class ClearSkiesEnvironment(Environment):
    """An environment with settings for links and databases, which only ClearSkies has."""

    torn: bool = False
    """Whether deliveries arrive in pieces, some of one byte."""
    halved: bool = False
    """Whether deliveries arrive in two pieces."""
    bystanders: bool = False
    """Whether every peer has one more link, without traffic."""
    chatter: bool = False
    """Whether scripted peers write JSON with blanks and unknown members, and send messages of unknown types between
    their messages."""

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """The pieces in which a delivery arrives."""
        if self.torn:
            tail = max(SINGLE_BYTES, len(data) - LAST_BYTES)
            cuts = [*range(min(SINGLE_BYTES, len(data))), (SINGLE_BYTES + tail) // 2, *range(tail, len(data))]
        else:
            cuts = [0, len(data) // 2] if self.halved else [0]
        ends = sorted({cut for cut in cuts if cut < len(data)} | {0})
        for begin, end in zip(ends, [*ends[1:], len(data)], strict=True):
            yield data[begin:end]


NOTHING_UNUSUAL = ClearSkiesEnvironment("", "")
ENVIRONMENTS: dict[str, Environment] = {
    environment.name: environment
    for environment in (
        PLAIN,
        ClearSkiesEnvironment("torn", "messages arrive in pieces, some of one byte", torn=True),
        ClearSkiesEnvironment("halved", "messages arrive in halves", halved=True),
        Environment("all-scripts", "keys and values in many alphabets", all_scripts=True),
        ClearSkiesEnvironment("bystanders", "another link is open and idle", bystanders=True),
        ClearSkiesEnvironment(
            "chatter",
            "other peers write JSON with blanks and unknown members, and messages of unknown types",
            chatter=True,
        ),
        Environment(
            "unsteady-clock",
            "the clock steps back and forth by up to an hour",
            clock_offsets_ms=UNSTEADY_MS,
            needs=(pb.CAPABILITY_VIRTUAL_CLOCK,),
        ),
        *PROCESSES,
    )
}
"""The environments by name, the plain one first."""
