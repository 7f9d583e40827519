"""Shapes on the behaviour of a participant: message kinds, the log and causal histories."""

from __future__ import annotations

from dataclasses import replace

from sds_harness.sds.actor import Actor
from sds_harness.sds.codec import DecodedMessage
from sds_harness.sds.trace import Wire
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
from .subject import SdsSubject, blame_delivery_duty, observed_part, refused

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
