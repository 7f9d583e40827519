"""When a peer under test had said all it had to say: some send at once, others when they are ticked.

What is due is looked for at the next such step, and not before: a peer is quiet that was ticked twice in a row, each
time later than ever before, with nothing to say to a database and nothing arriving in between. Where clocks step back,
who waits for a time waits until it comes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from sds_harness.clearskies.trace import Step, Trace

from .facts import reads_as_request, reads_as_update


def quiet_steps(trace: Trace, steps: Iterable[Step]) -> list[int]:
    """The indices of the steps at which the peer whose ``steps`` these are was quiet."""
    out: list[int] = []
    latest_ms, silent = -1, 0
    for step in steps:
        if step.command == "observe":
            continue
        spoke = any(reads_as_update(message) or reads_as_request(message) for message in trace.out(step))
        if step.command != "tick" or step.effects is None or spoke:
            silent = 0
        elif step.now_ms > latest_ms:
            silent += 1
            if silent >= 2:
                out.append(step.index)
        latest_ms = max(latest_ms, step.now_ms)
    return out


def due(quiet: list[int], step: Step, until: int) -> int | None:
    """The index of the step at which all must have come of ``step`` that comes of it; None if that is after ``until``,
    or never was."""
    place = bisect_right(quiet, step.index)
    return quiet[place] if place < len(quiet) and quiet[place] <= until else None
