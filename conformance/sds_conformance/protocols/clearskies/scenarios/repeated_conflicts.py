"""Conflicts about records and keys that were in conflict before, and changes that nobody has received."""

from __future__ import annotations

from itertools import permutations
from typing import Any

from sds_harness.clearskies.script import Part, Peer, Script, ScriptLink

from .coincidences import DAY_MS
from .conflicts import link_with_record, version
from .scripts import HOUR_MS, request_all, scenario, settle_and_observe, subscribe

# ---- Records ---------------------------------------------------------------------------------------------------------


@scenario("54", long=True)
def three_concurrent_versions(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """Three writers changed six records concurrently. For each record, the order of the times is different."""
    link = link_with_record(alice, bob)
    for order in permutations((3, 2, 1)):
        key = "order " + " ".join(map(str, order))
        for hours, writer in zip(order, (bob, carol, dave), strict=True):
            clock = {bob: 1} if writer is bob else {writer: 1}
            link.send(version(writer, key, f"of {writer.name}", clock, time=-hours * HOUR_MS))
            script.settle()
    late = script.peer("erin")
    for key, hours in (("order 3 2 1", 4), ("order 1 2 3", 0), ("order 2 1 3", 0)):
        link.send(version(late, key, "of erin", {late: 1}, time=-hours * HOUR_MS))
    alice.observe()
    request_all(alice)


@scenario("46", "52", long=True)
def changed_after_conflicts(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Records of the application, some of them changed by Bob before, win and lose conflicts with versions of Carol.

    Then the application changes or deletes them.
    """
    subscribe(alice, script.peer("dave"))
    link = link_with_record(alice, bob)
    for later_ms in (-HOUR_MS, HOUR_MS):
        for knows_bob in (False, True):
            keys = [f"{later_ms} {knows_bob} {what}" for what in ("changed", "deleted", "changed twice")]
            for key in keys:
                record = alice.put(key, "of alice")
                script.settle()
                if knows_bob:
                    link.update(key, "of bob", after=record, clock={alice: record, bob: 1})
                    script.settle()
                    record = alice.after(1_000).put(key, "again of alice")
                    script.settle()
                link.send(carol.update(key, "of carol", after=record, clock={carol: 1}, time=later_ms))
                script.settle()
            script.advance(2 * HOUR_MS)
            request_all(alice)
            alice.put(keys[0], "later")
            alice.delete(keys[1])
            for value in ("later", "latest"):
                alice.after(1_000).put(keys[2], value)
            request_all(alice)
    alice.observe()


@scenario("54", long=True)
def deletions_among_concurrent_versions(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """Of three concurrent versions of a record, one is a deletion: the latest, the second, or the earliest."""
    link = link_with_record(alice, bob)
    for order in permutations((3, 2, 1)):
        for deleting in (bob, carol, dave):
            key = f"order {order} deleted by {deleting.name}"
            for hours, writer in zip(order, (bob, carol, dave), strict=True):
                deleted = writer is deleting
                value = None if deleted else f"of {writer.name}"
                link.send(version(writer, key, value, {writer: 1}, time=-hours * HOUR_MS, deleted=deleted))
    request_all(alice, observe=True)


@scenario("54", long=True)
def three_concurrent_versions_for_a_reader(script: Script, rita: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """A read-only peer receives three concurrent versions of each of six records, in six orders of their times."""
    link = link_with_record(rita, bob)
    for order in permutations((3, 2, 1)):
        key = "order " + " ".join(map(str, order))
        for hours, writer in zip(order, (bob, carol, dave), strict=True):
            message = version(
                writer, key, f"of {writer.name}", {writer: 1}, time=-hours * HOUR_MS, signature="read-write"
            )
            link.send(message)
    request_all(rita, read_only=True, observe=True)


@scenario("54", store=True, long=True)
def a_third_version_after_a_restart(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """A peer restarts between two conflicts about one record."""
    link = link_with_record(alice, bob)
    orders = tuple(permutations((3, 2, 1)))
    for order in orders:
        for hours, writer in zip(order, (bob, carol), strict=False):
            link.send(version(writer, f"order {order}", f"of {writer.name}", {writer: 1}, time=-hours * HOUR_MS))
    request_all(alice)
    alice.reopen()
    link = alice.link(bob)
    for order in orders:
        link.send(version(dave, f"order {order}", "of dave", {dave: 1}, time=-order[2] * HOUR_MS))
    request_all(alice, observe=True)


@scenario("54", long=True)
def conflicts_with_own_changes_twice(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Two writers changed records of the application concurrently, one, both or neither later than the application."""
    subscribe(alice, bob)
    link = link_with_record(alice, carol)
    own = {key: alice.put(key, "of alice") for key in ("none later", "first later", "last later", "both later")}
    script.settle()
    for key, message in own.items():
        first = HOUR_MS if key in ("first later", "both later") else -HOUR_MS
        last = 2 * HOUR_MS if key in ("last later", "both later") else -2 * HOUR_MS
        link.send(bob.update(key, "of bob", after=message, concurrent=True, time=first))
        script.settle()
        link.update(key, "of carol", after=message, concurrent=True, time=last)
        script.settle()
    alice.observe()
    request_all(alice)


@scenario("54", "51", violated=("51",), long=True)
def changes_that_nobody_received(script: Script, alice: Part, bob: Peer) -> None:
    """The application changes records while the peer has no link; then changes of Bob to the same records arrive.

    Bob changed the records concurrently, with an earlier or a later time.
    """
    link = link_with_record(alice, bob)
    keys = [f"{order} {kind}" for order in ("earlier", "later") for kind in ("value", "deletion", "both deleted")]
    for key in keys:
        version(link, key, "first", {bob: 1}, time=-3 * HOUR_MS)
    settle_and_observe(alice)
    link.cut()
    script.advance(1_000)
    for key in keys:
        alice.delete(key) if key.endswith("deleted") else alice.put(key, "of alice")
    alice.observe()
    script.advance(1_000)
    link = alice.link(bob)
    for key in keys:
        later_ms = HOUR_MS if key.startswith("later") else -HOUR_MS
        version(link, key, "of bob", {bob: 2}, time=later_ms, deleted=key.endswith("deletion"))
    settle_and_observe(alice)
    request_all(alice)


@scenario("54", long=True)
def one_writer_twice_in_conflict(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Bob changes records twice, without knowing an earlier change of the application or of Carol."""
    subscribe(alice, carol)
    link = link_with_record(alice, bob)
    own = {key: alice.put(key, "of alice") for key in ("later twice", "later at last")}
    script.settle()
    for key, message in own.items():
        first_ms = HOUR_MS if key == "later twice" else -HOUR_MS
        first = link.update(key, "first of bob", after=message, concurrent=True, time=first_ms)
        script.settle()
        link.update(key, "second of bob", after=first, clock={bob: 90}, time=2 * HOUR_MS)
        script.settle()
    link.send(version(carol, "door", "of carol", {carol: 1}, time=-3 * HOUR_MS))
    for number, hours in ((1, 2), (2, 1)):
        version(link, "door", f"{number} of bob", {bob: number}, time=-hours * HOUR_MS)
        script.settle()
    alice.observe()
    request_all(alice)


@scenario("54", "05", violated=("05",), long=True)
def readers_pass_conflicts_on(script: Script, alice: Part, bob: Peer, carol: Peer, rolf: Peer, ruth: Peer) -> None:
    """Read-only peers relay two concurrent versions of each record; the later version arrives first or last."""
    _pass_conflicts_on(alice, bob, carol, rolf, ruth)


@scenario("54", "05", long=True)
def readers_pass_conflicts_on_to_a_reader(
    script: Script, rita: Part, bob: Peer, carol: Peer, rolf: Peer, ruth: Peer
) -> None:
    """Read-only peers relay concurrent versions to a read-only peer; the later version arrives first or last."""
    _pass_conflicts_on(rita, bob, carol, rolf, ruth)


def _pass_conflicts_on(part: Part, bob: Peer, carol: Peer, rolf: Peer, ruth: Peer) -> None:
    one, other = part.link(rolf), part.link(ruth)
    one.send(bob.update("lamp", "on", signature="read-write"))
    for key, hours in (("first", (1, 2)), ("last", (2, 1)), ("deleted first", (1, 2)), ("deleted last", (2, 1))):
        for link, writer, back in ((one, bob, hours[0]), (other, carol, hours[1])):
            deleted = key.startswith("deleted") and back == 1
            value = None if deleted else f"of {writer.name}"
            more: dict[str, Any] = {"time": -back * HOUR_MS, "deleted": deleted, "signature": "read-write"}
            link.send(version(writer, key, value, {writer: 1}, **more))
            part.script.settle()
    part.observe()
    request_all(part, read_only=True)


# ---- Keys ------------------------------------------------------------------------------------------------------------


@scenario("54", long=True)
def the_key_comes_back(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """Of two records with one key, the earlier one is changed, and is then the latest."""
    link, other = alice.link(bob), alice.link(carol)
    link.update("lamp", "on")
    _change_the_hidden_record(script, alice, link, other)
    request_all(alice)
    version(alice.link(dave), "door", "of dave", {dave: 1}, record="door of dave", time=-DAY_MS)
    settle_and_observe(alice)


@scenario("54", store=True, long=True)
def the_key_comes_back_after_a_restart(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Of two records with one key, the earlier one is changed after a restart, and is then the latest."""
    link, other = alice.link(bob), alice.link(carol)
    link.update("lamp", "on")
    for key, hours in (("door", 2), ("gate", 3)):
        version(link, key, "of bob", {bob: 1}, record=f"{key} of bob", time=-hours * HOUR_MS)
        script.settle()
        version(other, key, "of carol", {carol: 1}, record=f"{key} of carol", time=-HOUR_MS)
        script.settle()
    alice.observe()
    alice.reopen()
    link = alice.link(bob)
    for key in ("door", "gate"):
        version(link, key, "of bob again", {bob: 2}, record=f"{key} of bob", time=2 * DAY_MS)
    settle_and_observe(alice)
    request_all(alice)


def _change_the_hidden_record(script: Script, alice: Part, link: ScriptLink, other: ScriptLink) -> None:
    carol = other.peer
    for key, first, second in (("door", link, other), ("gate", other, link)):
        for one, hours in ((first, 2), (second, 1)):
            record = f"{key} of {one.peer.name}"
            version(one, key, f"of {one.peer.name}", {one.peer: 1}, record=record, time=-hours * HOUR_MS)
            script.settle()
    alice.observe()
    erin = script.peer("erin")
    link.send(version(erin, "gate", "of erin", {erin: 1}, record=f"gate of {carol.name}", time=DAY_MS))
    settle_and_observe(alice)
    for key, writer in (("door", link), ("gate", other)):
        name = writer.peer.name
        version(writer, key, f"of {name} again", {writer.peer: 2}, record=f"{key} of {name}", time=2 * DAY_MS)
        script.settle()
    alice.observe()


@scenario("02", "07", "56", long=True)
def a_key_is_free_before_its_deletion(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A record was deleted with a time ahead of all clocks; then the application and Carol use its key."""
    subscribe(alice, bob)
    link = link_with_record(alice, carol)
    for key in ("own", "theirs"):
        version(link, key, "first", {carol: 1}, time=DAY_MS)
    request_all(alice)
    for key in ("own", "theirs"):
        version(link, key, None, {carol: 2}, time=2 * DAY_MS, deleted=True)
    request_all(alice)
    script.advance(1_000)
    alice.put("own", 1)
    link.update("theirs", 1, record="the second of theirs")
    settle_and_observe(alice)
    alice.after(1_000).put("own", 2)
    alice.rename("theirs", "renamed")
    settle_and_observe(alice)
    request_all(alice)


@scenario("54", long=True)
def close_times_in_conflict(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Versions in conflict have times with offsets of half hours; records in conflict have times in the same second."""
    link = link_with_record(alice, bob)
    for key, one, other in (
        ("minutes", "2014-02-23T23:45:39+05:30", "2014-02-23T18:30:00Z"),
        ("west", "2014-02-23T12:00:00-03:30", "2014-02-23T15:15:00Z"),
    ):
        version(link, key, "of bob", {bob: 2}, time=one)
        link.send(version(carol, key, "of carol", {bob: 1, carol: 1}, time=other))
    for key, one, other in (("door", ".100Z", ".900Z"), ("gate", ".900Z", ".100Z")):
        link.update(key, "of bob", time=f"2014-02-23T23:45:39{one}")
        link.send(carol.update(key, "of carol", time=f"2014-02-23T23:45:39{other}"))
    settle_and_observe(alice)
    request_all(alice)
