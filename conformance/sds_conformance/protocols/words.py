"""The interface that describes the steps of a trace, and the notes on declared limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sds_harness.declaration import Declaration


def limit_notes(declared: Declaration) -> list[tuple[str, str]]:
    """Return a label and an explanation for each declared limit that checks honour only in part."""
    return [
        ("Limit", f"{named(name)} up to {declared.limits[name]} counts as {declared.limit(name)}: {honoured.reason}.")
        for name, honoured in declared.partly_honoured_limits.items()
    ]


def named(limit: str) -> str:
    """The name of a limit in a sentence: ``log_entries`` becomes "log entries"."""
    return limit.replace("_", " ")


@dataclass(frozen=True)
class QuotedFacts:
    """The messages, requests and timestamps of a step, which findings may quote."""

    carried: frozenset[str] = frozenset()
    """IDs of the messages that the step sends or receives."""
    asked: frozenset[str] = frozenset()
    """IDs that the messages of the step request."""
    times: frozenset[int] = frozenset()
    """The Lamport timestamps of the messages of the step, and of the state that the step shows."""


class Narrator(Protocol):
    """Describes the steps of one trace and their results.

    ``about`` are IDs that a finding quotes, and that long lists show. ``finding_text`` is the text of a finding:
    details that do not concern the finding are left out, such as bloom filters and parts of a state. With "",
    everything is described.
    """

    def done(self, step: Any, about: frozenset[str] = frozenset(), finding_text: str = "") -> str:
        """Describe the step in one line."""
        ...

    def came_out(self, step: Any, about: frozenset[str] = frozenset(), finding_text: str = "") -> list[str]:
        """Describe the results of the step in order, each in one line; empty if there are none."""
        ...

    def touches(self, step: Any) -> frozenset[str]:
        """The IDs that a step refers to: of messages, or of other objects that findings quote."""
        ...

    def facts(self, step: Any) -> QuotedFacts:
        """Return the messages, requests and timestamps of a step, which findings may quote."""
        ...

    def channels(self, step: Any) -> frozenset[str]:
        """The channels that a step refers to; empty if the protocol has no channels."""
        ...

    def on_the_wire(self, step: Any) -> Sequence[bytes]:
        """The bytes of the messages that a step sends or receives, in order."""
        ...
