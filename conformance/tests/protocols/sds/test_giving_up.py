"""Only dependencies that may have been given up as lost excuse unmet dependencies."""

from __future__ import annotations

import pytest

from run_helpers import Handle, outcomes, reference, rows, stage, view
from sds_conformance.judging.judgement import Outcome
from sds_conformance.protocols.sds.checks.core import receive
from sds_conformance.protocols.sds.view.losses import find_possibly_lost
from sds_harness.sds.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config
from sds_reference.mutants import MUTANTS
from sds_reference.variants import VARIANTS

TIMEOUT_MS = 600_000
CHECKS = (
    *(receive.dependencies_verified, receive.buffered_is_not_met),
    *map(rows, ("SDS-RECV-08", "SDS-INSWEEP-01", "SDS-INSWEEP-04", "SDS-STATE-09")),
)


def a_loss(handle: Handle) -> Stage:
    """One message has waited for all the time there is, another for half of it, and a third for what waits itself."""
    on = stage(handle)
    alice, bob, carol = (
        on.open(configuration=pb.Configuration(lost_timeout_ms=TIMEOUT_MS)),
        on.peer("bob"),
        on.peer("c"),
    )
    late = carol.content(on.now_ms)
    alice.receive(bob.content(on.now_ms + 1, "never-sent"))
    alice.after(TIMEOUT_MS // 2).tick()
    waiting = bob.content(on.now_ms + 2, late)
    alice.receive(waiting, bob.content(on.now_ms + 3, waiting))
    alice.after(TIMEOUT_MS // 2 + 1).tick()
    alice.receive(late)
    alice.settle()
    return on


def violated(on: Stage) -> set[str]:
    return {check.__name__ for check in CHECKS if Outcome.VIOLATED in outcomes(check, view(on))}


@pytest.mark.parametrize("name", ["", "drops-the-lost", "lost-once-is-lost-for-all", "sweep-only"])
def test_who_gives_up_what_has_been_missing_for_long_is_left_in_peace(name: str) -> None:
    variant = VARIANTS.get(name)
    config = variant.configure(Config()) if variant is not None else Config()
    handle = reference(config, participant=variant.participant_class) if variant is not None else reference(config)
    on = a_loss(handle)
    assert violated(on) == set()
    assert Outcome.HELD in outcomes(rows("SDS-RECV-08"), view(on))


@pytest.mark.parametrize(
    ("name", "checks"),
    [
        ("one-loss-delivers-all-waiting", {"dependencies_verified", "buffered_is_not_met"}),
        ("one-loss-drops-all-waiting", {"SDS-RECV-08"}),
    ],
)
def test_one_loss_excuses_no_other(name: str, checks: set[str]) -> None:
    faulty = MUTANTS[name].participant_class
    assert violated(a_loss(reference(participant=faulty))) & checks
    # Who cannot tell what it gives up may have given up anything.
    assert violated(a_loss(reference(participant=faulty, without=[pb.CAPABILITY_LOST]))) == set()


def test_lost_is_what_was_reported_or_missing_for_the_time_in_force() -> None:
    seen = view(a_loss(reference()))
    ids = {"never-sent", "bob-1", "c-1", "bob-2", "unheard-of"}
    last = {step.command: step for step in seen.trace.steps}
    first = next(step for step in seen.trace.steps if step.command == "receive")
    assert find_possibly_lost(seen, ids, first) == set()
    assert find_possibly_lost(seen, ids, last["receive"]) == {"never-sent", "bob-1"}


def test_a_timer_that_restarts_when_the_clock_steps_back_gives_up_in_time() -> None:
    on = stage(reference(participant=VARIANTS["loss-timers-restart"].participant_class))
    alice = on.open(configuration=pb.Configuration(lost_timeout_ms=TIMEOUT_MS))
    alice.receive(on.peer("bob").content(on.now_ms + 1, "never-sent"))
    alice.after(1).tick()
    alice.after(-3_600_000).tick()
    alice.after(TIMEOUT_MS + 1).tick()
    found = outcomes(receive.given_up_after_the_timeout_only, view(on))
    assert Outcome.HELD in found
    assert Outcome.VIOLATED not in found
