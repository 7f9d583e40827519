"""Environments: each finds a fault that hides in the plain one, and none of them is a fault of what is legal."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from run_helpers import (
    OF_SDS,
    SHORT,
    certified,
    odd_adapter,
    participant_of,
    plan,
    reference,
    verdict_on,
    with_verdict,
)
from sds_conformance.cli import main
from sds_conformance.judging.certification import Certification, certify
from sds_conformance.judging.exits import Exit
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.sds.register import SCENARIOS
from sds_harness.link import Limits, StdioLink
from sds_harness.sds.environments import ENVIRONMENTS
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Channel, Effects, Message, Participant
from sds_reference.incoming_buffer import IncomingBuffer
from sds_testee.framing import Framing

pytestmark = pytest.mark.exhaustive

LIMITS = Limits(start_s=20, command_s=5, exit_s=5)


class LatinNames(Channel):
    """Writes its own name in Latin-1, if possible."""

    def encode(self, message: Message) -> bytes:
        sender = message.sender_id.encode("latin-1", "replace").decode("latin-1")
        return super().encode(replace(message, sender_id=sender))


class TakesItsOwnWordsForAnEcho(Channel):
    """Ignores content of others that equals its own last content."""

    last = b""

    def compose(self, message_id: str, lamport: int, content: bytes | None) -> Message:
        self.last = content or self.last
        return super().compose(message_id, lamport, content)

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if message.content and message.content == self.last:
            return Effects()
        return super().receive(message, now_ms, retrieval_hint)


class OneWaitingRoom(Participant):
    """Forgets what waits in a channel that is quiet while five messages wait in another."""

    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        effects = super().receive(wire, now_ms, retrieval_hint)
        busiest = max(self.channels.values(), key=lambda channel: len(channel.incoming))
        for channel in self.channels.values():
            if len(busiest.incoming) >= 5 and channel is not busiest:
                channel.incoming = IncomingBuffer()
        return effects


class ForgetsWhenTheClockGoesBack(Channel):
    """Empties its incoming buffer when the clock has gone back by more than half an hour."""

    latest = 0

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if now_ms < self.latest - 1_800_000:
            self.incoming = IncomingBuffer()
        self.latest = now_ms
        return super().receive(message, now_ms, retrieval_hint)


class TreatsTypingAsContent(Channel):
    """With SDS-R, keeps ephemeral messages in its log as well, because they might be requested."""

    def receive_ephemeral(self, message: Message, effects: Effects) -> None:
        super().receive_ephemeral(message, effects)
        if self.repair is not None:
            self.insert_into_log(replace(message, lamport_timestamp=self.clock.value), None)


HIDDEN: dict[str, tuple[type[Channel] | type[Participant], str]] = {
    "all-scripts": (LatinNames, "SDS-MSG-02"),
    "equal-contents": (TakesItsOwnWordsForAnEcho, "SDS-RECV-07"),
    "third-channel": (OneWaitingRoom, "SDS-RECV-08"),
    "sds-r": (TreatsTypingAsContent, "SDS-STATE-10"),
    "unsteady-clock": (ForgetsWhenTheClockGoesBack, "SDS-STATE-09"),
}


@pytest.mark.parametrize("environment", HIDDEN)
def test_a_fault_that_hides_in_the_plain_environment_is_found(environment: str) -> None:
    fault, requirement = HIDDEN[environment]
    participant = fault if issubclass(fault, Participant) else participant_of(fault)
    plain = certified(lambda: reference(participant=participant))
    there = certified(lambda: reference(participant=participant), environments=[environment])
    assert with_verdict(plain, Verdict.FAIL, Verdict.WARN) == set()
    assert requirement in with_verdict(there, Verdict.FAIL)
    finding = verdict_on(there, requirement).findings[0]
    assert finding.environment == environment
    assert finding.run == f"{finding.scenario}@{environment}"
    assert finding.scenario in SCENARIOS
    assert finding.run in there.traces


def in_a_process(kind: str, *environments: str) -> Certification:
    what = plan(environments=environments, scenarios=["every-kind-of-message", "two-clocks*", "a-few*", "ties*"])
    return certify(lambda variables: StdioLink(odd_adapter(kind), Framing.JSON, LIMITS, variables), what, LIMITS)


@pytest.mark.parametrize(
    ("kind", "environment", "requirement"),
    [
        ("local-time", "turkish", "SDS-STATE-02"),
        ("local-time", "posix", "SDS-STATE-03"),
        ("locale", "posix", "SDS-MSG-02"),
    ],
)
def test_a_fault_of_the_process_is_found_where_it_shows(
    kind: str, environment: str, requirement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("TZ", "UTC"), ("LC_ALL", "C.UTF-8")):
        monkeypatch.setenv(name, value)
    assert with_verdict(in_a_process(kind, "plain"), Verdict.FAIL, Verdict.WARN) == set()
    assert requirement in with_verdict(in_a_process(kind, environment), Verdict.FAIL)


def test_the_reference_passes_in_every_environment() -> None:
    outcome = certified(reference, environments=["*"], scenarios=["*"])
    assert with_verdict(outcome, Verdict.PASS) == {v.requirement.id for v in outcome.verdicts}
    assert outcome.exit_code == Exit.CONFORMANT
    long = sum(scenario.long for scenario in OF_SDS.values())
    assert outcome.runs == len(ENVIRONMENTS) * (len(OF_SDS) - long) + long
    assert set(outcome.traces) == set(OF_SDS)


def test_an_environment_that_needs_more_than_is_declared_is_left_out_and_named() -> None:
    outcome = certified(
        lambda: reference(without=[pb.CAPABILITY_CHANNELS, pb.CAPABILITY_VIRTUAL_CLOCK]), environments=["*"]
    )
    assert outcome.left_out == {
        "third-channel": "not declared: channels",
        "unsteady-clock": "not declared: virtual-clock",
    }
    assert outcome.runs == (len(ENVIRONMENTS) - 2) * len(SHORT)


def test_the_command_line_plays_everywhere_unless_reported_where() -> None:
    result = CliRunner().invoke(main, ["run", "--json", "--scenario", "ties"])
    summary = json.loads(result.stdout)["summary"]
    assert summary["environments"] == list(ENVIRONMENTS)
    assert summary["runs"] == len(ENVIRONMENTS)
    result = CliRunner().invoke(main, ["run", "--json", "--scenario", "ties", "--environment", "plain"])
    assert json.loads(result.stdout)["summary"]["environments"] == ["plain"]


def test_a_finding_is_shown_again_where_it_was_found() -> None:
    command = odd_adapter("local-time")
    result = CliRunner(env={"TZ": "UTC"}).invoke(
        main, ["run", "--scenario", "every-kind*", "--environment", "turkish", "--", *command]
    )
    assert result.exit_code == Exit.NON_CONFORMANT
    assert "--environment turkish --" in result.stdout
    assert "Istanbul" in result.stdout
