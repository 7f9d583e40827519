"""Builds a schedule in the way in which a test drives participants: one call, one operation.

A script plays nothing, so it cannot branch on the behaviour of an implementation. Values that are known only when the
schedule is played are represented by objects: ``Message``, ``Moment`` and ``Period``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from sds_proto.testee.v1 import testee_pb2 as pb

from ..schedules import expressions, script
from ..schedules.operations import is_about_declarations
from . import operations as ops
from .language import SDS


@dataclass(frozen=True)
class Moment:
    """A point in virtual time, or a Lamport timestamp, that is known only when the schedule is played."""

    since: str
    """The label of a mark or of a message, see ``Write.since``."""
    ms: int = 0
    """Milliseconds that are added to the time of the mark or to the timestamp of the message."""

    def __add__(self, ms: int) -> Moment:
        return replace(self, ms=self.ms + ms)

    def __sub__(self, ms: int) -> Moment:
        return replace(self, ms=self.ms - ms)


@dataclass(frozen=True)
class Period:
    """An expression (see ``expressions``) for a number, such as milliseconds, that the configuration in force
    determines."""

    text: str
    simple: bool = True
    """Whether ``text`` needs no brackets as a part of another expression."""

    def __add__(self, other: Period | int) -> Period:
        return self._combine("+", other)

    def __sub__(self, other: Period | int) -> Period:
        return self._combine("-", other)

    def __rmul__(self, other: int) -> Period:
        return Period(str(other)) * self

    def __rsub__(self, other: int) -> Period:
        return Period(str(other)) - self

    def __mul__(self, other: Period | int) -> Period:
        return self._combine("*", other)

    def __floordiv__(self, other: int) -> Period:
        return self._combine("//", other)

    def _combine(self, sign: str, other: Period | int) -> Period:
        return Period(f"{self._operand} {sign} {other._operand if isinstance(other, Period) else other}", simple=False)

    def __str__(self) -> str:
        return self.text

    @property
    def _operand(self) -> str:
        return self.text if self.simple else f"({self.text})"


NOW = Period("now_ms")
MAX_LAMPORT = Period(expressions.MAX_LAMPORT)
"""The greatest Lamport timestamp that the revision can encode."""
START = Period("start_ms")
"""The start of virtual time, in epoch milliseconds."""


def greatest(*periods: Period | int) -> Period:
    """The expression for the maximum of the periods."""
    return _function_of("max", *periods)


def least(*periods: Period | int) -> Period:
    """The expression for the minimum of the periods."""
    return _function_of("min", *periods)


def _function_of(function: str, *periods: Period | int) -> Period:
    return Period(f"{function}({', '.join(one.text if isinstance(one, Period) else str(one) for one in periods)})")


class InForce:
    """The configuration in force: each attribute is the expression (a Period) with the name of the field."""

    def __getattr__(self, field: str) -> Period:
        if field not in pb.Configuration.DESCRIPTOR.fields_by_name:
            raise AttributeError(field)
        return Period(field)


@dataclass(frozen=True)
class Message:
    """A message of the schedule, sent by a participant or written by a scripted peer."""

    label: str
    sender: str

    @property
    def lamport(self) -> Moment:
        """The Lamport timestamp of the message."""
        return Moment(self.label)

    @property
    def signed(self) -> ops.Entry:
        """An entry for the message that also names the sender, as participants write it with SDS-R."""
        return ops.Entry(self.label, sender=self.sender)


Dependency = Message | ops.Entry | str
"""A dependency of a message: another message, an entry of a causal history, or a message ID."""


def entry(dependency: Dependency, hint: bytes | None = None, sender: str | None = None) -> ops.Entry:
    """Make the entry of a causal history for a dependency, with a retrieval hint and a sender if given."""
    named = ops.Entry(dependency.label) if isinstance(dependency, Message) else _reference(dependency)
    return ops.Entry(named.label, named.id, None if hint is None else hint.hex(), sender)


def twins(message: Message) -> list[ops.Entry]:
    """Entries whose IDs are similar to the ID of a message but differ from it, one for each of ``TWINS``."""
    return [ops.Entry(message.label, twin=twin) for twin in ops.TWINS]


def _labels(messages: Sequence[Message]) -> tuple[str, ...]:
    return tuple(message.label for message in messages)


def signed(*messages: Message) -> tuple[ops.Entry, ...]:
    """Entries that name the senders of the messages."""
    return tuple(message.signed for message in messages)


def _reference(dependency: ops.Entry | str) -> ops.Entry:
    return ops.Entry(id=dependency) if isinstance(dependency, str) else dependency


def _references(dependencies: Sequence[Dependency]) -> tuple[str | ops.Entry, ...]:
    return tuple(one.label if isinstance(one, Message) else _reference(one) for one in dependencies)


class Script(script.Script[ops.Member]):
    """A schedule that is being written: each call appends an operation."""

    language = SDS

    def __init__(self) -> None:
        super().__init__()
        self._channels: dict[str, int] = {}
        self.named = True
        """Whether the application names channels."""
        self._mark: Moment | None = None
        """The present virtual time, relative to the newest mark; None if a new mark is needed."""
        self._marks = 0
        self._peers: list[Peer] = []

    def schedule(self, name: str) -> ops.Schedule:
        """The schedule with all operations so far. Its network is cut: each arrival is an operation of the script."""
        names = tuple(member.name for member in self.members)
        cut = [ops.Cut(names, names)] if len(names) > 1 else []
        start = next((n for n, one in enumerate(self.operations) if not is_about_declarations(one)), 0)
        operations = (*self.operations[:start], *cut, *self.operations[start:])
        every = tuple(range(len(self._channels)))
        members = tuple(replace(one, channels=() if one.channels == every else one.channels) for one in self.members)
        return ops.Schedule(members, operations, tuple(self._channels), name=name)

    # ---- time --------------------------------------------------------------------------------------------------------

    @property
    def now(self) -> Moment:
        """The present virtual time. Adds a `mark` if the time since the newest mark is not known."""
        if self._mark is None:
            self._marks += 1
            self._mark = Moment(f"t{self._marks}")
            self.add(ops.Mark(self._mark.since))
        return self._mark

    def mark(self) -> Moment:
        """Add a `mark`, and return the present virtual time."""
        self._mark = None
        return self.now

    def advance(self, period: Period | int) -> None:
        """Let virtual time pass."""
        if isinstance(period, int):
            self.add(ops.Wait(period))
            self._mark = self._mark and self._mark + period
        else:
            self.add(ops.Wait(period=period.text))
            self._mark = None

    def connect(self, delay_ms: int) -> None:
        """Connect all participants from now on: each broadcast arrives at all others after ``delay_ms``."""
        self.add(ops.Heal(), ops.Links(delay_ms=(delay_ms, delay_ms)))

    def cut(self, senders: Sequence[Part], listeners: Sequence[Part]) -> None:
        """Cut the links from ``senders`` to ``listeners``; the links in the other direction stay unchanged."""
        deaf = tuple(part.name for part in listeners)
        self.add(ops.Cut(tuple(part.name for part in senders), deaf, both=False))

    def add(self, *operations: ops.Operation) -> None:
        super().add(*operations)
        if any(isinstance(operation, ops.Settle | ops.Await) for operation in operations):
            self._mark = None  # these operations let an unknown time pass

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        before = self._mark
        with super().when(condition):
            yield
        if self._mark is not before:
            self._mark = None

    @contextmanager
    def repeat(self, rounds: Period | int, most: int = 0, until: str = "") -> Iterator[None]:
        """The operations that are added in this block are repeated, see ``Repeat``.

        If ``rounds`` is a Period, ``most`` is the maximum number of rounds.
        """
        begin, most = len(self.operations), rounds if isinstance(rounds, int) else most
        self._mark = None
        yield
        self._mark = None
        body = self.operations[begin:]
        number = rounds.text if isinstance(rounds, Period) else ""
        self.operations.insert(begin, ops.Repeat(len(body), most, number, until, when=self._condition))
        for peer in self._peers:
            peer.skip((most - 1) * sum(getattr(operation, "peer", "") == peer.name for operation in body))

    # ---- participants ------------------------------------------------------------------------------------------------

    def require(self, condition: str, reason: str) -> None:
        """End the schedule at this point, and report ``reason``, unless ``condition`` holds (see ``expressions``)."""
        self.add(ops.Require(condition=condition, reason=reason))

    def open(
        self,
        name: str = "alice",
        channels: tuple[str, ...] = ("c1",),
        configuration: pb.Configuration | None = None,
        instance: str = "",
        *,
        may_be_refused: bool = False,
    ) -> Part:
        """Open a participant; ``instance`` distinguishes participants with the same ID.

        With ``may_be_refused``, the schedule continues without the participant if the implementation refuses to open
        it.
        """
        if len(channels) > 1:
            self.need(pb.CAPABILITY_CHANNELS)
        if not channels:
            self.need(pb.CAPABILITY_UNNAMED_CHANNEL)
        asked = {field.name: value for field, value in configuration.ListFields()} if configuration is not None else {}
        late = any(not (is_about_declarations(one) or isinstance(one, ops.Mark)) for one in self.operations)
        self.named &= bool(channels)
        member = ops.Member(
            f"{name} ({instance})" if instance else name,
            late=late,
            channels=tuple(map(self.channel, channels)),
            configuration=tuple(sorted(asked.items())),
            participant_id=name if instance else "",
            may_be_refused=may_be_refused,
        )
        self.members.append(member)
        if late:
            self.add(ops.Join(member.name))
        return Part(self, member, name)

    def channel(self, name: str) -> int:
        """The index of a channel in the schedule. Adds the channel if it is new."""
        return self._channels.setdefault(name, len(self._channels))

    def peer(self, name: str, channel: str = "c1") -> Peer:
        """Add a scripted peer that sends in ``channel``."""
        self._peers.append(Peer(self, name, channel))
        return self._peers[-1]


class Part:
    """A participant under test. Its methods append operations of this participant to the script."""

    in_force = InForce()

    def __init__(self, script: Script, member: ops.Member, participant_id: str) -> None:
        self.script = script
        self.name = member.name
        self.participant_id = participant_id
        self._channel = member.channels[0] if member.channels else 0
        self._sent = 0

    def after(self, period: Period | int) -> Part:
        """Let virtual time pass. Returns the participant."""
        self.script.advance(period)
        return self

    def given(self, *messages: Message, hint: bytes = b"") -> Part:
        """Let messages arrive at the participant, see `receive`. Returns the participant, for chained calls."""
        self.receive(*messages, hint=hint)
        return self

    def receive(self, *messages: Message, hint: bytes | None = b"", optional: bool = False) -> None:
        """Let messages arrive at the participant, in this order.

        ``hint`` is the retrieval hint that the transport passes on; b"" passes none, None an empty hint. If the
        implementation takes no hints, the schedule ends, unless the hint is ``optional``.
        """
        if hint and not optional:
            self.script.need(pb.CAPABILITY_RETRIEVAL_HINTS)
        empty = ("hint",) if hint is None else ()
        self.script.add(ops.Receive(self.name, _labels(messages), (hint or b"").hex(), empty=empty))

    def receive_asked(self, *messages: Message) -> None:
        """Let the messages arrive that are in the repair request of the participant's newest broadcast."""
        self.script.add(ops.Receive(self.name, _labels(messages), asked=True))

    def receive_unanswered(self, since: Moment, *messages: Message) -> None:
        """Let those messages arrive whose repair request contains a message that the participant has not sent since
        ``since``."""
        self.script.add(ops.Receive(self.name, _labels(messages), unanswered_since=since.since))

    def receive_bytes(self, wire: bytes) -> None:
        """Let bytes, which need not be a message, arrive at the participant."""
        self.script.add(ops.Garble(self.name, wire.hex()))

    def receive_part(self, message: Message, end: int = 0, percent: int = 100) -> None:
        """Let only the first bytes of a message arrive; ``end`` and ``percent`` as in ``Garble``."""
        self.script.add(ops.Garble(self.name, label=message.label, end=end, percent=percent))

    def receive_copy(self, message: Message, *requests: Message) -> None:
        """Let a message arrive again; ``requests`` replaces its repair request."""
        self.script.add(ops.Again(message.label, self.name, tuple(request.label for request in requests)))

    def receive_missing(self) -> None:
        """Let all messages arrive that the participant misses and that were written (a `lookup`)."""
        self.script.add(ops.Lookup(self.name))

    def send(
        self,
        content: bytes | None = None,
        channel: str = "",
        message_id: str = "",
        *,
        may_be_refused: bool = False,
        hint: bytes | None = b"",
    ) -> Message:
        """Send content, by default content with the number of the message.

        With ``may_be_refused``, the schedule continues if the implementation refuses to send. ``hint`` is the retrieval
        hint of the message, if the implementation supports hints; b"" gives none, and None gives an empty hint.
        """
        if message_id:
            self.script.need(pb.CAPABILITY_MESSAGE_ID_ACCEPTED)
        label = self._label()
        given: Mapping[str, Any] = {"numbered": True}
        if content is not None:
            given = _content(content) if content else {"empty": ("content",)}
        if hint is None:
            given = {**given, "hint": True, "empty": (*given.get("empty", ()), "hint")}
        elif hint:
            given = {**given, "hint": True, "raw_hint": hint.hex()}
        self.script.add(
            ops.Send(
                self.name,
                label,
                self._number(channel),
                message_id=message_id,
                may_be_refused=may_be_refused,
                **given,
            )
        )
        return Message(label, self.participant_id)

    def send_sync(self, channel: str = "", *, optional: bool = False, or_content: bool = False) -> Message:
        """Send a sync message.

        If the implementation has no sync messages, the schedule ends. With ``optional`` it continues, and with
        ``or_content`` a content message is sent instead.
        """
        if not optional and not or_content:
            self.script.need(pb.CAPABILITY_SYNC)
        label = self.script.unique_label(f"sync-{self.name}")
        self.script.add(ops.Sync(self.name, self._number(channel), label=label, or_content=or_content))
        return Message(label, self.participant_id)

    def send_ephemeral(self, content: bytes = b"typing", channel: str = "", *, optional: bool = False) -> None:
        """Send an ephemeral message; ``optional`` as in `send_sync`. The implementation may refuse to send empty
        content."""
        if not optional:
            self.script.need(pb.CAPABILITY_EPHEMERAL)
        self._sent += 1
        given: Mapping[str, Any] = {"raw": content.hex()} if content != b"typing" else {}
        if not content:
            given = {"empty": ("content",), "may_be_refused": True}
        self.script.add(ops.Ephemeral(self.name, self._number(channel), **given))

    def tick(self) -> Part:
        """Run the periodic work that is due. Returns the participant."""
        self.script.add(ops.Tick(self.name))
        return self

    def leave(self) -> None:
        """Stop the participant with a `crash`. Expressions then use the configuration of the other participants."""
        self.script.add(ops.Crash(self.name))

    def await_due(
        self, *messages: Message, ms: int = 0, nth: int = 1, most: Period | str = "", otherwise: Period | str = ""
    ) -> Part:
        """Let time pass until the participant is due to request messages, or to respond with them, see ``Await``.

        Returns the participant.
        """
        self.script.add(ops.Await(self.name, _labels(messages), nth, ms, str(most), str(otherwise)))
        return self

    def settle(self, undelivered: Message | None = None) -> Part:
        """Let time pass and send `tick` until no tick delivers a message.

        If ``undelivered`` is given, this does nothing when that message was delivered before. Returns the participant.
        """
        self.script.add(ops.Settle(self.name, undelivered.label if undelivered is not None else ""))
        return self

    def step_clock(self, ms: int) -> Part:
        """Step the clock of the participant. The clock of scripted peers stays correct. Returns the participant."""
        self.script.add(ops.StepClock(self.name, ms))
        return self

    def observe(self, *filter_ids: Dependency, channel: str = "") -> Part:
        """Request the state, and whether the participant's bloom filter contains the messages. Returns the
        participant."""
        self.script.add(ops.Look(self.name, self._number(channel), _references(filter_ids)))
        return self

    def observe_newest(self) -> Part:
        """Request the state, and whether the participant's bloom filter contains its newest messages. Returns the
        participant."""
        self.script.add(ops.Look(self.name, self._channel))
        return self

    def _label(self) -> str:
        self._sent += 1
        return self.script.unique_label(f"{self.name}-{self._sent}")

    def _number(self, channel: str) -> int:
        return self.script.channel(channel) if channel else self._channel


class Peer:
    """A scripted peer in a script. Its only state is a counter for its message IDs."""

    def __init__(self, script: Script, name: str, channel: str) -> None:
        self.script = script
        self.name = name
        self.channel = channel
        self._count = 0

    def skip(self, messages: int) -> None:
        """Advance the counter of message IDs by ``messages``, so that these IDs stay unused."""
        self._count += messages

    def content(
        self,
        at: Moment | Period | int,
        *depends_on: Dependency,
        content: bytes | None = None,
        requests: Sequence[Dependency] = (),
        **rest: Any,
    ) -> Message:
        """Write a content message with a Lamport timestamp and a causal history. ``rest`` as for ``write``."""
        given: Mapping[str, Any] = {} if content is None else _content(content)
        return self.write(at, depends_on, requests=requests, **given, **rest)

    def sync(
        self,
        at: Moment | int,
        *depends_on: Dependency,
        empty_content: bool = False,
        requests: Sequence[Dependency] = (),
        **rest: Any,
    ) -> Message:
        """Write a sync message; ``empty_content`` sets the content to zero bytes instead of leaving it out."""
        return self.write(at, depends_on, requests=requests, content="" if empty_content else None, **rest)

    def ephemeral(self, content: bytes, *depends_on: Dependency, **rest: Any) -> Message:
        """Write an ephemeral message. One with a causal history or a bloom filter is irregular, but allowed in
        tests."""
        return self.write(None, depends_on, **_content(content), **rest)

    def write(
        self,
        at: Moment | Period | int | None,
        depends_on: Sequence[Dependency],
        *,
        requests: Sequence[Dependency] = (),
        holds: Sequence[Dependency] | None = None,
        bloom_filter: bytes | None = None,
        filter_of: Message | None = None,
        message_id: str | Message | ops.Entry | None = None,
        sender: str | None = "",
        **fields: Any,
    ) -> Message:
        """Write a message.

        ``at`` is the Lamport timestamp of the message. Its bloom filter contains the messages ``holds``, consists of
        the bytes ``bloom_filter``, or is a copy of the filter of ``filter_of``. ``message_id`` is the ID, a message
        with the same ID, or an entry with a ``twin`` of an ID. ``sender`` is the participant named as the sender; ""
        for the peer, None for an empty sender ID.
        """
        self._count += 1
        label = self.script.unique_label(f"{self.name}-{self._count}")
        same = ops.Entry(message_id.label) if isinstance(message_id, Message) else message_id
        twin = same if isinstance(same, ops.Entry) else ops.Entry()
        empty = tuple(
            name
            for name, value in (("filter", bloom_filter), ("message_id", message_id))
            if value is not None and not value
        )
        empty += fields.pop("empty", ()) + (("sender",) if sender is None else ())
        self.script.add(
            ops.Write(
                self.name,
                label,
                at.ms if isinstance(at, Moment) else None if at is None else 0,
                _references(depends_on),
                filter=None if holds is None else _references(holds),
                raw_filter=(bloom_filter or b"").hex(),
                asks=_references(requests),
                id_of=twin.label,
                twin=twin.twin,
                message_id=message_id if isinstance(message_id, str) else "",
                empty=empty,
                poses_as=sender or "",
                channel=self.script.channel(self.channel) if self.script.named else 0,
                number=self._count,
                since=at.since if isinstance(at, Moment) else "",
                lamport=at.text if isinstance(at, Period) else at if isinstance(at, int) else None,
                filter_of=filter_of.label if filter_of is not None else "",
                **fields,
            )
        )
        return Message(label, "" if sender is None else sender or self.name)


def _content(content: bytes) -> dict[str, Any]:
    """The field of an operation (``content`` or ``raw``) that gives a message this content."""
    if not content:
        return {"content": ""}
    try:
        return {"content": content.decode()}
    except UnicodeDecodeError:
        return {"content": "usual", "raw": content.hex()}
