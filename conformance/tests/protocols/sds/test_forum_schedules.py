"""Generated schedules of the proposal of 2024: which properties hold of it, what is found, and who is not accused."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import pytest

from global_schedules import EXERCISES, UNDECLARED, UNEXERCISED, lost_to, outcomes, play_schedule, schedule
from run_helpers import Handle, odd_adapter, reference, reference_command, variant
from sds_conformance.exploration.assessment import Scope, assess
from sds_conformance.exploration.campaign import CampaignOrder, CampaignTally, explore
from sds_conformance.exploration.cast_under_test import CastKind
from sds_conformance.exploration.hunt import hunt_false_accusations
from sds_conformance.judging.judgement import Outcome
from sds_conformance.judging.verdict import Finding
from sds_conformance.protocols import repertoire_of, scheduled
from sds_conformance.protocols.properties import Sighting
from sds_conformance.protocols.sds.catalogue import CURRENT
from sds_conformance.protocols.sds.properties import PROPERTIES, PROPOSED
from sds_conformance.protocols.sds.properties.proposal import DOES_NOT_HOLD, HOLDS
from sds_harness.link import LocalLink
from sds_harness.schedules import Schedule
from sds_harness.sds.generator import Grammar
from sds_harness.sds.operations import Calm, Look, Route, Say, Send, Sync, Tick, Wait
from sds_reference import FORUM_2024, Config
from sds_reference.mutants import MUTANTS
from sds_reference.variants import VARIANTS
from suite_terminal import typed, words

FORUM = FORUM_2024.name
OWN = FORUM_2024.prefix
FAULTS: dict[str, tuple[str, ...]] = {
    "G-01": ("one-level-only", "forgets-the-waiting"),
    "G-02": ("ties-by-arrival",),
    "G-03": ("log-by-arrival", "highest-hash-first"),
    "G-06": ("does-not-buffer-outgoing",),
    "G-10": ("sent-is-acknowledged",),
    "G-11": ("acknowledges-the-first", "ignores-filters"),
    "G-12": ("never-empties-the-buffer",),
    "G-15": ("one-clock-for-all",),
    "G-19": ("log-by-arrival",),
    "G-31": ("restamped-copies",),
}
"""By property: mutants that break it under the proposal as well."""


def of_the_proposal(property_id: str) -> str:
    return property_id.replace("G-", "G-F")


def sightings(what: Schedule, start: Callable[[], Handle] = reference) -> dict[str, list[Sighting]]:
    group_trace = play_schedule(what, start, FORUM)
    return PROPOSED.examine(group_trace, lambda changed: play_schedule(changed, start, FORUM))


def mutated(name: str, without: Iterable[int]) -> Handle:
    mutant = MUTANTS[name]
    return reference(mutant.configure(Config()), participant=mutant.participant_class, without=without)


def campaign(
    start: Callable[[], Handle], examples: int, casting: CastKind = CastKind.TOGETHER, seed: int = 0
) -> CampaignTally:
    grammar = Grammar(most=4, sds_r=False)
    return explore(
        CampaignOrder(
            lambda _: LocalLink(start()),
            revision=FORUM,
            casting=casting,
            grammar=grammar,
            examples=examples,
            seed=seed,
        )
    )


# ---- The properties --------------------------------------------------------------------------------------------------


def test_of_each_property_of_sds_it_is_decided_whether_it_holds_of_the_proposal() -> None:
    assert HOLDS.keys() | DOES_NOT_HOLD.keys() == set(PROPERTIES)
    assert not HOLDS.keys() & DOES_NOT_HOLD.keys()
    assert set(PROPOSED) == set(map(of_the_proposal, HOLDS))
    assert all(reason and not reason.endswith(".") for reason in DOES_NOT_HOLD.values())


@pytest.mark.parametrize("property_id", HOLDS)
def test_the_reference_keeps_it_where_it_is_exercised(property_id: str) -> None:
    found = sightings(EXERCISES[property_id], lambda: reference(without=UNDECLARED.get(property_id, ())))
    assert outcomes(found.get(of_the_proposal(property_id), [])) == {Outcome.HELD}
    assert {name for name, seen in found.items() if Outcome.VIOLATED in outcomes(seen)} == set()


@pytest.mark.parametrize("property_id", HOLDS)
def test_it_says_nothing_where_its_premises_are_not_met(property_id: str) -> None:
    assert sightings(UNEXERCISED[property_id]).get(of_the_proposal(property_id), []) == []


@pytest.mark.parametrize(("property_id", "name"), [(i, name) for i, names in FAULTS.items() for name in names])
def test_a_fault_breaks_it(property_id: str, name: str) -> None:
    known_as = of_the_proposal(property_id)
    without = UNDECLARED.get(property_id, ())
    found = sightings(EXERCISES[property_id], lambda: mutated(name, without))[known_as]
    codes = {sighting.code for sighting in found if sighting.outcome is Outcome.VIOLATED}
    assert codes
    assert codes <= PROPOSED[known_as].codes.keys()


# ---- What the proposal leaves open -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("casting", "first"), [(CastKind.TOGETHER, 0), (CastKind.AMONG, 1)])
def test_what_it_leaves_open_is_left_in_peace(casting: CastKind, first: int) -> None:
    for name in [name for name, known in VARIANTS.items() if known.revision == FORUM_2024.name][first::2]:
        tally = campaign(partial(variant, name), 6, casting, seed=4)
        assert (tally.found, tally.errors) == ({}, {}), name


GIVEN_UP = schedule(
    Send("alice", "m1", route=lost_to("bob")),
    Sync("alice"),
    Wait(31_000),
    Tick("bob"),
    Sync("bob"),
    Send("bob", "m2"),
    Look("bob"),
    configuration=(("lost_timeout_ms", 30_000),),
)
SWEPT = schedule(
    Say("mallory", "m1", to="alice", route=Route(late=(("alice", 10),))),
    Say("mallory", "m2", to="alice", after=("m1",), lamport_ms=50),
    Wait(20),
    Sync("alice"),
    Wait(5_000),
    Tick("alice"),
    Sync("alice"),
)
DROPPED = schedule(
    Sync("bob", route=lost_to("alice")),
    Send("bob", "m1"),
    Send("alice", "m2"),
    Calm(2, store=True),
    configuration=(("lost_timeout_ms", 30_000),),
)
WAITING = schedule(
    Say("mallory", "m1", to="alice", after=("ghost",), content=None),
    Say("mallory", "m2", to="alice", after=("m1",), content=None),
    Say("mallory", "m3", to="alice", after=("m2",)),
    *3 * (Wait(60_000), Tick("alice")),
    Look("alice"),
)
OWED = schedule(
    Sync("alice"),
    Say("mallory", "m1", to="alice"),
    Wait(30_001),
    Tick("alice"),
    Say("mallory", "m2", to="alice"),
    Look("alice"),
    configuration=(("sync_interval_ms", 10_000),),
)


def findings(what: Schedule, config: Config) -> list[Finding]:
    return assess(play_schedule(what, lambda: reference(config), FORUM), Scope.select(revision=FORUM)).findings


@pytest.mark.parametrize("drops", [False, True])
def test_a_sync_message_that_was_given_up_on_may_be_in_the_log_and_need_not(drops: bool) -> None:
    config = Config(drops_the_lost=drops)
    group_trace = play_schedule(GIVEN_UP, lambda: reference(config), FORUM)
    assert any(event.kind == "lost" for act in group_trace.acts for event in act.step.events)
    assert findings(GIVEN_UP, config) == []


def test_what_waited_for_a_sync_message_that_was_given_up_on_need_not_be_kept_until_that_comes() -> None:
    assert findings(DROPPED, Config(drops_the_lost=True)) == []


def test_what_rests_on_a_sync_message_that_waits_may_wait_as_well() -> None:
    assert findings(WAITING, Config()) == []


def test_what_a_sweep_has_processed_may_show_in_the_timestamp_of_a_sync_message() -> None:
    config = Config(cascade_on_receive=False)
    group_trace = play_schedule(SWEPT, lambda: reference(config), FORUM)
    syncs = [act.step.new for act in group_trace.acts if act.step.command == "send_sync"]
    assert [sync.lamport_timestamp for sync in syncs if sync is not None] == [1, 51]
    assert findings(SWEPT, config) == []


def test_a_sync_message_that_was_asked_for_may_go_out_later_and_is_in_the_log() -> None:
    config = Config(sync_only_when_quiet=True, sync_with_empty_log=False)
    group_trace = play_schedule(OWED, lambda: reference(config), FORUM)
    sent = {act.step.command: len(act.step.broadcasts) for act in group_trace.acts if act.who == "alice"}
    assert (sent["send_sync"], sent["tick"]) == (0, 1)
    assert findings(OWED, config) == []


# ---- What is found ---------------------------------------------------------------------------------------------------


def test_nothing_is_found_against_the_reference_and_all_of_it_is_of_the_proposal() -> None:
    tally = campaign(reference, 20)
    assert (tally.found, tally.errors) == ({}, {})
    assert {what.partition("-")[0] for what in tally.exercised} == {OWN, "G"}
    assert {what for what in tally.exercised if what.startswith("G-")} <= set(PROPOSED)
    assert len(tally.exercised) > 40


# ---- The command line ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The counterexample of a fault."""
    folder = tmp_path_factory.mktemp("kept")
    command = reference_command("--mutant", "sync-increases-the-timestamp")
    options = ["--revision", FORUM, "--schedules", "4", "--jobs", "1", "--participants", "3", "--out", str(folder)]
    found = typed("fuzz", *options, "--json", "--", *command)
    assert found.exit_code == 0, "a deviation from a SHOULD"
    data = json.loads(found.stdout)
    assert data["revision"] == FORUM
    assert [row["id"] for row in data["findings"]] == ["FORUM-35"]
    return folder / "FORUM-35.json"


def test_a_counterexample_is_replayed_under_the_revision_that_stands_in_it(kept: Path) -> None:
    again = typed("replay", str(kept), "--", *reference_command("--mutant", "sync-increases-the-timestamp"))
    assert "FORUM-35 is violated here, too." in words(again.stdout)
    better = typed("replay", str(kept))
    assert better.exit_code == 0
    assert "FORUM-35 is not violated in this run" in words(better.stdout)


def test_2_a_counterexample_is_never_judged_by_another_text(kept: Path) -> None:
    for other in ("sds-2026-01", "sds-2025-10-amended"):
        refused = typed("replay", "--revision", other, str(kept))
        assert refused.exit_code == 2
        assert f"was made for {FORUM}, not for {other}: omit --revision" in words(refused.stderr)


def test_2_a_schedule_of_a_revision_that_nobody_plays_is_refused(tmp_path: Path, kept: Path) -> None:
    file = tmp_path / "strange.json"
    file.write_text(kept.read_text().replace(FORUM, "forum-2023"))
    refused = typed("replay", str(file))
    assert refused.exit_code == 2
    assert "revision: there is no 'forum-2023'. Did you mean forum-2024?" in words(refused.stderr)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ("--passage", "gap"),
            f"{FORUM} has no passage 'gap'. It belongs to {CURRENT}: add --revision {CURRENT}. "
            f"`sds-conformance list passages --revision {FORUM}` shows the names",
        ),
        (("--profile", "sds-r"), f"{FORUM} has no SDS-R: leave --profile out"),
        (("--dialect", "nim-sds"), f"which {FORUM} does not have: leave --dialect out"),
    ],
)
def test_2_what_the_proposal_has_not_cannot_be_played(options: tuple[str, ...], said: str) -> None:
    refused = typed("fuzz", "--revision", FORUM, *options)
    assert refused.exit_code == 2
    assert said in words(refused.stderr)


def test_2_a_passage_of_the_proposal_is_none_of_sds() -> None:
    refused = typed("fuzz", "--passage", "idle", "--", "./it")
    assert refused.exit_code == 2
    assert "sds-2026-01 has no passage 'idle'" in words(refused.stderr)


def test_no_schedules_are_generated_for_a_revision_that_nobody_plays() -> None:
    assert scheduled() == ["sds-2026-01", "sds-2025-10-amended", FORUM, "clearskies-database"]
    with pytest.raises(ValueError, match=f"no schedules are generated for draft-0, only for .*{FORUM}"):
        repertoire_of("draft-0")


def test_2_who_speaks_another_text_is_not_cast_among_references() -> None:
    command = odd_adapter("speaks-one-revision", "sds-2026-01")
    refused = typed("fuzz", "--revision", FORUM, "--cast", "among", "--schedules", "1", "--jobs", "1", "--", *command)
    assert refused.exit_code == 2
    text = words(refused.stderr)
    assert f"speaks sds-2026-01, and not {FORUM}" in text
    assert "type --revision sds-2026-01" in text


def test_who_names_no_revision_may_be_cast_among_references() -> None:
    def silent() -> Handle:
        inner = reference()

        def answer(request: object) -> object:
            reply = inner(request)  # type: ignore[arg-type]
            if reply.HasField("hello"):
                del reply.hello.revisions[:]
            return reply

        return answer  # type: ignore[return-value]

    assert campaign(silent, 2, CastKind.AMONG).found == {}


def test_the_hunt_is_reported_for_the_proposal() -> None:
    options = ["--only", "forum-drops-the-unmet", "--only", "announces-*", "--variant-schedules", "0", "--jobs", "1"]
    output = typed("selftest", "--hunt", "--revision", FORUM, "--schedules", "30", *options, "--json")
    rows = {row["mutant"]: row for row in json.loads(output.stdout)["mutants"]}
    assert rows["forum-drops-the-unmet"]["found_by"] == "FORUM-22"
    assert rows["announces-ties"]["out_of_reach"]
    nothing = typed("selftest", "--hunt", "--revision", FORUM, "--only", "log-by-arrival")
    assert nothing.exit_code == 2


def test_a_legal_variant_is_left_in_peace() -> None:
    assert hunt_false_accusations("forum-newest-first", 24, revision=FORUM).accused == ()
