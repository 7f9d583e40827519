"""Which way a peer goes where the text leaves a choice: what runs of the model and of its variants show."""

from __future__ import annotations

import pytest

from sds_conformance.judging.certification import certify
from sds_conformance.judging.planning import plan
from sds_conformance.protocols.clearskies.register import REGISTER
from sds_conformance.protocols.clearskies.rules import MODEL, RULES
from sds_conformance.protocols.clearskies.ways.untold import UNTOLD
from sds_harness.link import Limits, Link

OF_THE_MODEL = {
    "CA-1": {"asked"},
    "CA-2": {"signs-again"},
    "CA-4": {"two"},
    "CA-7": {"of-records"},
    "CA-8": {"hidden"},
    "CA-11": {"counts"},
    "CA-13": {"emptied"},
}


def gone(variant: str = "") -> dict[str, set[str]]:
    """The ways that a variant goes, or the model itself, in the plain environment and among chatter."""

    def start(_: object) -> Link:
        return MODEL.variant(variant, frozenset()) if variant else MODEL.reference(frozenset())

    outcome = certify(start, plan(RULES, environments=["plain", "chatter"]), Limits())
    return {position: {shown.way for shown in ways} for position, ways in outcome.ways.items() if ways}


def test_every_position_has_ways_or_says_why_not() -> None:
    assert set(REGISTER.choices) | set(UNTOLD) == set(RULES.catalogue.positions)
    assert not set(REGISTER.choices) & set(UNTOLD)


def test_the_model_goes_one_way_at_each_position() -> None:
    assert gone() == OF_THE_MODEL


@pytest.mark.parametrize(
    ("variant", "position", "way"),
    [
        ("sends-unasked", "CA-1", "unasked"),
        ("repeats-originals", "CA-2", "repeats"),
        ("first-revision-one", "CA-4", "one"),
        ("clock-per-peer", "CA-7", "of-peers"),
        ("losers-of-keys-deleted", "CA-8", "deleted"),
    ],
)
def test_a_variant_goes_another_way_at_one_position(variant: str, position: str, way: str) -> None:
    assert gone(variant) == OF_THE_MODEL | {position: {way}}
