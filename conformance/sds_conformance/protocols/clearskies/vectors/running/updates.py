"""The shapes on updates that a peer receives: what it accepts, what it answers, and the records at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clearskies_reference import AccessLevel
from clearskies_reference.errors import MalformedMessageError
from clearskies_reference.timestamps import timestamp
from clearskies_reference.vector_clock import is_before, vector_clock
from sds_harness.clearskies.clubs import READ_WRITE
from sds_harness.clearskies.links import ScriptedLink
from sds_harness.clearskies.streams import Message

from .....vectors.model import Outcome, Vector
from .....vectors.running.subject import VectorResult, VectorSkippedError, judge_outcome
from ..fields import Fields, numbers, update_members
from .subject import (
    ClearSkiesSubject,
    deliver_frames,
    deliver_updates,
    keys_of,
    legal_outcomes,
    let_time_pass,
    lower_uuid,
    matches_records,
    read_records,
    same_json,
)

# ---- one update with some signature ----------------------------------------------------------------------------------


def ask_admission(subject: ClearSkiesSubject, vector: Vector) -> VectorResult:
    """Send the update, and compare the records of the application afterwards with the outcomes of the vector."""
    stage = subject.stage(vector["id"])
    actor = subject.peer(stage, vector)
    link = actor.link(stage.peer("sender", read_only=vector["from"] == "read_only"))
    frame = link.peer.frame(update_members(vector["update"]))
    if "signed_by" in vector:
        frame = link.peer.sign(frame, AccessLevel(vector["signed_by"]))
    match vector.get("spoilt"):
        case "body":
            frame = frame.flipped()
        case "signature":
            frame = frame.forged()
    deliver_frames(link, frame)
    let_time_pass(actor)
    return judge_outcome(read_records(actor, keys_of(vector)), vector["outcomes"], matches_records)


# ---- the answer to a request -----------------------------------------------------------------------------------------

UNKNOWN_UPDATE = "another update"
"""Stands in results for a sent update that is not in the vector, or whose members differ."""


def ask_answer(subject: ClearSkiesSubject, vector: Vector) -> VectorResult:
    """Compare the updates that the peer sends on request with the outcomes of the vector."""
    stage = subject.stage(vector["id"])
    actor = subject.peer(stage, vector)
    deliver_updates(actor, actor.link(stage.peer("teacher")), *vector["updates"])
    let_time_pass(actor)
    asking = actor.link(stage.peer("client", read_only=vector["client"] == "read_only"))
    if asking.updates:
        # An update may be sent without a request (CA-1), and need not be sent again.
        raise VectorSkippedError("sends updates before they are requested")
    deliver_frames(asking, asking.peer.get_updates(numbers(vector["since"])))
    let_time_pass(actor)
    sent = asking.updates
    seen = {
        "sent": list(dict.fromkeys(_update_index(message, vector["updates"]) for message in sent)),
        "signed": all(message.signer is READ_WRITE for message in sent),
        **({"closed": True} if asking.broken else {}),
    }
    return judge_outcome(seen, legal_outcomes(vector), _matches_answer)


def _matches_answer(seen: dict[str, Any], outcome: Outcome) -> bool:
    """Does the result match the outcome? Never if the peer closed the link: the client is subscribed."""
    if "closed" in seen:
        return False
    return bool(seen["sent"] == outcome["sent"] and (seen["signed"] or not outcome.get("signed")))


def _update_index(message: Message, updates: list[Fields]) -> int | str:
    """The index of the update in a message, or `UNKNOWN_UPDATE`."""
    return next(
        (number for number, fields in enumerate(updates) if _has_members_of(message.body.members, fields)),
        UNKNOWN_UPDATE,
    )


def _has_members_of(members: dict[str, Any], fields: Fields) -> bool:
    """Does a message have the members of an update? Its clock may have larger numbers (CA-3)."""
    wanted = update_members(fields)
    deleted = wanted.get("deleted", False)
    names = ["last_updated_by", "last_updated_rev", *([] if deleted else ["key", "value"])]
    if lower_uuid(members.get("uuid")) != wanted["uuid"]:
        return False
    if not all(name in members and same_json(members[name], wanted[name]) for name in names):
        return False
    try:
        clock = vector_clock(members.get("vector_clock"))
        same_time = timestamp(members.get("update_time")) == timestamp(wanted["update_time"])
    except MalformedMessageError:
        return False
    return members.get("deleted", False) is deleted and same_time and is_before(wanted["vector_clock"], clock)


# ---- updates in several orders, each at a new peer -------------------------------------------------------------------

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
