"""Formats times, IDs and JSON for reports."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from sds_harness.declaration import VIRTUAL_CLOCK, printable
from sds_harness.stage import START_MS
from sds_harness.trace import Trace

LONGEST_NAME = 20
"""Maximum number of characters of a label or of a participant's name that are shown."""
LONG_ID = 40
"""Maximum number of characters of an ID that is shown in full."""
MOST = 12
"""Maximum number of items that are shown if all of them matter."""
MOST_BYTES = 64
"""Maximum number of bytes of a malformed message that are shown."""

T = TypeVar("T")


_origin: ContextVar[int] = ContextVar("origin", default=START_MS)
"""The time T, in epoch milliseconds, from which times are counted."""


@contextmanager
def times_of(trace: Trace[Any]) -> Iterator[None]:
    """Context in which times are counted from the start of virtual time. If the implementation has no virtual clock,
    they are counted from the start of the trace.
    """
    real = trace.start_ms and not trace.declaration.can_by_name(VIRTUAL_CLOCK) and trace.start_ms > _BEFORE_CLOCKS_MS
    token = _origin.set(trace.start_ms if real else START_MS)
    try:
        yield
    finally:
        _origin.reset(token)


_BEFORE_CLOCKS_MS = 1 << 40
"""Times below this value (the year 2004) are counters, not times of a clock."""


def clock(milliseconds: int, start_ms: int | None = None) -> str:
    """Format a time or a Lamport timestamp, in ms, relative to the time T: ``start_ms``, or the time of `times_of`. A
    value more than 400 days from T, such as a Lamport timestamp that starts at 0, is formatted as a number.
    """
    difference = milliseconds - (_origin.get() if start_ms is None else start_ms)
    if abs(difference) > 400 * 24 * 3_600_000:
        return str(milliseconds)
    return "T" if not difference else f"T{difference:+d}"


def make_times_relative(text: str) -> str:
    """Replace the epoch milliseconds in a text by times relative to the start."""
    return re.sub(r"(?<![\w'.-])1[5-9]\d{11}(?![\w'])", lambda found: clock(int(found.group())), text)


def identifier(message_id: str) -> str:
    """A message ID, shortened in the middle if it is a long hash."""
    text = printable(message_id, 120)
    return repr(f"{text[:8]}…{text[-4:]}" if len(text) > LONG_ID else text)


def json_of(value: object, most: int) -> str:
    """Return the first ``most`` characters of a value as JSON; a fixed text if it is nested too deeply for `json`."""
    try:
        return json.dumps(value, ensure_ascii=False)[:most]
    except RecursionError:
        return "deeply nested JSON"


def format_count(number: int, what: str, several: str = "") -> str:
    """Format a number with its noun. ``several`` is the plural of the noun if it is irregular."""
    return f"{number:,} {what if number == 1 else several or f'{what}s'}"


def foremost(items: Sequence[T], matters: Callable[[T], bool], few: int, most: int = MOST) -> tuple[list[T], int]:
    """Return at most ``few`` of the items, in their order, and the number of omitted items.

    Items that matter are preferred: up to ``most`` of them are returned, even if ``few`` is smaller. A single item is
    never omitted, because the note about the omission would take as much room.
    """
    mine = [number for number, item in enumerate(items) if matters(item)]
    room = max(few, min(len(mine), most))
    room += len(items) == room + 1
    matter = {*mine}
    chosen = [*mine, *(number for number in range(len(items)) if number not in matter)][:room]
    return [items[number] for number in sorted(chosen)], max(0, len(items) - room)


def hex_of(raw: bytes, most: int = MOST_BYTES) -> str:
    """Format the first ``most`` bytes in hexadecimal digits, in groups of four, and the number of bytes that follow."""
    if not raw:
        return "no bytes"
    more = f" ... and {format_count(len(raw) - most, 'more byte')}" if len(raw) > most else ""
    return raw[:most].hex(" ", -4) + more


def short(name: str) -> str:
    """Shorten a name from an untrusted source and make it printable."""
    return printable(name, LONGEST_NAME)
