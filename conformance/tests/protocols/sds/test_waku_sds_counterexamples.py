"""The counterexamples that are kept of @waku/sds: each still shows what it is kept for, and the reference passes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from run_helpers import reference
from sds_conformance.exploration.assessment import assess
from sds_conformance.exploration.campaign import CampaignOrder
from sds_conformance.exploration.cast_under_test import CastUnderTest
from sds_conformance.scenario_files.reader import load_one
from sds_harness.link import Limits, LocalLink, StdioLink
from sds_testee.framing import Framing
from waku_adapter import FOLDER, waku_command

pytestmark = pytest.mark.exhaustive

KEPT = sorted((FOLDER / "counterexamples").glob("*.json"))


@pytest.fixture(scope="module")
def waku() -> Iterator[CastUnderTest]:
    """The library, behind its adapter, in one process for all."""
    command = waku_command()
    cast_under_test = CastUnderTest(lambda variables: StdioLink(command, Framing.JSON, Limits(), variables), Limits())
    cast_under_test.start()
    yield cast_under_test
    cast_under_test.kill()


@pytest.fixture(scope="module")
def correct() -> CastUnderTest:
    cast_under_test = CastUnderTest(lambda _: LocalLink(reference()), Limits())
    cast_under_test.start()
    return cast_under_test


def found(cast_under_test: CastUnderTest, path: Path) -> set[str]:
    """Findings against an implementation in a stored schedule."""
    schedule = load_one(path).schedule
    scope = CampaignOrder(lambda _: LocalLink(reference())).scope
    return {finding.requirement for finding in assess(cast_under_test.play(schedule), scope).findings}


def test_some_are_kept_and_each_has_a_picture() -> None:
    assert len(KEPT) >= 14
    assert all(path.with_suffix(".svg").is_file() for path in KEPT)


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_it_still_shows_what_it_is_kept_for(waku: CastUnderTest, path: Path) -> None:
    shows = dict(load_one(path).schedule.notes)["shows"]
    assert path.stem == shows
    assert shows in found(waku, path)


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_the_reference_passes_it(correct: CastUnderTest, path: Path) -> None:
    assert found(correct, path) == set()
