"""The proposal of 2024 as a revision: what it is judged by, what is legal in it though unusual, and its schedules."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from global_schedules import lost_to, play_schedule, schedule
from run_helpers import Handle, certified, odd_adapter, reference, reference_command, variant, with_verdict
from sds_conformance.exploration.assessment import Scope, assess
from sds_conformance.exploration.campaign import CampaignOrder, CampaignTally, explore
from sds_conformance.exploration.cast_under_test import CastKind
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols import repertoire_of, scheduled
from sds_conformance.protocols.sds.catalogue import CURRENT
from sds_conformance.protocols.sds.properties import PROPERTIES, PROPOSED
from sds_conformance.protocols.sds.properties.proposal import DOES_NOT_HOLD, HOLDS
from sds_harness.link import LocalLink
from sds_harness.schedules import Schedule
from sds_harness.sds.generator import Grammar
from sds_harness.sds.operations import Calm, Look, Say, Send, Sync, Tick, Wait
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import FORUM_2024, Config
from sds_reference.variants import VARIANTS
from suite_terminal import typed, words

FORUM = FORUM_2024.name
OWN = FORUM_2024.prefix


@pytest.mark.exhaustive
@pytest.mark.parametrize("without", [pb.CAPABILITY_OBSERVE, pb.CAPABILITY_DELIVERED, pb.CAPABILITY_SYNC])
def test_the_reference_is_not_accused_of_what_it_does_not_show(without: int) -> None:
    outcome = certified(lambda: reference(without=[without]), scenarios=["*"], revision=FORUM)
    assert with_verdict(outcome, Verdict.FAIL, Verdict.WARN, Verdict.ERROR) == set()
    assert len(with_verdict(outcome, Verdict.PASS)) > 20


@pytest.mark.parametrize(
    ("spoken", "judged_by", "failed"),
    [
        (CURRENT, FORUM, {"FORUM-01", "FORUM-04", "FORUM-06"}),
        (FORUM, CURRENT, {"SDS-MSG-01", "SDS-MSG-04"}),
    ],
)
def test_an_implementation_of_one_text_does_not_conform_to_the_other(
    spoken: str, judged_by: str, failed: set[str]
) -> None:
    def speaks_one_text(request: pb.Request) -> pb.Reply:
        if request.HasField("hello"):
            request.hello.revision = spoken
        return inner(request)

    inner = reference()
    outcome = certified(lambda: speaks_one_text, revision=judged_by)
    assert failed <= with_verdict(outcome, Verdict.FAIL)
    assert with_verdict(outcome, Verdict.ERROR) == set()


def test_a_run_names_the_text_and_its_environments_and_says_nothing_of_repairs() -> None:
    result = typed("run", "--revision", FORUM, "--scenario", "ties", "--", *reference_command())
    assert result.exit_code == 0
    text = words(result.stdout)
    assert f"Against {FORUM}: the proposal of 2024, a separate protocol from which SDS grew" in text
    assert f"environment sds-r: {FORUM} has no SDS-R" in text
    assert "Repairs" not in text


# ---- Generated schedules ---------------------------------------------------------------------------------------------


def campaign(start: partial[Handle], examples: int, casting: CastKind = CastKind.TOGETHER) -> CampaignTally:
    return explore(
        CampaignOrder(
            lambda _: LocalLink(start()),
            revision=FORUM,
            casting=casting,
            grammar=Grammar(most=4, sds_r=False),
            examples=examples,
            seed=4,
        )
    )


def test_it_is_decided_of_each_property_of_sds_whether_it_holds_of_the_proposal() -> None:
    assert HOLDS.keys() | DOES_NOT_HOLD.keys() == set(PROPERTIES)
    assert not HOLDS.keys() & DOES_NOT_HOLD.keys()
    assert set(PROPOSED) == {property_id.replace("G-", "G-F") for property_id in HOLDS}


def test_nothing_is_found_against_the_reference_and_only_the_proposal_is_judged() -> None:
    tally = campaign(partial(reference), 20)
    assert (tally.found, tally.errors) == ({}, {})
    assert {what.partition("-")[0] for what in tally.exercised} == {OWN, "G"}
    assert {what for what in tally.exercised if what.startswith("G-")} <= set(PROPOSED)
    assert len(tally.exercised) > 40


@pytest.mark.parametrize(("casting", "first"), [(CastKind.TOGETHER, 0), (CastKind.AMONG, 1)])
def test_no_legal_variant_is_accused(casting: CastKind, first: int) -> None:
    for name in [name for name, known in VARIANTS.items() if known.revision == FORUM][first::2]:
        tally = campaign(partial(variant, name), 6, casting)
        assert (tally.found, tally.errors) == ({}, {}), name


DROPS_THE_LOST = Config(drops_the_lost=True)
LOSES_SOON = (("lost_timeout_ms", 30_000),)
GIVEN_UP = schedule(
    Send("alice", "m1", route=lost_to("bob")),
    Sync("alice"),
    Wait(31_000),
    Tick("bob"),
    Sync("bob"),
    Send("bob", "m2"),
    Look("bob"),
    configuration=LOSES_SOON,
)
LEGAL: dict[str, tuple[Config, Schedule]] = {
    "a sync message that was given up is in the log": (Config(), GIVEN_UP),
    "a sync message that was given up is not in the log": (DROPS_THE_LOST, GIVEN_UP),
    "a message that waits for a sync message that was given up is dropped": (
        DROPS_THE_LOST,
        schedule(
            Sync("bob", route=lost_to("alice")),
            Send("bob", "m1"),
            Send("alice", "m2"),
            Calm(2, store=True),
            configuration=LOSES_SOON,
        ),
    ),
    "messages that depend on a waiting sync message wait": (
        Config(),
        schedule(
            Say("mallory", "m1", to="alice", after=("ghost",), content=None),
            Say("mallory", "m2", to="alice", after=("m1",), content=None),
            Say("mallory", "m3", to="alice", after=("m2",)),
            *3 * (Wait(60_000), Tick("alice")),
            Look("alice"),
        ),
    ),
}


@pytest.mark.parametrize(("config", "what"), LEGAL.values(), ids=LEGAL)
def test_a_rare_legal_choice_is_no_fault(config: Config, what: Schedule) -> None:
    group_trace = play_schedule(what, lambda: reference(config), FORUM)
    assert assess(group_trace, Scope.select(revision=FORUM)).findings == []


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


def test_a_counterexample_is_replayed_under_its_revision(kept: Path) -> None:
    again = typed("replay", str(kept), "--", *reference_command("--mutant", "sync-increases-the-timestamp"))
    assert "FORUM-35 is violated in this run as well." in words(again.stdout)
    better = typed("replay", str(kept))
    assert better.exit_code == 0
    assert "FORUM-35 is not violated in this run" in words(better.stdout)


def test_2_a_counterexample_is_never_judged_by_another_text(tmp_path: Path, kept: Path) -> None:
    refused = typed("replay", "--revision", CURRENT, str(kept))
    assert refused.exit_code == 2
    assert f"was made for {FORUM}, not for {CURRENT}: omit --revision" in words(refused.stderr)
    file = tmp_path / "strange.json"
    file.write_text(kept.read_text().replace(FORUM, "forum-2023"))
    refused = typed("replay", str(file))
    assert refused.exit_code == 2
    assert "revision: there is no 'forum-2023'. Did you mean forum-2024?" in words(refused.stderr)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            f"fuzz --revision {FORUM} --passage gap",
            f"{FORUM} has no passage 'gap'. This name belongs to {CURRENT}: add --revision {CURRENT}. "
            f"`sds-conformance list passages --revision {FORUM}` shows the names",
        ),
        (f"fuzz --revision {FORUM} --profile sds-r", f"{FORUM} has no SDS-R: leave --profile out"),
        (f"fuzz --revision {FORUM} --dialect nim-sds", f"which {FORUM} does not have: leave --dialect out"),
        ("fuzz --passage idle -- ./it", f"{CURRENT} has no passage 'idle'"),
        (f"selftest --hunt --revision {FORUM} --only log-by-arrival", "log-by-arrival"),
    ],
)
def test_2_names_of_the_other_text_are_refused(command: str, said: str) -> None:
    refused = typed(*command.split())
    assert refused.exit_code == 2
    assert said in words(refused.stderr)


def test_no_schedules_are_generated_for_an_unknown_revision() -> None:
    assert scheduled() == ["sds-2026-01", "sds-2025-10-amended", FORUM, "clearskies-database"]
    with pytest.raises(ValueError, match=f"no schedules are generated for draft-0, only for .*{FORUM}"):
        repertoire_of("draft-0")


def test_2_an_implementation_of_another_text_is_not_cast_among_references() -> None:
    command = odd_adapter("speaks-one-revision", "sds-2026-01")
    refused = typed("fuzz", "--revision", FORUM, "--cast", "among", "--schedules", "1", "--jobs", "1", "--", *command)
    assert refused.exit_code == 2
    text = words(refused.stderr)
    assert f"speaks sds-2026-01, and not {FORUM}" in text
    assert "type --revision sds-2026-01" in text


def test_the_hunt_is_reported_for_the_proposal() -> None:
    options = ["--only", "forum-drops-the-unmet", "--only", "announces-*", "--variant-schedules", "0", "--jobs", "1"]
    output = typed("selftest", "--hunt", "--revision", FORUM, "--schedules", "30", *options, "--json")
    rows = {row["mutant"]: row for row in json.loads(output.stdout)["mutants"]}
    assert rows["forum-drops-the-unmet"]["found_by"] == "FORUM-22"
    assert rows["announces-ties"]["out_of_reach"]
