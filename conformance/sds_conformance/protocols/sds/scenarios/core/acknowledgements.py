"""The ACK status of own messages."""

from __future__ import annotations

from collections.abc import Callable

from sds_harness.sds.script import Message, Part, Peer, Script, entry, greatest
from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import QUICK_RESENDS, deliver_and_settle, resending, scenario, send_optional_messages, tick_every


@scenario("ACK-01", "ACK-05", "STATE-12", "STATE-15", "SEND-10", "STATE-08")
def named_in_a_history(script: Script, alice: Part, bob: Peer) -> None:
    """Two of three own messages are named in a causal history, together with other messages, and named again later.

    Then the causal history of a message names a fourth own message, but the filter of that message does not hold it.
    """
    other = bob.content(script.now + 1)
    alice.given(other).observe()
    sent = [alice.send() for _ in range(3)]
    alice.observe()
    alice.given(bob.content(script.now + 10, sent[0], sent[2], other)).observe()
    alice.given(bob.content(script.now + 11, sent[0], other, "never-sent")).observe()
    fourth = alice.send()
    alice.given(bob.content(script.now + 12, fourth, holds=["somebody-elses"])).observe()


@scenario("ACK-02", "ACK-03", "ACK-04", "ACK-06", "STATE-12", "STATE-13")
def found_in_filters(script: Script, alice: Part) -> None:
    """Own messages are found in one filter, in none, and in several."""
    sent = [alice.send() for _ in range(3)]
    alice.observe()
    peers = [script.peer(name) for name in ("bob", "carol", "dave")]
    base = script.now
    alice.given(peers[0].content(base + 1, holds=sent[:2])).observe()
    for write in (peers[1].content, peers[1].sync):
        alice.given(write(base + 2, holds=["somebody-elses"])).observe()
    for number, peer in enumerate(peers):
        alice.receive(peer.content(base + 3 + number, holds=sent[:1]))
    alice.observe()
    alice.given(peers[1].content(base + 6, bloom_filter=b"\xff" * 37), peers[2].content(base + 7)).observe()
    alice.after(greatest(1, alice.in_force.resend_possibly_acknowledged_ms)).tick()


@scenario("ACK-06", "ACK-02", of_one_text=True)
def found_in_two_filters_and_then_in_none(script: Script, alice: Part) -> None:
    """The filters of two or three peers hold own messages; the filters of four later messages hold none."""
    sent = [alice.send() for _ in range(3)]
    base = script.now
    for number, name in enumerate(("bob", "carol", "dave")):
        alice.given(script.peer(name).content(base + number, holds=sent[max(0, number - 1) :])).observe()
    for number, name in enumerate(("erin", "frank", "grace", "heidi")):
        peer = script.peer(name)
        write = peer.sync if number % 2 else peer.content
        alice.given(write(base + 10 + number, holds=["somebody-elses"])).observe()


@scenario(
    "ACK-02",
    "ACK-04",
    "ACK-06",
    "STATE-12",
    "STATE-13",
    asked=pb.Configuration(possible_ack_threshold=2),
    of_one_text=True,
)
def second_filter_may_acknowledge(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A message is acknowledged by a second filter if the implementation is configured to need two.

    The first filter holds three own messages. The second filter holds one of these and a fourth. The third filter holds
    only the fourth.
    """
    sent = [alice.send() for _ in range(3)]
    base = script.now
    alice.given(bob.content(base, holds=sent)).observe()
    fourth = alice.send()
    alice.given(carol.sync(base + 1, holds=[sent[1], fourth])).observe()
    alice.given(carol.content(base + 2, holds=[fourth])).observe()
    alice.after(greatest(1, alice.in_force.resend_possibly_acknowledged_ms)).tick()


@scenario("ACK-02", asked=pb.Configuration(possible_ack_threshold=2), long=True)
def second_filter_holds_more(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """The second filter holds all three own messages, the first filter only the oldest of them.

    A message is acknowledged by a second filter if the implementation is configured to need two. The filter of a
    message that waits and is delivered later counts once.
    """
    sent = [alice.send() for _ in range(3)]
    base = script.now
    alice.given(bob.content(base, holds=sent[:1])).observe()
    alice.given(carol.content(base + 1, holds=sent)).observe()
    later, to_come = alice.send(), bob.content(base + 2)
    alice.given(carol.content(base + 3, to_come, holds=[later])).observe()
    deliver_and_settle(alice, to_come).observe()


@scenario("ACK-07", "SYNC-12", "SYNC-10", "ACK-02", of_one_text=True)
def acknowledged_by_anything(script: Script, alice: Part, bob: Peer) -> None:
    """Sync messages, some of them with the same ID, and a message that must wait acknowledge own messages."""
    sent = [alice.send() for _ in range(4)]
    base = script.now
    alice.given(bob.sync(base + 1, message_id="s"), bob.sync(base + 2, sent[0], message_id="s")).observe()
    alice.receive(script.peer("carol").sync(base + 3, sent[1], message_id="s", empty_content=True))
    alice.given(bob.content(base + 4, sent[2], "never-sent")).observe()
    alice.given(bob.sync(base + 5, holds=[sent[3]])).observe()


@resending("OUTSWEEP-01", "OUTSWEEP-06", "MSG-21", "SEND-10", "STATE-08", "MSG-13")
def nobody_answers(script: Script, alice: Part, bob: Peer) -> None:
    """Nobody acknowledges a message: it is resent again and again without a change."""
    alice.send()
    alice.observe()
    tick_every(alice, greatest(1, alice.in_force.resend_unacknowledged_ms) // 3, times=13).observe()
    # Messages that arrive meanwhile must not change a resent message.
    alice.receive(bob.content(script.now))
    tick_every(alice, greatest(1, alice.in_force.resend_unacknowledged_ms) // 3, times=7)


@resending("OUTSWEEP-01", "SEND-10", "STATE-08")
def unacknowledged_while_busy(script: Script, alice: Part) -> None:
    """The network returns a message to its sender, which sends more messages of all kinds; none is acknowledged."""
    period = alice.in_force.resend_unacknowledged_ms
    alice.given(alice.send()).observe()
    for number in range(10):
        script.advance(greatest(1, period // 2))
        if number % 2 == 0:
            alice.send()
        send_optional_messages(alice)
        alice.tick()
    alice.observe()


@resending("OUTSWEEP-04", "STATE-15", "ACK-01")
def acknowledged_and_done(script: Script, alice: Part) -> None:
    """A message is acknowledged after its first copy; no further copy follows."""
    message = alice.send()
    period = alice.in_force.resend_unacknowledged_ms
    alice.after(period + 1).tick()
    alice.receive(script.peer("bob").content(script.now, message))
    tick_every(alice, period, times=10).observe()


@scenario("ACK-01", "ACK-02", "ACK-07", of_one_text=True)
def every_way_to_acknowledge(script: Script, alice: Part, bob: Peer) -> None:
    """History entries with hints, sync messages with gaps in their histories and waiting messages acknowledge."""
    sent = [alice.send() for _ in range(6)]
    now = script.now
    known, to_come = bob.content(now), bob.content(now + 20)
    alice.given(known, bob.content(now + 1, entry(sent[0], b"hint", "alice"))).observe()
    alice.given(bob.sync(now + 2, sent[1], "never-sent")).observe()
    for number, depends_on in ((2, known), (3, to_come), (4, known)):
        alice.given(bob.content(now + 3 + number, depends_on, holds=[sent[number]])).observe()
    alice.given(bob.content(now + 9, sent[4])).observe()
    # The ID of a sync message is no evidence about a content message with that ID.
    alice.given(bob.sync(now + 10, message_id=sent[5])).observe()
    # A filter counts once, even if its message had to wait.
    deliver_and_settle(alice, to_come).observe()


@scenario("ACK-01", "ACK-02", "STATE-12", "STATE-13")
def a_name_and_a_filter_in_one_message(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Content and sync messages each name one own message, and the filter of each holds another own message."""
    sent = [alice.send() for _ in range(10)]
    now = script.now
    to_come = bob.content(now + 20)
    alice.given(bob.content(now + 1, sent[0], holds=[sent[1]])).observe()
    alice.given(carol.sync(now + 2, sent[2], holds=[sent[3]])).observe()
    alice.given(bob.content(now + 21, sent[4], to_come, holds=[sent[5]])).observe()
    alice.given(carol.sync(now + 22, to_come, sent[6], holds=[sent[7], "somebody-elses"])).observe()
    alice.given(bob.content(now + 3, sent[8], "never-sent", holds=[sent[8]])).observe()
    deliver_and_settle(alice, to_come).observe()


@scenario("STATE-12")
def not_found_in_a_crowd(script: Script, alice: Part, bob: Peer) -> None:
    """A filter holds a thousand messages of others, but none of ten own messages."""
    for _ in range(10):
        alice.send()
    alice.given(bob.content(script.now + 1, holds=[f"stranger-{number}" for number in range(1_000)])).observe()


def _return_filter(script: Script, send_message: Callable[[Part], Message]) -> None:
    quinn, alice = script.open("quinn"), script.open()
    sent = [quinn.send() for _ in range(12)]
    deliver_and_settle(alice.after(10), *sent[:2])
    send_message(alice)
    deliver_and_settle(alice, sent[2], sent[7], sent[11])
    message = send_message(alice)
    quinn.receive(script.peer("echo").content(script.now, filter_of=message))
    quinn.observe()


@scenario("ACK-02", "STATE-12", "STATE-05", "SEND-09", "RECV-04")
def own_filter_comes_back(script: Script) -> None:
    """Alice receives some messages of Quinn, two of which wait; then a peer sends Alice's filter to Quinn."""
    _return_filter(script, lambda alice: alice.send())


@scenario("ACK-02", "STATE-12", "STATE-05", "SYNC-05")
def own_sync_filter_comes_back(script: Script) -> None:
    """Alice receives some messages of Quinn; then a peer sends the filter of Alice's sync message to Quinn."""
    script.need(pb.CAPABILITY_SYNC)
    _return_filter(script, lambda alice: alice.send_sync())


@scenario("ACK-01", "ACK-04", "STATE-13", long=True)
def two_filters_and_a_name(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Two filters hold one own message, and one filter holds another own message; then a causal history names both."""
    sent = [alice.send(), alice.send()]
    for number, peer in enumerate((bob, carol)):
        alice.given(peer.content(script.now + number, holds=sent[number:])).observe()
    alice.given(bob.content(script.now + 5, *sent)).observe()


@scenario("STATE-12", "ACK-01", long=True)
def filters_that_nobody_can_read(script: Script, alice: Part, bob: Peer) -> None:
    """Unreadable filters of a few bytes arrive in content and sync messages, with several messages outstanding."""
    sent = [alice.send() for _ in range(5)]
    for number, bloom_filter in enumerate((b"zz", b"\xff", b"not a filter", b"\xff\xff\xff\xff\xff\xff\xff\xff")):
        write = bob.sync if number % 2 else bob.content
        alice.given(write(script.now + number, bloom_filter=bloom_filter)).observe()
    alice.given(bob.content(script.now + 9, sent[0], bloom_filter=b"zz")).observe()


@scenario("STATE-14", "ACK-01", asked=QUICK_RESENDS)
def one_of_three_is_enough(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """Three peers are known; one of them names an own message, and the others send messages without naming it."""
    period = alice.in_force.resend_unacknowledged_ms
    for number, peer in enumerate((bob, carol, dave)):
        alice.receive(peer.content(script.now + number))
    message = alice.send()
    alice.after(period).tick()
    alice.given(bob.content(script.now + 10, message)).observe()
    alice.receive(carol.content(script.now + 11), dave.content(script.now + 12))
    tick_every(alice, period, times=4).observe()


@scenario("STATE-17", "ACK-01", "ACK-02")
def from_state_to_state(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Filters and causal histories acknowledge three own messages one by one; no state becomes a weaker one."""
    first, second, third = (alice.send() for _ in range(3))
    alice.observe()
    alice.given(bob.content(script.now + 1, holds=[first])).observe()
    alice.given(carol.content(script.now + 2, first, second)).observe()
    # Acknowledged messages stay acknowledged, even if later evidence is weaker.
    alice.given(bob.content(script.now + 3, holds=[first, second])).after(1_000).tick()
    alice.observe()
    alice.given(carol.content(script.now + 4, holds=[third])).observe()
