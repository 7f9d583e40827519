"""Excerpts: a few steps of a trace as a space-time diagram.

The trace is converted to a group trace with one operation per step, and the steps of a story are drawn. All
participants belong to the implementation. Messages that no participant broadcast come from scripted peers.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sds_harness.schedules import Act, GroupTrace, Operation, Packet, Schedule
from sds_harness.schedules.operations import Join, Member
from sds_harness.trace import Step, Trace

from ..judging.formats import short
from ..protocols import repertoire_of
from ..protocols.group_trace_reader import Reading
from .course import Course
from .spacetime import excerpt_svg

MAX_DRAWN = 25
"""Maximum number of steps in an excerpt: the last steps up to the violating step, and the steps after it. Steps that
sent an arriving message are added.
"""
MAX_STEPS = 2_000
"""Maximum number of steps of a trace. Longer traces have no excerpts."""


class Excerpts:
    """Draws excerpts of one trace."""

    def __init__(self, trace: Trace[Any]) -> None:
        self._trace = trace
        self._course: Course | None = None

    def svg(self, blamed: int, shown: Collection[int]) -> str:
        """Draw the steps with the numbers ``shown``, and mark the violating step (``blamed``), for a page that has
        `spacetime.stylesheet`.

        Returns "" if the trace has more than `MAX_STEPS` steps, if the violating step has no participant, or if the
        steps have too many participants or too few messages for a picture.
        """
        steps = self._trace.steps
        if not 0 < blamed <= len(steps) <= MAX_STEPS:
            return ""
        if self._course is None:
            self._course = Course(group_trace_of(self._trace), by_id=True)
        acts = self._course.group_trace.acts
        before = sorted(number for number in shown if number < blamed)
        after = sorted(number for number in shown if blamed < number <= len(steps))
        after = after[: MAX_DRAWN // 2]
        drawn = {*before[-(MAX_DRAWN - 1 - len(after)) :], blamed, *after}
        # If a broadcast arrives in one of the steps, also draw the step that sent it.
        drawn |= {p.act for number in drawn if (p := acts[number - 1].packet) is not None and p.act}
        only = {number - 1 for number in drawn if acts[number - 1].who}
        return excerpt_svg(self._course, acts[blamed - 1], only)


def group_trace_of(trace: Trace[Any]) -> GroupTrace:
    """Convert a trace to a group trace with one operation per step, in the same order."""
    reading = repertoire_of(trace.revision.name).reading
    operations = tuple(Join(s.participant) if s.command == "open" else Operation() for s in trace.steps)
    schedule = Schedule(tuple(Member(name) for name in trace.parties), operations, _channels(trace))
    group_trace = GroupTrace(schedule, [trace], dict.fromkeys(trace.parties, trace))
    sent: dict[bytes, Packet] = {}
    at_ms = 0
    for number, step in enumerate(trace.steps, 1):
        at_ms = step.now_ms - trace.start_ms if step.now_ms else at_ms
        who = step.participant if step.participant in trace.parties else ""
        arrived = None
        for wire in reading.wires(step) if who else ():
            if step.command == "receive":
                arrived = sent.get(wire.raw)
                if arrived is None:
                    arrived = Packet(
                        len(group_trace.packets) + 1, _peer(reading, step, trace), wire, at_ms, 0, number - 1
                    )
                    group_trace.packets.append(arrived)
            else:
                # The message of `send` is always new: its label distinguishes it from a repetition with the same ID.
                label = f"step {number}" if step.command == "send" and wire is reading.wires(step)[0] else ""
                packet = Packet(len(group_trace.packets) + 1, who, wire, at_ms, number, number - 1, label)
                sent[wire.raw] = packet
                group_trace.packets.append(packet)
        group_trace.acts.append(Act(number, who, step, trace, at_ms, number - 1, arrived))
    return group_trace


def _channels(trace: Trace[Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(channel for party in trace.parties.values() for channel in party.channels))


def _peer(reading: Reading, step: Step, trace: Trace[Any]) -> str:
    """Return a name for the sender of an arriving message that no participant sent."""
    item = reading.arrived(step)
    if item is None or not item.sender:
        return "somebody"
    ours = {*trace.parties, *(party.participant_id for party in trace.parties.values())}
    return f"scripted {short(item.sender)}" if item.sender in ours else item.sender
