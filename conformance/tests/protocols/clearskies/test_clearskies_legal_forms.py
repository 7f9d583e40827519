"""Legal forms of messages accuse nobody, and what a read-only peer keeps without a signature is judged by CA-17."""

from __future__ import annotations

import pytest

from clearskies_reference.mutants import MUTANTS
from clearskies_reference.variants import VARIANTS
from sds_conformance.judging.certification import Certification, certify
from sds_conformance.judging.plan import plan
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.clearskies.rules import MODEL, RULES
from sds_harness.clearskies import bodies
from sds_harness.link import Limits, Link

AGAINST = (Verdict.FAIL, Verdict.WARN, Verdict.ERROR)


def judged(link: Link, *scenarios: str) -> Certification:
    what = plan(RULES, scenarios=scenarios, revision="clearskies-database", environments=["plain"])
    return certify(lambda _: link, what, Limits())


def against(outcome: Certification) -> dict[str, Verdict]:
    assert outcome.breakdowns == []
    return {v.requirement.id: v.verdict for v in outcome.verdicts if v.verdict in AGAINST}


@pytest.mark.parametrize("name", ["capital-uuids", "capital-own-uuids", "capital-uuids-shown"])
def test_uuids_in_upper_case_are_those_of_the_same_records(name: str) -> None:
    assert name in VARIANTS
    outcome = judged(MODEL.variant(name, frozenset()), "changes-spread", "a-record-is-renamed", "records-in-turn")
    assert against(outcome) == {}


def test_a_rename_in_two_changes_is_no_gap_in_the_revisions() -> None:
    outcome = judged(MODEL.variant("renames-in-two", frozenset()), "a-record-is-renamed")
    assert against(outcome) == {"CSDB-23": Verdict.WARN}


def test_a_uuid_that_is_taken_may_be_refused() -> None:
    outcome = judged(MODEL.variant("refuses-taken-uuids", frozenset()), "a-uuid-that-is-taken")
    assert against(outcome) == {}


def test_a_reader_that_keeps_what_is_not_signed_is_warned_and_fails_by_leaving_it_out() -> None:
    assert "reader-keeps-unsigned-to-itself" in MUTANTS
    outcome = judged(MODEL.mutant("reader-keeps-unsigned-to-itself", frozenset()), "unsigned-changes-for-a-reader")
    assert against(outcome) == {"CSDB-05": Verdict.FAIL, "CSDB-16": Verdict.WARN}


def test_a_body_of_any_depth_is_read() -> None:
    deep = b'{"type":"database.update","key":"k","value":' + b"[" * 20_000 + b"]" * 20_000 + b"}"
    read = bodies.read(deep)
    assert (read.error, read.type, read.members["key"], read.depth) == ("", "database.update", "k", 20_001)
    assert read.value == bodies.read(deep).value
    assert read.value != bodies.read(deep.replace(b"[]", b"[1]")).value
