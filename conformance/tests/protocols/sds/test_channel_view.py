"""Traces written by hand, and the facts that follow from them: messages, dependencies, the log, and what is odd."""

from __future__ import annotations

from dataclasses import replace

import pytest

from played import Handle, T, altered, reference, stage, view
from sds_conformance.protocols.sds.view.channel_view import ChannelView, channel_views
from sds_conformance.protocols.sds.view.facts import Received
from sds_conformance.protocols.sds.view.refusals import offered
from sds_harness.sds.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config, encode


def ids(received: list[Received]) -> list[str]:
    return [r.message.message_id for r in received]


def log_before(played: ChannelView, number: int) -> list[str]:
    """The end of the expected log before the own message of that number."""
    return [item.message_id for item in played.sent[number].tail]


def test_own_messages_are_content_sync_and_ephemeral_by_the_command_that_sent_them() -> None:
    on = stage()
    alice = on.open()
    content, sync, ephemeral = alice.send(), alice.send_sync(), alice.send_ephemeral()
    seen = view(on)
    assert [s.message for s in seen.sent] == [content]
    assert [s.message for s in seen.syncs] == [sync]
    assert [s.message for s in seen.ephemerals] == [ephemeral]
    assert [s.message for s in seen.outgoing] == [content, sync]
    assert seen.own(content.message_id) is seen.sent[0]
    assert seen.own(ephemeral.message_id) is None
    assert seen.strays == []


def test_the_tail_of_the_log_before_a_message_is_in_order_of_timestamps_not_of_arrival() -> None:
    on = stage()
    alice, bob = on.open(), on.peer("bob")
    alice.receive(bob.content(T + 30), bob.content(T + 10), bob.content(T + 20))
    alice.send()
    alice.receive(bob.content(T + 15))
    alice.send()
    seen = view(on)
    first = seen.sent[0].message.message_id
    assert log_before(seen, 0) == ["bob-2", "bob-3", "bob-1"]
    assert log_before(seen, 1) == ["bob-2", "bob-4", "bob-3", "bob-1", first]
    assert [(item.own, item.arrival) for item in seen.sent[1].tail] == [
        (False, 1),
        (False, 4),
        (False, 2),
        (False, 0),
        (True, 3),
    ]
    assert [s.log_size for s in seen.sent] == [3, 5]


def test_equal_timestamps_are_ordered_by_the_bytes_of_the_id() -> None:
    on = stage()
    alice, carol = on.open(), on.peer("carol")
    for message_id in ("\U0001f600", "\ue000", "b", "B", "é"):
        alice.receive(carol.content(T + 5, message_id=message_id))
    alice.send()
    assert log_before(view(on), 0) == ["B", "b", "é", "\ue000", "\U0001f600"]


def test_the_tail_is_long_enough_for_the_causal_history_that_was_asked_for() -> None:
    on = stage()
    alice, bob = on.open(configuration=pb.Configuration(causal_history_size=40)), on.peer("bob")
    alice.receive(*[bob.content(T + number) for number in range(60)])
    alice.send()
    sent = view(on).sent[0]
    assert len(sent.history) == 40
    assert [item.message_id for item in sent.tail][-40:] == list(sent.history)
    assert view(on).history_size == 40


def test_where_no_size_is_in_force_the_longest_history_seen_is_the_size() -> None:
    def says_nothing(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("opened"):
            reply.opened.configuration.ClearField("causal_history_size")

    on = stage(altered(says_nothing, reference(Config(causal_history_size=3))))
    alice = on.open()
    assert view(on).history_size is None
    for _ in range(5):
        alice.send()
    assert view(on).history_size == 3


def test_a_dependency_is_unmet_until_it_is_in_the_log_and_buffered_while_it_waits_there() -> None:
    on = stage()
    alice, bob = on.open(), on.peer("bob")
    first = bob.content(T + 1)
    second = bob.content(T + 2, first)
    third = bob.content(T + 3, second, "never-sent")
    alice.receive(second, third, first)
    seen = view(on)
    assert ids(seen.received) == ["bob-2", "bob-3", "bob-1"]
    assert [r.unmet for r in seen.received] == [{"bob-1"}, {"bob-2", "never-sent"}, set()]
    assert [r.unmet_buffered for r in seen.received] == [set(), {"bob-2"}, set()]
    assert seen.logged_ids == {"bob-1", "bob-2"}


def test_a_delivery_belongs_to_the_arrival_that_waited() -> None:
    on = stage(reference(Config(cascade_on_receive=False)))
    alice, bob = on.open(), on.peer("bob")
    first = bob.content(T + 1)
    second = bob.content(T + 2, first)
    alice.receive(second, second, first)
    alice.tick()
    seen = view(on)
    waited, copy, _ = seen.received
    assert [d.message_id for d in seen.delivered] == ["bob-1", "bob-2"]
    assert seen.delivered[1].received is waited
    assert waited.delivered == [seen.delivered[1]]
    assert not waited.delivered_at_once
    assert (waited.duplicate, copy.duplicate, copy.delivered) == (False, True, [])


def test_a_message_is_a_duplicate_if_it_is_logged_or_waits_but_not_if_it_was_only_a_sync_message() -> None:
    on = stage()
    alice, bob = on.open(), on.peer("bob")
    logged, waiting = bob.content(T + 1), bob.content(T + 2, "never-sent")
    sync = bob.sync(T + 3, message_id="once-a-sync")
    alice.receive(logged, waiting, logged, waiting, sync, sync, bob.content(T + 4, message_id="once-a-sync"))
    assert [r.duplicate for r in view(on).received] == [False, False, True, True, False, False, False]


def test_what_is_delivered_again_says_so() -> None:
    def twice(request: pb.Request, reply: pb.Reply) -> None:
        if reply.effects.events:
            reply.effects.events.append(reply.effects.events[0])

    on = stage(altered(twice))
    alice = on.open()
    alice.receive(on.peer("bob").content(T + 1))
    seen = view(on)
    assert [d.again for d in seen.delivered] == [False, True]
    assert [item.message_id for item in seen._log] == ["bob-1"]


def test_a_delivery_of_what_never_arrived_belongs_to_nothing_and_is_not_logged() -> None:
    def invents(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("tick"):
            reply.effects.events.add(channel_id="c1").delivered.message_id = "made-up"

    on = stage(altered(invents))
    on.open().tick()
    seen = view(on)
    assert [(d.message_id, d.received) for d in seen.delivered] == [("made-up", None)]
    assert seen.logged_ids == set()


def test_messages_reflected_to_their_sender_are_its_own() -> None:
    on = stage()
    alice = on.open()
    sent = alice.send()
    alice.receive(sent)
    (received,) = view(on).received
    assert received.own
    assert not received.acceptable


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"lamport_timestamp": 2**53 + 11}, "a Lamport timestamp beyond 2^53+10"),
        ({"content": bytes(100 * 1024 + 1)}, "content beyond the size that every implementation must take"),
        ({"message_id": ""}, "an empty ID"),
        ({"sender_id": ""}, "no sender ID"),
        ({"message_id": "x" * 1025}, "a message ID of more than 1,024 characters"),
    ],
)
def test_what_no_implementation_has_to_take_is_odd(change: dict[str, object], why: str) -> None:
    on = stage()
    alice, bob = on.open(), on.peer("bob")
    alice.receive(replace(bob.content(T + 1), **change))  # type: ignore[arg-type]
    (received,) = offered(view(on))
    assert received.odd.startswith(why)
    assert not received.acceptable


def test_odd_lists_are_those_that_are_too_long_or_name_nothing_or_themselves() -> None:
    on = stage()
    alice, bob = on.open(), on.peer("bob")
    alice.receive(
        bob.content(T + 1, *[f"m{number}" for number in range(201)]),
        bob.content(T + 2, ""),
        bob.content(T + 3, "itself", message_id="itself"),
        bob.content(T + 4, *[f"m{number}" for number in range(200)]),
        bob.content(T + 5, requests=[f"m{number}" for number in range(201)]),
        bob.content(T + 6, requests=[f"m{number}" for number in range(200)]),
    )
    assert [r.odd for r in view(on).received] == [
        "a causal history of more than 200 entries (AMB-47)",
        "an empty ID (AMB-46, AMB-51)",
        "a dependency on itself (AMB-44)",
        "",
        "a repair request of more than 200 entries (AMB-47)",
        "",
    ]


def test_the_declared_bounds_decide_what_is_odd() -> None:
    def bounded(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("hello"):
            reply.hello.limits.lamport_ahead_ms = 1_000
            reply.hello.limits.content_bytes = 2_000
        elif any(len(event.delivered.content) > 2_000 for event in reply.effects.events):
            reply.effects.Clear()

    on = stage(altered(bounded))
    alice, bob = on.open(), on.peer("bob")
    large = (bob.content(T, content=bytes(size)) for size in (2_000, 2_001))
    alice.receive(bob.content(T + 1_000), bob.content(T + 1_001), *large)
    assert [bool(r.odd) for r in view(on).received] == [False, True, False, True]


def test_a_refused_message_is_neither_known_nor_buffered() -> None:
    def refuses(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("receive"):
            reply.rejected.reason = "not today"

    on = stage(altered(refuses))
    alice, bob = on.open(), on.peer("bob")
    message = bob.content(T + 1, "never-sent")
    alice.receive(message, message)
    seen = view(on)
    assert seen.received == []
    assert [(r.rejected, r.duplicate) for r in seen.refused] == [(True, False), (True, False)]
    assert seen.known_ids == set()


def test_bytes_that_are_no_message_and_messages_of_other_channels_are_not_received() -> None:
    on = stage()
    alice = on.open()
    alice.receive(b"\xff", encode(on.peer("bob", "elsewhere").content(T + 1)))
    assert view(on).received == []


def test_what_the_codec_tells_of_a_filter_is_used_where_the_profile_is_not_known() -> None:
    def nameless(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("hello"):
            reply.hello.profiles.bloom = "of-my-own"

    on = stage(altered(nameless))
    alice, bob = on.open(), on.peer("bob")
    alice.receive(bob.content(T + 1), bob.content(T + 2))
    assert view(on).filter_of(b"another") is None
    sent = alice.send()
    assert sent.bloom_filter is not None
    holds = view(on).filter_of(sent.bloom_filter)
    assert holds is not None
    assert [holds("bob-1"), holds("bob-2"), holds("a-stranger")] == [True, True, None]
    alice.ask_filter(sent.bloom_filter, "a-stranger")
    holds = view(on).filter_of(sent.bloom_filter)
    assert holds is not None
    assert [holds("bob-1"), holds("a-stranger"), holds("another")] == [True, False, None]


def two_participants_in_two_channels(handle: Handle | None = None) -> Stage:
    on = stage(handle)
    alice, bob = on.open("alice", ("c1", "c2")), on.open("bob", ("c2",))
    one = alice.send(channel_id="c1")
    two = alice.send(channel_id="c2")
    bob.receive(two)
    alice.receive(replace(on.peer("dora", "c2").content(T + 9, one, two), message_id="dora-in-c2"))
    return on


def test_every_participant_and_channel_has_a_view_of_its_own() -> None:
    on = two_participants_in_two_channels()
    views = {(v.party.name, v.channel_id): v for v in channel_views(on.trace)}
    assert set(views) == {("alice", "c1"), ("alice", "c2"), ("bob", "c2")}
    assert [len(v.sent) for v in views.values()] == [1, 1, 0]
    assert [ids(v.received) for v in views.values()] == [
        [],
        ["dora-in-c2"],
        [views["alice", "c2"].sent[0].message.message_id],
    ]
    assert views["alice", "c2"].received[0].unmet == {views["alice", "c1"].sent[0].message.message_id}


def test_what_one_channel_says_of_another_acknowledges_nothing_there() -> None:
    on = two_participants_in_two_channels()
    in_c1, in_c2 = view(on, channel="c1"), view(on, channel="c2")
    assert in_c1.mentions == []
    assert [(m.message_id, m.certain) for m in in_c2.mentions] == [(in_c2.sent[0].message.message_id, True)]
