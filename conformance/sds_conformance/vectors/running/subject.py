"""The implementation that runs a vector, and the answer to one vector."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from sds_harness.declaration import Declaration, printable
from sds_harness.session import Session
from sds_harness.stage import NEEDS


class Status(Enum):
    """Result of one vector."""

    PASS = "pass"
    """The recommended outcome."""
    ACCEPTABLE = "acceptable"
    """Another legal outcome."""
    WARN = "warn"
    """An outcome for which a position requires a warning, or that violates a SHOULD."""
    FAIL = "fail"
    SKIPPED = "skipped"
    """The vector was not run; the reason names what the implementation lacks."""
    BROKEN = "broken"
    """The implementation broke down instead of answering."""
    ERROR = "error"
    """The suite itself failed."""


_ASCENDING = ("skipped", "pass", "acceptable", "warn", "fail", "broken", "error")
"""The statuses from best to worst. If a vector has several answers, the worst counts."""

MAX_TEXT = 300


@dataclass(frozen=True)
class VectorResult:
    """The result of one vector, with the reason and the expected and seen values."""

    status: Status
    expected: str = ""
    """The legal outcomes. Of an acceptable answer and of a warned outcome: the recommended outcome."""
    seen: str = ""
    reason: str = ""
    """Why the vector was skipped, the position that allows the answer, or the violated requirement."""
    requirements: tuple[str, ...] = ()
    """The violated requirements, if they are known more precisely than from the vector."""
    raw_answer: str = ""
    """The unshortened answer, for comparing repeated runs."""
    difference: str = ""
    """The difference between the answer and the expected outcome, without values where possible, so that one fault
    gives the same text in all vectors.
    """


class VectorSkippedError(Exception):
    """A vector cannot be run. The message names what is missing."""


@dataclass
class Subject:
    """One implementation in a session, for one vector."""

    session: Session
    revision: str
    remembered: dict[str, str] = field(default_factory=dict)
    """Values that must be equal in all vectors, as the first vector showed them."""
    stages: list[Any] = field(default_factory=list, kw_only=True)
    """The stages that were created for the vector, of the protocol's class."""

    @property
    def declaration(self) -> Declaration:
        return self.session.declaration

    @property
    def traces(self) -> Sequence[Any]:
        """The traces of the participants that were opened for the vector."""
        return [stage.trace for stage in self.stages]

    def need(self, *capabilities: int) -> None:
        """Raise VectorSkippedError unless all capabilities are declared."""
        for name in self.declaration.missing_capabilities(capabilities):
            raise VectorSkippedError(f"{NEEDS}{name}")

    def close(self) -> None:
        """Close the participants of all stages in which the implementation did not break down."""
        for stage in self.stages:
            if stage.trace.breakdown is None:
                stage.close()


REFUSAL = "a valid message is refused"
"""`VectorResult.difference` of answers that reject a valid input."""
Match = Callable[[Any, dict[str, Any]], bool]


REFUSED = {"rejected": True}
"""The observed outcome of a rejection."""


def agrees_with(seen: dict[str, Any], outcome: dict[str, Any]) -> bool:
    """Does the outcome agree with the seen fields? The outcome must have every seen field, with an equal value."""
    return all(outcome.get(key) == value for key, value in seen.items())


def judge_outcome(
    seen: Any, outcomes: Sequence[dict[str, Any]], matches: Match = agrees_with, shown: str = ""
) -> VectorResult:
    """Return the result of a vector: does the observed outcome ``seen`` match one of the legal ``outcomes``? ``shown``
    is the text of the observed outcome for reports; "" formats ``seen``.
    """
    for number, outcome in enumerate(outcomes):
        if matches(seen, outcome):
            if number == 0:
                return VectorResult(Status.PASS)
            status = Status.WARN if outcome.get("warned") else Status.ACCEPTABLE
            reason = outcome.get("position", "another legal outcome")
            return VectorResult(status, format_value(outcomes[0]), shown or format_value(seen), reason)
    expected = " or ".join(format_value(outcome) for outcome in outcomes[:3])
    difference = REFUSAL if seen == REFUSED else ""
    return VectorResult(Status.FAIL, expected, shown or format_value(seen), difference=difference)


def format_value(value: Any) -> str:
    """Format a value as short printable text. The position of an outcome is omitted."""
    if isinstance(value, dict):
        if value.get("rejected"):
            return "refused"
        if value.get("accepted"):
            return "any reading"
        inner = ", ".join(
            f"{key} {format_value(item)}"
            for key, item in value.items()
            if key not in ("position", "warned") and item != []
        )
        return printable(inner or "nothing", MAX_TEXT)
    if isinstance(value, list | tuple):
        return printable("[" + ", ".join(map(format_value, value)) + "]", MAX_TEXT)
    # Escape non-ASCII characters, because two IDs can look the same.
    return printable(ascii(value), 120)


def worst(answers: Sequence[VectorResult]) -> VectorResult:
    return max(answers, key=lambda answer: _ASCENDING.index(answer.status.value))
