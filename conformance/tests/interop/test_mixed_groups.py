"""All implementations in one group: each fault is assigned to the right implementation, and no other is accused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from interop_casts import CLEARSKIES, FORUM, Start, clearskies_peer, explored, mixed_cast_of, mutant
from run_helpers import Handle, altered, reference
from sds_conformance.exploration.assessment import BREAKDOWN, STORM, Scope
from sds_conformance.interop.mixed import GROUP, Mixed, explore_mixed, judge, keep, roles_noted, shrunk
from sds_conformance.judging.verdict import Verdict
from sds_conformance.scenario_files.reader import load_one
from sds_harness.schedules import Schedule
from sds_harness.schedules.operations import Expectation
from sds_harness.sds.operations import Member, Send
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HASH_PROFILES, PROFILES, Config, RepairConfig

SCOPE = Scope.select()


def against(mixed: Mixed, name: str) -> set[str]:
    return {discovery.what for discovery in mixed.discoveries_of(name)}


# ---- nothing is found ----------------------------------------------------------------------------------------------


def nim() -> Handle:
    return reference(Config(bloom_profile=PROFILES["nim-sds"]))


def other_hash() -> Handle:
    return reference(Config(repair=RepairConfig(hash_profile=HASH_PROFILES["farmhash64-nim"])))


@pytest.mark.parametrize("other", [reference, nim, other_hash], ids=["reference", "filters", "hash"])
def test_nothing_is_found_where_there_is_nothing(other: Start) -> None:
    mixed = explored({"ref": reference, "other": other}, 8)
    assert mixed.sorted_discoveries == []
    assert mixed.errors == {}
    assert mixed.played == {"ref": 8, "other": 8}
    assert len(mixed.exercised["ref"]) > 60
    assert not mixed.has_failures


def test_a_private_layout_is_translated_and_counts_against_its_speaker_alone() -> None:
    mixed = explored({"ref": reference, "nim": lambda: reference(dialect="nim-sds")}, 4)
    assert against(mixed, "ref") == set()
    assert "SDS-MSG-01" in against(mixed, "nim")
    assert {what[:8] for what in against(mixed, "nim")} <= {"SDS-MSG-", "SDS-R-FI"}


def fixed() -> Handle:
    """A participant whose filters always have room for 50 messages."""
    inner = reference(Config(bloom_capacity=50))

    def answer(request: pb.Request) -> pb.Reply:
        changed = pb.Request.FromString(request.SerializeToString())
        if changed.HasField("open"):
            changed.open.configuration.ClearField("bloom_capacity")
        return inner(changed)

    return answer


def test_expectations_are_checked_in_each_cast_unless_an_implementation_overrides_the_configuration() -> None:
    expect = (Expectation("alice", "acknowledged", ("m",)),)
    file = Schedule((Member("alice"), Member("bob")), (Send("alice", "m"),), expect=expect, name="mine.yaml")
    asks = replace(file, configuration=(("bloom_capacity", 100),))
    with mixed_cast_of({"ref": reference, "fixed": fixed}) as mixed_cast:
        mixed = explore_mixed(mixed_cast, 0, 0, SCOPE, files=[file, asks])
    assert mixed.has_failures
    assert mixed.unmet_count == 1
    assert {cast: result.unmet for cast, result in mixed.by_cast(0).items()} == {
        cast: ((0, f"acknowledged: none of them ({cast}; in 2 of 2 casts)"),)
        for cast in ("alice: ref; bob: fixed", "alice: fixed; bob: ref")
    }
    unchecked = [result.unchecked for result in mixed.by_cast(1).values()]
    assert unchecked[0] == (
        "an implementation has bloom_capacity fixed at 50, and the file asks for 100 "
        "(alice: ref; bob: fixed; in 2 of 2 casts)"
    )
    assert len(unchecked) == 2


# ---- the innocent --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "starts-at-zero",
        "history-by-arrival",
        "log-by-id",
        "answers-with-less-content",
    ],
)
def test_the_faults_of_another_do_not_count_against_the_reference(name: str) -> None:
    mixed = explored({"ref": reference, "bad": mutant(name)}, 5, len(name))
    assert against(mixed, "ref") == set()
    assert mixed.errors == {}


def test_who_breaks_a_property_of_the_group_is_to_blame_for_it_and_not_whom_it_is_held_against() -> None:
    """Where two logs differ, the first is taken for right, and that is the faulty one here."""
    mixed = explored({"ref": reference, "bad": mutant("log-by-id")}, 6)
    assert against(mixed, "ref") == set()
    assert any(what.startswith("G-") for what in against(mixed, "bad"))
    assert mixed.has_failures


def test_what_nobody_is_to_blame_for_is_a_matter_of_the_group() -> None:
    """No step of one that never answers shows that it should have; that another answers first does."""
    mixed = explored({"ref": reference, "bad": mutant("never-answers")}, 6)
    assert against(mixed, "ref") == set()
    assert all(discovery.what.startswith("G-") for discovery in mixed.discoveries_of(GROUP))


@pytest.mark.parametrize(
    ("revision", "ref", "bad", "what"),
    [
        (FORUM, reference, mutant("starts-at-the-clock"), "FORUM-09"),
        (CLEARSKIES, clearskies_peer(), clearskies_peer("smallest-time-wins"), "G-C02"),
    ],
)
def test_a_fault_in_a_mixed_group_of_another_text_is_that_of_who_has_it(
    revision: str, ref: Start, bad: Start, what: str
) -> None:
    mixed = explored({"ref": ref, "bad": bad}, 12, revision=revision)
    assert {name for name, _ in mixed.discoveries} == {"bad"}
    assert ("bad", what) in mixed.discoveries


# ---- breakdowns and storms -----------------------------------------------------------------------------------------


def crashes(request: pb.Request, reply: pb.Reply) -> None:
    if request.HasField("send"):
        raise RuntimeError("inside out")


def test_who_breaks_down_is_named_and_given_up() -> None:
    mixed = explored({"ref": reference, "bad": lambda: altered(crashes), "two": reference}, 12)
    assert against(mixed, "bad") == {BREAKDOWN}
    assert against(mixed, "ref") == against(mixed, "two") == set()
    assert "given up" in mixed.given_up["bad"]
    assert mixed.played["ref"] == mixed.played["two"] == 12
    assert mixed.played["bad"] < 12


def test_who_answers_without_end_is_to_blame_for_the_storm() -> None:
    schedule = Schedule((Member("alice"), Member("bob"), Member("carol")), (Send("alice", "m1"),))
    roles = {"alice": "bad", "bob": "ref", "carol": "bad"}
    with mixed_cast_of({"ref": reference, "bad": mutant("sends-after-each-reception")}) as mixed_cast:
        judged = judge(mixed_cast, mixed_cast.cast.play(schedule, roles), roles, SCOPE)
    assert STORM in {finding.requirement for finding in judged["bad"].findings}
    assert judged["ref"].findings == judged[GROUP].findings == []


# ---- counterexamples -----------------------------------------------------------------------------------------------


def test_everybody_keeps_the_role_while_it_is_shrunk(tmp_path: Path) -> None:
    starts: dict[str, Start] = {"ref": reference, "bad": mutant("delivers-children-first")}
    mixed = explored(starts, 6)
    what = next(d.what for d in mixed.discoveries_of("bad") if d.finding.severity is Verdict.FAIL)
    with mixed_cast_of(starts) as mixed_cast:
        example = shrunk(mixed_cast, mixed.discoveries["bad", what], SCOPE, 300)
    assert example is not None
    assert len(example.schedule.operations) <= 6
    assert example.roles[example.finding.participant] == "bad"
    files = keep(example, tmp_path)
    assert sorted(path.suffix for path in files.values()) == [".json", ".jsonl", ".svg", ".txt"]
    assert files["schedule"].name == f"{what}-bad.json"
    assert f"Played by {example.parts}" in files["story"].read_text("utf-8")
    again = load_one(files["schedule"]).schedule
    notes = dict(again.notes)
    assert (notes["cast"], notes["against"], notes["shows"]) == ("mixed", "bad", what)
    assert roles_noted(again) == dict(example.roles)
    with mixed_cast_of(starts) as mixed_cast:
        judged = judge(mixed_cast, mixed_cast.cast.play(again, roles_noted(again)), roles_noted(again), SCOPE)
    assert what in {finding.requirement for finding in judged["bad"].findings}
