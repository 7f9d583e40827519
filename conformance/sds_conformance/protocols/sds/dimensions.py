"""The sizes of SDS that `limits` measures: one function each, which writes the schedule of a size."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TypeVar

from sds_harness.schedules.expressions import UNLIMITED
from sds_harness.sds.group_trace import GroupTrace
from sds_harness.sds.operations import Send
from sds_harness.sds.player import perform
from sds_harness.sds.script import Message, Moment, Part, Script, entry, greatest, signed
from sds_harness.stage import START_MS
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import MAX_LAMPORT

from ..dimensions import Dimensions
from .scenarios.core.crowds import CHANNELS, PARTICIPANTS, SMALL_MESSAGES
from .scenarios.core.long_times import IN_2106_MS
from .scenarios.repair.crowds import AT_ONCE
from .scenarios.repair.participants import T_MAX, open_with_repairs
from .scenarios.repair.responses import wait_for_responses
from .scenarios.scripts import tick_every
from .view.odd_messages import (
    LARGEST_CONTENT,
    LARGEST_HINT,
    LARGEST_HISTORY,
    LARGEST_ID,
    LARGEST_LAMPORT,
    ROOM_AFTER,
)

T = TypeVar("T")

MANY = 1_000
"""The size that `run` demands if no limit is declared."""
TOO_MANY = 1 << 18
"""Maximum number of items in one schedule. All of them are kept in memory until the trace is judged."""
MANY_ITEMS = "AMB-96"
"""The position on the size of state: without a declared limit, at least a thousand items must be kept."""
NO_BOUND = "the specification names no bound"
LARGEST_FRAME = 16 << 20
"""Maximum number of bytes that fit in a reply of the testee protocol, even if it contains them three times in
base64.
"""
MOST_ENTRIES = 200_000
"""Maximum number of entries in a causal history whose IDs fit into one message."""
LAST_MS = (1 << 53) - (1 << 40)
"""The last time to try, in epoch milliseconds. It is exact in floating point, and so are some later times."""
FILTERED = 50
"""The capacity of the small filter, in IDs."""
IN_ONE = 100
"""Number of entries in one message, if a schedule spreads them over several messages."""
FEW = 3
"""Maximum number of messages to send until all requests were sent, if the implementation shows them."""
SAMPLED = 4
"""Number of channels or participants to use at each end, and in the middle, of all."""

_WAIT_RESENDS = greatest(Part.in_force.resend_unacknowledged_ms, 30_000)


DIMENSIONS = Dimensions("SDS-", Script, perform)
_dimension = DIMENSIONS.dimension
_count = partial(_dimension, demanded=MANY, position=MANY_ITEMS, most=TOO_MANY)
"""Registers a dimension that counts messages."""
_unbounded = partial(_dimension, position=NO_BOUND, most=TOO_MANY)
"""Registers a dimension for which neither the specification nor a position names a bound."""
_at_once = partial(_dimension, at_once=True)
"""Registers a dimension of a single message."""


def _open(script: Script, name: str = "alice", channels: tuple[str, ...] = ("c1",)) -> Part:
    """Open a participant with settings for small messages, because thousands of messages are kept in memory."""
    return script.open(name, channels, SMALL_MESSAGES)


def _deliver_and_observe(alice: Part, *messages: Message) -> None:
    alice.receive(*messages)
    alice.settle()
    alice.observe()


# ---- received messages: in the log, waiting, and in a filter ---------------------------------------------------------


@_count("messages in a log", "RECV-07", "RECV-05", declared="log_entries")
def log(script: Script, size: int) -> None:
    """N messages arrive, then a copy of the first of them, and a message that depends on the first."""
    alice, bob, base = _open(script), script.peer("bob"), script.now
    first = bob.content(base)
    alice.receive(first, *(bob.content(base + number) for number in range(1, size)))
    _deliver_and_observe(alice, first, bob.content(base + size, first))


@_count("places a message is late", "DELIVER-04", declared="late_places", within=("log_entries",))
def late(script: Script, size: int) -> None:
    """N messages are in the log, and a message arrives that belongs before all of them."""
    script.need(pb.CAPABILITY_OBSERVE)
    alice, bob, base = _open(script), script.peer("bob"), script.now
    alice.receive(*(bob.content(base + number) for number in range(size)))
    alice.given(bob.content(base - 1, message_id="a-late-one")).observe()


@_count("IDs in a filter", "STATE-06", "RECV-04")
def in_filter(script: Script, size: int) -> None:
    """N messages arrive at a participant with a filter of small capacity, which then sends a message."""
    bob, base = script.peer("bob"), script.now
    messages = [bob.content(base + number) for number in range(size)]
    # Only the codec of the implementation can read a filter of an unknown profile, and it knows only the default size.
    small = pb.Configuration(bloom_capacity=FILTERED, bloom_error_rate=0.01)
    for condition, asked in (("filters_are_known", small), ("1 - filters_are_known", pb.Configuration())):
        asked.causal_history_size = 2
        with script.when(condition):
            alice = script.open(f"alice-{len(script.members)}", configuration=asked)
            alice.receive(*messages)
            alice.after(1).send()


@_count("waiting messages", "RECV-08", "INSWEEP-01", declared="waiting_messages", within=("log_entries",))
def waiting(script: Script, size: int) -> None:
    """N messages wait for the same dependency, and then it arrives."""
    alice, bob, base = _open(script), script.peer("bob"), script.now
    root = bob.content(base)
    alice.receive(*(bob.content(base + 1 + number, root) for number in range(size)))
    _deliver_and_observe(alice, root)


@_count(
    "length of a cascade",
    *("INSWEEP-04", "RECV-08"),
    declared="cascade_messages",
    within=("log_entries", "waiting_messages"),
)
def cascade(script: Script, size: int) -> None:
    """N messages, each of which depends on the one before it, arrive in reverse; then the first dependency arrives."""
    alice, bob, base = _open(script), script.peer("bob"), script.now
    line = [bob.content(base)]
    for number in range(size):
        line.append(bob.content(base + 1 + number, line[-1]))
    alice.receive(*reversed(line[1:]))
    _deliver_and_observe(alice, line[0])


# ---- sent messages ---------------------------------------------------------------------------------------------------


@_count("outstanding own messages", "SEND-10", "ACK-01", declared="outstanding_messages", within=("log_entries",))
def outstanding(script: Script, size: int) -> None:
    """A participant sends N messages that are not acknowledged. All are resent, then three are acknowledged."""
    alice, bob = _open(script), script.peer("bob")
    own = [alice.send() for _ in range(size)]
    alice.observe()
    alice.after(_WAIT_RESENDS).tick()
    # An implementation that cannot send all copies at once has many sweeps for them.
    tick_every(alice, _WAIT_RESENDS // 10 + 1, times=11)
    for message in (own[0], own[size // 2], own[-1]):
        alice.receive(bob.content(script.now, message))
    alice.observe()


# ---- parts of a message ----------------------------------------------------------------------------------------------


def _describe_missing_delivery(group_trace: GroupTrace, label: str) -> str:
    """A sentence if the message with the label was neither refused nor delivered; else "".

    Beyond the demanded size, no check requires the delivery.
    """
    packet = group_trace.labels.get(label)
    act = next((act for act in group_trace.acts if act.packet is packet), None)
    if packet is None or act is None or act.step.reply is None or act.step.answer == "rejected":
        return ""
    message_id = packet.wire.message.message_id if packet.wire.message is not None else ""
    delivered = (event.message_id for act in group_trace.acts for event in act.step.events if event.kind == "delivered")
    return "" if message_id in delivered else f"step {act.step.index}: taken, and not delivered"


@_at_once(
    "causal history entries",
    "RECV-05",
    "RECV-07",
    demanded=LARGEST_HISTORY,
    position="AMB-47",
    most=MOST_ENTRIES,
    declared="history_entries",
    within=("log_entries",),
    lost=_describe_missing_delivery,
)
def history(script: Script, size: int) -> Message:
    """Three causal histories name N messages: all have arrived, the last is missing, and the first is missing."""
    alice, bob, base = _open(script), script.peer("bob"), script.now
    known = [bob.content(base + number) for number in range(size)]
    alice.receive(*known)
    whole = bob.content(base + size, *known)
    alice.receive(whole)
    alice.receive(bob.content(base + size + 1, *known[:-1], "never-sent"))
    alice.receive(bob.content(base + size + 2, "never-sent", *known[1:]))
    alice.settle()
    alice.observe()
    return whole


@_at_once(
    "content bytes",
    "RECV-07",
    "SEND-11",
    demanded=LARGEST_CONTENT,
    position="no position names a bound beyond 100 KiB",
    most=LARGEST_FRAME,
    declared="content_bytes",
    lost=_describe_missing_delivery,
)
def content(script: Script, size: int) -> Message:
    """Content of N bytes is received, and then sent."""
    alice, bob = _open(script), script.peer("bob")
    # The content is text, because not every implementation can send other bytes. It repeats itself after 251 bytes.
    pattern = bytes(33 + number % 94 for number in range(251))
    large = (pattern * (size // len(pattern) + 1))[:size]
    received = bob.content(script.now, content=large)
    alice.given(received).after(1).send(large)
    alice.settle()
    return received


@_at_once(
    "message ID bytes",
    "RECV-05",
    "RECV-07",
    demanded=LARGEST_ID,
    position="no position names a bound beyond 1,024 characters",
    most=LARGEST_FRAME >> 2,
    declared="message_id_bytes",
    lost=_describe_missing_delivery,
)
def message_id(script: Script, size: int) -> Message:
    """Two message IDs of N bytes differ in the last byte, and a message depends on the second before it arrives."""
    alice, bob, base = _open(script), script.peer("bob"), script.now
    known, missing = ("x" * (size - 1) + last for last in "12")
    first = bob.content(base, message_id=known)
    alice.receive(first)
    alice.receive(bob.content(base + 2, missing))
    alice.receive(bob.content(base + 1, message_id=missing))
    alice.settle()
    return first


def _describe_lost_hint(group_trace: GroupTrace, label: str) -> str:
    """A sentence if no later causal history has the retrieval hint of the own message with the label; else ""."""
    packet = group_trace.labels.get(label)
    own = packet.wire.message if packet is not None else None
    if packet is None or own is None:
        return ""
    operation = group_trace.schedule.operations[packet.operation]
    sent = (later.wire.message for later in group_trace.packets if later.act > packet.act)
    entries = (entry for message in sent if message is not None for entry in message.causal_history)
    hints = (entry.retrieval_hint for entry in entries if entry.message_id == own.message_id)
    whole = isinstance(operation, Send) and bytes.fromhex(operation.raw_hint) in hints
    return "" if whole else "the hint of an own message is not passed on with it"


@_at_once(
    "retrieval hint bytes",
    *("MSG-10", "MSG-11", "SEND-08"),
    demanded=LARGEST_HINT,
    position="the specification leaves the form of hints to applications",
    most=LARGEST_FRAME >> 2,
    declared="hint_bytes",
    lost=_describe_lost_hint,
)
def hint(script: Script, size: int) -> Message:
    """A message is sent with a hint of N bytes, which the next repeats; an entry with such a hint arrives."""
    script.need(pb.CAPABILITY_RETRIEVAL_HINTS)
    alice, bob = _open(script), script.peer("bob")
    own = alice.send(hint=b"\x01" * size)
    alice.after(1).send()
    alice.receive(bob.content(script.now, entry("never-sent", hint=b"\x02" * size)))
    alice.observe()
    return own


# ---- pending repairs -------------------------------------------------------------------------------------------------


def _slices(messages: Sequence[Message], length: int) -> list[Sequence[Message]]:
    return [messages[start : start + length] for start in range(0, len(messages), length)]


def _open_with_repairs(script: Script) -> Part:
    few = pb.Configuration(causal_history_size=2, bloom_capacity=1_000, bloom_error_rate=0.01)
    return open_with_repairs(script, configuration=few)


def _request_all(script: Script, size: int, at_once: int) -> None:
    """Request ``size`` messages, ``at_once`` in one repair request, and wait until all answers are due."""
    alice, bob, carol = _open_with_repairs(script), script.peer("bob"), script.peer("carol")
    held = [bob.content(script.now + number) for number in range(size)]
    alice.receive(*held)
    for some in _slices(held, at_once):
        alice.receive(carol.content(script.now, requests=signed(*some)))
    alice.observe()
    wait_for_responses(alice)


def _describe_missing_answers(group_trace: GroupTrace, label: str) -> str:
    """A sentence if some messages of bob were not sent in answers, although none was refused; else "".

    Beyond the demanded size, no check requires the answers.
    """
    held: set[str] = set()
    answered: set[str] = set()
    for packet in group_trace.packets:
        if packet.wire.message is not None and packet.sender != "carol":
            (answered if packet.act else held).add(packet.wire.message.message_id)
    refused = any(act.step.answer == "rejected" for act in group_trace.acts)
    return "" if refused or held <= answered else f"{len(held & answered):,} of {len(held):,} were answered"


@_at_once(
    "repair request entries",
    *("R-RECV-08", "R-RECV-12", "R-SWEEP-01"),
    demanded=AT_ONCE,
    position="AMB-47",
    most=MOST_ENTRIES,
    declared="repair_request_entries",
    within=("log_entries",),
    lost=_describe_missing_answers,
)
def request(script: Script, size: int) -> None:
    """One message requests N messages that the participant has."""
    _request_all(script, size, size)


@_unbounded(
    "repair answers pending",
    *("R-RECV-08", "R-RECV-12", "R-SWEEP-01"),
    demanded=AT_ONCE,
    declared="repair_answers",
    within=("log_entries",),
)
def answers(script: Script, size: int) -> None:
    """Several messages request N messages in total, before any of these requests is answered."""
    _request_all(script, size, IN_ONE)


@_unbounded(
    "repair requests pending",
    *("R-STATE-01", "R-RECV-03"),
    demanded=AT_ONCE,
    declared="repair_requests",
    within=("log_entries",),
)
def requests(script: Script, size: int) -> None:
    """Several messages reveal that N messages are missing, and then the requests for these are due."""
    alice, bob = _open_with_repairs(script), script.peer("bob")
    missing = [bob.content(script.now - size + number) for number in range(size)]
    for some in _slices(missing, IN_ONE):
        alice.receive(bob.content(script.now + 1, *signed(*some)))
    alice.observe()
    script.advance(T_MAX + 1_000)
    # An implementation that shows its buffer need not send every request.
    for condition, most in (("repairs_are_shown", FEW), ("1 - repairs_are_shown", size)):
        with script.when(condition), script.repeat(most, until="round_requests == 0"):
            alice.send()


# ---- numbers ---------------------------------------------------------------------------------------------------------


@_dimension(
    "milliseconds that pass",
    *("STATE-03", "SEND-01", "OUTSWEEP-01", "INSWEEP-01", "RECV-07"),
    demanded=IN_2106_MS - START_MS,
    position="the specification names no last time",
    most=LAST_MS - START_MS,
)
def time(script: Script, size: int) -> None:
    """N milliseconds pass while one message is outstanding and another waits. Then the dependency and others arrive."""
    script.need(pb.CAPABILITY_VIRTUAL_CLOCK)
    alice, bob = _open(script), script.peer("bob")
    # Timestamps that do not follow a clock stay small, and their wire format may be too small for large numbers.
    usual = Moment("")
    root = bob.content(usual + 1)
    alice.send()
    alice.receive(bob.content(usual + 2, root))
    alice.after(size).tick()
    alice.send()
    alice.receive(root, bob.content(usual + 3))
    alice.send()
    alice.settle()


@_dimension(
    "Lamport timestamp",
    *("DELIVER-01", "DELIVER-04", "RECV-07", "SEND-01"),
    demanded=LARGEST_LAMPORT,
    position="AMB-14",
    most=MAX_LAMPORT - ROOM_AFTER,
    fits=lambda revision: revision.wire.max_lamport - ROOM_AFTER,
    declared="lamport_ahead_ms",
    declared_from=START_MS,
    at_once=True,
)
def lamport(script: Script, size: int) -> None:
    """A message with the timestamp N - 1 arrives, a message is sent, and a message with the timestamp N arrives."""
    alice, bob = _open(script), script.peer("bob")
    with script.when(f"lamport_ahead_ms < {UNLIMITED}"):
        script.need(pb.CAPABILITY_VIRTUAL_CLOCK)
    alice.receive(bob.content(size - 1))
    alice.send()
    _deliver_and_observe(alice, bob.content(size))


# ---- channels and participants ---------------------------------------------------------------------------------------


@_unbounded("channels", "RECV-07", "MSG-15", demanded=CHANNELS, declared="channels")
def channels(script: Script, size: int) -> None:
    """A participant joins N channels. It receives and sends messages in the first, the last and some in the middle."""
    names = tuple(f"c{number}" for number in range(1, size + 1))
    alice = _open(script, channels=names)
    used = _sample(names)
    sent = {}
    for name in used:
        alice.receive(script.peer(f"peer-of-{name}", name).content(script.now))
        sent[name] = alice.send(channel=name)
    for name in used:
        alice.receive(script.peer(f"other-of-{name}", name).content(script.now + 1, sent[name]))


@_unbounded("participants in a process", "RECV-07", demanded=PARTICIPANTS, declared="participants")
def participants(script: Script, size: int) -> None:
    """One process plays N participants. Some of them receive messages that the others do not, and send."""
    parts = [_open(script, f"alice{number}") for number in range(size)]
    for part in _sample(parts):
        peer = script.peer(f"peer-of-{part.name}")
        part.receive(*[peer.content(script.now + number) for number in range(3)])
    for part in _sample(parts):
        part.after(10).send()


def _sample(things: Sequence[T]) -> list[T]:
    """The first, the last and some items in the middle. An implementation with too little room lacks one of these."""
    middle = len(things) // 2
    places = {*range(SAMPLED), *range(middle, middle + SAMPLED), *range(len(things) - SAMPLED, len(things))}
    return [things[place] for place in sorted(places) if 0 <= place < len(things)]


# ---- time per message, measured last, with the time that the other dimensions left -----------------------------------


@_dimension(
    "cost of a message",
    "RECV-07",
    demanded=MANY,
    position="the specification requires no speed",
    most=TOO_MANY,
    timed=True,
)
def cost(script: Script, size: int) -> None:
    """N messages arrive: does each cost more processor time as the log grows?"""
    alice, bob = _open(script), script.peer("bob")
    alice.receive(*(bob.content(script.now + number) for number in range(size)))
