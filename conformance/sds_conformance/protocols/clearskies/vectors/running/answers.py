"""Updates that a peer has received, and what it answers to somebody who asks."""

from __future__ import annotations

from typing import Any

from sds_harness.clearskies.streams import Message

from .....vectors.model import Vector
from .....vectors.running.subject import Answer, Skip, among
from ..fields import numbers
from .subject import ClearSkiesSubject, held_to, tell


def ask_answer(subject: ClearSkiesSubject, vector: Vector) -> Answer:
    """Which updates does it send to who asks for them?"""
    stage = subject.stage(vector["id"])
    actor = subject.peer(stage, vector)
    teacher = actor.link(stage.peer("teacher"))
    for fields in vector["updates"]:
        tell(actor, teacher, fields)
    stage.settle()
    asking = actor.link(stage.peer("client"))
    if asking.updates:
        # What was sent unasked is legal (CA-1), and need not be sent again.
        raise Skip("sends updates before it is asked for some")
    asking.ask(numbers(vector["since"]))
    stage.settle()
    return among({"sent": [told(message) for message in asking.updates]}, held_to(vector))


def told(message: Message) -> dict[str, Any]:
    """Which update a message is; numbers as vectors have them."""
    members = message.body.members
    names = ("uuid", "last_updated_by", "last_updated_rev")
    known = {name: members[name] for name in names if name in members}
    return {name: in_vectors(value) if name == "last_updated_rev" else value for name, value in known.items()}


def in_vectors(value: Any) -> Any:
    """An integer as vectors have it; what is none stays what it is, and is told apart from one."""
    return str(value) if type(value) is int else [value]
