"""Repair requests that are owed: boundaries that neither a mutant nor a legal variant reaches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from repair_traces import PRIVATE, backoff, gap, mute, only, side_of, unseen
from run_helpers import T, altered, reference, stage
from sds_conformance.protocols.sds.scenarios.repair.live import repairing
from sds_conformance.protocols.sds.scenarios.repair.participants import T_MAX_MS
from sds_conformance.protocols.sds.view.repair_terms import SECOND_MS
from sds_conformance.protocols.sds.view.repair_tracker import NEVER
from sds_harness.sds.actor import Actor
from sds_harness.sds.peer import signed
from sds_harness.sds.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config, HistoryEntry, Message
from sds_reference.variants import VARIANTS


def test_what_nobody_may_overlook_is_wanted_and_with_a_sender_owed() -> None:
    on = stage()
    alice, bob = repairing(on), on.peer("bob")
    signed_one = HistoryEntry("signed", None, "bob")
    alice.receive(bob.content(T, signed_one, "unsigned"), bob.sync(T, HistoryEntry("in-a-sync", None, "bob")))
    alice.receive(bob.content(T, *(HistoryEntry(f"one-of-{number}", None, "bob") for number in range(201))))
    alice.receive(bob.content(T, HistoryEntry("foreign", None, "bob"), bloom_filter=b"what is this"))
    side = side_of(on)
    assert [missing.message_id for missing in side.wanted] == ["signed", "unsigned", "in-a-sync"]
    assert [missing.message_id for missing in side.owing] == ["signed"]


def test_anything_that_touches_what_is_missing_ends_what_is_known_of_it() -> None:
    touching: list[Callable[[Stage, Actor, Message], Message]] = [
        lambda on, alice, lost: lost,
        lambda on, alice, lost: on.peer("carol").sync(T, requests=signed(lost)),
        lambda on, alice, lost: on.peer("carol").sync(T, message_id=lost.message_id),
        lambda on, alice, lost: replace(on.peer("carol").ephemeral(b"x"), repair_request=signed(lost)),
    ]
    for touch in touching:
        on = stage()
        alice = repairing(on)
        (lost,) = gap(on, alice)
        alice.receive(on.peer("carol").content(T, *signed(lost)))
        step = alice.receive(touch(on, alice, lost))
        side = side_of(on)
        assert side.until(only(side)) == step.index
        assert side.touched_after(lost.message_id, only(side).detected.step.index) == step.index
        assert side.touched_after(lost.message_id, step.index) == NEVER


def test_what_waits_is_not_in_the_log_yet() -> None:
    on = stage()
    alice, bob = repairing(on), on.peer("bob")
    root = bob.content(T)
    waiting = bob.content(T + 1, root)
    first, second = alice.receive(waiting), alice.receive(root)
    after = alice.tick()
    side = side_of(on)
    assert [side.waits(waiting.message_id, step) for step in (first, second, after)] == [False, True, False]
    assert [side.in_log(waiting.message_id, step) for step in (first, second, after)] == [False, False, True]
    assert [side.in_log(root.message_id, step) for step in (first, second, after)] == [False, False, True]
    assert not side.waits("unknown", after)


def test_what_was_refused_or_is_its_own_is_neither_heard_nor_here() -> None:
    def refuses_carol(request: pb.Request, reply: pb.Reply) -> None:
        if b"carol" in request.receive.wire:
            reply.rejected.reason = "not from her"

    on = stage(altered(refuses_carol))
    alice = repairing(on)
    odd = on.peer("bob").content(T, *(f"unknown-{number}" for number in range(201)))
    alice.receive(on.peer("carol").content(T), on.peer("alice").content(T), odd)
    typing = on.peer("dave").ephemeral(b"typing")
    last = alice.receive(typing)
    side = side_of(on)
    assert side.arrivals == {}
    assert [received.message for received in side.heard] == [odd, typing]
    heard = side.heard_after(last.index - 1)
    assert heard is not None
    assert (heard.step, side.heard_after(last.index)) == (last, None)


def test_a_clock_that_steps_back_measures_nothing() -> None:
    on = stage()
    alice = repairing(on)
    steps = []
    for advance in (0, 1_000, -500, 600, 400, 100):
        on.advance(advance)
        steps.append(alice.tick())
    side = side_of(on)
    measured = [(a, b) for a in range(6) for b in range(a, 6) if side.in_step(steps[a], steps[b])]
    # The third is before the second, and the fourth, at 1,100 ms, is the first that shows a new time.
    assert measured == [(0, 0), (0, 1), (1, 1), (3, 3), (3, 4), (3, 5), (4, 4), (4, 5), (5, 5)]


def test_times_may_be_seconds_unless_milliseconds_are_seen() -> None:
    def whole_seconds(request: pb.Request, reply: pb.Reply) -> None:
        for entry in reply.state.outgoing_repairs.entries if reply.HasField("state") else ():
            entry.due_ms -= entry.due_ms % 1_000

    for handle, expected in (
        (reference(), 0),
        (reference(PRIVATE), 0),
        (altered(whole_seconds, reference(PRIVATE)), SECOND_MS),
        (unseen(PRIVATE), SECOND_MS),
        (unseen(), 0),
        (unseen(VARIANTS["clock-of-16-ms"].configure(Config())), 16),
        (reference(VARIANTS["clock-of-16-ms"].configure(Config())), 16),
    ):
        on = stage(handle)
        alice = repairing(on)
        gap(on, alice)
        alice.observe()
        assert side_of(on).slack_ms == expected


def owed(on: Stage) -> list[tuple[int, bool]]:
    side = side_of(on)
    return [(sent.step.index, asks) for sent, asks in side.owed(only(side))]


def test_from_t_req_on_every_message_has_to_ask_until_one_does() -> None:
    on = stage(unseen())
    alice = repairing(on)
    gap(on, alice)
    for until in (backoff("lost-0") - 1, backoff("lost-0"), backoff("lost-0") + 1):
        on.advance(T + until - on.now_ms)
        alice.send_sync()
    assert owed(on) == [(4, True)]
    side = side_of(on)
    asking = side.in_time(only(side))
    assert asking is not None
    assert asking.step.index == 4
    assert side.first_asked("lost-0") == 4
    assert [side.requests_repair_of(sent, "lost-0") for sent in side.carriers] == [False, True, True]


def test_who_never_asks_owes_with_every_message_up_to_t_max_and_a_second() -> None:
    on = stage(mute(unseen(PRIVATE)))
    alice = repairing(on)
    gap(on, alice)
    for wait in (T_MAX_MS, SECOND_MS, SECOND_MS):
        on.advance(wait)
        alice.send()
        alice.send_sync()
    # At T_max it may be a matter of seconds, and a second after that it may have been given up.
    assert owed(on) == [(5, False), (6, False)]
    side = side_of(on)
    assert side.in_time(only(side)) is None
    both = side.both_kinds(list(side.owed(only(side))))
    assert both is not None
    assert both.step.index == 6
