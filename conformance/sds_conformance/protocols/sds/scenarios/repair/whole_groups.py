"""Several participants under test: requesters, holders and original senders receive each other's messages."""

from __future__ import annotations

from sds_harness.sds.operations import Tick
from sds_harness.sds.script import Message, Part, Peer, Period, Script, signed
from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import scenario
from .participants import T_MAX, T_MIN, open_with_repairs, scattered

HOLDERS = 24
REQUESTERS = 12
DELAY_MS = 100
SWEEP_MS = 2_000
PERIOD_MS = 5_000
"""The period in milliseconds of the sync messages of requesters, and of sweeps while messages are lost."""
MOST_ROUNDS = 1_000
GROUPS = (1, 2, 4, 8)


def _open_holders(script: Script, count: int, groups: int = 1, instance: str = "") -> list[Part]:
    asked = pb.Configuration(num_response_groups=groups)
    names = [scattered("holder", number) for number in range(1, count + 1)]
    return [open_with_repairs(script, name, asked, instance) for name in names]


def _receive(parts: list[Part], *messages: Message) -> None:
    for message in messages:
        for part in parts:
            part.receive(message)


def _sweep(script: Script, period: Period | int) -> None:
    script.add(Tick())
    script.advance(period)


def _sweep_until_answered(script: Script) -> None:
    """Sweep often until a message is broadcast, then rarely until all responses must have been sent."""
    with script.repeat(T_MAX // SWEEP_MS, MOST_ROUNDS, until="round_messages > 0"):
        _sweep(script, SWEEP_MS)
    for _ in range(9):
        _sweep(script, T_MAX // 8)


@scenario("R-TRESP-02", "R-STATE-05", "R-RECV-02")
def the_sender_is_among_the_holders(script: Script, bob: Peer, zoe: Peer) -> None:
    """Seven participants have a message, and one of them sent it; a peer requests it, and all receive the response."""
    holders = _open_holders(script, 7)
    message = holders[0].send()
    _receive(holders[1:], message)
    # Another participant names the message: it is acknowledged, so a repeated broadcast is a response.
    _receive(holders, bob.content(script.now, *signed(message)))
    script.connect(DELAY_MS)
    _receive(holders, zoe.sync(script.now, requests=signed(message)))
    _sweep_until_answered(script)


@scenario("R-STATE-05", "R-RECV-02", "R-TRESP-04", long=True)
def the_sender_is_gone(script: Script, bob: Peer, zoe: Peer) -> None:
    """Twenty-four participants have a message of a peer that left; a peer requests it; all receive each response."""
    holders = _open_holders(script, HOLDERS)
    message = bob.content(script.now)
    script.connect(DELAY_MS)
    _receive(holders, message, zoe.sync(script.now, requests=signed(message)))
    _sweep_until_answered(script)


@scenario("R-RECV-07", "R-TREQ-02", long=True)
def many_miss_the_same(script: Script, bob: Peer) -> None:
    """Twelve participants miss the same message, send sync messages, and receive each other's messages."""
    askers = [open_with_repairs(script, scattered("asker", number)) for number in range(1, REQUESTERS + 1)]
    lost = bob.content(script.now)
    _receive(askers, bob.content(script.now + 1, *signed(lost)))
    script.advance(T_MIN)
    script.connect(DELAY_MS)
    with script.repeat((T_MAX - T_MIN) // PERIOD_MS, MOST_ROUNDS, until="round_requests > 0"):
        _sync(script, askers)
    for _ in range(4):
        _sync(script, askers)


def _sync(script: Script, parts: list[Part]) -> None:
    for part in parts:
        part.send_sync(optional=True)
    script.advance(PERIOD_MS)


@scenario("R-GROUP-01", "R-GLOBAL-05", long=True)
def holders_in_groups(script: Script, bob: Peer, zoe: Peer) -> None:
    """Sixteen participants in 1, 2, 4 and 8 response groups get requests for five messages of a peer that left."""
    # All responses are lost, so that every participant that may respond does.
    for groups in GROUPS:
        holders = _open_holders(script, 16, groups, f"of {groups}")
        messages = [bob.content(script.now + number) for number in range(5)]
        _receive(holders, *messages, zoe.sync(script.now + 10, requests=signed(*messages)))
        for _ in range(8):
            script.advance(T_MAX // 7)
            for holder in holders:
                holder.tick()


@scenario("R-SWEEP-02", "R-RECV-08")
def the_request_and_the_response_are_lost(script: Script, bob: Peer) -> None:
    """A participant misses a message that two others have; the first request and the first response are lost."""
    asker, *holders = (open_with_repairs(script, name) for name in ("asker", "holder-1", "holder-2"))
    lost = bob.content(script.now)
    later = bob.content(script.now + 1, *signed(lost))
    _receive(holders, lost)
    _receive([asker, *holders], later)
    # One message of a round is the sync message of the requester, so a second message is a response.
    for deaf, until in ((holders, "round_requests > 0"), ([asker], "round_messages > 1"), ([], "")):
        script.connect(DELAY_MS)
        if deaf:
            script.cut([asker, *holders], deaf)
        # Each time, Bob sends another message at the end, which names the lost message again.
        for _ in range(2):
            with script.repeat(6, until=until):
                asker.send_sync(optional=True)
                script.advance(PERIOD_MS)
                _sweep(script, PERIOD_MS)
            _receive([asker, *holders], bob.content(script.now, *signed(lost, later)))
