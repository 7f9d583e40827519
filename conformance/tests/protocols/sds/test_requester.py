"""What a participant has to ask for, on small traces, and what excuses that it does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from played import T, altered, reference, stage, view
from repair_traces import BLIND, PRIVATE, backoff, gap, mute, only, side_of, unseen
from sds_conformance.protocols.sds.scenarios.repair.live import repairing
from sds_conformance.protocols.sds.scenarios.repair.participants import T_MAX_MS
from sds_conformance.protocols.sds.view.repair_terms import SECOND_MS
from sds_conformance.protocols.sds.view.repair_tracker import NEVER
from sds_conformance.protocols.sds.view.requester import requester, together
from sds_harness.sds.actor import Actor
from sds_harness.sds.peer import signed
from sds_harness.sds.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import AfterRequest, Config, HistoryEntry, Message, RepairConfig
from sds_reference.variants import VARIANTS

# ---- What is wanted, and what is owed --------------------------------------------------------------------------------


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


@pytest.mark.parametrize("kind", ["sync", "ephemeral"])
def test_what_came_before_in_any_form_is_not_wanted(kind: str) -> None:
    on = stage()
    alice, bob = repairing(on), on.peer("bob")
    early = bob.sync(T, message_id="lost") if kind == "sync" else bob.ephemeral(b"x", "lost")
    alice.receive(early, bob.content(T, HistoryEntry("lost", None, "bob")))
    assert [missing.message_id for missing in view(on).repair.missing] == ["lost"]
    assert side_of(on).wanted == []


def test_who_does_not_use_sds_r_or_gives_up_owes_nothing() -> None:
    for configuration in (pb.Configuration(), pb.Configuration(sds_r=True, lost_timeout_ms=1_000)):
        on = stage()
        gap(on, on.open(configuration=configuration))
        assert (side_of(on).wanted, side_of(on).owing) == ([], [])


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


def test_nothing_ends_what_nothing_touches() -> None:
    on = stage()
    alice = repairing(on)
    gap(on, alice)
    alice.receive(on.peer("carol").content(T, requests=["something-else"]))
    side = side_of(on)
    assert side.until(only(side)) == NEVER
    assert side.first_asked("lost-0") == NEVER


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


def test_what_is_asked_for_in_another_channel_or_in_no_message_is_not_asked_for_here() -> None:
    def babbles(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("tick"):
            reply.effects.broadcasts.append(b"\xff")

    on = stage(altered(babbles))
    alice = on.open(channels=("c1", "c2"), configuration=pb.Configuration(sds_r=True))
    for channel in ("c1", "c2"):
        lost = HistoryEntry("lost", None, "bob")
        alice.receive(on.peer("bob", channel).content(T, lost, message_id=f"naming-in-{channel}"))
    on.advance(T_MAX_MS)
    alice.tick()
    step = len(on.trace.steps) + 1
    assert alice.send(channel_id="c2").repair_request
    first = [requester(view(on, channel=channel)).first_asked("lost") for channel in ("c1", "c2")]
    assert first == [NEVER, step]


# ---- Time ------------------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("config", [Config(), PRIVATE])
def test_what_is_missing_when_the_clock_stands_back_is_not_held_against_anybody(config: Config) -> None:
    on = stage(mute(unseen(config)))
    alice = repairing(on)
    on.advance(1)
    alice.tick()
    on.advance(-1)
    gap(on, alice)
    on.advance(T_MAX_MS + SECOND_MS)
    alice.send()
    side = side_of(on)
    assert list(side.owed(only(side))) == []
    assert side.offset(only(side)) is None


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


# ---- Who has to ask --------------------------------------------------------------------------------------------------


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
    assert [side.asks(sent, "lost-0") for sent in side.carriers] == [False, True, True]


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


def test_messages_of_one_kind_alone_prove_nothing() -> None:
    on = stage(mute(unseen()))
    alice = repairing(on)
    gap(on, alice)
    on.advance(T_MAX_MS)
    alice.send()
    side = side_of(on)
    assert owed(on) == [(3, False)]
    assert side.both_kinds(list(side.owed(only(side)))) is None
    assert side.both_kinds([]) is None


def test_who_sends_no_sync_messages_is_known_by_content() -> None:
    on = stage(mute(reference(without=[*BLIND, pb.CAPABILITY_SYNC, pb.CAPABILITY_PERIODIC_SYNC])))
    alice = repairing(on)
    gap(on, alice)
    on.advance(T_MAX_MS)
    alice.send()
    side = side_of(on)
    assert side.both_kinds(list(side.owed(only(side)))) is side.carriers[-1]


def test_what_was_not_in_the_buffer_has_another_reason_not_to_be_asked_for() -> None:
    def hides(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("state"):
            reply.state.outgoing_repairs.ClearField("entries")

    on = stage(mute(altered(hides)))
    alice = repairing(on)
    gap(on, alice)
    on.advance(T_MAX_MS)
    alice.observe()
    alice.send()
    side = side_of(on)
    assert side.shown
    assert side.untracked(only(side), side.carriers[-1])
    assert owed(on) == []


@pytest.mark.parametrize("told", [True, False])
def test_a_request_that_is_full_excuses_what_is_not_in_it(told: bool) -> None:
    def says_no_cap(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("opened") and not told:
            reply.opened.configuration.ClearField("max_repair_requests")

    repair = RepairConfig(max_requests=2, after_request=AfterRequest.NEVER_AGAIN)
    on = stage(altered(says_no_cap, unseen(Config(repair=repair))))
    alice = repairing(on)
    gap(on, alice, 3)
    on.advance(T_MAX_MS)
    alice.send()
    alice.send_sync()
    alice.send_sync()
    side = side_of(on)
    assert [len(sent.message.repair_request) for sent in side.carriers] == [2, 1, 0]
    assert [side.full(sent) for sent in side.carriers] == [True, False, False]
    verdicts = {m.message_id: [asks for _, asks in side.owed(m)] for m in side.owing}
    assert sorted(verdicts.values()) == [[True], [True], [True]]
    last = next(m for m in side.owing if not side.asks(side.carriers[0], m.message_id))
    assert [sent for sent, _ in side.owed(last)] == [side.carriers[1]]


def test_who_never_asks_for_anything_is_never_full() -> None:
    def says_no_cap(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("opened"):
            reply.opened.configuration.ClearField("max_repair_requests")

    on = stage(altered(says_no_cap, mute(unseen())))
    alice = repairing(on)
    alice.send()
    side = side_of(on)
    assert side.full(side.carriers[0]) is False
    assert side.kinds == set()


@pytest.mark.parametrize(("late", "expected"), [(0, True), (SECOND_MS, True), (SECOND_MS + 1, False)])
def test_a_request_is_in_time_until_a_second_after_t_max(late: int, expected: bool) -> None:
    on = stage(unseen(PRIVATE))
    alice = repairing(on)
    gap(on, alice)
    on.advance(T_MAX_MS + late)
    alice.send()
    side = side_of(on)
    assert (side.in_time(only(side)) is side.carriers[0]) is expected


# ---- Many ------------------------------------------------------------------------------------------------------------


def test_all_that_use_sds_r_are_looked_at_together_and_once() -> None:
    on = stage()
    for name in ("alice", "carol"):
        repairing(on, name)
    on.open("dave", configuration=pb.Configuration(sds_r=False))
    views = [view(on, name) for name in ("dave", "alice", "carol")]
    for one in views:
        one.everybody = views
    assert [len(together(one)) for one in views] == [0, 2, 0]
    assert together(views[1]) == [requester(views[1]), requester(views[2])]
