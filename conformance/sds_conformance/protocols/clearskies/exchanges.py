"""The `interop` schedules of ClearSkies: alice sends and bob must accept, or both take part in a decision.

The records of a peer are read from the wire: at the end, a scripted peer requests all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.group_trace import GroupTrace
from sds_harness.clearskies.operations import (
    Calm,
    Delete,
    Hold,
    LinkPeers,
    Look,
    Member,
    Operation,
    Put,
    Read,
    Release,
    Rename,
    Tick,
    Unlink,
    Wait,
)
from sds_harness.declaration import Declaration, printable
from sds_harness.schedules import Schedule

from ..exchanges import RECEIVER, SENDER, YES, Cell, Exchange, Exchanges, Pair, failed_cell, left_open
from .properties.club_view import ClubView
from .properties.outcomes import is_same_value
from .view.facts import RecordVersion

_AUTHOR = "anna"
"""A read-write author that runs the sender's implementation, for schedules in which the sender is read-only."""
_USUAL = "rsa-pkcs1-sha256"


MEANINGS: Mapping[str, str] = {
    "update": "the column accepts what the row writes",
    "answer": "the column requests updates, and receives what the row wrote before",
    "deletion": "the column deletes what the row deletes",
    "renaming": "the column has a record under the key that the row gives it",
    "signature": "the column, read-only, accepts the signatures of the row",
    "relay": "the column accepts what the row, read-only, relays",
    "conflict": "both end with the same version after both changed one record",
    "key": "both end with the same record after each wrote a record with the same key",
}
"""The aspects of interoperability that `interop` tests, in the order of its matrix."""


class ExchangeResult:
    """The result of one `interop` schedule: the group trace of two implementations."""

    def __init__(self, group_trace: GroupTrace, dialects: Mapping[str, Any]) -> None:
        """``dialects`` is unused: ClearSkies has no dialects."""
        self.group_trace = group_trace
        self._view = ClubView(group_trace)

    def live_records(self, who: str) -> dict[str, RecordVersion] | None:
        """The records of a member at the end that are not deleted, by key; None if the member sent no records."""
        side = self._view.histories.get(who)
        states = [shown for shown in side.view.shown_states if shown.on_the_wire] if side is not None else []
        if not states:
            return None
        live = [seen for seen in states[-1].records.values() if not seen.deleted and seen.key is not None]
        out: dict[str, RecordVersion] = {}
        for seen in live:
            known = out.get(str(seen.key))
            # A record that lost its key to a later one may still be sent.
            if known is None or known.time is None or (seen.time is not None and seen.time > known.time):
                out[str(seen.key)] = seen
        return out

    def refused(self, who: str) -> str:
        """The reason why a member refused a change or an arriving message; "" if it refused none."""
        acts = (act for act in self.group_trace.acts if act.who == who and act.step.refusal)
        return next((printable(act.step.refusal, 120) for act in acts), "")

    def left_out(self) -> str:
        """The reason why operations were not played; "" if all were played."""
        return "; ".join(dict.fromkeys(printable(reason, 160) for reason in self.group_trace.left_out.values()))


def _make_exchange(
    name: str,
    members: tuple[Member, ...],
    operations: tuple[Operation, ...],
    judge: Callable[[ExchangeResult, Pair], Cell],
    **rest: Any,
) -> Exchange:
    schedule = Schedule(members, (*operations, Calm(period_ms=1_000), Look(), Read()), (), name=f"interop-{name}")
    return Exchange(name, (schedule,), {name: judge}, translated=False, **rest)


def _judge_value(result: ExchangeResult, pair: Pair, *, key: str, value: Any, where: str = RECEIVER) -> Cell:
    """Does a participant have a value under a key at the end?"""
    if why := result.left_out():
        return left_open(why)
    if result.live_records(SENDER) is None or (there := result.live_records(where)) is None:
        return left_open("one of the two implementations does not answer a new peer's request for everything")
    if key in there and is_same_value(there[key].value, value):
        return YES
    seen = f"it shows {there[key].value!r}" if key in there else "it shows nothing under that key"
    refused = f": {why}" if (why := result.refused(where)) else ""
    return failed_cell(
        f"{pair.receiver.name} lacks {key!r}, which {pair.sender.name} sent to it; {printable(seen, 80)}{refused}"
    )


def _judge_absence(result: ExchangeResult, pair: Pair, *, key: str) -> Cell:
    """Does the receiver lack a key at the end?"""
    if why := result.left_out():
        return left_open(why)
    if (there := result.live_records(RECEIVER)) is None:
        return left_open(f"{pair.receiver.name} does not answer a new peer's request for everything")
    if key in there:
        return failed_cell(f"{pair.receiver.name} still has {key!r}, although {pair.sender.name} sent it the deletion")
    return YES


def _judge_renaming(result: ExchangeResult, pair: Pair) -> Cell:
    cell = _judge_value(result, pair, key="b", value=1)
    return cell if cell != YES else _judge_absence(result, pair, key="a")


def _judge_agreement(result: ExchangeResult, pair: Pair) -> Cell:
    """Do both participants have the later of two changes?"""
    if why := result.left_out():
        return left_open(why)
    ours, theirs = result.live_records(SENDER), result.live_records(RECEIVER)
    if ours is None or theirs is None:
        return left_open("one of the two implementations does not answer a new peer's request for everything")
    wrong = [
        side.name
        for side, there in ((pair.sender, ours), (pair.receiver, theirs))
        if "k" not in there or not is_same_value(there["k"].value, "later")
    ]
    if wrong:
        return failed_cell(
            f"{' and '.join(dict.fromkeys(wrong))} must change: the version with the largest update_time must remain"
        )
    return YES


_BOTH = (Member(SENDER), Member(RECEIVER))
_LINK = LinkPeers(SENDER, RECEIVER)
_LATER = (Wait(1_000), Tick()) * 4
"""Time and ticks for implementations that send, or process arrivals, only when they are ticked."""
_VALUE = {"camera": "NIKON", "taken": [2014, None, True, "字"]}
_TEXT = '{"camera": "NIKON", "taken": [2014, null, true, "\\u5b57"]}'

_ALL = (
    _make_exchange(
        "update", _BOTH, (_LINK, Put(SENDER, "m1", "k", _TEXT)), partial(_judge_value, key="k", value=_VALUE)
    ),
    _make_exchange(
        "answer",
        _BOTH,
        (Put(SENDER, "m1", "k", _TEXT), *_LATER, _LINK),
        partial(_judge_value, key="k", value=_VALUE),
    ),
    _make_exchange(
        "deletion",
        _BOTH,
        (_LINK, Put(SENDER, "m1", "k", "1"), *_LATER, Delete(SENDER, "m2", "k")),
        partial(_judge_absence, key="k"),
    ),
    _make_exchange(
        "renaming",
        _BOTH,
        (_LINK, Put(SENDER, "m1", "a", "1"), *_LATER, Rename(SENDER, "m2", "a", "b")),
        _judge_renaming,
        needs=lambda pair: pair.sender.describe_missing_capabilities(pb.CAPABILITY_RENAME),
    ),
    _make_exchange(
        "signature",
        (Member(SENDER), Member(RECEIVER, read_only=True)),
        (_LINK, Put(SENDER, "m1", "k", _TEXT)),
        partial(_judge_value, key="k", value=_VALUE),
        needs=lambda pair: pair.receiver.describe_missing_capabilities(pb.CAPABILITY_READ_ONLY),
    ),
    _make_exchange(
        "relay",
        (Member(_AUTHOR), Member(SENDER, read_only=True), Member(RECEIVER)),
        (LinkPeers(_AUTHOR, SENDER), Put(_AUTHOR, "m1", "k", _TEXT), *_LATER, Unlink(_AUTHOR, SENDER), _LINK),
        partial(_judge_value, key="k", value=_VALUE),
        needs=lambda pair: pair.sender.describe_missing_capabilities(pb.CAPABILITY_READ_ONLY),
    ),
    _make_exchange(
        "conflict",
        _BOTH,
        (
            *(_LINK, Put(SENDER, "m1", "k", "1"), *_LATER, Hold(), Put(SENDER, "m2", "k", "2"), *_LATER),
            *(Put(RECEIVER, "m3", "k", '"later"'), *_LATER, Release()),
        ),
        _judge_agreement,
    ),
    _make_exchange(
        "key",
        _BOTH,
        (Put(RECEIVER, "m1", "k", "1"), *_LATER, Put(SENDER, "m2", "k", '"later"'), *_LATER, _LINK),
        _judge_agreement,
    ),
)


def _profile(declared: Declaration) -> str:
    return printable(declared.profile("signature") or _USUAL, 30)


def describe_declaration(declared: Declaration) -> str:
    """Describe how an implementation signs."""
    return f"signatures {_profile(declared)}"


def notes(pair: Pair) -> Iterator[str]:
    """Describe declared differences that are no fault of either side."""
    ours, theirs = _profile(pair.sender.declared), _profile(pair.receiver.declared)
    if ours != theirs:
        yield (
            f"signatures differ: {pair.sender.name} declares {ours}, {pair.receiver.name} {theirs}. "
            "The specification leaves padding and hash open, so both implementations must use the same padding and hash"
        )


EXCHANGES = Exchanges(MEANINGS, "update", _ALL, ExchangeResult, describe_declaration, ("signature",), notes)
