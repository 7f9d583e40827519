"""Vectors of updates that arrive in several orders, each order at a new peer; the records at the end are compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clearskies_reference.vector_clock import is_before
from sds_harness.clearskies.links import ScriptedLink

from .....vectors.model import Vector
from .....vectors.running.subject import VectorResult, judge_outcome
from ..fields import Fields, numbers
from .subject import (
    ClearSkiesSubject,
    deliver_updates,
    keys_of,
    legal_outcomes,
    let_time_pass,
    matches_records,
    read_records,
)

DEPENDS = {"depends_on_order": True}


def ask_settlement(subject: ClearSkiesSubject, vector: Vector) -> VectorResult:
    """Compare the records after each order of arrival with the outcomes of the vector."""
    seen = [_play_order(subject, vector, order) for order in vector["orders"]]
    outcomes = legal_outcomes(vector)
    if all(each == seen[0] for each in seen):
        return judge_outcome(seen[0], outcomes, matches_records)
    if any("depends_on_order" in outcome for outcome in outcomes):
        return judge_outcome(DEPENDS, outcomes)
    # Report the first order with a wrong result.
    wrong = [each for each in seen if not any(matches_records(each, outcome) for outcome in outcomes)]
    return judge_outcome(wrong[0] if wrong else DEPENDS, outcomes, matches_records)


def _play_order(subject: ClearSkiesSubject, vector: Vector, order: Sequence[int]) -> dict[str, Any]:
    stage = subject.stage(f"{vector['id']} in the order {' '.join(map(str, order))}")
    actor = subject.peer(stage, vector)
    links: dict[str, ScriptedLink] = {}
    arrived: list[Fields] = []
    for number in order:
        fields = vector["updates"][number]
        # Connect each writer on its own link, so that the refusal of one update does not affect the others.
        writer = fields["last_updated_by"]
        if writer not in links or links[writer].broken:
            peer = stage.peer(f"writer {writer} {len(stage.trace.steps)}")
            peer.peer_id = writer
            links[writer] = actor.link(peer)
        deliver_updates(actor, links[writer], {**fields, "seen": _writer_saw_all(fields, arrived)}, observing=True)
        arrived.append(fields)
    let_time_pass(actor)
    return read_records(actor, keys_of(vector))


def _writer_saw_all(fields: Fields, arrived: Sequence[Fields]) -> bool:
    """Had the writer of an update seen the present record of a peer that has received ``arrived``?

    If a received version of the record is not an ancestor of the update, the update's writer cannot know the peer's
    present number in the clock.
    """
    known = numbers(fields["vector_clock"])
    versions = (numbers(each["vector_clock"]) for each in arrived if each["uuid"] == fields["uuid"])
    return bool(fields.get("seen")) and all(is_before(version, known) for version in versions)
