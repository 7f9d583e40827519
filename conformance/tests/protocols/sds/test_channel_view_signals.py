"""Traces written by hand, and what follows from them for acknowledgements, copies, hints, syncs and the clock."""

from __future__ import annotations

import pytest

from played import T, altered, reference, stage, view
from sds_conformance.protocols.sds.view.dependencies import depends, waiting_dependencies
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import PROFILES, BloomProfile, Config, HistoryEntry

RESENDS = pb.Configuration(resend_unacknowledged_ms=30_000)


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_filters_of_every_profile_are_read_and_hits_are_counted(profile: BloomProfile) -> None:
    on = stage(reference(Config(bloom_profile=profile)))
    alice, bob = on.open(), on.peer("bob")
    one, two = alice.send(), alice.send()
    with_one, with_neither = on.filter_over(one.message_id), on.filter_over("of-somebody-else")
    alice.receive(
        bob.content(T + 1, bloom_filter=with_one),
        bob.content(T + 2, bloom_filter=with_neither),
        bob.sync(T + 3, bloom_filter=with_one),
    )
    seen = view(on)
    assert [(m.message_id, m.certain, m.hits) for m in seen.mentions] == [
        (one.message_id, False, 1),
        (one.message_id, False, 2),
    ]
    assert [(u.received.message.message_id, u.message_id) for u in seen.unmentioned] == [
        ("bob-1", two.message_id),
        ("bob-2", one.message_id),
        ("bob-2", two.message_id),
        ("sync-bob-3", two.message_id),
    ]
    assert [(a.message_id, a.possibly, a.outstanding) for a in seen.acks] == [(one.message_id, True, True)]


def test_a_causal_history_speaks_for_certain_and_once() -> None:
    on = stage()
    alice, bob = on.open(), on.peer("bob")
    sent = alice.send()
    alice.receive(bob.content(T + 1, sent), bob.content(T + 2, sent), bob.content(T + 3))
    seen = view(on)
    assert [(m.received.message.message_id, m.certain) for m in seen.mentions] == [("bob-1", True)]
    assert seen.unmentioned == []
    assert [(a.message_id, a.possibly, a.step.index) for a in seen.acks] == [(sent.message_id, False, 3)]


def test_a_filter_with_something_behind_it_may_be_read_or_not() -> None:
    on = stage()
    alice, bob = on.open(), on.peer("bob")
    sent = alice.send()
    alice.receive(bob.content(T + 1, bloom_filter=(sent.bloom_filter or b"") + b"?"))
    seen = view(on)
    assert seen.received[0].foreign_filter
    assert not seen.received[0].plain
    assert (seen.mentions, seen.unmentioned) == ([], [])


@pytest.mark.parametrize("bloom_filter", [b"", b"what is this", b"\xff" * 1_000])
def test_a_filter_that_is_too_short_is_skipped_and_speaks_for_nothing(bloom_filter: bytes) -> None:
    on = stage()
    alice, bob = on.open(), on.peer("bob")
    sent = alice.send()
    alice.receive(bob.content(T + 1, bloom_filter=bloom_filter))
    seen = view(on)
    assert seen.received[0].foreign_filter
    assert [u.message_id for u in seen.unmentioned] == [sent.message_id]


def test_a_message_without_a_filter_does_not_speak_for_what_it_does_not_name() -> None:
    on = stage()
    alice, bob = on.open(), on.peer("bob")
    sent = alice.send()
    alice.receive(bob.content(T + 1))
    assert [u.message_id for u in view(on).unmentioned] == [sent.message_id]


def test_duplicates_refusals_and_own_messages_speak_for_nothing() -> None:
    def refuses_carol(request: pb.Request, reply: pb.Reply) -> None:
        if b"carol" in request.receive.wire:
            reply.rejected.reason = "not from her"

    on = stage(altered(refuses_carol))
    alice, bob = on.open(), on.peer("bob")
    known = bob.content(T + 1)
    alice.receive(known)
    sent = alice.send()
    alice.receive(known, on.peer("carol").content(T + 2, sent), sent, bob.ephemeral(b"typing"))
    assert (view(on).mentions, view(on).unmentioned) == ([], [])


def test_an_acknowledgement_of_what_is_not_outstanding_says_so() -> None:
    def acknowledges_anything(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("tick"):
            for message_id in ("a-stranger", own[0]):
                reply.effects.events.add(channel_id="c1").acknowledged.message_id = message_id

    own: list[str] = []
    on = stage(altered(acknowledges_anything))
    alice = on.open()
    own.append(alice.send().message_id)
    alice.tick()
    alice.tick()
    assert [(a.message_id == own[0], a.outstanding) for a in view(on).acks] == [
        (False, False),
        (True, True),
        (False, False),
        (True, False),
    ]


def test_copies_know_the_original_and_when_it_was_last_broadcast() -> None:
    on = stage()
    alice = on.open(configuration=RESENDS)
    sent = alice.send()
    for _ in range(2):
        on.advance(30_000)
        alice.tick()
    seen = view(on)
    assert [(c.message, c.original, c.step.index, c.previous.index) for c in seen.copies] == [
        (sent, seen.sent[0], 3, 2),
        (sent, seen.sent[0], 4, 3),
    ]
    assert seen.strays == []


def test_a_second_use_of_an_id_is_a_repeat_and_enters_the_log_once() -> None:
    same: list[bytes] = []

    def sends_the_same_again(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("send"):
            same.append(reply.effects.broadcasts[0])
            reply.effects.broadcasts[0] = same[0]

    on = stage(altered(sends_the_same_again))
    alice = on.open()
    first = alice.send()
    alice.send()
    seen = view(on)
    assert [s.repeat for s in seen.sent] == [False, True]
    assert seen.logged_ids == {first.message_id}
    assert seen.own(first.message_id) is seen.sent[0]


def test_own_use_of_the_id_of_a_received_message_is_a_repeat() -> None:
    on = stage()
    alice = on.open()
    alice.receive(on.peer("bob").content(T + 1, "never-sent", message_id="taken"))
    alice.send_ephemeral()
    assert view(on).known_ids == {"taken"}
    assert [s.repeat for s in view(on).ephemerals] == [False]


def test_a_broadcast_that_nobody_asked_for_is_a_stray() -> None:
    def talks(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("receive"):
            reply.effects.broadcasts.append(b"\xff\xff")

    on = stage(altered(talks))
    alice = on.open()
    step = alice.receive(on.peer("bob").content(T + 1))
    assert [(s.index, w.raw, w.message) for s, w in view(on).strays] == [(step.index, b"\xff\xff", None)]


def test_an_ephemeral_message_that_goes_out_twice_is_one_message_and_a_stray() -> None:
    def twice(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("send_ephemeral"):
            reply.effects.broadcasts.append(reply.effects.broadcasts[0])

    on = stage(altered(twice))
    sent = on.open().send_ephemeral()
    seen = view(on)
    assert [s.message for s in seen.ephemerals] == [sent]
    assert [w.message for _, w in seen.strays] == [sent]


def test_sync_messages_of_a_tick_are_syncs_and_come_after_the_copies() -> None:
    on = stage()
    alice = on.open(configuration=pb.Configuration(sync_interval_ms=30_000, resend_unacknowledged_ms=30_000))
    alice.send()
    on.advance(30_000)
    alice.tick()
    seen = view(on)
    assert (len(seen.copies), len(seen.syncs), seen.strays) == (1, 1, [])
    assert seen.syncs[0].lamport.rebroadcast


def test_every_hint_that_was_given_is_kept_with_its_message() -> None:
    on = stage()
    alice, bob = on.open(), on.peer("bob")
    known = bob.content(T + 1)
    alice.receive(known, retrieval_hint=b"by the transport")
    alice.receive(bob.content(T + 2, HistoryEntry(known.message_id, b"by bob"), HistoryEntry("unseen", b"u")))
    own = alice.send(retrieval_hint=b"by the application")
    assert view(on).hints == {
        "bob-1": {b"by the transport", b"by bob"},
        "unseen": {b"u"},
        own.message_id: {b"by the application"},
    }


def test_a_message_sent_in_a_step_that_also_delivers_is_not_certain_of_its_log() -> None:
    on = stage(reference(Config(cascade_on_receive=False)))
    alice, bob = on.open(configuration=pb.Configuration(sync_interval_ms=30_000)), on.peer("bob")
    first = bob.content(T + 1)
    alice.receive(bob.content(T + 2, first), first)
    on.advance(30_000)
    alice.tick()
    on.advance(30_000)
    alice.tick()
    assert [s.certain for s in view(on).syncs] == [False, True]


def test_the_clock_is_followed_through_a_conversation() -> None:
    on = stage()
    alice, bob = on.open(), on.peer("bob")
    on.advance(500)
    alice.send()
    alice.receive(bob.content(T + 5_000))
    alice.send()
    alice.receive(bob.content(T + 9_000, "never-sent"), bob.sync(T + 7_000))
    alice.send()
    on.advance(-3_600_000)
    alice.send_ephemeral()
    alice.send()
    first, second, third, fourth = (s.lamport for s in view(on).sent)
    assert (first.source, first.high) == ("open", T + 501)
    assert (second.source, second.low, second.high) == ("delivery", T + 5_001, T + 5_001)
    assert (third.source, third.low, third.buffered_high, third.sync_high) == ("send", T + 5_002, T + 9_001, T + 7_001)
    assert (fourth.low, fourth.clock_stepped_back, fourth.ephemeral) == (T + 5_003, True, True)


def test_the_clock_of_a_channel_that_is_first_used_later_may_have_started_then() -> None:
    on = stage()
    alice = on.open()
    on.advance(-1_000)
    alice.receive(on.peer("bob").content(1))
    alice.send()
    expected = view(on).sent[0].lamport
    assert expected.late_delivery
    assert [expected.tolerates(lamport) for lamport in (T - 1_001, T - 999, T + 1, T + 2)] == [False, True, True, False]


def test_what_is_shown_is_kept_beside_what_is_expected_at_that_moment() -> None:
    on = stage()
    alice, bob = on.open(), on.peer("bob")
    one, two = alice.send(), alice.send()
    alice.receive(bob.content(T + 5, one, "never-sent"), bob.content(T + 9))
    alice.observe()
    (observed,) = view(on).observed
    assert [item.message_id for item in observed.log] == [one.message_id, two.message_id, "bob-2"]
    assert observed.outstanding == {two.message_id: False}
    assert observed.buffered == {"bob-1"}
    assert observed.lamport.low == T + 10
    assert observed.state.lamport_timestamp == T + 9


def test_dependencies_are_followed_through_others_and_in_rings() -> None:
    on = stage()
    alice, bob = on.open(), on.peer("bob")
    alice.receive(
        bob.content(T + 1, "b", message_id="a"),
        bob.content(T + 2, "c", message_id="b"),
        bob.content(T + 3, "a", message_id="c"),
        bob.content(T + 4, "a", message_id="d"),
    )
    seen = view(on)
    assert depends(seen, "d", on="c")
    assert depends(seen, "a", on="c")
    assert not depends(seen, "a", on="d")
    last = seen.received[-1]
    assert [r.message.message_id for r in waiting_dependencies(seen, last)] == ["a"]
