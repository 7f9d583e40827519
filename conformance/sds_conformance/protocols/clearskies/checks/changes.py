"""Section "Record Changes": what goes to whom, and in which form."""

from __future__ import annotations

from collections.abc import Iterator

from ....judging.judgement import Observation, held, violated
from ..register import check
from ..view.peer_view import PeerView


@check("CSDB-14", of="changes requests")
def changes_go_to_all_peers(view: PeerView) -> Iterator[Observation]:
    """Each local change is sent on every link whose other end has asked for updates."""
    for change in view.changes:
        for link in view.links:
            if link.subscribed is None or not link.subscribed < change.step.index or not link.there(change.step):
                continue
            later = [update for update in link.sent if update.step.index >= change.step.index]
            if any(change.is_in(update) for update in later):
                yield held(change.step)
            elif (step := view.due(change.step, link)) is not None and not view.overwritten(change, step):
                whom = view.name(link.peer_id)
                yield violated(change.step, f"an update of {change.key!r} for {whom}", "none came on that link")
