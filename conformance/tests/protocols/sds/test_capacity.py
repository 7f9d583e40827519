"""Large schedules leave in peace who is slow, who catches up, and whose bounds are declared or allowed."""

from __future__ import annotations

import pytest

from run_helpers import Handle, altered, certified, of_channel, outcomes, stage, view, with_verdict
from sds_conformance.judging.judgement import Outcome
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.sds.checks.core.sync import syncs_keep_to_their_period
from sds_harness.sds.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Channel, LocalLog, LogEntry, Message
from sds_reference.repair import Repair

CROWDS = (
    *("a-crowd-waits-for-one", "a-chain-of-a-thousand", "many-own-messages-unacknowledged", "a-hundred-of-each-kind"),
    *("many-channels", "many-participants", "long-ids-that-look-alike", "late-by-ninety-places", "a-filter-rolls-over"),
)
BOUND = 300


class _ShortLog(LocalLog):
    def insert(self, entry: LogEntry) -> bool:
        inserted = super().insert(entry)
        if len(self._order) > BOUND:
            _, key = self._order.pop(0)
            del self._entries[key]
        return inserted


class _ShortCache(Repair):
    def cache_message(self, message: Message) -> None:
        super().cache_message(message)
        if len(self.cache) > BOUND:
            del self.cache[next(iter(self.cache))]

    def take_responses(self, now_ms: int) -> list[Message]:
        for item in self.incoming.due(self.current_time(now_ms)):
            if item.entry.message_id not in self.cache:
                self.incoming.remove(item.entry.message_id)
        return super().take_responses(now_ms)


class KeepsABoundedLog(Channel):
    """Its log has a bound, which it declares (AMB-96)."""

    log_class = _ShortLog


class CachesTheBoundedLog(Channel):
    """It cannot answer requests for messages that left the log meanwhile."""

    log_class = _ShortLog
    repair_class = _ShortCache


def _declares_the_bound(request: pb.Request, reply: pb.Reply) -> None:
    if reply.WhichOneof("answer") == "hello":
        reply.hello.limits.log_entries = BOUND


@pytest.mark.parametrize("channel", [KeepsABoundedLog, CachesTheBoundedLog])
def test_a_declared_bound_of_the_log_is_respected(channel: type[Channel]) -> None:
    outcome = certified(lambda: altered(_declares_the_bound, of_channel(channel)), scenarios=CROWDS)
    assert not with_verdict(outcome, Verdict.FAIL, Verdict.WARN, Verdict.ERROR)


@pytest.mark.parametrize("declared", [True, False])
def test_requests_for_messages_that_left_a_bounded_log_need_no_response(
    monkeypatch: pytest.MonkeyPatch, declared: bool
) -> None:
    monkeypatch.setitem(globals(), "BOUND", 100)
    implementation = of_channel(CachesTheBoundedLog)
    outcome = certified(
        lambda: altered(_declares_the_bound, implementation) if declared else implementation,
        scenarios=("many-authors",),
    )
    assert declared is not bool(with_verdict(outcome, Verdict.FAIL, Verdict.WARN, Verdict.ERROR))


# ---- Sync messages keep to their period ------------------------------------------------------------------------------


class CatchesUp(Channel):
    """Owes one sync message for each interval since the beginning, and sends one at a time."""

    _owed_since = 0

    def sync_is_due(self, now_ms: int) -> bool:
        interval = self.config.sync_interval_ms
        self._owed_since = self._owed_since or now_ms
        if interval is None or now_ms - self._owed_since < interval:
            return False
        self._owed_since += interval
        return True


def idle(handle: Handle, *pauses_ms: int) -> Stage:
    on = stage(handle)
    alice = on.open(configuration=pb.Configuration(sync_interval_ms=10_000))
    alice.send()
    for pause in pauses_ms:
        on.advance(pause)
        alice.tick()
    return on


class AtEveryTick(Channel):
    def sync_is_due(self, now_ms: int) -> bool:
        return self.config.sync_interval_ms is not None


@pytest.mark.parametrize(
    ("channel", "pauses_ms", "expected"),
    [
        (Channel, [1_000] * 60, {Outcome.HELD}),
        (CatchesUp, [1_000, 300_000, *[1_000] * 20], {Outcome.HELD}),
        (AtEveryTick, [10_000] * 10, {Outcome.HELD}),
        (AtEveryTick, [5_000] * 10, {Outcome.HELD}),
        (AtEveryTick, [1_000] * 10, {Outcome.VIOLATED}),
        (Channel, [1_000] * 10, set()),
    ],
)
def test_a_rate_that_has_nothing_to_do_with_the_interval(
    channel: type[Channel], pauses_ms: list[int], expected: set[Outcome]
) -> None:
    assert outcomes(syncs_keep_to_their_period, view(idle(of_channel(channel), *pauses_ms))) == expected
