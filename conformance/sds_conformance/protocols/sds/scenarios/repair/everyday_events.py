"""Requests and responses during everyday events: other messages, other channels, and clocks that are set."""

from __future__ import annotations

from sds_harness.sds.script import Part, Peer, Script, signed
from sds_harness.stage import START_MS

from ..scripts import HOUR_MS, deliver_and_settle, scenario, tick_every
from .participants import T_MAX, T_MIN, open_with_repairs, repair_scenario
from .requests import lose_messages, send_both_kinds, send_either
from .responses import deliver_messages, observe_responses, request_messages, wait_for_responses

LONG_ID = 200
LONG_CONTENT = 100_000
LARGE_TIMESTAMP = 2**53 + 1
"""A timestamp that a double cannot represent."""


@repair_scenario("R-SWEEP-05", "R-STATE-07", "R-RECV-08")
def asked_for_messages_of_all_shapes(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Messages with any bytes, much content, a long ID, a long history or a large timestamp are requested."""
    contents = [bytes(range(256)), b" between spaces \n", b"long " * (LONG_CONTENT // 5)]
    messages = [bob.content(script.now + number, content=content) for number, content in enumerate(contents)]
    messages.append(bob.content(script.now + 4, message_id="".join(f"{n:04}" for n in range(LONG_ID // 4))))
    messages.append(bob.content(script.now + 5, *signed(*messages[::-1])))
    messages.append(bob.content(script.now + (LARGE_TIMESTAMP - START_MS)))
    alice.receive(*messages)
    request_messages(carol, alice, *messages)
    wait_for_responses(alice)


@repair_scenario("R-SWEEP-05", "R-STATE-08", "R-RECV-08")
def asked_for_messages_of_all_shapes_that_waited(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Messages with any bytes, much content, a long history or a large timestamp wait, and are requested later."""
    roots = [carol.content(script.now - number) for number in range(6)]
    contents = [bytes(range(256)), b" between spaces \n", b"long " * (LONG_CONTENT // 5)]
    messages = [bob.content(script.now + n, *signed(roots[0]), content=content) for n, content in enumerate(contents)]
    messages.append(bob.content(script.now + 4, *signed(roots[0]), message_id="AbCdEf0123456789+/=="))
    messages.append(bob.content(script.now + 5, *signed(*roots, *messages)))
    messages.append(bob.content(script.now + (LARGE_TIMESTAMP - START_MS), *signed(roots[0])))
    alice.receive(*messages)
    deliver_and_settle(alice, *roots)
    request_messages(carol, alice, *messages)
    wait_for_responses(alice)


@repair_scenario("R-RECV-08")
def life_goes_on_while_answers_are_pending(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """Six messages are asked for; then everybody, the participant too, sends content and sync messages."""
    # The IDs are those of the released transcript.
    messages = deliver_messages(alice, script.peer("bob"), 6, [f"bob-{number}" for number in range(2, 8)])
    request_messages(carol, alice, *messages, message_id="carol-asks-8")
    for peer in (bob, carol, dave):
        alice.receive(peer.content(script.now, *signed(messages[0]), message_id=f"{peer.name}-goes-on"))
        alice.receive(peer.sync(script.now, *signed(*messages[:2])))
    alice.send()
    send_either(alice, content=False)
    alice.observe()
    wait_for_responses(alice)


@repair_scenario("R-SWEEP-04")
def the_same_twice_in_one_request(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A repair request contains each message twice."""
    messages = deliver_messages(alice, bob, 4)
    request_messages(carol, alice, *messages, *messages)
    observe_responses(alice)


@repair_scenario("R-RECV-08")
def asked_again_after_somebody_elses_answer(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """Others respond to six requests; later the requests are repeated, and only the participant responds."""
    messages = deliver_messages(alice, bob, 6)
    request_messages(carol, alice, *messages)
    alice.receive(*messages)
    wait_for_responses(alice)
    script.advance(T_MIN)
    request_messages(dave, alice, *messages)
    wait_for_responses(alice)


@repair_scenario("R-STATE-08")
def authors_are_asked_in_sync_messages(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Sync messages request two messages of the participant and one message of another author."""
    own = [alice.send() for _ in range(2)]
    messages = deliver_messages(alice, bob, 1)
    alice.receive(bob.content(script.now, *signed(*own)))  # this message acknowledges the requested messages
    for message in (*own, *messages):
        alice.receive(carol.sync(script.now, requests=signed(message)))
    wait_for_responses(alice)


@scenario("R-RECV-08", "R-RECV-03", "R-STATE-01", "R-STATE-09", "R-STATE-04")
def repairs_in_a_second_channel(script: Script) -> None:
    """A participant misses messages in two channels; messages of both are requested, but only in the second channel."""
    alice = open_with_repairs(script, channels=("c1", "c2"))
    bob, carol, first_bob = script.peer("bob", "c2"), script.peer("carol", "c2"), script.peer("bob", "c1")
    elsewhere = first_bob.content(script.now, message_id="only-in-c1")
    here = [bob.content(script.now + number, message_id=f"bob-in-c2-{number}") for number in range(3)]
    alice.receive(elsewhere, *here)
    alice.receive(carol.content(script.now, message_id="asks-in-c2", requests=signed(elsewhere, *here)))
    lost = bob.content(script.now + 3, message_id="lost-in-c2")
    alice.receive(bob.content(script.now + 4, *signed(lost), message_id="after-the-lost-in-c2"))
    alice.observe(channel="c2")
    lose_messages(alice, first_bob)
    script.advance(T_MAX)
    alice.send(channel="c1")
    for _ in range(2):
        alice.send(channel="c2")
        alice.send_sync(channel="c2", optional=True)
        script.advance(1_000)
    wait_for_responses(alice)


def _send_around_t_max(alice: Part) -> None:
    """Send content and sync messages at T_max and a second later."""
    send_both_kinds(alice, T_MAX, 1_000, content_first=True)
    alice.after(1_000)


@repair_scenario("R-RECV-03", "R-STATE-01", "R-STATE-09")
def a_repair_with_a_gap_of_its_own(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Two messages are missing; one arrives after it was requested, and depends on a third missing message."""
    root = bob.content(script.now - 5)
    middle, other = bob.content(script.now - 4, *signed(root)), carol.content(script.now - 3)
    alice.receive(bob.content(script.now + 1, *signed(middle, other)))
    _send_around_t_max(alice)
    alice.given(middle).observe()
    _send_around_t_max(alice)


@repair_scenario("R-RECV-03", "R-STATE-01", "R-STATE-09")
def a_long_id_is_missing(script: Script, alice: Part, bob: Peer) -> None:
    """A message with a long ID is missing."""
    lost = bob.content(script.now - 1, message_id="".join(f"{n:04}" for n in range(LONG_ID // 4)))
    alice.given(bob.content(script.now + 1, *signed(lost))).observe()
    _send_around_t_max(alice)


@repair_scenario("R-RECV-08", "R-STATE-01", "R-STATE-09")
def after_the_clock_was_set_back(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer, erin: Peer) -> None:
    """The clock is set back by an hour. When it has passed its old time, requests arrive and messages are missing.

    One message was already missing before the clock was set back.
    """
    messages = deliver_messages(alice, bob, 3)
    (lost,) = lose_messages(alice, erin)
    send_either(alice.after(T_MAX), content=True)
    deliver_and_settle(alice, lost)
    alice.tick()
    alice.step_clock(-HOUR_MS).tick()
    alice.send()
    tick_every(alice, HOUR_MS // 2, times=3)
    now = script.now - HOUR_MS  # the time by the clock of the participant
    alice.receive(carol.content(now, requests=signed(*messages)))
    alice.receive(dave.content(now + 1, dave.content(now - 1).signed))
    _send_around_t_max(alice)
    wait_for_responses(alice)
