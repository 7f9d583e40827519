"""Sizes at which a counter overflows or a bloom filter is full."""

from __future__ import annotations

from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import DAY_MS, HOUR_MS, Part, Peer, Period, Script, deliver_and_settle, scenario

SMALL = pb.Configuration(bloom_capacity=20, bloom_error_rate=0.001)
LARGEST_SMALL = 50
LARGEST = 2_000
CAPACITY = Period("bloom_capacity")
WIDEST = 600
"""Number of entries of the longest causal history."""


@scenario("RECV-05", "ACK-01", long=True)
def hundreds_are_missing(script: Script, alice: Part, bob: Peer) -> None:
    """Messages depend on 64 to 512 missing messages, or only the last of many dependencies is missing."""
    for count in (64, 128, 256, 512):
        alice.receive(bob.content(script.now, *[f"never-sent-{number}" for number in range(count)]))
    known = [bob.content(script.now) for _ in range(WIDEST)]
    alice.receive(*known)
    for count in (255, 256, 300, WIDEST):
        alice.receive(bob.content(script.now, *known[:count], f"never-sent-after-{count}"))
    own = [alice.send() for _ in range(4)]
    for message, count in zip(own, (99, 128, 255, WIDEST), strict=True):
        alice.receive(bob.content(script.now, *known[:count], message))
    alice.settle()


@scenario("ACK-02", long=True)
def a_filter_with_old_messages(script: Script, alice: Part, bob: Peer) -> None:
    """A filter holds the first and the 101st of 130 own messages."""
    own = [alice.send() for _ in range(130)]
    alice.given(bob.content(script.now, holds=[own[0], own[100]])).observe()


@scenario("STATE-06", "RECV-04", "STATE-05", long=True, asked=SMALL)
def a_small_filter_message_by_message(script: Script, alice: Part, bob: Peer) -> None:
    """Messages arrive one by one, up to three times the capacity of a filter; the newest IDs are checked after each."""
    with script.when(f"{CAPACITY.text} <= {LARGEST_SMALL}"), script.repeat(CAPACITY * 3 // 5, 3 * LARGEST_SMALL // 5):
        for _ in range(5):
            message = bob.content(script.now)
            alice.after(1).receive(message)
            alice.observe_newest()
        alice.send()


@scenario("RECV-04", "STATE-06", long=True, asked=SMALL)
def a_small_filter_is_sent_once_a_round(script: Script, alice: Part, bob: Peer) -> None:
    """The number of messages that arrive between own messages grows from half the capacity of a filter to the whole.

    So after a roll-over a filter can contain as many IDs as the filter of the previous own message, but different IDs.
    """
    for more in range(LARGEST_SMALL // 2 + 3):
        between = CAPACITY // 2 - 1 + more
        condition = f"min({CAPACITY.text} >= 8, {CAPACITY.text} <= {LARGEST_SMALL}, ({between}) <= {CAPACITY.text} + 1)"
        with script.when(condition):
            for _ in range(4):
                with script.repeat(between, LARGEST_SMALL + 1):
                    alice.receive(bob.content(script.now))
                alice.observe_newest()
                alice.after(100).send()


@scenario("RECV-04", long=True, violated=("STATE-06",), asked=SMALL)
def copies_and_syncs_beside_a_small_filter(script: Script, alice: Part, bob: Peer) -> None:
    """Few messages arrive, then many duplicates and sync messages: the filter has room for the few messages."""
    with script.when(f"min({CAPACITY.text} >= 8, {CAPACITY.text} <= {LARGEST_SMALL})"):
        messages = [bob.content(script.now + number) for number in range(5)]
        alice.receive(*messages)
        with script.repeat(CAPACITY, LARGEST_SMALL):
            alice.receive(messages[-1])
        alice.observe(*messages)
        alice.after(10).send()
        with script.repeat(CAPACITY, LARGEST_SMALL):
            alice.receive(bob.sync(script.now))
        alice.observe(*messages)
        alice.after(10).send()
        deliver_and_settle(alice, bob.content(script.now, messages[0]))


@scenario("STATE-05", needs=(pb.CAPABILITY_VIRTUAL_CLOCK,), asked=SMALL)
def a_small_filter_on_the_next_day(script: Script, alice: Part, bob: Peer) -> None:
    """Fifteen messages arrive, and another a day later. A filter with room for all of them must still hold all."""
    with script.when(f"min({CAPACITY.text} >= 18, {CAPACITY.text} <= {LARGEST_SMALL})"):
        messages = [bob.content(script.now + number) for number in range(16)]
        alice.receive(*messages[:-1])
        alice.after(DAY_MS + HOUR_MS).receive(messages[-1])
        alice.observe(*messages)
        alice.send()


@scenario("RECV-04", asked=SMALL)
def copies_after_a_roll_over(script: Script, alice: Part, bob: Peer) -> None:
    """More messages arrive than fit into a small filter, then duplicates of the first ones, and new messages."""
    messages = [bob.content(script.now + number) for number in range(50)]
    alice.receive(*messages)
    alice.observe(messages[-1], messages[-2])
    alice.receive(*messages[:20])
    alice.observe(messages[-1], messages[-2])
    alice.send()
    later = [bob.content(script.now) for _ in range(3)]
    alice.receive(*later)
    alice.observe(*later)
    alice.send()


@scenario(long=True, violated=("RECV-04", "STATE-06"), needs=(pb.CAPABILITY_OBSERVE,))
def a_large_filter_is_filled(script: Script, alice: Part, bob: Peer) -> None:
    """A filter is filled up to the capacity that the implementation chose, and must then hold the newest IDs."""
    half = CAPACITY // 2
    with script.when(f"min({CAPACITY.text} >= 1, {CAPACITY.text} <= {LARGEST})"):
        for rounds in (1, 1, half - 1, CAPACITY - half - 1, 1, 1, half - 1, CAPACITY - half - 1, 1, 1):
            with script.repeat(rounds, LARGEST):
                alice.receive(bob.content(script.now))
            alice.observe_newest()
