"""The catalogue holds every requirement once, in our own words, and says of each why it is checked or why not."""

from __future__ import annotations

import json
import re
from collections import Counter
from importlib.resources import files
from typing import Any

from sds_conformance.protocols.sds import catalogue as package
from sds_conformance.protocols.sds import checks
from sds_conformance.protocols.sds.catalogue import CURRENT, load_catalogue
from sds_conformance.protocols.sds.register import CHECKS
from sds_conformance.protocols.sds.rules import RULES
from sds_reference import REVISIONS

CATALOGUE = load_catalogue()
REQUIREMENTS = list(CATALOGUE.requirements.values())
LEVELS = {"MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY", "RECOMMENDED"}


FORUM = "forum-2024"


def rows() -> list[dict[str, Any]]:
    """The requirements as in the files, which would show a repeated ID."""
    found = [files(package.__name__).joinpath(f"{name}.json") for name in (CURRENT, FORUM)]
    texts = [json.loads(file.read_text("utf-8")) for file in found]
    return [row for data in texts for row in data["requirements"]]


def test_importing_the_checks_registers_them() -> None:
    places = {check.function.__module__ for registered in CHECKS.values() for check in registered}
    assert all(place.startswith(f"{checks.__name__}.") for place in places)
    assert len(CHECKS) > 90


def test_no_id_stands_in_the_files_twice() -> None:
    counted = Counter(row["id"] for row in rows())
    assert [requirement_id for requirement_id, count in counted.items() if count > 1] == []


def test_what_only_some_revisions_state_names_known_ones() -> None:
    assert CURRENT == "sds-2026-01"
    assert {revision for r in REQUIREMENTS for revision in r.revisions} == set(REVISIONS)
    of_sds = [r for r in REQUIREMENTS if r.id.startswith("SDS-")]
    assert {"SDS-R-RECV-04", "SDS-R-RECV-05"} <= {r.id for r in of_sds if not r.is_stated_in(CURRENT)}
    assert "SDS-R-RECV-03" in {r.id for r in of_sds if not r.is_stated_in("sds-2025-10-amended")}


def test_two_texts_have_no_requirement_in_common() -> None:
    for requirement in REQUIREMENTS:
        assert {REVISIONS[name].prefix for name in requirement.revisions} == {requirement.id.partition("-")[0]}


def test_every_id_names_its_section_and_a_number() -> None:
    for requirement in REQUIREMENTS:
        of_the_proposal = requirement.section.startswith("F-")
        prefix = "FORUM" if of_the_proposal else f"SDS-{requirement.section}"
        prefix = "FORUM-X" if requirement.section == "F-X" else prefix
        assert re.fullmatch(rf"{prefix}-\d\d", requirement.id)


def test_the_requirements_of_a_section_are_numbered_without_gaps() -> None:
    settled = [r for r in REQUIREMENTS if not r.experimental]
    for section in CATALOGUE.sections:
        numbers = [int(r.id[-2:]) for r in settled if r.section == section.id]
        first = numbers[0] if section.id.startswith("F-") and numbers else 1
        assert numbers == list(range(first, first + len(numbers))), section.id
    of_the_proposal = [int(r.id[-2:]) for r in settled if r.is_stated_in(FORUM)]
    assert of_the_proposal == list(range(1, len(of_the_proposal) + 1))


def test_experimental_requirements_have_ids_and_a_section_of_their_own() -> None:
    for requirement in REQUIREMENTS:
        named = re.fullmatch(r"(SDS(-R)?|FORUM)-X-\d\d", requirement.id) is not None
        assert named == requirement.experimental == (requirement.anchor == "experimental"), requirement.id


def test_every_section_has_a_title_an_anchor_and_requirements() -> None:
    assert len({section.id for section in CATALOGUE.sections}) == len(CATALOGUE.sections)
    for section in CATALOGUE.sections:
        assert section.title
        assert re.fullmatch(r"[a-z0-9_-]+", section.anchor)
        assert any(r.section == section.id for r in REQUIREMENTS)


def test_every_requirement_is_in_a_section_that_is_listed() -> None:
    assert {r.section for r in REQUIREMENTS} == {section.id for section in CATALOGUE.sections}


def test_requirements_stand_in_the_order_of_the_sections() -> None:
    order = [section.id for section in CATALOGUE.sections]
    places = [order.index(r.section) for r in REQUIREMENTS]
    assert places == sorted(places)


def test_the_extension_is_told_apart_from_the_core() -> None:
    core = {r.section for r in REQUIREMENTS if RULES.is_in_profile(r, "core")}
    assert core == {s.id for s in CATALOGUE.sections if not s.id.startswith("R-")}


def test_no_two_statements_are_alike_and_none_is_empty() -> None:
    counted = Counter(r.statement.casefold() for r in REQUIREMENTS)
    assert [statement for statement, count in counted.items() if count > 1] == []
    assert min(len(r.statement) for r in REQUIREMENTS) > 30


def test_statements_are_sentences() -> None:
    for requirement in REQUIREMENTS:
        statement = requirement.statement
        assert statement == " ".join(statement.split()), requirement.id
        assert statement[0].isupper() or not statement[0].isalpha(), requirement.id
        assert statement.endswith("."), requirement.id


def test_levels_keywords_and_ways_of_observation_are_known_ones() -> None:
    assert {r.level for r in REQUIREMENTS} == LEVELS
    assert {r.keyword for r in REQUIREMENTS} == {"explicit", "lowercase", "implied"}
    assert {r.observable for r in REQUIREMENTS} == {"wire", "state", "statistical", "none"}


def test_only_must_binds_and_only_may_and_recommended_are_optional() -> None:
    assert {r.level for r in REQUIREMENTS if r.is_binding} == {"MUST", "MUST NOT"}
    assert {r.level for r in REQUIREMENTS if r.optional} == {"MAY", "RECOMMENDED"}
    assert not [r.id for r in REQUIREMENTS if r.is_binding and r.optional]


def test_positions_are_named_by_their_ids_and_each_once() -> None:
    for requirement in REQUIREMENTS:
        assert all(re.fullmatch(r"AMB-C?\d+", position) for position in requirement.positions), requirement.id
        assert len(set(requirement.positions)) == len(requirement.positions), requirement.id


def test_what_softens_a_requirement_is_one_of_its_positions_and_softens_a_must() -> None:
    softened = [r for r in REQUIREMENTS if r.softened]
    assert {r.id for r in softened} >= {"SDS-DELIVER-03", "SDS-SYNC-15"}
    for requirement in softened:
        assert requirement.softened in requirement.positions
        assert requirement.is_binding


def test_a_requirement_has_either_a_check_or_a_reason_for_having_none() -> None:
    for requirement in REQUIREMENTS:
        assert (requirement.id in CHECKS) != bool(requirement.untestable), requirement.id
        assert not requirement.untestable or len(requirement.untestable) > 20, requirement.id


def test_what_has_no_way_to_be_observed_is_not_failed() -> None:
    for requirement_id in CHECKS:
        requirement = CATALOGUE.requirements[requirement_id]
        assert requirement.observable != "none" or requirement.optional, requirement_id
