"""Permitted differences on records in conflict, whose resolution the specification leaves to applications.

"Applications need to decide what the most appropriate way to resolve the conflict is" permits differences only on
records in conflict. All other records must be equal in both traces.
"""

from __future__ import annotations

import json
from typing import Any

from sds_harness.clearskies.frames import GET_UPDATES, UPDATE
from sds_harness.clearskies.rows import ClearSkiesRowReader
from sds_harness.schedules import Act

from ..freedoms import DivergentSide, DivergentSteps
from .divergent_steps import DATABASE_COLUMNS, acts_before, view_of
from .properties.club_view import ClubView
from .view.facts import COMMANDS, keys_in_command
from .view.peer_view import PeerView


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
