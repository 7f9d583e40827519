"""Several peers: whatever happens to their links and clocks, they converge to the same records, and then send no more
messages.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearskies_club import NOW, RO, RW, SimulatedClub
from clearskies_reference import AccessLevel, Config, LoserOfKey, RefusedWriteError, Relay, Resolution

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


def live(club: SimulatedClub, draw: Random, steps: int, *, restarts: bool = False) -> None:
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


def write(club: SimulatedClub, one: str, draw: Random) -> None:
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


def assert_one_map(club: SimulatedClub) -> None:
    club.settle()
    club.join_all()
    club.settle()
    first, *others = ({key: json.loads(value) for key, value in each.items()} for each in club.maps())
    assert others == [first] * len(others)


def assert_agreed(club: SimulatedClub) -> None:
    assert_one_map(club)
    # All peers have all records. On new links they request updates, and get none.
    club.messages = 0
    club.join_all()
    club.settle()
    assert club.messages == len(club.ids) * (len(club.ids) - 1)


@settings(max_examples=60, deadline=None)
@given(LEVELS, st.sampled_from(CONFIGS), st.integers(0, 1 << 32))
def test_all_come_to_one_map(levels: list[AccessLevel], config: Config, seed: int) -> None:
    club = SimulatedClub(levels, seed=seed, config=config)
    live(club, Random(seed), 40)
    assert_agreed(club)


@pytest.mark.parametrize("seed", range(6))
def test_all_come_to_one_map_through_restarts(seed: int, tmp_path: Path) -> None:
    club = SimulatedClub([RW, RW, RO, RO], seed=seed, stores=tmp_path)
    live(club, Random(seed), 60, restarts=True)
    assert_agreed(club)
    before = club.maps()
    for one in club.ids:
        club.restart(one)
    assert club.maps() == before


def test_a_stream_that_is_cut_goes_on_where_it_ended() -> None:
    club = SimulatedClub([RW, RW])
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
