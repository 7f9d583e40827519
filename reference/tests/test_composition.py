"""Mutants that are composed to one model: all faults are there, or it is said why they exclude each other."""

from __future__ import annotations

import pytest

from clearskies_reference import mutants as of_clearskies
from sds_reference import mutants as of_sds
from sds_testee.composition import IncompatibleMutantsError


def test_a_composed_mutant_has_the_steps_of_each() -> None:
    order, layout = of_sds.MUTANTS["log-by-arrival"], of_sds.MUTANTS["speaks-nim-sds"]
    syncs = of_sds.MUTANTS["drops-syncs"]
    joined = of_sds.joined([order, layout, syncs])
    assert (joined.name, joined.requirement) == ("log-by-arrival+speaks-nim-sds+drops-syncs", order.requirement)
    assert joined.dialect == "nim-sds"
    channel = joined.participant_class.channel_class
    assert issubclass(channel, order.participant_class.channel_class)
    assert issubclass(channel, syncs.participant_class.channel_class)


@pytest.mark.parametrize("names", [("upper-case-id", "normalised-sender"), ("normalised-sender", "upper-case-id")])
def test_two_that_change_one_step_exclude_each_other(names: tuple[str, str]) -> None:
    with pytest.raises(IncompatibleMutantsError, match="both change encode"):
        of_sds.joined([of_sds.MUTANTS[name] for name in names])


def test_peers_of_clearskies_are_composed_as_well() -> None:
    first, second = of_clearskies.MUTANTS["shows-the-first-of-equals"], of_clearskies.MUTANTS["compares-digits"]
    joined = of_clearskies.joined([first, second])
    assert joined.name == "shows-the-first-of-equals+compares-digits"
    assert joined.peer_class is not first.peer_class
    assert issubclass(joined.peer_class, first.peer_class)
