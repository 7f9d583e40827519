"""Input that no conforming sender produces, or that may be refused. It must not affect ordinary messages."""

from __future__ import annotations

from sds_harness.schedules.expressions import UNLIMITED
from sds_harness.sds.script import NOW, Part, Peer, Period, Script, greatest, signed

from ..repair.participants import T_MAX, repair_scenario
from ..repair.requests import lose_messages, send_both_kinds
from ..repair.responses import deliver_messages, request_messages, wait_for_responses
from ..scripts import HOUR_MS, deliver_and_settle, scenario

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


AHEAD = Period("lamport_ahead_ms")
AHEAD_IS_DECLARED = f"{AHEAD.text} < {UNLIMITED}"
"""The condition that the implementation declares how far a Lamport timestamp may be ahead of the clock."""
FEW = 6
"""Number of truncated messages that arrive completely later, and number of truncated messages that never do."""
TOO_FAR = NOW + AHEAD + 24 * HOUR_MS


@scenario(
    "STATE-08", "STATE-09", "STATE-10", "RECV-05", "RECV-07", "RECV-09", long=True, violated=("STATE-05", "DELIVER-01")
)
def rejected_messages_leave_nothing(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Messages with timestamps beyond a declared bound must change neither filter nor log nor buffers.

    Another message depends on one of these messages, which then arrives with a valid timestamp.
    """
    own = alice.send()
    alice.receive(carol.content(script.now + 5, "too-far"))
    with script.when(AHEAD_IS_DECLARED):
        alice.receive(
            bob.content(TOO_FAR, message_id="too-far", content=b"from afar"),
            bob.content(TOO_FAR, "never-sent", message_id="too-far-too"),
            *[bob.content(TOO_FAR + number) for number in range(5)],
            bob.content(TOO_FAR, own, message_id="too-far-again"),
        )
    alice.observe("too-far", "too-far-too")
    alice.after(10).send()
    alice.settle()
    with script.when(AHEAD_IS_DECLARED):
        in_time = bob.content(script.now + 2, message_id="too-far", content=b"from afar")
        deliver_and_settle(alice, in_time).observe()
    alice.receive(carol.content(script.now + 7, own))
    alice.after(10).send()


@scenario("RECV-07", "RECV-08", "SYNC-12", long=True)
def broken_bytes_between(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Invalid bytes arrive while a message waits, and before a sync message that acknowledges own messages."""
    own, root = alice.send(), carol.content(script.now)
    alice.receive(bob.content(script.now + 1, root))
    alice.receive_bytes(b"\xff")
    alice.receive_part(bob.content(script.now), percent=50)
    alice.receive_bytes(b"\x0a\xff\xff\xff\xff\x0f")
    alice.receive(bob.sync(script.now + 2, own))
    deliver_and_settle(alice, root).observe()
    alice.send()


@scenario("SEND-01", "STATE-05", "STATE-08", "STATE-09", "STATE-10", "STATE-12", "RECV-04", "RECV-07", long=True)
def broken_copies_leave_nothing(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Messages arrive without their last byte while others wait for them; some arrive completely later.

    Two of these messages have timestamps half an hour ahead and acknowledge an own message, one in its causal history
    and one in its filter. The last byte belongs to the content, so an implementation may read all other fields.
    """
    own = alice.send()
    ahead = bob.content(script.now + HOUR_MS // 2, own)
    with_filter = bob.content(script.now + HOUR_MS // 2 + 1, holds=[own])
    first_broken, never_whole = ([carol.content(script.now + number) for number in range(FEW)] for _ in range(2))
    alice.receive(bob.content(script.now + FEW, *first_broken), bob.content(script.now + FEW, *never_whole))
    for message in (*never_whole, *first_broken, ahead, with_filter):
        alice.receive_part(message, -1)
    alice.observe()
    alice.send()
    alice.settle()
    deliver_and_settle(alice, with_filter, ahead, *reversed(first_broken)).observe()
    alice.after(1).send()


@scenario("SEND-01", "SEND-10", "STATE-10", "SEND-04", long=True)
def refused_to_send(script: Script, alice: Part, bob: Peer) -> None:
    """The application sends empty content, which may be refused; earlier and later messages must not be affected."""
    alice.send()
    alice.send(b"", may_be_refused=True)
    alice.observe()
    alice.send()
    alice.send()
    alice.after(10).send()
    alice.receive(bob.content(script.now))
    alice.after(10).send()


@repair_scenario(long=True, violated=("R-STATE-01", "R-STATE-04", "R-RECV-09", "R-RECV-03", "R-FIELDS-02"))
def refused_with_requests(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A message with a timestamp beyond a declared bound requests a logged message and names a missing message.

    Another message beyond the bound is known to be missing before it arrives.
    """
    with script.when(AHEAD_IS_DECLARED):
        (held,) = deliver_messages(alice, bob, 1)
        lost = bob.content(TOO_FAR, message_id="too-far")
        alice.given(carol.content(script.now + 1, *signed(lost))).observe()
        asking = bob.content(TOO_FAR, *signed(carol.content(TOO_FAR)), message_id="too-far-too", requests=signed(held))
        alice.receive(lost, asking)
        alice.observe()
        send_both_kinds(alice, T_MAX, 1_000)
        wait_for_responses(alice)


@repair_scenario("R-STATE-04", "R-RECV-03", "R-RECV-08", "R-FIELDS-02", long=True)
def broken_copies_repair_nothing(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Three messages arrive without their last byte: a missing one, a requested one, and one with a repair request."""
    asked, unasked = deliver_messages(alice, bob, 2)
    (lost,) = lose_messages(alice, carol)
    request_messages(carol, alice, asked)
    never_sent = bob.content(script.now, message_id="never-sent")
    asking = carol.content(script.now, *signed(never_sent), requests=signed(unasked, lost))
    for message in (lost, asked, asking):
        alice.receive_part(message, -1)
    alice.observe()
    wait_for_responses(alice)
    send_both_kinds(alice, T_MAX, 1_000)


@repair_scenario("R-RECV-03", "R-SEND-01", long=True)
def refused_to_send_with_requests(script: Script, alice: Part, bob: Peer) -> None:
    """While a request is due, the application sends empty content, which may be refused, and then other content."""
    lose_messages(alice, bob)
    alice.after(T_MAX).send(b"", may_be_refused=True)
    alice.observe()
    alice.send()
