"""What must, may or must not come of a request, on small traces: times, copies, repeats, and a clock that goes back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from played import T, altered, reference, stage, view
from repair_traces import BLIND, PRIVATE, ask, holding, only_turn, silent, t_resp, ticks, turns_of
from sds_conformance.protocols.sds.scenarios.repair.live import repairing
from sds_conformance.protocols.sds.scenarios.repair.participants import T_MAX_MS, T_MIN_MS
from sds_conformance.protocols.sds.view.facts import same
from sds_conformance.protocols.sds.view.repair_tracker import NEVER
from sds_conformance.protocols.sds.view.responder import (
    MESSAGES,
    SWEEP_MS,
    answers_at_all,
    bracket,
    delay,
    free_ticks,
    one_message,
    position,
    refused_for_good,
    shown_t_resp,
    shows,
    undisputed,
)
from sds_conformance.protocols.sds.view.windows import Window
from sds_harness.sds.peer import signed
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config, HistoryEntry, Message, RepairConfig

# ---- From the request to the answer ----------------------------------------------------------------------------------


def test_a_request_is_due_by_what_was_shown_by_the_hash_or_by_its_bounds() -> None:
    exactly = Window(T + t_resp("held-0"), T + t_resp("held-0"))
    for handle, expected, shown in (
        (reference(), exactly, True),
        (reference(without=BLIND), exactly, False),
        (reference(PRIVATE, without=BLIND), Window(T, T + T_MAX_MS), False),
    ):
        on = stage(handle)
        alice = repairing(on)
        ask(on, alice, *holding(on, alice))
        alice.observe()
        turn = only_turn(on)
        assert (turn.window, turn.shown, turn.exact) == (expected, shown, expected.exact)
        assert (turn.due, turn.clear, turn.crowd) == (True, True, 1)
        assert shows(view(on)) is shown


def test_what_is_shown_wins_over_the_hash_unless_a_further_request_came_between() -> None:
    def shows_another_time(request: pb.Request, reply: pb.Reply) -> None:
        for entry in reply.state.incoming_repairs.entries if reply.HasField("state") else ():
            entry.due_ms += 777

    on = stage(altered(shows_another_time))
    alice = repairing(on)
    messages = holding(on, alice, 2)
    ask(on, alice, *messages)
    alice.observe()
    ask(on, alice, messages[0], by="dave")
    alice.observe()
    assert [turn.window for turn in turns_of(on)] == [
        Window(T + t_resp(message.message_id) + 777, T + t_resp(message.message_id) + 777) for message in messages
    ]
    seen = view(on)
    assert [due for _, due in shown_t_resp(seen, seen.repair.asked[0])] == [T + t_resp("held-0") + 777] * 2
    late = stage(altered(shows_another_time))
    alice = repairing(late)
    (message,) = holding(late, alice)
    ask(late, alice, message)
    ask(late, alice, message, by="dave")
    alice.observe()
    assert only_turn(late).window == Window(T + t_resp("held-0"), T + t_resp("held-0"))


def test_an_answer_on_the_sweep_after_its_time_is_in_time() -> None:
    on = stage()
    alice = repairing(on)
    ask(on, alice, *holding(on, alice))
    alice.observe()
    early, answering, *_ = ticks(on, alice, t_resp("held-0") - 1, 1, 1_000)
    turn = only_turn(on)
    assert early.broadcasts == []
    assert (turn.answer, turn.overdue, turn.in_time, turn.never, turn.sure) == (answering, None, True, False, True)


def test_who_never_answers_is_late_after_two_ticks_and_a_minute() -> None:
    on = stage(silent())
    alice = repairing(on)
    ask(on, alice, *holding(on, alice))
    due = t_resp("held-0")
    *_, last = ticks(on, alice, due - 1, 1, SWEEP_MS - 1, 1)
    turn = only_turn(on)
    assert turn.overdue is last
    assert (turn.answer, turn.never, turn.in_time, turn.gone) == (None, True, False, None)
    _, gone = ticks(on, alice, T_MAX_MS, 0)
    assert only_turn(on).gone is gone
    assert not answers_at_all(view(on), others=False)


def test_a_tick_that_sent_as_much_as_any_could_send_no_more() -> None:
    """Who answers one request a tick is slow, and not late."""

    def one_a_tick(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("tick"):
            waiting.extend(reply.effects.broadcasts)
            reply.effects.broadcasts[:] = waiting[:1]
            del waiting[:1]

    waiting: list[bytes] = []
    on = stage(altered(one_a_tick))
    alice = repairing(on)
    ask(on, alice, *holding(on, alice, 5))
    busy = ticks(on, alice, *[T_MAX_MS] * 5)
    idle = ticks(on, alice, SWEEP_MS)
    assert free_ticks(view(on)) == {tick.index for tick in idle}
    assert [turn.overdue for turn in turns_of(on)] == [None] * 5
    assert sorted(t.answer.index for t in turns_of(on) if t.answer) == [tick.index for tick in busy]


def test_a_copy_ends_a_request() -> None:
    on = stage()
    alice = repairing(on)
    (message,) = holding(on, alice)
    ask(on, alice, message)
    copy = alice.receive(replace(message, causal_history=(), repair_request=(HistoryEntry("x"),)))
    ticks(on, alice, T_MAX_MS, SWEEP_MS, SWEEP_MS)
    turn = only_turn(on)
    assert turn.copy is not None
    assert (turn.copy.step, turn.end) == (copy, copy.index)
    assert (turn.overdue, turn.gone, turn.answer) == (None, None, None)


@pytest.mark.parametrize("change", [{"content": b"other"}, {"lamport_timestamp": T + 99}, {"sender_id": "zoe"}])
def test_another_message_of_its_id_leaves_nothing_to_hold_anybody_to(change: dict[str, object]) -> None:
    on = stage()
    alice = repairing(on)
    (message,) = holding(on, alice)
    ask(on, alice, message)
    other = replace(message, **change)  # type: ignore[arg-type]
    step = alice.receive(other)
    turn = only_turn(on)
    assert (turn.copy, turn.end) == (None, step.index)
    assert not same(message, other)
    assert not one_message(view(on), message)


def test_what_may_change_in_a_copy_does_not_make_it_another() -> None:
    message = Message("bob", "m", "c1", T, signed(Message("bob", "root", "c1")), None, (), b"x")
    fresh = (HistoryEntry("root", b"hint"),)
    assert same(message, replace(message, causal_history=fresh, bloom_filter=b"f", repair_request=fresh))
    assert not same(message, replace(message, causal_history=()))
    assert same(replace(message, content=None), replace(message, content=b""))


# ---- Requests that count ---------------------------------------------------------------------------------------------


def test_only_what_nobody_may_ignore_is_a_turn() -> None:
    on = stage()
    alice, carol = repairing(on), on.peer("carol")
    (message,) = holding(on, alice)
    unsigned, wrong = HistoryEntry(message.message_id), HistoryEntry(message.message_id, None, "zoe")
    alice.receive(
        replace(carol.ephemeral(b"x"), repair_request=signed(message)),
        carol.sync(T, requests=[unsigned]),
        carol.sync(T, requests=[wrong]),
        carol.sync(T, requests=[*signed(message), wrong]),
        carol.sync(T, message_id=message.message_id, requests=signed(message)),
        carol.sync(T, requests=[*signed(message), *(f"unknown-{number}" for number in range(200))]),
    )
    assert turns_of(on) == []
    step = ask(on, alice, message)
    turn = only_turn(on)
    assert (turn.since, turn.clear) == (step, False)
    assert turn.window == Window(T, T + T_MAX_MS)
    assert not undisputed(turn.asked)


def test_what_was_never_held_is_no_turn_and_what_waited_is_not_due() -> None:
    on = stage()
    alice, bob = repairing(on), on.peer("bob")
    waiting = bob.content(T, "never-sent")
    alice.receive(waiting)
    ask(on, alice, waiting, bob.content(T, message_id="never-here"))
    turn = only_turn(on)
    assert (turn.message_id, turn.due, turn.asked.buffered) == (waiting.message_id, False, True)


def test_without_sds_r_there_are_no_turns() -> None:
    on = stage()
    alice = on.open()
    ask(on, alice, *holding(on, alice))
    assert turns_of(on) == []


def test_a_request_soon_after_the_answer_may_be_ignored() -> None:
    on = stage()
    alice = repairing(on)
    (message,) = holding(on, alice)
    ask(on, alice, message)
    (answered,) = ticks(on, alice, T_MAX_MS)
    on.advance(T_MIN_MS - 1)
    soon = ask(on, alice, message)
    on.advance(1)
    later = ask(on, alice, message, by="dave")
    first, second = turns_of(on)
    assert (first.answer, first.next_request) == (answered, soon.index)
    # Its time may have been fixed by the request that may be ignored.
    assert (second.since, second.clear, second.next_request) == (later, False, NEVER)


def test_a_request_long_after_the_answer_is_as_good_as_the_first() -> None:
    on = stage()
    alice = repairing(on)
    (message,) = holding(on, alice)
    ask(on, alice, message)
    ticks(on, alice, T_MAX_MS, T_MIN_MS)
    again = ask(on, alice, message)
    alice.observe()
    second = turns_of(on)[1]
    assert (second.since, second.clear, second.shown) == (again, True, True)
    assert delay(view(on), second) == Window(t_resp("held-0"), t_resp("held-0"))


def test_repeats_belong_to_the_request_that_they_repeat() -> None:
    on = stage(silent())
    alice = repairing(on)
    (message,) = holding(on, alice)
    first = ask(on, alice, message)
    again = ask(on, alice, message, by="dave")
    ticks(on, alice, T_MAX_MS, SWEEP_MS, SWEEP_MS)
    anew = ask(on, alice, message, by="erin")
    one, two = turns_of(on)
    assert ([r.step for r in one.repeats], one.since, one.end) == ([again], first, anew.index)
    assert (two.since, two.clear, two.repeats) == (anew, False, [])
    assert delay(view(on), one) is None


def test_requests_that_are_pending_at_once_are_counted() -> None:
    on = stage(silent())
    alice = repairing(on)
    messages = holding(on, alice, 4)
    ask(on, alice, *messages[:3])
    alice.receive(messages[0])
    ask(on, alice, messages[3])
    assert [(turn.message_id, turn.crowd) for turn in turns_of(on)] == [
        ("held-0", 3),
        ("held-1", 3),
        ("held-2", 3),
        ("held-3", 3),
    ]
    assert [position(turn) for turn in turns_of(on)] == [0, 1, 2, 0]


# ---- The clock -------------------------------------------------------------------------------------------------------


def test_a_clock_that_goes_back_ends_what_can_be_said() -> None:
    on = stage(silent())
    alice = repairing(on)
    ask(on, alice, *holding(on, alice))
    (back,) = ticks(on, alice, -1)
    ticks(on, alice, T_MAX_MS, SWEEP_MS, SWEEP_MS)
    turn = only_turn(on)
    assert (turn.end, turn.overdue, turn.gone, turn.never) == (back.index, None, None, False)


def test_a_request_at_a_time_that_was_over_before_fixes_nothing() -> None:
    on = stage()
    alice = repairing(on)
    messages = holding(on, alice)
    ticks(on, alice, 1_000, -1)
    request = ask(on, alice, *messages)
    ticks(on, alice, T_MAX_MS, SWEEP_MS)
    turn = only_turn(on)
    assert (turn.end, turn.answer, turn.overdue) == (request.index, None, None)
    assert delay(view(on), turn) is None


# ---- Unseen ----------------------------------------------------------------------------------------------------------


def test_unseen_a_delay_lies_between_the_sweeps() -> None:
    on = stage(reference(PRIVATE, without=BLIND))
    alice = repairing(on)
    ask(on, alice, *holding(on, alice))
    steps = ticks(on, alice, *[10_000] * 13)
    turn = only_turn(on)
    assert turn.answer in steps
    assert turn.answer is not None
    waited = turn.answer.now_ms - T
    found = bracket(view(on), turn)
    assert found is not None
    # The tick before may have been between two sweeps, which are a minute apart at most.
    assert found == Window(max(0, waited - 10_000 - SWEEP_MS), waited)
    assert delay(view(on), turn) == found


def test_what_was_answered_on_the_first_tick_may_have_been_due_at_once() -> None:
    on = stage(reference(without=BLIND))
    alice = repairing(on)
    ask(on, alice, *holding(on, alice))
    ticks(on, alice, T_MAX_MS)
    assert bracket(view(on), only_turn(on)) == Window(0, T_MAX_MS)


# ---- Own messages ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("acknowledged", [True, False])
@pytest.mark.parametrize("period", [T_MIN_MS, 10 * T_MAX_MS])
def test_a_copy_of_an_own_message_is_an_answer_for_sure_if_it_can_be_no_resend(acknowledged: bool, period: int) -> None:
    on = stage()
    alice = repairing(on, configuration=pb.Configuration(resend_unacknowledged_ms=period))
    own = alice.send()
    if acknowledged:
        alice.receive(on.peer("bob").content(T, *signed(own)))
    on.advance(T_MIN_MS)
    ask(on, alice, own)
    (answered,) = ticks(on, alice, 1_000)
    turn = only_turn(on)
    assert (turn.answer, turn.window, turn.asked.own) == (answered, Window(T + T_MIN_MS, T + T_MIN_MS), True)
    assert turn.sure is (acknowledged or period > 2 * T_MIN_MS)
    assert bracket(view(on), turn) is None
    assert answers_at_all(view(on), others=True) is False
    assert answers_at_all(view(on), others=False) is turn.sure


# ---- Groups ----------------------------------------------------------------------------------------------------------


def test_who_is_not_in_the_group_of_a_message_is_not_due_to_answer() -> None:
    on = stage(reference(Config(repair=RepairConfig(num_response_groups=2))))
    alice = repairing(on, configuration=pb.Configuration(num_response_groups=2))
    messages = holding(on, alice, 12)
    ask(on, alice, *messages)
    ticks(on, alice, T_MAX_MS, SWEEP_MS)
    answered = {turn.message_id: turn.answer is not None for turn in turns_of(on)}
    assert {turn.message_id: turn.eligible for turn in turns_of(on)} == answered
    assert set(answered.values()) == {True, False}


def asked_thrice(refused: tuple[str, ...], count: int = MESSAGES) -> frozenset[str]:
    """What is refused for good in the eyes of the suite, where these are never answered for."""
    on = stage(silent(*refused) if refused else reference())
    alice = repairing(on)
    messages = holding(on, alice, count)
    for name in ("carol", "dave", "erin"):
        ask(on, alice, *messages, by=name)
        ticks(on, alice, T_MAX_MS, SWEEP_MS, SWEEP_MS, T_MIN_MS)
    return refused_for_good(view(on))


def test_what_is_refused_again_and_again_is_told_from_chance() -> None:
    half = tuple(f"held-{number}" for number in range(6))
    assert asked_thrice(half) == set(half)
    assert asked_thrice(half[:2]) == frozenset()
    assert asked_thrice(half, count=MESSAGES - 1) == frozenset()
    assert asked_thrice(()) == frozenset()
