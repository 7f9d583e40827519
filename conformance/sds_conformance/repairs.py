"""Questions that the checks of SDS-R ask of a view: which time an entry of the repair buffers has."""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.trace import Step

from .channel_view import ChannelView
from .facts import Observed
from .repair_terms import Window
from .repair_tracker import Asked, Missing


def shown_t_req(view: ChannelView, missing: Missing) -> Iterator[tuple[Observed, int | None]]:
    """What the outgoing repair request buffer said of a message while it was simply missing: (state, T_req), with None
    where it was not in the buffer."""
    for observed in view.observed:
        if observed.state.HasField("outgoing_repairs") and (
            missing.detected.step.index < observed.step.index < missing.undisturbed
        ):
            entries = observed.state.outgoing_repairs.entries
            yield observed, next((e.due_ms for e in entries if e.message_id == missing.message_id), None)


def shown_t_resp(view: ChannelView, asked: Asked) -> Iterator[tuple[Observed, int | None]]:
    """What the incoming repair request buffer said of a request while nothing had come of it: (state, T_resp)."""
    ends = [copy.step.index for copy in asked.copies] + [answer.step.index for answer in asked.answers]
    until = min(ends, default=None)
    for observed in view.observed:
        if observed.state.HasField("incoming_repairs") and asked.received.step.index < observed.step.index:
            if until is not None and observed.step.index >= until:
                return
            entries = observed.state.incoming_repairs.entries
            yield observed, next((e.due_ms for e in entries if e.message_id == asked.message_id), None)


def t_req(view: ChannelView, missing: Missing) -> Window | None:
    """T_req of a missing message in epoch milliseconds: as shown, else by the declared hash, else its bounds."""
    shown = next((due for _, due in shown_t_req(view, missing) if due is not None), None)
    if shown is not None:
        return Window(shown, shown)
    offsets = view.terms.t_req(missing.message_id) if view.terms is not None else None
    return offsets.after(missing.detected.step.now_ms) if offsets is not None else None


def t_resp(view: ChannelView, asked: Asked) -> Window | None:
    """T_resp of a request in epoch milliseconds: as shown, else by the declared hash, else its bounds."""
    shown = next((due for _, due in shown_t_resp(view, asked) if due is not None), None)
    if shown is not None:
        return Window(shown, shown)
    offsets = view.terms.t_resp(asked.author, asked.message_id) if view.terms is not None else None
    return offsets.after(asked.received.step.now_ms) if offsets is not None else None


def sweeps(view: ChannelView, after: Step, until: int) -> list[Step]:
    """The ticks after a step and before the step of index ``until``."""
    return [tick for tick in view.ticks if after.index < tick.index < until]
