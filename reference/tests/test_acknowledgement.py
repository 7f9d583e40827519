"""Section "Review ACK Status": the states of an own message and what moves it from one to the next."""

from __future__ import annotations

import pytest

from scripted_peers import (
    T,
    acknowledged,
    content,
    copies,
    delivered,
    ephemeral,
    holding,
    incoming,
    joined,
    log,
    outgoing,
    possibly_acknowledged,
    sync,
)
from sds_reference import (
    Acknowledged,
    Config,
    Delivered,
    Effects,
    HistoryEntry,
    Message,
    Participant,
    PossiblyAcknowledged,
    bloom_profile,
    encode,
)

UNACKNOWLEDGED, POSSIBLY = "unacknowledged", "possibly acknowledged"


def sender(*message_ids: str, config: Config | None = None) -> Participant:
    """A participant that has just sent messages of these IDs."""
    alice = joined(config or Config(sync_interval_ms=None))
    for message_id in message_ids:
        alice.send("c", b"x", T, message_id)
    return alice


# ---- by causal history -----------------------------------------------------------------------------------------------


def test_a_causal_history_acknowledges_exactly_the_messages_it_names() -> None:
    alice = sender("p", "q", "r")
    effects = alice.receive(content("x", "p", "r"), T)
    assert acknowledged(effects) == ["p", "r"]
    assert outgoing(alice) == {"q": UNACKNOWLEDGED}


def test_the_acknowledgement_comes_before_the_delivery() -> None:
    alice = sender("p")
    assert alice.receive(content("x", "p"), T).events == [Acknowledged("c", "p"), Delivered("c", "x", b"x")]


def test_a_sync_message_acknowledges_as_well() -> None:
    alice = sender("p", "q")
    effects = alice.receive(sync("s", "p", bloom=holding("p", "q")), T)
    assert effects.events == [Acknowledged("c", "p"), PossiblyAcknowledged("c", "q")]


def test_a_message_that_has_to_be_buffered_acknowledges_at_once() -> None:
    alice = sender("p", "q")
    effects = alice.receive(content("x", "p", "unknown", bloom=holding("q")), T)
    assert (acknowledged(effects), possibly_acknowledged(effects), incoming(alice)) == (["p"], ["q"], ["x"])


def test_a_buffered_message_is_not_reviewed_again_when_it_is_delivered() -> None:
    alice = joined()
    alice.receive(content("x", "unknown", "p"), T)
    alice.send("c", b"x", T, "p")
    effects = alice.receive(content("unknown", at=1), T)
    assert (acknowledged(effects), delivered(effects)) == ([], ["unknown", "x"])
    assert outgoing(alice) == {"p": UNACKNOWLEDGED}


def test_an_acknowledged_message_is_acknowledged_once() -> None:
    alice = sender("p")
    alice.receive(content("x", "p"), T)
    assert alice.receive(content("y", "p", bloom=holding("p")), T).events == [Delivered("c", "y", b"y")]


def test_ids_that_are_not_in_the_outgoing_buffer_acknowledge_nothing() -> None:
    alice = sender("p")
    alice.receive(content("x"), T)
    effects = alice.receive(content("y", "x", "unknown", "P", ""), T)
    assert (acknowledged(effects), outgoing(alice)) == ([], {"p": UNACKNOWLEDGED})


def test_an_ephemeral_message_acknowledges_nothing() -> None:
    alice = sender("p")
    wire = encode(Message("xavier", "e", "c", None, (HistoryEntry("p"),), holding("p"), (), b"x"))
    assert alice.receive(wire, T).events == [Delivered("c", "e", b"x")]
    assert alice.receive(ephemeral("e"), T).events == [Delivered("c", "e", b"now")]
    assert outgoing(alice) == {"p": UNACKNOWLEDGED}


# ---- by bloom filter -------------------------------------------------------------------------------------------------


def test_a_filter_makes_the_messages_in_it_possibly_acknowledged() -> None:
    alice = sender("p", "q", "r")
    effects = alice.receive(sync("s", bloom=holding("p", "q")), T)
    assert (possibly_acknowledged(effects), acknowledged(effects)) == (["p", "q"], [])
    assert outgoing(alice) == {"p": POSSIBLY, "q": POSSIBLY, "r": UNACKNOWLEDGED}


def test_a_possibly_acknowledged_message_is_reported_once() -> None:
    alice = sender("p")
    alice.receive(sync("s", bloom=holding("p")), T)
    assert alice.receive(sync("s", bloom=holding("p")), T) == Effects()


def test_a_possibly_acknowledged_message_does_not_fall_back() -> None:
    alice = sender("p")
    alice.receive(sync("s", bloom=holding("p")), T)
    alice.receive(content("x", bloom=holding("other")), T)
    alice.receive(content("y", "x"), T)
    assert outgoing(alice) == {"p": POSSIBLY}


def test_a_possibly_acknowledged_message_is_acknowledged_by_a_causal_history() -> None:
    alice = sender("p")
    alice.receive(sync("s", bloom=holding("p")), T)
    assert acknowledged(alice.receive(content("x", "p"), T)) == ["p"]
    assert outgoing(alice) == {}


def test_a_message_named_and_in_the_filter_is_only_acknowledged() -> None:
    alice = sender("p")
    assert alice.receive(sync("s", "p", bloom=holding("p")), T).events == [Acknowledged("c", "p")]


def test_any_number_of_filters_only_makes_possible_by_default() -> None:
    alice = sender("p")
    for number in range(50):
        alice.receive(sync(f"s{number}", sender=f"peer {number}", bloom=holding("p")), T)
    assert outgoing(alice) == {"p": POSSIBLY}


@pytest.mark.parametrize("threshold", [2, 3])
def test_as_many_filters_as_configured_acknowledge(threshold: int) -> None:
    alice = sender("p", config=Config(possible_ack_threshold=threshold))
    events = [alice.receive(sync("s", bloom=holding("p")), T).events for _ in range(threshold + 1)]
    assert events[0] == [PossiblyAcknowledged("c", "p")]
    assert events[1 : threshold - 1] == [[]] * (threshold - 2)
    assert events[threshold - 1 :] == [[Acknowledged("c", "p")], []]
    assert outgoing(alice) == {}


def test_only_filters_that_hold_the_message_count_towards_the_threshold() -> None:
    alice = sender("p", config=Config(possible_ack_threshold=2))
    for bloom in (holding("p"), holding("q"), None, b"foreign"):
        alice.receive(sync("s", bloom=bloom), T)
    assert outgoing(alice) == {"p": POSSIBLY}


def test_a_filter_of_another_encoding_is_skipped_and_the_rest_of_the_message_counts() -> None:
    for bloom in (b"", b"\x00", b"\xff" * 18_751, b"\xff" * 18_753, b"\xff" * 1_000_000):
        alice = sender("p", "q")
        effects = alice.receive(content("x", "p", bloom=bloom), T)
        assert effects.events == [Acknowledged("c", "p"), Delivered("c", "x", b"x")]
        assert outgoing(alice) == {"q": UNACKNOWLEDGED}


@pytest.mark.parametrize("name", ["waku-sds-js", "nim-sds", "nim-sds-murmur3"])
def test_filters_are_read_in_the_configured_profile(name: str) -> None:
    config = Config(bloom_profile=bloom_profile(name), bloom_capacity=100)
    alice = sender("p", "q", config=config)
    others = [other for other in ("waku-sds-js", "nim-sds", "nim-sds-murmur3") if other != name]
    for other in others:
        foreign = holding("p", config=Config(bloom_profile=bloom_profile(other), bloom_capacity=100))
        assert possibly_acknowledged(alice.receive(sync("s", bloom=foreign), T)) == []
    assert possibly_acknowledged(alice.receive(sync("s", bloom=holding("p", config=config)), T)) == ["p"]


def test_a_filter_that_carries_another_size_is_read_with_that_size() -> None:
    config = Config(bloom_profile=bloom_profile("nim-sds"))
    alice = sender("p", "q", config=config)
    smaller = Config(bloom_profile=bloom_profile("nim-sds"), bloom_capacity=50, bloom_error_rate=0.00001)
    assert possibly_acknowledged(alice.receive(sync("s", bloom=holding("p", config=smaller)), T)) == ["p"]


def test_a_participant_of_the_model_acknowledges_by_its_own_filter() -> None:
    alice, bob = sender("p", "q"), joined(Config(causal_history_size=1), "bob")
    bob.receive(content("p", sender="alice"), T)
    bob.receive(content("y", at=T + 9), T)
    effects = alice.receive(bob.send_sync("c", T).broadcasts[0], T)
    assert (acknowledged(effects), possibly_acknowledged(effects)) == ([], ["p"])


# ---- what is reviewed ------------------------------------------------------------------------------------------------


def test_a_copy_of_a_known_message_is_not_reviewed_by_default() -> None:
    alice = joined()
    alice.receive(content("x"), T)
    alice.send("c", b"x", T, "p")
    assert alice.receive(content("x", "p", bloom=holding("p")), T) == Effects()
    assert outgoing(alice) == {"p": UNACKNOWLEDGED}


def test_a_copy_of_a_known_message_is_reviewed_if_so_configured_and_not_delivered_again() -> None:
    alice = joined(Config(review_duplicates=True))
    alice.receive(content("x"), T)
    alice.receive(content("blocked", "unknown"), T)
    for message_id in ("p", "q"):
        alice.send("c", b"x", T, message_id)
    assert alice.receive(content("x", "p"), T).events == [Acknowledged("c", "p")]
    assert alice.receive(content("blocked", bloom=holding("q")), T).events == [PossiblyAcknowledged("c", "q")]
    assert (log(alice), incoming(alice)) == (["x", "p", "q"], ["blocked"])


def test_a_message_without_a_filter_is_reviewed_by_its_causal_history() -> None:
    alice = sender("p", "q")
    assert acknowledged(alice.receive(content("x", "p", bloom=None), T)) == ["p"]


def test_an_acknowledgement_in_one_channel_says_nothing_about_another() -> None:
    alice = sender("p")
    alice.join("d", T)
    assert alice.receive(sync("s", "p", channel="d", bloom=holding("p")), T).events != []
    assert outgoing(alice) == {"p": UNACKNOWLEDGED}


def test_an_acknowledged_message_is_never_sent_again() -> None:
    alice = sender("p", "q")
    alice.receive(sync("s", "p"), T)
    sent_again = [message_id for n in range(1, 400) for message_id in copies(alice.tick(T + n * 1_000))]
    assert sent_again == ["q"] * 13
