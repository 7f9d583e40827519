"""Many values of T_req and T_resp at once, for requirements on their distribution."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sds_harness.schedules.expressions import REPAIRS_ARE_SHOWN
from sds_harness.sds.script import Message, Part, Peer, Script, signed
from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import scenario
from .groups import one_of_each
from .participants import T_MAX, T_MIN, open_with_repairs, repair_scenario, scattered
from .responses import LONG_MS, deliver_messages, observe_responses, request_messages, tick_often, wait_for_responses

CROWD = 20
MANY = 50
PROBES = 36
"""Number of messages that each participant sends from T_min to T_max if it does not show T_req. The suite then derives
T_req from these messages: more messages give a more precise value.
"""


# ---- R-TREQ ----------------------------------------------------------------------------------------------------------


def _write_lost(script: Script, peer: Peer, count: int) -> tuple[list[Message], Message]:
    """Return messages that get lost, and a message that depends on all of them."""
    lost = [
        peer.content(script.now - count + number, message_id=scattered(peer.name, number)) for number in range(count)
    ]
    return lost, peer.content(script.now + 1, *signed(*lost))


@contextmanager
def _unless_shown(script: Script) -> Iterator[None]:
    """Open a ``with`` block of operations that are left out if the implementation shows T_req in its state."""
    with script.when(f"{REPAIRS_ARE_SHOWN} == 0"):
        script.need(pb.CAPABILITY_SYNC)
        yield


def _reveal_t_req(script: Script, lost: list[Message], parts: list[Part], count: int = PROBES) -> None:
    """All participants send sync messages from T_min to T_max, and receive the messages that they request."""
    with _unless_shown(script):
        script.advance(T_MIN)
        with script.repeat(count + 2):
            for part in parts:
                part.send_sync(optional=True)
                part.receive_asked(*lost)
            script.advance((T_MAX - T_MIN) // count)


@repair_scenario("R-TREQ-04", "R-TREQ-01")
def many_missing_at_once(script: Script, alice: Part, bob: Peer) -> None:
    """One message depends on fifty missing messages."""
    lost, revealing = _write_lost(script, bob, MANY)
    alice.given(revealing).observe()
    _reveal_t_req(script, lost, [alice], 4 * PROBES)


def _miss_the_same(script: Script, bob: Peer, count: int, asked: pb.Configuration | None = None) -> None:
    """Let twenty participants miss the same ``count`` messages of Bob, and let them reveal their T_req.

    ``asked`` is the requested configuration of the participants.
    """
    lost, revealing = _write_lost(script, bob, count)
    crowd = [open_with_repairs(script, scattered("alice", number), asked) for number in range(CROWD)]
    for part in crowd:
        part.given(revealing).observe()
    _reveal_t_req(script, lost, crowd)


@scenario("R-TREQ-02", "R-TREQ-03", "R-TREQ-04", long=True)
def a_crowd_misses_the_same(script: Script, bob: Peer) -> None:
    """Twenty participants miss the same fifty messages, so a thousand values of T_req can be measured."""
    _miss_the_same(script, bob, MANY, pb.Configuration(max_repair_requests=MANY))


@scenario("R-TREQ-02", long=True)
def a_crowd_misses_one(script: Script, bob: Peer) -> None:
    """Twenty participants miss the same message; a request with one entry never reaches the cap."""
    _miss_the_same(script, bob, 1)


@scenario("R-RECV-06", "R-TREQ-05")
def equal_participant_ids_miss_the_same(script: Script, bob: Peer) -> None:
    """Participants with one ID miss the same two messages: two participants within seconds, a third an hour later."""
    lost, revealing = _write_lost(script, bob, 2)
    first = open_with_repairs(script)
    first.given(revealing).observe()
    pace = (T_MAX - T_MIN) // PROBES
    script.advance(pace)
    second = open_with_repairs(script, instance="again")
    second.given(revealing).observe()
    with _unless_shown(script):
        script.advance(0 - pace)  # the wait lets both participants send at the same times after detection
        _reveal_in_turn(script, first, second)
    script.advance(3_600_000)
    third = open_with_repairs(script, instance="an hour later")
    third.given(revealing).observe()
    _reveal_t_req(script, lost, [third])


def _reveal_in_turn(script: Script, first: Part, second: Part) -> None:
    """Let both participants send sync messages from T_min to T_max after detection, in turn."""
    script.advance(T_MIN)
    for number in range(PROBES + 3):
        if number < PROBES + 2:
            first.send_sync(optional=True)
        if number:
            second.send_sync(optional=True)
        script.advance((T_MAX - T_MIN) // PROBES)


@scenario("R-TRESP-04", "R-TRESP-06", long=True)
def many_holders(script: Script, frank: Peer) -> None:
    """Six participants have the same twenty messages of four authors; none receives the responses of another."""
    asked = pb.Configuration(t_max_ms=LONG_MS)
    holders = [open_with_repairs(script, scattered("holder", number), asked) for number in range(6)]
    authors = [script.peer(name) for name in ("bob", "carol", "dave", "erin")]
    messages = [message for author in authors for message in deliver_messages(holders[0], author, 5)]
    for holder in holders[1:]:
        holder.receive(*messages)
    request = frank.content(script.now, requests=signed(*messages))
    for holder in holders:
        holder.given(request).observe()
    tick_often(*holders)
    wait_for_responses(*holders)


# T_min is half of T_max, so that a wrong spread of T_resp, from 0 to T_max - T_min, leaves half of T_max without
# responses.
_WIDE_T_MIN = pb.Configuration(t_min_ms=LONG_MS // 2, t_max_ms=LONG_MS)


@repair_scenario("R-TRESP-01", "R-TRESP-05", long=True, asked=_WIDE_T_MIN)
def many_authors(script: Script, alice: Part, carol: Peer) -> None:
    """A participant gets requests for messages of more than two hundred authors, one of each."""
    messages = one_of_each(alice, 240)
    for start in (0, 120):
        request_messages(carol, alice, *messages[start : start + 120])
    observe_responses(alice)
