"""Actions that are delayed until the next sweep have one code, and missing ones another."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from run_helpers import CHECKS_OF_SDS, altered, outcomes, reference, stage, view
from sds_conformance.judging.judgement import Outcome
from sds_conformance.protocols.sds.view.halves import answers_any_request, requests_any_repair
from sds_harness.sds.actor import Actor
from sds_harness.sds.peer import entries_with_senders
from sds_harness.sds.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Channel, Participant
from sds_reference.mutants import MUTANTS

HELD, VIOLATED = {Outcome.HELD}, {Outcome.VIOLATED}


def said(requirement: str, on: Stage) -> set[Outcome]:
    seen = view(on)
    return set().union(*(outcomes(check.function, seen) for check in CHECKS_OF_SDS[requirement]))


def acknowledged(on: Stage) -> Actor:
    """Another participant names an own message."""
    alice = on.open()
    sent = alice.send()
    alice.receive(on.peer("bob").content(on.now_ms, *entries_with_senders(sent)))
    return alice


def late(name: str) -> type[Participant]:
    return MUTANTS[name].participant_class


class _Deaf(Channel):
    def acknowledge(self, message_id: str, effects: object) -> None:
        pass


class Deaf(Participant):
    channel_class = _Deaf


@pytest.mark.parametrize(
    ("participant", "before", "after", "named"),
    [
        (Participant, HELD, HELD, set()),
        (late("acknowledges-at-the-sweep"), set(), HELD, VIOLATED),
        (Deaf, set(), VIOLATED, set()),
    ],
)
def test_an_acknowledgement_comes_at_once_or_late_or_never(
    participant: type[Participant], before: set[Outcome], after: set[Outcome], named: set[Outcome]
) -> None:
    on = stage(reference(participant=participant))
    alice = acknowledged(on)
    assert said("SDS-ACK-01", on) == before
    alice.tick()
    assert said("SDS-ACK-01", on) == after
    assert said("SDS-RECV-11", on) == named


@pytest.mark.parametrize(
    ("participant", "before", "after"),
    [(Participant, HELD, HELD), (late("delivers-at-the-sweep"), set(), VIOLATED)],
)
def test_a_delivery_comes_at_once_or_late(
    participant: type[Participant], before: set[Outcome], after: set[Outcome]
) -> None:
    for bloom_filter in (None, b"\x01"):
        on = stage(reference(participant=participant))
        alice = on.open()
        alice.receive(on.peer("bob").content(on.now_ms, bloom_filter=bloom_filter))
        assert said("SDS-RECV-07", on) == before
        alice.tick()
        assert said("SDS-RECV-07", on) == after


def test_what_is_never_delivered_is_not_late() -> None:
    def drops(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("receive") or request.HasField("tick"):
            del reply.effects.events[:]

    on = stage(altered(drops))
    alice = on.open()
    alice.receive(on.peer("bob").content(on.now_ms))
    assert said("SDS-RECV-07", on) == set()
    alice.tick()
    assert said("SDS-RECV-07", on) == VIOLATED


def test_who_says_nothing_of_repairs_takes_part_in_neither_half() -> None:
    on = stage(reference())
    alice = on.open()
    alice.send()
    seen: list[Callable[..., bool]] = [requests_any_repair, answers_any_request]
    assert [half(view(on)) for half in seen] == [False, False]
