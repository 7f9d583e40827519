"""An SDS implementation that answers vectors: its codec, and stages with participants."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sds_harness.faults import FaultKind, TesteeError
from sds_harness.sds.actor import Actor
from sds_harness.sds.codec import Codec
from sds_harness.sds.stage import Stage
from sds_harness.session import Session
from sds_reference import Kind, Message
from sds_reference.testee.dialect import Dialect

from .....judging.rules import UnknownDialectError
from .....vectors.running.subject import Status, Subject, VectorResult, VectorSkippedError
from ...catalogue import load_catalogue
from ...rules import RULES


@dataclass
class SdsSubject(Subject):
    """One implementation of SDS, which answers vectors."""

    dialect: Dialect | None = None

    @property
    def codec(self) -> Codec:
        return Codec(self.session, self.dialect)

    def stage(self, name: str) -> Stage:
        """Create a new stage without participants."""
        stage = Stage(self.session, name, self.dialect)
        self.stages.append(stage)
        return stage

    def need_lamport(self, now_ms: int, *timestamps: int) -> None:
        """Skip the vector if the implementation may refuse one of the timestamps, by its declared limit."""
        ahead = self.declaration.limit("lamport_ahead_ms")
        if ahead is not None and any(timestamp > now_ms + ahead for timestamp in timestamps):
            raise VectorSkippedError(
                "declares how far timestamps may be ahead of the clock, which is less than the vector needs"
            )


def open_subject(session: Session, revision: str, dialect: str | None, remembered: dict[str, str]) -> SdsSubject:
    """Create the subject for one vector. Raises TesteeError for a declared dialect that is unknown."""
    try:
        used = RULES.dialect_in_use(revision, dialect, session.declaration)
    except UnknownDialectError as error:
        raise TesteeError(FaultKind.WRONG_ANSWER, str(error)) from None
    assert used is None or isinstance(used, Dialect)
    return SdsSubject(session, revision, remembered, used)


def observed_part(actor: Actor, name: str) -> Any:
    """A part of the participant's state; None if the participant does not show that part."""
    state = actor.observe()
    return getattr(state, name) if state is not None and state.HasField(name) else None


def refused(actor: Actor) -> bool:
    """Was the last command refused?"""
    return actor.stage.trace.steps[-1].answer == "rejected"


def blame_delivery_duty(subject: SdsSubject, message: Message, answer: VectorResult) -> VectorResult:
    """Return the result of a vector whose ``message`` was refused. A refused ephemeral message violates only the
    requirement to deliver it, whatever the vector tests; the checks judge it in the same way.
    """
    if answer.status is not Status.FAIL or message.kind is not Kind.EPHEMERAL:
        return answer
    hybrid = bool(message.causal_history) or message.bloom_filter is not None
    duties = ("SDS-EPHEMERAL-06" if hybrid else "SDS-EPHEMERAL-04", "FORUM-39")
    known = load_catalogue().requirements
    return replace(answer, requirements=tuple(i for i in duties if known[i].is_stated_in(subject.revision)))
