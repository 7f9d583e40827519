"""Input that no conforming sender produces. It must not cause the loss of ordinary messages."""

from __future__ import annotations

from ..scripts import Part, Peer, Period, Script, deliver_and_settle, greatest, scenario

NO_SIZES = (
    b"\x10\x00\x18\x00\x20\x00\x28\x00",
    b"\x0a\x00\x10\x00\x18\x00\x20\x00\x28\x00",
    b"\x0a\x08" + b"\xff" * 8 + b"\x10\x90\x4e\x18\xe8\x07\x20\x00\x28\x10",
    b"\x0a\x08" + b"\xff" * 8 + b"\x10\x90\x4e\x18\xe8\x07\x20\x0a\x28\x00",
    b"\x0a\x08" + b"\xff" * 8 + b"\x10\x90\x4e\x18\xe8\x07\x20\x0a\x28\xf0\x93\x09",
    b"\x0a\x10" + b"\xff" * 16 + b"\x10\x90\x4e\x18\xe8\x07\x20\x0a\x28\x10",
)
"""Filter envelopes in the layout of nim-sds: all sizes zero, with the bits absent or empty; no hash functions; zero
bits; fewer bits than the declared size; more bits."""
NIM_LIKE = b"\x0a\x10" + bytes(16) + b"\x10\x90\x4e\x18\xe8\x07\x20\x0a\x28\xf0\x93\x09"


@scenario("RECV-07", "RECV-04", "ACK-01")
def foreign_filters(script: Script, alice: Part, bob: Peer) -> None:
    """Messages have filters that are empty, invalid or in other encodings; their other fields must be processed."""
    for number, bloom_filter in enumerate((NIM_LIKE, b"", b"\x00", b"\xff" * 37, bytes(100_000), None)):
        own = alice.send()
        alice.receive(bob.content(script.now + 1 + number, own, bloom_filter=bloom_filter))
        script.advance(10)
    alice.settle()


@scenario("SYNC-12", "ACK-07")
def foreign_filters_in_syncs(script: Script, alice: Part, bob: Peer) -> None:
    """Sync messages with unreadable filters name own messages in their causal histories, and so acknowledge them."""
    for number, bloom_filter in enumerate((NIM_LIKE, b"\xff" * 37, None)):
        own = alice.send()
        alice.receive(bob.sync(script.now + 1 + number, own, bloom_filter=bloom_filter))
        script.advance(10)


@scenario("STATE-12", "SYNC-12", "RECV-07", "ACK-02", long=True, of_one_text=True)
def filters_that_hold_nothing(script: Script, alice: Part, bob: Peer) -> None:
    """Empty and short filters and filters with sizes of zero arrive; they acknowledge no own message.

    Then a filter that holds an own message, filters that are too long, and a causal history that names another own
    message arrive.
    """
    first, second, _ = (alice.send() for _ in range(3))
    length = Period("filter_bytes")
    for bloom_filter in (b"", *NO_SIZES, b"\xff", b"\xff" * 8):
        for write in (bob.content, bob.sync):
            alice.receive(write(script.now, bloom_filter=bloom_filter))
    for ones in (length // 2, length - 8, length - 1):
        for write in (bob.content, bob.sync):
            alice.receive(write(script.now, ones=greatest(1, ones).text))
    alice.observe()
    alice.receive(bob.content(script.now, holds=[first]))
    alice.receive(*[bob.content(script.now, ones=ones.text) for ones in (length + 1, length + 8, length + length)])
    alice.receive(bob.sync(script.now, second, bloom_filter=b""))


@scenario("RECV-07")
def malformed_messages(script: Script, alice: Part, bob: Peer) -> None:
    """Bytes that are no message come between ordinary ones."""
    good = bob.content(script.now + 1)
    broken = (b"", b"\xff", b"\x0a\xff\xff\xff\xff\x0f", None, b"\x0a\x02\xc3\x28", bytes(64), b"\x08" * 40)
    for number, wire in enumerate(broken):
        if wire is None:
            alice.receive_part(good, percent=50)
        else:
            alice.receive_bytes(wire)
        alice.receive(bob.content(script.now + 10 + number))
    alice.settle()
    alice.after(100).send()


@scenario("RECV-05", "RECV-07")
def messages_cut_short(script: Script, alice: Part, bob: Peer) -> None:
    """Messages without their last bytes, which are a part of the content, arrive between ordinary ones."""
    for number, missing in enumerate((1, 2, 5)):
        whole = bob.content(script.now + number, content=b"the end of this is missing")
        alice.receive_part(whole, -missing)
        alice.receive(bob.content(script.now + 10 + number))
    alice.settle()
    alice.after(100).send()


@scenario("RECV-06", "RECV-07", "RECV-09")
def impossible_dependencies(script: Script, alice: Part, bob: Peer) -> None:
    """Messages depend on themselves, on each other, on an empty ID, or twice on one message; the others are valid."""
    base = script.now
    alice.receive(bob.content(base + 1, "itself", message_id="itself"))
    alice.receive(
        bob.content(base + 2, "ring-b", message_id="ring-a"), bob.content(base + 3, "ring-a", message_id="ring-b")
    )
    alice.receive(bob.content(base + 4, ""))
    known = bob.content(base + 5)
    deliver_and_settle(alice, known, bob.content(base + 6, known, known)).after(100).send()
    alice.observe()


@scenario("RECV-07")
def extreme_timestamps_and_ids(script: Script, alice: Part, bob: Peer) -> None:
    """Lamport timestamps at the end of their range, empty and huge IDs, an unknown channel; then ordinary traffic."""
    bystander = script.open("bystander", ("c1",))
    for lamport in (1 << 63, (1 << 64) - 2, (1 << 64) - 1):
        bystander.receive(bob.content(lamport))
    bystander.receive(bob.content(script.now, message_id=""), bob.content(script.now, message_id="x" * 65_536))
    nobody = script.peer("nobody").content(script.now, sender=None)
    alice.receive(script.peer("bob", "nowhere").content(script.now), nobody)
    deliver_and_settle(alice, bob.content(script.now + 1, length=1 << 20), bob.content(script.now + 2))
    alice.after(1_000).send()
