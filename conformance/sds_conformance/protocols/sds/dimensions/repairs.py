"""The number of repairs that are pending at once."""

from __future__ import annotations

from collections.abc import Sequence

from sds_harness.sds.actor import Actor
from sds_harness.sds.peer import entries_with_senders
from sds_harness.sds.stage import Stage
from sds_harness.stage import ScheduleStoppedError
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Message

from ..scenarios.repair.crowds import AT_ONCE
from ..scenarios.repair.participants import LONGEST_MS, NEEDED, T_MAX_MS, repair_configuration
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
    stage.advance(_t_max(alice) + 1_000)
    # An implementation that shows its buffer need not send every request.
    shows = stage.trace.declaration.can(pb.CAPABILITY_OBSERVE)
    for _ in range(FEW if shows else size):
        if not alice.send().repair_request:
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
        alice.receive(carol.content(stage.now_ms, requests=entries_with_senders(*some)))
    alice.observe()
    longest = _t_max(alice)
    for pause in (longest // 2, longest - longest // 2, 30_000, 31_000):
        alice.after(pause).tick()
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


def open_with_repairs(stage: Stage, configuration: pb.Configuration | None = None) -> Actor:
    """Open a participant that uses SDS-R. Raises ScheduleStoppedError if it cannot use SDS-R, or only with a T_max over
    ``LONGEST_MS``.
    """
    stage.need(*NEEDED)
    actor = stage.open(configuration=repair_configuration(configuration))
    in_force = actor.party.in_force
    if in_force.HasField("sds_r") and not in_force.sds_r:
        raise ScheduleStoppedError("SDS-R is declared, but could not be turned on")
    if _t_max(actor) > LONGEST_MS:
        raise ScheduleStoppedError(f"T_max is {_t_max(actor)} ms, although {T_MAX_MS} ms were asked for")
    return actor


def _t_max(actor: Actor) -> int:
    """T_max in force, in milliseconds; the requested one if the implementation does not report it."""
    return actor.party.in_force.t_max_ms or T_MAX_MS
