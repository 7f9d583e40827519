"""Reads the two sides of a divergence for the functions that find permitted differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sds_harness.schedules import Act

from ..freedoms import END, DivergentSide, DivergentSteps
from .view.facts import LinkView
from .view.peer_view import PeerView, peer_views

STEP_COLUMNS = frozenset({"participant", "command", "link", "at_ms", "answer", "arrives", END})
"""The columns that differ when the sides take different steps."""
DATABASE_COLUMNS = frozenset(
    {"record", "sent", "updates", "times", "since", "signed", "changed", "conflicts", "records", "deleted", "known"}
)
"""The columns that show the content of a database."""


def view_of(side: DivergentSide, who: str) -> PeerView | None:
    """The view of a participant; None if no participant of that name was opened."""
    trace = side.group_trace.cast.get(who)
    return next((view for view in peer_views(trace) if view.party.name == who), None) if trace is not None else None


def link_of(view: PeerView, number: int) -> LinkView | None:
    """The link with that number; None if there is none, because a step can write to a link that does not exist."""
    return next((link for link in view.links if link.number == number), None)


def link_number(entry: str) -> int:
    """The number of the link in an entry of `sent` or `signed`."""
    return int(entry.rsplit(" ", 1)[0].rsplit("/", 1)[1])


def find_extra_entries(case: DivergentSteps, field: str) -> Iterator[tuple[DivergentSide, DivergentSide, list[str]]]:
    """Yield each side that has entries in a column that the other side lacks: the side, the other side, and these
    entries.
    """
    counts = [Counter((side.row or {}).get(field, ())) for side in case.sides]
    for mine, others in ((0, 1), (1, 0)):
        if more := list((counts[mine] - counts[others]).elements()):
            yield case.sides[mine], case.sides[others], more


def acts_before(side: DivergentSide, *, including: bool = False) -> list[Act]:
    """The compared steps of a side before the step that differs; with ``including``, that step as well."""
    at = side.row["step"] if side.row is not None else len(side.compared) + 1
    return list(side.compared[: at if including else at - 1])


def acts_from_difference(side: DivergentSide) -> list[Act]:
    """The compared steps of a side from the step that differs on."""
    return list(side.compared[len(acts_before(side)) :])
