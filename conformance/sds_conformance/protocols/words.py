"""How a protocol tells the steps of a trace and the limits that are declared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from sds_harness.declaration import Declaration


def limit_notes(declared: Declaration) -> list[tuple[str, str]]:
    """The declared limits that checks honour in part only."""
    return [
        ("Limit", f"{named(name)} up to {declared.limits[name]} counts as {declared.limit(name)}: {honoured.reason}.")
        for name, honoured in declared.unhonoured.items()
    ]


def named(limit: str) -> str:
    """A limit as it is declared, for a sentence: ``log_entries`` as "log entries"."""
    return limit.replace("_", " ")


class Narrator(Protocol):
    """Tells the steps of one trace: what was done, and what came out."""

    def done(self, step: Any, about: frozenset[str] = frozenset()) -> str:
        """What was done, in one line. Long lists show what is ``about`` these IDs."""
        ...

    def came_out(self, step: Any, about: frozenset[str] = frozenset()) -> list[str]:
        """What came out, a line each; empty if nothing did. Long lists show what is ``about`` these IDs."""
        ...

    def touches(self, step: Any) -> frozenset[str]:
        """The IDs of messages, or whatever else findings quote, that a step is about."""
        ...

    def channels(self, step: Any) -> frozenset[str]:
        """The channels that a step is about, none where the protocol has none."""
        ...

    def on_the_wire(self, step: Any) -> Sequence[bytes]:
        """The bytes that went over the network in a step, in order."""
        ...
