"""Section "Requesting Updates": revisions, who asks for what, and what is answered."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ....judging.judgement import Observation, judged
from ..register import check
from ..view.peer_view import PeerView


@check("CSDB-26", of="own")
def revisions_count_on(view: PeerView) -> Iterator[Observation]:
    """From one local change to the next the revision grows by one."""
    places = {change.step.index: place for place, change in enumerate(view.changes)}
    for one, other in pairwise(change for change in view.changes if change.shown is not None):
        assert one.shown is not None, "it was picked by that"
        assert other.shown is not None, "it was picked by that"
        before, after = one.shown.rev, other.shown.rev
        if before is None or after is None or view.may_have_changed_more(one, other):
            continue
        expected = before + places[other.step.index] - places[one.step.index]
        told = f"revision {expected}, after {before} at step {one.step.index}"
        yield judged(other.shown.step, after == expected, told, f"{after}")


@check("CSDB-29", of="links")
def every_connection_is_asked_on(view: PeerView) -> Iterator[Observation]:
    """On a new connection, a peer asks for updates."""
    for link in view.links:
        if any(other.peer_id == link.peer_id and other.began < link.began <= other.ended for other in view.links):
            continue  # one connection to a peer is enough: CSDB-36
        start = view.trace.steps[link.began - 1]
        step = view.due(start, link)
        if link.asked or step is not None:
            asked = f"a database.get_updates for {view.name(link.peer_id)}"
            yield judged(link.asked[0].step if link.asked else start, bool(link.asked), asked, "nobody was asked")
