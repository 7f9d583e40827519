"""Operations that no implementation may refuse: to create a peer, to connect it, and to show a state that it declares.

If they were allowed to be refused, an implementation that refuses everything would pass without being tested.
"""

from __future__ import annotations

from .....vectors.model import Vector
from .....vectors.running.subject import Status, VectorResult
from .subject import ClearSkiesSubject

MANDATORY = {
    "open": "a peer to be opened",
    "connect": "a link to be accepted",
    "disconnect": "a link to be closed",
    "put": "a change to be made",
    "delete": "a record to be deleted",
    "tick": "a tick to be accepted",
    "observe": "a state, because the implementation declares observe",
}


def fail_illegal_refusals(subject: ClearSkiesSubject, vector: Vector, answer: VectorResult) -> VectorResult:
    """The answer to a vector; a failure if the implementation refused an operation without a legal reason."""
    if answer.status in (Status.FAIL, Status.ERROR):
        return answer
    for stage in subject.stages:
        for step in stage.trace.steps:
            if step.command in MANDATORY and step.answer == "rejected":
                return VectorResult(Status.FAIL, MANDATORY[step.command], f"refused: {step.refusal}")
            if step.command == "connect" and step.signals("link_closed"):
                return VectorResult(Status.FAIL, MANDATORY["connect"], "a link that is closed at once")
    return answer
