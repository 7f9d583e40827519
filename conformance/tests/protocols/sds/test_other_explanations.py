"""A requirement is not blamed for what another one explains, and the other one still is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from run_helpers import T, altered, certified, outcomes, reference, stage, view
from sds_conformance.judging.certification import Certification
from sds_conformance.judging.judgement import Outcome
from sds_conformance.protocols.sds.checks.core.history import own_messages_are_in_the_log
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Message, Participant, decode, encode
from sds_reference.channel import Channel


def model(**methods: Callable[..., object]) -> type[Participant]:
    """The reference with other methods in its channels."""
    channel = type("Altered", (Channel,), methods)
    return type("AlteredParticipant", (Participant,), {"channel_class": channel})


def counts_deliveries(self: Channel, lamport_timestamp: int) -> None:
    self.clock.value = max(self.clock.value, lamport_timestamp) + 1


def counts_receptions(self: Channel, message: Message) -> None:
    Channel.insert_into_filter(self, message)
    self.clock.value = max(self.clock.value, message.lamport_timestamp or 0) + 1


COUNTS_DELIVERIES = model(witness_lamport=counts_deliveries)
COUNTS_RECEPTIONS = model(insert_into_filter=counts_receptions)


def found(outcome: Certification) -> set[str]:
    return {verdict.requirement.id for verdict in outcome.verdicts if verdict.findings}


@pytest.mark.parametrize("changed", [COUNTS_DELIVERIES, COUNTS_RECEPTIONS])
def test_answers_are_not_blamed_where_received_requests_moved_the_clock(changed: type[Participant]) -> None:
    scenarios = ["asked-for-what-it-has", "rebroadcasts-and-the-clock"]
    outcome = certified(lambda: reference(participant=changed), scenarios=scenarios)
    assert "SDS-DELIVER-01" in found(outcome)
    assert "SDS-R-SWEEP-05" not in found(outcome)


def test_other_channels_are_not_blamed_where_messages_that_wait_moved_the_clock() -> None:
    outcome = certified(
        lambda: reference(participant=COUNTS_RECEPTIONS),
        scenarios=["waiting-from-ahead", "waiting-for-an-own-message"],
        environments=["third-channel"],
    )
    assert "SDS-SEND-01" in found(outcome)
    assert not {"SDS-STATE-01", "SDS-STATE-02"} & found(outcome)


def test_a_step_of_the_clock_is_not_blamed_where_copies_moved_the_clock() -> None:
    outcome = certified(
        lambda: reference(participant=COUNTS_RECEPTIONS),
        scenarios=["entries-name-senders"],
        environments=["unsteady-clock"],
    )
    assert found(outcome)
    assert "SDS-SEND-02" not in found(outcome)


@pytest.mark.parametrize(("later", "blamed"), [(0, True), (1, True), (2, False)])
def test_an_own_message_is_missed_only_where_the_end_of_every_log_has_it(later: int, blamed: bool) -> None:
    """With a history of two messages, two later arrivals hide an own message in a log in the order of arrival."""

    def leaves_own_out(request: pb.Request, reply: pb.Reply) -> None:
        for number, wire in enumerate(reply.effects.broadcasts):
            sent = decode(wire)
            history = tuple(entry for entry in sent.causal_history if entry.message_id != "own-1")
            reply.effects.broadcasts[number] = encode(replace(sent, causal_history=history))

    without = {pb.CAPABILITY_OBSERVE}
    on = stage(altered(leaves_own_out, reference(without=without)))
    alice, bob = on.open(configuration=pb.Configuration(causal_history_size=2)), on.peer("bob")
    alice.send(message_id="own-1")
    for number in range(later):
        alice.receive(bob.content(T - 9 + number))
    alice.send(message_id="own-2")
    seen = outcomes(own_messages_are_in_the_log, view(on))
    assert (Outcome.VIOLATED in seen) == blamed
