"""The interface to describe the steps of a trace, and the notes on declared limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sds_harness.declaration import Declaration


def limit_notes(declared: Declaration) -> list[tuple[str, str]]:
    """The declared limits that checks honour only in part, each with an explanation."""
    return [
        ("Limit", f"{named(name)} up to {declared.limits[name]} counts as {declared.limit(name)}: {honoured.reason}.")
        for name, honoured in declared.partly_honoured_limits.items()
    ]


def named(limit: str) -> str:
    """The name of a limit in a sentence: ``log_entries`` becomes "log entries"."""
    return limit.replace("_", " ")


@dataclass(frozen=True)
class QuotedFacts:
    """Introduced by a step: messages, requests and timestamps that findings quote."""

    carried: frozenset[str] = frozenset()
    """IDs of the messages that were sent or received."""
    asked: frozenset[str] = frozenset()
    """IDs that these messages ask for."""
    times: frozenset[int] = frozenset()
    """Their Lamport timestamps, and the one that a state shows."""


class Narrator(Protocol):
    """Describes the steps of one trace and their results.

    ``about`` are IDs that a finding quotes: long lists show these. ``finding_text`` is the text of a finding: details
    that it is not about are left out, such as bloom filters and parts of a state. Without it, everything is described.
    """

    def done(self, step: Any, about: frozenset[str] = frozenset(), finding_text: str = "") -> str:
        """Describe the step in one line."""
        ...

    def came_out(self, step: Any, about: frozenset[str] = frozenset(), finding_text: str = "") -> list[str]:
        """Describe the results, a line each, in order; empty if there are none."""
        ...

    def touches(self, step: Any) -> frozenset[str]:
        """The IDs that a step refers to: of messages, or of other objects that findings quote."""
        ...

    def facts(self, step: Any) -> QuotedFacts:
        """Return the messages, requests and timestamps that the step introduces."""
        ...

    def channels(self, step: Any) -> frozenset[str]:
        """The channels that a step refers to; empty if the protocol has no channels."""
        ...

    def on_the_wire(self, step: Any) -> Sequence[bytes]:
        """The bytes that went over the network in a step, in order."""
        ...
