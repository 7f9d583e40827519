"""Environments: what surrounds a schedule and must not matter to it.

Each changes one thing: the process an implementation runs in, or what the stage makes of names, contents, channels and
time. A schedule is written once and means the same in every environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from zlib import crc32

from sds_proto.testee.v1 import testee_pb2 as pb

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
    equal_contents: bool = False
    """Every sender says the same as every other."""
    bustling_channel: str = ""
    """Every participant is a member of this channel, too, and there is traffic in it between all steps."""
    clock_offsets_ms: tuple[int, ...] = ()
    """The clock is off by these, one a step, over and over."""
    sds_r: bool = False
    """Participants use SDS-R."""
    needs: tuple[int, ...] = ()
    """Capabilities without which it cannot be had."""
    presumes: str = ""
    """A requirement that, once violated, explains all else that goes wrong here."""

    def label(self, name: str) -> str:
        """What a participant or channel is called here."""
        return f"{_SCRIPTS[crc32(name.encode()) % len(_SCRIPTS)]}-{name}" if self.all_scripts and name else name

    def offset_ms(self, step: int) -> int:
        """How far the clock is off at a step, in milliseconds."""
        return self.clock_offsets_ms[step % len(self.clock_offsets_ms)] if self.clock_offsets_ms else 0


PLAIN = Environment("plain", "nothing unusual")

ENVIRONMENTS: dict[str, Environment] = {
    environment.name: environment
    for environment in (
        PLAIN,
        Environment("all-scripts", "names and message IDs in many alphabets", all_scripts=True),
        Environment(
            "equal-contents",
            "different senders send equal contents",
            equal_contents=True,
            presumes="SDS-MSG-14",
        ),
        Environment(
            "bustling-channel",
            "traffic in a second channel between all steps",
            bustling_channel="bustle",
            needs=(pb.CAPABILITY_CHANNELS,),
        ),
        Environment(
            "unsteady-clock",
            "the clock steps back and forth by up to an hour",
            clock_offsets_ms=(0, 60 * MINUTE_MS, -60 * MINUTE_MS, 250, -5_000, 10 * MINUTE_MS),
            needs=(pb.CAPABILITY_VIRTUAL_CLOCK,),
        ),
        Environment(
            "sds-r",
            "participants that use SDS-R",
            sds_r=True,
            needs=(pb.CAPABILITY_SDS_R,),
        ),
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
}
"""The environments by name, the plain one first."""
