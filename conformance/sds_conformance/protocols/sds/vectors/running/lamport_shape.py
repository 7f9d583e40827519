"""The shape on Lamport timestamps: what an operation makes of the timestamp of a channel."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

from sds_harness.sds.actor import Actor
from sds_harness.stage import ScheduleStoppedError
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import REVISIONS, Kind, Message

from .....vectors.model import Vector
from .....vectors.running.subject import REFUSAL, REFUSED, Status, VectorResult, VectorSkippedError, judge_outcome
from .subject import SdsSubject, observed_part, refused

SAFE = 2**53 + 10
"""The largest timestamp of SDS that every implementation must accept (AMB-14)."""
SIGNED = 2**63 - 1
LARGEST = 2**64 - 1
"""The largest Lamport timestamp that an SDS message can carry: the field is an unsigned integer of 64 bits."""
LARGEST_INT32 = 2**31 - 1
"""The largest Lamport timestamp in the proposal of 2024: the field is a signed integer of 32 bits."""
PLAUSIBLE = 1_000
"""In the proposal, a timestamp that exceeds the necessary value by this much cannot be a count of messages."""
SETTING_OFF_MS = 1000
"""Time in milliseconds between the opening of a participant and the first event."""


def ask_lamport(subject: SdsSubject, vector: Vector) -> VectorResult:
    """Bring the local timestamp to the value of the vector, run the operation, and compare the new timestamp."""
    if not REVISIONS[subject.revision].lamport_follows_clock:
        return _ask_counting(subject, vector)
    subject.need(pb.CAPABILITY_VIRTUAL_CLOCK)
    local, now_ms = int(vector["local"]), int(vector["now_ms"])
    received = int(vector["received"]) if "received" in vector else None
    opened_ms = max(1, min(local, now_ms) - SETTING_OFF_MS)
    subject.need_lamport(opened_ms, local)
    subject.need_lamport(now_ms, *([received] if received is not None and received <= SAFE else []))
    stage = subject.stage(vector["id"])
    stage.now_ms = opened_ms
    actor = stage.open()
    actor.receive(stage.peer("setter").content(local))
    if refused(actor):
        if local > SAFE:
            raise VectorSkippedError("refuses timestamps beyond 2^53+10, which is legal")
        return VectorResult(Status.FAIL, f"the timestamp {local} to be accepted", "refused", difference=REFUSAL)
    if local > SAFE and not _adopted_timestamp(actor, local):
        raise VectorSkippedError("drops timestamps beyond 2^53+10, or stays below them, which is legal")
    stage.now_ms = now_ms
    seen = _run_operation(actor, vector["operation"], received)
    _skip_after_unasked_sync(actor)
    # If no state shows the timestamp, read it from the next message. This proves nothing if that message has the
    # current time.
    after = observed_part(actor, "lamport_timestamp")
    if after is not None:
        seen["local"] = str(after)
        return judge_outcome(seen, vector["outcomes"], _matches_state)
    if local > SAFE and seen.get("sent") == str(now_ms):
        raise VectorSkippedError("does not show whether it accepted a timestamp beyond 2^53+10")
    with suppress(ScheduleStoppedError):
        seen["next"] = (actor.send().lamport_timestamp or 0,)
        _skip_after_unasked_sync(actor)
    return judge_outcome(seen, vector["outcomes"], lambda s, o: _matches_next_timestamp(s, o, now_ms))


def _skip_after_unasked_sync(actor: Actor) -> None:
    """Skip the vector if the participant sent a sync message that no command requested.

    Such a message increases the timestamp, and the vector gives the timestamp after its own operation only.
    """
    for step in actor.stage.trace.steps:
        syncs = sum(wire.message is not None and wire.message.kind is Kind.SYNC for wire in step.broadcasts)
        if syncs > (step.command == "send_sync"):
            raise VectorSkippedError("sends a sync message without a command, which is legal")


def _adopted_timestamp(actor: Actor, local: int) -> bool:
    """Did the participant set its local timestamp to ``local`` when a message with this timestamp arrived? It may drop
    the message without a reply.
    """
    now = observed_part(actor, "lamport_timestamp")
    if now is not None:
        return bool(now == local)
    # If no state shows the timestamp, a delivery of the message proves that its timestamp was adopted. Without delivery
    # events, assume that the timestamp was adopted.
    trace = actor.stage.trace
    delivered = any(event.kind == "delivered" for step in trace.steps for event in step.events)
    return delivered or not trace.declaration.can(pb.CAPABILITY_DELIVERED)


def _run_operation(actor: Actor, operation: str, received: int | None) -> dict[str, Any]:
    """Run the operation of a vector; return the sent message, or the refusal."""
    bob = actor.stage.peer("bob")
    at = received or 0
    arriving: dict[str, Message] = {
        "deliver": bob.content(at),
        "receive-sync": bob.sync(at),
        "receive-ephemeral": bob.ephemeral(b"typing"),
        "receive-waiting": bob.content(at, "never-sent"),
        "receive-own": replace(bob.content(at), sender_id=actor.party.participant_id),
    }
    if operation in arriving:
        actor.receive(arriving[operation])
        # An own message may be refused (AMB-23), and then the timestamp stays unchanged.
        may_refuse = operation == "receive-own"
        return dict(REFUSED) if refused(actor) and not may_refuse else {}
    try:
        if operation == "send":
            return {"sent": str(actor.send().lamport_timestamp)}
        if operation == "send-ephemeral":
            actor.send_ephemeral()
            return {}
        sync = actor.send_sync()
    except ScheduleStoppedError:
        if refused(actor):
            return dict(REFUSED)
        raise
    if sync is None:
        raise VectorSkippedError("sends no sync message in this situation, which is legal")
    return {"sent": str(sync.lamport_timestamp)}


def _matches_state(seen: dict[str, Any], outcome: dict[str, Any]) -> bool:
    return all(seen.get(key) == outcome.get(key) for key in ("sent", "rejected", "local"))


def _matches_next_timestamp(seen: dict[str, Any], outcome: dict[str, Any], now_ms: int) -> bool:
    if any(seen.get(key) != outcome.get(key) for key in ("sent", "rejected")):
        return False
    local = int(outcome["local"])
    # At the end of its range, the timestamp may stay unchanged (AMB-14).
    stays = (local,) if local in (SIGNED, LARGEST) else ()
    return "next" not in seen or seen["next"][0] in (max(now_ms, local + 1), *stays)


# ---- timestamps that count from 0 ------------------------------------------------------------------------------------


def _ask_counting(subject: SdsSubject, vector: Vector) -> VectorResult:
    """Judge a timestamp that counts from 0, as in the proposal of 2024.

    A received message sets the local timestamp. Only timestamps that the proposal defines are compared. An
    implementation that counts in larger steps reaches a larger value. All expected values are then larger by the
    same difference.
    """
    local = int(vector["local"])
    stage = subject.stage(vector["id"])
    stage.now_ms = int(vector["now_ms"])
    actor = stage.open()
    further = _reach_timestamp(actor, local) if local else 0
    if isinstance(further, VectorResult):
        return further
    received = int(vector["received"]) if "received" in vector else None
    if further and max(local, received or 0) + further + PLAUSIBLE > LARGEST_INT32:
        raise VectorSkippedError("counts in larger steps than one, so its timestamps would exceed 31 bits")
    seen = _run_operation(actor, vector["operation"], received + further if received is not None else None)
    if seen.get("sent") == "None":
        return VectorResult(Status.FAIL, "a message with a timestamp", "one without")
    if "sent" in seen:
        seen["sent"] = str(int(seen["sent"]) - further)
    now = observed_part(actor, "lamport_timestamp")
    if now is not None:
        seen["local"] = str(now - further)
    else:  # read the timestamp from the next message
        with suppress(ScheduleStoppedError):
            seen["next"] = str((actor.send().lamport_timestamp or 0) - further)
    return judge_outcome(seen, vector["outcomes"], _is_allowed)


def _reach_timestamp(actor: Actor, local: int) -> int | VectorResult:
    """Receive a message and send one; return by how much the timestamp of the sent message exceeds ``local``."""
    if local > 1:
        actor.receive(actor.stage.peer("setter").content(local - 1))
        if refused(actor):
            if local >= LARGEST_INT32 - 1:
                raise VectorSkippedError("refuses timestamps at the end of 31 bits")
            return VectorResult(Status.FAIL, f"the timestamp {local - 1} to be accepted", "refused", difference=REFUSAL)
    try:
        reached = actor.send().lamport_timestamp or 0
    except ScheduleStoppedError:
        if local >= LARGEST_INT32 - 1:
            raise VectorSkippedError("sends nothing at the largest 31-bit timestamp, which is legal") from None
        raise
    if reached < local:
        return VectorResult(Status.FAIL, f"a timestamp of {local} at least", f"{reached} in the message sent")
    if reached > local + PLAUSIBLE:
        raise VectorSkippedError(
            f"has the timestamp {reached} after a few messages, although the proposal requires only {local}"
        )
    return reached - local


def _is_allowed(seen: dict[str, Any], outcome: dict[str, Any]) -> bool:
    if bool(seen.get("rejected")) != bool(outcome.get("rejected")) or ("sent" in seen) != ("sent" in outcome):
        return False
    least = int(outcome["local"])
    most = int(outcome.get("up_to", least))
    if "next" in seen and not least < int(seen["next"]) <= most + PLAUSIBLE:
        return False
    return all(least <= int(seen[key]) <= most for key in ("sent", "local") if key in seen)
