"""The implementation that is asked, and the answer to one vector."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from sds_harness.declaration import Declaration, printable
from sds_harness.session import Session
from sds_harness.stage import NEEDS


class Status(Enum):
    """What became of one vector."""

    PASS = "pass"
    """The recommended outcome."""
    ACCEPTABLE = "acceptable"
    """Another legal outcome."""
    WARN = "warn"
    """An outcome of which a position warns, or one against a SHOULD."""
    FAIL = "fail"
    SKIPPED = "skipped"
    """Not asked: the reason says what the implementation lacks."""
    BROKEN = "broken"
    """The implementation broke down instead of answering."""
    ERROR = "error"
    """The suite itself failed."""


_ASCENDING = ("skipped", "pass", "acceptable", "warn", "fail", "broken", "error")
"""Of several answers to one vector the worst counts."""

MAX_TEXT = 300


@dataclass(frozen=True)
class Answer:
    """What became of one vector, and why."""

    status: Status
    expected: str = ""
    seen: str = ""
    reason: str = ""
    """Why it was skipped, what allows it, or which requirement is violated."""
    requirements: tuple[str, ...] = ()
    """The requirements that are violated, where that is known better than from the vector."""
    told: str = ""
    """What was answered, whatever it is worth: for who asks twice."""
    difference: str = ""
    """What is different, without the values, if that can be said: one fault shows so in all vectors that meet it."""


class Skip(Exception):
    """A vector cannot be asked; the text says what is lacking."""


@dataclass
class Subject:
    """One implementation, at the other end of a session, for one vector."""

    session: Session
    revision: str
    remembered: dict[str, str] = field(default_factory=dict)
    """What is to stay the same from vector to vector, as one showed it first."""
    stages: list[Any] = field(default_factory=list, kw_only=True)
    """The stages that were made for the vector, of the class of the protocol."""

    @property
    def declaration(self) -> Declaration:
        return self.session.declaration

    @property
    def traces(self) -> Sequence[Any]:
        """The traces of the participants that were opened for the vector."""
        return [stage.trace for stage in self.stages]

    def need(self, *capabilities: int) -> None:
        """Skip the vector unless all are declared."""
        for name in self.declaration.lacking(capabilities):
            raise Skip(f"{NEEDS}{name}")

    def close(self) -> None:
        """Free the participants of all stages whose conversation did not break."""
        for stage in self.stages:
            if stage.trace.breakdown is None:
                stage.close()


Match = Callable[[Any, dict[str, Any]], bool]


REFUSED = {"rejected": True}
"""What is seen of a refusal."""


def alike(seen: dict[str, Any], outcome: dict[str, Any]) -> bool:
    """Does the outcome have the fields that were seen, with the same values?"""
    return all(outcome.get(key) == value for key, value in seen.items())


def among(seen: Any, outcomes: Sequence[dict[str, Any]], matches: Match = alike, shown: str = "") -> Answer:
    """Is what was seen one of the legal outcomes?"""
    for number, outcome in enumerate(outcomes):
        if matches(seen, outcome):
            if number == 0:
                return Answer(Status.PASS)
            status = Status.WARN if outcome.get("warned") else Status.ACCEPTABLE
            return Answer(status, reason=outcome.get("position", "another legal outcome"))
    expected = " or ".join(tell(outcome) for outcome in outcomes[:3])
    return Answer(Status.FAIL, expected, shown or tell(seen))


def tell(value: Any) -> str:
    """A value in short, safe to print: an outcome without its position."""
    if isinstance(value, dict):
        if value.get("rejected"):
            return "a refusal"
        if value.get("accepted"):
            return "any reading"
        inner = ", ".join(
            f"{key} {tell(item)}" for key, item in value.items() if key not in ("position", "warned") and item != []
        )
        return printable(inner or "nothing", MAX_TEXT)
    if isinstance(value, list | tuple):
        return printable("[" + ", ".join(map(tell, value)) + "]", MAX_TEXT)
    # Escaped, because two IDs can look the same.
    return printable(ascii(value), 120)


def worst(answers: Sequence[Answer]) -> Answer:
    """Of several answers to one vector, the one that counts."""
    return max(answers, key=lambda answer: _ASCENDING.index(answer.status.value))
