"""A participant finds messages missing and asks for them.

What was asked for is delivered, so that a small cap hides nothing. Where T_req is not known, messages go out at T_max
and a second later, by when it is over whatever the hash and the unit of time are.
"""

from __future__ import annotations

from sds_harness.sds.peer import signed
from sds_harness.stage import ScheduleStopped
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HASH_PROFILES, HistoryEntry, Message, t_req_offset

from ..cast import Actor, ScriptedPeer, Stage, scenario, take_in
from .repairing import NEEDED, repair_scenario, repairing, t_max, t_min

MANY = 12


def missing(stage: Stage, actor: Actor, peer: ScriptedPeer, count: int = 1) -> list[Message]:
    """So many messages of ``peer`` go astray; the participant learns of them from another that depends on them."""
    lost = [peer.content(stage.now_ms - count + number) for number in range(count)]
    actor.receive(peer.content(stage.now_ms + 1, *signed(*lost)))
    return lost


def say(actor: Actor, *, content: bool) -> Message | None:
    """The participant sends content or a sync message."""
    if content or not actor.stage.trace.declaration.can(pb.CAPABILITY_SYNC):
        return actor.send()
    return actor.send_sync()


def say_both(actor: Actor, *waits_ms: int, content_first: bool = False) -> None:
    """After each wait the participant sends a sync message and content, or content and a sync message."""
    for wait_ms in waits_ms:
        actor.stage.advance(wait_ms)
        say(actor, content=content_first)
        say(actor, content=not content_first)


def t_req(actor: Actor, message_id: str) -> int | None:
    """T_req of what was found missing now: as shown, or by the declared hash."""
    state = actor.observe()
    for entry in state.outgoing_repairs.entries if state is not None else ():
        if entry.message_id == message_id:
            return int(entry.due_ms)
    profile = HASH_PROFILES.get(actor.stage.trace.declaration.profile("hash"))
    if profile is None:
        return None
    low, high = t_min(actor), t_max(actor)
    return actor.stage.now_ms + t_req_offset(profile, actor.party.participant_id, message_id, low, high)


@repair_scenario("R-GLOBAL-09", "R-GLOBAL-10", "R-STATE-01", "R-STATE-09", "R-RECV-03", "R-SEND-06", "R-SEND-01")
def asks_for_what_is_missing(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """A dependency is missing; sync messages, and content at T_max, go out until they must have asked, and it comes.

    Another is missing after that, and nothing goes out before its time is over.
    """
    root = bob.content(stage.now_ms + 1)
    alice.receive(bob.content(stage.now_ms + 2, *signed(root)))
    for number in range(1, 27):
        say(alice.after(t_max(alice) // 24), content=False)
        if number == 24:
            say(alice, content=True)
        alice.observe()
    take_in(alice, root)
    say(alice, content=False)
    (another,) = missing(stage, alice, bob)
    say_both(alice, t_max(alice), 1_000)
    take_in(alice, another)


@repair_scenario(
    "R-SEND-01", "R-STATE-09", "R-STATE-01", "R-GLOBAL-10", "R-RECV-03", "MSG-08", "R-FIELDS-01", "R-FIELDS-02"
)
def content_and_sync_ask(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """Twice something is missing until its time is over: once content is sent first, once a sync message."""
    for content_first in (True, False):
        lost = missing(stage, alice, bob)
        alice.observe()
        say_both(alice, t_max(alice), 1_000, content_first=content_first)
        take_in(alice, *lost)


@repair_scenario("R-SEND-07")
def an_own_message_was_missing(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """Others name an own message before it is sent: from then on nobody has to be asked for it."""
    if not stage.trace.declaration.can(pb.CAPABILITY_MESSAGE_ID_REQUIRED):
        stage.need(pb.CAPABILITY_MESSAGE_ID_ACCEPTED)
    own = HistoryEntry("mine-to-come", None, alice.party.participant_id)
    alice.receive(bob.content(stage.now_ms + 1, own))
    alice.send(message_id="mine-to-come")
    say_both(alice, t_max(alice))


@repair_scenario("R-SEND-02", "R-SEND-01", "R-TREQ-01")
def at_the_very_millisecond(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """Messages are sent a second before T_req, a millisecond before it, at T_req and later."""
    for content in (True, False, True):
        (lost,) = missing(stage, alice, bob)
        due = t_req(alice, lost.message_id)
        for until in (due - 1_000, due - 1, due, due + 1) if due is not None else ():
            say(alice.after(max(0, until - stage.now_ms)), content=content)
        take_in(alice, lost)


@repair_scenario("R-SEND-01", "R-GLOBAL-10")
def no_message_at_its_time(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """Two are missing and nothing is sent until some time after T_req; then content or a sync message asks."""
    for content in (True, False):
        for _ in range(2):
            (lost,) = missing(stage, alice, bob)
            due = t_req(alice, lost.message_id)
            wait = t_max(alice) + 1_000 if due is None else min(due - stage.now_ms + 2_000, t_max(alice))
            say(alice.after(max(0, wait)), content=content)
            take_in(alice, lost)


@repair_scenario("R-SEND-03", "R-SEND-04", "R-SEND-05", "R-FIELDS-02", "MSG-08")
def more_is_due_than_fits(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """A dozen are due at once; what is asked for comes, and the next message asks for the rest."""
    lost = {message.message_id: message for message in missing(stage, alice, bob, MANY)}
    alice.observe()
    stage.advance(t_max(alice))
    for number in range(MANY + 1):
        asking = say(alice, content=number % 2 == 0)
        asked = [entry.message_id for entry in asking.repair_request] if asking is not None else []
        found = [lost.pop(message_id) for message_id in asked if message_id in lost]
        if not lost:
            break
        if found:
            alice.receive(*found)
        stage.advance(250)


@repair_scenario("R-SEND-06")
def nothing_to_ask_for(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """Messages are sent when nothing is missing, when what is missing is not due yet, and when it has come."""
    say_both(alice, 0, content_first=True)
    (lost,) = missing(stage, alice, bob)
    say_both(alice, t_min(alice) // 2, content_first=True)
    take_in(alice, lost)
    say_both(alice, t_max(alice), content_first=True)


@repair_scenario("R-STATE-02", "R-STATE-09")
def named_again_and_again(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Again and again somebody depends on the same missing message; that must not put off the request for it."""
    (lost,) = missing(stage, alice, bob)
    alice.observe()
    for number in range(1, 13):
        alice.after(t_max(alice) // 12).receive((carol if number % 2 else bob).content(stage.now_ms, *signed(lost)))
        if number % 3 == 0:
            alice.observe()
    # T_max is over to the millisecond, then by a second.
    say_both(alice, max(0, t_max(alice) - t_max(alice) // 12 * 12), 1_000, content_first=True)
    take_in(alice.after(1_000), lost)
    (once,) = missing(stage, alice, bob)
    say_both(alice, t_max(alice), 1_000, content_first=True)
    alice.after(1_000).receive(once)


@scenario("R-GLOBAL-02", "R-GLOBAL-03", "R-SEND-05", needs=NEEDED, asked=pb.Configuration(sds_r=True))
def times_by_default(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """A participant is asked for SDS-R and for nothing more; two dozen are missing, and sync messages go out."""
    lost = {message.message_id: message for message in missing(stage, alice, bob, 2 * MANY)}
    start = stage.now_ms
    for seconds in (10, 20, 29, *range(35, 130, 5), *range(150, 630, 30)):
        asking = say(alice.after(max(0, start + 1_000 * seconds - stage.now_ms)), content=False)
        for entry in asking.repair_request if asking is not None else ():
            if entry.message_id in lost:
                alice.receive(lost.pop(entry.message_id))
        if not lost:
            break


@scenario("R-TREQ-01", needs=(pb.CAPABILITY_SDS_R,))
def no_room_for_a_backoff(stage: Stage, bob: ScriptedPeer) -> None:
    """T_max equals T_min, which may be refused; if not, a missing message is asked for then, and nothing breaks."""
    asked = pb.Configuration(t_min_ms=60_000, t_max_ms=60_000)
    try:
        alice = repairing(stage, "alice", asked, instance="without room")
    except ScheduleStopped:
        alice = repairing(stage)  # refused: the times must differ (AMB-08)
    for _ in range(2):
        (lost,) = missing(stage, alice, bob)
        alice.observe()
        alice.after(t_min(alice)).send()
        alice.after(max(0, t_max(alice) - t_min(alice))).send()
        take_in(alice, lost)


def _until_it_asks(stage: Stage, bob: ScriptedPeer, *others: ScriptedPeer) -> None:
    """A participant with automatic sync messages misses something, and nobody or others send sync messages.

    Ten of its intervals pass before a request may expire.
    """
    stage.need(pb.CAPABILITY_PERIODIC_SYNC)
    asked = pb.Configuration(sync_interval_ms=2_000, t_min_ms=30_000, t_max_ms=60_000)
    alice = repairing(stage, configuration=asked)
    interval = alice.party.in_force.sync_interval_ms or 2_000
    if not 1_000 <= interval <= t_max(alice) // 4:
        raise ScheduleStopped("the sync interval in force is too long or too short to wait for")
    (lost,) = missing(stage, alice, bob)
    alice.observe()
    stage.advance(t_min(alice) - interval)
    until = stage.now_ms + t_max(alice) + 12 * interval - t_min(alice)
    while stage.now_ms < until:
        stage.advance(interval // 2)
        for other in others:
            alice.receive(other.sync(stage.now_ms))
        step = alice.tick()
        if any(message.repair_request for message in step.messages):
            break
    alice.receive(lost)


@scenario("R-SYNC-02")
def the_next_sync_asks(stage: Stage, bob: ScriptedPeer) -> None:
    """Something is missing, nobody speaks, and the participant is left to its scheduled sync messages."""
    _until_it_asks(stage, bob)


@scenario("R-SYNC-01")
def others_sync_all_the_time(stage: Stage, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Something is missing, and others send sync messages more often than the participant would."""
    _until_it_asks(stage, bob, carol)
