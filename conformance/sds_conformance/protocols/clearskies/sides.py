"""What the two sides of a divergence tell, as freedoms ask them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sds_harness.schedules import Act

from ..freedoms import END, Case, Side
from .view.facts import LinkView
from .view.peer_view import PeerView, peer_views

MOVED = frozenset({"participant", "command", "link", "at_ms", "answer", "arrives", END})
"""What differs where another step is taken."""
OF_DATABASES = frozenset(
    {"record", "sent", "updates", "times", "since", "signed", "changed", "conflicts", "records", "deleted", "known"}
)
"""What a step tells of what is in a database."""


def view_of(side: Side, who: str) -> PeerView | None:
    """What a participant did and was told; None if nobody of that name was opened."""
    trace = side.performance.cast.get(who)
    return next((view for view in peer_views(trace) if view.party.name == who), None) if trace is not None else None


def link_of(view: PeerView, number: int) -> LinkView | None:
    """The link with that number, None if there was none: also to such a one somebody may write."""
    return next((link for link in view.links if link.number == number), None)


def number_in(entry: str) -> int:
    """That of the link in an entry of `sent` or `signed`."""
    return int(entry.rsplit(" ", 1)[0].rsplit("/", 1)[1])


def extra(case: Case, field: str) -> Iterator[tuple[Side, Side, list[str]]]:
    """For each side that has more in a field than the other: it, the other, and what it has more."""
    counts = [Counter((side.row or {}).get(field, ())) for side in case.sides]
    for mine, others in ((0, 1), (1, 0)):
        if more := list((counts[mine] - counts[others]).elements()):
            yield case.sides[mine], case.sides[others], more


def before(side: Side, *, until: bool = False) -> list[Act]:
    """The compared acts before the one that differs; ``until``, with it."""
    at = side.row["step"] if side.row is not None else len(side.compared) + 1
    return list(side.compared[: at if until else at - 1])


def rest(side: Side) -> list[Act]:
    """The compared acts from the one that differs on."""
    return list(side.compared[len(before(side)) :])
