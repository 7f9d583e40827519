"""How times and IDs are quoted to people."""

from __future__ import annotations

import re

from sds_harness.declaration import printable
from sds_harness.stage import START_MS

LONGEST_NAME = 20
"""Characters of a label or of a participant's name that are shown."""
LONG_ID = 40
"""Characters above which an ID is shortened."""


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


def counted(number: int, what: str) -> str:
    """So many of something, in words."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def short(name: str) -> str:
    """A name that a stranger chose, fit to be shown."""
    return printable(name, LONGEST_NAME)
