"""Environments: what surrounds a schedule and must not matter to it.

Each changes one thing: the process an implementation runs in, or what the stage makes of names and time; a protocol has
more of its own. A schedule is written once and means the same in every environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from zlib import crc32

from .revision import Revision

MINUTE_MS = 60_000

_SCRIPTS = ("Ж", "字", "e\u0301", "é", "🦊", "\u0131", "ß", "ع", "ﬁ", "\uffee", "ไ", "A b")
"""Beginnings of names: many scripts, a decomposed and a composed letter, what changes its length with its case, a
ligature, a character beyond 16 bits and one just below them, a blank."""


@dataclass(frozen=True)
class Environment:
    """One environment; the fields that are left out are as in ``plain``."""

    name: str
    summary: str
    variables: Mapping[str, str] = field(default_factory=dict)
    """Environment variables of the process."""
    all_scripts: bool = False
    """Names of participants and channels, and with them message IDs, are of many alphabets."""
    clock_offsets_ms: tuple[int, ...] = ()
    """The clock is off by these, one a step, over and over."""
    needs: tuple[int, ...] = ()
    """Capabilities without which it cannot be had."""
    presumes: str = ""
    """A requirement that, once violated, explains all else that goes wrong here."""

    def unfit(self, revision: Revision) -> str:
        """Why it cannot be had in a revision of the text, "" if it can."""
        return ""

    def label(self, name: str) -> str:
        """What a participant or channel is called here."""
        return f"{_SCRIPTS[crc32(name.encode()) % len(_SCRIPTS)]}-{name}" if self.all_scripts and name else name

    def offset_ms(self, step: int) -> int:
        """How far the clock is off at a step, in milliseconds."""
        return self.clock_offsets_ms[step % len(self.clock_offsets_ms)] if self.clock_offsets_ms else 0


PLAIN = Environment("plain", "nothing unusual")
ALL_SCRIPTS = Environment("all-scripts", "names and message IDs in many alphabets", all_scripts=True)
UNSTEADY_MS = (0, 60 * MINUTE_MS, -60 * MINUTE_MS, 250, -5_000, 10 * MINUTE_MS)
"""How a clock is off that steps back and forth."""
PROCESSES = (
    Environment(
        "turkish",
        "a process with a Turkish locale, in Istanbul",
        {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "LANGUAGE": "tr", "TZ": "Europe/Istanbul"},
    ),
    Environment(
        "posix",
        "a process with the POSIX locale and no UTF-8, in Newfoundland",
        {
            "LC_ALL": "POSIX",
            "LANG": "POSIX",
            "LANGUAGE": "",
            "TZ": "America/St_Johns",
            # Python would turn to UTF-8 by itself.
            "PYTHONUTF8": "0",
            "PYTHONCOERCECLOCALE": "0",
        },
    ),
)
"""Those that are about the process alone."""
