"""Updates in some orders of arrival, each at a peer of its own, and what the application finds there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sds_harness.clearskies.links import ScriptedLink

from .....vectors.model import Vector
from .....vectors.running.subject import Answer, among
from .subject import ClearSkiesSubject, found, held_to, keys_of, rest, same_found, tell

DEPENDS = {"depends_on_order": True}


def ask_settlement(subject: ClearSkiesSubject, vector: Vector) -> Answer:
    """What is found, in whichever order the updates arrive?"""
    seen = [_played(subject, vector, order) for order in vector["orders"]]
    outcomes = held_to(vector)
    if all(each == seen[0] for each in seen):
        return among(seen[0], outcomes, same_found)
    if any("depends_on_order" in outcome for outcome in outcomes):
        return among(DEPENDS, outcomes)
    # In one of the orders it is wrong: that is the one to tell of.
    wrong = [each for each in seen if not any(same_found(each, outcome) for outcome in outcomes)]
    return among(wrong[0] if wrong else DEPENDS, outcomes, same_found)


def _played(subject: ClearSkiesSubject, vector: Vector, order: Sequence[int]) -> dict[str, Any]:
    stage = subject.stage(f"{vector['id']} in the order {' '.join(map(str, order))}")
    actor = subject.peer(stage, vector)
    links: dict[str, ScriptedLink] = {}
    for number in order:
        fields = vector["updates"][number]
        # Each writer is at the end of a link of its own: what is refused of one costs nothing of the others.
        writer = fields["last_updated_by"]
        if writer not in links or links[writer].broken:
            peer = stage.peer(f"writer {writer} {len(stage.trace.steps)}")
            peer.peer_id = writer
            links[writer] = actor.link(peer)
        tell(actor, links[writer], fields)
    rest(actor)
    return found(actor, keys_of(vector))
