"""Rare legal choices are accepted, and similar faults are still found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from global_schedules import play_schedule, schedule
from run_helpers import Handle, altered, certified, of_channel, outcomes, stage, variant, verdict_on, view, with_verdict
from sds_conformance.exploration.assessment import Scope, assess
from sds_conformance.judging.judgement import Outcome
from sds_conformance.judging.registry import CheckFunction
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.sds.checks.core.history import hints_belong_to_their_id
from sds_conformance.protocols.sds.checks.core.message import content_delivered_unchanged
from sds_conformance.protocols.sds.checks.core.receive import (
    delivered_messages_leave_the_buffer,
    missing_are_the_unmet,
    missing_at_a_sweep_are_the_unmet,
)
from sds_harness.schedules.operations import Wait
from sds_harness.sds.operations import Send
from sds_harness.stage import START_MS
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Channel, Config, HistoryEntry, Message
from sds_reference.effects import Missing
from sds_reference.wire_fields import LEN, VARINT, WireField, join, split

HELD, VIOLATED = {Outcome.HELD}, {Outcome.VIOLATED}


class TellsNoCopies(Channel):
    """Deduplication is a MAY: copies are taken like the first (AMB-24)."""

    def is_duplicate(self, message: Message) -> bool:
        return False


# ---- Copies that are not told from the first -------------------------------------------------------------------------


def test_a_copy_that_is_delivered_beside_one_that_waits_is_not_the_sweeps_fault() -> None:
    on = stage(of_channel(TellsNoCopies, Config(cascade_on_receive=False, incoming_sweep_ms=5_000)))
    alice, bob = on.open(), on.peer("bob")
    first = bob.content(on.now_ms + 1)
    waits = bob.content(on.now_ms + 2, first)
    alice.receive(waits, first, waits)
    alice.observe()
    on.advance(6_000)
    alice.tick()
    assert [d.message_id for d in view(on).delivered] == [first.message_id, waits.message_id, waits.message_id]
    assert outcomes(delivered_messages_leave_the_buffer, view(on)) <= HELD


def test_one_arrival_that_two_sweeps_deliver_is() -> None:
    class Stays(Channel):
        """Delivered messages are buffered again, and delivered by the next sweep."""

        def deliver(self, message, effects, retrieval_hint):  # type: ignore[no-untyped-def]
            super().deliver(message, effects, retrieval_hint)
            if message.causal_history and self.outgoing is not None:
                self.again = [*getattr(self, "again", []), message]

        def deliver_ready(self, effects):  # type: ignore[no-untyped-def]
            for message in getattr(self, "again", []):
                Channel.deliver(self, message, effects, None)
            super().deliver_ready(effects)

    on = stage(of_channel(Stays, Config(cascade_on_receive=False, incoming_sweep_ms=5_000)))
    alice, bob = on.open(), on.peer("bob")
    first = bob.content(on.now_ms + 1)
    alice.receive(bob.content(on.now_ms + 2, first), first)
    for _ in range(2):
        on.advance(6_000)
        alice.tick()
    assert outcomes(delivered_messages_leave_the_buffer, view(on)) == VIOLATED


def test_each_of_two_contents_of_one_id_may_be_delivered_and_no_third() -> None:
    for spoil, expected in ((False, HELD), (True, HELD | VIOLATED)):

        def change(request: pb.Request, reply: pb.Reply, spoil: bool = spoil) -> None:
            for event in reply.effects.events if spoil else ():
                if event.delivered.content == b"second":
                    event.delivered.content = b"third"

        on = stage(altered(change, of_channel(TellsNoCopies)))
        alice, bob = on.open(), on.peer("bob")
        one = bob.content(on.now_ms + 1)
        alice.receive(replace(one, content=b"first"), replace(one, content=b"second"))
        assert len(view(on).delivered) == 2
        assert outcomes(content_delivered_unchanged, view(on)) == expected


# ---- Fields that the text does not have ------------------------------------------------------------------------------


def test_extra_fields_in_messages_and_entries_draw_a_warning() -> None:
    def extended(wire: bytes) -> bytes:
        fields = [
            replace(f, value=join([WireField(9, VARINT, 7), *split(f.value)]))
            if f.number in (11, 13) and isinstance(f.value, bytes)
            else f
            for f in split(wire)
        ]
        return join([*fields, WireField(40, LEN, b"more")])

    def change(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("effects"):
            extended_wires = [extended(wire) for wire in reply.effects.broadcasts]
            del reply.effects.broadcasts[:]
            reply.effects.broadcasts.extend(extended_wires)

    outcome = certified(lambda: altered(change), scenarios=["every-kind-of-message", "a-few*", "requests-*"])
    assert with_verdict(outcome, Verdict.FAIL, Verdict.ERROR) == set()
    assert verdict_on(outcome, "SDS-MSG-01").verdict is Verdict.WARN


# ---- Hints -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (None, set()),
        (b"", set()),
        (b"worked out", set()),
        (b"\xff of one", HELD),
        (b"\xff of another", VIOLATED),
        (b"of many", set()),
        (b"\xff of", VIOLATED),
        ("\ufffd of one".encode(), VIOLATED),
    ],
)
def test_a_hint_is_optional_and_its_own(hint: bytes | None, expected: set[Outcome]) -> None:
    class Hints(Channel):
        def causal_history(self) -> tuple[HistoryEntry, ...]:
            return tuple(replace(entry, retrieval_hint=hint) for entry in super().causal_history())

    on = stage(of_channel(Hints))
    alice, bob, carol = on.open(), on.peer("bob"), on.peer("carol")
    one, another = bob.content(on.now_ms + 1), carol.content(on.now_ms + 2)
    alice.receive(one, retrieval_hint=b"\xff of one")
    alice.send()
    alice.receive(another, retrieval_hint=b"\xff of another")
    alice.receive(*[bob.content(on.now_ms + 3 + n) for n in range(2)], retrieval_hint=b"of many")
    sent = view(on).sent[0]
    assert [entry.message_id for entry in sent.message.causal_history] == [one.message_id]
    assert outcomes(hints_belong_to_their_id, view(on)) == expected


# ---- The clock at first use ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ahead", "violated"), [(1, set()), (2, {"SDS-SEND-01"})])
def test_a_clock_that_is_set_at_first_use_is_one_ahead(ahead: int, violated: set[str]) -> None:
    class AtFirstUse(Channel):
        def next_lamport(self, now_ms: int) -> int:
            if self.clock.value == START_MS:
                self.clock.value = now_ms + ahead - 1
            return super().next_lamport(now_ms)

    what = schedule(Wait(60_000), Send("alice", "m1"), names=("alice", "bob"))
    found = assess(play_schedule(what, lambda: of_channel(AtFirstUse)), Scope.select()).findings
    assert {finding.requirement for finding in found} == violated


# ---- Missing messages that are reported once, or each time -----------------------------------------------------------


class ReportsTheDelivered(Channel):
    """Reports what was ever missing."""

    def signal_missing(self, message, unmet, effects):  # type: ignore[no-untyped-def]
        self.ever = [*getattr(self, "ever", []), *message.causal_history]
        effects.events.append(Missing(self.channel_id, tuple(self.ever)))


@pytest.mark.parametrize(
    ("handle", "expected"),
    [
        (variant("signals-missing-once"), HELD),
        (variant("signals-all-that-is-missing"), HELD),
        (of_channel(ReportsTheDelivered), HELD | VIOLATED),
    ],
)
def test_missing_messages_may_be_reported_once_or_with_each_message(handle: Handle, expected: set[Outcome]) -> None:
    on = stage(handle)
    alice, bob = on.open(), on.peer("bob")
    first, second, third = (bob.content(on.now_ms + number) for number in range(3))
    alice.receive(bob.content(on.now_ms + 4, first, second), bob.content(on.now_ms + 5, second, third))
    alice.receive(first, bob.content(on.now_ms + 6, second, third))
    assert outcomes(missing_are_the_unmet, view(on)) == expected


@pytest.mark.parametrize(
    ("name", "check"),
    [
        ("signals-all-that-is-missing", missing_are_the_unmet),
        ("signals-at-the-sweep", missing_at_a_sweep_are_the_unmet),
    ],
)
def test_what_arrived_as_an_ephemeral_message_is_still_missing(name: str, check: CheckFunction) -> None:
    on = stage(variant(name))
    alice, bob = on.open(), on.peer("bob")
    first, second = bob.content(on.now_ms), bob.content(on.now_ms + 1)
    alice.receive(bob.content(on.now_ms + 2, first))
    alice.receive(replace(bob.ephemeral(b"first"), message_id=first.message_id))
    alice.receive(bob.content(on.now_ms + 3, second))
    alice.tick()
    assert outcomes(check, view(on)) == HELD
