"""The corpora of ClearSkies."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from ..corpus.kind import Kind
from ..schedules import Schedule, dumps
from ..trace import Dialect
from .columns import COLUMNS
from .generator import name_of
from .language import CLEARSKIES
from .notation import NOTATION
from .performance import Performance
from .player import play
from .rows import Facts
from .stage import Stage


def loads(text: str) -> Schedule:
    """The schedule in the text of a file. Raises ScheduleFileError."""
    return NOTATION.loads(text)


def write_dialect(dialect: Any) -> str:
    """There are none."""
    return ""


def read_dialect(text: str) -> Dialect:
    """There are none. Raises ValueError."""
    raise ValueError("there are no dialects of ClearSkies")


def translate(performance: Performance) -> None:
    """There are no dialects."""


def portable(request: Any) -> Any:
    """A request without what hangs on the machine: stores are in a folder that is made for one performance."""
    if request.WhichOneof("command") != "open" or not request.open.store:
        return request
    out = type(request)()
    out.CopyFrom(request)
    out.open.store = PurePath(request.open.store).name
    return out


KIND = Kind(
    CLEARSKIES,
    COLUMNS,
    Facts,
    Stage,
    play,
    dumps,
    loads,
    name_of,
    write_dialect,
    read_dialect,
    translate,
    # What they answer hangs on the request alone.
    frozenset({"compare_clocks", "frame", "unframe", "verify"}),
    stored_names={"signature": "signature_profile"},
    portable=portable,
)
