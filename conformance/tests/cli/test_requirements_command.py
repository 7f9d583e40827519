"""``requirements`` finds what has an ID or a name by that and by words, lists it with headings, and explains it."""

from __future__ import annotations

import json
import re
from importlib import import_module
from typing import Any

import pytest

from sds_conformance.cli.requirements import entries
from sds_conformance.protocols import protocols, repertoires
from sds_conformance.protocols.sds.catalogue import load_catalogue
from suite_terminal import too_wide, typed, words

REQUIREMENTS = load_catalogue().requirements


@pytest.fixture(autouse=True)
def nothing_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    def played(*arguments: object, **options: object) -> None:
        raise AssertionError("played")

    monkeypatch.setattr(import_module("sds_conformance.cli.requirements"), "find_sightings", played)


def rows(*arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(typed("requirements", "--json", *arguments).stdout)
    return found


def ids(*arguments: str) -> set[str]:
    return {row["id"] for row in rows(*arguments)}


def test_a_word_searches_statements_sections_and_positions_and_plays_nothing() -> None:
    found = ids("duplicates")
    assert {"SDS-RECV-02", "AMB-23", "AMB-24"} <= found
    assert all("duplicate" in row["statement"].lower() for row in rows("duplicates", "--kind", "requirement"))
    assert ids("duplicate") == found
    assert {"SDS-CONFLICT-01", "SDS-CONFLICT-03"} <= ids("resolve", "conflicts")


def test_all_words_count_and_ids_beside_them() -> None:
    assert ids("buffered", "SDS-RECV-06") == {"SDS-RECV-06"}
    assert ids("buffered", "SDS-RECV-*") < ids("SDS-RECV-*", "--no-run")
    assert ids("crashed", "delivers", "--kind", "property") == {"G-30"}


def test_a_property_of_the_group_is_explained() -> None:
    text = words(typed("requirements", "g-01").stdout)
    assert text.startswith("G-01 property of the group Rule All logs have the same entries.")
    assert f"Based on SDS-STATE-10: {REQUIREMENTS['SDS-STATE-10'].statement}" in text
    assert "sds-conformance fuzz -- COMMAND" in text
    assert ids("G-*") == {name for repertoire in repertoires() for name in repertoire.properties}


def test_a_scenario_is_explained() -> None:
    text = words(typed("requirements", "a-missing-dependency").stdout)
    assert f"For SDS-RECV-05: {REQUIREMENTS['SDS-RECV-05'].statement}" in text
    assert "Play it sds-conformance run --scenario a-missing-dependency -- COMMAND" in text
    assert "Played in plain Play it" in words(typed("requirements", "asked-for-lookalikes").stdout)
    (row,) = rows("a-missing-dependency")
    assert (row["kind"], "SDS-RECV-05" in row["requirements"]) == ("scenario", True)


def test_the_list_has_headings_and_everything_but_positions() -> None:
    text = typed("requirements", "--no-run").stdout
    assert too_wide(text) == []
    headings = ["Receive Message  sds-2026-01", "Message  forum-2024", "Properties of the group", "Scenarios"]
    places = [re.search(rf"^{re.escape(heading)}", text, re.MULTILINE) for heading in headings]
    assert all(places)
    assert [place.start() for place in places if place] == sorted(place.start() for place in places if place)
    listed = set(re.findall(r"^[\w-]+", text, re.MULTILINE))
    assert {entry.id for entry in entries() if entry.kind != "position"} <= listed
    assert re.search(r"^\d+ requirements: \d+ checked, \d+ untestable$", text, re.MULTILINE)
    stated = [requirement for protocol in protocols() for requirement in protocol.rules.catalogue.requirements]
    assert [row["id"] for row in rows("--no-run")] == stated


def test_each_requirement_links_to_where_the_public_text_has_it() -> None:
    by_id = {row["id"]: row for row in rows("--no-run")}
    assert by_id["SDS-RECV-06"]["link"].endswith("/docs/ift-ts/raw/sds.md#receive-message")
    assert by_id["SDS-RECV-06"]["link"] in typed("requirements", "SDS-RECV-06", "--no-run").stdout.splitlines()
    assert by_id["FORUM-09"]["link"].startswith("https://forum.vac.dev/t/")
    # The published text does not have the amended sentence.
    unlinked = {name for name, row in by_id.items() if not row["link"]}
    assert unlinked == {r.id for r in REQUIREMENTS.values() if r.revisions == ("sds-2025-10-amended",)}


def test_only_run_plays_and_counts_the_runs_that_exercise_a_requirement(monkeypatch: pytest.MonkeyPatch) -> None:
    for without in ((), ("--no-run",)):
        (row,) = rows("SDS-RECV-06", *without)
        assert (row["runs"], row["exercised_in"]) == (None, None)
        assert "a-diamond" in row["scenarios"]
        assert "Exercised" not in typed("requirements", "SDS-RECV-06", *without).stdout
    module = import_module("sds_conformance.cli.requirements")
    monkeypatch.setattr(module, "find_sightings", lambda *given: {"SDS-RECV-06": {"a-run-of-now": 3}})
    assert rows("buffered", "SDS-RECV-06", "--run")[0]["exercised_in"] == {"a-run-of-now": 3}
    shown = words(typed("requirements", "RECV-06", "--run").stdout)
    assert "Exercised 3 times in 1 run: a-run-of-now (3)" in shown
    assert "Exercised never" in words(typed("requirements", "SDS-INSWEEP-03", "--run").stdout)
    listed = typed("requirements", "SDS-RECV-*", "--run").stdout
    assert re.search(r"^SDS-RECV-06 +MUST +\d+ checks? +\d+ scenarios +\d+ mutants? +1 run$", listed, re.MULTILINE)
