"""Plays the steps of a transcript, and describes the results so that two implementations can be compared.

Own messages appear under names of the transcript, timestamps relative to the base, and filters as the IDs that they
contain. IDs of sync messages are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sds_harness.sds.actor import Actor
from sds_harness.sds.stage import Stage
from sds_harness.sds.trace import Event, Step, Wire
from sds_harness.stage import ScheduleStoppedError
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HistoryEntry, Kind, Message

from ...view.filters import read_filter
from ..fields import entry_json, message_of
from .recording import format_timestamp, lamport_base, parse_timestamp

Seen = dict[str, Any]
UNREAD = "unread"
"""Placeholder in a result for the IDs of a filter that the suite cannot read."""

STATES = {
    pb.ACK_STATE_UNACKNOWLEDGED: "unacknowledged",
    pb.ACK_STATE_POSSIBLY_ACKNOWLEDGED: "possibly-acknowledged",
}
"""Names of the ACK states in the outgoing buffer. Acknowledged messages may stay in the buffer, and are left out
(AMB-C15).
"""


class StepNotPlayedError(Exception):
    """The implementation cannot play a step; the message has the reason."""


class TranscriptPlayer:
    """Plays one transcript on one stage."""

    def __init__(self, stage: Stage, transcript: dict[str, Any]) -> None:
        self._stage = stage
        self._transcript = transcript
        self._base_ms = stage.now_ms
        self._lamport_base = stage.now_ms if lamport_base(stage.revision) is not None else None
        self._names: dict[str, str] = {}
        self._ids: dict[str, str] = {}
        self._known_ids: dict[str, None] = {}
        asked = pb.Configuration(**transcript["configuration"])
        self.actor = stage.open(transcript["participant_id"], tuple(transcript["channels"]), asked)
        self._actions: dict[str, Callable[[dict[str, Any]], object]] = {
            "send": self._send,
            "ephemeral": self._ephemeral,
            "sync": self._sync,
            "receive": self._receive,
            "tick": lambda step: self.actor.tick(),
            "observe": lambda step: self.actor.observe(channel_id=step["channel_id"]),
        }

    def play(self) -> Iterator[Seen | None]:
        """Yield the result of each step; None for a step that the implementation does not support. Raises
        StepNotPlayedError, TesteeError.
        """
        for step in self._transcript["steps"]:
            self._stage.now_ms = max(1, self._base_ms + step["at_ms"])
            before = len(self._stage.trace.steps)
            try:
                self._actions[step["do"]](step)
            except ScheduleStoppedError as stopped:
                if len(self._stage.trace.steps) == before or self._stage.trace.steps[before].answer != "rejected":
                    raise StepNotPlayedError(str(stopped)) from None
            played = self._stage.trace.steps[before:]
            yield self._describe_step(played[0]) if played else None

    # ---- steps ---------------------------------------------------------------------------------------------------

    def _send(self, step: dict[str, Any]) -> None:
        hint = bytes.fromhex(step["retrieval_hint"]) if "retrieval_hint" in step else None
        message = self.actor.send(bytes.fromhex(step["content"]), step["channel_id"], retrieval_hint=hint)
        self._bind(step["binds"], message)

    def _ephemeral(self, step: dict[str, Any]) -> None:
        message = self.actor.send_ephemeral(bytes.fromhex(step["content"]), step["channel_id"])
        self._bind(step["binds"], message)

    def _sync(self, step: dict[str, Any]) -> None:
        message = self.actor.send_sync(step["channel_id"])
        if message is not None and "binds" in step:
            self._bind(step["binds"], message)

    def _bind(self, name: str, message: Message) -> None:
        self._ids[name] = message.message_id
        self._names[message.message_id] = name
        self._known_ids[message.message_id] = None

    def _receive(self, step: dict[str, Any]) -> None:
        hint = bytes.fromhex(step["retrieval_hint"]) if "retrieval_hint" in step else None
        if "message" not in step:
            self.actor.receive(Wire(bytes.fromhex(step["wire"]), None), retrieval_hint=hint)
            return
        message = self._message(step["message"])
        self._known_ids |= dict.fromkeys([message.message_id, *(entry.message_id for entry in message.causal_history)])
        self.actor.receive(message, retrieval_hint=hint)

    def _message(self, fields: dict[str, Any]) -> Message:
        plain = {key: value for key, value in fields.items() if key != "filter_over"}
        plain["message_id"] = self._id(plain["message_id"])
        for name in ("causal_history", "repair_request"):
            plain[name] = [{**entry, "message_id": self._id(entry["message_id"])} for entry in plain[name]]
        if "lamport_timestamp" in plain:
            plain["lamport_timestamp"] = str(parse_timestamp(plain["lamport_timestamp"], self._lamport_base))
        if "filter_over" in fields:
            made = self._stage.filter_over(*map(self._id, fields["filter_over"]))
            if made is None:
                raise StepNotPlayedError("the suite cannot build a filter that the implementation understands")
            plain["bloom_filter"] = made.hex()
        return message_of(plain)

    def _id(self, name: str) -> str:
        if name.startswith("$") and name not in self._ids:
            raise StepNotPlayedError(f"{name} was never sent")
        return self._ids.get(name, name)

    # ---- results -------------------------------------------------------------------------------------------------

    def _describe_step(self, step: Step) -> Seen:
        """The result of a step; absent parts are left out."""
        if step.answer == "rejected":
            return {"rejected": True}
        if step.state is not None:
            return {"state": self._state(step.state)}
        out: Seen = {}
        broadcasts = [self._broadcast(wire) for wire in step.broadcasts]
        if broadcasts:
            out["broadcasts"] = broadcasts
        events = [described for event in step.events if (described := self._event(event))]
        if events:
            out["events"] = events
        return out

    def _name(self, message_id: str) -> str:
        return self._names.get(message_id, message_id)

    def _entries(self, entries: tuple[HistoryEntry, ...]) -> list[dict[str, str]]:
        return [{**entry_json(entry), "message_id": self._name(entry.message_id)} for entry in entries]

    def _broadcast(self, wire: Wire) -> Seen:
        message = wire.message
        if message is None:
            return {"undecodable": True}
        out: Seen = {"sender_id": message.sender_id}
        if message.kind is not Kind.SYNC:
            out["message_id"] = self._name(message.message_id)
        out["channel_id"] = message.channel_id
        if message.lamport_timestamp is not None:
            out["lamport_timestamp"] = format_timestamp(message.lamport_timestamp, self._lamport_base)
        out["causal_history"] = self._entries(message.causal_history)
        if message.bloom_filter is not None:
            out["filter_over"] = self._members(message.bloom_filter)
        out["repair_request"] = self._entries(message.repair_request)
        if message.content:
            out["content"] = message.content.hex()
        return out

    def _members(self, bloom_filter: bytes) -> list[str] | str:
        holds = read_filter(self._stage.trace, self.actor.party, bloom_filter, lambda _: None)
        if holds is None:
            return UNREAD if bloom_filter else []
        return sorted(self._name(message_id) for message_id in self._known_ids if holds(message_id))

    def _event(self, event: Event) -> Seen:
        match event.kind:
            case "":
                return {}
            case "delivered":
                return {"delivered": self._name(event.message_id), "content": event.content.hex()}
            case "missing" | "lost":
                return {event.kind: sorted(map(self._name, event.message_ids))}
        return {event.kind: self._name(event.message_id)}

    def _state(self, state: pb.State) -> Seen:
        out: Seen = {}
        if state.HasField("lamport_timestamp"):
            out["lamport_timestamp"] = format_timestamp(state.lamport_timestamp, self._lamport_base)
        if state.HasField("log"):
            out["log"] = [
                {
                    "message_id": self._name(entry.message_id),
                    "lamport_timestamp": format_timestamp(entry.lamport_timestamp, self._lamport_base),
                }
                for entry in state.log.entries
            ]
        if state.HasField("outgoing"):
            entries = [
                {"message_id": self._name(entry.message_id), "state": STATES[entry.state]}
                for entry in state.outgoing.entries
                if entry.state in STATES
            ]
            out["outgoing"] = sorted(entries, key=lambda entry: entry["message_id"])
        if state.HasField("incoming"):
            out["incoming"] = sorted(map(self._name, state.incoming.message_ids))
        for name in ("outgoing_repairs", "incoming_repairs"):
            if state.HasField(name):
                out[name] = sorted(self._name(entry.message_id) for entry in getattr(state, name).entries)
        return out


def matches_outcome(seen: Seen, outcome: Seen) -> bool:
    """Does the result match the outcome? Parts that an implementation does not show are ignored."""
    if seen.get("rejected") or outcome.get("rejected"):
        return bool(seen.get("rejected")) == bool(outcome.get("rejected"))
    if "state" in seen:
        state = outcome.get("state", {})
        return all(state.get(key) == value for key, value in seen["state"].items())
    return _broadcasts_match(seen.get("broadcasts", []), outcome.get("broadcasts", [])) and seen.get(
        "events", []
    ) == outcome.get("events", [])


def _broadcasts_match(broadcasts: list[Seen], expected: list[Seen]) -> bool:
    if len(broadcasts) != len(expected):
        return False
    for one, other in zip(broadcasts, expected, strict=True):
        if one.get("filter_over") == UNREAD and "filter_over" in other:
            one = {**one, "filter_over": other["filter_over"]}
        if one != other:
            return False
    return True


def without_events(outcome: Seen, kinds: set[str]) -> Seen:
    """An outcome without the signals of ``kinds``, which an implementation does not give."""
    if "events" not in outcome:
        return outcome
    kept = [event for event in outcome["events"] if not kinds & set(event)]
    rest = {key: value for key, value in outcome.items() if key != "events"}
    return {**rest, "events": kept} if kept else rest


def has_requested_configuration(actor: Actor, transcript: dict[str, Any]) -> bool:
    """Is the configuration of the transcript in use?"""
    asked = pb.Configuration(**transcript["configuration"])
    return all(getattr(actor.party.in_force, field.name) == value for field, value in asked.ListFields())
