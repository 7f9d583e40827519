"""Operations of a schedule in words: those that change the network or let time pass."""

from __future__ import annotations

from sds_harness.schedules.operations import Cut, Heal, Links, Operation, Wait

from ..judging.quoting import short
from ..protocols.reading import Reading

LONG_WAIT_MS = 1000
"""Shorter waits are not worth a word."""


def operation_note(op: Operation, reading: Reading) -> str:
    """What happens to the network or to time, in words; "" for whatever somebody does."""
    match op:
        case Cut():
            sign = "⇹" if op.both else "↛"
            return f"network cut: {_those(op.senders)} {sign} {_those(op.listeners)}"
        case Heal():
            return "the network heals"
        case Links():
            rule = [f"{op.loss_percent} % lost"] if op.loss_percent else []
            rule += [f"{op.duplicate_percent} % twice"] if op.duplicate_percent else []
            rule += ["late by {:,} to {:,} ms".format(*op.delay_ms)] if any(op.delay_ms) else []
            which = f" from {short(op.sender)}" if op.sender else ""
            which += f" to {short(op.listener)}" if op.listener else ""
            return f"links{which}: {', '.join(rule) or 'perfect'}"
        case Wait() if op.ms >= LONG_WAIT_MS:
            return f"{op.ms / 1000:,g} s pass"
        case _:
            return reading.note(op)


def _those(names: tuple[str, ...]) -> str:
    shown = ", ".join(short(name) for name in names[:6])
    return f"{shown} and {len(names) - 6} more" if len(names) > 6 else shown
