"""Statistics: many times at once, for requirements on their distribution."""

from __future__ import annotations

from sds_harness.sds.peer import entries_with_senders
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Message

from .. import scripts
from ..cast import Actor, ScriptedPeer, Stage, scenario
from . import participants as scheduled
from .groups import one_of_each
from .live import open_with_repairs, repair_scenario, t_max, t_min
from .participants import scattered
from .responses import LONG_MS, deliver_messages, observe_responses, request_messages, tick_often, wait_for_responses

CROWD = 20
MANY = 50
LOOKS = 36
"""Messages between T_min and T_max if the buffer is not shown. They bound the precision of each T_req."""


# ---- R-TREQ ----------------------------------------------------------------------------------------------------------


def _all_lost(stage: Stage, peer: ScriptedPeer, count: int) -> tuple[dict[str, Message], Message]:
    """Messages that get lost, by ID, and one that depends on all of them."""
    lost = [
        peer.content(stage.now_ms - count + number, message_id=scattered(peer.name, number)) for number in range(count)
    ]
    return {message.message_id: message for message in lost}, peer.content(
        stage.now_ms + 1, *entries_with_senders(*lost)
    )


def _find_missing(actor: Actor, revealing: Message) -> bool:
    """Let a participant detect missing messages; return whether it shows their T_req."""
    state = actor.given(revealing).observe()
    return state is not None and state.HasField("outgoing_repairs")


def _look(stage: Stage, lost: dict[Actor, dict[str, Message]], looks: int = LOOKS) -> None:
    """All participants send sync messages from T_min to T_max, and receive the messages that they ask for."""
    one = next(iter(lost))
    stage.need(pb.CAPABILITY_SYNC)
    stage.advance(t_min(one))
    pace = (t_max(one) - t_min(one)) // looks
    for _ in range(looks + 2):
        for actor, missing in lost.items():
            asking = actor.send_sync()
            for entry in asking.repair_request if asking is not None else ():
                if entry.message_id in missing:
                    actor.receive(missing.pop(entry.message_id))
        stage.advance(pace)


@repair_scenario("R-TREQ-04", "R-TREQ-01")
def many_missing_at_once(stage: Stage, alice: Actor) -> None:
    """One message depends on fifty missing messages."""
    lost, revealing = _all_lost(stage, stage.peer("bob"), MANY)
    if not _find_missing(alice, revealing):
        _look(stage, {alice: lost}, 4 * LOOKS)


def _crowd(stage: Stage, count: int, asked: pb.Configuration | None = None) -> None:
    """Twenty participants miss the same messages of Bob."""
    lost, revealing = _all_lost(stage, stage.peer("bob"), count)
    crowd = {open_with_repairs(stage, scattered("alice", number), asked): dict(lost) for number in range(CROWD)}
    shown = [_find_missing(actor, revealing) for actor in crowd]
    if not all(shown):
        _look(stage, crowd)


@scenario("R-TREQ-02", "R-TREQ-03", "R-TREQ-04", long=True)
def a_crowd_misses_the_same(stage: Stage) -> None:
    """Twenty participants miss the same fifty messages, a thousand times in all."""
    _crowd(stage, MANY, pb.Configuration(max_repair_requests=MANY))


@scenario("R-TREQ-02", long=True)
def a_crowd_misses_one(stage: Stage) -> None:
    """Twenty participants miss one and the same message, so that no request is full."""
    _crowd(stage, 1)


@scenario("R-RECV-06", "R-TREQ-05")
def equal_participant_ids_miss_the_same(stage: Stage) -> None:
    """Participants with the same ID miss the same two messages: two within seconds, a third one an hour later."""
    lost, revealing = _all_lost(stage, stage.peer("bob"), 2)
    first = open_with_repairs(stage)
    shown = _find_missing(first, revealing)
    pace = (t_max(first) - t_min(first)) // LOOKS
    stage.advance(pace)
    second = open_with_repairs(stage, instance="again")
    _find_missing(second, revealing)
    if not shown:
        stage.advance(-pace)  # so that both look at the same times after detection
        _look_in_turn(stage, first, second, pace)
    stage.advance(3_600_000)
    third = open_with_repairs(stage, instance="an hour later")
    if not _find_missing(third, revealing):
        _look(stage, {third: lost})


def _look_in_turn(stage: Stage, first: Actor, second: Actor, pace: int) -> None:
    """Both send sync messages from T_min to T_max, counted from detection, the second one a pace behind."""
    stage.need(pb.CAPABILITY_SYNC)
    stage.advance(t_min(first))
    for look in range(LOOKS + 3):
        if look < LOOKS + 2:
            first.send_sync()
        if look:
            second.send_sync()
        stage.advance(pace)


@scripts.scenario("R-TRESP-04", "R-TRESP-06", long=True)
def many_holders(script: scripts.Script, frank: scripts.Peer) -> None:
    """Six participants have the same messages, five of each of four authors, and do not hear each other respond."""
    asked = pb.Configuration(t_max_ms=LONG_MS)
    holders = [scheduled.open_with_repairs(script, scattered("holder", number), asked) for number in range(6)]
    authors = [script.peer(name) for name in ("bob", "carol", "dave", "erin")]
    messages = [message for author in authors for message in deliver_messages(holders[0], author, 5)]
    for holder in holders[1:]:
        holder.receive(*messages)
    request = frank.content(script.now, requests=scripts.signed(*messages))
    for holder in holders:
        holder.given(request).observe()
    tick_often(*holders)
    wait_for_responses(*holders)


@scheduled.repair_scenario("R-TRESP-01", "R-TRESP-05", long=True, asked=pb.Configuration(t_max_ms=LONG_MS))
def many_authors(script: scripts.Script, alice: scripts.Part, carol: scripts.Peer) -> None:
    """A participant is asked for messages of more than two hundred authors, one of each."""
    messages = one_of_each(alice, 240)
    for start in (0, 120):
        request_messages(carol, alice, *messages[start : start + 120])
    observe_responses(alice)
