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
        if arrival.outcome != "newer":
            continue
        uuid = str(arrival.update.uuid)
        shown = next((s for s in view.shown if s.asked.index > arrival.step.index), None)
        if shown is None or (held := view.known.at(uuid, shown.step.index)) is None:
            continue
        if held.update is None or held.update.version != arrival.update.version:
            continue  # it was replaced itself since then, or may have been
        seen = shown.records.get(uuid)
        met = seen is not None and seen.version == arrival.update.version
        expected = f"{view.named(arrival.update)}, which came at step {arrival.step.index}"
        had = "nothing of that record" if seen is None else f"revision {seen.rev} of {view.name(seen.by)}"
        yield judged(shown.step, met, expected, had)
