"""The environments in which ClearSkies is played."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clearskies_proto.testee.v1 import testee_pb2 as pb

from ..environment import PLAIN, PROCESSES, UNSTEADY_MS, Environment

SINGLE_BYTES = 6
"""So many at the beginning of what arrives come one by one, and some at its end: there are lengths and newlines."""
LAST_BYTES = 2


@dataclass(frozen=True)
class ClearSkiesEnvironment(Environment):
    """One that changes what only links and databases have."""

    torn: bool = False
    """What arrives at once comes in pieces, the smallest of one byte."""
    halved: bool = False
    """What arrives at once comes in two pieces."""
    bystanders: bool = False
    """Every peer has a link more, on which nobody says anything."""
    chatter: bool = False
    """Scripted peers write JSON with blanks and unknown members, and messages of unknown types between the others."""

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """What arrives at once, as it comes."""
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
        ClearSkiesEnvironment("bystanders", "another link is open, on which nobody says anything", bystanders=True),
        ClearSkiesEnvironment(
            "chatter",
            "others write JSON with blanks and unknown members, and messages of unknown types",
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
