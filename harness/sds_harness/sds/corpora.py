"""The corpora of SDS."""

from __future__ import annotations

import json

from sds_reference.testee.dialect import Dialect, parse_dialect

from ..corpus.kind import Kind
from ..schedules import Schedule, dumps
from .columns import COLUMNS
from .generator import name_of
from .language import SDS
from .notation import NOTATION
from .performance import Performance
from .player import play
from .rows import Facts
from .stage import Stage


def loads(text: str) -> Schedule:
    """The schedule in the text of a file. Raises ScheduleFileError."""
    return NOTATION.loads(text)


def write_dialect(dialect: Dialect) -> str:
    """A dialect as JSON."""
    return json.dumps({"dialect": dialect.name, "description": dialect.description, "message": dict(dialect.numbers)})


def translate(performance: Performance) -> None:
    """Put all bytes on the network that are in a dialect into the layout of the text, as if they had been sent so."""
    for trace in performance.traces:
        trace.translate()


KIND = Kind(
    SDS,
    COLUMNS,
    Facts,
    Stage,
    play,
    dumps,
    loads,
    name_of,
    write_dialect,
    parse_dialect,
    translate,
    frozenset({"build_filter", "query_filter"}),
    stored_names={"bloom": "bloom_profile", "hash": "hash_profile"},
)
