"""Operations that no implementation may refuse: to create a participant, to send, and to show a state that it declares.

If they were allowed to be refused, an implementation that refuses everything would pass without being tested.
"""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.declaration import printable
from sds_harness.sds.stage import Stage
from sds_harness.sds.trace import Step
from sds_harness.stage import ScheduleStoppedError
from sds_proto.testee.v1 import testee_pb2 as pb

from .....vectors.model import Vector
from .....vectors.running.subject import Status, VectorResult
from .lamport_shape import SAFE
from .subject import SdsSubject

PLAIN = ("sync_interval_ms", "lost_timeout_ms")
"""Settings that every participant gets. An implementation without such a setting ignores it."""


def fail_illegal_refusals(subject: SdsSubject, vector: Vector, answer: VectorResult) -> VectorResult:
    """Return the result of a vector, or a failure if the implementation refused an operation without a legal reason."""
    for stage in list(subject.stages):
        for step in stage.trace.steps:
            for failure in _find_illegal_refusals(subject, stage, step, vector):
                if answer.status in (Status.FAIL, Status.ERROR):
                    return answer
                return failure
    return _name_refused_settings(subject, answer)


def _find_illegal_refusals(subject: SdsSubject, stage: Stage, step: Step, vector: Vector) -> Iterator[VectorResult]:
    if step.command == "observe" and step.answer == "state" and step.reply is not None:
        if not step.reply.state.ListFields():
            yield VectorResult(Status.FAIL, "a state, because the implementation declares observe", "an empty state")
        return
    if step.answer != "rejected":
        return
    if step.command == "observe":
        yield VectorResult(Status.FAIL, "a state, because the implementation declares observe", _describe_refusal(step))
    elif step.command in ("send", "send_ephemeral") and _must_be_sent(subject, stage, step, vector):
        yield VectorResult(
            Status.FAIL, f"the command {step.command.replace('_', ' ')} to be carried out", _describe_refusal(step)
        )
    elif step.command == "open" and (not _special_settings(step) or _refuses_every_participant(subject, vector)):
        yield VectorResult(Status.FAIL, "a participant to be opened", _describe_refusal(step))


def _describe_refusal(step: Step) -> str:
    reason = printable(step.reply.rejected.reason) if step.reply is not None else ""
    return f"refused: {reason or 'no reason given'}"


def _special_settings(step: Step) -> list[str]:
    """The names of the settings in an ``open`` command that not every participant gets."""
    fields = {field.name: value for field, value in step.request.open.configuration.ListFields()}
    return [name for name, value in fields.items() if name not in PLAIN and (name != "sds_r" or value)]


def _refuses_every_participant(subject: SdsSubject, vector: Vector) -> bool:
    """Does the implementation also refuse a participant without special settings?"""
    try:
        subject.stage(f"{vector['id']}, repeated").open()
    except ScheduleStoppedError:
        return True
    return False


def _must_be_sent(subject: SdsSubject, stage: Stage, step: Step, vector: Vector) -> bool:
    """Must every participant send this content?

    A participant may refuse empty content, content over a declared limit, and message IDs from the application. It may
    also refuse content after a timestamp that it may refuse.
    """
    if _may_be_refused(vector):
        return False
    declared = subject.declaration
    send = step.request.send if step.command == "send" else step.request.send_ephemeral
    limit = declared.limit("content_bytes")
    if not send.content or (limit is not None and len(send.content) > limit):
        return False
    if send.message_id and not declared.can(pb.CAPABILITY_MESSAGE_ID_REQUIRED):
        return False
    return not any(_carries_refusable_timestamp(before) for before in stage.trace.steps[: step.index])


def _may_be_refused(vector: Vector) -> bool:
    parts = [vector] if "outcomes" in vector else vector.get("steps", [])
    return any(outcome.get("rejected") for part in parts for outcome in part.get("outcomes", []))


def _carries_refusable_timestamp(step: Step) -> bool:
    """Did a message arrive whose timestamp may be refused (AMB-14)?"""
    if step.command != "receive":
        return False
    message = step.received.message
    return message is not None and (message.lamport_timestamp or 0) >= SAFE


def _name_refused_settings(subject: SdsSubject, answer: VectorResult) -> VectorResult:
    """Name the refused setting in the reason of a skipped vector."""
    if answer.status is not Status.SKIPPED:
        return answer
    for stage in subject.stages:
        for step in stage.trace.steps:
            if step.command == "open" and step.answer == "rejected":
                words = _describe_refusal(step).removeprefix("refused: ")
                return VectorResult(
                    Status.SKIPPED, reason=f"refuses {', '.join(_special_settings(step))} in a configuration: {words}"
                )
    return answer
