"""The number of repairs that are pending at once."""

from __future__ import annotations

from collections.abc import Sequence

from sds_harness.sds.peer import entries_with_senders
from sds_harness.sds.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Message

from ..scenarios.repair.crowds import AT_ONCE
from ..scenarios.repair.live import open_with_repairs, request_messages, send_either, t_max, wait_for_responses
from .messages import MOST_ENTRIES, at_once
from .register import DIMENSIONS, SMALL_MESSAGES, TOO_MANY

IN_ONE = 100
"""Number of entries in one message."""
FEW = 3
NO_BOUND = "the text names no bound"


@at_once(
    "repair request entries",
    *("R-RECV-08", "R-RECV-12", "R-SWEEP-01"),
    demanded=AT_ONCE,
    position="AMB-47",
    most=MOST_ENTRIES,
    declared="repair_request_entries",
    within=("log_entries",),
)
def request(stage: Stage, size: int) -> str | None:
    """One message requests this number of messages that the participant has."""
    answered = _request_and_count_answers(stage, size, size)
    # No check requires it beyond the demanded size.
    refused = any(step.answer == "rejected" for step in stage.trace.steps)
    return None if refused or answered >= size else f"{answered:,} of {size:,} were answered"


@DIMENSIONS.dimension(
    "repair answers pending",
    *("R-RECV-08", "R-RECV-12", "R-SWEEP-01"),
    demanded=AT_ONCE,
    position=NO_BOUND,
    most=TOO_MANY,
    declared="repair_answers",
    within=("log_entries",),
)
def answers(stage: Stage, size: int) -> None:
    """Messages request ``size`` messages in total, before one of them is answered."""
    _request_and_count_answers(stage, size, IN_ONE)


@DIMENSIONS.dimension(
    "repair requests pending",
    *("R-STATE-01", "R-RECV-03"),
    demanded=AT_ONCE,
    position=NO_BOUND,
    most=TOO_MANY,
    declared="repair_requests",
    within=("log_entries",),
)
def requests(stage: Stage, size: int) -> None:
    """Messages reveal that so many others are missing, and then it is time to ask for them."""
    alice, bob = open_with_repairs(stage, configuration=_few_in_history()), stage.peer("bob")
    lost = [bob.content(stage.now_ms - size + number) for number in range(size)]
    for some in _slices(lost, IN_ONE):
        alice.receive(bob.content(stage.now_ms + 1, *entries_with_senders(*some)))
    alice.observe()
    stage.advance(t_max(alice) + 1_000)
    # An implementation that shows its buffer need not send every request.
    shows = stage.trace.declaration.can(pb.CAPABILITY_OBSERVE)
    for _ in range(FEW if shows else size):
        asking = send_either(alice, content=True)
        if asking is None or not asking.repair_request:
            break


def _request_and_count_answers(stage: Stage, size: int, at_once: int) -> int:
    """Request this many messages and wait until all times for answers are over; return the number of answers."""
    alice, bob, carol = (
        open_with_repairs(stage, configuration=_few_in_history()),
        stage.peer("bob"),
        stage.peer("carol"),
    )
    held = [bob.content(stage.now_ms + number) for number in range(size)]
    alice.receive(*held)
    before = len(stage.trace.steps)
    for some in _slices(held, at_once):
        request_messages(stage, carol, alice, *some)
    alice.observe()
    wait_for_responses(stage, alice)
    wanted = {message.message_id for message in held}
    return len(wanted & {message.message_id for step in stage.trace.steps[before:] for message in step.messages})


def _few_in_history() -> pb.Configuration:
    return pb.Configuration(
        causal_history_size=SMALL_MESSAGES.causal_history_size,
        bloom_capacity=SMALL_MESSAGES.bloom_capacity,
        bloom_error_rate=SMALL_MESSAGES.bloom_error_rate,
    )


def _slices(messages: Sequence[Message], length: int) -> list[Sequence[Message]]:
    return [messages[start : start + length] for start in range(0, len(messages), length)]
