"""A private wire layout is one fault of layout: what is said in it is judged like anything else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from run_helpers import Handle, altered, certified, reference, verdict_on, with_verdict
from sds_conformance.judging.certification import Certification
from sds_conformance.judging.exits import Exit
from sds_conformance.judging.rules import UnknownDialectError
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.sds.register import CHECKS
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference.mutants import MUTANTS
from sds_reference.testee import dialect as package

pytestmark = pytest.mark.exhaustive

LAYOUT = {f"SDS-MSG-{number}" for number in ("01", "02", "03", "04", "05", "06", "07", "09")}
"""The requirements on the layout itself."""


def nim_like() -> Handle:
    """The reference in the layout of nim-sds, which it declares."""
    return reference(dialect="nim-sds")


def secretive() -> Handle:
    """The same, without declaring it."""

    def says_nothing(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("hello"):
            reply.hello.profiles.ClearField("dialect")

    return altered(says_nothing, nim_like())


@pytest.fixture(scope="module", params=["declared", "asked for"])
def translated(request: pytest.FixtureRequest) -> Certification:
    start = secretive if request.param == "asked for" else nim_like
    return certified(start, scenarios=["*"], dialect=None if request.param == "declared" else "nim-sds")


def test_the_layout_fails_and_nothing_else(translated: Certification) -> None:
    assert with_verdict(translated, Verdict.FAIL) == LAYOUT
    assert with_verdict(translated, Verdict.PASS) == set(translated.plan.requirements) - LAYOUT
    assert translated.exit_code == Exit.NON_CONFORMANT
    assert translated.breakdowns == []
    assert translated.dialect == "nim-sds"
    assert all(1 <= len(verdict_on(translated, requirement).findings) <= 5 for requirement in LAYOUT)


def test_without_translation_a_private_layout_hides_what_is_behind_it() -> None:
    outcome = certified(secretive)
    assert "SDS-MSG-01" in with_verdict(outcome, Verdict.FAIL)
    assert len(with_verdict(outcome, Verdict.PASS)) < len(CHECKS) // 2
    assert with_verdict(outcome, Verdict.ERROR) == set()


def test_the_layout_of_the_text_is_not_read_in_a_dialect_it_is_not_in() -> None:
    outcome = certified(reference, dialect="nim-sds")
    assert outcome.exit_code != 0
    assert with_verdict(outcome, Verdict.ERROR) == set()


def test_a_fault_behind_the_dialect_is_found_as_without_it() -> None:
    mutant = MUTANTS["drops-the-unmet"]
    plain = certified(lambda: reference(participant=mutant.participant_class))
    private = certified(lambda: reference(participant=mutant.participant_class, dialect="nim-sds"))
    assert mutant.requirement in with_verdict(plain, Verdict.FAIL, Verdict.WARN)
    assert with_verdict(private, Verdict.FAIL, Verdict.WARN) == LAYOUT | with_verdict(plain, Verdict.FAIL, Verdict.WARN)


def test_a_dialect_of_ones_own_is_described_in_a_file(tmp_path: Path) -> None:
    shipped = json.loads((Path(package.__file__).parent / "dialects" / "nim-sds.json").read_text("utf-8"))
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(shipped | {"dialect": "mine"}), "utf-8")
    outcome = certified(secretive, select=["SDS-MSG-*", "SDS-SEND-*"], dialect=str(file))
    assert with_verdict(outcome, Verdict.FAIL) == LAYOUT


def test_a_dialect_that_is_declared_and_not_known_is_a_configuration_error() -> None:
    def speaks_klingon(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("hello"):
            reply.hello.profiles.dialect = "klingon"

    with pytest.raises(UnknownDialectError, match=r"not known here: 'klingon'. Known are nim-sds"):
        certified(lambda: altered(speaks_klingon))


def test_a_dialect_that_was_asked_for_counts_more_than_the_one_declared() -> None:
    with pytest.raises(UnknownDialectError, match="no dialect 'no-such-dialect'"):
        certified(nim_like, dialect="no-such-dialect")


def test_a_dialect_that_is_declared_is_not_spoken_where_none_was_asked_for() -> None:
    outcome = certified(nim_like, scenarios=["a-diamond"], dialect="")
    assert outcome.dialect == ""
    assert "SDS-SEND-01" not in with_verdict(outcome, Verdict.PASS)
