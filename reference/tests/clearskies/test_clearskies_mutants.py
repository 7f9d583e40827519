"""Mutants and variants: each is otherwise than the model, somewhere on a tour of the text."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest

from clearskies_reference import Config, ConfigurationError
from clearskies_reference.mutants import MUTANTS
from clearskies_reference.mutants.registry import mutant
from clearskies_reference.peer import Peer
from clearskies_reference.testee.server import Testee, TesteeOptions
from clearskies_reference.variants import VARIANTS
from clearskies_tour import tour


def toured(config: Config, peer_class: type[Peer]) -> list[bytes]:
    options = TesteeOptions("1", config=config, peer_class=peer_class, draw=Random(1).randbytes)
    with TemporaryDirectory() as folder:
        return tour(Testee(options).handle, Path(folder))


@cache
def of_the_model(config: Config) -> list[bytes]:
    return toured(config, Peer)


def differ(one: list[bytes], other: list[bytes]) -> list[int]:
    """Which of the answers do."""
    assert len(one) == len(other)
    return [number for number, pair in enumerate(zip(one, other, strict=True), start=1) if pair[0] != pair[1]]


def test_the_tour_is_the_same_each_time() -> None:
    assert not differ(toured(Config(), Peer), of_the_model(Config()))


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_is_otherwise_than_the_model(name: str) -> None:
    chosen = VARIANTS[name]
    assert differ(toured(chosen.configure(Config()), chosen.peer_class), of_the_model(Config()))


NO_MUTANT = {
    "04": "a club of any kind is legal",
    "57": "which connections are made is not the database's affair",
    "58": "a weakness that the text knows",
}


def test_every_requirement_that_can_be_violated_has_a_mutant() -> None:
    violated = {mutant.requirement for mutant in MUTANTS.values()}
    assert all(re.fullmatch("CSDB-[0-9]{2}", requirement) for requirement in violated)
    assert violated == {f"CSDB-{number:02}" for number in range(1, 60)} - {f"CSDB-{number}" for number in NO_MUTANT}


def test_names_are_those_of_one_fault() -> None:
    assert all(name == chosen.name and re.fullmatch("[a-z0-9-]+", name) for name, chosen in MUTANTS.items())
    with pytest.raises(ConfigurationError, match="two mutants"):
        mutant("01", "again", name="signs-nothing")(Peer)
