"""Tests the filters that participants build and read, if the implementation accepts the filter size and message IDs of
a vector.
"""

from __future__ import annotations

from sds_harness.sds.actor import Actor
from sds_harness.stage import ScheduleStoppedError
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import REVISIONS

from .....vectors.model import Vector
from .subject import SdsSubject, observed_part

LARGEST = 1_000
"""Number of IDs above which only the codec builds a filter."""


def _open_with_size(subject: SdsSubject, vector: Vector) -> Actor | None:
    """Open a participant with the filter size of the vector; None if that is impossible."""
    if vector["capacity"] > LARGEST:
        return None
    rate = vector["error_rate_millionths"] / 1_000_000
    asked = pb.Configuration(bloom_capacity=vector["capacity"], bloom_error_rate=rate)
    try:
        actor = subject.stage(vector["id"]).open(configuration=asked)
    except ScheduleStoppedError:
        return None
    in_force = actor.party.in_force
    sized = in_force.bloom_capacity == vector["capacity"] and abs(in_force.bloom_error_rate - rate) < 1e-9
    return actor if sized else None


def build_by_participant(subject: SdsSubject, vector: Vector) -> tuple[bytes, list[str]] | None:
    """The filter of a participant that received messages with the IDs of the vector, and the IDs of own messages that
    the filter may hold as well. None if the participant cannot be opened, refuses a message, or sends no message.
    """
    actor = _open_with_size(subject, vector)
    if actor is None:
        return None
    peer = actor.stage.peer("bob")
    for number, message_id in enumerate(vector["message_ids"]):
        step = actor.receive(peer.content(actor.stage.now_ms - 1000 + number, message_id=message_id))
        if step.answer != "effects":
            return None
    try:
        message = actor.send_sync() if subject.declaration.can(pb.CAPABILITY_SYNC) else None
        message = message or actor.send()
    except ScheduleStoppedError:
        return None
    if message.bloom_filter is None:
        return b"", []
    logged = message.content or REVISIONS[subject.revision].syncs_are_logged
    return message.bloom_filter, [message.message_id] if logged else []


def query_participant(subject: SdsSubject, vector: Vector, wire: bytes) -> list[bool] | None:
    """For each ID of the vector: did a participant that sent a message with this ID find it in the received filter?

    None if the participant cannot send messages with these IDs, or does not show possible acknowledgements.
    """
    ids = vector["message_ids"]
    can = subject.declaration.can
    visible = can(pb.CAPABILITY_OBSERVE) or can(pb.CAPABILITY_POSSIBLY_ACKNOWLEDGED)
    usable = all(ids) and len(set(ids)) == len(ids) and can(pb.CAPABILITY_MESSAGE_ID_ACCEPTED)
    actor = _open_with_size(subject, vector) if visible and usable else None
    if actor is None:
        return None
    try:
        if [actor.send(message_id=message_id).message_id for message_id in ids] != ids:
            return None
    except ScheduleStoppedError:
        return None
    step = actor.receive(actor.stage.peer("bob").content(actor.stage.now_ms + 1, bloom_filter=wire))
    outgoing = observed_part(actor, "outgoing")
    if outgoing is not None:
        possibly = {e.message_id for e in outgoing.entries if e.state == pb.ACK_STATE_POSSIBLY_ACKNOWLEDGED}
    elif can(pb.CAPABILITY_POSSIBLY_ACKNOWLEDGED):
        marked = [event for event in step.events if event.kind == "possibly_acknowledged"]
        possibly = {event.message_id for event in marked}
    else:
        return None
    return [message_id in possibly for message_id in ids]
