"""The text leaves open when and in which reply messages go out: a fault in addition to such a choice is found.

The self-test plays the choices alone: they are legal variants.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from run_helpers import altered, certified, reference, verdict_on, with_verdict
from sds_conformance.judging.verdict import Verdict
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config, Participant
from sds_reference.bloom_profiles import WAKU_SDS_JS
from sds_reference.channel import Channel
from sds_reference.config import RepairConfig
from sds_reference.effects import Effects
from sds_reference.message import HistoryEntry, Kind, Message
from sds_reference.mutants import MUTANTS
from sds_reference.outgoing_buffer import OutgoingEntry
from sds_reference.repair import Repair
from sds_reference.reply_choices import ResendsBeforeSending, WorksBeforeSending

RESENDING = ("unacknowledged-while-busy", "rebroadcasts-and-the-clock", "a-late-joiner")
TIES = ("late-arrivals", "two-resend-periods", "twins-come-and-are-asked-for", "clock-steps-back")
SHOWN = ("SDS-R-STATE-01", "SDS-R-RECV-03", "SDS-R-TREQ-01")


class ChangesTheContent(ResendsBeforeSending):
    """A fault in addition to the choice: the new message behind a resend has another content."""

    def send(
        self, content: bytes, now_ms: int, message_id: str | None = None, retrieval_hint: bytes | None = None
    ) -> Effects:
        return super().send(content[::-1], now_ms, message_id, retrieval_hint)


def test_the_content_of_the_message_that_the_reply_names_is_judged_behind_a_resend() -> None:
    participant = type("Changing", (Participant,), {"channel_class": ChangesTheContent})
    outcome = certified(lambda: reference(participant=participant), scenarios=RESENDING)
    assert verdict_on(outcome, "SDS-MSG-20").verdict is Verdict.FAIL


class LosesTheContent(Channel):
    """A fault that looks like a sync message under the ID of an own one: a copy without its content."""

    def rebroadcast(self, entry: OutgoingEntry) -> bytes:
        return self.encode(replace(self.revision.wire.decode(entry.wire), content=None))


def test_a_copy_that_lost_its_content_is_no_sync_message() -> None:
    participant = type("Losing", (Participant,), {"channel_class": LosesTheContent})
    outcome = certified(lambda: reference(participant=participant), scenarios=RESENDING)
    assert verdict_on(outcome, "SDS-MSG-21").verdict is Verdict.FAIL


class StopsAfterFiveCopies(WorksBeforeSending):
    """Stops resending after five copies, and sends copies before its own messages as well."""

    def sweep_outgoing(self, now_ms: int, effects: Effects) -> None:
        for entry in self.outgoing.take_due(now_ms):
            copies = self.copies[entry.message_id] = self.copies.get(entry.message_id, 0) + 1
            if copies <= 5:
                effects.broadcasts.append(self.rebroadcast(entry))
            self.schedule_resend(entry, now_ms)

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.copies: dict[str, int] = {}


def test_copies_beside_own_messages_count_before_resending_stops() -> None:
    participant = type("Stopping", (Participant,), {"channel_class": StopsAfterFiveCopies})
    scenarios = ("sends-in-one-of-three-channels", "idle-with-automatic-syncs")
    outcome = certified(lambda: reference(participant=participant), scenarios=scenarios)
    assert verdict_on(outcome, "SDS-OUTSWEEP-01").verdict is Verdict.WARN


def test_a_filter_is_not_called_wrong_by_who_reads_it_at_the_next_sweep() -> None:
    mutant, private = MUTANTS["acknowledges-at-the-sweep"], replace(WAKU_SDS_JS, name="")
    codec = (pb.CAPABILITY_FILTER_CODEC, pb.CAPABILITY_FILTER_SIZES)
    outcome = certified(
        lambda: reference(Config(bloom_profile=private), participant=mutant.participant_class, without=codec)
    )
    assert with_verdict(outcome, Verdict.FAIL, Verdict.WARN) == {"SDS-RECV-11"}
    assert "SDS-SEND-09" in with_verdict(outcome, Verdict.PASS)


@pytest.mark.parametrize(
    ("name", "fails"),
    [("history-by-id", {"SDS-SEND-05", "SDS-STATE-11"}), ("processes-its-own", {"SDS-RECV-11"})],
    ids=["history-by-id", "processes-its-own"],
)
def test_what_is_wrong_beside_it_is_all_that_fails(name: str, fails: set[str]) -> None:
    mutant = MUTANTS[name]
    outcome = certified(
        lambda: reference(participant=mutant.participant_class),
        scenarios=(*RESENDING, *TIES, "own-*", "unsent-messages-with-own-sender-id", "asked-*"),
        environments=("plain", "sds-r"),
    )
    assert with_verdict(outcome, Verdict.FAIL) == fails


@pytest.mark.parametrize(
    ("clock_ms", "without", "fails"),
    [
        (16, (), "SDS-R-TRESP-01"),
        pytest.param(100, (), "SDS-R-TREQ-01", marks=pytest.mark.exhaustive),
        pytest.param(1_000, (pb.CAPABILITY_OBSERVE,), "SDS-R-SEND-01", marks=pytest.mark.exhaustive),
        pytest.param(16, (), "SDS-R-TRESP-03", marks=pytest.mark.exhaustive),
        pytest.param(16, (), "SDS-R-RECV-10", marks=pytest.mark.exhaustive),
        pytest.param(16, (), "SDS-R-SWEEP-03", marks=pytest.mark.exhaustive),
        pytest.param(100, (), "SDS-R-SWEEP-02", marks=pytest.mark.exhaustive),
        pytest.param(1_000, (pb.CAPABILITY_OBSERVE,), "SDS-R-SEND-02", marks=pytest.mark.exhaustive),
    ],
)
def test_a_coarse_clock_of_sds_r_that_is_not_declared_is_reported_how_to_be(
    clock_ms: int, without: tuple[int, ...], fails: str
) -> None:
    """In every finding that such a clock can be the cause of."""

    def hidden(_: pb.Request, reply: pb.Reply) -> None:
        if reply.WhichOneof("answer") == "hello":
            reply.hello.limits.ClearField("repair_clock_ms")

    coarse = Config(repair=RepairConfig(clock_ms=clock_ms))
    outcome = certified(
        lambda: altered(hidden, reference(coarse, without=without)), select=[fails], environments=("plain", "sds-r")
    )
    output = verdict_on(outcome, fails)
    assert output.verdict in (Verdict.FAIL, Verdict.WARN)
    assert all("repairClockMs" in finding.seen for finding in output.findings)


class GivesUpSoon(Participant):
    """A choice of the application: dependencies are lost after five seconds, whatever the suite asks for."""

    def __init__(self, participant_id: str, config: Config | None = None) -> None:
        super().__init__(participant_id, replace(config or Config(), lost_timeout_ms=5_000))


def test_what_is_to_be_asked_for_is_judged_where_it_is_soon_given_up() -> None:
    def declared(_: pb.Request, reply: pb.Reply) -> None:
        if reply.WhichOneof("answer") == "opened":
            reply.opened.configuration.lost_timeout_ms = 5_000

    outcome = certified(lambda: altered(declared, reference(participant=GivesUpSoon)), select=SHOWN)
    assert with_verdict(outcome, Verdict.PASS) == set(SHOWN)


class KeepsAndPostpones(Repair):
    """It keeps what it requested, and requests it again T_max later. No text says what happens to such an entry
    (AMB-68).
    """

    def after_request(self, entry: HistoryEntry) -> None:
        item = self.outgoing.remove(entry.message_id)
        if item is not None:
            self.outgoing.add(item.entry, item.due_ms + self.config.t_max_ms)


class IgnoresCopies(Channel):
    """It ignores copies altogether, and so the repair requests in them (AMB-23)."""

    repair_class = KeepsAndPostpones

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        ignored = message.kind is Kind.CONTENT and self.has_arrived(message.message_id)
        return Effects() if ignored else super().receive(message, now_ms, retrieval_hint)


def test_an_entry_that_was_never_removed_is_not_a_new_one() -> None:
    participant = type("Ignoring", (Participant,), {"channel_class": IgnoresCopies})
    outcome = certified(
        lambda: reference(participant=participant), scenarios=["requests-in-any-message"], environments=("plain",)
    )
    assert with_verdict(outcome, Verdict.FAIL) == set()
    assert with_verdict(outcome, Verdict.WARN) == {"SDS-R-RECV-13"}
