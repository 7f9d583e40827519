"""The implementation that is asked, and the answer to one vector."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from sds_harness.declaration import Declaration, printable
from sds_harness.sds.actor import Actor
from sds_harness.sds.codec import Codec
from sds_harness.sds.stage import Stage
from sds_harness.session import Session
from sds_harness.stage import NEEDS
from sds_reference.testee.dialect import Dialect

from ...protocols.sds.catalogue import load_catalogue


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


_ASCENDING = (
    Status.SKIPPED,
    Status.PASS,
    Status.ACCEPTABLE,
    Status.WARN,
    Status.FAIL,
    Status.BROKEN,
    Status.ERROR,
)
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


class Skip(Exception):
    """A vector cannot be asked; the text says what is lacking."""


@dataclass
class Run:
    """What is to stay the same from vector to vector."""

    direction: str = ""
    """Of causal histories, "" before one showed it."""


@dataclass
class Subject:
    """One implementation, at the other end of a session."""

    session: Session
    dialect: Dialect | None
    revision: str
    stages: list[Stage] = field(default_factory=list)
    """Those that are to be closed after the vector."""
    run: Run = field(default_factory=Run)

    @property
    def declaration(self) -> Declaration:
        return self.session.declaration

    @property
    def codec(self) -> Codec:
        return Codec(self.session, self.dialect)

    def stage(self, name: str) -> Stage:
        """A fresh stage, with no participants."""
        stage = Stage(self.session, name, self.dialect)
        self.stages.append(stage)
        return stage

    def need(self, *capabilities: int) -> None:
        """Skip the vector unless all are declared."""
        for capability in capabilities:
            if not self.declaration.can(capability):
                raise Skip(f"{NEEDS}{self.declaration.spoken.name_of(capability)}")

    def need_lamport(self, now_ms: int, *timestamps: int) -> None:
        """Skip the vector if the declared bound lets it refuse one of the timestamps."""
        ahead = self.declaration.limit("lamport_ahead_ms")
        if ahead is not None and any(timestamp > now_ms + ahead for timestamp in timestamps):
            raise Skip("declares a bound for timestamps from ahead")


def refused(actor: Actor) -> bool:
    """Was the last command refused?"""
    return actor.stage.trace.steps[-1].answer == "rejected"


Match = Callable[[Any, dict[str, Any]], bool]


def among(seen: Any, outcomes: Sequence[dict[str, Any]], matches: Match, shown: str = "") -> Answer:
    """Is what was seen one of the legal outcomes?"""
    for number, outcome in enumerate(outcomes):
        if matches(seen, outcome):
            if number == 0:
                return Answer(Status.PASS)
            status = Status.WARN if outcome.get("warned") else Status.ACCEPTABLE
            return Answer(status, reason=outcome.get("position", "another legal outcome"))
    expected = " or ".join(tell(outcome) for outcome in outcomes[:3])
    return Answer(Status.FAIL, expected, shown or tell(seen))


def about(vector: dict[str, Any], revision: str) -> list[str]:
    """The requirements of a vector that the text of a revision states; it can name those of several."""
    catalogue = load_catalogue().requirements
    return [i for i in vector["requirements"] if i not in catalogue or catalogue[i].stated_in(revision)]


def weighed(vector: dict[str, Any], answer: Answer, revision: str) -> Answer:
    """A failure against nothing but a SHOULD, or against what a position softens, is a warning.

    What a requirement weighs that is not in the catalogue nobody knows, so that softens nothing.
    """
    catalogue = load_catalogue().requirements
    violated = [catalogue.get(i) for i in answer.requirements or about(vector, revision)]
    soft = [r is not None and (not r.binding or r.softened) for r in violated]
    if answer.status is Status.FAIL and soft and all(soft):
        return replace(answer, status=Status.WARN)
    return answer


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
    return max(answers, key=lambda answer: _ASCENDING.index(answer.status))
