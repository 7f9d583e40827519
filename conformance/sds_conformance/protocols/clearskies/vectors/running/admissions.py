"""Vectors of one update with some signature: must the peer accept it?"""

from __future__ import annotations

from clearskies_reference import AccessLevel

from .....vectors.model import Vector
from .....vectors.running.subject import VectorResult, judge_outcome
from ..fields import update_members
from .subject import ClearSkiesSubject, deliver_frames, keys_of, let_time_pass, matches_records, read_records


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
