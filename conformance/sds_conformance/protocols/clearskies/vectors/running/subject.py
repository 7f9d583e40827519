"""An implementation of ClearSkies that is asked: its codec operations, and stages with peers."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.actor import Actor
from sds_harness.clearskies.links import ScriptedLink
from sds_harness.clearskies.probes import look
from sds_harness.clearskies.stage import Stage
from sds_harness.session import Session
from sds_harness.stage import NEEDS

from .....vectors.model import Outcome, Vector
from .....vectors.running.subject import Skip, Subject
from ..fields import is_wide, update_members

WIDE = "CA-6"
"""The position on integers of 64 bits."""
SEVERAL = "several records"
"""What is found under a key that has more than one."""


@dataclass
class ClearSkiesSubject(Subject):
    """One implementation of ClearSkies."""

    stages: list[Stage] = field(default_factory=list)
    """Those that were made for the vector."""

    def stage(self, name: str) -> Stage:
        """A fresh stage, with no peers."""
        stage = Stage(self.session, name)
        self.stages.append(stage)
        return stage

    def peer(self, stage: Stage, vector: Vector) -> Actor:
        """The peer that a vector is about."""
        if is_wide({name: value for name, value in vector.items() if name != "outcomes"}):
            self.need(pb.CAPABILITY_WIDE_INTEGERS)
        return stage.open("peer", read_only=vector["access_level"] == "read_only")

    def close(self) -> None:
        for stage in self.stages:
            if stage.trace.breakdown is None:
                stage.close()

    def need(self, *capabilities: int) -> None:
        """Skip the vector unless all are declared."""
        for name in self.declaration.lacking(capabilities):
            raise Skip(f"{NEEDS}{name}")

    def call(self, request: pb.Request) -> pb.Reply:
        """The answer to a codec operation. Skips the vector if there is none of its own."""
        reply = self.session.call(request)
        if reply.WhichOneof("answer") == "unsupported":
            raise Skip(f"{request.WhichOneof('command')} was answered `unsupported`")
        assert isinstance(reply, pb.Reply)
        return reply


def opened(session: Session, revision: str, dialect: str | None, remembered: dict[str, str]) -> ClearSkiesSubject:
    """Who answers one vector. There are no dialects."""
    return ClearSkiesSubject(session, revision, remembered)


def held_to(vector: Vector) -> list[Outcome]:
    """The outcomes of a vector for whoever declares integers of 64 bits: to lose some bits is no warning then.

    Nobody else is asked where it matters.
    """
    return [each for each in vector["outcomes"] if not (each.get("warned") and each.get("position") == WIDE)]


def tell(actor: Actor, link: ScriptedLink, fields: dict[str, Any]) -> None:
    """Let an update of a vector arrive, signed where it has to be.

    Of one whose writer had ``seen`` what the peer has, the clock is not below the peer's own number, where that shows.
    """
    members = update_members(fields)
    if fields.get("seen"):
        held = look(actor).records.get(fields["uuid"], {}).get("vector_clock")
        own = held.get(actor.peer_id) if isinstance(held, dict) else None
        if type(own) is int:
            members["vector_clock"] = {**members["vector_clock"], actor.peer_id: own}
    members.pop("seen", None)
    link.say(link.peer.frame(members))


def keys_of(vector: Vector) -> list[str]:
    """The keys that outcomes speak of."""
    spoken = (key for outcome in vector["outcomes"] for part in ("keys", "gone") for key in outcome.get(part, ()))
    return list(dict.fromkeys(spoken))


def found(actor: Actor, keys: list[str]) -> dict[str, Any]:
    """What the application finds under keys, as an outcome has it.

    The state tells, where it is shown; else what the peer tells others, where that has one record for each key.
    """
    values: dict[str, list[Any]] = {key: [] for key in keys}
    state = actor.observe()
    if state is not None:
        for record in state.records:
            if record.key in values and not record.deleted:
                values[record.key].append(json.loads(record.value))
    else:
        told = look(actor).values
        values = {key: told.get(key, []) for key in keys}
        if any(len(several) > 1 for several in values.values()):
            raise Skip(f"{NEEDS}observe: others are told of all records that ever had the key")
    return {
        "keys": {key: said(several) for key, several in values.items() if several},
        "gone": [key for key, several in values.items() if not several],
    }


def said(values: list[Any]) -> str:
    """A value as JSON in one form, or that there are several."""
    return json.dumps(values[0], sort_keys=True) if len(values) == 1 else SEVERAL


def same_found(seen: dict[str, Any], outcome: dict[str, Any]) -> bool:
    """Is that what is to be found?"""
    if "keys" not in seen or "keys" not in outcome:
        return False
    wanted = {key: said([json.loads(value)]) for key, value in outcome["keys"].items()}
    return bool(seen["keys"] == wanted and sorted(seen["gone"]) == sorted(outcome["gone"]))
