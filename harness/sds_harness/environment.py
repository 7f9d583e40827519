"""Environments: conditions around a schedule that must not change its results.

Each environment changes one thing: the process in which an implementation runs, or how the stage maps names and time.
Each protocol adds environments of its own. A schedule is written once and means the same in every environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from zlib import crc32

from .revision import Revision

MINUTE_MS = 60_000

_SCRIPTS = ("Ж", "字", "e\u0301", "é", "🦊", "\u0131", "ß", "ع", "ﬁ", "\uffee", "ไ", "A b")
"""Prefixes for names: many scripts, decomposed and composed letters, characters that change their length when their
case changes, a ligature, a character above U+FFFF and one just below, a blank."""


@dataclass(frozen=True)
class Environment:
    """One environment. Fields that are left out have the values of ``plain``."""

    name: str
    summary: str
    variables: Mapping[str, str] = field(default_factory=dict)
    """Environment variables of the process."""
    all_scripts: bool = False
    """Whether names of participants and channels, and so message IDs, use many scripts."""
    clock_offsets_ms: tuple[int, ...] = ()
    """Milliseconds by which the clock is ahead of virtual time, one number per step, repeated cyclically."""
    needs: tuple[int, ...] = ()
    """Capabilities that an implementation must declare for this environment."""
    presumes: str = ""
    """A requirement whose violation explains all other failures in this environment."""

    def why_unfit(self, revision: Revision) -> str:
        """Why the environment does not apply to a revision of the specification; "" if it does."""
        return ""

    def label(self, name: str) -> str:
        """The name that this environment uses in place of ``name``, a participant or channel of the schedule."""
        return f"{_SCRIPTS[crc32(name.encode()) % len(_SCRIPTS)]}-{name}" if self.all_scripts and name else name

    def offset_ms(self, step: int) -> int:
        """Milliseconds by which this environment sets the clock ahead of virtual time at a step."""
        return self.clock_offsets_ms[step % len(self.clock_offsets_ms)] if self.clock_offsets_ms else 0


PLAIN = Environment("plain", "nothing unusual")
ALL_SCRIPTS = Environment("all-scripts", "names and message IDs in many alphabets", all_scripts=True)
UNSTEADY_MS = (0, 60 * MINUTE_MS, -60 * MINUTE_MS, 250, -5_000, 10 * MINUTE_MS)
"""Offsets, in milliseconds, of a clock that jumps forwards and backwards."""
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
            # In the POSIX locale, Python switches to UTF-8 unless these variables are 0.
            "PYTHONUTF8": "0",
            "PYTHONCOERCECLOCALE": "0",
        },
    ),
)
"""The environments that change only the process."""
