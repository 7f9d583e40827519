"""A catalogue holds every requirement once, in our own words, and says of each why it is checked or why not."""

from __future__ import annotations

import ast
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


# ---- Codes of violations ---------------------------------------------------------------------------------------------

SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+){0,3}")
LONGEST = 90


def written_in(folder: Path) -> set[str]:
    """All texts in the sources of a folder."""
    trees = (ast.parse(path.read_text("utf-8")) for path in folder.rglob("*.py"))
    nodes = (node for tree in trees for node in ast.walk(tree))
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def listed_by(protocol: Protocol) -> list[tuple[str, str, str]]:
    """By requirement: each code, with its description."""
    requirements = protocol.rules.catalogue.requirements.values()
    return [(requirement.id, code, text) for requirement in requirements for code, text in requirement.codes.items()]


@PROTOCOLS
def test_a_code_is_a_slug_of_few_words_with_a_short_description(protocol: Protocol) -> None:
    listed = listed_by(protocol)
    assert [(who, code) for who, code, _ in listed if not SLUG.fullmatch(code)] == []
    assert [(who, code) for who, code, text in listed if not text or len(text) > LONGEST or text.endswith(".")] == []


@PROTOCOLS
def test_a_code_is_given_by_some_check(protocol: Protocol) -> None:
    written = written_in(folder_of(protocol) / "checks") | written_in(folder_of(protocol) / "view")
    assert [(who, code) for who, code, _ in listed_by(protocol) if code not in written] == []


@PROTOCOLS
def test_a_requirement_lists_its_codes_once(protocol: Protocol) -> None:
    """Of two lists in one row the reader would take the last one, and say nothing."""

    def row(pairs: list[tuple[str, object]]) -> dict[str, object]:
        names = [name for name, _ in pairs]
        assert len(set(names)) == len(names), f"{names} of {dict(pairs).get('id')}"
        return dict(pairs)

    for path in (folder_of(protocol) / "catalogue").glob("*.json"):
        json.loads(path.read_text("utf-8"), object_pairs_hook=row)
