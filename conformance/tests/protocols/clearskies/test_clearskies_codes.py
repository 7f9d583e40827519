"""Codes of violations: each names the mistake, and is one that the catalogue lists."""

from __future__ import annotations

import pytest

from clearskies_reference import Config
from clearskies_reference.mutants import MUTANTS
from clearskies_reference.testee.server import Testee, TesteeOptions
from clearskies_views import stage_of
from sds_conformance.judging.judgement import Outcome
from sds_conformance.protocols.clearskies.catalogue import load_catalogue
from sds_conformance.protocols.clearskies.register import REGISTER
from sds_conformance.protocols.clearskies.view.peer_view import FACT_KINDS, peer_views


def codes_of(mutant: str, scenario: str) -> set[str]:
    """The codes that checks give to the violations of a mutant in a scenario, each under its requirement."""
    fault = MUTANTS[mutant]
    stage = stage_of(Testee(TesteeOptions("1", fault.configure(Config()), fault.peer_class)).handle)
    REGISTER.scenarios[scenario].function(stage)
    return {
        f"{requirement}/{observation.code}"
        for view in peer_views(stage.trace)
        for requirement, checks in REGISTER.checks.items()
        for check in checks
        if not stage.trace.declaration.missing_capabilities(check.needs)
        and all(FACT_KINDS[fact](view) for fact in check.of)
        for observation in check.function(view)
        if observation.outcome is Outcome.VIOLATED
    }


@pytest.mark.parametrize(
    ("mutant", "scenario", "code"),
    [
        ("first-key-wins", "a-key-that-is-taken", "CSDB-38/second-record-ignored"),
        ("refuses-a-second-uuid", "a-key-that-is-taken", "CSDB-40/second-record-refused"),
        ("newer-needs-a-newer-time", "one-descends-from-the-other", "CSDB-55/earlier-descendant-discarded"),
        ("older-replaces", "one-descends-from-the-other", "CSDB-55/later-ancestor-taken"),
        ("equal-replaces", "one-descends-from-the-other", "CSDB-48/equal-not-discarded"),
        ("equal-is-concurrent", "clocks-are-compared", "CSDB-48/equal-not-before"),
        ("keeps-keys-in-lower-case", "keys-and-values-of-others", "CSDB-07/key-changed"),
        ("keeps-numbers-as-doubles", "odd-contents", "CSDB-07/value-changed"),
        ("deletes-records-written-with-null", "odd-contents", "CSDB-07/sent-as-deletion"),
    ],
)
def test_a_mistake_has_its_code(mutant: str, scenario: str, code: str) -> None:
    found = codes_of(mutant, scenario)
    assert code in found
    catalogue = load_catalogue().requirements
    listed = {f"{requirement.id}/{each}" for requirement in catalogue.values() for each in requirement.codes}
    assert found <= listed


def test_nobody_owes_an_answer_to_a_request_of_another_type() -> None:
    codes = codes_of("asks-without-prefix", "readers-among-themselves")
    assert "CSDB-30/wrong-type" in codes
    assert "CSDB-31/not-answered" not in codes
