"""Several peers: whatever happens to their links and clocks, they converge to the same records, and then send no more
messages.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearskies_club import NOW, RO, RW, Club
from clearskies_reference import AccessLevel, Config, LoserOfKey, RefusedWriteError, Relay, Resolution
from clearskies_reference.variants import VARIANTS

CONFIGS = [
    Config(),
    Config(clocks_count_hops=True),
    Config(clock_per_peer=True),
    Config(resolution=Resolution.MERGE),
    Config(resolution=Resolution.SEPARATE),
    Config(loser_of_key=LoserOfKey.ITS_WRITER),
    Config(loser_of_key=LoserOfKey.EVERYBODY),
    Config(relay=Relay.REPEATS, signs_always=True),
    Config(echoes=True, asks_on_every_link=True, time_digits=0),
]

LEVELS = st.lists(st.sampled_from((RW, RO)), min_size=1, max_size=4).map(lambda more: [RW, RW, *more])


def live(club: Club, draw: Random, steps: int, *, restarts: bool = False) -> None:
    """Let ``steps`` random events happen: writes, new and broken links, arriving bytes, and wrong clocks."""
    for _ in range(steps):
        one, other = draw.choice(club.ids), draw.choice(club.ids)
        club.clocks[one] += draw.choice((0, 1, 1_000, -500, 60_000))
        what = draw.random()
        if what < 0.2:
            club.link(one, other)
        elif what < 0.26:
            club.cut(one, other)
        elif what < 0.3 and restarts:
            club.restart(one)
        elif what < 0.6:
            for _ in range(draw.randrange(6)):
                club.step()
        else:
            write(club, one, draw)


def write(club: Club, one: str, draw: Random) -> None:
    peer, now_ms, key = club.peers[one], club.clocks[one], draw.choice("xyz")
    what = draw.random()
    # There may be no record with that key, and some peers may not write.
    with suppress(RefusedWriteError):
        if what < 0.6:
            value = json.dumps({draw.choice("abc"): draw.randrange(9)})
            club.send_output(one, peer.put(key, value, now_ms))
        elif what < 0.8:
            club.send_output(one, peer.rename(key, draw.choice("xyz"), now_ms))
        else:
            club.send_output(one, peer.delete(key, now_ms))


def assert_one_map(club: Club) -> None:
    club.settle()
    club.join_all()
    club.settle()
    first, *others = ({key: json.loads(value) for key, value in each.items()} for each in club.maps())
    assert others == [first] * len(others)


def assert_agreed(club: Club) -> None:
    assert_one_map(club)
    # All peers have all records. On new links they request updates, and get none.
    club.messages = 0
    club.join_all()
    club.settle()
    assert club.messages == len(club.ids) * (len(club.ids) - 1)


@settings(max_examples=60, deadline=None)
@given(LEVELS, st.sampled_from(CONFIGS), st.integers(0, 1 << 32))
def test_all_come_to_one_map(levels: list[AccessLevel], config: Config, seed: int) -> None:
    club = Club(levels, seed=seed, config=config)
    live(club, Random(seed), 40)
    assert_agreed(club)


@pytest.mark.parametrize("seed", range(6))
def test_all_come_to_one_map_through_restarts(seed: int, tmp_path: Path) -> None:
    club = Club([RW, RW, RO, RO], seed=seed, stores=tmp_path)
    live(club, Random(seed), 60, restarts=True)
    assert_agreed(club)
    before = club.maps()
    for one in club.ids:
        club.restart(one)
    assert club.maps() == before


NEED_TICKS = {
    "sends-at-ticks",
    "answers-at-ticks",
    "receives-at-ticks",
    "reads-links-in-turn",
    "sends-in-intervals",
    "sends-the-newest",
}
"""Variants that send only at ticks. The peers of this test get no ticks."""
LIKE = sorted(
    VARIANTS.keys() - NEED_TICKS - {"update-time-from-its-clock", "sends-unasked", "marks-losers-of-keys-deleted"}
)
"""Variants whose peers must converge. Three others need not, because of choices that the specification leaves open."""
TALKATIVE = {"asks-without-itself", "ends-answers-with-unknown-type", "split-output"}
"""Variants that send more than one message per link when all records are known, or split a message."""


@pytest.mark.parametrize("name", LIKE)
def test_peers_of_a_legal_variant_come_to_one_map(name: str) -> None:
    variant = VARIANTS[name]
    club = Club([RW, RW, RW, RO], seed=7, config=variant.configure(Config()), kind=variant.peer_class)
    live(club, Random(name), 60)
    (assert_one_map if name in TALKATIVE else assert_agreed)(club)


def test_times_of_wrong_clocks_can_part_peers_and_those_that_advance_do_not() -> None:
    """Three versions of a record: A writes one, then changes it while its clock is behind. The time of a concurrent
    version of B is between the two."""
    ends = []
    for advancing in (True, False):
        club = Club([RW, RW, RW, RW], config=replace(Config(), advancing_times=advancing))
        a, b, c, d = club.ids

        def put(one: str, value: int, now_ms: int, club: Club = club) -> None:
            club.send_output(one, club.peers[one].put("k", str(value), now_ms))

        put(a, 0, NOW)
        club.join_all()
        club.settle()
        for other in (b, c, d):
            club.cut(a, other)
        for other in (c, d):
            club.cut(b, other)
        club.cut(c, d)
        put(a, 1, NOW + 30)
        put(b, 2, NOW + 20)
        for one in (a, b):
            club.link(one, c)
            club.settle()
            club.cut(one, c)
        put(a, 3, NOW + 10)
        for pair in ((a, c), (a, d), (b, d)):
            club.link(*pair)
            club.settle()
            club.cut(*pair)
        club.join_all()
        club.settle()
        ends.append({found["k"] for found in club.maps()})
    assert ends[0] == {"3"}
    assert ends[1] != {"3"}


# ---- Peers in a line -------------------------------------------------------------------------------------------------


def in_line(levels: list[AccessLevel], kind: Config | None = None) -> Club:
    club = Club(levels, config=kind)
    for one, other in zip(club.ids, club.ids[1:], strict=False):
        club.link(one, other)
    club.settle()
    return club


def test_a_change_goes_along_a_line_and_keeps_its_writer() -> None:
    club = in_line([RW, RW, RO, RO, RW])
    first = club.ids[0]
    club.send_output(first, club.peers[first].put("k", "1", NOW))
    club.settle()
    assert club.maps() == [{"k": "1"}] * 5
    assert {peer.records()[0].version for peer in club.peers.values()} == {(first, 2)}


def test_the_seven_steps_of_the_ghost_record() -> None:
    club = Club([RW, RW, RW])
    a, b, c = club.ids
    club.send_output(a, club.peers[a].put("k", "1", NOW))
    club.join_all()
    club.settle()
    assert club.maps() == [{"k": "1"}] * 3
    club.cut(a, c)
    club.cut(b, c)
    club.send_output(a, club.peers[a].delete("k", NOW + 1))
    club.settle()
    assert club.maps() == [{}, {}, {"k": "1"}]
    club.cut(a, b)
    club.link(b, c)
    club.settle()
    assert club.maps() == [{}, {}, {}]
    club.link(a, b)
    club.settle()
    assert club.maps() == [{}, {}, {}]
    assert all(record.deleted for peer in club.peers.values() for record in peer.records())


def test_in_a_ring_every_update_is_repeated_once_by_each() -> None:
    club = Club([RW] * 6)
    for index, one in enumerate(club.ids):
        club.link(one, club.ids[index - 1])
    club.settle()
    club.messages = 0
    club.send_output(club.ids[0], club.peers[club.ids[0]].put("k", "1", NOW))
    club.settle()
    assert club.maps() == [{"k": "1"}] * 6
    # The first peer sends two messages, each other peer one. The last two may cross.
    assert 6 <= club.messages <= 7


def test_readers_spread_what_a_writer_has_signed_among_themselves_and_to_another_writer() -> None:
    club = Club([RW, RO, RO, RW])
    writer, first, second, late = club.ids
    club.link(writer, first)
    club.send_output(writer, club.peers[writer].put("k", "1", NOW))
    club.settle()
    club.cut(writer, first)
    club.link(first, second)
    club.settle()
    club.cut(first, second)
    club.link(second, late)
    club.settle()
    assert club.maps() == [{"k": "1"}] * 4
    originals = [club.peers[one].store.get(club.peers[one].records()[0].uuid) for one in (first, second)]
    assert len({stored.signed for stored in originals if stored is not None}) == 1


def test_a_stream_that_is_cut_goes_on_where_it_ended() -> None:
    club = Club([RW, RW])
    one, other = club.ids
    for number in range(8):
        club.send_output(one, club.peers[one].put(str(number), "1", NOW))
    club.link(one, other)
    for _ in range(9):
        club.step()
    club.cut(one, other)
    known = club.peers[other].known().get(one, 1)
    assert len(club.maps()[1]) == known - 1 < 8
    club.messages = 0
    club.link(one, other)
    club.settle()
    assert club.maps()[0] == club.maps()[1]
    assert club.messages == 2 + 8 - (known - 1)


def test_what_comes_unasked_leaves_a_gap_where_a_link_breaks() -> None:
    """Updates go only to peers that have requested them: updates to "all connected peers" would arrive out of order
    (CA-1, CA-5).
    """
    for unasked in (False, True):
        club = Club([RW, RW], config=Config(sends_unrequested=unasked))
        one, other = club.ids
        club.send_output(one, club.peers[one].put("k", "1", NOW))
        club.link(one, other)
        club.send_output(one, club.peers[one].put("l", "2", NOW))
        waiting = club.under_way[club.links[frozenset(club.ids)], one]
        while waiting:
            club.send_output(other, club.peers[other].receive(1, waiting.popleft(), NOW))
        club.cut(one, other)
        club.join_all()
        club.settle()
        assert club.maps()[0] == {"k": "1", "l": "2"}
        assert club.maps()[1] == ({"l": "2"} if unasked else {"k": "1", "l": "2"})
