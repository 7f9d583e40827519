"""Drives participants under test in schedules of SDS."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import PROFILES, Message

from ..declaration import printable
from ..stage import ScheduleStoppedError
from ..trace import Party
from .trace import Step, Wire

if TYPE_CHECKING:
    from .stage import Stage

QUIET_TICKS = 2
MAX_TICKS = 200

FILTER_MAKER = "filter-maker"
"""Name prefix of participants that exist only to make bloom filters."""

ASKED_OF = 100
"""Maximum number of IDs in one query to a codec. If there are more, only the newest IDs are queried."""

Payload = bytes | Message | Wire


def is_filter_maker(participant: str) -> bool:
    """Is this the name of a participant that a stage opened only to make bloom filters?"""
    return f"{FILTER_MAKER}-" in participant


class Actor:
    """A participant under test, driven by a schedule."""

    def __init__(self, stage: Stage, party: Party) -> None:
        self.stage = stage
        self.party = party
        self._sent = 0
        self._own_ids: list[str] = []
        self._met_ids: dict[str, None] = {}

    @property
    def name(self) -> str:
        """The name of the participant in the trace."""
        return self.party.name

    def after(self, milliseconds: int) -> Actor:
        """Advance virtual time. Returns the actor, for chained calls."""
        self.stage.advance(milliseconds)
        return self

    def given(self, *payloads: Payload) -> Actor:
        """Deliver messages to the participant, see `receive`. Returns the actor, for chained calls."""
        self.receive(*payloads)
        return self

    def send(
        self,
        content: bytes | None = None,
        channel_id: str | None = None,
        message_id: str | None = None,
        retrieval_hint: bytes | None = None,
    ) -> Message:
        """Send content, by default content that no other message has. Returns the broadcast message."""
        declared = self.stage.trace.declaration
        self._sent += 1
        if content is None:
            equal = self.stage.sds_environment.equal_contents
            content = (f"message {self._sent}" + ("" if equal else f" of {self.name}")).encode()
        if message_id is not None:
            if not declared.can(pb.CAPABILITY_MESSAGE_ID_REQUIRED):
                self.stage.need(pb.CAPABILITY_MESSAGE_ID_ACCEPTED)
        elif declared.can(pb.CAPABILITY_MESSAGE_ID_REQUIRED):
            message_id = f"{self.name}-own-{self._sent}"
        command = pb.Send(
            now_ms=self.stage.now_ms,
            handle=self.party.handle,
            channel_id=self._channel(channel_id),
            content=content,
            message_id=message_id or "",
            retrieval_hint=retrieval_hint,
        )
        return self._sent_by(self._do(pb.Request(send=command)))

    def send_ephemeral(self, content: bytes = b"typing", channel_id: str | None = None) -> Message:
        """Send an ephemeral message. Returns the broadcast message."""
        self.stage.need(pb.CAPABILITY_EPHEMERAL)
        self._sent += 1
        required = self.stage.trace.declaration.can(pb.CAPABILITY_MESSAGE_ID_REQUIRED)
        command = pb.SendEphemeral(
            now_ms=self.stage.now_ms,
            handle=self.party.handle,
            channel_id=self._channel(channel_id),
            content=content,
            message_id=f"{self.name}-own-{self._sent}" if required else "",
        )
        return self._sent_by(self._do(pb.Request(send_ephemeral=command)))

    def send_sync(self, channel_id: str | None = None) -> Message | None:
        """Send a sync message. Returns the broadcast message; None if there was nothing to send, which is legal."""
        self.stage.need(pb.CAPABILITY_SYNC)
        command = pb.SendSync(now_ms=self.stage.now_ms, handle=self.party.handle, channel_id=self._channel(channel_id))
        step = self._do(pb.Request(send_sync=command))
        message = step.new
        if message is not None:
            self._ask_codec(message.bloom_filter, self._met_ids)
        return message

    def receive(self, *payloads: Payload, retrieval_hint: bytes | None = None) -> Step:
        """Deliver messages to the participant, in order. Returns the step of the last message.

        A payload of ``bytes`` is delivered unchanged. A broadcast of another participant is delivered as the bytes that
        this participant sent, if both participants use the same wire layout.
        """
        step: Step | None = None
        for payload in payloads:
            message, wire = self._on_the_wire(payload)
            if message is not None:
                self._met_ids |= dict.fromkeys([message.message_id, *(e.message_id for e in message.causal_history)])
                self._ask_codec(message.bloom_filter, self._own_ids)
            command = pb.Receive(
                now_ms=self.stage.now_ms, handle=self.party.handle, wire=wire, retrieval_hint=retrieval_hint
            )
            step = self._do(pb.Request(receive=command))
        assert step is not None, "receive needs at least one message"
        return step

    def _on_the_wire(self, payload: Payload) -> tuple[Message | None, bytes]:
        """The message, and its bytes in the layout of the implementation; ``bytes`` are returned unchanged."""
        dialect = self.stage.dialect
        match payload:
            case bytes():
                return None, payload
            case Message():
                return payload, self.stage.on_the_wire(payload)
            case Wire():
                if dialect is payload.dialect or payload.message is None:
                    return payload.message, payload.raw
                return payload.message, dialect.to_private(payload.text) if dialect is not None else payload.text

    def tick(self) -> Step:
        """Run the periodic work that is due now."""
        return self._do(pb.Request(tick=pb.Tick(now_ms=self.stage.now_ms, handle=self.party.handle)))

    def settle(self) -> None:
        """Send `tick` until a tick delivers no message and reports no message as lost.

        Some implementations deliver at once, others in sweeps, one level of dependencies at a time. Time passes between
        ticks: the configured sweep period, or 60 s if the configuration names none.
        """
        quiet = 0
        for _ in range(MAX_TICKS):
            known = self.party.in_force.HasField("incoming_sweep_ms")
            self.stage.advance(self.party.in_force.incoming_sweep_ms if known else 60_000)
            step = self.tick()
            progress = any(event.kind in ("delivered", "lost") for event in step.events)
            quiet = 0 if progress else quiet + 1
            if quiet >= QUIET_TICKS:
                return

    def observe(self, *filter_ids: str, channel_id: str | None = None) -> pb.State | None:
        """Request the state of the participant. None if the implementation does not declare `observe`."""
        if not self.stage.trace.declaration.can(pb.CAPABILITY_OBSERVE):
            return None
        command = pb.Observe(
            now_ms=self.stage.now_ms,
            handle=self.party.handle,
            channel_id=self._channel(channel_id),
            filter_ids=filter_ids,
        )
        return self._do(pb.Request(observe=command)).state

    def ask_filter(self, bloom_filter: bytes, *message_ids: str) -> None:
        """Ask the codec of the implementation which of the IDs a bloom filter contains, if it has a codec."""
        if self.stage.trace.declaration.can(pb.CAPABILITY_FILTER_CODEC):
            command = pb.QueryFilter(bloom_filter=bloom_filter, message_ids=message_ids)
            self._do(pb.Request(query_filter=command))

    def _channel(self, channel_id: str | None) -> str:
        return self.party.channels[0] if channel_id is None else self.stage.label(channel_id)

    def _ask_codec(self, bloom_filter: bytes | None, message_ids: Collection[str]) -> None:
        """Ask the codec which IDs are in a filter that was sent or is about to arrive.

        Does nothing if the declared profile names the encoding of filters, because the suite can then read them itself.
        Does nothing if the participant has a filter size of its own, because the codec assumes the default size.
        """
        if not bloom_filter or not message_ids or self.stage.trace.declaration.profile("bloom") in PROFILES:
            return
        if not self.party.asked.HasField("bloom_capacity") and not self.party.asked.HasField("bloom_error_rate"):
            self.ask_filter(bloom_filter, *list(message_ids)[-ASKED_OF:])

    def _do(self, request: pb.Request) -> Step:
        others, command = self.stage.other_channels, request.WhichOneof("command") or ""
        if others is None or is_filter_maker(self.name):
            return self.stage.step(self.name, request)
        if command != "observe":  # An Observe must directly follow the step whose effect it shows.
            others.catch_up(self.stage, command)
        before = pb.Request()
        before.CopyFrom(request)
        step = self.stage.step(self.name, request)
        others.follow(self.name, before, step, self.party.channels[0])
        return step

    def _sent_by(self, step: Step) -> Message:
        if step.answer == "rejected":
            raise ScheduleStoppedError(f"{step.command} was {refusal(step)}")
        message = step.new or next(iter(step.messages), None)
        if message is not None:
            self._own_ids.append(message.message_id)
            self._ask_codec(message.bloom_filter, self._met_ids)
            return message
        what = "broadcast bytes that are not an SDS message" if step.broadcasts else "broadcast nothing"
        raise ScheduleStoppedError(f"{step.command} at step {step.index} {what}")


def refusal(step: Step) -> str:
    """Why a command was refused, as a short phrase."""
    reason = printable(step.reply.rejected.reason) if step.reply is not None else ""
    return f"refused: {reason or 'no reason given'}"
