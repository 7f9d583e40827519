"""What the text leaves open, as reasons why two conforming implementations may go different ways.

They are asked only where no check finds a violation on either side. A difference that none of them covers is called
unexplained, and somebody has to look at it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from sds_harness.corpus.rebuilding import Rebuilt
from sds_harness.corpus.schema import COMPARED_NAMES
from sds_harness.sds.naming import Names
from sds_harness.sds.operations import Calm
from sds_harness.sds.performance import Act
from sds_harness.stage import NEEDS
from sds_harness.trace import Party
from sds_proto.testee.v1 import testee_pb2 as pb

from ...corpus.ranges import END, Divergence
from ...exploration.judging import Assessment
from ...judging.verdict import Verdict
from .view.channel_view import channel_views

_OF_A_BROADCAST = frozenset({"message", "lamport", "channel", "wire", "repair_requests"})
"""What differs along with `broadcasts`."""
_SIGNALS: dict[str, int] = {
    "delivered": pb.CAPABILITY_DELIVERED,
    "acknowledged": pb.CAPABILITY_ACKNOWLEDGED,
    "possibly_acknowledged": pb.CAPABILITY_POSSIBLY_ACKNOWLEDGED,
    "missing": pb.CAPABILITY_MISSING,
    "lost": pb.CAPABILITY_LOST,
}


@dataclass(frozen=True)
class Side:
    """One side of a divergence: what was played, and what is to be said of it."""

    rebuilt: Rebuilt
    assessment: Assessment

    @property
    def party(self) -> dict[str, Party]:
        return self.rebuilt.performance.parties

    def can(self, who: str, capability: int) -> bool:
        trace = self.rebuilt.performance.cast.get(who)
        return trace is None or trace.declaration.can(capability)


@dataclass(frozen=True)
class Case:
    """A divergence with both of its sides."""

    divergence: Divergence
    a: Side
    b: Side

    @cached_property
    def fields(self) -> frozenset[str]:
        """The fields that differ, without those that differ because others do."""
        fields = set(self.divergence.fields)
        if "broadcasts" in fields:
            fields -= _OF_A_BROADCAST
        if "delivered" in fields:
            fields -= {"contents"}
            if self.command == "tick":  # what a sweep delivers is in the history of what is sent in the same step
                fields -= {"wire"}
        return frozenset(fields)

    @property
    def command(self) -> str:
        return str(self.divergence.row.get("command", ""))

    @property
    def who(self) -> str:
        return str(self.divergence.row.get("participant", ""))

    @property
    def message(self) -> str:
        return str(self.divergence.row.get("message", ""))

    def only(self, *fields: str) -> bool:
        """Is there no other field that differs?"""
        return bool(self.fields) and self.fields <= set(fields)

    def unlike(self, field: str) -> set[str]:
        """The names that only one side has in a field."""
        row_a, row_b = self.divergence.a or {}, self.divergence.b or {}
        return set(row_a.get(field, ())) ^ set(row_b.get(field, ()))

    def configured_otherwise(self, *names: str) -> bool:
        """Is one of these values not the same in force on both sides?"""
        mine, theirs = self.a.party.get(self.who), self.b.party.get(self.who)
        if mine is None or theirs is None:
            return False
        return any(_value(mine, name) != _value(theirs, name) for name in names)

    def played(self) -> list[tuple[Side, Act]]:
        """The step that differs, as an act of each side that has it."""
        sides = ((self.a, self.divergence.a), (self.b, self.divergence.b))
        steps = [(side, row["step"]) for side, row in sides if row is not None and row["step"]]
        return [(side, act) for side, step in steps for act in side.rebuilt.compared[step - 1 : step]]

    def in_operation(self, kind: type) -> bool:
        """Does the step belong to such an operation, on one of the sides?"""
        operations = self.a.rebuilt.performance.schedule.operations
        return any(act.operation >= 0 and isinstance(operations[act.operation], kind) for _, act in self.played())

    def other_ids(self) -> bool:
        """Do the implementations give other message IDs?"""
        ids = []
        for side in (self.a, self.b):
            packets = side.rebuilt.performance.packets
            ids.append({p.label: p.wire.message.message_id for p in packets if p.label and p.act and p.wire.message})
        return any(ids[1].get(label, found) != found for label, found in ids[0].items())

    def timestamps(self) -> list[list[tuple[list[str | int], int, bool]]]:
        """What the step tells of the participant's Lamport timestamp, on each side: in which message or state, how many
        milliseconds after the start, and whether it is one of several that the text allows."""
        out = []
        for side, act in self.played():
            names = Names(side.rebuilt.performance)
            told: list[tuple[list[str | int], int, bool]] = []
            for view in (view for view in channel_views(act.trace) if view.party.name == self.who):
                for sent in (sent for sent in (*view.sent, *view.syncs) if sent.step is act.step):
                    seen, e = sent.message.lamport_timestamp or 0, sent.lamport
                    told.append((names.told(sent.message, 0), seen, e.low < e.high and e.low <= seen <= e.high))
                for shown in (shown for shown in view.observed if shown.step is act.step):
                    seen, e = shown.state.lamport_timestamp, shown.lamport
                    told.append(([view.channel_id], seen, e.low < e.high and e.previous <= seen <= e.high))
            out.append(sorted((what, seen - act.trace.start_ms, is_open) for what, seen, is_open in told))
        return out

    def newest(self) -> list[list[int | None]]:
        """The Lamport timestamps of the newest messages in the causal histories that the step sends, on each side."""
        out = []
        for side, act in self.played():
            names = Names(side.rebuilt.performance)
            sent = (wire.message for wire in act.step.broadcasts)
            out.append([names.newest_lamport(message) for message in sent if message and message.causal_history])
        return out

    def heard_before(self, names: set[str]) -> bool:
        """Are these messages that were sent before, so that what is sent now are copies?"""
        return all("/sync" not in name and "/ephemeral" not in name for name in names)


@dataclass(frozen=True)
class Freedom:
    """Something that the text leaves open."""

    name: str
    words: str
    """What is open."""
    positions: tuple[str, ...]
    """The positions that say so."""
    covers: Callable[[Case], bool]


def _value(party: Party, name: str) -> object:
    return getattr(party.in_force, name) if party.in_force.HasField(name) else None


def _undeclared(case: Case) -> bool:
    """All fields are signals, and each of them only one side can give."""
    kinds = [_SIGNALS.get(field) for field in case.fields]
    return bool(kinds) and all(
        kind is not None and case.a.can(case.who, kind) != case.b.can(case.who, kind) for kind in kinds
    )


def _left_out(case: Case) -> bool:
    """The operation needs a capability that only one side declares, so that only one side plays it."""
    left_out = [side.rebuilt.performance.left_out for side in (case.a, case.b)]
    return any(
        (act.operation in left_out[0]) != (act.operation in left_out[1])
        and NEEDS in "".join(known.get(act.operation, "") for known in left_out)
        for _, act in case.played()
    )


def _filters(case: Case) -> bool:
    return case.only("acknowledged", "possibly_acknowledged", "outgoing")


def _histories(case: Case) -> bool:
    if not case.only(
        "acknowledged", "possibly_acknowledged", "outgoing", "missing", "delivered", "incoming", "repairs"
    ):
        return False
    a, b = case.divergence.a or {}, case.divergence.b or {}
    return a.get("dependencies") != b.get("dependencies") or case.configured_otherwise("causal_history_size")


def _copies(case: Case) -> bool:
    return case.only("broadcasts") and bool(case.unlike("broadcasts")) and case.heard_before(case.unlike("broadcasts"))


def _syncs(case: Case) -> bool:
    own = f"{case.who}/sync"
    return (
        case.only("broadcasts")
        and bool(case.unlike("broadcasts"))
        and all(name.startswith(own) for name in case.unlike("broadcasts"))
    )


def _copies_and_syncs(case: Case) -> bool:
    own, unlike = f"{case.who}/sync", case.unlike("broadcasts")
    rest = {name for name in unlike if not name.startswith(own)}
    return case.only("broadcasts") and bool(rest) and rest < unlike and case.heard_before(rest)


def _how_many_copies(case: Case) -> bool:
    return case.only("broadcasts") and not case.unlike("broadcasts")


def _requests(case: Case) -> bool:
    return case.only("repair_requests", "repairs")


def _sweeps(case: Case) -> bool:
    return case.command in ("receive", "tick") and case.only("delivered", "missing", "acknowledged", "repairs")


def _lost(case: Case) -> bool:
    return case.only("lost", "delivered", "incoming", "missing")


def _buffered(case: Case) -> bool:
    return case.command == "observe" and case.only("incoming")


def _ties(case: Case) -> bool:
    if not case.only("log", "wire") or not case.other_ids():
        return False
    if "wire" not in case.fields:
        return True
    # The newest of several messages of the same time is another one.
    newest = case.newest()
    return len(newest) == 2 and newest[0] == newest[1] and None not in newest[0]


def _first_timestamps(case: Case) -> bool:
    told = case.timestamps() if case.only("lamport", "wire") else []
    if len(told) != 2 or [what for what, _, _ in told[0]] != [what for what, _, _ in told[1]]:
        return False
    pairs = zip(*told, strict=True)
    return all(one == other or (one[2] and other[2]) for one, other in pairs)


def _odd(case: Case) -> bool:
    return case.command == "receive" and (case.message.startswith("=") or not case.message)


def _ephemeral(case: Case) -> bool:
    return case.command == "receive" and "/ephemeral" in case.message and "log" not in case.fields


def _fetched(case: Case) -> bool:
    return any(act.source == "store" for _, act in case.played())


def _calm(case: Case) -> bool:
    moved = {"command", "participant", "at_ms", END} & case.fields
    return bool(moved) and case.in_operation(Calm)


FREEDOMS: tuple[Freedom, ...] = (
    Freedom("other-signals", "a signal that only one of them declares", (), _undeclared),
    Freedom("undeclared", "a capability that only one of them declares", (), _left_out),
    Freedom(
        "filters",
        "what a filter holds, how often it errs, and how many of them make a message acknowledged",
        ("AMB-19", "AMB-36", "AMB-54", "AMB-55", "AMB-56", "AMB-57", "AMB-23"),
        _filters,
    ),
    Freedom(
        "histories",
        "how many messages a causal history names, and in which order",
        ("AMB-28", "AMB-29"),
        _histories,
    ),
    Freedom(
        "copies",
        "when a message is sent again, for want of an acknowledgement or because somebody asks for it",
        ("AMB-63", "AMB-64", "AMB-66", "AMB-80", "AMB-113", "AMB-120"),
        _copies,
    ),
    Freedom("syncs", "when sync messages are sent of one's own accord", ("AMB-102", "AMB-103"), _syncs),
    Freedom(
        "copies-and-syncs",
        "when sync messages are sent of one's own accord, and when a message is sent again",
        ("AMB-63", "AMB-64", "AMB-66", "AMB-80", "AMB-102", "AMB-103", "AMB-113", "AMB-120"),
        _copies_and_syncs,
    ),
    Freedom("number-of-copies", "how often a message is sent again", ("AMB-64", "AMB-120"), _how_many_copies),
    Freedom(
        "repair-requests",
        "what is asked for, how much at a time, and when, with a hash that the text does not name",
        ("AMB-01", "AMB-68", "AMB-81", "AMB-82", "AMB-85", "AMB-86"),
        _requests,
    ),
    Freedom("sweeps", "whether what becomes ready is delivered at once or by a sweep", ("AMB-94", "AMB-95"), _sweeps),
    Freedom("buffered-syncs", "whether a sync message waits in the incoming buffer", ("AMB-42",), _buffered),
    Freedom("giving-up", "what becomes of messages whose dependencies are lost", ("AMB-92", "AMB-108"), _lost),
    Freedom("ties", "message IDs, by which messages with equal timestamps are ordered", ("AMB-C11",), _ties),
    Freedom(
        "first-timestamps",
        "which time of its own a participant starts to count from in a channel, and whether with the one after it",
        ("AMB-12", "AMB-111"),
        _first_timestamps,
    ),
    Freedom(
        "odd-messages",
        "what becomes of messages that no conforming participant sends",
        ("AMB-46", "AMB-47", "AMB-48", "AMB-50", "AMB-52", "AMB-107"),
        _odd,
    ),
    Freedom("ephemerals", "what is made of an ephemeral message", ("AMB-31", "AMB-37", "AMB-38"), _ephemeral),
    Freedom("fetched", "which messages a causal history told of, and with it what is fetched", ("AMB-29",), _fetched),
    Freedom("calm", "how long it takes until nothing happens any more", ("AMB-63",), _calm),
)
"""Asked in this order."""


def freedoms_of(case: Case) -> tuple[Freedom, ...]:
    """The first freedom that covers a difference, or those that cover its fields one by one, for two may be used in
    the same step; none if something is left over."""
    whole = next((freedom for freedom in FREEDOMS if freedom.covers(case)), None)
    if whole is not None:
        return (whole,)
    out = []
    for name in COMPARED_NAMES:
        if name in case.fields:
            part = replace(case, divergence=replace(case.divergence, fields=(name,)))
            covering = next((freedom for freedom in FREEDOMS if freedom.covers(part)), None)
            if covering is None:
                return ()
            out.append(covering)
    return tuple(dict.fromkeys(out))


def softened(case: Case) -> tuple[str, str] | None:
    """A warning on one side that the other does not have: what was found, and which position softens it."""
    for side, other in ((case.a, case.b), (case.b, case.a)):
        known = {finding.requirement for finding in other.assessment.findings}
        for finding in side.assessment.findings:
            if finding.severity is Verdict.WARN and finding.requirement not in known:
                return finding.requirement, finding.position
    return None
