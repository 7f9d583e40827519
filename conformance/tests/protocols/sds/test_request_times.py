"""When a request is due, on small traces: T_req as shown, by the declared hash, or between two messages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from played import T, altered, reference, stage
from repair_traces import BLIND, PRIVATE, backoff, gap, only, side_of, unseen
from sds_conformance.protocols.sds.scenarios.repair.live import repairing
from sds_conformance.protocols.sds.scenarios.repair.participants import T_MAX_MS, T_MIN_MS
from sds_conformance.protocols.sds.view.repair_terms import SECOND_MS
from sds_conformance.protocols.sds.view.repair_tracker import NEVER
from sds_conformance.protocols.sds.view.windows import Window
from sds_harness.sds.peer import signed
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config, HistoryEntry, decode, encode
from sds_reference.variants import VARIANTS

# ---- When it is due --------------------------------------------------------------------------------------------------


def test_t_req_is_what_was_shown_before_anything_came_of_it() -> None:
    on = stage(reference(PRIVATE))
    alice = repairing(on)
    (lost,) = gap(on, alice)
    state = alice.observe()
    assert state is not None
    (entry,) = state.outgoing_repairs.entries
    alice.receive(on.peer("carol").sync(T, requests=signed(lost)))
    alice.observe()
    side = side_of(on)
    assert side.due(only(side)) == Window(entry.due_ms, entry.due_ms)
    offset = entry.due_ms - T
    assert side.offset(only(side)) == Window(offset, offset)


def test_what_is_shown_only_after_somebody_else_has_asked_is_no_knowledge() -> None:
    on = stage(reference(PRIVATE))
    alice = repairing(on)
    (lost,) = gap(on, alice)
    alice.receive(on.peer("carol").sync(T, requests=signed(lost)))
    alice.observe()
    side = side_of(on)
    assert side.shown_due(only(side)) is None
    assert side.due(only(side)) == Window(T + T_MIN_MS, T + T_MAX_MS)


def test_unseen_it_is_due_by_the_declared_hash_or_within_its_bounds() -> None:
    for config, expected in (
        (Config(), Window(T + backoff("lost-0"), T + backoff("lost-0"))),
        (PRIVATE, Window(T + T_MIN_MS, T + T_MAX_MS)),
    ):
        on = stage(unseen(config))
        alice = repairing(on)
        gap(on, alice)
        side = side_of(on)
        assert side.due(only(side)) == expected


def test_a_hash_that_is_belied_by_what_is_seen_is_no_knowledge() -> None:
    def pretends(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("hello"):
            reply.hello.profiles.hash = "sha256-be64"

    on = stage(altered(pretends, unseen(PRIVATE)))
    alice = repairing(on)
    gap(on, alice, 3)
    for _ in range(37):
        on.advance(T_MAX_MS // 36)
        alice.send_sync()
    side = side_of(on)
    assert side.terms.on
    assert side.terms.profile is not None
    for missing in side.wanted:
        assert side.due(missing) == Window(T + T_MIN_MS, T + T_MAX_MS)


@pytest.mark.parametrize("off", [-SECOND_MS - 1, -SECOND_MS, 0, SECOND_MS, SECOND_MS + 1])
def test_a_hash_is_belied_by_more_than_a_second(off: int) -> None:
    def shows_the_first_only(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("state"):
            entries = {entry.message_id: entry for entry in reply.state.outgoing_repairs.entries}
            del reply.state.outgoing_repairs.entries[:]
            first = reply.state.outgoing_repairs.entries.add()
            first.CopyFrom(entries["lost-0"])
            first.due_ms += off

    on = stage(altered(shows_the_first_only))
    alice = repairing(on)
    gap(on, alice, 2)
    alice.observe()
    side = side_of(on)
    second = side.due(side.wanted[1])
    assert second is not None
    assert second.exact is (abs(off) <= SECOND_MS)


@pytest.mark.parametrize(("early", "expected"), [(SECOND_MS + 1, False), (SECOND_MS, True), (0, True)])
def test_a_hash_is_belied_by_a_request_that_comes_too_early(early: int, expected: bool) -> None:
    """Nothing else tells T_req: the message before was full of other requests."""
    due = backoff("lost-0") - early

    def asks_for_others_first(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("send"):
            asked = ["x", "y", "z"] if request.send.now_ms < T + due else ["lost-0"]
            entries = tuple(HistoryEntry(message_id, None, "bob") for message_id in asked)
            reply.effects.broadcasts[0] = encode(replace(decode(reply.effects.broadcasts[0]), repair_request=entries))

    on = stage(altered(asks_for_others_first, unseen()))
    alice = repairing(on)
    gap(on, alice, 2)
    for wait in (1, due - 1):
        on.advance(wait)
        alice.send()
    side = side_of(on)
    assert [missing.message_id for missing in side.wanted] == ["lost-0", "lost-1"]
    assert side.offset(side.wanted[0]) is None
    other = side.due(side.wanted[1])
    assert other is not None
    assert other.exact is expected


def test_without_a_room_for_a_backoff_nothing_is_due() -> None:
    def leaves_no_room(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("opened"):
            reply.opened.configuration.t_max_ms = reply.opened.configuration.t_min_ms

    on = stage(altered(leaves_no_room, unseen()))
    alice = repairing(on)
    gap(on, alice)
    on.advance(T_MAX_MS + SECOND_MS)
    alice.send()
    side = side_of(on)
    assert side.due(only(side)) is None
    assert list(side.owed(only(side))) == []


# ---- What tells T_req ------------------------------------------------------------------------------------------------


def test_unseen_t_req_lies_between_the_last_that_does_not_ask_and_the_first_that_does() -> None:
    on = stage(unseen())
    alice = repairing(on)
    gap(on, alice)
    due = T + backoff("lost-0")
    for until, content in ((due - 5_000, False), (due - 3_000, True), (due + 2_000, False)):
        on.advance(until - on.now_ms)
        if content:
            alice.send()
        else:
            alice.send_sync()
    side = side_of(on)
    # A message of another kind, which may never ask, says nothing.
    assert side.offset(only(side)) == Window(due - 5_000 - T + 1, due + 2_000 - T)


def test_nothing_tells_t_req_of_what_is_never_asked_for_or_came_first() -> None:
    on = stage(unseen())
    alice = repairing(on)
    (lost,) = gap(on, alice)
    on.advance(T_MIN_MS // 2)
    alice.send()
    alice.receive(lost)
    on.advance(T_MAX_MS)
    alice.send()
    side = side_of(on)
    assert side.offset(only(side)) is None
    assert side.in_time(only(side)) is None


@pytest.mark.parametrize("heard", [True, False])
@pytest.mark.parametrize("shows", [True, False])
def test_after_t_max_an_entry_may_have_been_dropped_and_made_anew_by_what_is_heard(shows: bool, heard: bool) -> None:
    on = stage(reference(without=() if shows else BLIND))
    alice = repairing(on)
    gap(on, alice)
    on.advance(T_MAX_MS - 1)
    alice.receive(on.peer("carol").content(T))
    on.advance(1)
    if heard:
        alice.receive(on.peer("carol").ephemeral(b"typing"))
    alice.observe()
    alice.send()
    side = side_of(on)
    late = only(side).detected.step.index + 2
    assert side.renewed(only(side)) == (late if heard else NEVER)
    assert (side.shown_due(only(side)) is None) is (heard or not shows)
    assert (side.offset(only(side)) is None) is heard
    # That it had to be asked for by then is known all the same.
    assert [asks for _, asks in side.owed(only(side))] == [True]


def test_an_answer_that_goes_out_with_its_old_requests_is_no_request() -> None:
    """The tick that answers broadcasts a sync message as well, which does not ask."""
    on = stage(unseen(VARIANTS["copies-keep-requests"].configure(Config())))
    alice = repairing(on, configuration=pb.Configuration(sync_interval_ms=T_MIN_MS))
    bob, carol = on.peer("bob"), on.peer("carol")
    wanting = carol.content(T, requests=[HistoryEntry("lost", None, "bob")])
    alice.receive(wanting, carol.sync(T, requests=signed(wanting)))
    on.advance(T_MAX_MS)
    alice.receive(bob.content(T, HistoryEntry("lost", None, "bob")))
    tick = alice.tick()
    side = side_of(on)
    assert [wire.message.kind.value for wire in tick.broadcasts if wire.message] == ["content", "sync"]
    assert side.first_asked("lost") == tick.index
    assert side.offset(only(side)) is None
    assert side.due(only(side)) == Window(tick.now_ms + backoff("lost"), tick.now_ms + backoff("lost"))
