"""What becomes of records in conflict, which the text leaves to applications (section "Conflicts").

"Applications need to decide what the most appropriate way to resolve the conflict is": of the records in conflict
alone. Whatever is said of the others has to be the same.
"""

from __future__ import annotations

import json
from typing import Any

from sds_harness.clearskies.frames import GET_UPDATES, UPDATE
from sds_harness.clearskies.rows import Facts
from sds_harness.schedules import Act

from ..freedoms import Case, Side
from .properties.club_view import ClubView
from .sides import OF_DATABASES, before, view_of
from .view.facts import COMMANDS
from .view.peer_view import PeerView


def in_conflict(case: Case) -> bool:
    """Had two records, or two versions of one, come to be in conflict at the participant, and is nothing said otherwise
    of any other record? Of those one may be there no more, and then a change of it is refused; and whoever resolves may
    count a change of its own."""
    views = [(side, view_of(side, case.who), act) for side, act in case.played()]
    those = [(Facts(side.performance), side, view, act) for side, view, act in views if view is not None]
    # By name: uuids are drawn, and what is in conflict on one side need not be so on the other.
    records = {facts.names.record(uuid) for facts, _, view, act in those for uuid in view.contested(act.step)}
    if len(those) != len(case.sides) or not records:
        return False
    if case.only("answer") and case.command in COMMANDS:
        keys = {key for facts, _, view, act in those for key in _keys(facts, view, act, records)}
        return bool(keys & _named(those[0][3]))
    if not case.fields <= OF_DATABASES:
        return False
    one, other = (_of_others(facts, side, act, records) for facts, side, _, act in those)
    return one == other


def _keys(facts: Facts, view: PeerView, act: Act, records: set[str]) -> set[str]:
    """The keys that records in conflict ever had."""
    name = facts.names.record
    told = (u.key for u in (*view.sent, *view.received) if u.step.index <= act.step.index and name(u.uuid) in records)
    changed = (key for c in view.changes if name(c.uuid) in records for key in (c.key, c.old_key))
    return {key for key in (*told, *changed) if key is not None}


def _named(act: Act) -> set[str]:
    """The keys that a change of the application names."""
    command = getattr(act.step.request, act.step.command)
    return {command.key, command.new_key} if act.step.command == "rename" else {command.key}


def _of_others(facts: Facts, side: Side, act: Act, records: set[str]) -> dict[str, Any]:
    """What a step tells of all records but those in conflict, and those that were made because of it.

    Who has resolved one may have counted on by that, so revisions of such peers are left out, and versions.
    """
    names, step = facts.names, act.step

    def concerned(uuid: object) -> bool:
        # What no application has made was made by who resolved.
        name = names.record(uuid)
        return name in records or "/record" in name

    told = [message for message in act.trace.out(step) if message.type == UPDATE]
    since = [message.body.members.get("since") for message in act.trace.out(step) if message.type == GET_UPDATES]
    counting = _counting(side)
    known = [step.state.known.since] if step.state is not None else []
    shown = [record for record in step.state.records if not concerned(record.uuid)] if step.state is not None else []
    return {
        "record": "" if concerned(step.uuid) else names.record(step.uuid),
        "sent": sorted(
            json.dumps([message.link, *facts.said(message)[1:]])
            for message in told
            if not concerned(message.body.members.get("uuid"))
        ),
        "changed": sorted(
            names.record(each.record.uuid) for each in step.signals("changed") if not concerned(each.record.uuid)
        ),
        "conflicts": sorted(
            f"{names.record(each.uuid)} {names.record(each.incoming_uuid)}"
            for each in step.signals("conflict")
            if not (concerned(each.uuid) or concerned(each.incoming_uuid))
        ),
        "shown": sorted(
            json.dumps([names.record(each.uuid), each.deleted, *([] if each.deleted else [each.key, each.value])])
            for each in shown
        ),
        "known": [
            [pair for pair in names.since(each) if pair[0] not in counting]
            for each in (*since, *known)
            if hasattr(each, "keys")
        ],
    }


def _counting(side: Side) -> set[str]:
    """The participants who may have resolved something until then."""
    out = set()
    for name in side.performance.schedule.names:
        last = next((act for act in reversed(before(side, until=True)) if act.who == name), None)
        view = view_of(side, name)
        if last is not None and view is not None and view.in_conflict(last.step):
            out.add(name)
    return out


def taken(case: Case) -> bool:
    """Does only one side refuse to give a record a key that another one has, or has had?"""
    if not (case.only("answer") and case.command == "rename"):
        return False
    for side, act in case.played():
        view, key = view_of(side, case.who), act.step.request.rename.new_key
        if act.step.answer != "rejected" or view is None:
            continue
        told = any(u.key == key and u.step.index < act.step.index for u in (*view.sent, *view.received))
        written = any(
            key in (step.request.put.key, step.request.rename.new_key)
            for step in view.steps
            if step.index < act.step.index and step.command in ("put", "rename")
        )
        return told or written
    return False


def hops(case: Case) -> bool:
    """Do the vector clocks of one side alone count sending and receiving, so that other changes look concurrent?"""
    if not case.fields <= OF_DATABASES or case.command != "receive":
        return False
    one, other = (ClubView(side.performance).hops_show for side in case.sides)
    return one != other
