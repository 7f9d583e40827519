"""What two implementations must understand of each other, and how that is said."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sds_harness.declaration import Declaration, printable
from sds_proto.testee.v1 import testee_pb2 as pb


class Mark(Enum):
    """Whether something is understood."""

    YES = "understood"
    NO = "not understood"
    OPEN = "not exercised"
    """Not declared, or the situation did not arise."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One aspect of one ordered pair."""

    mark: Mark
    reason: str = ""
    """Why, in words; "" where there is nothing to say."""


YES = Cell(Mark.YES)


def no(reason: str) -> Cell:
    return Cell(Mark.NO, reason)


def left_open(reason: str) -> Cell:
    return Cell(Mark.OPEN, reason)


class Aspect(Enum):
    """What is looked at, with what it means for "row sends, column receives"."""

    WIRE = "wire"
    CONTENT = "content"
    DEPENDENCIES = "dependencies"
    ACKNOWLEDGED = "acknowledged"
    FILTER = "filter"
    SYNC = "sync"
    EPHEMERAL = "ephemeral"
    ORDER = "order"
    REPAIR = "repair"

    @property
    def number(self) -> int:
        """Position in the matrix, from 1."""
        return list(Aspect).index(self) + 1

    @property
    def meaning(self) -> str:
        return MEANINGS[self]


MEANINGS = {
    Aspect.WIRE: "the bytes of the row, as they are, are read by the column",
    Aspect.CONTENT: "content is delivered with equal content and message ID",
    Aspect.DEPENDENCIES: "nothing is delivered before what it depends on",
    Aspect.ACKNOWLEDGED: "the row sees what the column names in causal histories",
    Aspect.FILTER: "the row reads the bloom filters of the column",
    Aspect.SYNC: "sync messages are understood",
    Aspect.EPHEMERAL: "ephemeral messages are delivered",
    Aspect.ORDER: "logs agree, with ties of Lamport timestamps, too",
    Aspect.REPAIR: "SDS-R: the row answers requests of the column, and cancels its own",
}


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a pair."""

    name: str
    declared: Declaration
    dialect: str
    """The private wire layout in use, "" for that of the text."""

    @property
    def speaks(self) -> str:
        return f"dialect {self.dialect}" if self.dialect else "the layout of the text"

    def lacks(self, *capabilities: int) -> str:
        """That it does not declare one of these, in words; "" if it declares all."""
        missing = self.declared.lacking(capabilities)
        return f"{self.name} does not declare {' and '.join(missing)}" if missing else ""


@dataclass(frozen=True, slots=True)
class Pair:
    """Who sends and who receives; both can be the same implementation, of which two participants then meet."""

    sender: Side
    receiver: Side

    @property
    def alike(self) -> bool:
        """Have both the same wire layout?"""
        return self.sender.dialect == self.receiver.dialect

    @property
    def translated(self) -> bool:
        """Is everything but the first aspect played with translation?"""
        return not self.alike

    @property
    def both_repair(self) -> bool:
        """Do both have SDS-R?"""
        return not (self.sender.lacks(pb.CAPABILITY_SDS_R) or self.receiver.lacks(pb.CAPABILITY_SDS_R))

    @property
    def filters_differ(self) -> str:
        """That the bloom profiles differ, in words; "" if they do not."""
        ours, theirs = self.sender.declared.profile("bloom"), self.receiver.declared.profile("bloom")
        if ours == theirs:
            return ""
        return (
            f"bloom profiles differ: {self.sender.name} declares {_named(ours)}, {self.receiver.name} {_named(theirs)}"
        )

    @property
    def hashes_differ(self) -> str:
        """That the hashes of SDS-R differ, in words; "" if they do not."""
        ours, theirs = self.sender.declared.profile("hash"), self.receiver.declared.profile("hash")
        if ours == theirs:
            return ""
        return (
            f"hashes of SDS-R differ: {self.sender.name} declares {_named(ours)}, {self.receiver.name} {_named(theirs)}"
        )


def _named(profile: str) -> str:
    return printable(profile, 40) or "none"
