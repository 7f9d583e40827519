"""What many checks ask of a view is worked out once, and kept no longer than the view."""

from __future__ import annotations

import gc
from weakref import ref

from run_helpers import T, stage, view
from sds_conformance.judging.view_cache import once
from sds_conformance.protocols.sds.register import CHECKS
from sds_conformance.protocols.sds.scenarios.repair.live import repairing
from sds_conformance.protocols.sds.scenarios.repair.participants import T_MAX_MS
from sds_conformance.protocols.sds.view.channel_view import ChannelView
from sds_harness.sds.peer import signed
from sds_harness.sds.stage import Stage


def conversation() -> Stage:
    """A participant with SDS-R asks for something and answers for something."""
    on = stage()
    alice, bob = repairing(on), on.peer("bob")
    here, lost = bob.content(T), bob.content(T + 1)
    alice.receive(here, bob.content(T + 2, *signed(lost), requests=signed(here)))
    alice.observe()
    on.advance(T_MAX_MS)
    alice.tick()
    alice.send()
    alice.observe()
    return on


def test_every_view_is_asked_once() -> None:
    asked: list[str] = []

    @once
    def participant(of: ChannelView) -> str:
        """Who it is."""
        asked.append(of.party.name)
        return of.party.name

    on = stage()
    on.open("alice")
    on.open("bob")
    views = [view(on, "alice"), view(on, "bob"), view(on, "alice")]
    assert [participant(one) for one in views + views] == ["alice", "bob", "alice"] * 2
    assert asked == ["alice", "bob", "alice"]
    assert (participant.__name__, participant.__doc__) == ("participant", "Who it is.")


def test_an_answer_that_is_nothing_is_kept_as_well() -> None:
    asked: list[ChannelView] = []

    @once
    def nothing(of: ChannelView) -> None:
        asked.append(of)

    on = stage()
    on.open()
    seen = view(on)
    assert (nothing(seen), nothing(seen), len(asked)) == (None, None, 1)


def test_the_answer_is_the_same_object_each_time() -> None:
    def channel_of(of: ChannelView) -> list[str]:
        return [of.channel_id]

    fresh = once(channel_of)
    on = stage()
    on.open()
    seen = view(on)
    assert fresh(seen) is fresh(seen)
    assert fresh(seen) is not fresh(view(on))


def test_a_view_that_every_check_has_looked_at_is_freed_with_the_last_who_holds_it() -> None:
    """A run has thousands: what is kept of one must not keep it alive."""
    seen = view(conversation())
    observations = sum(1 for checks in CHECKS.values() for check in checks for _ in check.function(seen))
    assert observations > 20
    gone = ref(seen)
    del seen
    gc.collect()
    assert gone() is None
