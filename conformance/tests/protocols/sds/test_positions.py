"""Every position that anything cites can be looked up, and every one that can be looked up is cited."""

from __future__ import annotations

import json
import re
from importlib import import_module
from importlib.resources import files

import pytest

from run_helpers import REPOSITORY
from sds_conformance.judging.catalogue import POSITION_VERDICTS
from sds_conformance.judging.catalogue import POSITIONS as AMB
from sds_conformance.protocols import protocols
from sds_conformance.protocols.sds import catalogue as package
from sds_conformance.protocols.sds.catalogue import load_catalogue
from suite_terminal import too_wide, typed, words

POSITIONS = load_catalogue().positions
CITATION = re.compile(r"AMB-C?\d+")
SOURCES = {".py", ".mjs", ".md", ".json"}
PLACES = ("conformance/sds_conformance", "reference/sds_reference", "harness/sds_harness", "harness/adapters")


def cited_in_the_catalogue() -> set[str]:
    requirements = load_catalogue().requirements.values()
    return {cited for r in requirements for cited in (*r.positions, r.softened) if cited}


def cited_in_sources() -> set[str]:
    found: set[str] = set()
    for place in PLACES:
        for path in (REPOSITORY / place).rglob("*"):
            if path.suffix in SOURCES and "node_modules" not in path.parts and path.name != "positions.json":
                found |= set(CITATION.findall(path.read_text("utf-8")))
    return found


def test_every_position_that_is_cited_can_be_looked_up() -> None:
    cited = cited_in_sources()
    assert {"AMB-15", "AMB-24", "AMB-C15"} <= cited <= set(POSITIONS)
    assert cited_in_the_catalogue() == set(POSITIONS)
    for position in POSITIONS.values():
        assert set(CITATION.findall(position.position)) <= set(POSITIONS) - {position.id}


def test_ids_are_unique_and_sorted_by_number_with_the_contradictions_last() -> None:
    rows = json.loads(files(package.__name__).joinpath("positions.json").read_text("utf-8"))["positions"]
    ids = [row["id"] for row in rows]
    assert len(set(ids)) == len(ids)
    assert all(CITATION.fullmatch(position_id) and position_id.startswith(f"{AMB}-") for position_id in ids)
    numbers = [(part.startswith("C"), int(part.lstrip("C"))) for part in (p.removeprefix(f"{AMB}-") for p in ids)]
    assert numbers == sorted(numbers)


def test_questions_and_positions_are_single_sentences() -> None:
    for position in POSITIONS.values():
        for sentence in (position.question, position.position):
            assert sentence == " ".join(sentence.split()), position.id
            assert sentence[0].isupper(), position.id
            assert sentence.endswith("."), position.id
            assert ". " not in sentence, position.id
            assert 15 < len(sentence) < 240, position.id
    assert len({position.question for position in POSITIONS.values()}) == len(POSITIONS)
    assert {position.verdict for position in POSITIONS.values()} == set(POSITION_VERDICTS)


def test_what_softens_a_finding_says_warning() -> None:
    """A finding that is a warning by some position is looked up there, and must be explained."""
    softening = {r.softened for r in load_catalogue().requirements.values() if r.softened}
    for path in (REPOSITORY / "conformance" / "sds_conformance" / "protocols" / "sds" / "checks").rglob("*.py"):
        # A position in quotes is an argument of a finding; one in brackets is a remark.
        softening |= set(re.findall(r'"(AMB-C?\d+)"', path.read_text("utf-8")))
    assert {"AMB-15", "AMB-24", "AMB-44", "AMB-64"} <= softening
    for position_id in softening:
        assert POSITIONS[position_id].verdict == "warn", position_id
        assert "warning" in POSITIONS[position_id].position, position_id


NO_POSITION = {
    "nothing gives the signals of a step an order, or records": """
        acknowledgements-last deliveries-last shows-records-in-reverse
    """,
    "an ephemeral message shows no timestamp": "ephemerals-raise-the-clock",
    "JSON, UUIDs and streams have several forms for the same": """
        writes-whole-numbers-with-point spaced-bodies spaced-requests escaped-bodies capital-uuids
        capital-uuids-shown capital-own-uuids writes-deleted-false zero-entries accepts-repeated-names
        split-output writes-numbers-with-exponent
    """,
    "it is for the core protocol to say": """
        sha1-signatures pss-signatures long-pss-salts pings closes-on-refusal ends-answers-with-unknown-type
    """,
    "the proposal of 2024 has no positions": """
        increases-by-ten increases-on-reception forgets-its-syncs resends-syncs delivers-syncs
        processes-own-messages reviews-every-copy buffered-meets-dependencies
    """,
    "nothing says how much one sweep does": "resends-a-hundred one-level-a-sweep",
    "nothing says when a dependency that is still missing is reported again": """
        signals-missing-once signals-all-that-is-missing
    """,
    "nothing says which process does periodic work, or when": """
        works-at-sends-and-receipts delivers-while-sending resends-at-fixed-times loss-timers-restart
    """,
    "nothing says what a retrieval hint is": "same-own-hint",
    "the text permits it": "asks-with-zeros asks-without-itself polls repeats-its-request sends-own-changes-twice",
    "the text does not describe what is between a peer and its application": """
        refuses-taken-uuids deletes-what-is-gone shows-no-deletions renames-in-two renames-in-place
        ignores-identical-writes
    """,
}
"""Legal variants that no position is about, by the reason."""


def test_every_legal_variant_takes_an_option_of_a_position_or_there_is_a_reason() -> None:
    excused = {name for names in NO_POSITION.values() for name in names.split()}
    for protocol in protocols():
        positions = protocol.rules.catalogue.positions.values()
        takers = [option.taken_by for position in positions for option in position.options.values()]
        named = {taker.removeprefix("variant ") for taker in takers if taker.startswith("variant ")}
        named |= {variant for position in positions for variant in position.variants}
        assert named <= set(protocol.model.variants)
        assert not named & excused
        assert {variant.removeprefix("forum-") for variant in protocol.model.variants} <= {
            variant.removeprefix("forum-") for variant in named | excused
        }
        mutants = {taker.removeprefix("mutant ") for taker in takers if taker.startswith("mutant ")}
        assert mutants <= set(protocol.model.mutants)


@pytest.mark.spark
def test_positions_explain_freedoms_that_there_are() -> None:
    for protocol in protocols():
        corpora = protocol.corpora()
        if corpora is None:
            continue
        freedoms = [corpora.freedoms, *(other.freedoms for other in corpora.others.values())]
        for those in freedoms:
            assert len({freedom.name for freedom in those}) == len(those)
        explained = {name for each in protocol.rules.catalogue.positions.values() for name in each.explains}
        assert explained <= {freedom.name for those in freedoms for freedom in those}


# ---- On the command line -----------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _nothing_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a run of the reference who looks up a position."""

    def played(*arguments: object, **options: object) -> None:
        raise AssertionError("played")

    monkeypatch.setattr(import_module("sds_conformance.cli.requirements"), "find_sightings", played)


def test_a_position_is_shown_with_the_requirements_it_concerns() -> None:
    result = typed("requirements", "AMB-24")
    assert result.exit_code == 0
    assert too_wide(result.stdout) == []
    text = words(result.stdout)
    position = POSITIONS["AMB-24"]
    for said in (position.question, position.position, "warn: ", "SDS-RECV-02: ", "SDS-DELIVER-06: "):
        assert said in text
    assert "Way once: delivers it once Way again: delivers it again" in text
    assert "Ways cannot be observed in a run: AMB-42 reports this choice" in words(
        typed("requirements", "AMB-C1").stdout
    )
    assert load_catalogue().requirements["SDS-DELIVER-06"].statement in text


def test_positions_as_json() -> None:
    rows = json.loads(typed("requirements", "AMB-2?", "--json").stdout)
    assert [row["id"] for row in rows] == [p for p in POSITIONS if re.fullmatch(r"AMB-2\d", p)]
    (row,) = [row for row in rows if row["id"] == "AMB-24"]
    assert set(row) == {"kind", "id", "question", "position", "verdict", "ways", "untold", "requirements"}
    assert [way["way"] for way in row["ways"]] == ["once", "again"]
    (other,) = [row for row in rows if row["id"] == "AMB-26"]
    assert (other["ways"], bool(other["untold"])) == ([], True)
    assert row["requirements"] == ["SDS-RECV-02", "SDS-DELIVER-06"]


def test_a_position_that_does_not_exist_is_reported_with_what_to_type_next() -> None:
    result = typed("requirements", "AMB-999")
    assert result.exit_code == 2
    assert "'AMB-*' and 'CA-*' list the positions" in words(result.stderr)
