"""A participant and its channels: the entry point of the model, and the errors that it raises."""

from __future__ import annotations

import doctest
from collections.abc import Callable

import pytest

from scripted_peers import QUIET, T, content, delivered, joined, log, sync
from sds_reference import Channel, Config, Participant, SdsError, participant


def test_the_example_of_the_module_runs() -> None:
    results = doctest.testmod(participant)
    assert (results.attempted, results.failed) == (4, 0)


@pytest.mark.parametrize(
    ("refused", "sentence"),
    [
        (lambda alice: Participant("", QUIET), "a participant needs a non-empty ID"),
        (lambda alice: alice.join("", T), "a channel needs a non-empty ID"),
        (lambda alice: alice.channel("d"), "d"),
        (lambda alice: alice.send("c", b"", T), "content is empty: on the wire this would be a sync message"),
        (lambda alice: alice.send("c", b"x", T, "x"), "message ID 'x' is in use"),
        (lambda alice: alice.send_ephemeral("c", b""), "an ephemeral message carries only content"),
        (lambda alice: alice.receive(b"\xff", T), "not an SDS message"),
        (lambda alice: alice.receive(content("", payload=b"x"), T), "the content message has no message_id"),
        (lambda alice: alice.receive(content("y", channel=""), T), "the message has no channel_id"),
        (
            lambda alice: alice.receive(content("y", at=T + 1_001), T),
            f"{T + 1_001} is more than 1000 ms ahead of now_ms",
        ),
        (lambda alice: alice.receive(sync("y", at=T + 1_001), T), f"{T + 1_001} is more than 1000 ms ahead of now_ms"),
    ],
)
def test_every_refusal_is_an_error_of_the_model_and_changes_nothing(
    refused: Callable[[Participant], object], sentence: str
) -> None:
    alice = joined(Config(sync_interval_ms=None, creates_channels=True, max_lamport_ahead_ms=1_000))
    alice.receive(content("x"), T)
    with pytest.raises(SdsError, match=sentence):
        refused(alice)
    assert (list(alice.channels), log(alice)) == (["c"], ["x"])
    assert delivered(alice.receive(content("y", at=T + 1_000), T)) == ["y"]


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
