"""When a peer under test had said all it had to say: some send at once, others when they are ticked.

What is due is looked for at the next such step, and not before: a peer is quiet that was ticked twice in a row, at
different times, with nothing to say to a database and nothing arriving in between.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from sds_harness.clearskies.trace import Step, Trace

from .facts import reads_as_request, reads_as_update


def quiet_steps(trace: Trace, steps: Iterable[Step]) -> list[int]:
    """The indices of the steps at which the peer whose ``steps`` these are was quiet."""
    out: list[int] = []
    before: Step | None = None
    for step in steps:
        if step.command == "observe":
            continue
        spoke = any(reads_as_update(message) or reads_as_request(message) for message in trace.out(step))
        still = step.command == "tick" and step.effects is not None and not spoke
        if still and before is not None and before.now_ms != step.now_ms:
            out.append(step.index)
        before = step if still else None
    return out


def due(quiet: list[int], step: Step, until: int) -> int | None:
    """The index of the step at which all must have come of ``step`` that comes of it; None if that is after ``until``,
    or never was."""
    place = bisect_right(quiet, step.index)
    return quiet[place] if place < len(quiet) and quiet[place] <= until else None
