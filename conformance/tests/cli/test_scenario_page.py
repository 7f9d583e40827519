"""The page about scenario files: its tables are those of the schemas and of the classes of operations."""

from __future__ import annotations

import runpy
from pathlib import Path

from run_helpers import REPOSITORY
from sds_conformance.scenario_files.expectations import KINDS
from sds_harness.clearskies.notation import NOTATION as CLEARSKIES
from sds_harness.schedules import Notation
from sds_harness.sds.notation import NOTATION as SDS

SCRIPT = runpy.run_path(str(REPOSITORY / "docs" / "make_scenario_files.py"))
PAGE = Path(SCRIPT["PAGE"])


def test_the_tables_are_up_to_date() -> None:
    text = PAGE.read_text("utf-8")
    assert SCRIPT["fill_tables"](text) == text, "run `python docs/make_scenario_files.py`"


def test_every_expectation_of_a_schema_is_known_and_every_known_one_is_in_a_schema() -> None:
    def keys(notation: Notation) -> set[str]:
        return {*notation.schema["properties"]["expect"]["items"]["properties"]} - {"who"}

    assert keys(SDS) == {*KINDS}
    assert keys(CLEARSKIES) < keys(SDS)
