"""How times, IDs and JSON are quoted to people."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from sds_harness.declaration import printable
from sds_harness.stage import START_MS

LONGEST_NAME = 20
"""Characters of a label or of a participant's name that are shown."""
LONG_ID = 40
"""Characters above which an ID is shortened."""
MOST = 12
"""Of many things so many are shown where all of them matter."""

T = TypeVar("T")


def clock(milliseconds: int, start_ms: int = START_MS) -> str:
    """A time or a Lamport timestamp relative to the start T of virtual time; what counts from 0 is far from that."""
    difference = milliseconds - start_ms
    if abs(difference) > 400 * 24 * 3_600_000:
        return str(milliseconds)
    return "T" if not difference else f"T{difference:+d}"


def by_the_clock(text: str) -> str:
    """A text with the times in it, in epoch milliseconds, relative to the start."""
    return re.sub(r"(?<![\w'.-])1[5-9]\d{11}(?![\w'])", lambda found: clock(int(found.group())), text)


def identifier(message_id: str) -> str:
    """A message ID, shortened in the middle if it is a long hash."""
    shown = printable(message_id, 120)
    return repr(f"{shown[:8]}…{shown[-4:]}" if len(shown) > LONG_ID else shown)


def json_of(value: object, most: int) -> str:
    """A value as JSON, at most so many characters of it: an implementation may nest it deeper than can be written."""
    try:
        return json.dumps(value, ensure_ascii=False)[:most]
    except RecursionError:
        return "JSON of very many levels"


def counted(number: int, what: str, several: str = "") -> str:
    """So many of something, in words; ``several`` is what more than one are called, if that does not end in s."""
    return f"{number:,} {what if number == 1 else several or f'{what}s'}"


def foremost(items: Sequence[T], matters: Callable[[T], bool], few: int, most: int = MOST) -> tuple[list[T], int]:
    """A few of many things, and how many are left out. Those that matter come first, ``most`` of them even if few are
    wanted; and never is a single one left out, whose place would be taken by the words for it."""
    mine = [item for item in items if matters(item)]
    number = max(few, min(len(mine), most))
    number += len(items) == number + 1
    return [*mine, *(item for item in items if not matters(item))][:number], max(0, len(items) - number)


def short(name: str) -> str:
    """A name that a stranger chose, fit to be shown."""
    return printable(name, LONGEST_NAME)
