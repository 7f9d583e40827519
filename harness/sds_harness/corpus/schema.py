"""The columns of a corpus: what they hold, and which of them the text of a protocol fixes.

A *normative* column has a value that the text, the schedule and the configuration fix, once what the text leaves open
is taken out of it; a difference there has to be explained. An *informative* one may differ as it likes. Only normative
columns enter the hash of a row, and so the digest of a schedule. FORMAT.md says the same to other readers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import pyarrow as pa

from .digests import plain_digest64

SCHEMA_VERSION = 2
"""Of the format that is written."""
READABLE = (1, 2)
"""Versions that are read; a reader refuses any other. They differ in what the names of messages say."""
SCHEDULES_PER_ROW_GROUP = 64
"""Row groups are cut there, so that one schedule can be read without the others."""

Row = dict[str, Any]
"""A row, by the names of its columns."""
TEXT = pa.string()
TEXTS = pa.list_(pa.field("element", pa.string(), nullable=False))


@dataclass(frozen=True)
class Column:
    """One column."""

    name: str
    type: pa.DataType
    summary: str
    normative: bool = False
    dictionary: bool = True
    """Its values repeat, so that Parquet's dictionary pays."""
    nullable: bool = False
    opaque: bool = False
    """Its values say nothing to anybody."""

    @property
    def field(self) -> pa.Field[pa.DataType]:
        return pa.field(self.name, self.type, nullable=self.nullable)


normative = partial(Column, normative=True)
KEYS: tuple[Column, ...] = (
    Column("schedule", pa.int64(), "index of the schedule, from 0", dictionary=False),
    Column("position", pa.int32(), "place among all rows of the schedule, from 1", dictionary=False),
    Column("step", pa.int32(), "place among the rows that are compared, from 1; 0 for what is not", dictionary=False),
)
PARTICIPANT = normative("participant", TEXT, "who acts")
COMMAND = normative("command", TEXT, "name of the command in testee.proto")
AT_MS = normative("at_ms", pa.int64(), "virtual time since the start, by no participant's clock, in milliseconds")
ANSWER = normative("answer", TEXT, "name of the answer in testee.proto; empty where the conversation broke")
TRACE = Column("trace", pa.int8(), "which of the implementations in the cast, from 0")
KEPT: tuple[Column, ...] = (
    Column("request", pa.binary(), "the Request of testee.proto, without its id"),
    Column("reply", pa.binary(), "the Reply, without its id; null where the conversation broke", nullable=True),
    Column("row_hash", pa.int64(), "hash of the normative columns", dictionary=False),
)


@dataclass(frozen=True)
class Columns:
    """The columns of ``steps/``: those of every corpus, and those that a protocol has."""

    compared: tuple[Column, ...]
    """The normative ones, in the order in which they enter the hash; the four above are among them."""
    informative: tuple[Column, ...] = ()
    """What the protocol tells besides."""
    asked: tuple[str, ...] = ()
    """Names of those among them by which differences are explained."""

    @cached_property
    def all(self) -> tuple[Column, ...]:
        return (*KEYS, *self.compared, TRACE, *self.informative, *KEPT)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the normative ones."""
        return tuple(column.name for column in self.compared)

    @cached_property
    def told(self) -> tuple[str, ...]:
        """Of those of a row that differs."""
        return (*(column.name for column in KEYS), *self.names, *self.asked)

    @cached_property
    def opaque(self) -> frozenset[str]:
        """Names of those whose values say nothing to anybody."""
        return frozenset(column.name for column in self.all if column.opaque)

    @cached_property
    def schema(self) -> pa.Schema:
        return arrow_schema(self.all)

    def hash_of(self, row: Mapping[str, Any]) -> int:
        """What ``row_hash`` of a row has to be: of the values of its normative columns, in this order."""
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
    normative("steps", pa.int32(), "rows that are compared", dictionary=False),
    Column("rows", pa.int32(), "all rows", dictionary=False),
    normative("digest", pa.binary(16), "digest of the hashes of the compared rows, in order", dictionary=False),
    Column("exact", pa.binary(16), "digest of all requests and replies, byte for byte", dictionary=False),
    Column("plan", pa.binary(16), "digest of the schedule itself", dictionary=False),
    Column("ending", TEXT, "`played`, `storm`, or the kind of breakdown that ended it"),
    Column("json", TEXT, "the schedule as JSON", dictionary=False),
    Column("cast", pa.list_(pa.field("element", pa.int8(), nullable=False)), "number of the trace of each member"),
    Column("judged", TEXTS, "members that are under test"),
    Column("traces", pa.list_(pa.field("element", _PLAYED_BY, nullable=False)), "who played, and how it ended"),
)
"""The side table: one row a schedule."""


def arrow_schema(columns: Sequence[Column]) -> pa.Schema:
    """The columns as Arrow has them."""
    return pa.schema([column.field for column in columns])


SIDE_SCHEMA = arrow_schema(SIDE_COLUMNS)
DIGESTS = ("schedule", "steps", "rows", "digest", "plan")
"""Columns of the side table that a comparison begins with."""
