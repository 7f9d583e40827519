"""The corpora of ClearSkies: their columns beyond those of every corpus, and how they are stored."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import pyarrow as pa

from ..corpus.kind import CorpusKind
from ..corpus.schema import ANSWER, AT_MS, COMMAND, PARTICIPANT, TEXT, TEXTS, Column, Columns, digest_column
from ..schedules import Schedule
from .language import CLEARSKIES
from .notation import NOTATION
from .player import play
from .rows import ClearSkiesRowReader
from .stage import Stage

COMPARED: tuple[Column, ...] = (
    PARTICIPANT,
    COMMAND,
    Column("link", TEXT, "link of the command: name of the peer at its other end, and number of the link"),
    AT_MS,
    ANSWER,
    Column("record", TEXT, "name of the record that the application writes"),
    Column("arrives", TEXTS, "names of the messages that arrive whole, in order"),
    Column("sent", TEXTS, "names of completely written messages, each with its recipient in front, sorted"),
    digest_column("updates", summary="digest of the records in sent updates: name, record, key, value, deleted"),
    digest_column(
        "times", summary="digest of the times of sent updates, in whole seconds since the start of virtual time"
    ),
    digest_column("since", summary="digest of the revisions after which sent requests ask for updates"),
    Column("signed", TEXTS, "the messages of `sent` with a signature"),
    Column("changed", TEXTS, "names of the updates in change signals, sorted"),
    Column("conflicts", TEXTS, "names of the records in conflict signals, in pairs, sorted"),
    Column("closed", TEXTS, "names of the peers on the links that the peer closes, sorted"),
    digest_column("records", summary="digest of the shown records without deleted ones"),
    digest_column("deleted", summary="digest of the names of the records that are shown as deleted"),
    digest_column("known", summary="digest of the revisions that are shown as known"),
)
INFORMATIVE: tuple[Column, ...] = (
    Column("clocks", pa.int64(), "digest of the vector clocks that are sent or shown", dictionary=False),
    Column("bodies", pa.int64(), "digest of the bytes written to each link", dictionary=False),
    Column("revision", pa.int64(), "the shown revision counter, as the signed number with the same bits; -1 for none"),
)
COLUMNS = Columns(COMPARED, INFORMATIVE)


def loads(text: str) -> Schedule:
    """Parse a schedule of the side table. Raises ScheduleFileError."""
    return NOTATION.loads(text)


def without_store(request: Any) -> Any:
    """A request without the folder of its store: the suite makes this folder anew for each group trace."""
    if request.WhichOneof("command") != "open" or not request.open.store:
        return request
    out = type(request)()
    out.CopyFrom(request)
    out.open.store = PurePath(request.open.store).name
    return out


KIND = CorpusKind(
    CLEARSKIES,
    COLUMNS,
    ClearSkiesRowReader,
    Stage,
    play,
    loads,
    # The answers to these commands depend only on the request.
    not_compared=frozenset({"compare_clocks", "frame", "unframe", "verify"}),
    stored_names={"signature": "signature_profile"},
    portable=without_store,
)
