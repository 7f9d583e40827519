"""Messages that may be rejected, and filters that only the codec of the implementation can read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from run_helpers import T, altered, stage, view
from sds_conformance.protocols.sds.view.refusals import offered
from sds_proto.testee.v1 import testee_pb2 as pb


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
