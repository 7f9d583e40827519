"""The peer of the ClearSkies database in JavaScript: conflicts, and whether all see the same in the end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearskies_js_peers import (
    NOW,
    READ_ONLY,
    UUID,
    A,
    B,
    C,
    Fields,
    Peer,
    Process,
    encode_signed,
    join,
    settle,
    started,
    update,
)


@pytest.fixture(scope="module")
def process() -> Iterator[Process]:
    yield from started()


def test_conflicting_changes_end_alike(process: Process) -> None:
    a, b, c = Peer(process, A), Peer(process, B), Peer(process, C, READ_ONLY)
    join(a, b, 1)
    a.ask("put", key="k", value="0")
    settle((a, b, 1))
    for peer in (a, b):
        peer.ask("disconnect", link="1")
    a.ask("put", key="k", value='"later"', now=NOW + 2)
    b.ask("put", key="k", value='"earlier"', now=NOW + 1)
    join(a, b, 2)
    join(b, c, 3)
    settle((a, b, 2), (b, c, 3))
    assert a.values() == b.values() == c.values() == {"k": "later"}
    (uuid,) = {record["uuid"] for record in a.state()["records"]}
    assert {"conflict": {"uuid": uuid, "incomingUuid": uuid}} in a.events
    # Who wrote it has not changed by that, and what follows is no conflict.
    assert [record["lastUpdatedBy"] for record in b.state()["records"]] == [A]
    b.events.clear()
    a.ask("put", key="k", value="2", now=NOW - 5)
    settle((a, b, 2), (b, c, 3))
    assert a.values() == b.values() == c.values() == {"k": 2}
    assert not [event for event in b.events if "conflict" in event]


@pytest.mark.parametrize(
    ("resolution", "left"),
    [
        ("UNSPECIFIED", [{"x": 2}]),
        ("MERGE", [{"x": 2, "a": 1}]),
        ("SEPARATE", [{"x": 2}, {"x": 1, "a": 1}]),
    ],
)
@pytest.mark.parametrize("same_record", [True, False])
def test_conflicts_end_as_the_application_wants(
    process: Process, resolution: str, left: list[Fields], same_record: bool
) -> None:
    wish: Fields = {"configuration": {"resolution": f"RESOLUTION_{resolution}"}}
    a, b, c = Peer(process, A, **wish), Peer(process, B, **wish), Peer(process, C, READ_ONLY)
    uuids = (UUID, UUID if same_record else UUID[::-1])
    for peer, value, uuid in zip((a, b), ('{"x":1,"a":1}', '{"x":2}'), uuids, strict=True):
        peer.ask("put", key="k", value=value, uuid=uuid, now=NOW + len(value) % 2)
    join(a, b, 1)
    join(a, c, 2)
    join(b, c, 3)
    settle((a, b, 1), (a, c, 2), (b, c, 3))
    assert a.values() == b.values() == c.values()
    assert sorted(map(str, a.values().values())) == sorted(map(str, left))
    assert a.values()["k"] == left[0]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_peers_that_are_linked_agree(process: Process, data: st.DataObject) -> None:
    """Random changes and links of two writers and a reader whose clocks are right: in the end all see the same."""
    resolution = data.draw(st.sampled_from(["UNSPECIFIED", "MERGE", "SEPARATE"]))
    wish: Fields = {"configuration": {"resolution": f"RESOLUTION_{resolution}"}}
    peers = [Peer(process, A, **wish), Peer(process, B, **wish), Peer(process, C, READ_ONLY, **wish)]
    links: dict[tuple[int, int], int] = {}
    number = 0

    def toggle(one: int, other: int) -> None:
        nonlocal number
        if (one, other) in links:
            link = links.pop((one, other))
            for peer in (peers[one], peers[other]):
                peer.ask("disconnect", link=str(link))
                peer.out.pop(link, None)
        else:
            number += 1
            links[one, other] = number
            join(peers[one], peers[other], number)

    def carry() -> None:
        settle(*((peers[one], peers[other], link) for (one, other), link in links.items()))

    pairs = [(0, 1), (0, 2), (1, 2)]
    for now in range(data.draw(st.integers(1, 12))):
        what = data.draw(st.sampled_from(["put", "rename", "delete", "link", "carry"]))
        peer, keys = peers[data.draw(st.integers(0, 1))], st.sampled_from("kl")
        if what == "put":
            peer.ask("put", key=data.draw(keys), value=json.dumps({data.draw(keys): now}), now=NOW + now)
        elif what == "rename":
            peer.ask("rename", key=data.draw(keys), newKey=data.draw(keys), now=NOW + now)
        elif what == "delete":
            peer.ask("delete", key=data.draw(keys), now=NOW + now)
        elif what == "link":
            toggle(*data.draw(st.sampled_from(pairs)))
        else:
            carry()
    for pair in pairs:
        if pair not in links:
            toggle(*pair)
    carry()
    seen = [peer.values() for peer in peers]
    assert seen[0] == seen[1] == seen[2]
    for peer in peers:
        assert peer.closed() == []
        peer.ask("close")


def test_a_read_only_peer_takes_over_what_a_writer_made_of_a_conflict(process: Process, tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    peer = Peer(process, A, READ_ONLY, store=store)
    peer.scripted(1)
    for by, time in ((B, "2026-01-01T00:00:02Z"), (C, "2026-01-01T00:00:01.999999999Z")):
        peer.receive(1, encode_signed(update(value=by, by=by, update_time=time)))
    assert peer.values() == {"k": B}
    assert peer.state()["records"][0]["vectorClock"] == {A: "2", B: "2", C: "2"}
    peer.ask("close")
    peer = Peer(process, A, READ_ONLY, store=store)
    peer.scripted(1)
    # Its clock is not larger than the joined one here, but the record differs.
    peer.receive(1, encode_signed(update(value="both", by=B, vector_clock={B: 2, C: 2})))
    assert peer.values() == {"k": "both"}
    peer.receive(1, encode_signed(update(value="again", by=B, vector_clock={B: 2, C: 2})))
    assert peer.values() == {"k": "both"}
