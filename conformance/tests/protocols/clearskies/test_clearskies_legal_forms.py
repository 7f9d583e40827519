"""A reader that keeps records without a signature is judged by CA-17, and bodies of any depth are read."""

from __future__ import annotations

from clearskies_reference.mutants import MUTANTS
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
