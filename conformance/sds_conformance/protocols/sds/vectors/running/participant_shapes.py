"""Shapes on the behaviour of a participant: message kinds, the Lamport timestamp, the log and causal histories."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

from sds_harness.sds.actor import Actor
from sds_harness.sds.codec import DecodedMessage
from sds_harness.sds.trace import Wire
from sds_harness.stage import ScheduleStoppedError
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import REVISIONS, HistoryEntry, Kind, Message

from .....vectors.model import Vector
from .....vectors.running.subject import (
    REFUSAL,
    REFUSED,
    Status,
    VectorResult,
    VectorSkippedError,
    format_value,
    judge_outcome,
    worst,
)
from .forum_timestamps import ask_counting
from .subject import SdsSubject, blame_delivery_duty, observed_part, refused
from .timestamps import LARGEST, SAFE, SIGNED

SETTING_OFF_MS = 1000
"""Time in milliseconds between the opening of a participant and the first event."""


# ---- message kinds ---------------------------------------------------------------------------------------------------


def ask_message_kind(subject: SdsSubject, vector: Vector) -> VectorResult:
    """Judge the kind of a message that a participant's behaviour shows, and the kind that the codec returns, if any."""
    wire = bytes.fromhex(vector["wire"])
    answers = [_kind_by_participant(subject, vector, wire)]
    decoded = subject.codec.decode(wire)
    if isinstance(decoded, DecodedMessage) and decoded.kind is not None:
        seen = {"kind": decoded.kind.value}
        answers.append(judge_outcome(seen, vector["outcomes"]))
    return worst(answers)


def _kind_by_participant(subject: SdsSubject, vector: Vector, wire: bytes) -> VectorResult:
    stage = subject.stage(vector["id"])
    actor = stage.open()
    first = len(stage.trace.steps)
    step = actor.receive(Wire(wire, None))
    message = REVISIONS[subject.revision].wire.decode(wire)
    if step.answer == "rejected":
        return blame_delivery_duty(subject, message, judge_outcome(REFUSED, vector["outcomes"]))
    actor.settle()
    message_id = message.message_id
    delivered = any(
        event.kind == "delivered" and event.message_id == message_id
        for step in stage.trace.steps[first:]
        for event in step.events
    )
    logged = message_id in logged_ids(actor)
    kinds_of = _kinds_of_proposal if REVISIONS[subject.revision].syncs_are_logged else _kinds
    kinds = kinds_of(subject, message, delivered, logged)
    words = f"{'delivered' if delivered else 'not delivered'}, {'logged' if logged else 'not logged'}"
    return judge_outcome(kinds, vector["outcomes"], lambda seen, outcome: outcome.get("kind") in seen, words)


def _kinds(subject: SdsSubject, message: Message, delivered: bool, logged: bool) -> set[str]:
    """The kinds that the message may have, judged by how the participant treated it."""
    if not subject.declaration.can(pb.CAPABILITY_DELIVERED):
        return {"content"} if logged else {"sync", "ephemeral", "undefined"}
    if delivered:
        return {"content"} if logged else {"ephemeral"}
    if logged:
        return set()
    # An ephemeral message with a dependency may wait for it (AMB-31).
    waits = message.kind is Kind.EPHEMERAL and bool(message.causal_history)
    return {"sync", "undefined", *(["ephemeral"] if waits else [])}


def _kinds_of_proposal(subject: SdsSubject, message: Message, delivered: bool, logged: bool) -> set[str]:
    """The kinds that the message may have under the proposal of 2024, judged by how the participant treated it.

    The proposal treats sync messages like all others, so they may be delivered and shown in the log. The proposal does
    not say whether ephemeral messages are logged.
    """
    waits = message.kind is Kind.EPHEMERAL and bool(message.causal_history)
    out = {"sync", "undefined"}
    if logged and (delivered or not subject.declaration.can(pb.CAPABILITY_DELIVERED)):
        out.add("content")
    if delivered or waits or not subject.declaration.can(pb.CAPABILITY_DELIVERED):
        out.add("ephemeral")
    return out


def logged_ids(actor: Actor) -> list[str]:
    """The message IDs in the log. If no state shows the log, those in the causal history of a new message."""
    log = observed_part(actor, "log")
    return [entry.message_id for entry in (log.entries if log is not None else actor.send().causal_history)]


# ---- the Lamport timestamp -----------------------------------------------------------------------------------------


def ask_lamport(subject: SdsSubject, vector: Vector) -> VectorResult:
    """Bring the local timestamp to the value of the vector, run the operation, and compare the new timestamp."""
    if not REVISIONS[subject.revision].lamport_follows_clock:
        return ask_counting(subject, vector, run_operation)
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
    seen = run_operation(subject, actor, vector["operation"], received)
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


def run_operation(subject: SdsSubject, actor: Actor, operation: str, received: int | None) -> dict[str, Any]:
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


# ---- the log and causal histories ------------------------------------------------------------------------------------


def ask_log_order(subject: SdsSubject, vector: Vector) -> VectorResult:
    """Deliver the messages of the vector, and compare the log with the legal outcomes."""
    arrivals = vector["arrivals"]
    actor = _open_and_deliver(subject, vector, len(arrivals) + 1)
    if isinstance(actor, VectorResult):
        return actor
    shown_log = observed_part(actor, "log")
    if shown_log is not None:
        log = [entry.message_id for entry in shown_log.entries]
        # the log may contain sync messages that the participant sent without a command
        if REVISIONS[subject.revision].syncs_are_logged:
            log = [message_id for message_id in log if message_id in {a["message_id"] for a in arrivals}]
        return judge_outcome({"log": log}, vector["outcomes"])
    if actor.party.in_force.causal_history_size < len(arrivals):
        raise VectorSkippedError(
            f"shows no log, and names {actor.party.in_force.causal_history_size} messages in a causal history"
        )
    log = [entry.message_id for entry in actor.send().causal_history]
    answer = judge_outcome({"log": log}, vector["outcomes"], lambda s, o: s["log"] in (o["log"], o["log"][::-1]))
    ordered = REVISIONS[subject.revision].histories_are_ordered
    if answer.status is Status.FAIL and not ordered and sorted(log) in (sorted(o["log"]) for o in vector["outcomes"]):
        raise VectorSkippedError("shows no log, and a causal history has no order in the proposal")
    return _require_one_direction(subject, answer, log, vector["outcomes"][0]["log"])


def ask_causal_history(subject: SdsSubject, vector: Vector) -> VectorResult:
    """Deliver the messages of the vector, and compare the next own message's causal history with the legal outcomes."""
    actor = _open_and_deliver(subject, vector, vector["size"])
    if isinstance(actor, VectorResult):
        return actor
    in_force = actor.party.in_force
    if in_force.HasField("causal_history_size") and in_force.causal_history_size != vector["size"]:
        raise VectorSkippedError(
            f"names {in_force.causal_history_size} messages in a causal history, whatever the configuration"
        )
    history = [entry.message_id for entry in actor.send().causal_history]
    oldest_first = vector["outcomes"][0]["causal_history"]
    if history and not in_force.HasField("causal_history_size") and len(history) != len(oldest_first):
        raise VectorSkippedError(
            f"does not say how many messages its causal histories name, and names {len(history)} in this one"
        )
    answer = judge_outcome({"causal_history": history}, vector["outcomes"])
    return _require_one_direction(subject, answer, history, oldest_first)


def _require_one_direction(
    subject: SdsSubject, answer: VectorResult, seen: list[str], oldest_first: list[str]
) -> VectorResult:
    """Fail if one causal history is oldest first and another is newest first. Both orders are legal, but not together
    (AMB-29).
    """
    ordered = REVISIONS[subject.revision].histories_are_ordered
    if answer.status is Status.FAIL or not ordered or len(seen) < 2 or seen not in (oldest_first, oldest_first[::-1]):
        return answer
    direction = "oldest first" if seen == oldest_first else "newest first"
    before = subject.remembered.setdefault("direction", direction)
    if direction == before:
        return answer
    return VectorResult(
        Status.FAIL, f"{before}, as in other causal histories (AMB-29)", f"{direction}: {format_value(seen)}"
    )


def _open_and_deliver(subject: SdsSubject, vector: Vector, size: int) -> Actor | VectorResult:
    """Open a participant whose causal histories have ``size`` entries, and deliver the messages of the vector to it.

    Returns a failure if it refuses one of them.
    """
    stage = subject.stage(vector["id"])
    timestamps = [int(arrival["lamport_timestamp"]) for arrival in vector["arrivals"]]
    subject.need_lamport(stage.now_ms, *timestamps)
    actor = stage.open(configuration=pb.Configuration(causal_history_size=size))
    bob = stage.peer("bob")
    for arrival, lamport in zip(vector["arrivals"], timestamps, strict=True):
        message = bob.content(lamport, message_id=arrival["message_id"])
        named = tuple(map(HistoryEntry, arrival.get("causal_history", ())))
        sync = arrival.get("kind") == "sync"
        actor.receive(replace(message, causal_history=named, content=None if sync else message.content))
        if refused(actor):
            return VectorResult(Status.FAIL, f"{arrival['message_id']!r} to be accepted", "refused", difference=REFUSAL)
    actor.settle()
    return actor
