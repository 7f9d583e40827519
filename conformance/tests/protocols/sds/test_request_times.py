"""T_req by a hash that the requests contradict, without a backoff, and after T_max."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repair_traces import BLIND, backoff, gap, only, side_of, unseen
from run_helpers import T, altered, reference, stage
from sds_conformance.protocols.sds.scenarios.repair.live import repairing
from sds_conformance.protocols.sds.scenarios.repair.participants import T_MAX_MS
from sds_conformance.protocols.sds.view.repair_terms import SECOND_MS
from sds_conformance.protocols.sds.view.repair_tracker import NEVER
from sds_conformance.protocols.sds.view.windows import Window
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HistoryEntry, decode, encode


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
    # It is still known that it had to be requested by then.
    assert [asks for _, asks in side.owed(only(side))] == [True]
