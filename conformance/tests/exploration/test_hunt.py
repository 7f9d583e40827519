"""The hunt: the mutants that generated schedules find, and the report on them."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from sds_conformance.cli import main
from sds_conformance.exploration.hunt import hunt, hunt_false_accusations
from sds_conformance.protocols.sds.catalogue import load_catalogue
from sds_reference.mutants import MUTANTS
from sds_reference.variants import VARIANTS

pytestmark = pytest.mark.exhaustive


@pytest.mark.parametrize(
    "name", ["log-by-arrival", "does-not-buffer-outgoing", "requests-received-messages", "never-requests"]
)
def test_a_mutant_is_found_by_its_requirement_and_made_small(name: str) -> None:
    catch = hunt(name, 100)
    assert catch.found_after
    assert catch.found_by == MUTANTS[name].requirement
    assert 0 < catch.operations <= 12
    assert catch.schedule is not None


def test_a_deviation_from_a_permission_counts_as_found() -> None:
    requirement = load_catalogue().requirements[MUTANTS["signals-all-dependencies-as-missing"].requirement]
    assert requirement.optional
    assert hunt("signals-all-dependencies-as-missing", 20).found_by == requirement.id


@pytest.mark.parametrize("name", ["sweep-only", "nim-filter"])
def test_a_legal_variant_is_left_in_peace(name: str) -> None:
    assert name in VARIANTS
    assert hunt_false_accusations(name, 20).accused == ()


def test_what_gets_away_is_a_failure() -> None:
    options = [
        "--only",
        "gives-up-although-not-configured",
        "--schedules",
        "1",
        "--jobs",
        "1",
        "--variant-schedules",
        "0",
    ]
    output = CliRunner().invoke(main, ["selftest", "--hunt", *options])
    assert output.exit_code == 1
    assert "NOT FOUND" in output.stdout
