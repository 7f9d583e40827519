"""Whatever an implementation answers within the testee protocol, the suite judges it to the end, without a fault."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from run_helpers import SHORT, Handle, altered, certified, entries_with_senders, plan, reference, stage, with_verdict
from sds_conformance.judging.verdict import Judge, Verdict
from sds_conformance.protocols.sds.register import CHECKS
from sds_conformance.protocols.sds.rules import RULES
from sds_proto.testee.v1 import testee_pb2 as pb

pytestmark = pytest.mark.exhaustive

FUTURE = 2**64 - 1
NUMBERS = [0, 1, 2, 2**31, 2**32 - 1]
SIGNED = [0, 1, 2, -1, -(2**31), 2**31 - 1]
TIMES = [0, 1, 2**53 + 1, 2**63 - 1, 2**63, FUTURE]
FRACTIONS = [0.0, -1.0, 0.5, 1e-300, float("inf"), float("nan")]
TEXTS = ["", "c1", "c2", "alice", "bob-1", "\x1b[31m", "\u202e", "x" * 2000, "\U0001f600"]
BYTES = [b"", b"\xff", bytes(64), b"\x0a\x05alice", b"\x1a\x02c1"]
ENUMS = [0, 1, 2, 3, 17, 99]


def anything(field: FieldDescriptor, dice: random.Random) -> Any:
    """Some value of a field's type."""
    match field.type:
        case FieldDescriptor.TYPE_UINT64:
            return dice.choice(TIMES)
        case FieldDescriptor.TYPE_UINT32:
            return dice.choice(NUMBERS)
        case FieldDescriptor.TYPE_INT32 | FieldDescriptor.TYPE_SINT32:
            return dice.choice(SIGNED)
        case FieldDescriptor.TYPE_DOUBLE:
            return dice.choice(FRACTIONS)
        case FieldDescriptor.TYPE_BOOL:
            return dice.choice([True, False])
        case FieldDescriptor.TYPE_ENUM:
            return dice.choice(ENUMS)
        case FieldDescriptor.TYPE_STRING:
            return dice.choice(TEXTS)
        case _:
            return dice.choice(BYTES)


def scramble(message: Message, dice: random.Random, depth: int = 0) -> None:
    """Change one thing in a message, at any depth of it."""
    present: list[Any] = [field for field, _ in message.ListFields()]
    every: list[Any] = [*message.DESCRIPTOR.fields]
    field: FieldDescriptor = dice.choice(present if present and dice.random() < 0.8 else every)
    if field.is_repeated:
        values = getattr(message, field.name)
        if len(values) and dice.random() < 0.3:
            del values[dice.randrange(len(values))]
        elif field.message_type is not None:
            scramble(dice.choice(list(values)) if len(values) else values.add(), dice, depth + 1)
        else:
            values.append(anything(field, dice))
    elif field.message_type is not None:
        inner = getattr(message, field.name)
        inner.SetInParent()
        if depth < 4:
            scramble(inner, dice, depth + 1)
    elif field.has_presence and dice.random() < 0.3:
        message.ClearField(field.name)
    else:
        setattr(message, field.name, anything(field, dice))


def unreliable(seed: int, share: float) -> Callable[[], Handle]:
    """The reference, with that share of its answers scrambled in one place or in several."""
    dice = random.Random(seed)

    def change(request: pb.Request, reply: pb.Reply) -> None:
        answer = reply.WhichOneof("answer")
        if answer not in (None, "hello") and dice.random() < share:
            for _ in range(dice.choice([1, 1, 3])):
                scramble(getattr(reply, str(answer)), dice)

    return lambda: altered(change)


def configured(**values: float) -> Callable[[], Handle]:
    """The reference, which reports a strange configuration."""

    def change(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("opened"):
            for name, value in values.items():
                setattr(reply.opened.configuration, name, value)

    return lambda: altered(change)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("seed", range(2))
def test_scrambled_answers_are_judged_to_the_end(seed: int, share: float) -> None:
    outcome = certified(unreliable(seed, share))
    assert with_verdict(outcome, Verdict.ERROR) == set()
    assert tuple(outcome.traces) == SHORT
    assert outcome.breakdowns == []


@pytest.mark.parametrize(
    "values",
    [
        {"bloom_capacity": 0},
        {"bloom_capacity": 2**32 - 1},
        {"bloom_error_rate": 0.0},
        {"bloom_error_rate": float("nan")},
        {"causal_history_size": 2**32 - 1},
        {"incoming_sweep_ms": FUTURE},
        {"resend_unacknowledged_ms": FUTURE},
        {"sync_interval_ms": FUTURE, "lost_timeout_ms": FUTURE},
    ],
    ids=str,
)
def test_a_strange_configuration_is_no_fault_of_ours(values: dict[str, float]) -> None:
    outcome = certified(configured(**values))
    assert with_verdict(outcome, Verdict.ERROR) == set()
    assert tuple(outcome.traces) == SHORT


REPAIRING = tuple(scenario.name for scenario in plan(profile="sds-r").scenarios if scenario.name in SHORT)


@pytest.mark.parametrize(
    "values",
    [
        {"t_max_ms": FUTURE},
        {"t_max_ms": 1_000 * 3_600_000},
        {"t_min_ms": FUTURE, "t_max_ms": FUTURE},
        {"t_min_ms": 2**63, "t_max_ms": 1},
        {"t_min_ms": 0, "t_max_ms": 0},
        {"num_response_groups": -(2**31), "max_repair_requests": 0},
        {"num_response_groups": 2**31 - 1, "max_repair_requests": 2**32 - 1},
    ],
    ids=str,
)
def test_strange_times_and_groups_of_sds_r_are_no_fault_of_ours(values: dict[str, float]) -> None:
    outcome = certified(configured(**values), scenarios=REPAIRING, profile="sds-r")
    assert with_verdict(outcome, Verdict.ERROR) == set()
    assert tuple(outcome.traces) == REPAIRING
    assert outcome.steps < 10_000


def test_times_beyond_counting_are_judged_as_others_are() -> None:
    """Fifty times are shown, and T_max is said to be 2**63 ms: there are more ways than a float can count."""

    def boasts(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("opened"):
            reply.opened.configuration.t_max_ms = 2**63

    on = stage(altered(boasts))
    alice, bob = on.open(configuration=pb.Configuration(sds_r=True)), on.peer("bob")
    lost = [bob.content(on.now_ms, message_id=f"lost-{number}") for number in range(50)]
    alice.receive(bob.content(on.now_ms, *entries_with_senders(*lost)))
    alice.observe()
    judge = Judge(RULES, CHECKS)
    judge.add(on.trace)
    assert {v.requirement.id for v in judge.verdicts() if v.verdict is Verdict.ERROR} == set()


def test_a_state_that_nobody_knows_is_a_finding() -> None:
    def shows(request: pb.Request, reply: pb.Reply) -> None:
        for entry in reply.state.outgoing.entries if reply.HasField("state") else ():
            entry.state = 99  # type: ignore[assignment]

    outcome = certified(lambda: altered(shows), scenarios=["named-in-a-history", "nobody-answers"])
    assert with_verdict(outcome, Verdict.ERROR) == set()
    assert "SDS-STATE-08" in with_verdict(outcome, Verdict.FAIL)


def test_the_reference_alone_would_pass_this() -> None:
    assert certified(lambda: altered(lambda request, reply: None, reference())).exit_code == 0
