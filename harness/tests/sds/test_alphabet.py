"""The alphabet of small worlds of SDS: the schedule of each event, and the arrival of its messages."""

from __future__ import annotations

import pytest

from sds_harness.schedules.files import to_json
from sds_harness.schedules.word_schedules import unfold
from sds_harness.schedules.worlds import AlphabetPart
from sds_harness.sds.alphabet import ALPHABET, REPAIR, SDS, USUAL
from sds_harness.sds.notation import NOTATION


def everything(*, repairs: bool) -> tuple[AlphabetPart, ...]:
    return (AlphabetPart(tuple(name for name in ALPHABET if repairs or name != REPAIR)),)


def plain(*, repairs: bool) -> tuple[AlphabetPart, ...]:
    """The part of the alphabet that has only events of participants."""
    names = ("send", "sync", "ephemeral", "time", "arrive", "twice", REPAIR)
    return (AlphabetPart(names if repairs else names[:-1]),)


@pytest.mark.parametrize("repairs", [False, True])
def test_every_word_is_a_schedule(repairs: bool) -> None:
    """The schedule of each word can be stored in a file, so that findings can be kept."""
    alphabet = everything(repairs=repairs)
    all_of_it = SDS.world(3, alphabet)
    assert {kind.name for kind in all_of_it.kinds} == {*ALPHABET} - {REPAIR}
    assert all_of_it.gaps_by_name is repairs
    few = SDS.world(3, plain(repairs=repairs))
    for small, word in [(all_of_it, word) for word in all_of_it.words(1)] + [(few, word) for word in few.words(2)]:
        schedule = unfold(small, word, SDS.make_setting(alphabet)).schedule
        assert NOTATION.from_json(to_json(schedule)) == schedule
        assert schedule.names == ("alice", "bob", "carol")


def test_nobody_knows_another_event() -> None:
    with pytest.raises(ValueError, match="unknown event 'shout'"):
        SDS.world(2, [AlphabetPart(("send", "shout"))])
    with pytest.raises(ValueError, match="not 9"):
        SDS.world(9, USUAL)


def test_a_part_is_what_it_is_typed_as() -> None:
    assert AlphabetPart.read("send, arrive:3") == AlphabetPart(("send", "arrive"), 3)
    assert all(AlphabetPart.read(str(part)) == part for part in USUAL)
    with pytest.raises(ValueError, match="invalid literal"):
        AlphabetPart.read("send:many")
