"""Permitted differences of the ClearSkies database extension: choices that its specification leaves open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.clubs import READ_WRITE
from sds_harness.clearskies.names import REQUEST
from sds_harness.clearskies.operations import Reopen
from sds_harness.clearskies.rows import ClearSkiesRowReader
from sds_harness.schedules import Act

from ..freedoms import DivergentSide, DivergentSteps, Freedom, calm, differ_only_in, left_out, one_declares
from .conflict_freedoms import in_conflict, only_one_counts_hops, only_one_refuses_taken_key
from .divergent_steps import (
    DATABASE_COLUMNS,
    STEP_COLUMNS,
    acts_before,
    find_extra_entries,
    link_number,
    link_of,
    view_of,
)
from .moments import is_in_another_order, is_in_other_pieces, is_sent_later
from .view.facts import LinkView
from .view.knowledge import find_excuse, find_prohibition
from .view.peer_view import PeerView

_COLUMNS_OF_SENT = frozenset({"updates", "times", "since", "signed"})
"""The columns that differ as a consequence of `sent`."""
_SIGNALS: dict[str, int] = {"changed": pb.CAPABILITY_CHANGED, "conflicts": pb.CAPABILITY_CONFLICT}


def find_dependent_columns(fields: frozenset[str], command: str) -> frozenset[str]:
    """The columns whose differences at a command follow from differences in other columns."""
    out: frozenset[str] = frozenset()
    if "sent" in fields:
        out |= _COLUMNS_OF_SENT
    if fields & STEP_COLUMNS:
        out |= DATABASE_COLUMNS | {"closed"}
    return out


# ---- Signatures and requests -----------------------------------------------------------------------------------------


def _extra_entries_with_links(
    case: DivergentSteps, field: str
) -> Iterator[tuple[DivergentSide, str, PeerView | None, LinkView | None]]:
    """Yield the entries of a column that only one side has: side, entry, view of the participant, and link."""
    for side, _, more in find_extra_entries(case, field):
        view = view_of(side, case.participant)
        for entry in more:
            yield side, entry, view, link_of(view, link_number(entry)) if view is not None else None


def _signs_unnecessarily(case: DivergentSteps) -> bool:
    """Do the sides differ only in signatures of requests and of messages between read-write peers?"""
    return case.differs_only_in("signed") and all(
        view is not None
        and link is not None
        and (entry.endswith(f" {REQUEST}") or link.level is view.level is READ_WRITE)
        for _, entry, view, link in _extra_entries_with_links(case, "signed")
    )


def _sends_unasked(case: DivergentSteps) -> bool:
    """Return whether only one side sends updates on links whose other end has requested none."""
    extras = list(_extra_entries_with_links(case, "sent")) if case.differs_only_in("sent") else []
    return bool(extras) and all(
        link is not None
        and side.act is not None
        and not entry.endswith(f" {REQUEST}")
        and (link.subscribed_at is None or link.subscribed_at >= side.act.step.index)
        for side, entry, _, link in extras
    )


def _sends_back(case: DivergentSteps) -> bool:
    """Does only one side send updates back on the link on which they arrived?"""
    extras = list(find_extra_entries(case, "sent")) if case.differs_only_in("sent") else []
    return bool(extras) and all(
        _find_arrived_messages(side, case.participant).issuperset(more) for side, _, more in extras
    )


def _find_arrived_messages(side: DivergentSide, who: str) -> set[str]:
    """The messages that arrived at a participant up to the differing step, as entries of `sent`."""
    facts = ClearSkiesRowReader(side.group_trace)
    return {
        f"{facts.normative_columns(act.step, act.trace)['link']} {facts.names.name_message(message)}"
        for act in acts_before(side, including=True)
        if act.who == who and act.step.command == "receive"
        for message in act.trace.into(act.step)
    }


def _scans_records(case: DivergentSteps) -> bool:
    """Did the side that names the lower revision receive a higher revision? Its record may have been overwritten."""
    if not case.differs_only_in("since", "known"):
        return False
    asked: list[dict[str, int]] = []
    received: list[dict[str, int]] = []
    for side, act in case.played():
        names = ClearSkiesRowReader(side.group_trace).names
        known = [message.body.members.get("since") for message in act.trace.out(act.step)]
        known += [act.step.state.known.since] if act.step.state is not None else []
        asked.append({})
        received.append({})
        for revisions, found in (
            (asked[-1], pair) for each in known if isinstance(each, Mapping) for pair in each.items()
        ):
            _raise_revision(revisions, names.name_of(found[0]), names.revision(*found))
        for earlier in acts_before(side, including=True):
            for message in earlier.trace.into(earlier.step) if earlier.who == case.participant else ():
                by = message.body.members.get("last_updated_by")
                _raise_revision(
                    received[-1], names.name_of(by), names.revision(by, message.body.members.get("last_updated_rev"))
                )
    unlike = {who for each in asked for who in each if len({known.get(who, 0) for known in asked}) > 1}
    lower = {who: min((0, 1), key=lambda place: asked[place].get(who, 0)) for who in unlike}
    return (
        bool(lower)
        and len(asked) == 2
        and all(asked[n].get(who, 0) < received[n].get(who, 0) for who, n in lower.items())
    )


def _raise_revision(known: dict[str, int], who: str, revision: int | str) -> None:
    if isinstance(revision, int):
        known[who] = max(revision, known.get(who, 0))


# ---- What arrives ----------------------------------------------------------------------------------------------------


def _is_from_scripted_peer(side: DivergentSide, act: Act) -> bool:
    """Did a scripted peer send the arriving message?"""
    return act.packet is not None and act.packet.sender not in side.group_trace.schedule.names


def _has_refusable_message(case: DivergentSteps) -> bool:
    """Has a message arrived on the link that may or must be refused?"""
    for side, act in case.played():
        view = view_of(side, case.participant)
        link = link_of(view, act.step.link) if view is not None and act.step.command == "receive" else None
        if view is None or link is None:
            continue
        arrived = [update for update in link.received if update.step.index <= act.step.index]
        foreign = any(not message.type.startswith("database.") for message in act.trace.into(act.step))
        if link.in_doubt(act.step) or (foreign and _is_from_scripted_peer(side, act)):
            return True
        if any(find_prohibition(view.level, link, u) or find_excuse(act.trace.declaration, u) for u in arrived):
            return True
    return False


def _numbers_from_another_start(case: DivergentSteps) -> bool:
    """Do the first revisions of a participant differ between the sides, and did a scripted peer send the message?"""
    firsts = [ClearSkiesRowReader(side.group_trace).names.first for side in case.sides]
    counted = any(firsts[1].get(name, first) != first for name, first in firsts[0].items())
    return counted and any(_is_from_scripted_peer(side, act) for side, act in case.played())


def _only_one_keeps_store(case: DivergentSteps) -> bool:
    """Is a participant reopened that declares the capability ``STORE`` on one side only?"""
    operations = case.a.group_trace.schedule.operations
    reopened = {op.who for index, op in enumerate(operations) if isinstance(op, Reopen)}
    return any(case.a.can(who, pb.CAPABILITY_STORE) != case.b.can(who, pb.CAPABILITY_STORE) for who in reopened)


FREEDOMS: tuple[Freedom, ...] = (
    Freedom("other-signals", "a signal that only one of the two implementations declares", one_declares(_SIGNALS)),
    Freedom("undeclared", "a capability that only one of the two implementations declares", left_out),
    Freedom("signatures", "whether messages between read-write peers are signed", _signs_unnecessarily),
    Freedom("update-times", "how precise an update_time is, and how it advances", differ_only_in("times")),
    Freedom("known-revisions", "whether known revisions are found by a scan of the present records", _scans_records),
    Freedom("unasked", "whether updates are sent on a link before the other end requests them", _sends_unasked),
    Freedom("echoes", "whether an update is sent back to its sender", _sends_back),
    Freedom(
        "conflicts",
        "how a conflict is resolved, which peer writes the resolution as a change, "
        "and what happens to the record that loses its key",
        in_conflict,
    ),
    Freedom(
        "keys-that-are-taken",
        "whether giving a record the key of another record is refused or causes a conflict",
        only_one_refuses_taken_key,
    ),
    Freedom("hops", "whether the vector clocks of records count sending and receiving", only_one_counts_hops),
    Freedom("first-revisions", "the revision of the first change", _numbers_from_another_start),
    Freedom(
        "odd-messages",
        "how a peer handles messages that it may refuse, and the links on which they arrive",
        _has_refusable_message,
    ),
    Freedom("moments", "when messages are sent and processed", is_sent_later),
    Freedom("order-of-updates", "the order of updates of different writers", is_in_another_order),
    Freedom("pieces", "the pieces in which a stream is written, and additional messages in it", is_in_other_pieces),
    Freedom("stores", "whether records are kept when a participant is opened again", _only_one_keeps_store),
    Freedom("calm", "how long it takes until all participants have sent everything", calm),
)
"""The permitted differences, in the order in which they are tried."""
