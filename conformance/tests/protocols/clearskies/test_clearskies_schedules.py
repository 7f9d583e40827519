"""Schedules of ClearSkies as campaigns play them: described, drawn, counted, shrunk and replayed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from clearskies_group_traces import shown
from clearskies_reference import Config
from clearskies_reference.mutants import MUTANTS
from clearskies_reference.testee.server import Testee, TesteeOptions
from sds_conformance.drawing.proof import story
from sds_conformance.exploration.assessment import assess
from sds_conformance.exploration.campaign import CampaignOrder, play_one
from sds_conformance.exploration.cast_under_test import CastKind
from sds_conformance.exploration.counterexample import Counterexample, save, shrink_finding
from sds_conformance.exploration.text import plain_story, svg_of
from sds_conformance.scenario_files.reader import load_one
from sds_harness.clearskies.generator import Grammar
from sds_harness.clearskies.operations import Calm, Hold, LinkPeers, Look, Member, Put, Read, Release, Say, Unlink, Wait
from sds_harness.link import LocalLink
from sds_harness.schedules import Schedule

REVISION = "clearskies-database"
LINE = (LinkPeers("alice", "bob"), LinkPeers("bob", "carol"))
TOLD = (
    *(*LINE, Put("alice", "m1", "photo"), Hold("alice", "bob"), Put("alice", "m2", "photo"), Wait(2_000)),
    *(Release("alice", "bob", 5), Unlink("alice", "bob"), Say("mallory", to="bob", read_only=True, signature="forged")),
    *(Calm(period_ms=1_000), Look(), Read()),
)


def order_for(fault: str, casting: CastKind = CastKind.TOGETHER) -> CampaignOrder:
    mutant = MUTANTS[fault]
    options = TesteeOptions("1", mutant.configure(Config()), mutant.peer_class)
    return CampaignOrder(lambda _: LocalLink(Testee(options).handle), revision=REVISION, casting=casting)


def test_a_story_tells_what_is_done_and_what_comes_of_it() -> None:
    text = "\n".join(story(shown(*TOLD)))
    for words in (
        "alice and bob are linked",
        "alice writes 'photo' (m1)",
        "bob receives m1, takes m1, repeats m1",
        "messages between alice and bob are held back",
        "5 bytes of what alice has sent arrive",
        "the link between alice and bob breaks",
        "mallory, a scripted peer, sends bob signed update x of mallory",
        "refuses: ",
        "calm: messages in transit arrive",
        "a new scripted peer asks everybody for everything",
    ):
        assert words in text, words
    assert "repeats m1, repeats" not in text


@pytest.mark.parametrize(
    ("fault", "what"),
    [
        ("forgets-the-deleted", "G-C03"),
        pytest.param("smallest-time-wins", "G-C02", marks=pytest.mark.exhaustive),
    ],
)
def test_what_is_found_is_shrunk_kept_and_played_again(fault: str, what: str, tmp_path: Path) -> None:
    order = order_for(fault)
    cast_under_test = order.cast_under_test()
    cast_under_test.start()
    scope = order.scope.restricted_to(what)
    index, finding = next(
        (index, found[0])
        for index in range(100)
        if (found := play_one(order, cast_under_test, index, scope).assessment.findings)
    )
    small = shrink_finding(order, cast_under_test, index, finding, 400)
    assert isinstance(small, Counterexample)
    assert len(small.schedule.operations) <= 14
    assert small.finding.requirement == what
    files = save(small, tmp_path, svg_of(small), plain_story(small))
    again = load_one(files["schedule"]).schedule
    assert again.operations == small.schedule.operations
    assert dict(again.notes)["revision"] == REVISION
    found = assess(cast_under_test.play(again), scope).findings
    assert [each.requirement for each in found[:1]] == [what]
    cast_under_test.kill()


@pytest.mark.parametrize(
    ("fault", "passage"),
    [
        ("sends-changes-to-eight-peers", "a-crowd-listens"),
        ("keeps-clocks-as-doubles", "clocks-beyond-doubles"),
        ("reader-takes-unsigned", "unsigned-to-a-reader"),
        ("larger-time-keeps-older-versions", "the-newest-comes-first"),
        ("shows-the-first-of-equals", "one-key-twice"),
    ],
)
def test_a_passage_brings_about_what_it_is_for(fault: str, passage: str) -> None:
    grammar = Grammar(passages=(passage,), longest=2)
    found: set[str] = set()
    for casting in (CastKind.TOGETHER, CastKind.AMONG):
        order = replace(order_for(fault, casting), grammar=grammar)
        cast_under_test = order.cast_under_test()
        cast_under_test.start()
        for index in range(20):
            found |= {each.requirement for each in play_one(order, cast_under_test, index).assessment.findings}
            if MUTANTS[fault].requirement in found:
                break
        cast_under_test.kill()
    assert MUTANTS[fault].requirement in found


def test_who_was_reported_of_changes_in_its_own_name_may_count_on_from_them() -> None:
    order = CampaignOrder(lambda _: LocalLink(Testee(TesteeOptions("1")).handle), revision=REVISION)
    cast_under_test = order.cast_under_test()
    cast_under_test.start()
    forged = Say("xavier", to="carol", label="m1", poses_as="bob", revision=(1 << 53) + 1)
    later = (Put("bob", "m2"), Wait(10), Put("bob", "m3"), Calm(period_ms=1_000), Look(), Read())
    for operations in ((*LINE, forged, *later), (*LINE, Put("bob", "m0"), forged, *later)):
        show = cast_under_test.play(Schedule(tuple(map(Member, ("alice", "bob", "carol"))), operations))
        assert assess(show, order.scope).findings == []
    cast_under_test.kill()
