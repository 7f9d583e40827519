"""The vectors of ClearSkies, asked: legal implementations pass, and mutants are found in the group of their fault."""

from __future__ import annotations

import pytest

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import PROFILES, Config
from clearskies_reference.variants import VARIANTS
from clearskies_vectors import (
    CAPABILITIES,
    asked,
    files,
    mutant,
    reference,
)
from sds_conformance.vectors.running.subject import Status
from sds_harness.clearskies.language import CLEARSKIES
from vector_folders import failed_groups, failures

# ---- Legal models ----------------------------------------------------------------------------------------------------


def test_the_reference_passes_all_that_are_of_its_profile() -> None:
    outcome = asked()
    assert failures(outcome) == []
    assert outcome.count(Status.WARN) == 0
    assert outcome.count(Status.PASS) > 250
    skipped = {group for group in outcome.groups if outcome.reasons(group)}
    assert skipped == {f"{kind}-{name}" for kind in ("signatures", "signing") for name in list(PROFILES)[1:]}
    assert outcome.exit_code == 0


def test_between_them_the_profiles_pass_every_vector() -> None:
    passed: set[str] = set()
    for name in PROFILES:
        outcome = asked(lambda name=name: reference(Config(PROFILES[name])))  # type: ignore[misc]
        assert failures(outcome) == []
        passed |= {a.vector["id"] for a in outcome.answered if a.answer.status in (Status.PASS, Status.ACCEPTABLE)}
    assert passed == {test["id"] for file in files() for test in file["tests"]}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_legal_variants_pass(name: str) -> None:
    variant = VARIANTS[name]
    outcome = asked(lambda: reference(variant.configure(Config()), variant.peer_class))
    assert failures(outcome) == []
    assert outcome.count(Status.WARN) == 0
    assert outcome.count(Status.SKIPPED) == 64


@pytest.mark.parametrize("capability", CAPABILITIES[::3], ids=CLEARSKIES.name_of)
def test_what_is_not_declared_is_skipped_and_no_pass(capability: int) -> None:
    outcome = asked(lambda: reference(without=frozenset({capability})))
    assert failures(outcome) == []
    assert outcome.exit_code == 0


def test_where_nothing_can_be_asked_nothing_passes() -> None:
    codecs = {pb.CAPABILITY_CLOCK_CODEC, pb.CAPABILITY_MESSAGE_CODEC, pb.CAPABILITY_SIGNATURE_CODEC}
    outcome = asked(lambda: reference(without=frozenset(codecs)), "vector-clocks", "framing-*", "sign*-rsa-*")
    assert outcome.count(Status.SKIPPED) == len(outcome.answered) > 100
    assert outcome.exit_code == 4


# ---- Broken models ---------------------------------------------------------------------------------------------------


FAULTS = {
    "conflicts": "last-arrival-is-newer concurrent-is-older equal-replaces larger-time-keeps-older-versions",
    "key-conflicts": "first-key-wins first-key-wins-unseen refuses-a-second-uuid hides-records-with-the-same-key",
    "ghost-records": """
        forgets-the-deleted forgets-the-deleted-unseen forgets-deletions-of-others answers-without-the-deleted
    """,
    "get-updates": "answers-backwards answers-by-uuid does-not-answer-whom-it-asked closes-link-without-answer",
    "signatures-rsa-pkcs1-sha256": "accepts-every-signature accepts-signatures-of-256-bytes",
    "signed-updates": "accepts-every-signature trusts-readers reader-takes-unsigned writer-refuses-unsigned",
    "vector-clocks": "compares-doubles compares-common-peers equal-is-concurrent all-numbers-have-to-grow",
}
"""By group of vectors: mutants that fail in it."""


@pytest.mark.parametrize(
    ("name", "group"), [(name, group) for group, names in FAULTS.items() for name in names.split()]
)
def test_mutants_are_found_in_the_group_of_their_fault(name: str, group: str) -> None:
    outcome = asked(mutant(name), group)
    assert failed_groups(outcome) == {group}
    assert outcome.count(Status.ERROR) == outcome.count(Status.BROKEN) == 0


@pytest.mark.parametrize("name", ["compares-seconds", "first-wins-ties", "resolves-without-merging"])
def test_what_a_position_softens_or_a_should_asks_for_is_a_warning(name: str) -> None:
    outcome = asked(mutant(name), "conflicts")
    assert failures(outcome) == []
    assert outcome.count(Status.WARN) > 0
    assert outcome.exit_code == 0
