"""Section "Deleted Records": what is deleted stays so, and whoever has not heard of that is told."""

from __future__ import annotations

from collections.abc import Iterator

from ....judging.judgement import Observation, judged
from ..register import check
from ..view.meetings import INCOMING, fates, is_traced
from ..view.peer_view import PeerView


@check("CSDB-56", of="shown")
def the_deleted_do_not_come_back(view: PeerView) -> Iterator[Observation]:
    """A record that is deleted stays deleted when somebody comes who has not heard of that."""
    for fate in fates(view):
        meeting = fate.meeting
        ghost = meeting.there.deleted and not meeting.incoming.deleted and meeting.arrival.outcome == "older"
        if ghost and fate.left and is_traced(view, meeting.there):
            expected = f"no {meeting.incoming.key!r}, which was deleted before it came at step {meeting.step.index}"
            yield judged(fate.shown.step, "ghost-reappears", fate.left != INCOMING, expected, "it is there again")


@check("CSDB-56", of="shown")
def the_deleted_are_remembered(view: PeerView) -> Iterator[Observation]:
    """Whoever asks for everything hears of what is deleted, too."""
    for shown in view.shown:
        if shown.link is None:
            continue
        said = {update.version for update in shown.link.received}  # what one has told oneself is not told back
        held = ((uuid, held.update) for uuid, held in view.known.all_at(shown.step.index))
        there = {
            uuid: update
            for uuid, update in held
            if update is not None and update.version not in said and (not update.deleted or is_traced(view, update))
        }
        missing = [uuid for uuid in there if uuid not in shown.records]
        deleted = [uuid for uuid, update in there.items() if update.deleted]
        # One can be missing for other reasons; all that is deleted, and nothing else, for one alone.
        if len(there) > len(deleted) > 1 and missing in ([], deleted):
            expected = f"the deletion of {there[deleted[0]].key!r}, beside what is not deleted"
            yield judged(shown.step, "deletion-forgotten", not missing, expected, "nothing that is deleted")
