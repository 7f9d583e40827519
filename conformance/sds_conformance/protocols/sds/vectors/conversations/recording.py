"""Records a scenario on the reference model as the steps of a transcript."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sds_harness.link import Limits, LocalLink
from sds_harness.sds.language import open_session
from sds_harness.sds.stage import Stage
from sds_harness.sds.trace import Step
from sds_harness.session import Session
from sds_harness.stage import COUNTING_START_MS, START_MS
from sds_harness.trace import Party
from sds_reference import REVISIONS, Config, Message
from sds_reference.revision import Revision
from sds_reference.testee.server import Testee, TesteeOptions

from .....judging.registry import Scenario
from ..fields import message_json

CONFIGURED = """
causal_history_size resend_unacknowledged_ms resend_possibly_acknowledged_ms sync_interval_ms lost_timeout_ms
incoming_sweep_ms possible_ack_threshold sds_r
"""
"""Settings that a transcript fixes, so that legal variants which differ only in them have the same outcomes."""
CONFIGURED_REPAIRS = ["t_min_ms", "t_max_ms", "num_response_groups", "max_repair_requests"]
NEAR_MS = 10**12
"""Timestamps closer to the base than this, in milliseconds, are written relative to it."""


class NotRecordableError(Exception):
    """The scenario cannot be recorded; the message has the reason."""


class RecordingStage(Stage):
    """A stage that stores the IDs of each filter that it creates."""

    def __init__(self, session: Session, schedule: str) -> None:
        super().__init__(session, schedule)
        self.filters: dict[bytes, tuple[str, ...]] = {}

    def filter_over(self, *message_ids: str) -> bytes | None:
        made = super().filter_over(*message_ids)
        if made is not None:
            self.filters[made] = message_ids
        return made


def open_model_session(options: TesteeOptions, revision: str) -> Session:
    """A session with the model in this process."""
    return open_session(lambda: LocalLink(Testee(options).handle), Limits(), revision)


def start_ms(revision: str) -> int:
    """The virtual time at which transcripts begin, in epoch milliseconds."""
    return START_MS if REVISIONS[revision].lamport_follows_clock else COUNTING_START_MS


def lamport_base(revision: Revision) -> int | None:
    """The timestamp to which timestamps in transcripts are relative; None if timestamps do not depend on time."""
    return START_MS if revision.lamport_follows_clock else None


def format_timestamp(timestamp: int, base_ms: int | None) -> str:
    """Format a timestamp for a transcript: relative to ``base_ms`` if it is near, otherwise as a number."""
    if base_ms is None:
        return str(timestamp)
    away = timestamp - base_ms
    if abs(away) >= NEAR_MS:
        return str(timestamp)
    return f"T{away:+d}" if away else "T"


def parse_timestamp(text: str, base_ms: int | None) -> int:
    """Parse a timestamp that `format_timestamp` returned."""
    return (base_ms or 0) + int(text[1:] or "0") if text.startswith("T") else int(text)


def record(scenario: Scenario, revision: str) -> dict[str, Any]:
    """Return the fields of a transcript whose steps have no outcomes yet. Raises NotRecordableError."""
    stage = RecordingStage(open_model_session(TesteeOptions("vectors", Config()), revision), scenario.name)
    scenario.function(stage)
    if len(stage.trace.parties) != 1:
        raise NotRecordableError("the scenario has several participants under test")
    return _Recorder(stage, next(iter(stage.trace.parties.values()))).fields()


class _Recorder:
    """Converts the trace of a scenario to the steps of a transcript."""

    def __init__(self, stage: RecordingStage, party: Party) -> None:
        self._stage = stage
        self._party = party
        self._names_of_own: dict[str, str] = {}
        self._needs: dict[str, None] = {}
        self._actions: dict[str, Callable[[Step], dict[str, Any]]] = {
            "send": self._send,
            "send_ephemeral": self._send,
            "send_sync": self._send_sync,
            "receive": self._receive,
            "tick": lambda step: {},
            "observe": lambda step: {"channel_id": step.channel_id},
        }

    def fields(self) -> dict[str, Any]:
        if self._party.unnamed:
            raise NotRecordableError("the channel of the scenario has no name")
        steps = [self._step(step) for step in self._stage.trace.steps if step.command != "open"]
        in_force = self._party.in_force
        names = CONFIGURED.split() + (CONFIGURED_REPAIRS if in_force.sds_r else [])
        if in_force.sds_r:
            self._needs["sds-r"] = None
        if len(self._party.channels) > 1:
            self._needs["channels"] = None
        return {
            "scenario": self._stage.trace.schedule,
            "needs": ["virtual-clock", *self._needs],
            "participant_id": self._party.participant_id,
            "channels": list(self._party.channels),
            "configuration": {name: getattr(in_force, name) for name in names},
            "steps": steps,
        }

    def _step(self, step: Step) -> dict[str, Any]:
        if step.command not in self._actions:
            raise NotRecordableError(f"the scenario uses the command {step.command}")
        name = step.command.removeprefix("send_")
        return {
            "at_ms": step.now_ms - start_ms(self._stage.revision.name),
            "do": name,
            **self._actions[step.command](step),
        }

    def _send_sync(self, step: Step) -> dict[str, Any]:
        """Describe a sync message. If the revision logs sync messages, give the message a name, because other messages
        may depend on it.
        """
        out = {"channel_id": step.channel_id}
        if self._stage.revision.syncs_are_logged and step.new is not None:
            out["binds"] = self._names_of_own[step.new.message_id] = f"$s{len(self._names_of_own) + 1}"
        return out

    def _send(self, step: Step) -> dict[str, Any]:
        command = getattr(step.request, step.command)
        if command.message_id:
            raise NotRecordableError("the scenario chooses IDs of own messages")
        if step.command == "send_ephemeral":
            self._needs["ephemeral"] = None
        binds = f"${'e' if step.command == 'send_ephemeral' else 'm'}{len(self._names_of_own) + 1}"
        if step.new is not None:
            self._names_of_own[step.new.message_id] = binds
        out = {"channel_id": step.channel_id, "content": command.content.hex(), "binds": binds}
        if step.command == "send" and command.HasField("retrieval_hint"):
            self._needs["retrieval-hints"] = None
            out["retrieval_hint"] = command.retrieval_hint.hex()
        return out

    def _receive(self, step: Step) -> dict[str, Any]:
        wire = step.whole_request.receive.wire
        message = step.received.message
        out: dict[str, Any] = {}
        if message is None or self._stage.revision.wire.encode(message) != wire:
            self._require_no_own_id(wire)
            out["wire"] = wire.hex()
        else:
            fields, depends = self._replace_own_ids(message)
            out["message"] = fields
            if not depends:
                out["wire"] = wire.hex()
        if step.request.receive.HasField("retrieval_hint"):
            self._needs["retrieval-hints"] = None
            out["retrieval_hint"] = step.request.receive.retrieval_hint.hex()
        return out

    def _require_no_own_id(self, wire: bytes) -> None:
        if any(message_id.encode() in wire for message_id in self._names_of_own):
            raise NotRecordableError(
                "a received message contains own IDs, and its bytes are not the usual encoding of its fields"
            )

    def _replace_own_ids(self, message: Message) -> tuple[dict[str, Any], bool]:
        """Replace the IDs of own messages by their names. Return the fields, and whether an ID was replaced."""
        fields = message_json(message)
        names = [fields, *fields["causal_history"], *fields["repair_request"]]
        depends = any(entry["message_id"] in self._names_of_own for entry in names)
        for entry in names:
            entry["message_id"] = self._names_of_own.get(entry["message_id"], entry["message_id"])
        if message.lamport_timestamp is not None:
            fields["lamport_timestamp"] = format_timestamp(
                message.lamport_timestamp, lamport_base(self._stage.revision)
            )
        over = self._stage.filters.get(message.bloom_filter or b"")
        if over is not None:
            del fields["bloom_filter"]
            fields["filter_over"] = [self._names_of_own.get(message_id, message_id) for message_id in over]
            depends = True
        elif message.sender_id == self._party.participant_id and message.bloom_filter is not None:
            raise NotRecordableError(
                "the network returns own messages, whose bloom filters differ between implementations"
            )
        return fields, depends
