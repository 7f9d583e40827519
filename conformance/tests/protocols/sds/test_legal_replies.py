"""The text leaves open when and in which reply messages go out: a fault in addition to such a choice is found.

The self-test plays the choices alone: they are legal variants.
"""

from __future__ import annotations

from typing import Any

import pytest

from run_helpers import altered, certified, of_channel, reference, verdict_on, with_verdict
from sds_conformance.judging.verdict import Verdict
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config
from sds_reference.channel import Channel
from sds_reference.config import RepairConfig
from sds_reference.effects import Effects
from sds_reference.message import HistoryEntry, Kind, Message
from sds_reference.repair import Repair
from sds_reference.reply_choices import ResendsBeforeSending, WorksBeforeSending


class ChangesTheContent(ResendsBeforeSending):
    """A fault in addition to the choice: the new message behind a resend has another content."""

    def send(
        self, content: bytes, now_ms: int, message_id: str | None = None, retrieval_hint: bytes | None = None
    ) -> Effects:
        return super().send(content[::-1], now_ms, message_id, retrieval_hint)


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


@pytest.mark.parametrize(
    ("channel", "scenarios", "fails", "verdict"),
    [
        (ChangesTheContent, ["unacknowledged-while-busy"], "SDS-MSG-20", Verdict.FAIL),
        (
            StopsAfterFiveCopies,
            ["sends-in-one-of-three-channels", "idle-with-automatic-syncs"],
            "SDS-OUTSWEEP-01",
            Verdict.WARN,
        ),
    ],
)
def test_a_fault_is_found_where_copies_go_out_before_own_messages(
    channel: type[Channel], scenarios: list[str], fails: str, verdict: Verdict
) -> None:
    outcome = certified(lambda: of_channel(channel), scenarios=scenarios)
    assert verdict_on(outcome, fails).verdict is verdict


@pytest.mark.parametrize(
    ("clock_ms", "without", "fails"),
    [
        (16, (), "SDS-R-TRESP-01"),
        pytest.param(100, (), "SDS-R-TREQ-01", marks=pytest.mark.exhaustive),
        pytest.param(1_000, (pb.CAPABILITY_OBSERVE,), "SDS-R-SEND-01", marks=pytest.mark.exhaustive),
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
    outcome = certified(lambda: of_channel(IgnoresCopies), scenarios=["requests-in-any-message"])
    assert with_verdict(outcome, Verdict.FAIL) == set()
    assert with_verdict(outcome, Verdict.WARN) == {"SDS-R-RECV-13"}
