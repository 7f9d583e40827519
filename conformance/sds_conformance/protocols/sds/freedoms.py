"""Permitted differences (freedoms) between traces of SDS: effects of choices that the specification leaves open."""

from __future__ import annotations

from collections.abc import Callable

from sds_harness.sds.names import Names
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from ..freedoms import DivergentSteps, Freedom, calm, differ_only_in, left_out, one_declares
from .view.channel_view import channel_views

_OF_A_BROADCAST = frozenset({"message", "lamport", "channel", "wire", "repair_requests"})
"""The columns that differ as a consequence of `broadcasts`."""
_SIGNALS: dict[str, int] = {
    "delivered": pb.CAPABILITY_DELIVERED,
    "acknowledged": pb.CAPABILITY_ACKNOWLEDGED,
    "possibly_acknowledged": pb.CAPABILITY_POSSIBLY_ACKNOWLEDGED,
    "missing": pb.CAPABILITY_MISSING,
    "lost": pb.CAPABILITY_LOST,
}


def following(fields: frozenset[str], command: str) -> frozenset[str]:
    """The columns that must differ after a command because the columns ``fields`` differ."""
    out: frozenset[str] = frozenset()
    if "broadcasts" in fields:
        out |= _OF_A_BROADCAST
    if "delivered" in fields:
        # Messages that a sweep delivers appear in the causal histories that the same step sends.
        out |= {"contents", "wire"} if command == "tick" else {"contents"}
    return out


def _configured_otherwise(case: DivergentSteps, name: str) -> bool:
    """Are different values of a setting in force on the two sides?"""
    parties = [side.party(case.participant) for side in case.sides]
    values = [getattr(p.in_force, name) if p.in_force.HasField(name) else None for p in parties if p is not None]
    return len(values) == 2 and values[0] != values[1]


def _other_ids(case: DivergentSteps) -> bool:
    """Have messages with the same label different message IDs on the two sides?"""
    ids = []
    for side in case.sides:
        packets = side.group_trace.packets
        ids.append({p.label: p.wire.message.message_id for p in packets if p.label and p.act and p.wire.message})
    return any(ids[1].get(label, found) != found for label, found in ids[0].items())


def _timestamps(case: DivergentSteps) -> list[list[tuple[list[str | int], int, bool]]]:
    """For each side, the participant's Lamport timestamps in the step that differs.

    Each timestamp is a triple: (names of the message or channel of the state, milliseconds since the start, whether the
    specification allows other values).
    """
    out = []
    for side, act in case.played():
        names = Names(side.group_trace)
        timestamps: list[tuple[list[str | int], int, bool]] = []
        for view in (view for view in channel_views(act.trace) if view.party.name == case.participant):
            for sent in (sent for sent in (*view.sent, *view.syncs) if sent.step is act.step):
                seen, e = sent.message.lamport_timestamp or 0, sent.lamport
                timestamps.append((names.content_of(sent.message, 0), seen, e.low < e.high and e.low <= seen <= e.high))
            for shown in (shown for shown in view.observed if shown.step is act.step):
                seen, e = shown.state.lamport_timestamp, shown.lamport
                timestamps.append(([view.channel_id], seen, e.low < e.high and e.previous <= seen <= e.high))
        out.append(sorted((what, seen - act.trace.start_ms, is_open) for what, seen, is_open in timestamps))
    return out


def _newest(case: DivergentSteps) -> list[list[int | None]]:
    """For each side, the Lamport timestamp of the newest message in each causal history that the step sends."""
    out = []
    for side, act in case.played():
        names = Names(side.group_trace)
        out.append([names.newest_lamport(message) for message in act.step.messages if message.causal_history])
    return out


def _histories(case: DivergentSteps) -> bool:
    if not case.differs_only_in(
        "acknowledged", "possibly_acknowledged", "outgoing", "missing", "delivered", "incoming", "repairs"
    ):
        return False
    a, b = (side.row or {} for side in case.sides)
    return a.get("dependencies") != b.get("dependencies") or _configured_otherwise(case, "causal_history_size")


def _sends(*kinds: str) -> Callable[[DivergentSteps], bool]:
    """Return a function that tells whether the sides differ only in sent messages, of exactly these kinds.

    The kinds are ``copies`` (resends and responses) and ``syncs`` (sync messages that no command requested).
    """

    def kind(case: DivergentSteps, name: str) -> str:
        if name.startswith(f"{case.participant}/sync"):
            return "syncs"
        return "others" if "/sync" in name or "/ephemeral" in name else "copies"

    return lambda case: (
        case.differs_only_in("broadcasts") and {kind(case, n) for n in case.unlike("broadcasts")} == set(kinds)
    )


def _ties(case: DivergentSteps) -> bool:
    if not case.differs_only_in("log", "wire") or not _other_ids(case):
        return False
    if "wire" not in case.fields:
        return True
    # Several messages have the same timestamp, so the newest message of a causal history may differ between the sides.
    newest = _newest(case)
    return len(newest) == 2 and newest[0] == newest[1] and None not in newest[0]


def _other_steps(case: DivergentSteps) -> bool:
    """Do both sides have the same messages and states, with different Lamport timestamps only?"""
    timestamps = _timestamps(case) if case.differs_only_in("lamport", "wire") else []
    return len(timestamps) == 2 and [what for what, _, _ in timestamps[0]] == [what for what, _, _ in timestamps[1]]


def _first_timestamps(case: DivergentSteps) -> bool:
    """Does the specification allow both timestamps wherever the sides differ?"""
    return _other_steps(case) and all(a == b or (a[2] and b[2]) for a, b in zip(*_timestamps(case), strict=True))


def _swept_syncs(case: DivergentSteps) -> bool:
    """Did a sync message wait at the participant? No signal shows when such a message enters the log."""
    if not case.differs_only_in("log", "incoming", "lamport", "wire", "missing"):
        return False
    return any(
        received.kind is Kind.SYNC and received.unmet and received.step.index <= act.step.index
        for _, act in case.played()
        for view in channel_views(act.trace)
        if view.party.name == case.participant
        for received in view.received
    )


def _in_another_order(case: DivergentSteps) -> bool:
    """Does the step receive a message of an earlier step that sent the same messages in another order on each side?

    The network delays or loses a message by its number among the messages of its sender, so the order has an effect.
    """
    names = [Names(side.group_trace) for side in case.sides]
    at = next((side.row["step"] for side in case.sides if side.row is not None), 0)
    moved: tuple[set[int], set[int]] = (set(), set())
    for acts in zip(*(side.compared[: max(0, at - 1)] for side in case.sides), strict=False):
        sent = [[called.name_message(m) for m in act.step.messages] for called, act in zip(names, acts, strict=True)]
        if sent[0] != sent[1] and sorted(sent[0]) == sorted(sent[1]):
            for numbers, act in zip(moved, acts, strict=True):
                numbers.add(act.number)
    return any(
        side.act is not None and side.act.packet is not None and side.act.packet.act in numbers
        for side, numbers in zip(case.sides, moved, strict=True)
    )


FREEDOMS: tuple[Freedom, ...] = (
    Freedom("other-signals", "a signal that only one of the two implementations declares", one_declares(_SIGNALS)),
    Freedom("undeclared", "a capability that only one of the two implementations declares", left_out),
    Freedom(
        "filters",
        "the content of a filter, its false positives, and the number of filters that acknowledge a message",
        differ_only_in("acknowledged", "possibly_acknowledged", "outgoing"),
    ),
    Freedom("histories", "how many messages a causal history names, and in which order", _histories),
    Freedom(
        "copies",
        "when a message is sent again, because it is unacknowledged or because it is requested",
        _sends("copies"),
    ),
    Freedom("syncs", "when automatic sync messages are sent", _sends("syncs")),
    Freedom(
        "copies-and-syncs",
        "when automatic sync messages are sent, and when a message is resent",
        _sends("copies", "syncs"),
    ),
    Freedom("number-of-copies", "how often a message is sent again", _sends()),
    Freedom(
        "repair-requests",
        "the requested messages, their number and their times, by a hash that the specification does not name",
        differ_only_in("repair_requests", "repairs"),
    ),
    Freedom(
        "sweeps",
        "whether ready messages are delivered immediately or by a sweep",
        differ_only_in("delivered", "missing", "acknowledged", "repairs", at=("receive", "tick")),
    ),
    Freedom(
        "buffered-syncs",
        "whether a sync message waits in the incoming buffer",
        differ_only_in("incoming", at=("observe",)),
    ),
    Freedom(
        "giving-up",
        "how messages with lost dependencies are treated",
        differ_only_in("lost", "delivered", "incoming", "missing"),
    ),
    Freedom("ties", "message IDs, by which messages with equal timestamps are ordered", _ties),
    Freedom(
        "first-timestamps",
        "the initial Lamport timestamp of a channel: when the participant reads the clock, and whether it adds one",
        _first_timestamps,
    ),
    Freedom(
        "odd-messages",
        "how messages are treated that no conforming participant sends",
        lambda case: (
            case.command == "receive" and (case.value_of("message").startswith("=") or not case.value_of("message"))
        ),
    ),
    Freedom(
        "ephemerals",
        "how an ephemeral message is treated",
        lambda case: (
            case.command == "receive" and "/ephemeral" in case.value_of("message") and "log" not in case.fields
        ),
    ),
    Freedom(
        "fetched",
        "which messages a causal history named, and therefore which messages are fetched",
        lambda case: any(act.source == "store" for _, act in case.played()),
    ),
    Freedom(
        "order-of-broadcasts",
        "in which order one step sends several messages, of one channel or of several",
        _in_another_order,
    ),
    Freedom("calm", "how long a calm phase takes until nothing more happens", calm),
)
"""The permitted differences, in the order in which they are tried."""

_OF_SDS_ALONE = ("repair-requests", "buffered-syncs", "first-timestamps")
FREEDOMS_OF_THE_PROPOSAL: tuple[Freedom, ...] = (
    *(freedom for freedom in FREEDOMS if freedom.name not in _OF_SDS_ALONE),
    Freedom("steps-of-timestamps", "by how much a Lamport timestamp increases", _other_steps),
    Freedom("swept-syncs", "whether a sync message that has waited is logged immediately or by a sweep", _swept_syncs),
)
"""The permitted differences of the proposal of 2024, in the order in which they are tried."""
