"""Helpers for tests of the player: casts in this process, and views of group traces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sds_harness.link import Limits, LocalLink
from sds_harness.schedules import Operation, Route, Schedule
from sds_harness.sds.group_trace import Act, GroupTrace
from sds_harness.sds.language import open_session
from sds_harness.sds.operations import Member
from sds_harness.sds.player import play
from sds_harness.sds.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Message
from sds_reference.testee.dialect import load_dialect
from sds_reference.testee.server import Testee, TesteeOptions

Handle = Callable[[pb.Request], pb.Reply]
Change = Callable[[pb.Request, pb.Reply], None]

TRIO = (Member("alice"), Member("bob"), Member("carol"))
NOT_CAROL = Route(lost=("carol",))


def reference(change: Change | None = None, **options: Any) -> Handle:
    """The reference with these TesteeOptions; ``change`` changes its replies."""
    inner = Testee(TesteeOptions("1", **options)).handle

    def handle(request: pb.Request) -> pb.Reply:
        reply = inner(request)
        if change is not None:
            change(request, reply)
        return reply

    return handle


def stage_on(handle: Handle, dialect: str = "", revision: str = "sds-2026-01") -> Stage:
    session = open_session(lambda: LocalLink(handle), Limits(), revision)
    return Stage(session, "a schedule", load_dialect(dialect) if dialect else None)


def shown(
    *operations: Operation, handle: Handle | None = None, revision: str = "sds-2026-01", **schedule: Any
) -> GroupTrace:
    """Play these operations with one implementation for all participants."""
    stage = stage_on(handle or reference(), revision=revision)
    whole = Schedule(**({"members": TRIO, "operations": operations} | schedule))
    return play(whole, dict.fromkeys(whole.names, stage))


def commands(group_trace: GroupTrace, who: str = "") -> list[str]:
    """The commands of all or of one participant, without openings."""
    acts = [act for act in group_trace.acts if who in ("", act.who) and act.step.command != "open"]
    return [act.step.command if who else f"{act.who} {act.step.command}" for act in acts]


def arrivals(group_trace: GroupTrace, who: str) -> list[Act]:
    return [act for act in group_trace.acts if act.who == who and act.step.command == "receive"]


def arrived(group_trace: GroupTrace, who: str) -> list[str]:
    """Labels of the messages that arrived; "" for a message without a label."""
    return [act.packet.label if act.packet else "?" for act in arrivals(group_trace, who)]


def delivered(group_trace: GroupTrace, who: str) -> list[str]:
    """Labels of the delivered messages; "" for a message without a label."""
    label = {message(group_trace, name).message_id: name for name in group_trace.labels}
    events = [event for act in group_trace.acts if act.who == who for event in act.step.events]
    return [label.get(event.message_id, "") for event in events if event.kind == "delivered"]


def message(group_trace: GroupTrace, label: str) -> Message:
    found = group_trace.labels[label].wire.message
    assert found is not None
    return found


def without(*capabilities: int, **options: Any) -> Handle:
    return reference(without=frozenset(capabilities), **options)


class Fragile:
    """The reference, which crashes at a command and records the commands that it received."""

    def __init__(self, crashes_at: str = "") -> None:
        self.asked: list[str] = []
        self._crashes_at = crashes_at
        self.stage = stage_on(reference(self._answer))

    def _answer(self, request: pb.Request, _: pb.Reply) -> None:
        self.asked.append(request.WhichOneof("command") or "")
        if self.asked[-1] == self._crashes_at:
            raise RuntimeError("out of order")
