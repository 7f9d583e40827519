"""Helpers for tests of schedules of ClearSkies: group traces on the model, in this process."""

from __future__ import annotations

from typing import Any

from clearskies_stages import session_of
from sds_harness.clearskies.group_trace import Act, GroupTrace
from sds_harness.clearskies.operations import Member, Operation
from sds_harness.clearskies.player import play
from sds_harness.clearskies.stage import Stage
from sds_harness.schedules import Schedule

TRIO = (Member("alice", store=True), Member("bob"), Member("carol", read_only=True))


def shown(*operations: Operation, members: tuple[Member, ...] = TRIO, testee: Any = None, **options: Any) -> GroupTrace:
    """Play these operations with one implementation for all participants."""
    stage = Stage(session_of(testee, **options), "a schedule")
    schedule = Schedule(members, operations, ())
    return play(schedule, dict.fromkeys(schedule.names, stage))


def commands(group_trace: GroupTrace, who: str = "") -> list[str]:
    """The commands of all or of one participant, without those that belong to no operation, such as openings."""
    return [
        act.step.command if who else f"{act.who} {act.step.command}"
        for act in group_trace.acts
        if who in ("", act.who) and act.operation >= 0
    ]


def arrived(group_trace: GroupTrace, who: str) -> list[str]:
    """The labels of the messages that arrived at a participant, without messages that have no label."""
    return [act.packet.label for act in received(group_trace, who) if act.packet is not None and act.packet.label]


def received(group_trace: GroupTrace, who: str) -> list[Act]:
    return [act for act in group_trace.acts if act.who == who and act.step.command == "receive"]


def values(group_trace: GroupTrace, who: str) -> dict[str, str]:
    """The records that are not deleted in the state that a participant showed last: JSON text by key."""
    states = [act.step.state for act in group_trace.acts if act.who == who and act.step.state is not None]
    assert states, f"{who} has shown nothing"
    return {record.key: record.value for record in states[-1].records if not record.deleted}
