"""Repeats, in two other channels, the operations that a scenario plays in the third channel."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HistoryEntry, Message

from .trace import Step

if TYPE_CHECKING:
    from .stage import Stage

AHEAD_MS = {"first": 500_000, "second": 1_000}
"""Maps the names of the other two channels to milliseconds. The Lamport timestamps of messages that arrive in the
channel are greater by this number than in the third channel."""
MIRRORED = ("send", "send_ephemeral", "send_sync", "receive", "observe")


class OtherChannels:
    """Repeats, in the two other channels, each command that names the third channel.

    In the first channel, a command is repeated before the next command. In the second channel, it is repeated one
    command later, or at the same time as in the first if time passes or a tick follows. So a participant may receive a
    message in the second channel before the dependency of the message, although it has received both in the third
    channel already.

    Messages of scripted peers have the same IDs in all three channels. A message of a participant under test is
    different in each channel: it is replaced by the message that its sender sent in that channel.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, list[tuple[str, pb.Request, Step]]] = {name: [] for name in AHEAD_MS}
        self._made: dict[tuple[str, str], Message] = {}
        """Maps a channel ID and the ID of a message in the third channel to the message that its sender sent in that
        channel."""

    def follow(self, participant: str, request: pb.Request, step: Step, channel_id: str) -> None:
        """Remember a step whose command names the third channel. ``request`` is the command before the stage changed
        its names."""
        command = getattr(request, step.command)
        message = step.received.message if step.command == "receive" else command
        if step.command in MIRRORED and message is not None and message.channel_id == channel_id:
            for waiting in self._waiting.values():
                waiting.append((participant, request, step))

    def catch_up(self, stage: Stage, command: str) -> None:
        """Repeat in the first and the second channel the remembered commands that must precede ``command``."""
        for name, waiting in self._waiting.items():
            until = len(waiting)
            if name == "second" and waiting and command != "tick" and stage.now_ms == _asked_at(waiting[-1][1]):
                until = max(
                    (number for number, (_, _, step) in enumerate(waiting) if step.command != "observe"), default=0
                )
            due, waiting[:] = waiting[:until], waiting[until:]
            for participant, request, step in due:
                self._repeat(stage, participant, request, step, stage.label(name), AHEAD_MS[name])

    def _repeat(
        self, stage: Stage, participant: str, request: pb.Request, step: Step, channel_id: str, ahead_ms: int
    ) -> None:
        party = stage.trace.parties.get(participant)
        if party is None or channel_id not in party.channels:
            return  # the participant has a channel without a name only
        again = pb.Request()
        again.CopyFrom(request)
        command = getattr(again, step.command)
        if step.command == "receive":
            assert step.received.message is not None
            bound = stage.trace.declaration.limit("lamport_ahead_ms")
            ahead_ms = ahead_ms if bound is None else min(ahead_ms, bound // 2)
            command.wire = stage.on_the_wire(
                self._message_for_channel(stage, step.received.message, channel_id, ahead_ms)
            )
        else:
            command.channel_id = channel_id
        if step.command in ("send", "send_ephemeral"):
            # Two messages of one sender may have the same ID if they have equal content at the same time.
            command.content += f" in {channel_id}".encode() if command.content else b""
            command.message_id += f" in {channel_id}" if command.message_id else ""
        made = stage.step(participant, again).new
        if step.new is not None and made is not None:
            self._made[channel_id, step.new.message_id] = made

    def _message_for_channel(self, stage: Stage, message: Message, channel_id: str, ahead_ms: int) -> Message:
        """The message that arrives in another channel in place of ``message``: with the IDs of that channel, and with a
        Lamport timestamp ``ahead_ms`` later, unless the timestamp is near the maximum."""
        if (channel_id, message.message_id) in self._made:
            return self._made[channel_id, message.message_id]
        lamport, largest = message.lamport_timestamp, stage.revision.wire.max_lamport // 2
        return replace(
            message,
            channel_id=channel_id,
            lamport_timestamp=lamport if lamport is None or lamport > largest - ahead_ms else lamport + ahead_ms,
            causal_history=self._entries(message.causal_history, channel_id),
            repair_request=self._entries(message.repair_request, channel_id),
        )

    def _entries(self, entries: tuple[HistoryEntry, ...], channel_id: str) -> tuple[HistoryEntry, ...]:
        return tuple(
            replace(entry, message_id=self._made[channel_id, entry.message_id].message_id)
            if (channel_id, entry.message_id) in self._made
            else entry
            for entry in entries
        )


def _asked_at(request: pb.Request) -> int:
    return int(getattr(request, request.WhichOneof("command") or "").now_ms)
