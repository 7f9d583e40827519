"""Profile and revision of a run: the scenarios, verdicts, output and report that follow from them."""

from __future__ import annotations

import io
import json
import shlex
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from run_helpers import (
    AMENDED,
    Handle,
    altered,
    certified,
    plan,
    reference,
    reference_command,
    with_verdict,
)
from sds_conformance.judging.certification import Certification
from sds_conformance.judging.verdict import Verdict
from sds_conformance.presentation.story import show_implementation
from sds_conformance.protocols.sds.catalogue import CURRENT, load_catalogue
from sds_conformance.protocols.sds.declaration_notes import PROFILES, filter_note, repair_note
from sds_conformance.protocols.sds.register import CHECKS
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import REVISIONS, Config
from sds_reference.mutants import MUTANTS
from sds_reference.variants import VARIANTS
from suite_terminal import typed, words

KNOWN = load_catalogue().requirements
FORUM = "forum-2024"
FEW = ("every-kind-*", "asks-for-what-is-missing", "without-sds-r")
WITHOUT_SDS_R = (pb.CAPABILITY_SDS_R,)
PRIVATE = VARIANTS["private-hash"].configure(Config())


# ---- Plans -----------------------------------------------------------------------------------------------------------


def test_a_profile_is_a_part_of_the_requirements_and_full_is_all() -> None:
    full, core, extension = (set(plan(profile=profile).requirements) for profile in ("full", "core", "sds-r"))
    assert core | extension == full == {r for r in CHECKS if KNOWN[r].is_stated_in(CURRENT)}
    assert core & extension == set()
    assert all(requirement.startswith("SDS-R-") for requirement in extension)
    assert not any(requirement.startswith("SDS-R-") for requirement in core)
    assert {"SDS-MSG-08", "SDS-MSG-12"} <= core
    assert set(PROFILES) == {"full", "core", "sds-r"}


def test_a_revision_states_what_it_states() -> None:
    current, amended = (set(plan(revision=revision).requirements) for revision in (CURRENT, AMENDED))
    assert current - amended == {"SDS-R-RECV-03"}
    assert amended - current == {"SDS-R-RECV-04", "SDS-R-RECV-05"}
    proposed = set(plan(revision=FORUM).requirements)
    assert current | amended | proposed == set(CHECKS)
    assert proposed == {r for r in CHECKS if r.startswith("FORUM-")}
    assert plan(revision=AMENDED).revision == AMENDED
    assert set(REVISIONS) == {CURRENT, AMENDED, FORUM}


# ---- The command line ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--select", "SDS-R-TYPO"], "no requirement matches 'SDS-R-TYPO': `sds-conformance requirements` lists"),
        (
            ["--select", "R-STATE-03"],
            "SDS-R-STATE-03 has no check: `sds-conformance requirements SDS-R-STATE-03` gives",
        ),
        (["--select", "SDS-R-RECV-04"], f"{CURRENT} does not state SDS-R-RECV-04: add --revision {AMENDED}"),
        (
            ["--select", "r-recv-03", "--revision", AMENDED],
            f"{AMENDED} does not state SDS-R-RECV-03: add --revision {CURRENT}",
        ),
        (["--select", "SDS-R-RECV-01", "--profile", "core"], "is not in the profile core: leave --profile out"),
        (["--select", "SDS-MSG-01", "--profile", "sds-r"], "is not in the profile sds-r: leave --profile out"),
        (["--deselect", "SDS-MSG-01", "--profile", "sds-r"], "is not in the profile sds-r: leave --profile out"),
        (["--revision", "sds-1999-12"], f"'{CURRENT}', '{AMENDED}', '{FORUM}'"),
        (["--select", "FORUM-26"], f"{CURRENT} does not state FORUM-26: add --revision {FORUM}"),
        (
            ["--select", "SDS-ACK-01", "--revision", FORUM],
            f"{FORUM} does not state SDS-ACK-01: add --revision {CURRENT}",
        ),
        (["--profile", "sds-r", "--revision", FORUM], f"{FORUM} has no SDS-R: leave --profile out"),
        (["--dialect", "nim-sds", "--revision", FORUM], f"which {FORUM} does not have: leave --dialect out"),
        (["--profile", "everything"], "'full', 'core', 'sds-r'"),
    ],
)
def test_2_what_no_run_is_about_is_reported_with_what_to_type(arguments: list[str], said: str) -> None:
    result = typed("run", *arguments)
    assert result.exit_code == 2
    assert said in words(result.stderr)


def test_a_run_of_a_revision_and_a_profile_is_about_these() -> None:
    result = typed("run", "--json", "--profile", "sds-r", "--revision", AMENDED, "--scenario", "its-request-is-lost")
    data = json.loads(result.stdout)
    assert result.exit_code == 0
    assert data["revision"] == AMENDED
    judged = {row["id"]: row["verdict"] for row in data["requirements"]}
    assert set(judged) == set(plan(profile="sds-r", revision=AMENDED).requirements)
    assert judged["SDS-R-RECV-04"] == "pass"


def test_what_is_found_in_another_revision_is_shown_again_in_it() -> None:
    mutant = next(m.name for m in MUTANTS.values() if m.requirement == "SDS-R-RECV-04")
    command = reference_command("--mutant", mutant)
    scenario = "nobody-answers-the-others"
    result = typed("run", "--revision", AMENDED, "--scenario", scenario, "--environment", "plain", "--", *command)
    assert "WARN  SDS-R-RECV-04" in result.stdout
    again = f"sds-conformance run --select SDS-R-RECV-04 --scenario {scenario} --revision {AMENDED} -- "
    assert f"{again}{shlex.join(command)}" in words(result.stdout)
    assert f"{AMENDED}: SDS with the SDS-R extension" in words(result.stdout)


# ---- What is printed -------------------------------------------------------------------------------------------------


def certificate(outcome: Certification) -> str:
    out = Console(file=io.StringIO(), width=80)
    show_implementation(out, outcome.declaration, outcome.dialect, outcome.plan.revision, outcome.plan.profile)
    assert isinstance(out.file, io.StringIO)
    return words(out.file.getvalue())


def declaring(profile: str) -> Handle:
    """The reference with a hash of its own, which it declares under that name."""

    def names(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("hello"):
            reply.hello.profiles.hash = profile

    return altered(names, reference(PRIVATE))


REPAIRS: list[tuple[str, Any, str]] = [
    ("none", lambda: reference(without=WITHOUT_SDS_R), "no SDS-R: its requirements are skipped, but its fields must"),
    ("known", reference, "SDS-R, hash sha256-be64: times and response groups are judged exactly."),
    (
        "unknown",
        lambda: declaring("crc-of-my-own"),
        "SDS-R, hash 'crc-of-my-own', which this suite does not support: times and",
    ),
    ("nameless", lambda: reference(PRIVATE), "SDS-R, hash without a name: times and response groups are judged by"),
]


@pytest.mark.parametrize(("start", "said"), [case[1:] for case in REPAIRS], ids=[case[0] for case in REPAIRS])
def test_the_certificate_says_how_repairs_are_judged(start: Any, said: str) -> None:
    outcome = certified(start, scenarios=FEW)
    assert f"Against {CURRENT}: SDS with the SDS-R extension" in certificate(outcome)
    assert f"Repairs {said}" in certificate(outcome)
    assert said in repair_note(outcome.declaration)


@pytest.mark.parametrize(("codec", "said"), [(True, "the codec of the implementation shows"), (False, "and no codec;")])
def test_filters_are_read_with_a_codec_only_if_it_is_declared(codec: bool, said: str) -> None:
    without = {pb.CAPABILITY_UNSPECIFIED} if codec else {pb.CAPABILITY_FILTER_CODEC}
    declared = replace(certified(lambda: reference(without=without), scenarios=FEW).declaration, profiles={})
    assert said in filter_note(declared)


def test_what_is_about_the_extension_is_skipped_without_it_and_its_fields_are_judged() -> None:
    outcome = certified(lambda: reference(without=WITHOUT_SDS_R), profile="sds-r")
    assert with_verdict(outcome, Verdict.PASS) == {"SDS-R-FIELDS-03", "SDS-R-FIELDS-04"}
    skipped = {v.requirement.id: v.reason for v in outcome.verdicts if v.verdict is Verdict.SKIPPED}
    assert all("sds-r" in reason for reason in skipped.values())
    exercised = {one for run in outcome.plan.runs for one in run.scenario.exercises} - {
        "SDS-R-FIELDS-03",
        "SDS-R-FIELDS-04",
    }
    assert set(skipped) == exercised & set(outcome.plan.requirements)
