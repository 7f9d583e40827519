"""Implementations of ClearSkies that meet each other: who understands what, and who is named where something is not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import PROFILES, Config
from clearskies_reference.mutants import MUTANTS
from clearskies_reference.testee.server import Testee, TesteeOptions
from clearskies_reference.variants import VARIANTS
from sds_conformance.exploration.assessment import Scope
from sds_conformance.exploration.casts import Cast, Implementation
from sds_conformance.interop.matrix import Interop, explore
from sds_conformance.interop.mixed import explore_mixed
from sds_conformance.interop.mixed_cast import MixedCast
from sds_conformance.protocols import exchanges_of
from sds_conformance.protocols.clearskies.exchanges import Aspect
from sds_conformance.protocols.exchanges import AspectMark
from sds_harness.link import LocalLink

REVISION = "clearskies-database"


def options_of(name: str) -> TesteeOptions:
    """The reference, or the variant or mutant of that name."""
    if name in VARIANTS:
        return TesteeOptions("1", VARIANTS[name].configure(Config()), VARIANTS[name].peer_class)
    if name in MUTANTS:
        return TesteeOptions("1", MUTANTS[name].configure(Config()), MUTANTS[name].peer_class)
    return TesteeOptions("1")


@contextmanager
def cast_of(**options: TesteeOptions) -> Iterator[Cast]:
    def implementation(name: str, chosen: TesteeOptions) -> Implementation:
        return Implementation(name, lambda _: LocalLink(Testee(chosen).handle))

    with Cast((implementation(*pair) for pair in options.items()), REVISION) as cast:
        yield cast


def met(name: str) -> Interop:
    with cast_of(ref=TesteeOptions("1"), other=options_of(name)) as cast:
        return explore(cast)


def marked(outcome: Interop, mark: AspectMark) -> dict[str, str]:
    return {
        f"{sender} to {receiver}, {aspect}": cell.reason
        for (sender, receiver), meeting in outcome.meetings.items()
        for aspect, cell in meeting.cells.items()
        if cell.mark is mark
    }


@pytest.mark.parametrize("name", ["reference", "sends-at-ticks", "spaced-bodies", "losers-of-keys-deleted", "echoes"])
def test_the_reference_and_legal_variants_understand_everything_of_each_other(name: str) -> None:
    outcome = met(name)
    assert marked(outcome, AspectMark.NO) == {}
    assert marked(outcome, AspectMark.OPEN) == {}
    assert len(outcome.meetings) == 4


@pytest.mark.parametrize(
    ("name", "aspect"),
    [
        ("sends-values-as-strings", Aspect.UPDATE),
        ("reader-does-not-answer", Aspect.RELAY),
        ("ignores-deletions", Aspect.DELETION),
        ("keeps-old-keys", Aspect.RENAMING),
        ("smallest-time-wins", Aspect.CONFLICT),
        ("first-key-wins", Aspect.KEY),
    ],
)
def test_what_is_not_understood_is_named(name: str, aspect: Aspect) -> None:
    wrong = marked(met(name), AspectMark.NO)
    assert any(key.endswith(f", {aspect}") for key in wrong), wrong
    assert all("other" in reason for key, reason in wrong.items() if key.endswith(f", {aspect}"))
    assert not any(key.startswith("ref to ref") for key in wrong)


def test_another_profile_of_signatures_is_reported_and_only_signatures_are_not_believed() -> None:
    sha1 = replace(Config(), signature_profile=PROFILES["rsa-pkcs1-sha1"])
    with cast_of(ref=TesteeOptions("1"), other=TesteeOptions("1", sha1)) as cast:
        outcome = explore(cast)
    between = {key for key in marked(outcome, AspectMark.NO) if key.startswith(("ref to other", "other to ref"))}
    assert between == {
        f"{pair}, {aspect}" for pair in ("ref to other", "other to ref") for aspect in (Aspect.SIGNATURE, Aspect.RELAY)
    }
    (pair,) = [m.pair for (s, r), m in outcome.meetings.items() if (s, r) == ("ref", "other")]
    assert any("both must use the same" in note for note in exchanges_of(REVISION).notes(pair))


def test_what_is_not_declared_is_left_open() -> None:
    lesser = TesteeOptions("1", without=frozenset({pb.CAPABILITY_READ_ONLY, pb.CAPABILITY_RENAME}))
    with cast_of(ref=TesteeOptions("1"), other=lesser) as cast:
        outcome = explore(cast)
    assert marked(outcome, AspectMark.NO) == {}
    left = marked(outcome, AspectMark.OPEN)
    assert set(left) == {
        *(f"{who} to other, {Aspect.SIGNATURE}" for who in ("ref", "other")),
        *(f"other to {who}, {aspect}" for who in ("ref", "other") for aspect in (Aspect.RELAY, Aspect.RENAMING)),
    }
    assert all("does not declare" in reason for reason in left.values())


def test_a_fault_in_a_mixed_group_is_that_of_who_has_it() -> None:
    scope = replace(Scope.select(revision=REVISION), requirements=())
    bad = options_of("smallest-time-wins")
    with cast_of(ref=TesteeOptions("1"), bad=bad) as cast, MixedCast(cast) as mixed_cast:
        cast.start()
        mixed = explore_mixed(mixed_cast, 0, 12, scope)
    assert ("bad", "G-C02") in mixed.discoveries
