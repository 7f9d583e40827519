"""Corpora of the ClearSkies database extension: recorded, checked, shown, and compared by what its text leaves open."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from clearskies_corpora import REVISION, SCOPE, LocalModel, order_of
from clearskies_reference import Effects, Peer, RefusedWriteError
from clearskies_reference.mutants import MUTANTS
from clearskies_reference.testee.server import Testee, TesteeOptions
from suite_terminal import typed, words

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")
from corpus_comparison import classified, corpus
from recorded_corpora import order_of as order_of_sds
from recorded_corpora import record_here
from sds_conformance.corpus.classes import Class
from sds_conformance.corpus.difference import require_comparable
from sds_conformance.corpus.verdicts import Checker
from sds_conformance.exploration.campaign import CampaignTally
from sds_harness.clearskies.generator import Grammar
from sds_harness.corpus.errors import CorpusError
from sds_harness.corpus.reader import stored_in
from sds_harness.link import LocalLink
from sds_testee.version import suite_version

pytestmark = pytest.mark.spark

SCHEDULES = 14


def folder_of(model: LocalModel, at: Path, schedules: int = SCHEDULES) -> Path:
    return record_here(at, order_of(model, schedules, seed=2))


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(LocalModel(), tmp_path_factory.mktemp("corpora") / "reference")


def found_in(folder: Path) -> CampaignTally:
    """What `corpus check` says, in this process."""
    it = corpus(folder)
    tally = CampaignTally(order_of().cast_under_test().start())
    for each in stored_in(it, 0):
        tally.add(Checker(it, SCOPE).judge(0, each))
    return tally


def causes(a: Path, b: Path) -> set[tuple[Class, str]]:
    return {(one.kind, one.cause) for one in classified(a, b, SCOPE)}


# ---- Judged ----------------------------------------------------------------------------------------------------------


def test_the_reference_is_accused_of_nothing(reference: Path) -> None:
    tally = found_in(reference)
    assert (tally.found, tally.errors) == ({}, {})
    assert {what for what in tally.exercised if what.startswith("G-")} <= set(SCOPE.properties)
    assert corpus(reference).manifest.revision == REVISION


# ---- Compared --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variant", "freedom"),
    [
        ("echoes", "echoes"),
        ("clocks-count-each-hop", "hops"),
        ("repeats-originals", "conflicts"),
        pytest.param("signs-always", "signatures", marks=pytest.mark.exhaustive),
        pytest.param("pings", "pieces", marks=pytest.mark.exhaustive),
        pytest.param("sends-at-ticks", "moments", marks=pytest.mark.exhaustive),
    ],
)
def test_legal_differences_are_legal(reference: Path, tmp_path: Path, variant: str, freedom: str) -> None:
    found = causes(reference, folder_of(LocalModel(variant=variant), tmp_path / "b"))
    assert {kind for kind, _ in found} == {Class.LEGAL}
    assert freedom in {name for _, cause in found for name in cause.split(", ")}


@pytest.mark.parametrize(
    ("variant", "passage", "schedules", "freedom"),
    [
        ("losers-of-keys-deleted", "one-key-twice", 3, "conflicts"),
        ("times-in-seconds", "concurrent-edits", 6, "update-times"),
        ("closes-on-refusal", "odd-bodies", 2, "odd-messages"),
        ("sends-unasked", "a-stranger-writes", 6, "unasked"),
    ],
)
def test_what_is_open_in_special_cases_is_explained(
    tmp_path: Path, variant: str, passage: str, schedules: int, freedom: str
) -> None:
    grammar = Grammar(passages=(passage,))
    one, other = (
        record_here(tmp_path / name, order_of(model, schedules, seed=4, grammar=grammar))
        for name, model in (("a", LocalModel()), ("b", LocalModel(variant=variant)))
    )
    found = causes(one, other)
    assert (Class.LEGAL, freedom) in found
    assert {kind for kind, _ in found} == {Class.LEGAL}


class KeepsKeysApart(Peer):
    """Refuses to rename a record to a key in use, with another reason than the model's."""

    def rename(self, key: str, new_key: str, now_ms: int) -> Effects:
        if any(kept.record.key == new_key and not kept.record.deleted for kept in self.store):
            raise RefusedWriteError(f"there is a record with the key {new_key!r}")
        return super().rename(key, new_key, now_ms)


def test_a_key_that_is_taken_may_be_refused(tmp_path: Path) -> None:
    options = TesteeOptions(suite_version(), peer_class=KeepsKeysApart, name="keeps keys apart")
    grammar = Grammar(passages=("renames",))
    one, other = (
        record_here(tmp_path / name, order_of(model, 12, seed=6, grammar=grammar))
        for name, model in (("a", LocalModel()), ("b", lambda _: LocalLink(Testee(options).handle)))
    )
    found = causes(one, other)
    assert (Class.LEGAL, "keys-that-are-taken") in found
    assert Class.UNEXPLAINED not in {kind for kind, _ in found}


@pytest.mark.parametrize(
    "mutant",
    ["forgets-clocks-of-others", "counts-in-twos", "signs-nothing", "forgets-the-deleted", "relays-with-another-time"],
)
def test_a_fault_is_that_of_who_has_it(reference: Path, tmp_path: Path, mutant: str) -> None:
    found = classified(reference, folder_of(LocalModel(mutant=mutant), tmp_path / "b"), SCOPE)
    assert {one.kind for one in found} <= {Class.B_VIOLATES, Class.UNEXPLAINED, Class.LEGAL}
    assert MUTANTS[mutant].requirement in {requirement for one in found for requirement in one.violated_b}


# ---- Commands --------------------------------------------------------------------------------------------------------


def test_a_step_is_shown_in_words(reference: Path, tmp_path: Path) -> None:
    shown = typed("corpus", "show", str(reference), "0", "--out", str(tmp_path))
    assert shown.exit_code == 0
    assert re.search(r"link =(stranger|reader)/[0-9]+; sends", words(shown.stdout))


def test_2_corpora_of_two_protocols_are_not_compared(reference: Path, tmp_path: Path) -> None:
    sds = record_here(tmp_path / "sds", order_of_sds(schedules=2))
    with pytest.raises(CorpusError, match="belong to two protocols, so they cannot be compared"):
        require_comparable(corpus(reference), corpus(sds))
    refused = typed("corpus", "check", "--revision", "sds-2026-01", str(reference))
    assert refused.exit_code == 2
    assert f"was made for {REVISION}, not for sds-2026-01: omit --revision" in words(refused.stderr)


@pytest.mark.parametrize("variant", ["pss-signatures", "sha1-signatures"])
def test_whatever_is_declared_of_signatures_is_recorded_and_checked(spark: Any, tmp_path: Path, variant: str) -> None:
    at, command = str(tmp_path / "a"), [sys.executable, "-m", "clearskies_reference", "--variant", variant]
    asked = ("--revision", REVISION, "--schedules", "4", "--passage", "a-stranger-writes", "--passage", "forgeries")
    recorded = typed("corpus", "record", *asked, "--out", at, "--", *command)
    assert recorded.exit_code == 0, recorded.stderr
    checked = typed("corpus", "check", at)
    assert checked.exit_code == 0, checked.stdout
    assert any(row["signed"] for one in stored_in(corpus(tmp_path / "a"), 0, None, None) for row in one.rows)
