"""Vectors of updates that a peer has received, and of its answer to a request."""

from __future__ import annotations

from typing import Any

from clearskies_reference.errors import MalformedMessageError
from clearskies_reference.timestamps import timestamp
from clearskies_reference.vector_clock import is_before, vector_clock
from sds_harness.clearskies.clubs import READ_WRITE
from sds_harness.clearskies.streams import Message

from .....vectors.model import Outcome, Vector
from .....vectors.running.subject import VectorResult, VectorSkippedError, judge_outcome
from ..fields import Fields, numbers, update_members
from .subject import (
    ClearSkiesSubject,
    deliver_frames,
    deliver_updates,
    legal_outcomes,
    let_time_pass,
    lower_uuid,
    same_json,
)

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
    return judge_outcome(seen, legal_outcomes(vector), _matches)


def _matches(seen: dict[str, Any], outcome: Outcome) -> bool:
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
