"""Sweeps of the incoming buffer, what is given up for lost, and messages that are half ephemeral."""

from __future__ import annotations

from dataclasses import replace

import pytest

from run_helpers import CHECKS_OF_SDS, Handle, T, altered, of_channel, outcomes, reference, rows, stage, view
from sds_conformance.judging.judgement import Outcome
from sds_conformance.protocols.sds.checks.core.ephemeral import hybrids_are_delivered
from sds_conformance.protocols.sds.checks.core.receive import given_up_after_the_timeout_only
from sds_harness.sds.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Channel, Config, Effects, HistoryEntry, Message
from sds_reference.mutants import MUTANTS

HELD, VIOLATED = {Outcome.HELD}, {Outcome.VIOLATED}


def with_fault(name: str) -> Handle:
    fault = MUTANTS[name]
    return reference(fault.configure(Config()), participant=fault.participant_class)


# ---- Each buffered message -------------------------------------------------------------------------------------------


def freed(handle: Handle | None, waiting: int, comes: int) -> Stage:
    """So many messages wait for different ones; one of those comes."""
    on = stage(handle)
    alice, bob, carol = on.open(), on.peer("bob"), on.peer("carol")
    roots = [carol.content(T + number) for number in range(waiting)]
    alice.receive(*[bob.content(T + 10 + number, root) for number, root in enumerate(roots)])
    alice.receive(roots[comes])
    alice.settle()
    return on


class OneAtATime(Channel):
    """Delivers at most one message per sweep."""

    def deliver_ready(self, effects: Effects) -> None:
        entry = self.incoming.take_ready()
        if entry is not None:
            self.deliver(entry.message, effects, entry.retrieval_hint)


@pytest.mark.parametrize(
    "handle",
    [None, reference(Config(cascade_on_receive=False)), of_channel(OneAtATime, Config(cascade_on_receive=False))],
    ids=["at once", "on the sweep", "one a sweep"],
)
def test_the_last_of_three_is_freed_while_the_others_wait(handle: Handle | None) -> None:
    assert outcomes(rows("SDS-INSWEEP-01"), view(freed(handle, 3, 2))) == HELD


# ---- Given up for lost -----------------------------------------------------------------------------------------------


def lost(handle: Handle | None, timeout_ms: int, minutes: int) -> Stage:
    on = stage(handle)
    alice, bob = on.open(configuration=pb.Configuration(lost_timeout_ms=timeout_ms)), on.peer("bob")
    alice.receive(bob.content(T, "never-sent"), bob.sync(T + 1, "never-sent-either"))
    for _ in range(minutes):
        on.advance(60_000)
        alice.tick()
    alice.receive(bob.content(on.now_ms, message_id="never-sent"))
    alice.settle()
    on.advance(1_000)
    alice.send()
    alice.observe()
    return on


@pytest.mark.parametrize("drops", [False, True])
@pytest.mark.parametrize("buffer_syncs", [False, True])
@pytest.mark.parametrize("timeout_ms", [0, 60_000, 300_000, 3_600_000])
def test_giving_up_in_time_is_legal_and_whatever_follows_is_no_fault(
    timeout_ms: int, buffer_syncs: bool, drops: bool
) -> None:
    on = lost(reference(Config(drops_the_lost=drops, buffer_syncs=buffer_syncs)), timeout_ms, 10)
    seen = view(on)
    assert outcomes(given_up_after_the_timeout_only, seen) == HELD
    assert bool(seen.losses) is (0 < timeout_ms < 3_600_000)
    against = {
        requirement
        for requirement, checks in CHECKS_OF_SDS.items()
        for check in checks
        if Outcome.VIOLATED in outcomes(check.function, seen)
    }
    assert against == set()


def test_not_giving_up_is_legal() -> None:
    class NeverGivesUp(Channel):
        def give_up_lost(self, received_ms: int, effects: Effects) -> None:
            pass

    assert outcomes(given_up_after_the_timeout_only, view(lost(of_channel(NeverGivesUp), 120_000, 10))) == HELD


def test_giving_up_too_early_or_untold_is_reported() -> None:
    assert Outcome.VIOLATED in outcomes(
        given_up_after_the_timeout_only, view(lost(with_fault("gives-up-early"), 300_000, 4))
    )
    assert Outcome.VIOLATED in outcomes(
        given_up_after_the_timeout_only, view(lost(with_fault("gives-up-although-not-configured"), 0, 24 * 60 + 1))
    )


def test_a_timeout_that_is_not_in_force_is_not_judged() -> None:
    def says_nothing(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("opened"):
            reply.opened.configuration.ClearField("lost_timeout_ms")

    on = lost(altered(says_nothing, with_fault("gives-up-early")), 300_000, 4)
    assert outcomes(given_up_after_the_timeout_only, view(on)) == set()


# ---- Hybrids ---------------------------------------------------------------------------------------------------------


def hybrids(handle: Handle | None, *, plain: bool = True) -> Stage:
    """Half ephemeral messages: of a dependency that was met, that is met later, and that never is; and of a filter."""
    on = stage(handle)
    alice, bob, carol = (
        on.open(configuration=pb.Configuration(causal_history_size=12)),
        on.peer("bob"),
        on.peer("carol"),
    )
    met, later = carol.content(T), carol.content(T + 1)
    alice.receive(met)
    if plain:
        alice.receive(bob.ephemeral(b"typing"))
    for name in (met.message_id, later.message_id, "never-sent"):
        alice.receive(replace(bob.ephemeral(b"half"), causal_history=(HistoryEntry(name),)))
    alice.receive(replace(bob.ephemeral(b"half"), bloom_filter=on.filter_over("something")))
    alice.receive(later)
    alice.settle()
    on.advance(100)
    alice.send()
    alice.observe()
    return on


class Waits(Channel):
    """Delivers hybrids when what they name has been delivered."""

    _waiting: tuple[Message, ...] = ()

    def receive_ephemeral(self, message: Message, effects: Effects) -> None:
        self._waiting += (message,)
        self.release(effects)

    def release(self, effects: Effects) -> None:
        ready = [m for m in self._waiting if all(e.message_id in self.log for e in m.causal_history)]
        self._waiting = tuple(m for m in self._waiting if m not in ready)
        for message in ready:
            super().receive_ephemeral(message, effects)

    def sweep_incoming(self, now_ms: int, effects: Effects) -> None:
        super().sweep_incoming(now_ms, effects)
        self.release(effects)


@pytest.mark.parametrize("handle", [None, of_channel(Waits)], ids=["at once", "after its dependencies"])
def test_hybrids_are_delivered_at_once_or_when_what_they_name_has_come(handle: Handle | None) -> None:
    seen = view(hybrids(handle))
    assert outcomes(hybrids_are_delivered, seen) == HELD
    assert outcomes(rows("SDS-EPHEMERAL-06"), seen) == HELD
