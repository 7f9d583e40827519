"""Corpora of the ClearSkies database extension: recorded, checked, shown, and compared by what its text leaves open."""

from __future__ import annotations

from pathlib import Path

import pytest

from clearskies_stored import SCOPE, Model, order_of

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")
from compared import corpus
from sds_conformance.corpus.checking import Checker
from sds_conformance.exploration.campaign import Tally
from sds_harness.clearskies.generator import Grammar
from sds_harness.corpus.reading import stored_in
from stored import record_here

pytestmark = pytest.mark.spark

SCHEDULES = 10
PASSAGES = Grammar(most=4, passages=("chatter", "edits", "deletions"))


def folder_of(model: Model, at: Path, schedules: int = SCHEDULES) -> Path:
    return record_here(at, order_of(model, schedules, seed=2, grammar=GRAMMAR))


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(Model(), tmp_path_factory.mktemp("corpora") / "reference")


def found_in(folder: Path) -> Tally:
    """What `corpus check` says, in this process."""
    it = corpus(folder)
    tally = Tally(order_of().company().start())
    for each in stored_in(it, 0):
        tally.add(Checker(it, SCOPE).judge(0, each))
    return tally
