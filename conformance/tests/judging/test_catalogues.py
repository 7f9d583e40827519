"""A catalogue holds every requirement once, in our own words, and says of each why it is checked or why not."""

from __future__ import annotations

import json
import re
from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest

from sds_conformance.judging.catalogue import POSITION_VERDICTS
from sds_conformance.protocols import Protocol, protocols
from sds_conformance.protocols.clearskies.protocol import PROTOCOL as CLEARSKIES
from sds_conformance.protocols.sds.catalogue import CURRENT, load_catalogue
from sds_reference import REVISIONS

PROTOCOLS = pytest.mark.parametrize("protocol", protocols(), ids=lambda protocol: protocol.name)
LEVELS = {"MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY", "RECOMMENDED"}
CATALOGUE = load_catalogue()
REQUIREMENTS = list(CATALOGUE.requirements.values())
FORUM = "forum-2024"


def folder_of(protocol: Protocol) -> Path:
    return Path(str(files(type(protocol.rules).__module__.rpartition(".")[0])))


@PROTOCOLS
def test_a_requirement_stands_once_in_the_order_of_the_listed_sections(protocol: Protocol) -> None:
    catalogue = protocol.rules.catalogue
    texts = [json.loads(file.read_text("utf-8")) for file in (folder_of(protocol) / "catalogue").glob("*.json")]
    counted = Counter(row["id"] for text in texts for row in text.get("requirements", ()))
    assert counted == Counter(list(catalogue.requirements))
    order = [section.id for section in catalogue.sections]
    places = [order.index(requirement.section) for requirement in catalogue.requirements.values()]
    assert places == sorted(places) or protocol is CLEARSKIES  # which numbers them through all sections
    assert set(places) == set(range(len(order)))
    assert all(section.title and re.fullmatch(r"[a-z0-9_-]+", section.anchor) for section in catalogue.sections)


@PROTOCOLS
def test_statements_are_sentences_of_our_own(protocol: Protocol) -> None:
    requirements = protocol.rules.catalogue.requirements.values()
    assert len({requirement.statement.casefold() for requirement in requirements}) == len(requirements)
    for requirement in requirements:
        statement = requirement.statement
        assert statement == " ".join(statement.split()), requirement.id
        assert statement[0].isupper() or not statement[0].isalpha() or protocol is CLEARSKIES, requirement.id
        assert statement.endswith("."), requirement.id
        assert len(statement) > 30, requirement.id


@PROTOCOLS
def test_a_requirement_has_either_a_check_or_a_reason_for_having_none(protocol: Protocol) -> None:
    for requirement in protocol.rules.catalogue.requirements.values():
        assert (requirement.id in protocol.rules.register.checks) != bool(requirement.untestable), requirement.id
        assert not requirement.untestable or len(requirement.untestable) > 20, requirement.id


@PROTOCOLS
def test_levels_keywords_and_ways_of_observation_are_known_ones(protocol: Protocol) -> None:
    requirements = protocol.rules.catalogue.requirements.values()
    assert {each.level for each in requirements} <= LEVELS
    assert {each.keyword for each in requirements} <= {"explicit", "lowercase", "implied"}
    assert {each.observable for each in requirements} <= {"wire", "state", "statistical", "none"}
    assert {each.level for each in requirements if each.is_binding} == {"MUST", "MUST NOT"}
    assert {each.level for each in requirements if each.optional} <= {"MAY", "RECOMMENDED"}
    for requirement in requirements:
        checked = requirement.id in protocol.rules.register.checks
        assert not checked or requirement.observable != "none" or requirement.optional, requirement.id


@PROTOCOLS
def test_a_requirement_names_each_of_its_positions_once(protocol: Protocol) -> None:
    for requirement in protocol.rules.catalogue.requirements.values():
        assert len(set(requirement.positions)) == len(requirement.positions), requirement.id
        if requirement.softened:
            assert requirement.softened in requirement.positions
            assert requirement.is_binding


# ---- SDS and the proposal before it ----------------------------------------------------------------------------------


def test_what_only_some_revisions_state_names_known_ones() -> None:
    assert {revision for r in REQUIREMENTS for revision in r.revisions} == set(REVISIONS)
    of_sds = [r for r in REQUIREMENTS if r.id.startswith("SDS-")]
    assert {"SDS-R-RECV-04", "SDS-R-RECV-05"} <= {r.id for r in of_sds if not r.is_stated_in(CURRENT)}
    assert "SDS-R-RECV-03" in {r.id for r in of_sds if not r.is_stated_in("sds-2025-10-amended")}
    for requirement in REQUIREMENTS:
        assert {REVISIONS[name].prefix for name in requirement.revisions} == {requirement.id.partition("-")[0]}


def test_an_id_names_its_section_and_a_number_without_a_gap() -> None:
    settled = [r for r in REQUIREMENTS if not r.experimental]
    for requirement in settled:
        prefix = "FORUM" if requirement.section.startswith("F-") else f"SDS-{requirement.section}"
        assert re.fullmatch(rf"{prefix}-\d\d", requirement.id)
    for section in CATALOGUE.sections:
        numbers = [int(r.id[-2:]) for r in settled if r.section == section.id]
        first = numbers[0] if section.id.startswith("F-") and numbers else 1
        assert numbers == list(range(first, first + len(numbers))), section.id
    of_the_proposal = [int(r.id[-2:]) for r in settled if r.is_stated_in(FORUM)]
    assert of_the_proposal == list(range(1, len(of_the_proposal) + 1))


# ---- The database extension ------------------------------------------------------------------------------------------


def test_requirements_and_positions_of_the_database_extension_are_numbered_and_each_position_is_cited() -> None:
    catalogue = CLEARSKIES.rules.catalogue
    settled = [requirement.id for requirement in catalogue.requirements.values() if not requirement.experimental]
    assert settled == [f"CSDB-{number:02}" for number in range(1, len(settled) + 1)]
    assert list(catalogue.positions) == [f"CA-{number}" for number in range(1, len(catalogue.positions) + 1)]
    assert {position.verdict for position in catalogue.positions.values()} <= set(POSITION_VERDICTS)
    cited = {position for requirement in catalogue.requirements.values() for position in requirement.positions}
    for path in folder_of(CLEARSKIES).rglob("*.py"):
        cited |= set(re.findall(r"\bCA-\d+\b", path.read_text("utf-8")))
    assert cited == set(catalogue.positions)


def test_consequences_are_about_requirements_that_are_checked() -> None:
    rules = CLEARSKIES.rules
    codes = {f"{each.id}/{code}" for each in rules.catalogue.requirements.values() for code in each.codes}
    for row in rules.catalogue.consequences:
        assert {*row.of, *row.fail} <= {*rules.register.checks, *codes}
        assert row.because.endswith(".")
