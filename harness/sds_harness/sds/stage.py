"""The stage on which a schedule of SDS is played, with its participants and scripted peers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import (
    PROFILES,
    REVISIONS,
    SDS_2026_01,
    UNNAMED_CHANNEL,
    BloomParameters,
    ConfigurationError,
    Message,
    build_filter,
)
from sds_reference.testee.dialect import Dialect

from .. import stage
from ..environment import PLAIN, Environment
from ..session import Session
from ..stage import COUNTING_START_MS, NOT_OPENED, ScheduleStoppedError, start_of
from ..trace import Party
from .actor import FILTER_MAKER, Actor, is_filter_maker, refusal
from .environments import SdsEnvironment
from .other_channels import AHEAD_MS, OtherChannels
from .peer import ScriptedPeer
from .trace import Step, Trace, Wire

HOUR_MS = 3_600_000
_NOTHING_OF_SDS = SdsEnvironment("", "")


class Stage(stage.Stage[Step]):
    """Plays one schedule on one session with an implementation, and records the trace."""

    trace: Trace

    def __init__(
        self, session: Session, schedule: str, dialect: Dialect | None = None, environment: Environment = PLAIN
    ) -> None:
        self.dialect = dialect
        self.revision = REVISIONS.get(session.revision, SDS_2026_01)
        self.sds_environment = environment if isinstance(environment, SdsEnvironment) else _NOTHING_OF_SDS
        self.other_channels = OtherChannels() if self.sds_environment.third_channel else None
        # If the Lamport timestamps of a revision are counters, the start does not depend on a clock.
        start_ms = start_of(session) if self.revision.lamport_follows_clock else COUNTING_START_MS
        trace = Trace(schedule, session.declaration, self.revision, dialect, environment.name, start_ms=start_ms)
        self.wires: dict[bytes, Wire] = {}
        """Maps bytes on the network to their Wire, so that equal bytes are decoded once."""
        step = partial(Step, reply=None, dialect=dialect, layout=self.revision.wire, known=self.wires)
        super().__init__(session, trace, step, environment)

    def go_ahead(self) -> None:
        """Set the clock of scripted peers ahead if the implementation uses its own clock.

        The clock of the peers is an hour ahead, or half the declared limit ``lamport_ahead_ms`` if that is less. If an
        implementation accepts messages of the peers, its next timestamps must be greater than the timestamps of these
        messages.
        """
        declared = self.trace.declaration
        bound = declared.limit("lamport_ahead_ms")
        if self.revision.lamport_follows_clock and not declared.can(pb.CAPABILITY_VIRTUAL_CLOCK):
            self.ahead_ms = HOUR_MS if bound is None else min(HOUR_MS, bound // 2)
            self.now_ms += self.ahead_ms

    def open(
        self,
        name: str = "alice",
        channels: tuple[str, ...] = ("c1",),
        configuration: pb.Configuration | None = None,
        instance: str = "",
    ) -> Actor:
        """Open a participant under test; ``instance`` distinguishes participants with the same name.

        Automatic sync messages, the timeout for lost dependencies and SDS-R are off unless ``configuration`` switches
        them on. The environment can also switch on SDS-R. Without ``channels``, no channel is named, and the trace
        calls the channel "0".
        """
        if len(channels) > 1:
            self.need(pb.CAPABILITY_CHANNELS)
        if not channels:
            self.need(pb.CAPABILITY_UNNAMED_CHANNEL)
        # A filter maker only makes bloom filters, so it does not join the other channels.
        several = channels and self.other_channels is not None and not is_filter_maker(name)
        first = tuple(map(self.label, AHEAD_MS)) if several else ()
        name = self.label(name)
        channels = tuple(self.label(channel) for channel in channels)
        pb_configuration = pb.Configuration(sync_interval_ms=0, lost_timeout_ms=0)
        if self.trace.declaration.can(pb.CAPABILITY_SDS_R):
            pb_configuration.sds_r = self.sds_environment.sds_r
        pb_configuration.MergeFrom(configuration or pb.Configuration())
        request = pb.Request(
            open=pb.Open(
                now_ms=self.now_ms, participant_id=name, channels=first + channels, configuration=pb_configuration
            )
        )
        key = f"{name} ({instance})" if instance else name
        step = self.step(key, request)
        if step.reply is None or step.answer != "opened":
            raise ScheduleStoppedError(f"{NOT_OPENED}participant {name!r} was {refusal(step)}")
        in_force = pb.Configuration()
        in_force.CopyFrom(step.reply.opened.configuration)
        named = (channels or (UNNAMED_CHANNEL,)) + first
        self._labels.update(named)
        party = Party(
            key,
            step.reply.opened.handle,
            named,
            step.now_ms,
            pb_configuration,
            in_force,
            unnamed=not channels,
            participant_id=name,
        )
        self.trace.parties[key] = party
        actor = Actor(self, party)
        self.add_handle(key, party.handle)
        return actor

    def sent_identifiers(self, step: Step) -> Iterator[tuple[str, str]]:
        """Yield the field and the value of each ID in the messages that a step sent."""
        for message in step.messages:
            yield "message_id", message.message_id
            yield "channel_id", message.channel_id
            yield "sender_id", message.sender_id
            for entry in (*message.causal_history, *message.repair_request):
                yield "message_id", entry.message_id
                yield "sender_id", entry.sender_id or ""

    def peer(self, name: str, channel_id: str = "c1") -> ScriptedPeer:
        """Make a scripted peer that writes messages for one channel."""
        says = "message {number}" if self.sds_environment.equal_contents else "content {number} of {name}"
        return ScriptedPeer(self.label(name), self.label(channel_id), says)

    def as_sendable(self, content: bytes) -> bytes:
        """``content``, reduced to ASCII if messages of the revision can carry only text."""
        return bytes(byte & 0x7F for byte in content) if self.revision.wire.text_only else content

    def on_the_wire(self, message: Message) -> bytes:
        """The bytes of a message in the layout of the implementation."""
        text = self.revision.wire.encode(message)
        return self.dialect.to_private(text) if self.dialect is not None else text

    def filter_over(self, *message_ids: str) -> bytes | None:
        """A bloom filter, in the encoding of the implementation, that contains exactly ``message_ids``.

        The suite builds it in the declared bloom profile, or asks the codec of the implementation. If neither is
        possible, a new participant receives exactly these messages, and its next message has the filter. None if no
        participant is open, or if this message has no filter.
        """
        declared, model = self.trace.declaration, next(iter(self.trace.parties.values()), None)
        parameters = bloom_parameters(model) if model is not None else None
        if declared.profile("bloom") in PROFILES and parameters is not None:
            return build_filter(PROFILES[declared.profile("bloom")], parameters, message_ids)
        # The codec builds filters of the default size, so it cannot be used if the configuration requests another size.
        usual = model is None or not (
            model.asked.HasField("bloom_capacity") or model.asked.HasField("bloom_error_rate")
        )
        if declared.can(pb.CAPABILITY_FILTER_CODEC) and usual:
            step = self.step("", pb.Request(build_filter=pb.BuildFilter(message_ids=message_ids)))
            if step.reply is not None and step.answer == "filter":
                return step.reply.filter.bloom_filter
        if model is None:
            return None
        channel_id = model.channels[0]
        maker = self.open(f"{FILTER_MAKER}-{len(self._handles)}", (channel_id,), model.asked)
        peer = self.peer("filler", channel_id)
        for message_id in message_ids:
            maker.receive(peer.content(self.now_ms, message_id=message_id))
        return maker.send(channel_id=channel_id).bloom_filter


def bloom_parameters(party: Party) -> BloomParameters | None:
    """The parameters of a participant's bloom filter; None if the configuration in force does not state them."""
    c = party.in_force
    if not (c.HasField("bloom_capacity") and c.HasField("bloom_error_rate")):
        return None
    try:
        return BloomParameters.sized(c.bloom_capacity, c.bloom_error_rate)
    except ConfigurationError:
        return None
