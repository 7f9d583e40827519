"""The columns of a corpus: their content, and whether the specification determines it.

The value of a *normative* column is determined by the specification, the schedule and the configuration, after
everything that the specification leaves open was removed from it. A difference in it needs an explanation. An
*informative* column may differ freely. Only normative columns enter the hash of a row, and so the digest of a schedule.
FORMAT.md documents the columns for other readers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import pyarrow as pa

from .digests import plain_digest64

SCHEMA_VERSION = 2
"""Version of the format that is written."""
READABLE = (1, 2)
"""Versions that can be read; others are rejected. They differ in the names of messages."""
SCHEDULES_PER_ROW_GROUP = 64
"""Schedules per row group, so that one schedule can be read without reading the whole file."""

Row = dict[str, Any]
"""A row, by column name."""
TEXT = pa.string()
TEXTS = pa.list_(pa.field("element", pa.string(), nullable=False))


@dataclass(frozen=True)
class Column:
    """A column of a corpus: its name, its type, and how it is stored and compared."""

    name: str
    type: pa.DataType
    summary: str
    dictionary: bool = True
    """Whether the values of the column repeat, so that a Parquet dictionary saves space."""
    nullable: bool = False
    opaque: bool = False
    """Whether the values of the column mean nothing to a reader, such as digests."""

    @property
    def field(self) -> pa.Field[pa.DataType]:
        return pa.field(self.name, self.type, nullable=self.nullable)


digest_column = partial(Column, type=pa.int64(), dictionary=False, opaque=True)
"""A column of digests."""
KEYS: tuple[Column, ...] = (
    Column("schedule", pa.int64(), "index of the schedule, from 0", dictionary=False),
    Column("position", pa.int32(), "place among all rows of the schedule, from 1", dictionary=False),
    Column("step", pa.int32(), "number among the compared rows, from 1; 0 for other rows", dictionary=False),
)
PARTICIPANT = Column("participant", TEXT, "who acts")
COMMAND = Column("command", TEXT, "name of the command in testee.proto")
AT_MS = Column("at_ms", pa.int64(), "virtual milliseconds since the start, without the offset of any clock")
ANSWER = Column("answer", TEXT, "name of the answer in testee.proto; empty where the conversation broke")
TRACE = Column("trace", pa.int8(), "number of the implementation in the cast, from 0")
KEPT: tuple[Column, ...] = (
    Column("request", pa.binary(), "the Request of testee.proto, without its id"),
    Column("reply", pa.binary(), "the Reply, without its id; null where the conversation broke", nullable=True),
    Column("row_hash", pa.int64(), "hash of the normative columns", dictionary=False),
)


@dataclass(frozen=True)
class Columns:
    """The columns of ``steps/``: those of every corpus and those of a protocol."""

    compared: tuple[Column, ...]
    """The normative columns in the order in which they are hashed, including ``PARTICIPANT``, ``COMMAND``, ``AT_MS``
    and ``ANSWER``."""
    informative: tuple[Column, ...] = ()
    asked: tuple[str, ...] = ()
    """Names of the informative columns that explain differences."""

    @cached_property
    def all_columns(self) -> tuple[Column, ...]:
        return (*KEYS, *self.compared, TRACE, *self.informative, *KEPT)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the normative columns."""
        return tuple(column.name for column in self.compared)

    @cached_property
    def printed_names(self) -> tuple[str, ...]:
        """Names of the columns that are printed for a row that differs."""
        return (*(column.name for column in KEYS), *self.names, *self.asked)

    @cached_property
    def opaque(self) -> frozenset[str]:
        """Names of the columns whose values mean nothing to a reader, such as digests."""
        return frozenset(column.name for column in self.all_columns if column.opaque)

    @cached_property
    def schema(self) -> pa.Schema:
        return arrow_schema(self.all_columns)

    def hash_of(self, row: Mapping[str, Any]) -> int:
        """The ``row_hash`` of a row: the hash of its normative columns in their order."""
        return plain_digest64([row[name] for name in self.names])


_PLAYED_BY = pa.struct(
    [
        pa.field("role", pa.string(), nullable=False),
        pa.field("hello", pa.binary(), nullable=False),
        pa.field("dialect", pa.string(), nullable=False),
        pa.field("start_ms", pa.int64(), nullable=False),
        pa.field("breakdown", pa.string(), nullable=False),
        pa.field("detail", pa.string(), nullable=False),
        pa.field("stderr", TEXTS, nullable=False),
    ]
)
SIDE_COLUMNS: tuple[Column, ...] = (
    Column("schedule", pa.int64(), "index of the schedule", dictionary=False),
    Column("steps", pa.int32(), "rows that are compared", dictionary=False),
    Column("rows", pa.int32(), "all rows", dictionary=False),
    Column("digest", pa.binary(16), "digest of the hashes of the compared rows, in order", dictionary=False),
    Column("exact", pa.binary(16), "digest of all requests and replies, byte for byte", dictionary=False),
    Column("plan", pa.binary(16), "digest of the schedule itself", dictionary=False),
    Column("ending", TEXT, "`played`, `storm`, or the kind of breakdown that ended the schedule"),
    Column("json", TEXT, "the schedule as JSON", dictionary=False),
    Column("cast", pa.list_(pa.field("element", pa.int8(), nullable=False)), "number of the trace of each member"),
    Column("judged", TEXTS, "members that are under test"),
    Column(
        "traces",
        pa.list_(pa.field("element", _PLAYED_BY, nullable=False)),
        "who played each trace, and how the trace ended",
    ),
)
"""The side table: one row per schedule."""


def arrow_schema(columns: Sequence[Column]) -> pa.Schema:
    """The columns as an Arrow schema."""
    return pa.schema([column.field for column in columns])


SIDE_SCHEMA = arrow_schema(SIDE_COLUMNS)
DIGESTS = ("schedule", "steps", "rows", "digest", "plan")
"""The columns of the side table that a comparison reads first."""
