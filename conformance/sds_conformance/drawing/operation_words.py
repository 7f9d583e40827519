"""Describes the operations of a schedule in words, for stories and diagrams."""

from __future__ import annotations

from collections.abc import Sequence

from sds_harness.schedules import Act, Packet, operations

from ..judging.formats import format_count, short
from ..protocols.group_trace_reader import Reading
from .course import Course

LONG_WAIT_MS = 1000
"""Minimum duration, in milliseconds, of a wait that diagrams mention. Stories mention all waits."""


def describe_operation(op: operations.Operation, sent: Sequence[Packet], course: Course) -> str:
    """Describe an operation. ``sent`` are the packets that the operation itself broadcast."""
    match op:
        case operations.Tick():
            return f"{short(op.who) or 'everybody'} does periodic work"
        case operations.Look():
            return f"{short(op.who) or 'everybody'} shows the state"
        case operations.Join():
            return f"{short(op.who)} joins"
        case operations.Crash():
            return f"{short(op.who)} crashes"
        case operations.StepClock():
            return f"the clock of {short(op.who)} changes by {op.ms:+,} ms"
        case operations.Wait():
            return f"{op.period} ms pass" if op.period else f"{op.ms:,} ms pass"
        case operations.Require():
            needed = [*op.capabilities, *([op.condition] if op.condition else [])]
            return f"the schedule needs {' and '.join(needed)}"
        case operations.Repeat():
            most = f"{op.rounds} times" if op.rounds else f"{op.most:,} times"
            until = f", until {op.until}" if op.until else ""
            return f"the next {format_count(op.operations, 'operation')} are played {most}{until}"
        case _:
            return course.reading.done(op, sent, course) or operation_note(op, course.reading)


def is_done_by(op: operations.Operation, act: Act) -> bool:
    """Return whether a step is the operation itself, and not a result of it."""
    return bool(op.command) and act.step.command == op.command and act.who == getattr(op, "who", "")


def operation_note(op: operations.Operation, reading: Reading) -> str:
    """Describe an operation for a note across the diagram, such as a network cut or a long wait; "" if it has none."""
    match op:
        case operations.Cut():
            sign = "⇹" if op.both else "↛"
            return f"network cut: {_join_names(op.senders)} {sign} {_join_names(op.listeners)}"
        case operations.Heal():
            return "the network heals"
        case operations.Links():
            rule = [f"{op.loss_percent} % lost"] if op.loss_percent else []
            rule += [f"{op.duplicate_percent} % twice"] if op.duplicate_percent else []
            rule += ["late by {:,} to {:,} ms".format(*op.delay_ms)] if any(op.delay_ms) else []
            which = f" from {short(op.sender)}" if op.sender else ""
            which += f" to {short(op.listener)}" if op.listener else ""
            return f"links{which}: {', '.join(rule) or 'perfect'}"
        case operations.Wait() if op.ms >= LONG_WAIT_MS:
            return f"{op.ms / 1000:,g} s pass"
        case _:
            return reading.note(op)


def _join_names(names: tuple[str, ...]) -> str:
    text = ", ".join(short(name) for name in names[:6])
    return f"{text} and {len(names) - 6} more" if len(names) > 6 else text
