"""A participant detects missing messages and requests them.

Requested messages arrive, so that every missing message is requested even if the cap on requests is small. If T_req is
not known, messages are sent at T_max and a second later: T_req has passed by then, whatever the hash and the unit of
time are.
"""

from __future__ import annotations

from sds_harness.sds.script import Message, Part, Peer, Period, Script, entry, greatest, signed
from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import deliver_and_settle, scenario
from .participants import NEEDED, T_MAX, T_MIN, open_with_repairs, repair_configuration, repair_scenario

MANY = 12


def lose_messages(part: Part, peer: Peer, count: int = 1, *, observe: bool = False) -> list[Message]:
    """Let the participant receive a message that depends on ``count`` lost messages of ``peer``. Return the lost
    messages. With ``observe``, request the state afterwards.
    """
    lost = [peer.content(part.script.now - count + number) for number in range(count)]
    part.receive(peer.content(part.script.now + 1, *signed(*lost)))
    if observe:
        part.observe()
    return lost


def send_either(part: Part, *, content: bool) -> Message:
    """Send content or a sync message; content if the implementation has no sync messages."""
    return part.send() if content else part.send_sync(or_content=True)


def send_both_kinds(part: Part, *waits: Period | int, content_first: bool = False) -> None:
    """After each wait, send a sync message and then content, in the opposite order with ``content_first``."""
    for wait in waits:
        part.script.advance(wait)
        send_either(part, content=content_first)
        send_either(part, content=not content_first)


def send_in_turn(part: Part, rounds: int, *messages: Message, pause_ms: int = 0) -> None:
    """Send content and sync messages in turn. After each, the messages that it requests arrive."""
    for number in range(rounds):
        send_either(part, content=number % 2 == 0)
        part.receive_asked(*messages)
        if pause_ms:
            part.script.advance(pause_ms)


@repair_scenario("R-GLOBAL-09", "R-GLOBAL-10", "R-STATE-01", "R-STATE-09", "R-RECV-03", "R-SEND-06", "R-SEND-01")
def asks_for_what_is_missing(script: Script, alice: Part, bob: Peer) -> None:
    """Alice sends messages until T_max, then the missing message arrives; she requests a second one after T_max."""
    root = bob.content(script.now + 1)
    alice.receive(bob.content(script.now + 2, *signed(root)))
    for number in range(1, 27):
        send_either(alice.after(T_MAX // 24), content=False)
        if number == 24:
            send_either(alice, content=True)
        alice.observe()
    deliver_and_settle(alice, root)
    send_either(alice, content=False)
    (another,) = lose_messages(alice, bob)
    send_both_kinds(alice, T_MAX, 1_000)
    deliver_and_settle(alice, another)


@repair_scenario(
    "R-SEND-01", "R-STATE-09", "R-STATE-01", "R-GLOBAL-10", "R-RECV-03", "MSG-08", "R-FIELDS-01", "R-FIELDS-02"
)
def content_and_sync_ask(script: Script, alice: Part, bob: Peer) -> None:
    """Twice a message is missing until T_max. The first time content is sent first, the second time a sync message."""
    for content_first in (True, False):
        lost = lose_messages(alice, bob, observe=True)
        send_both_kinds(alice, T_MAX, 1_000, content_first=content_first)
        deliver_and_settle(alice, *lost)


@repair_scenario("R-SEND-07", needs=(pb.CAPABILITY_MESSAGE_ID_ACCEPTED,))
def an_own_message_was_missing(script: Script, alice: Part, bob: Peer) -> None:
    """Received messages depend on an own message before it is sent; after it is sent, it need not be requested."""
    alice.receive(bob.content(script.now + 1, entry("mine-to-come", sender="alice")))
    alice.send(message_id="mine-to-come")
    send_both_kinds(alice, T_MAX)


@repair_scenario("R-SEND-02", "R-SEND-01", "R-TREQ-01")
def sends_around_t_req(script: Script, alice: Part, bob: Peer) -> None:
    """Messages are sent a second before T_req, a millisecond before it, at T_req and a millisecond later."""
    for content in (True, False, True):
        (lost,) = lose_messages(alice, bob, observe=True)
        for ms in (-1_000, -1, 0, 1):
            send_either(alice.await_due(lost, ms=ms), content=content)
        deliver_and_settle(alice, lost)


@repair_scenario("R-SEND-01", "R-GLOBAL-10")
def sends_only_after_t_req(script: Script, alice: Part, bob: Peer) -> None:
    """A message is missing, and the participant sends nothing until 2 s after T_req; then it sends a message."""
    for content in (True, False):
        for _ in range(2):
            (lost,) = lose_messages(alice, bob, observe=True)
            alice.await_due(lost, ms=2_000, most=T_MAX, otherwise=T_MAX + 1_000)
            send_either(alice, content=content)
            deliver_and_settle(alice, lost)


@repair_scenario("R-SEND-03", "R-SEND-04", "R-SEND-05", "R-FIELDS-02", "MSG-08")
def more_is_due_than_fits(script: Script, alice: Part, bob: Peer) -> None:
    """Twelve requests are due at once; requested messages arrive, and the next messages request the rest.

    Periodic work runs before each message.
    """
    lost = lose_messages(alice, bob, MANY, observe=True)
    script.advance(T_MAX)
    for number in range(MANY + 1):
        send_either(alice.tick(), content=number % 2 == 0)
        alice.receive_asked(*lost)
        script.advance(250)


@repair_scenario("R-SEND-06")
def nothing_to_ask_for(script: Script, alice: Part, bob: Peer) -> None:
    """Messages are sent when nothing is missing, when a request is not due, and after the missing message arrived."""
    send_both_kinds(alice, 0, content_first=True)
    (lost,) = lose_messages(alice, bob)
    send_both_kinds(alice, T_MIN // 2, content_first=True)
    deliver_and_settle(alice, lost)
    send_both_kinds(alice, T_MAX, content_first=True)


@repair_scenario("R-STATE-02", "R-STATE-09")
def named_again_and_again(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Others depend on the same missing message many times, which must not postpone the request for it."""
    (lost,) = lose_messages(alice, bob, observe=True)
    for number in range(1, 13):
        alice.after(T_MAX // 12).receive((carol if number % 2 else bob).content(script.now, *signed(lost)))
        if number % 3 == 0:
            alice.observe()
    # Send at T_max, and a second after it.
    send_both_kinds(alice, greatest(0, T_MAX - T_MAX // 12 * 12), 1_000, content_first=True)
    deliver_and_settle(alice.after(1_000), lost)
    (once,) = lose_messages(alice, bob)
    send_both_kinds(alice, T_MAX, 1_000, content_first=True)
    alice.after(1_000).receive(once)


@scenario("R-GLOBAL-02", "R-GLOBAL-03", "R-SEND-05", needs=NEEDED, asked=pb.Configuration(sds_r=True))
def default_t_min_and_t_max(script: Script, alice: Part, bob: Peer) -> None:
    """SDS-R has the default T_min and T_max; 24 messages are missing, and sync messages are sent for ten minutes."""
    lost = lose_messages(alice, bob, 2 * MANY)
    before = 0
    for seconds in (10, 20, 29, *range(35, 130, 5), *range(150, 630, 30)):
        send_either(alice.after(1_000 * (seconds - before)), content=False)
        alice.receive_asked(*lost)
        before = seconds


@scenario("R-TREQ-01")
def t_max_equals_t_min(script: Script, bob: Peer) -> None:
    """Messages are missing, and T_max equals T_min, or has the usual value if such a T_max is refused (AMB-08)."""
    asked = pb.Configuration(t_min_ms=60_000, t_max_ms=60_000)
    odd = script.open("alice", ("c1",), repair_configuration(asked), "without room", may_be_refused=True)
    usual = open_with_repairs(script)
    for alice, condition in ((odd, f"{T_MAX} <= {T_MIN}"), (usual, f"{T_MAX} > {T_MIN}")):
        with script.when(condition):
            for _ in range(2):
                (lost,) = lose_messages(alice, bob, observe=True)
                alice.after(T_MIN).send()
                alice.after(greatest(0, T_MAX - T_MIN)).send()
                deliver_and_settle(alice, lost)


ROUNDS = 54
"""Number of rounds in which time passes and the participant ticks. Under the requested configuration, a round is half a
sync interval: 30 rounds from T_min to T_max, and 24 in twelve further intervals."""


def _wait_for_request(script: Script, bob: Peer, *others: Peer, resends: bool = False) -> None:
    """A participant with automatic sync messages misses a message, and the peers ``others`` send sync messages.

    If ``resends`` is set, the participant resends an own message twice in each sync interval. Ten sync intervals pass
    before the request of the participant may expire.
    """
    script.need(pb.CAPABILITY_PERIODIC_SYNC)
    asked = pb.Configuration(sync_interval_ms=2_000, t_min_ms=30_000, t_max_ms=60_000)
    if resends:
        asked.resend_unacknowledged_ms = 1_000
    alice = open_with_repairs(script, configuration=asked)
    if resends:
        alice.send()
    interval = Period("sync_interval_ms")
    script.require("1000 <= sync_interval_ms", "the sync interval in force is too short for this scenario")
    script.require("sync_interval_ms <= t_max_ms // 4", "the sync interval in force is too long for this scenario")
    (lost,) = lose_messages(alice, bob, observe=True)
    script.advance(T_MIN - interval)
    for _ in range(ROUNDS):
        script.advance(greatest(interval // 2, (T_MAX - T_MIN + interval * 12) // ROUNDS))
        for other in others:
            alice.receive(other.sync(script.now))
        alice.tick()
    alice.receive(lost)


@scenario("R-SYNC-02")
def the_next_sync_asks(script: Script, bob: Peer) -> None:
    """A message is missing, and only the automatic sync messages of the participant are sent."""
    _wait_for_request(script, bob)


@scenario("R-SYNC-01")
def others_sync_all_the_time(script: Script, bob: Peer, carol: Peer) -> None:
    """A message is missing, and others send sync messages more often than the participant's sync interval requires."""
    _wait_for_request(script, bob, carol)


@scenario("R-SYNC-02", needs=(pb.CAPABILITY_RESEND,))
def it_resends_all_the_time(script: Script, bob: Peer) -> None:
    """A message is missing, and the participant resends an own message more often than it sends sync messages."""
    _wait_for_request(script, bob, resends=True)
