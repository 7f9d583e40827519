"""What a peer asked for, and what it must and may have known then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sds_harness.clearskies.trace import Step

from ....judging.once import once
from .authority import SAFE_INTEGER
from .peer_view import PeerView


@dataclass(frozen=True)
class Asking:
    """One request, beside what was known of each other peer."""

    step: Step
    since: Mapping[str, int]
    at_least: Mapping[str, int]
    """What a scan of the records that surely are there finds (CA-11)."""
    at_most: Mapping[str, int]
    """The highest revision that ever came and may have been taken."""


@once
def askings(view: PeerView) -> list[Asking]:
    """All requests of a peer that can be read."""
    out = []
    for request in view.asked:
        if request.since is None:
            continue
        before = request.step.index - 1
        least: dict[str, int] = {}
        for _, held in view.known.all_at(before):
            update = held.update
            if update is not None and update.by not in (None, view.peer_id) and 0 < (update.rev or 0) <= SAFE_INTEGER:
                least[str(update.by)] = max(update.rev or 0, least.get(str(update.by), 0))
        most: dict[str, int] = {}
        for arrival in view.arrivals:
            if arrival.step.index > request.step.index or arrival.update.by is None:
                continue
            if not arrival.must_not or arrival.update.version in view.leaked:
                most[arrival.update.by] = max(arrival.update.rev or 0, most.get(arrival.update.by, 0))
        out.append(Asking(request.step, request.since, least, most))
    return out
