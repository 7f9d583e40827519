"""Which way a peer goes where the text leaves a choice: what runs of the model and of its variants show."""

from __future__ import annotations

import pytest

from sds_conformance.judging.certification import certify
from sds_conformance.judging.plan import plan
from sds_conformance.protocols.clearskies.register import REGISTER
from sds_conformance.protocols.clearskies.rules import MODEL, RULES
from sds_harness.link import Limits, Link

POSITIONS = RULES.catalogue.positions
OPTIONS = {(position.id, name): option for position in POSITIONS.values() for name, option in position.options.items()}
OF_THE_MODEL = {position: {name} for (position, name), option in OPTIONS.items() if option.taken_by == "reference"}


def gone(variant: str = "") -> dict[str, set[str]]:
    """The ways that a variant goes, or the model itself, in the plain environment and among chatter."""

    def start(_: object) -> Link:
        return MODEL.variant(variant, frozenset()) if variant else MODEL.reference(frozenset())

    outcome = certify(start, plan(RULES, environments=["plain", "chatter"]), Limits())
    return {position: {shown.way for shown in ways} for position, ways in outcome.ways.items() if ways}


def test_every_position_has_options_that_a_run_shows_or_a_reason_why_it_has_none() -> None:
    assert set(REGISTER.shown) == {position for position, _ in OPTIONS}
    assert all(bool(position.options) != bool(position.not_shown) for position in POSITIONS.values())
    assert all(bool(option.taken_by) != bool(option.reason) for option in OPTIONS.values())


def test_the_model_goes_one_way_at_each_position() -> None:
    assert gone() == OF_THE_MODEL


TAKEN = [
    (option.taken_by.removeprefix("variant "), position, name)
    for (position, name), option in OPTIONS.items()
    if option.taken_by.startswith("variant ")
]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("variant", "position", "way"), TAKEN)
def test_a_variant_goes_another_way_at_one_position(variant: str, position: str, way: str) -> None:
    assert gone(variant) == OF_THE_MODEL | {position: {way}}
