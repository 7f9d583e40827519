"""Section "Access Levels": who may change what, and who passes it on."""

from __future__ import annotations

from collections.abc import Iterator

from ....judging.judgement import Observation, judged
from ..register import check
from ..view.peer_view import PeerView


@check("CSDB-06", of="received shown")
def forged_updates_are_not_kept(view: PeerView) -> Iterator[Observation]:
    """What comes with a signature that is not that of a read-write peer is not there afterwards."""
    for arrival in view.arrivals:
        update = arrival.update
        if not arrival.must_not or update.message.signature is None or update.version is None:
            continue
        if any(other.update.version == update.version and not other.must_not for other in view.arrivals):
            continue  # it came in its own right as well
        shown = next((shown for shown in view.shown if shown.asked.index > update.step.index), None)
        if shown is not None:
            seen = shown.records.get(str(update.uuid))
            met = seen is None or seen.version != update.version
            expected = f"no trace of {view.named(update)} (step {update.step.index}): {arrival.must_not}"
            yield judged(shown.step, met, expected, "it is there")
