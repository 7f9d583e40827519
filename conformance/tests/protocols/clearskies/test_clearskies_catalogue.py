"""The catalogue of the database extension: every requirement once, checked or with a reason, and its positions."""

from __future__ import annotations

import re
from pathlib import Path

from run_helpers import REPOSITORY
from sds_conformance.judging.catalogue import POSITION_VERDICTS
from sds_conformance.protocols.clearskies.catalogue import load_catalogue
from sds_conformance.protocols.clearskies.register import REGISTER
from sds_conformance.protocols.clearskies.rules import RULES

CATALOGUE = load_catalogue()
REQUIREMENTS = list(CATALOGUE.requirements.values())
CITATION = re.compile(r"\bCA-\d+\b")
SOURCES = REPOSITORY / "conformance" / "sds_conformance" / "protocols" / "clearskies"


def cited() -> set[str]:
    """The positions that requirements name, and those that findings and comments of the folder name."""
    named = {position for requirement in REQUIREMENTS for position in requirement.positions}
    texts = [path.read_text("utf-8") for path in Path(SOURCES).rglob("*.py")]
    return named | {found for text in texts for found in CITATION.findall(text)}


def test_requirements_are_in_the_order_of_their_numbers() -> None:
    settled = [requirement.id for requirement in REQUIREMENTS if not requirement.experimental]
    assert settled == [f"CSDB-{number:02}" for number in range(1, len(settled) + 1)]


def test_every_requirement_is_checked_or_says_why_not() -> None:
    untestable = {requirement.id: requirement.untestable for requirement in REQUIREMENTS if requirement.untestable}
    assert set(CATALOGUE.requirements) == set(REGISTER.checks) | set(untestable)
    assert not set(REGISTER.checks) & set(untestable)
    assert all(len(reason.split()) > 5 for reason in untestable.values())


def test_every_section_has_a_heading_and_requirements() -> None:
    titles = [section.title for section in CATALOGUE.sections]
    assert titles[:3] == ["Database Extension", "Access Levels", "Database Layout"]
    for section in CATALOGUE.sections:
        assert section.anchor == section.title.lower().replace(" ", "-")
        assert any(requirement.section == section.id for requirement in REQUIREMENTS)


def test_statements_are_sentences_of_our_own() -> None:
    assert len({requirement.statement.casefold() for requirement in REQUIREMENTS}) == len(REQUIREMENTS)
    for requirement in REQUIREMENTS:
        assert requirement.statement.endswith("."), requirement.id
        assert len(requirement.statement) > 30, requirement.id


def test_positions_are_numbered_and_each_is_cited_and_none_is_unknown() -> None:
    assert list(CATALOGUE.positions) == [f"CA-{number}" for number in range(1, len(CATALOGUE.positions) + 1)]
    assert len(CATALOGUE.positions) >= 14
    assert cited() == set(CATALOGUE.positions)
    assert {position.verdict for position in CATALOGUE.positions.values()} <= set(POSITION_VERDICTS)


def test_consequences_are_about_requirements_that_are_checked() -> None:
    codes = {f"{requirement.id}/{code}" for requirement in REQUIREMENTS for code in requirement.codes}
    for row in CATALOGUE.consequences:
        assert {*row.of, *row.fail} <= {*REGISTER.checks, *codes}
        assert row.because.endswith(".")


def test_positions_are_told_by_how_their_ids_begin() -> None:
    assert RULES.positions == "CA"


def test_every_way_to_violate_a_requirement_has_a_code_and_a_phrase() -> None:
    noted = {"CSDB-21"}  # the check reports a deviation as a note
    for requirement in REQUIREMENTS:
        assert bool(requirement.codes) == (requirement.id in REGISTER.checks and requirement.id not in noted)
        for code, phrase in requirement.codes.items():
            assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+){1,3}", code), code
            assert len(phrase.rstrip(".")) == len(phrase) <= 90, code


def test_every_code_is_given_by_a_check() -> None:
    sources = "".join(path.read_text("utf-8") for path in (SOURCES / "checks").glob("*.py"))
    listed = {code for requirement in REQUIREMENTS for code in requirement.codes}
    assert {code for code in listed if f'"{code}"' not in sources} == set()
