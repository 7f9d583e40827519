"""Several participants under test: requesters, holders and original senders hear each other."""

from __future__ import annotations

from sds_harness.sds.peer import entries_with_senders
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Message

from ..cast import Actor, ScriptedPeer, Stage, scenario
from ..core.room import Room, lose_everything, requests_only
from .live import open_with_repairs, t_max, t_min
from .participants import scattered

HOLDERS = 24
REQUESTERS = 24
SWEEP_MS = 2_000
PERIOD_MS = 5_000
"""The period of the sync messages of many requesters."""
GROUPS = (1, 2, 4, 8)


def _holders(stage: Stage, count: int, groups: int = 1) -> list[Actor]:
    configuration = pb.Configuration(num_response_groups=groups)
    return [open_with_repairs(stage, scattered("holder", number), configuration) for number in range(1, count + 1)]


def _until_answered(room: Room, longest_ms: int) -> None:
    """Sweep often until a message is broadcast, then rarely until no response can be left."""
    for _ in range(longest_ms // SWEEP_MS):
        broadcast = room.sweep()
        room.wait(SWEEP_MS)
        if broadcast:
            break
    for _ in range(9):
        room.sweep()
        room.wait(longest_ms // 8)


@scenario("R-TRESP-02", "R-STATE-05", "R-RECV-02")
def the_sender_is_among_the_holders(stage: Stage) -> None:
    """Seven participants have a message, one of them sent it; a peer asks for it, and all hear the response."""
    holders = _holders(stage, 7)
    room = Room(stage, holders)
    sender, others = holders[0], holders[1:]
    message = sender.send()
    room.actors = others
    room.say(message)
    room.actors = holders
    # After another participant has named it, a copy of it is no resend.
    room.say(stage.peer("bob").content(stage.now_ms, *entries_with_senders(message)))
    room.say(stage.peer("zoe").sync(stage.now_ms, requests=entries_with_senders(message)))
    _until_answered(room, t_max(sender))


@scenario("R-STATE-05", "R-RECV-02", "R-TRESP-04", long=True)
def the_sender_is_gone(stage: Stage) -> None:
    """Twenty-four participants have a message of a peer that left; a peer asks for it, and all hear each response."""
    holders = _holders(stage, HOLDERS)
    room = Room(stage, holders)
    message = stage.peer("bob").content(stage.now_ms)
    room.say(message)
    room.say(stage.peer("zoe").sync(stage.now_ms, requests=entries_with_senders(message)))
    _until_answered(room, t_max(holders[0]))


@scenario("R-RECV-07", "R-TREQ-02", long=True)
def many_miss_the_same(stage: Stage, bob: ScriptedPeer) -> None:
    """Twenty-four participants miss the same message, send sync messages every 5 s, and hear each other's requests."""
    room = Room(stage, [open_with_repairs(stage, scattered("asker", number)) for number in range(1, REQUESTERS + 1)])
    lost = bob.content(stage.now_ms)
    room.say(bob.content(stage.now_ms + 1, *entries_with_senders(lost)))
    first = room.actors[0]
    room.wait(t_min(first))
    room.hears = requests_only
    after = 0
    for _ in range((t_max(first) - t_min(first)) // PERIOD_MS + 1):
        for actor in room.actors:
            room.sync(actor)
        room.wait(PERIOD_MS)
        after += _is_asked_for(stage, lost)
        if after > 3:
            return


def _is_asked_for(stage: Stage, message: Message) -> bool:
    return any(
        entry.message_id == message.message_id
        for step in stage.trace.steps
        for sent in step.messages
        for entry in sent.repair_request
    )


@scenario("R-GROUP-01", "R-GLOBAL-05", long=True)
def holders_in_groups(stage: Stage, bob: ScriptedPeer) -> None:
    """Sixteen participants in 1, 2, 4 and 8 response groups are asked for five messages of a peer that left."""
    for groups in GROUPS:
        holders = [
            open_with_repairs(
                stage, scattered("holder", number), pb.Configuration(num_response_groups=groups), f"of {groups}"
            )
            for number in range(1, 17)
        ]
        room = Room(stage, holders)
        messages = [bob.content(stage.now_ms + number) for number in range(5)]
        for message in messages:
            room.say(message)
        room.say(stage.peer("zoe").sync(stage.now_ms + 10, requests=entries_with_senders(*messages)))
        # All responses are lost, so that every participant that may respond does.
        room.hears = lose_everything
        for _ in range(8):
            room.wait(t_max(holders[0]) // 7)
            room.sweep()


@scenario("R-SWEEP-02", "R-RECV-08")
def the_request_and_the_response_are_lost(stage: Stage, bob: ScriptedPeer) -> None:
    """A participant misses a message that two others have; the first request and the first response are lost."""
    asker, *holders = [open_with_repairs(stage, name) for name in ("asker", "holder-1", "holder-2")]
    room = Room(stage, holders)
    lost = bob.content(stage.now_ms)
    later = bob.content(stage.now_ms + 1, *entries_with_senders(lost))
    room.say(lost)
    room.actors = [asker, *holders]
    room.say(later)
    losses = {"request": 1, "response": 1}

    def unreliable(listener: Actor, message: Message) -> bool:
        kind = "request" if message.repair_request else "response" if message.message_id == lost.message_id else ""
        if losses.get(kind, 0) and (listener is asker) == (kind == "response"):
            # The message is lost for all of its listeners.
            losses[kind] -= listener is room.actors[-1] or listener is asker
            return False
        return True

    room.hears = unreliable
    for round_ in range(3 * t_max(asker) // 10_000):
        room.sync(asker)
        room.wait(5_000)
        room.sweep()
        room.wait(5_000)
        if round_ % 6 == 5:  # Bob sends more, and names it again
            room.say(bob.content(stage.now_ms, *entries_with_senders(lost, later)))
