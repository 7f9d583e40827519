"""Shapes that the codec operations answer: decode, encode and filters."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from sds_harness.sds.actor import Actor
from sds_harness.sds.codec import DecodedMessage, FilterSize, NoAnswer, Refused, Undeclared
from sds_harness.stage import ScheduleStoppedError
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import PROFILES, REVISIONS, BloomParameters, ForeignFilterError

from .....vectors.model import Vector
from .....vectors.running.subject import REFUSED, Status, VectorResult, VectorSkippedError, judge_outcome, worst
from ..fields import message_json, message_of
from .subject import SdsSubject, blame_delivery_duty, observed_part
from .wire_comparison import compare_wire


def ask_decode(subject: SdsSubject, vector: Vector) -> VectorResult:
    """Compare the message that the implementation decodes from the bytes with the legal outcomes of the vector."""
    seen: Any = convert_answer(subject.codec.decode(bytes.fromhex(vector["wire"])))
    if isinstance(seen, DecodedMessage):
        seen = {"message": message_json(seen.message)}
    answer = judge_outcome(seen, vector["outcomes"], _matches_decoded)
    recommended = vector["outcomes"][0].get("message")
    return blame_delivery_duty(subject, message_of(recommended), answer) if seen == REFUSED and recommended else answer


def convert_answer(answer: object) -> Any:
    """Convert a reply to an outcome. A refusal is an outcome; an undeclared operation skips the vector."""
    if isinstance(answer, Undeclared):
        raise VectorSkippedError(answer.reason)
    return REFUSED if isinstance(answer, Refused) else answer


def _matches_decoded(seen: dict[str, Any], outcome: dict[str, Any]) -> bool:
    if "message" in seen and _has_negative_timestamp(outcome):
        # The testee protocol has no negative timestamps, so the value that was read is unknown.
        seen = {"message": {**seen["message"], "lamport_timestamp": outcome["message"]["lamport_timestamp"]}}
    if "message" in seen and "message" in outcome:
        left_out = outcome.get("except", ())
        return _compared_fields(seen["message"], left_out) == _compared_fields(outcome["message"], left_out)
    return bool(seen.get("rejected")) == bool(outcome.get("rejected")) and ("accepted" in outcome or seen == REFUSED)


def _compared_fields(message: dict[str, Any], left_out: Container[str] = ()) -> dict[str, Any]:
    """The fields of a message to compare: all but ``left_out``. Content of length zero counts as absent (AMB-34)."""
    return {key: value for key, value in message.items() if key not in left_out and (key != "content" or value)}


def _has_negative_timestamp(outcome: dict[str, Any]) -> bool:
    return bool(outcome.get("message", {}).get("lamport_timestamp", "").startswith("-"))


def ask_encode(subject: SdsSubject, vector: Vector) -> VectorResult:
    """Compare the bytes that the implementation encodes with the legal outcomes. The order of the fields does not
    count.
    """
    message = message_of(vector["message"])
    wire = convert_answer(subject.codec.encode(message))
    if wire == REFUSED:
        return judge_outcome(REFUSED, vector["outcomes"])
    listed = judge_outcome({"wire": wire.hex()}, vector["outcomes"])
    if listed.status is not Status.FAIL:
        return listed
    expected = [bytes.fromhex(outcome["wire"]) for outcome in vector["outcomes"] if "wire" in outcome]
    answers = [compare_wire(REVISIONS[subject.revision].wire, wire, other) for other in expected]
    return next((answer for answer in answers if answer.status is not Status.FAIL), answers[0])


# ---- filters ---------------------------------------------------------------------------------------------------------


def _size(vector: Vector) -> FilterSize:
    return FilterSize(vector["capacity"], vector["error_rate_millionths"] / 1_000_000)


def _need_profile(subject: SdsSubject, vector: Vector) -> None:
    declared = subject.declaration.profile("bloom")
    if not declared:
        raise VectorSkippedError("declares no known bloom profile")
    if declared != vector["profile"]:
        raise VectorSkippedError(f"declares the bloom profile {declared}, but the vector has another profile")


def ask_bloom_build(subject: SdsSubject, vector: Vector) -> VectorResult:
    """Compare two filters of the message IDs with the legal outcomes: one is built by the codec, and one by a
    participant that received messages with these IDs.
    """
    _need_profile(subject, vector)
    ids = vector["message_ids"]
    built = subject.codec.build_filter(ids, _size(vector))
    answers = [] if isinstance(built, Undeclared) else [_judge_filter(vector, built, [])]
    path = _build_by_participant(subject, vector)
    if path is not None:
        answers.append(_judge_filter(vector, *path))
    return _worst_or_skip(answers, built)


def _worst_or_skip(answers: list[VectorResult], asked: object) -> VectorResult:
    """Return the worst result. If there is no result, skip the vector for the reason in ``asked``, the reply of the
    codec.
    """
    if not answers:
        convert_answer(asked)
    return worst(answers)


def _judge_filter(vector: Vector, built: bytes | NoAnswer, own: list[str]) -> VectorResult:
    if not isinstance(built, bytes):
        return VectorResult(Status.FAIL, "a filter", "refused")

    def matches(seen: Any, outcome: dict[str, Any]) -> bool:
        if "bloom_filter" in outcome:
            exact = bytes.fromhex(outcome["bloom_filter"])
            return bool(seen == exact) or (bool(own) and seen == _filter_with_own_ids(vector, exact, own))
        return _holds_all(vector, seen, outcome["holds"])

    return judge_outcome(built, vector["outcomes"], matches, f"{len(built)} bytes: {built[:32].hex()}")


def _parameters(vector: Vector) -> BloomParameters:
    return BloomParameters.sized(vector["capacity"], vector["error_rate_millionths"] / 1_000_000)


def _filter_with_own_ids(vector: Vector, exact: bytes, own: list[str]) -> bytes:
    """The filter ``exact`` with the IDs of own messages added. A participant may send such a filter (AMB-19)."""
    profile, size = PROFILES[vector["profile"]], _parameters(vector)
    if not exact:
        return exact
    bits = bytearray(profile.read(exact, size).bits)
    for message_id in own:
        for byte, mask in profile.positions(message_id, size):
            bits[byte] |= mask
    return profile.wrap(bytes(bits), size)


def _holds_all(vector: Vector, wire: bytes, ids: list[str]) -> bool:
    try:
        view = PROFILES[vector["profile"]].read(wire, _parameters(vector))
    except ForeignFilterError:
        return False
    return all(message_id in view for message_id in ids)


def ask_bloom_query(subject: SdsSubject, vector: Vector) -> VectorResult:
    """Judge which IDs of the vector the codec finds in the filter.

    Then judge which of them a participant finds, after it has sent messages with these IDs.
    """
    _need_profile(subject, vector)
    wire, ids = bytes.fromhex(vector["bloom_filter"]), vector["message_ids"]
    asked = subject.codec.query_filter(wire, ids, _size(vector))
    answers = []
    if not isinstance(asked, Undeclared):
        seen: Any = REFUSED if isinstance(asked, Refused) else {"hits": list(asked)}
        answers.append(judge_outcome(seen, vector["outcomes"]))
    hits = _query_participant(subject, vector, wire)
    if hits is not None:
        nothing = any(outcome.get("rejected") for outcome in vector["outcomes"])
        found = judge_outcome({"hits": hits}, vector["outcomes"])
        # A participant that ignores a filter finds nothing in it.
        answers.append(VectorResult(Status.PASS) if nothing and found.status is Status.ACCEPTABLE else found)
    return _worst_or_skip(answers, asked)


# ---- filters of participants -----------------------------------------------------------------------------------------

# Participants are tested if the implementation accepts the filter size and the message IDs of a vector.

LARGEST_BUILT = 1_000
"""Number of IDs above which only the codec builds a filter."""


def _open_with_size(subject: SdsSubject, vector: Vector) -> Actor | None:
    """Open a participant with the filter size of the vector; None if that is impossible."""
    if vector["capacity"] > LARGEST_BUILT:
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


def _build_by_participant(subject: SdsSubject, vector: Vector) -> tuple[bytes, list[str]] | None:
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


def _query_participant(subject: SdsSubject, vector: Vector, wire: bytes) -> list[bool] | None:
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
