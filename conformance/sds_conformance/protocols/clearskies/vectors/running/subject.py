"""A ClearSkies implementation that answers vectors: its codec operations, and stages with peers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.actor import Actor
from sds_harness.clearskies.clubs import profile_called
from sds_harness.clearskies.frames import Frame
from sds_harness.clearskies.links import ScriptedLink
from sds_harness.clearskies.probes import read_as_stranger
from sds_harness.clearskies.stage import ROUND_MS, Stage
from sds_harness.session import Session
from sds_harness.stage import NEEDS

from .....vectors.model import Outcome, Vector
from .....vectors.running.subject import Subject, VectorSkippedError
from ..fields import Fields, is_wide, update_members

WIDE = "CA-6"
"""The position on integers of 64 bits."""
ROUNDS = 3
"""Number of seconds to wait for messages of implementations that send when they are ticked."""
SEVERAL, UNREADABLE = "several records", "text that is not valid JSON"
"""The results for a key with more than one record, and for a value that is not valid JSON."""


@dataclass
class ClearSkiesSubject(Subject):
    """One implementation of ClearSkies, which answers vectors."""

    def stage(self, name: str) -> Stage:
        """Create a new stage without peers."""
        stage = Stage(self.session, name)
        self.stages.append(stage)
        return stage

    def peer(self, stage: Stage, vector: Vector) -> Actor:
        """Open the peer of a vector."""
        if is_wide({name: value for name, value in vector.items() if name != "outcomes"}):
            self.need(pb.CAPABILITY_WIDE_INTEGERS)
        signs = any(vector.get(name) == "read_only" for name in ("access_level", "client", "from"))
        if signs and profile_called(self.declaration.profile("signature")) is None:
            raise VectorSkippedError("declares signatures of an unknown kind")
        return stage.open("peer", read_only=vector["access_level"] == "read_only")

    def call(self, request: pb.Request) -> pb.Reply:
        """Call a codec operation and return the reply. Skips the vector if the implementation does not support it."""
        reply = self.session.call(request)
        if reply.WhichOneof("answer") == "unsupported":
            raise VectorSkippedError(f"{request.WhichOneof('command')} was answered `unsupported`")
        assert isinstance(reply, pb.Reply)
        return reply


def open_subject(session: Session, revision: str, dialect: str | None, remembered: dict[str, str]) -> ClearSkiesSubject:
    """Create the subject for one vector. There are no dialects."""
    return ClearSkiesSubject(session, revision, remembered)


def legal_outcomes(vector: Vector) -> list[Outcome]:
    """The outcomes of a vector, without those in which 64-bit integers lose bits (CA-6).

    Such outcomes are legal only for implementations that declare no 64-bit integers, which do not get these vectors.
    """
    return [each for each in vector["outcomes"] if not (each.get("warned") and each.get("position") == WIDE)]


def deliver_updates(actor: Actor, link: ScriptedLink, *updates: Fields, observing: bool = False) -> None:
    """Deliver updates of a vector, signed if needed, in one step unless one of them depends on the one before.

    If an update has the flag ``seen``, its writer had seen the records of the peer, so the peer's own number is added
    to the clock of the update. The number is read from updates that the peer sends and, with ``observing``, from its
    observed state.
    """
    waiting: list[Frame] = []
    for fields in updates:
        members = update_members(fields)
        if fields.get("seen"):
            deliver_frames(link, *waiting)
            waiting.clear()
            let_time_pass(actor)  # The peer may process messages only at a tick.
            if own := _own_number(actor, fields["uuid"], observing=observing):
                members["vector_clock"] = {**members["vector_clock"], actor.peer_id: own}
        waiting.append(link.peer.sign_if_required(link.peer.frame(members), link.level))
    deliver_frames(link, *waiting)


def _own_number(actor: Actor, uuid: str, *, observing: bool) -> int:
    """The number of a peer in the vector clock of one of its records; 0 if the number is absent or not shown.

    With ``observing``, return the larger of the sent number and the number in the observed state: a peer that relays
    messages byte by byte sends no number of its own.
    """
    sent = read_as_stranger(actor).records.get(uuid, {}).get("vector_clock")
    own = sent.get(actor.peer_id) if isinstance(sent, dict) else None
    state = actor.observe() if observing else None
    records = state.records if state is not None else ()
    numbers = [record.vector_clock.get(actor.peer_id, 0) for record in records if lower_uuid(record.uuid) == uuid]
    return max([*numbers, own if type(own) is int else 0])


def deliver_frames(link: ScriptedLink, *frames: Frame) -> None:
    """Deliver messages in one step. If the peer has closed the link, they are lost, and the result shows that."""
    if frames and not link.broken:
        link.send(b"".join(frame.wire for frame in frames))


def let_time_pass(actor: Actor) -> None:
    """Let time pass for peers that send when they are ticked. Silence is no end condition: a peer may send pings."""
    for _ in range(ROUNDS):
        actor.stage.advance(ROUND_MS)
        actor.tick()


def keys_of(vector: Vector) -> list[str]:
    """The keys in the outcomes."""
    spoken = (key for outcome in vector["outcomes"] for part in ("keys", "gone") for key in outcome.get(part, ()))
    return list(dict.fromkeys(spoken))


def read_records(actor: Actor, keys: list[str]) -> dict[str, Any]:
    """The records that the application has under keys, in the form of an outcome.

    The records are read from the observed state if it has records, otherwise from the updates that the peer sends. The
    vector is skipped if these updates have several records with one key.
    """
    values: dict[str, list[Any]] = {key: [] for key in keys}
    state = actor.observe()
    if state is not None and state.records:
        for record in state.records:
            if record.key in values and not record.deleted:
                values[record.key].append(_parse_value(record.value))
    else:
        answered_values = read_as_stranger(actor).values
        values = {key: answered_values.get(key, []) for key in keys}
        if any(len(several) > 1 for several in values.values()):
            raise VectorSkippedError(f"{NEEDS}observe: other peers receive all records that ever had the key")
    return {
        "keys": {key: canonical_json(several) for key, several in values.items() if several},
        "gone": [key for key, several in values.items() if not several],
    }


def canonical_json(values: list[Any]) -> str:
    """The only value of the list, as canonical JSON; `SEVERAL` if the list has more values.

    `UNREADABLE` if the value is nested too deeply. The list must not be empty.
    """
    if len(values) > 1:
        return SEVERAL
    try:
        return json.dumps(values[0], sort_keys=True)
    except RecursionError:
        return UNREADABLE


def lower_uuid(uuid: Any) -> Any:
    """A uuid in lower case: the specification does not define the case of its digits."""
    return uuid.lower() if isinstance(uuid, str) else uuid


def same_json(one: Any, other: Any) -> bool:
    """Are two JSON values equal? Compares their JSON texts, because in Python 1 equals 1.0 and True equals 1."""
    try:
        return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    except RecursionError:
        return False


def _parse_value(text: str) -> Any:
    """The value of the JSON text that an implementation shows."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return {UNREADABLE: text}


def matches_records(seen: dict[str, Any], outcome: dict[str, Any]) -> bool:
    """Does the result match the outcome?"""
    if "keys" not in seen or "keys" not in outcome:
        return False
    wanted = {key: canonical_json([json.loads(value)]) for key, value in outcome["keys"].items()}
    return bool(seen["keys"] == wanted and sorted(seen["gone"]) == sorted(outcome["gone"]))
