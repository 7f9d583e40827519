"""Shapes on buffers: the ACK status of own messages, and the repair request buffers of SDS-R."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

from sds_harness.sds.actor import Actor
from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HASH_PROFILES, HistoryEntry, Message

from .....vectors.model import Vector
from .....vectors.running.subject import REFUSAL, Status, VectorResult, VectorSkippedError, judge_outcome, worst
from ..fields import message_of
from .subject import SdsSubject, blame_delivery_duty, observed_part

STATES = {
    "unacknowledged": pb.ACK_STATE_UNACKNOWLEDGED,
    "possibly_acknowledged": pb.ACK_STATE_POSSIBLY_ACKNOWLEDGED,
    "acknowledged": pb.ACK_STATE_ACKNOWLEDGED,
}

# ---- ack reviews -----------------------------------------------------------------------------------------------------


def ask_ack_review(subject: SdsSubject, vector: Vector) -> VectorResult:
    """Send own messages and deliver others; after each of these, compare the ACK status of the own messages."""
    can = subject.declaration.can
    has_events = can(pb.CAPABILITY_ACKNOWLEDGED) and can(pb.CAPABILITY_POSSIBLY_ACKNOWLEDGED)
    if not has_events:
        subject.need(pb.CAPABILITY_OBSERVE)
    stage = subject.stage(vector["id"])
    actor = stage.open(vector["participant_id"])
    ids = {name: actor.send().message_id for name in vector["own"]}
    names = {message_id: name for name, message_id in ids.items()}
    arrivals: list[Step] = []
    answers = []
    known: set[str] = set()
    for number, step in enumerate(vector["steps"], 1):
        message = _build_message(actor, step["received"], ids, stage.now_ms + number)
        arrivals.append(actor.receive(message))
        if arrivals[-1].answer == "rejected" and not _may_be_refused(message, vector["participant_id"], known):
            return blame_delivery_duty(
                subject,
                message,
                VectorResult(Status.FAIL, f"message {number} to be accepted", "refused", difference=REFUSAL),
            )
        known.add(message.message_id)
        seen = _read_states(actor, names) or (_signalled_states(arrivals, names) if has_events else None)
        if seen is None:
            raise VectorSkippedError("declares observe, but its state lacks the outgoing buffer, which it should show")
        answers.append(_add_step_number(number, judge_outcome(seen, step["outcomes"], _same_states)))
    return worst(answers)


def _may_be_refused(message: Message, participant_id: str, known: Container[str]) -> bool:
    """May the participant reject the message, because it sent the message itself or knows the message ID (AMB-23)?"""
    return message.sender_id == participant_id or message.message_id in known


def _add_step_number(number: int, answer: VectorResult) -> VectorResult:
    if answer.status is not Status.FAIL:
        return answer
    return VectorResult(Status.FAIL, f"after step {number}: {answer.expected}", answer.seen)


def _build_message(actor: Actor, message: dict[str, Any], ids: dict[str, str], lamport: int) -> Message:
    history = tuple(HistoryEntry(ids.get(name, name)) for name in message["causal_history"])
    bloom_filter = bytes.fromhex(message["bloom_filter"]) if "bloom_filter" in message else None
    if "filter_over" in message:
        bloom_filter = actor.stage.filter_over(*[ids.get(name, name) for name in message["filter_over"]])
        if bloom_filter is None:
            raise VectorSkippedError("the suite cannot build a filter that the implementation understands")
    return Message(
        message["sender_id"],
        message["message_id"],
        actor.party.channels[0],
        None if message["kind"] == "ephemeral" else lamport,
        history,
        bloom_filter,
        (),
        None if message["kind"] == "sync" else f"content of {message['message_id']}".encode(),
    )


def _signalled_states(arrivals: Iterable[Step], names: dict[str, str]) -> dict[str, list[str]]:
    """The ACK status of own messages, read from the signals of an implementation."""
    possibly, acknowledged = (
        {names.get(event.message_id, "") for step in arrivals for event in step.events if event.kind == kind}
        for kind in ("possibly_acknowledged", "acknowledged")
    )
    return {
        "unacknowledged": sorted(set(names.values()) - possibly - acknowledged),
        "possibly_acknowledged": sorted(possibly - acknowledged),
        "acknowledged": sorted(acknowledged),
    }


def _read_states(actor: Actor, names: dict[str, str]) -> dict[str, list[str]] | None:
    """The ACK status of own messages, read from the outgoing buffer: an absent message is acknowledged."""
    outgoing = observed_part(actor, "outgoing")
    if outgoing is None:
        return None
    states = {names[entry.message_id]: entry.state for entry in outgoing.entries if entry.message_id in names}
    return {
        word: [name for name in sorted(names.values()) if states.get(name, pb.ACK_STATE_ACKNOWLEDGED) == state]
        for word, state in STATES.items()
    }


def _same_states(seen: dict[str, list[str]], outcome: dict[str, Any]) -> bool:
    return all(sorted(seen[key]) == sorted(outcome[key]) for key in seen)


# ---- repair buffers --------------------------------------------------------------------------------------------------


def ask_repair_buffers(subject: SdsSubject, vector: Vector) -> VectorResult:
    """Deliver messages; after each, compare the entries of the two repair buffers and their times."""
    subject.need(pb.CAPABILITY_SDS_R, pb.CAPABILITY_OBSERVE, pb.CAPABILITY_VIRTUAL_CLOCK)
    asked = pb.Configuration(
        sds_r=True,
        t_min_ms=vector["t_min_ms"],
        t_max_ms=vector["t_max_ms"],
        num_response_groups=vector["num_response_groups"],
    )
    stage = subject.stage(vector["id"])
    base_ms = stage.now_ms
    actor = stage.open(vector["participant_id"], (vector["channel_id"],), asked)
    for name in ("sds_r", "t_min_ms", "t_max_ms", "num_response_groups"):
        if getattr(actor.party.in_force, name) != getattr(asked, name):
            raise VectorSkippedError(f"always uses its own {name}, not the requested one")
    profile = subject.declaration.profile("hash")
    answers = []
    before = 0
    known: set[str] = set()
    for number, step in enumerate(vector["steps"], 1):
        stage.now_ms = base_ms + step["at_ms"]
        message = message_of(step["receive"])
        refused = actor.receive(message).answer == "rejected"
        if refused and not _may_be_refused(message, vector["participant_id"], known):
            return VectorResult(Status.FAIL, f"message {number} to be accepted", "refused", difference=REFUSAL)
        known.add(message.message_id)
        state = actor.observe()
        if state is None or not (state.HasField("outgoing_repairs") and state.HasField("incoming_repairs")):
            raise VectorSkippedError(
                "declares observe, but its state lacks the repair request buffers, which it should show"
            )
        exact = profile in HASH_PROFILES and (subject.declaration.limit("repair_clock_ms") or 1) == 1
        seen = {
            "outgoing": _list_entries(state.outgoing_repairs.entries, base_ms, exact),
            "incoming": _list_entries(state.incoming_repairs.entries, base_ms, exact),
        }
        # "after" lists outcomes of the previous step: this outcome is legal only if one of them was seen.
        legal = [outcome for outcome in step["outcomes"] if before in outcome.get("after", (before,))]
        found = judge_outcome(seen, legal, lambda s, o: s == _expected_entries(o, profile, exact))  # noqa: B023
        answers.append(_add_step_number(number, found))
        before = next((n for n, o in enumerate(step["outcomes"]) if seen == _expected_entries(o, profile, exact)), 0)
    return worst(answers)


Entries = list[tuple[str, int]]


def _list_entries(entries: Iterable[pb.RepairEntry], base_ms: int, exact: bool) -> Entries:
    """The entries as (ID, time since the base in ms). Without a known hash, or with a coarse clock, times are
    left out.
    """
    return sorted((entry.message_id, entry.due_ms - base_ms if exact else 0) for entry in entries)


def _expected_entries(outcome: dict[str, Any], profile: str, exact: bool) -> dict[str, Entries]:
    return {
        side: sorted((entry["message_id"], entry["due_ms"][profile] if exact else 0) for entry in outcome[side])
        for side in ("outgoing", "incoming")
    }
