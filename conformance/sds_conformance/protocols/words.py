"""Words: what telling is handed by a protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class Words:
    """How a protocol is told."""

    narrator: Callable[[Any], Narrator]
    """That of a trace."""
    profiles: str
    """What the option is about that picks a profile, for the help."""
    greeting: tuple[str, ...]
    """The scenarios by which a person sees whether an adapter works at all."""
    against: Callable[[str, str], str]
    """What a profile of a revision is, in so many words."""
    casting: str = ""
    """How to tell in a story who is the implementation, in a sentence."""
    notes: Callable[[Declaration, str, str], Sequence[tuple[str, str]]] = lambda declared, revision, profile: ()
    """What the choices that were declared mean for others and for the judgement: labels with a sentence each."""
    doubts: Callable[[Iterable[Any]], Sequence[str]] = lambda heard: ()
    """What to say before anything is judged, and the question to ask: sentences, none where all is well. It takes what
    `Rules.heed` remembers of each trace."""
    forgone: Callable[[Declaration, str], str] = lambda declared, revision: ""
    """The profile that an implementation does without, "" if there is none."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """Names of profiles that can be forgone."""
