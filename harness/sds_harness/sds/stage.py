"""The stage on which a schedule is played: virtual time, participants under test, and the trace that is kept.

Every command to the implementation goes through here and becomes a step. A schedule that needs what was not declared,
or meets a refusal it cannot go on after, ends with ScheduleStopped, which is no fault of anybody.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import PROFILES, UNNAMED_CHANNEL, BloomParameters, ConfigurationError, Message, build_filter
from sds_reference.testee.dialect import Dialect

from ..declaration import capability_name, printable
from ..environment import PLAIN, Environment
from ..faults import TesteeFault
from ..session import Session
from ..trace import Party, Step, Trace, Wire
from .peer import ScriptedPeer

START_MS = 1_800_000_000_000
"""Where virtual time starts, in epoch milliseconds (January 2027)."""
COUNTING_START_MS = 100_000_000
"""Where it starts if Lamport timestamps just count: those of peers, who go by the time, then fit 31 bits, and yet it is
far from 0."""
QUIET_TICKS = 2
MAX_TICKS = 200
BUSTLE = 20
"""So many rounds of traffic surround a participant in a bustling environment: enough to leak, and bounded."""

FILTER_MAKER = "filter-maker"
"""Participants of this name exist for the filters of their messages."""

NEEDS = "needs the capability "
"""In the reason why a schedule was stopped, before the name: who judges tells by it what was not declared."""

ASKED_OF = 100
"""IDs that a codec is asked of, the newest."""

Payload = bytes | Message | Wire


def is_filter_maker(participant: str) -> bool:
    return f"{FILTER_MAKER}-" in participant


class ScheduleStopped(Exception):
    """The schedule cannot go on: a capability is not declared, or a needed command was refused."""


class Stage:
    """Plays one schedule on one session."""

    def __init__(
        self, session: Session, schedule: str, dialect: Dialect | None = None, environment: Environment = PLAIN
    ) -> None:
        self.session = session
        self.dialect = dialect
        self.environment = environment
        self.revision = session.revision
        self.now_ms = _start_ms(session)
        """Virtual time. A schedule may set it to anything, backwards too. An implementation that goes by its own
        clock gets the real time to start from, and only what does not depend on time can be judged."""
        self.trace = Trace(
            schedule, session.declaration, dialect, environment.name, start_ms=self.now_ms, revision=session.revision
        )
        self._actors: list[Actor] = []
        self._labels: set[str] = set()

    def open(
        self,
        name: str = "alice",
        channels: tuple[str, ...] = ("c1",),
        configuration: pb.Configuration | None = None,
        instance: str = "",
    ) -> Actor:
        """Make a participant under test; ``instance`` tells it from another one of the same name.

        Automatic sync messages, the giving up of lost dependencies and SDS-R are off unless ``configuration`` or, for
        SDS-R, the environment says otherwise.
        Without ``channels`` the participant is used without naming one, and its channel is called "0" here.
        """
        if len(channels) > 1:
            self.need(pb.CAPABILITY_CHANNELS)
        if not channels:
            self.need(pb.CAPABILITY_UNNAMED_CHANNEL)
        elif self.environment.bustling_channel:
            channels = (*channels, self.environment.bustling_channel)
        name = self.label(name)
        channels = tuple(self.label(channel) for channel in channels)
        asked = pb.Configuration(sync_interval_ms=0, lost_timeout_ms=0)
        if self.trace.declaration.can(pb.CAPABILITY_SDS_R):
            asked.sds_r = self.environment.sds_r
        asked.MergeFrom(configuration or pb.Configuration())
        request = pb.Request(
            open=pb.Open(now_ms=self.now_ms, participant_id=name, channels=channels, configuration=asked)
        )
        key = f"{name} ({instance})" if instance else name
        step = self.step(key, request)
        if step.reply is None or step.answer != "opened":
            raise ScheduleStopped(f"opening participant {name!r} was {_refusal(step)}")
        in_force = pb.Configuration()
        in_force.CopyFrom(step.reply.opened.configuration)
        named = channels or (UNNAMED_CHANNEL,)
        self._labels.update(named)
        party = Party(
            key,
            step.reply.opened.handle,
            named,
            step.now_ms,
            asked,
            in_force,
            unnamed=not channels,
            participant_id=name,
        )
        self.trace.parties[key] = party
        actor = Actor(self, party)
        self._actors.append(actor)
        return actor

    def peer(self, name: str, channel_id: str = "c1") -> ScriptedPeer:
        """A scripted peer."""
        says = "message {number}" if self.environment.equal_contents else "content {number} of {name}"
        return ScriptedPeer(self.label(name), self.label(channel_id), says)

    def label(self, name: str) -> str:
        """What a participant or channel is called in this environment; what is such a name already stays as it is."""
        if name not in self._labels:
            name = self.environment.label(name)
            self._labels.add(name)
        return name

    def said(self, content: bytes) -> bytes:
        """``content`` as it can be said: where only text can, in ASCII."""
        return bytes(byte & 0x7F for byte in content) if self.revision.wire.text_only else content

    def on_the_wire(self, message: Message) -> bytes:
        """The bytes of a message as the implementation understands them."""
        text = self.revision.wire.encode(message)
        return self.dialect.to_private(text) if self.dialect is not None else text

    def advance(self, milliseconds: int) -> None:
        """Let virtual time pass; negative steps the clock back."""
        if not 0 < self.now_ms + milliseconds < 1 << 62:
            raise ScheduleStopped(f"virtual time cannot advance by {milliseconds} ms, a period in force")
        self.now_ms += milliseconds

    def need(self, *capabilities: int) -> None:
        """End the schedule here unless all ``capabilities`` are declared."""
        for capability in capabilities:
            if not self.trace.declaration.can(capability):
                raise ScheduleStopped(f"{NEEDS}{capability_name(capability)}")

    def filter_over(self, *message_ids: str) -> bytes | None:
        """A bloom filter, as the implementation understands it, that holds exactly ``message_ids``.

        Built by the declared bloom profile, else by the implementation's own codec, else taken from another
        participant that has received just these; None if that one refuses.
        """
        declared = self.trace.declaration
        if declared.bloom_profile in PROFILES:
            parameters = self._bloom_parameters()
            if parameters is not None:
                return build_filter(PROFILES[declared.bloom_profile], parameters, message_ids)
        if declared.can(pb.CAPABILITY_FILTER_CODEC):
            step = self.step("", pb.Request(build_filter=pb.BuildFilter(message_ids=message_ids)))
            if step.reply is not None and step.answer == "filter":
                return step.reply.filter.bloom_filter
        return self._made_filter(message_ids)

    def _made_filter(self, message_ids: Sequence[str]) -> bytes | None:
        model = next(iter(self.trace.parties.values()), None)
        if model is None:
            return None
        channel_id = model.channels[0]
        maker = self.open(f"{FILTER_MAKER}-{len(self._actors)}", (channel_id,), model.asked)
        peer = self.peer("filler", channel_id)
        for message_id in message_ids:
            maker.receive(peer.content(self.now_ms, message_id=message_id))
        return maker.send(channel_id=channel_id).bloom_filter

    def close(self) -> None:
        """Free the participants; part of the trace only where that breaks the conversation. Raises TesteeFault."""
        for actor in self._actors:
            request = pb.Request(close=pb.Close(now_ms=self.now_ms, handle=actor.party.handle))
            try:
                self.session.call(request)
            except TesteeFault as fault:
                self.trace.steps.append(self._begun(actor.name, request))
                self.trace.breakdown = fault.breakdown
                raise

    def step(self, participant: str, request: pb.Request) -> Step:
        """Carry out one command and keep it in the trace. Raises TesteeFault, with the broken step kept, too."""
        steps = self.trace.steps
        if offset := self.environment.offset_ms(len(steps)):
            command = getattr(request, request.WhichOneof("command") or "")
            if "now_ms" in command.DESCRIPTOR.fields_by_name:
                command.now_ms = max(1, command.now_ms + offset)
        step = self._begun(participant, request)
        steps.append(step)
        try:
            step.reply = self.session.call(request)
        except TesteeFault as fault:
            self.trace.breakdown = fault.breakdown
            raise
        if step.answer == "unsupported":
            what = printable(step.reply.unsupported.what, 100)
            raise ScheduleStopped(f"{step.command} was answered `unsupported` ({what or 'nothing named'})")
        return step

    def _begun(self, participant: str, request: pb.Request) -> Step:
        """The next step of the trace, not answered yet."""
        return Step(len(self.trace.steps) + 1, participant, request, None, self.dialect, self.revision.wire)

    def _bloom_parameters(self) -> BloomParameters | None:
        for party in self.trace.parties.values():
            return bloom_parameters(party)
        return None


def _start_ms(session: Session) -> int:
    """Where time starts: nothing in a revision whose Lamport timestamps just count reads a clock of its own."""
    if not session.revision.lamport_follows_clock:
        return COUNTING_START_MS
    return START_MS if session.declaration.can(pb.CAPABILITY_VIRTUAL_CLOCK) else time.time_ns() // 1_000_000


def bloom_parameters(party: Party) -> BloomParameters | None:
    """Size of a participant's filter, if its configuration says it."""
    c = party.in_force
    if not (c.HasField("bloom_capacity") and c.HasField("bloom_error_rate")):
        return None
    try:
        return BloomParameters.sized(c.bloom_capacity, c.bloom_error_rate)
    except ConfigurationError:
        return None


class Actor:
    """A participant under test, as a schedule drives it."""

    def __init__(self, stage: Stage, party: Party) -> None:
        self.stage = stage
        self.party = party
        self._sent = 0
        self._own_ids: list[str] = []
        self._met_ids: dict[str, None] = {}
        channel = stage.environment.bustling_channel
        self._bustle = self._bustling(channel) if stage.label(channel) in party.channels else None

    @property
    def name(self) -> str:
        return self.party.name

    def send(
        self,
        content: bytes | None = None,
        channel_id: str | None = None,
        message_id: str | None = None,
        retrieval_hint: bytes | None = None,
    ) -> Message:
        """Send content, by default one that no other message has; the message it broadcast."""
        declared = self.stage.trace.declaration
        self._sent += 1
        if content is None:
            equal = self.stage.environment.equal_contents
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
        """Send an ephemeral message; the message it broadcast."""
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
        """Send a sync message; what it broadcast, None if it had nothing to say, which is legal."""
        self.stage.need(pb.CAPABILITY_SYNC)
        command = pb.SendSync(now_ms=self.stage.now_ms, handle=self.party.handle, channel_id=self._channel(channel_id))
        step = self._do(pb.Request(send_sync=command))
        message = step.broadcasts[0].message if step.broadcasts else None
        if message is not None:
            self._ask_of_met(message.bloom_filter)
        return message

    def receive(self, *payloads: Payload, retrieval_hint: bytes | None = None) -> Step:
        """Messages arrive, in order; ``bytes`` go as they are, what another one broadcast goes in its own bytes if both
        have the same layout. The step of the last."""
        step: Step | None = None
        for payload in payloads:
            message = _message_in(payload)
            wire = self._on_the_wire(payload)
            if message is not None:
                self._met_ids |= dict.fromkeys([message.message_id, *(e.message_id for e in message.causal_history)])
                self._ask_of_own(message.bloom_filter or b"")
            command = pb.Receive(
                now_ms=self.stage.now_ms, handle=self.party.handle, wire=wire, retrieval_hint=retrieval_hint
            )
            step = self._do(pb.Request(receive=command))
        assert step is not None, "receive needs at least one message"
        return step

    def _on_the_wire(self, payload: Payload) -> bytes:
        """The bytes of a message as the implementation understands them; ``bytes`` stay as they are."""
        dialect = self.stage.dialect
        match payload:
            case bytes():
                return payload
            case Message():
                return self.stage.on_the_wire(payload)
            case Wire():
                if dialect is payload.dialect or payload.message is None:
                    return payload.raw
                return dialect.to_private(payload.text) if dialect is not None else payload.text

    def tick(self) -> Step:
        """Let the periodic work run that is due now."""
        return self._do(pb.Request(tick=pb.Tick(now_ms=self.stage.now_ms, handle=self.party.handle)))

    def settle(self) -> None:
        """Tick until quiet: some implementations deliver at once, others on a sweep, one level at a time.

        Virtual time passes only where the configuration names a sweep period.
        """
        quiet = 0
        for _ in range(MAX_TICKS):
            known = self.party.in_force.HasField("incoming_sweep_ms")
            self.stage.advance(self.party.in_force.incoming_sweep_ms if known else 60_000)
            step = self.tick()
            progress = any(event.WhichOneof("event") in ("delivered", "lost") for event in step.events)
            quiet = 0 if progress else quiet + 1
            if quiet >= QUIET_TICKS:
                return

    def observe(self, *filter_ids: str, channel_id: str | None = None) -> pb.State | None:
        """Look at the state, where the implementation can show it; None where it cannot."""
        if not self.stage.trace.declaration.can(pb.CAPABILITY_OBSERVE):
            return None
        command = pb.Observe(
            now_ms=self.stage.now_ms,
            handle=self.party.handle,
            channel_id=self._channel(channel_id),
            filter_ids=filter_ids,
        )
        step = self._do(pb.Request(observe=command))
        return step.reply.state if step.reply is not None and step.answer == "state" else None

    def ask_filter(self, bloom_filter: bytes, *message_ids: str) -> None:
        """Ask the implementation's codec, where it has one, whether a filter of its messages holds the IDs."""
        if self.stage.trace.declaration.can(pb.CAPABILITY_FILTER_CODEC):
            command = pb.QueryFilter(bloom_filter=bloom_filter, message_ids=message_ids)
            self._do(pb.Request(query_filter=command))

    def _channel(self, channel_id: str | None) -> str:
        return self.party.channels[0] if channel_id is None else self.stage.label(channel_id)

    def _only_the_codec_knows(self) -> bool:
        """Are the filters of an encoding without a name, and of the size for which the codec is?"""
        sized = self.party.asked.HasField("bloom_capacity") or self.party.asked.HasField("bloom_error_rate")
        return self.stage.trace.declaration.bloom_profile not in PROFILES and not sized

    def _ask_of_own(self, bloom_filter: bytes) -> None:
        """Which own messages does a filter hold that is about to be received? The codec tells, if nothing else."""
        if bloom_filter and self._own_ids and self._only_the_codec_knows():
            self.ask_filter(bloom_filter, *self._own_ids[-ASKED_OF:])

    def _ask_of_met(self, bloom_filter: bytes | None) -> None:
        """Which of the IDs that it met does a filter hold that was sent? The codec tells, if nothing else."""
        if bloom_filter and self._met_ids and self._only_the_codec_knows():
            self.ask_filter(bloom_filter, *list(self._met_ids)[-ASKED_OF:])

    def _do(self, request: pb.Request) -> Step:
        if self._bustle is not None and request.WhichOneof("command") != "observe":
            bustle, self._bustle = self._bustle, None  # what it does is not to be surrounded again
            next(bustle, None)
            self._bustle = bustle
        return self.stage.step(self.name, request)

    def _bustling(self, channel_id: str) -> Iterator[None]:
        """Traffic in another channel, with a clock far ahead, one command at a time."""
        peer = self.stage.peer("passer-by", channel_id)
        for _ in range(BUSTLE):
            stranger = peer.content(self.stage.now_ms + 500_000)
            self.receive(stranger)
            yield
            own = self.send(channel_id=channel_id)
            yield
            self.receive(peer.content(self.stage.now_ms + 500_001, own, stranger, "that-never-came"))
            yield

    def _sent_by(self, step: Step) -> Message:
        if step.answer == "rejected":
            raise ScheduleStopped(f"{step.command} was {_refusal(step)}")
        for wire in step.broadcasts:
            if wire.message is not None:
                self._own_ids.append(wire.message.message_id)
                self._ask_of_met(wire.message.bloom_filter)
                return wire.message
        what = "broadcast bytes that are no SDS message" if step.broadcasts else "broadcast nothing"
        raise ScheduleStopped(f"{step.command} at step {step.index} {what}")


def _message_in(payload: Payload) -> Message | None:
    match payload:
        case Wire():
            return payload.message
        case Message():
            return payload
        case _:
            return None


def _refusal(step: Step) -> str:
    reason = printable(step.reply.rejected.reason) if step.reply is not None else ""
    return f"refused: {reason or 'no reason given'}"
