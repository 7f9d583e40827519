"""The interface to describe the steps of a trace, and the notes on declared limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from sds_harness.declaration import Declaration


def limit_notes(declared: Declaration) -> list[tuple[str, str]]:
    """The declared limits that checks honour only in part, each with an explanation."""
    return [
        ("Limit", f"{named(name)} up to {declared.limits[name]} counts as {declared.limit(name)}: {honoured.reason}.")
        for name, honoured in declared.unhonoured.items()
    ]


def named(limit: str) -> str:
    """The name of a limit in a sentence: ``log_entries`` becomes "log entries"."""
    return limit.replace("_", " ")


class Narrator(Protocol):
    """Describes the steps of one trace: the command, and the results."""

    def done(self, step: Any, about: frozenset[str] = frozenset()) -> str:
        """The command of a step, in one line. Long lists show only the entries that are ``about`` these IDs."""
        ...

    def came_out(self, step: Any, about: frozenset[str] = frozenset()) -> list[str]:
        """The results of a step, one line each; empty if there are none. Long lists show only the entries ``about``
        these IDs.
        """
        ...

    def touches(self, step: Any) -> frozenset[str]:
        """The IDs that a step refers to: of messages, or of other objects that findings quote."""
        ...

    def channels(self, step: Any) -> frozenset[str]:
        """The channels that a step refers to; empty if the protocol has no channels."""
        ...

    def on_the_wire(self, step: Any) -> Sequence[bytes]:
        """The bytes that went over the network in a step, in order."""
        ...
