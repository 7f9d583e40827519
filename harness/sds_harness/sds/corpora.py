"""The corpora of SDS: the columns that only they have, and functions that store and parse their schedules."""

from __future__ import annotations

import json

import pyarrow as pa

from sds_reference.testee.dialect import Dialect, parse_dialect

from ..corpus.kind import CorpusKind
from ..corpus.schema import ANSWER, AT_MS, COMMAND, PARTICIPANT, TEXT, TEXTS, Column, Columns, digest_column
from ..schedules import Schedule
from .group_trace import GroupTrace
from .language import SDS
from .notation import NOTATION
from .player import play
from .rows import SdsRowReader
from .stage import Stage

COMPARED: tuple[Column, ...] = (
    PARTICIPANT,
    COMMAND,
    Column("channel", TEXT, "the channel that the command names, or the channel of the arriving message"),
    AT_MS,
    ANSWER,
    Column("message", TEXT, "name of the message that arrives or is sent; if several are sent, the first name"),
    Column(
        "lamport",
        pa.int64(),
        "Lamport timestamp of `message`, or the clock in the state; shifted as if the schedule had started at the "
        "start of virtual time; an unsigned number of 64 bits, stored as a signed one; 0 for none",
        dictionary=False,
    ),
    Column("delivered", TEXTS, "names of the messages delivered, in causal order"),
    digest_column("contents", summary="digest of the delivered contents, in the order of `delivered`"),
    Column("acknowledged", TEXTS, "names of the messages acknowledged, sorted"),
    Column("possibly_acknowledged", TEXTS, "names of the messages possibly acknowledged, sorted"),
    Column("missing", TEXTS, "names of the messages that are signalled as missing, sorted, without duplicates"),
    Column("lost", TEXTS, "names of the messages that are signalled as lost, sorted, without duplicates"),
    Column("broadcasts", TEXTS, "names of the messages broadcast, sorted"),
    digest_column(
        "wire",
        summary="digest of the broadcasts without what the specification leaves open: ID, encoding, filter, length of "
        "the causal history (its newest entry counts), repair request",
    ),
    Column("repair_requests", TEXTS, "names of the requested messages, sorted, without duplicates"),
    digest_column("log", summary="digest of the log that is shown: names and Lamport timestamps"),
    digest_column("outgoing", summary="digest of the outgoing buffer: names and states"),
    digest_column("incoming", summary="digest of the names in the incoming buffer"),
    digest_column("repairs", summary="digest of the names in the two repair request buffers"),
)
INFORMATIVE: tuple[Column, ...] = (
    Column("message_id", TEXT, "ID of `message`, unchanged"),
    Column("dependencies", pa.int16(), "length of the causal history of `message`; -1 for no message"),
    Column("history", pa.int64(), "digest of the names in the causal histories broadcast", dictionary=False),
    Column("filter", pa.int64(), "digest of the filters broadcast and of the query results", dictionary=False),
    Column("due", pa.int64(), "digest of the times in the repair request buffers", dictionary=False),
)
COLUMNS = Columns(COMPARED, INFORMATIVE, ("dependencies",))


def loads(text: str) -> Schedule:
    """Parse a schedule of the side table. Raises ScheduleFileError."""
    return NOTATION.loads(text)


def write_dialect(dialect: Dialect) -> str:
    """A dialect as JSON text for the side table."""
    return json.dumps({"dialect": dialect.name, "description": dialect.description, "message": dict(dialect.numbers)})


def translate(group_trace: GroupTrace) -> None:
    """Translate all bytes on the network from a dialect to the layout of the specification, in place."""
    for trace in group_trace.traces:
        trace.translate()


KIND = CorpusKind(
    SDS,
    COLUMNS,
    SdsRowReader,
    Stage,
    play,
    loads,
    write_dialect,
    parse_dialect,
    translate,
    frozenset({"build_filter", "query_filter"}),
    stored_names={"bloom": "bloom_profile", "hash": "hash_profile"},
)
