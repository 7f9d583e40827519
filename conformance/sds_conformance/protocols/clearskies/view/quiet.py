"""When a peer under test had said all it had to say: some send at once, others when they are ticked.

What is due is looked for at the next such step, and not before: a peer is quiet that was ticked twice in a row, each
time later than ever before and the second time seconds after the first, with nothing to say to a database and nothing
arriving in between. Where clocks step back, who waits for a time waits until it comes. Who asks again and again for
what was asked for says nothing by that, nor who answers with what was told before, whichever end it is.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from sds_harness.clearskies.stage import ROUND_MS
from sds_harness.clearskies.trace import Step, Trace

from .facts import reads_as_request, reads_as_update


def quiet_steps(trace: Trace, steps: Iterable[Step]) -> list[int]:
    """The indices of the steps at which the peer whose ``steps`` these are was quiet."""
    out: list[int] = []
    latest_ms = -1
    silent_ms: int | None = None
    """Since when it was ticked and had nothing to say; None if it had."""
    for step in steps:
        said = [message for message in trace.out(step) if reads_as_update(message) or reads_as_request(message)]
        spoke = not all(message.repeated for message in said)
        if step.command == "observe" or (not spoke and _is_asked_again(trace, step)):
            continue
        if step.command != "tick" or step.effects is None or spoke:
            silent_ms = None
        elif step.now_ms > latest_ms:
            silent_ms = step.now_ms if silent_ms is None else silent_ms
            if step.now_ms >= silent_ms + ROUND_MS:
                out.append(step.index)
        latest_ms = max(latest_ms, step.now_ms)
    return out


def _is_asked_again(trace: Trace, step: Step) -> bool:
    """Did nothing arrive but what was asked for already?"""
    came = trace.into(step)
    return step.command == "receive" and bool(came) and all(message.repeated for message in came)


def due(quiet: list[int], step: Step, until: int) -> int | None:
    """The index of the step at which all must have come of ``step`` that comes of it; None if that is after ``until``,
    or never was."""
    place = bisect_right(quiet, step.index)
    return quiet[place] if place < len(quiet) and quiet[place] <= until else None
