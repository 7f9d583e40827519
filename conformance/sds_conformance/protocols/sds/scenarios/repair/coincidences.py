"""Requests and responses while other work is pending."""

from __future__ import annotations

from functools import partial

from sds_harness.sds.script import Part, Peer, Script, entry, least, signed
from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import HOUR_MS, deliver_and_settle, scenario, tick_every
from .groups import grouped
from .participants import FINE, T_MAX, T_MIN, repair_scenario, scattered
from .requests import lose_messages, send_both_kinds
from .responses import deliver_messages, observe_responses, request_messages, request_one_by_one, wait_for_responses

_resending = partial(
    repair_scenario,
    needs=(pb.CAPABILITY_RESEND,),
    asked=pb.Configuration(resend_unacknowledged_ms=30_000),
    of_one_text=True,
)


@repair_scenario("RECV-07", "RECV-08", "INSWEEP-04", "R-RECV-03", "R-STATE-01", of_one_text=True)
def what_was_missing_waits_itself(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A chain arrives in reverse order; every message but the first that arrives was requested before.

    Each requested message was missing, and then waits until its own dependency arrives.
    """
    line = [bob.content(script.now)]
    for number in range(1, 5):
        line.append((carol, bob)[number % 2].content(script.now + number, *signed(line[-1])))
    for message in reversed(line[1:]):
        alice.receive(message)
        alice.observe()
        send_both_kinds(alice, T_MAX)
    deliver_and_settle(alice, line[0]).observe()
    alice.send()


@repair_scenario("R-RECV-08", "R-SWEEP-02", "R-STATE-07")
def messages_from_long_ago_are_asked_for(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Peers request messages with the Lamport timestamps 0 and 1, and a message with a timestamp of the day before.

    Two hours later they request a message that was delivered together with these.
    """
    old = [bob.content(0), bob.content(1), bob.content(script.now - 24 * HOUR_MS)]
    kept = bob.content(script.now)
    deliver_and_settle(alice, *old, kept)
    request_one_by_one(carol, alice, *old)
    observe_responses(alice)
    script.advance(2 * HOUR_MS)
    deliver_and_settle(alice, bob.content(script.now)).tick()
    request_messages(carol, alice, kept)
    observe_responses(alice)


@repair_scenario("R-RECV-08", "R-SWEEP-02", "R-RECV-03", "R-STATE-01", "R-STATE-07")
def repairs_after_the_clock_stepped_back(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """The clock steps back by an hour, then over an hour passes; before and after, there are requests and losses."""
    messages = deliver_messages(alice, bob, 3)
    alice.after(1_000).tick()
    request_messages(carol, alice, messages[0])
    wait_for_responses(alice)
    script.advance(-HOUR_MS)
    alice.tick()
    for message, pause in zip(messages[1:], (1_000, HOUR_MS), strict=True):
        script.advance(pause)
        request_messages(carol, alice, message)
        lose_messages(alice, carol)
        observe_responses(alice)
        send_both_kinds(alice, T_MAX, 1_000)


@repair_scenario("R-RECV-08", "R-SWEEP-02", "R-RECV-03", "R-STATE-01", "R-STATE-07")
def repairs_of_a_busy_participant(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """Messages wait, own messages are unacknowledged or possibly acknowledged, and other messages are missing.

    Meanwhile the participant gets requests for messages, one of which it sent itself.
    """
    own = [alice.send() for _ in range(2)]
    messages = deliver_messages(alice, bob, 2)
    alice.receive(dave.content(script.now + 1, holds=own[:1]))
    lose_messages(alice, bob, 2)
    request_messages(carol, alice, *messages, own[1])
    observe_responses(alice)
    send_both_kinds(alice, T_MIN, T_MAX, 1_000)


@_resending("OUTSWEEP-01", "R-SWEEP-02")
def copies_while_responding(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """An own message is unacknowledged for many resend periods, in each of which responses are sent."""
    alice.send()
    messages = deliver_messages(alice, bob, 30)
    request_messages(carol, alice, *messages)
    tick_every(alice, least(T_MAX // FINE, alice.in_force.resend_unacknowledged_ms // 4), times=FINE)


@_resending("OUTSWEEP-01", "STATE-08")
def copies_while_messages_are_missing(script: Script, alice: Part, bob: Peer) -> None:
    """Nobody acknowledges own messages, two of which request missing messages; then further messages are missing."""
    alice.send()
    lose_messages(alice, bob)
    for _ in range(2):
        script.advance(T_MAX)
        alice.send()
    lose_messages(alice, bob, 2)
    tick_every(alice, least(T_MIN, alice.in_force.resend_unacknowledged_ms + 1), times=4).observe()


@repair_scenario(
    "SYNC-01",
    needs=(pb.CAPABILITY_PERIODIC_SYNC,),
    asked=pb.Configuration(sync_interval_ms=30_000, t_max_ms=600_000),
    of_one_text=True,
)
def idle_with_pending_responses(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A participant is idle for many sync intervals, while responses are pending."""
    alice.send()
    messages = deliver_messages(alice, bob, 12)
    request_messages(carol, alice, *messages)
    tick_every(alice, alice.in_force.sync_interval_ms // 2, times=26)


@repair_scenario("R-SWEEP-05", needs=(pb.CAPABILITY_LOST,), asked=pb.Configuration(lost_timeout_ms=600_000))
def requested_after_a_loss(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Messages wait longer than the loss timeout for one that never arrives; then peers request these messages."""
    known = bob.content(script.now)
    alice.receive(known)
    waiting = [bob.content(script.now + number, *signed(known), entry("never-sent", None, "bob")) for number in (1, 2)]
    alice.receive(*waiting)
    tick_every(alice, alice.in_force.lost_timeout_ms // 2, times=4)
    request_messages(carol, alice, *waiting)
    observe_responses(alice)


@repair_scenario("R-RECV-03", "R-STATE-01", "R-SEND-01", "ACK-01", "STATE-14", of_one_text=True)
def requests_of_a_busy_participant(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """Messages are missing, others wait, a response is pending, and a filter holds an own message.

    Meanwhile two messages acknowledge own messages, and one of the two reveals another missing message. At the end, two
    requested messages arrive that acknowledge own messages: one in its causal history, the other in its filter.
    """
    own = [alice.send() for _ in range(3)]
    messages = deliver_messages(alice, bob, 1)
    alice.receive(dave.content(script.now + 1, holds=own[:1]))
    lose_messages(alice, bob)
    request_messages(carol, alice, *messages)
    alice.receive(dave.content(script.now + 2, own[1], *signed(carol.content(script.now))))
    alice.receive(dave.content(script.now + 3, own[2]))
    alice.observe()
    send_both_kinds(alice, T_MAX, 1_000)
    named, held = alice.send(), alice.send()
    lost = [bob.content(script.now + 4, *signed(named)), carol.content(script.now + 5, holds=[held])]
    alice.receive(dave.content(script.now + 6, *signed(*lost)))
    send_both_kinds(alice, T_MAX, 1_000)
    deliver_and_settle(alice, *lost).observe()


@repair_scenario("R-RECV-08", "R-RECV-13", "R-SWEEP-02", "R-STATE-08", "RECV-07", of_one_text=True)
def requests_in_messages_that_were_missing(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """A missing message and the message that waits for it each request another message.

    Then a peer requests an own message that a filter holds. At the end, another waiting message requests a message, and
    is delivered after the response.
    """
    own = alice.send()
    first, second, third = deliver_messages(alice, bob, 3)
    asking = carol.content(script.now, requests=signed(first))
    alice.receive(bob.content(script.now + 1, *signed(asking), requests=signed(second)))
    deliver_and_settle(alice, asking)
    observe_responses(alice)
    alice.receive(dave.content(script.now + 2, holds=[own]))
    request_messages(carol, alice, own)
    observe_responses(alice)
    at_last = carol.content(script.now)
    alice.receive(dave.content(script.now + 3, *signed(at_last), requests=signed(third)))
    observe_responses(alice)
    deliver_and_settle(alice, at_last)
    observe_responses(alice)


@repair_scenario("R-FIELDS-01", "R-FIELDS-02", "R-RECV-03")
def named_again_with_less(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Two missing messages are named with senders and hints, then without; another message arrives with a hint."""
    lost = [bob.content(script.now - number) for number in (2, 1)]
    alice.receive(carol.content(script.now + 1, *[entry(message, b"of it", "bob") for message in lost]))
    alice.receive(carol.content(script.now + 2, *map(entry, lost)))
    alice.receive(bob.content(script.now + 3), hint=b"of another", optional=True)
    alice.observe()
    send_both_kinds(alice, T_MAX, 1_000)


@repair_scenario("MSG-12", "R-FIELDS-01", of_one_text=True, asked=pb.Configuration(causal_history_size=12))
def authors_in_long_histories(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Messages of several authors are delivered, and own causal histories name many of them."""
    for _ in range(4):
        deliver_and_settle(alice, bob.content(script.now + 1), carol.content(script.now + 2))
        alice.after(10).send()
    send_both_kinds(alice, 1_000)


@scenario("R-RECV-03", "R-STATE-01", "R-SEND-01")
def missing_in_many_groups(script: Script) -> None:
    """With two to eight response groups, messages of ten authors are missing; all of the messages must be requested."""
    for groups in (2, 4, 8):
        alice = grouped(script, groups)
        for number in range(10):
            author = script.peer(scattered(f"author-{groups}", number))
            lost = author.content(script.now - 1, message_id=scattered(f"lost-{groups}", number))
            alice.receive(author.content(script.now + 1, *signed(lost)))
        alice.observe()
        send_both_kinds(alice, T_MAX, 1_000)
        for _ in range(4):
            send_both_kinds(alice, 1_000)


@repair_scenario("R-RECV-08", "R-RECV-13", "R-SWEEP-02")
def newcomers_request(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer, erin: Peer) -> None:
    """Peers that have sent nothing before request messages: in a sync message, in waiting and in delivered content."""
    messages = deliver_messages(alice, bob, 3)
    alice.receive(carol.sync(script.now + 1, requests=signed(messages[0])))
    alice.receive(dave.content(script.now + 2, "never-sent", requests=signed(messages[1])))
    alice.receive(erin.content(script.now + 3, requests=signed(messages[2])))
    observe_responses(alice)


@_resending("R-STATE-07", "OUTSWEEP-01", violated=("R-RECV-08",))
def own_messages_are_requested_after_copies(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Own messages are requested after one, two and three resends."""
    period = alice.in_force.resend_unacknowledged_ms
    for copies in (1, 2, 3):
        own = alice.send()
        tick_every(alice, period + 1, times=copies)
        alice.after(period // 3).receive(carol.content(script.now, requests=signed(own)))
        alice.tick()
        alice.after(1_000).tick()
        alice.receive(bob.content(script.now, own))
