"""The columns of a corpus: what they hold, and which of them the text of SDS fixes.

A *normative* column has a value that the text, the schedule and the configuration fix, once what the text leaves open
is taken out of it; a difference there has to be explained. An *informative* one may differ as it likes. Only normative
columns enter the hash of a row, and so the digest of a schedule. FORMAT.md says the same to other readers.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

SCHEMA_VERSION = 1
"""Of the format; a reader refuses any other."""
SCHEDULES_PER_ROW_GROUP = 64
"""Row groups are cut there, so that one schedule can be read without the others."""

_TEXT = pa.string()
_TEXTS = pa.list_(pa.field("element", pa.string(), nullable=False))


@dataclass(frozen=True)
class Column:
    """One column."""

    name: str
    type: pa.DataType
    normative: bool
    summary: str
    dictionary: bool = True
    """Its values repeat, so that Parquet's dictionary pays."""
    nullable: bool = False

    @property
    def field(self) -> pa.Field[pa.DataType]:
        return pa.field(self.name, self.type, nullable=self.nullable)


def _normative(name: str, kind: pa.DataType, summary: str, *, dictionary: bool = True) -> Column:
    return Column(name, kind, True, summary, dictionary)


def _informative(
    name: str, kind: pa.DataType, summary: str, *, dictionary: bool = True, nullable: bool = False
) -> Column:
    return Column(name, kind, False, summary, dictionary, nullable)


KEYS: tuple[Column, ...] = (
    _informative("schedule", pa.int64(), "index of the schedule, from 0", dictionary=False),
    _informative("position", pa.int32(), "place among all rows of the schedule, from 1", dictionary=False),
    _informative(
        "step",
        pa.int32(),
        "place among the rows that are compared, from 1; 0 for what is not: questions of the harness to a codec, and "
        "participants that it makes for their filters",
        dictionary=False,
    ),
)
COMPARED: tuple[Column, ...] = (
    _normative("participant", _TEXT, "who acts"),
    _normative("command", _TEXT, "name of the command in testee.proto"),
    _normative("channel", _TEXT, "the channel that the command names, or that the message arriving is in"),
    _normative("at_ms", pa.int64(), "virtual time since the start, by no participant's clock, in milliseconds"),
    _normative("answer", _TEXT, "name of the answer in testee.proto; empty where the conversation broke"),
    _normative("message", _TEXT, "name of the message that arrives, or that is sent; of several the first by name"),
    _normative(
        "lamport",
        pa.int64(),
        "its Lamport timestamp, or the clock that is shown, as if the start were that of virtual time; the bits of an "
        "unsigned number; 0 for none",
        dictionary=False,
    ),
    _normative("delivered", _TEXTS, "names of the messages delivered, in causal order"),
    _normative("contents", pa.int64(), "digest of what was delivered, in the order of `delivered`", dictionary=False),
    _normative("acknowledged", _TEXTS, "names of the messages acknowledged, sorted"),
    _normative("possibly_acknowledged", _TEXTS, "and possibly acknowledged"),
    _normative("missing", _TEXTS, "names of the messages said to be missing, sorted, each once"),
    _normative("lost", _TEXTS, "and said to be lost"),
    _normative("broadcasts", _TEXTS, "names of the messages broadcast, sorted"),
    _normative(
        "wire",
        pa.int64(),
        "digest of them without what the text leaves open: ID, encoding, filter, length of the causal history (its "
        "newest entry counts), repair request",
        dictionary=False,
    ),
    _normative("repair_requests", _TEXTS, "names of the messages they ask for, sorted, each once"),
    _normative("log", pa.int64(), "digest of the log that is shown: names and Lamport timestamps", dictionary=False),
    _normative("outgoing", pa.int64(), "digest of the outgoing buffer: names and states", dictionary=False),
    _normative("incoming", pa.int64(), "digest of the names in the incoming buffer", dictionary=False),
    _normative("repairs", pa.int64(), "digest of the names in the two repair request buffers", dictionary=False),
)
INFORMATIVE: tuple[Column, ...] = (
    _informative("trace", pa.int8(), "which of the implementations in the cast, from 0"),
    _informative("message_id", _TEXT, "ID of `message`, as it is"),
    _informative("dependencies", pa.int16(), "length of its causal history; -1 for no message"),
    _informative("history", pa.int64(), "digest of the names in the causal histories broadcast", dictionary=False),
    _informative("filter", pa.int64(), "digest of the filters broadcast, and of what filters hold", dictionary=False),
    _informative("due", pa.int64(), "digest of the times in the repair request buffers", dictionary=False),
    _informative("request", pa.binary(), "the Request of testee.proto, without its id"),
    _informative("reply", pa.binary(), "the Reply, without its id; null where the conversation broke", nullable=True),
    _informative("row_hash", pa.int64(), "hash of the normative columns", dictionary=False),
)
STEP_COLUMNS = (*KEYS, *COMPARED, *INFORMATIVE)

_PLAYED_BY = pa.struct(
    [
        pa.field("role", pa.string(), nullable=False),
        pa.field("hello", pa.binary(), nullable=False),
        pa.field("dialect", pa.string(), nullable=False),
        pa.field("start_ms", pa.int64(), nullable=False),
        pa.field("breakdown", pa.string(), nullable=False),
        pa.field("detail", pa.string(), nullable=False),
        pa.field("stderr", _TEXTS, nullable=False),
    ]
)
SIDE_COLUMNS: tuple[Column, ...] = (
    _informative("schedule", pa.int64(), "index of the schedule", dictionary=False),
    _normative("steps", pa.int32(), "rows that are compared", dictionary=False),
    _informative("rows", pa.int32(), "all rows", dictionary=False),
    _normative("digest", pa.binary(16), "digest of the hashes of the compared rows, in order", dictionary=False),
    _informative("exact", pa.binary(16), "digest of all requests and replies, byte for byte", dictionary=False),
    _informative("plan", pa.binary(16), "digest of the schedule itself", dictionary=False),
    _informative("ending", _TEXT, "`played`, `storm`, or the kind of breakdown that ended it"),
    _informative("json", _TEXT, "the schedule as JSON", dictionary=False),
    _informative(
        "cast", pa.list_(pa.field("element", pa.int8(), nullable=False)), "number of the trace of each member"
    ),
    _informative("judged", _TEXTS, "members that are under test"),
    _informative("traces", pa.list_(pa.field("element", _PLAYED_BY, nullable=False)), "who played, and how it ended"),
)
"""The side table: one row a schedule."""


def arrow_schema(columns: tuple[Column, ...]) -> pa.Schema:
    """The columns as Arrow has them."""
    return pa.schema([column.field for column in columns])


STEP_SCHEMA = arrow_schema(STEP_COLUMNS)
SIDE_SCHEMA = arrow_schema(SIDE_COLUMNS)
COMPARED_NAMES = tuple(column.name for column in COMPARED)
DIGESTS = ("schedule", "steps", "rows", "digest", "plan")
"""Columns of the side table that a comparison begins with."""
