"""Rare legal choices are accepted, and similar faults are still found. The self-test plays the usual choices."""

from __future__ import annotations

from dataclasses import replace

import pytest

from run_helpers import altered, certified, of_channel, outcomes, reference, stage, variant, view, with_verdict
from sds_conformance.judging.judgement import Outcome
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.sds.checks.core.history import hints_belong_to_their_id
from sds_conformance.protocols.sds.checks.core.message import content_delivered_unchanged
from sds_conformance.protocols.sds.checks.core.receive import delivered_messages_leave_the_buffer
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Channel, Config, Effects, HistoryEntry, LocalLog, LogEntry, Message
from sds_reference.repair import Repair
from sds_reference.testee import server
from sds_reference.variants import VARIANTS

HELD, VIOLATED = {Outcome.HELD}, {Outcome.VIOLATED}
AGAINST = (Verdict.FAIL, Verdict.WARN, Verdict.ERROR)


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


class NeverGivesUp(Channel):
    def give_up_lost(self, received_ms: int, effects: Effects) -> None:
        pass


class ResendsEveryMinute(Channel):
    _swept_at = 0

    def sweep_outgoing(self, now_ms: int, effects: Effects) -> None:
        if now_ms - self._swept_at >= 60_000:
            self._swept_at = now_ms
            super().sweep_outgoing(now_ms, effects)


class DeliversHybridsLater(Channel):
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


@pytest.mark.parametrize(
    ("channel", "scenarios", "exercised"),
    [
        (CatchesUp, "idle-* frozen-and-running-clock clock-*", "SDS-SYNC-02"),
        (NeverGivesUp, "*lost* *waiting*", "SDS-INSWEEP-05"),
        (ResendsEveryMinute, "two-resend-periods unacknowledged-*", "SDS-OUTSWEEP-02"),
        (DeliversHybridsLater, "hybrids* *ephemeral*", "SDS-EPHEMERAL-06"),
    ],
)
def test_a_choice_that_no_variant_of_the_self_test_makes_is_accepted(
    channel: type[Channel], scenarios: str, exercised: str
) -> None:
    outcome = certified(lambda: of_channel(channel), scenarios=scenarios.split())
    assert with_verdict(outcome, *AGAINST) == set()
    assert exercised in with_verdict(outcome, Verdict.PASS)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [name for name, one in VARIANTS.items() if "repair" in dict(one.config)])
def test_a_variant_that_shows_no_state_is_accepted_in_the_environments_that_change_repairs(name: str) -> None:
    environments = ["sds-r", "unsteady-clock"]
    outcome = certified(
        lambda: variant(name, without=[pb.CAPABILITY_OBSERVE]), environments=environments, profile="sds-r"
    )
    assert with_verdict(outcome, *AGAINST) <= set(VARIANTS[name].leaves_out)
    assert outcome.breakdowns == []


# ---- Configurations and bounds ---------------------------------------------------------------------------------------


def test_what_an_implementation_does_not_say_to_be_in_force_is_not_judged() -> None:
    """It has periods, times and filters of its own, and its adapter does not report them."""

    class OfItsOwn(server.Testee):
        def _open(self, command: pb.Open, reply: pb.Reply) -> None:
            command.configuration.CopyFrom(pb.Configuration(sds_r=command.configuration.sds_r))
            super()._open(command, reply)
            reply.opened.ClearField("configuration")

    size = Config(bloom_capacity=40, bloom_error_rate=0.2, lost_timeout_ms=5_000, resend_unacknowledged_ms=5_000)
    outcome = certified(lambda: OfItsOwn(server.TesteeOptions("1", size)).handle)
    assert with_verdict(outcome, *AGAINST) == set()


BOUND = 100


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


class CachesTheBoundedLog(Channel):
    """Its log has a bound (AMB-96), so it cannot answer requests for messages that left the log."""

    log_class = _ShortLog
    repair_class = _ShortCache


@pytest.mark.parametrize("declared", [True, False])
def test_requests_for_messages_that_left_a_bounded_log_need_no_response(declared: bool) -> None:
    def declares(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("hello") and declared:
            reply.hello.limits.log_entries = BOUND

    outcome = certified(lambda: altered(declares, of_channel(CachesTheBoundedLog)), scenarios=("many-authors",))
    assert declared is not bool(with_verdict(outcome, *AGAINST))


def test_undeclared_resends_are_no_responses() -> None:
    undeclared = frozenset({pb.CAPABILITY_RESEND, pb.CAPABILITY_RESEND_PERIOD})
    outcome = certified(lambda: reference(without=undeclared), scenarios=("asked-for-unacknowledged-messages",))
    assert "SDS-R-TRESP-02" in with_verdict(outcome, Verdict.PASS)
    assert with_verdict(outcome, *AGAINST) == set()


# ---- Copies that are treated like the first --------------------------------------------------------------------------


class TellsNoCopies(Channel):
    """Deduplication is a MAY: copies are treated like the first message (AMB-24)."""

    def is_duplicate(self, message: Message) -> bool:
        return False


class DeliversTwice(Channel):
    """Delivered messages are buffered again, and delivered by the next sweep."""

    def deliver(self, message, effects, retrieval_hint):  # type: ignore[no-untyped-def]
        super().deliver(message, effects, retrieval_hint)
        if message.causal_history:
            self.again = [*getattr(self, "again", []), message]

    def deliver_ready(self, effects):  # type: ignore[no-untyped-def]
        for message in getattr(self, "again", []):
            Channel.deliver(self, message, effects, None)
        super().deliver_ready(effects)


@pytest.mark.parametrize(("channel", "copies"), [(TellsNoCopies, 2), (DeliversTwice, 1)])
def test_each_copy_may_be_delivered_and_one_arrival_only_once(channel: type[Channel], copies: int) -> None:
    on = stage(of_channel(channel, Config(cascade_on_receive=False, incoming_sweep_ms=5_000)))
    alice, bob = on.open(), on.peer("bob")
    first = bob.content(on.now_ms + 1)
    waits = bob.content(on.now_ms + 2, first)
    alice.receive(waits, first, *[waits] * (copies - 1))
    alice.observe()
    for _ in range(2):
        on.advance(6_000)
        alice.tick()
    delivered = [d.message_id for d in view(on).delivered].count(waits.message_id)
    assert delivered >= 2
    assert (Outcome.VIOLATED in outcomes(delivered_messages_leave_the_buffer, view(on))) == (delivered > copies)


@pytest.mark.parametrize(("spoilt", "expected"), [(False, HELD), (True, HELD | VIOLATED)])
def test_each_of_two_contents_of_one_id_may_be_delivered_and_no_third(spoilt: bool, expected: set[Outcome]) -> None:
    def change(request: pb.Request, reply: pb.Reply) -> None:
        for event in reply.effects.events if spoilt else ():
            if event.delivered.content == b"second":
                event.delivered.content = b"third"

    on = stage(altered(change, of_channel(TellsNoCopies)))
    alice, bob = on.open(), on.peer("bob")
    one = bob.content(on.now_ms + 1)
    alice.receive(replace(one, content=b"first"), replace(one, content=b"second"))
    assert len(view(on).delivered) == 2
    assert outcomes(content_delivered_unchanged, view(on)) == expected


# ---- Fields and hints ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (None, set()),
        (b"worked out", set()),
        (b"\xff of one", HELD),
        (b"\xff of another", VIOLATED),
        (b"of many", set()),
        (b"\xff of", VIOLATED),
        ("\ufffd of one".encode(), VIOLATED),
    ],
)
def test_a_hint_is_optional_and_belongs_to_its_message(hint: bytes | None, expected: set[Outcome]) -> None:
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
    assert outcomes(hints_belong_to_their_id, view(on)) == expected
