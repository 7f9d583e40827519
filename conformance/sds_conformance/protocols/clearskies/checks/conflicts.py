"""Section "Conflicts": which of two records is the newer one, and which one wins where neither is."""

from __future__ import annotations

from collections.abc import Iterator

from ....judging.judgement import Observation, judged
from ..register import check
from ..view.peer_view import PeerView


@check("CSDB-50", of="received shown")
def descendants_replace(view: PeerView) -> Iterator[Observation]:
    """A record that descends from the own one replaces it, whatever the update_time."""
    for arrival in view.arrivals:
        if arrival.outcome == "newer" and not arrival.update.deleted and (proof := view.proof(arrival)) is not None:
            expected = f"{view.named(arrival.update)}, which came at step {arrival.step.index}"
            yield judged(proof.shown.step, proof.is_there, expected, view.had(proof))
