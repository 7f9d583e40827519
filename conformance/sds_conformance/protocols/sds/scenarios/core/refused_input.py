"""Messages that may be refused, or cannot be read: what they leave behind."""

from __future__ import annotations

from ..repair.participants import T_MAX, repair_scenario
from ..repair.requests import send_both_kinds
from ..repair.responses import deliver_messages, wait_for_responses
from ..scripts import HOUR_MS, NOW, UNLIMITED, Part, Peer, Period, Script, deliver_and_settle, scenario, signed

AHEAD = Period("lamport_ahead_ms")
AHEAD_IS_DECLARED = f"{AHEAD.text} < {UNLIMITED}"
"""The condition that timestamps can be too far ahead."""
TOO_FAR = NOW + AHEAD + 24 * HOUR_MS


@scenario(
    "STATE-08", "STATE-09", "STATE-10", "RECV-05", "RECV-07", "RECV-09", long=True, violated=("STATE-05", "DELIVER-01")
)
def rejected_messages_leave_nothing(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Messages from too far ahead, where that is declared, leave nothing in filter, log and buffers.

    Another message depends on one of them, which then comes as it should.
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
    """Bytes that are no message come while one waits, and before a sync message that acknowledges."""
    own, root = alice.send(), carol.content(script.now)
    alice.receive(bob.content(script.now + 1, root))
    alice.receive_bytes(b"\xff")
    alice.receive_part(bob.content(script.now), percent=50)
    alice.receive_bytes(b"\x0a\xff\xff\xff\xff\x0f")
    alice.receive(bob.sync(script.now + 2, own))
    deliver_and_settle(alice, root).observe()
    alice.send()


@scenario("SEND-10", "STATE-10", "SEND-04", long=True)
def refused_to_send(script: Script, alice: Part, bob: Peer) -> None:
    """A participant is asked to send nothing, which it may refuse; what it sends before and after is as usual."""
    alice.send()
    alice.send(b"", may_be_refused=True)
    alice.observe()
    alice.send()
    alice.after(10).send()
    alice.receive(bob.content(script.now))
    alice.after(10).send()


@repair_scenario(long=True, violated=("R-STATE-01", "R-STATE-04", "R-RECV-09", "R-RECV-03", "R-FIELDS-02"))
def refused_with_requests(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A message from too far ahead, where that is declared, asks for one that is here and names one that is not.

    It is missing itself.
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
