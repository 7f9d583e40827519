"""Whatever an implementation answers within the testee protocol, the suite judges it to the end, without a fault."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from message_mutations import FIELDS, mutate_message
from mutations import Mutation
from run_helpers import SHORT, Handle, altered, certified, plan, with_verdict
from sds_conformance.judging.verdict import Verdict
from sds_proto.testee.v1 import testee_pb2 as pb

pytestmark = pytest.mark.exhaustive

FUTURE = 2**64 - 1
KINDS = [kind for kind in FIELDS if kind not in ("many", "longer")]
"""Kinds of changes that leave an answer about as long as it was."""


def unreliable(seed: int, share: float) -> Callable[[], Handle]:
    """The reference, with that share of its answers scrambled in one place or in several."""
    dice = random.Random(seed)

    def scramble(request: pb.Request, reply: pb.Reply) -> None:
        answer = reply.WhichOneof("answer")
        if answer not in (None, "hello") and dice.random() < share:
            for _ in range(dice.choice([1, 1, 3])):
                change = Mutation(dice.choice(KINDS), dice.randrange(1 << 16), dice.randrange(1 << 16))
                mutate_message(getattr(reply, str(answer)), change)

    return lambda: altered(scramble)


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


def test_a_state_that_nobody_knows_is_a_finding() -> None:
    def shows(request: pb.Request, reply: pb.Reply) -> None:
        for entry in reply.state.outgoing.entries if reply.HasField("state") else ():
            entry.state = 99  # type: ignore[assignment]

    outcome = certified(lambda: altered(shows), scenarios=["named-in-a-history", "nobody-answers"])
    assert with_verdict(outcome, Verdict.ERROR) == set()
    assert "SDS-STATE-08" in with_verdict(outcome, Verdict.FAIL)
