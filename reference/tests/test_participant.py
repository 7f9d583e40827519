"""A participant and its channels: the entry point of the model."""

from __future__ import annotations

import doctest

import pytest

from scripted_peers import QUIET, T, content, joined, log
from sds_reference import Channel, Config, Participant, SdsError, participant


def test_the_example_of_the_module_runs() -> None:
    results = doctest.testmod(participant)
    assert (results.attempted, results.failed) == (4, 0)


def test_every_refusal_is_an_error_of_the_model() -> None:
    alice = joined()
    for refused in (
        lambda: alice.send("c", b"", T),
        lambda: alice.receive(b"\xff", T),
        lambda: alice.channel("d"),
        lambda: Config(causal_history_size=0),
    ):
        with pytest.raises(SdsError):
            refused()


def test_a_variant_of_the_channel_can_take_its_place() -> None:
    class Deaf(Channel):
        def is_own(self, message: object) -> bool:
            return True

    class DeafParticipant(Participant):
        channel_class = Deaf

    deaf = DeafParticipant("alice", QUIET)
    deaf.join("c", T)
    deaf.receive(content("x"), T)
    assert log(deaf) == []


def test_ids_are_opaque_text() -> None:
    alice = Participant("alicé 😀", QUIET)
    alice.join("канал", T)
    assert alice.receive(content("漢字", channel="канал", sender="ボブ"), T).events != []
    assert log(alice, "канал") == ["漢字"]
