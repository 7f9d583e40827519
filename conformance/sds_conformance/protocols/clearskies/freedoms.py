"""Permitted differences of the ClearSkies database extension: choices that its specification leaves open.

Messages may differ in their times, order and pieces. One side may send an update later than the other side, if the
updates of each writer keep their order (CA-14), and if the participant sends the update by its next quiet step (see
`PeerView.quiet`).

"Applications need to decide what the most appropriate way to resolve the conflict is" permits differences only on
records in conflict. All other records must be equal in both traces.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.clubs import READ_WRITE
from sds_harness.clearskies.frames import GET_UPDATES, UPDATE
from sds_harness.clearskies.names import REQUEST, Names
from sds_harness.clearskies.operations import Reopen
from sds_harness.clearskies.rows import ClearSkiesRowReader
from sds_harness.corpus.schema import Row
from sds_harness.schedules import Act

from ..freedoms import END, DivergentSide, DivergentSteps, Freedom, calm, differ_only_in, left_out, one_declares
from .properties.club_view import ClubView
from .view.facts import COMMANDS, LinkView, keys_in_command
from .view.knowledge import find_excuse, find_prohibition
from .view.peer_view import PeerView, peer_views

STEP_COLUMNS = frozenset({"participant", "command", "link", "at_ms", "answer", "arrives", END})
"""The columns that differ when the sides take different steps."""
DATABASE_COLUMNS = frozenset(
    {"record", "sent", "updates", "times", "since", "signed", "changed", "conflicts", "records", "deleted", "known"}
)
"""The columns that show the content of a database."""
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


# ---- Sides of a divergence -------------------------------------------------------------------------------------------


def view_of(side: DivergentSide, who: str) -> PeerView | None:
    """The view of a participant; None if no participant of that name was opened."""
    trace = side.group_trace.cast.get(who)
    return next((view for view in peer_views(trace) if view.party.name == who), None) if trace is not None else None


def link_of(view: PeerView, number: int) -> LinkView | None:
    """The link with that number; None if there is none, because a step can write to a link that does not exist."""
    return next((link for link in view.links if link.number == number), None)


def link_number(entry: str) -> int:
    """The number of the link in an entry of `sent` or `signed`."""
    return int(entry.rsplit(" ", 1)[0].rsplit("/", 1)[1])


def find_extra_entries(case: DivergentSteps, field: str) -> Iterator[tuple[DivergentSide, DivergentSide, list[str]]]:
    """Yield each side that has entries in a column that the other side lacks: the side, the other side, and these
    entries.
    """
    counts = [Counter((side.row or {}).get(field, ())) for side in case.sides]
    for mine, others in ((0, 1), (1, 0)):
        if more := list((counts[mine] - counts[others]).elements()):
            yield case.sides[mine], case.sides[others], more


def acts_before(side: DivergentSide, *, including: bool = False) -> list[Act]:
    """The compared steps of a side before the step that differs; with ``including``, that step as well."""
    at = side.row["step"] if side.row is not None else len(side.compared) + 1
    return list(side.compared[: at if including else at - 1])


def acts_from_difference(side: DivergentSide) -> list[Act]:
    """The compared steps of a side from the step that differs on."""
    return list(side.compared[len(acts_before(side)) :])


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
        pairs = (pair for each in known if isinstance(each, Mapping) for pair in each.items())
        asked.append(_find_highest_revisions(names, pairs))
        earlier = (each for each in acts_before(side, including=True) if each.who == case.participant)
        came = (message.body.members for each in earlier for message in each.trace.into(each.step))
        versions = ((members.get("last_updated_by"), members.get("last_updated_rev")) for members in came)
        received.append(_find_highest_revisions(names, versions))
    unlike = {who for each in asked for who in each if len({known.get(who, 0) for known in asked}) > 1}
    lower = {who: min((0, 1), key=lambda place: asked[place].get(who, 0)) for who in unlike}
    return (
        bool(lower)
        and len(asked) == 2
        and all(asked[n].get(who, 0) < received[n].get(who, 0) for who, n in lower.items())
    )


def _find_highest_revisions(names: Names, versions: Iterable[tuple[Any, Any]]) -> dict[str, int]:
    """By name of the writer: the highest revision among pairs of writer and revision."""
    out: dict[str, int] = {}
    for by, rev in versions:
        number = names.revision(by, rev)
        if isinstance(number, int):
            out[names.name_of(by)] = max(number, out.get(names.name_of(by), 0))
    return out


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


# ---- Records in conflict ---------------------------------------------------------------------------------------------


def in_conflict(case: DivergentSteps) -> bool:
    """Were two records, or two versions of one, in conflict at the participant, and do the sides agree on all other
    records?

    A record in conflict may be missing on one side, so the participant of that side refuses changes of the record. A
    participant that resolves a conflict may use one of its revisions for the result.
    """
    views = [(side, view_of(side, case.participant), act) for side, act in case.played()]
    those = [(ClearSkiesRowReader(side.group_trace), side, view, act) for side, view, act in views if view is not None]
    # Compare by key: uuids are random, and a record in conflict on one side need not be in conflict on the other.
    records = {facts.names.record(uuid) for facts, _, view, act in those for uuid in view.contested(act.step)}
    if len(those) != len(case.sides) or not records:
        return False
    if case.differs_only_in("answer") and case.command in COMMANDS:
        keys = {key for facts, _, view, act in those for key in _find_keys(facts, view, act, records)}
        return bool(keys & keys_in_command(those[0][3].step))
    if not case.fields <= DATABASE_COLUMNS:
        return False
    one, other = (_values_without_conflicts(facts, side, act, records) for facts, side, _, act in those)
    return one == other


def _find_keys(facts: ClearSkiesRowReader, view: PeerView, act: Act, records: set[str]) -> set[str]:
    name = facts.names.record
    sent_keys = (
        u.key for u in (*view.sent, *view.received) if u.step.index <= act.step.index and name(u.uuid) in records
    )
    changed = (key for c in view.changes if name(c.uuid) in records for key in (c.key, c.old_key))
    return {key for key in (*sent_keys, *changed) if key is not None}


def _values_without_conflicts(
    facts: ClearSkiesRowReader, side: DivergentSide, act: Act, records: set[str]
) -> dict[str, Any]:
    """The values of a step, without those of records in conflict and of records that a resolution created.

    Revisions and versions of peers that may have resolved a conflict are left out, because a resolution may use a
    revision.
    """
    names, step = facts.names, act.step

    def is_excluded(uuid: object) -> bool:
        # A version that no application wrote was written by a resolution.
        name = names.record(uuid)
        return name in records or "/record" in name

    updates = [message for message in act.trace.out(step) if message.type == UPDATE]
    since = [message.body.members.get("since") for message in act.trace.out(step) if message.type == GET_UPDATES]
    counting = _find_possible_resolvers(side)
    known = [step.state.known.since] if step.state is not None else []
    shown = [record for record in step.state.records if not is_excluded(record.uuid)] if step.state is not None else []
    return {
        "record": "" if is_excluded(step.uuid) else names.record(step.uuid),
        "sent": sorted(
            json.dumps([message.link, *facts.content_of(message)[1:]])
            for message in updates
            if not is_excluded(message.body.members.get("uuid"))
        ),
        "changed": sorted(
            names.record(each.record.uuid) for each in step.signals("changed") if not is_excluded(each.record.uuid)
        ),
        "conflicts": sorted(
            f"{names.record(each.uuid)} {names.record(each.incoming_uuid)}"
            for each in step.signals("conflict")
            if not (is_excluded(each.uuid) or is_excluded(each.incoming_uuid))
        ),
        "shown": sorted(
            json.dumps([names.record(each.uuid), each.deleted, *([] if each.deleted else [each.key, each.value])])
            for each in shown
        ),
        "known": [
            [pair for pair in names.format_since(each) if pair[0] not in counting]
            for each in (*since, *known)
            if hasattr(each, "keys")
        ],
    }


def _find_possible_resolvers(side: DivergentSide) -> set[str]:
    """The participants that may have resolved a conflict up to the differing step."""
    out = set()
    for name in side.group_trace.schedule.names:
        last = next((act for act in reversed(acts_before(side, including=True)) if act.who == name), None)
        view = view_of(side, name)
        if last is not None and view is not None and view.in_conflict(last.step):
            out.add(name)
    return out


def only_one_refuses_taken_key(case: DivergentSteps) -> bool:
    """Does only one side refuse to give a record a key that another record has or had?"""
    if not (case.differs_only_in("answer") and case.command == "rename"):
        return False
    for side, act in case.played():
        view, key = view_of(side, case.participant), act.step.request.rename.new_key
        if act.step.answer != "rejected" or view is None:
            continue
        seen = any(u.key == key and u.step.index < act.step.index for u in (*view.sent, *view.received))
        written = any(
            key in (step.request.put.key, step.request.rename.new_key)
            for step in view.steps
            if step.index < act.step.index and step.command in ("put", "rename")
        )
        return seen or written
    return False


def only_one_counts_hops(case: DivergentSteps) -> bool:
    """Do vector clocks count sending and receiving on one side only?

    If so, two changes can be concurrent on one side, and descend from each other on the other side.
    """
    if not case.fields <= DATABASE_COLUMNS or case.command != "receive":
        return False
    one, other = (ClubView(side.group_trace).shows_hops for side in case.sides)
    return one != other


# ---- Times, order and pieces of messages -----------------------------------------------------------------------------


def is_sent_later(case: DivergentSteps) -> bool:
    """Does each entry that one side lacks at this step appear on that side in a later step, by the next quiet step?

    A message may also be missing on that side if the link closes before the message is due.
    """
    if not case.differs_only_in("sent", "changed", "conflicts"):
        return False
    extras = [(field, *found) for field in sorted(case.fields) for found in find_extra_entries(case, field)]
    return bool(extras) and all(
        _comes_later(case, side, field, entry) or (field == "sent" and _closes_soon(case, side, entry))
        for field, _, side, more in extras
        for entry in more
    )


def _comes_later(case: DivergentSteps, side: DivergentSide, field: str, entry: str) -> bool:
    """Does a side send in a later step what the other side sends now, before the result must be visible?"""
    view, facts = view_of(side, case.participant), ClearSkiesRowReader(side.group_trace)
    acts = [act for act in acts_from_difference(side) if act.who == case.participant]
    if view is None or not acts:
        return False
    # A peer may process earlier arrivals now. By its next quiet step, it must have sent all results.
    due = next((index for index in view.quiet if index > acts[0].step.index), None)
    return any(
        entry in facts.normative_columns(act.step, act.trace)[field]
        for act in acts[1:]
        if due is None or act.step.index <= due
    )


def _closes_soon(case: DivergentSteps, side: DivergentSide, entry: str) -> bool:
    """Does the link or the participant close before the next tick and before the writer's next update on that link?"""
    facts, number, of = ClearSkiesRowReader(side.group_trace), link_number(entry), _writer_of_entry(entry)
    for act in acts_from_difference(side)[1:]:
        if act.who != case.participant:
            continue
        if act.step.command == "tick":
            return False
        if any(
            link_number(each) == number and _writer_of_entry(each) == of for each in facts.sent(act.step, act.trace)
        ):
            return False
        if act.step.command == "close" or (act.step.command == "disconnect" and act.step.link == number):
            return True
    return True


def _writer_of_entry(entry: str) -> str:
    """The writer whose updates an entry of `sent` contains; updates of one writer are ordered."""
    return entry.rsplit(" ", 1)[1].rpartition(":")[0]


def is_in_another_order(case: DivergentSteps) -> bool:
    """Did an earlier step write the same messages on both sides, in different orders that agree for each writer?

    The messages then arrive in different orders, so that later steps differ.
    """
    if not case.fields & STEP_COLUMNS or "answer" in case.fields:
        return False
    names = [ClearSkiesRowReader(side.group_trace).names for side in case.sides]
    moved = False
    for acts in zip(*map(acts_before, case.sides), strict=False):
        messages = [_find_written_messages(named, act) for named, act in zip(names, acts, strict=True)]
        if messages[0] != messages[1] and sorted(messages[0]) == sorted(messages[1]):
            if any(
                [e for e in messages[0] if _link_and_writer(e) == of]
                != [e for e in messages[1] if _link_and_writer(e) == of]
                for of in map(_link_and_writer, messages[0])
            ):
                return False
            moved = True
    return moved


def _find_written_messages(names: Names, act: Act) -> list[tuple[int, str]]:
    """The messages that a step writes, in order: the number of the link, and the name of the message."""
    return [(message.link, names.name_message(message)) for message in act.trace.out(act.step)]


def _link_and_writer(entry: tuple[int, str]) -> tuple[int, str]:
    """The link and the writer of an entry: updates of one writer on one link are ordered."""
    return entry[0], entry[1].rpartition(":")[0]


def is_in_other_pieces(case: DivergentSteps) -> bool:
    """Did earlier steps write the same messages in different pieces, or with additional messages of other extensions?

    The next step of each participant must be equal on both sides. Arrivals of pieces without a result are not compared.
    """
    if not case.fields & STEP_COLUMNS or "answer" in case.fields:
        return False
    if all(
        [link for link, _ in acts[0].step.sent] == [link for link, _ in acts[1].step.sent]
        for acts in zip(*map(acts_before, case.sides), strict=False)
    ):
        return False
    facts = [ClearSkiesRowReader(side.group_trace) for side in case.sides]
    return all(
        _find_next_result(case.a, facts[0], who) == _find_next_result(case.b, facts[1], who)
        for who in {act.who for _, act in case.played()}
    )


def _find_next_result(side: DivergentSide, facts: ClearSkiesRowReader, who: str) -> Row | None:
    """The next step of a participant with a result; None if there is none."""
    for act in acts_from_difference(side):
        if act.who == who:
            row = {
                "command": act.step.command,
                "answer": act.step.answer,
                **facts.normative_columns(act.step, act.trace),
            }
            if act.step.command != "receive" or any(value for name, value in row.items() if name in _RESULT_COLUMNS):
                return row
    return None


_RESULT_COLUMNS = frozenset({"arrives", "sent", "changed", "conflicts", "closed"})
"""If all of these columns are empty, the arriving bytes had no effect."""


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
