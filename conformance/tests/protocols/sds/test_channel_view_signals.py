"""Filters of every profile and length as acknowledgements, and dependencies in rings."""

from __future__ import annotations

import pytest

from run_helpers import T, reference, stage, view
from sds_conformance.protocols.sds.view.dependencies import depends, waiting_dependencies
from sds_reference import PROFILES, BloomProfile, Config


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
