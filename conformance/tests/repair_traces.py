"""Helpers for tests of SDS-R: implementations that show no state, and small traces of gaps and requests."""

from __future__ import annotations

from dataclasses import replace

from run_helpers import Handle, T, altered, reference, view
from sds_conformance.protocols.sds.scenarios.repair.participants import T_MAX_MS, T_MIN_MS
from sds_conformance.protocols.sds.view.repair_tracker import Missing
from sds_conformance.protocols.sds.view.requester import Requester, requester
from sds_conformance.protocols.sds.view.responder import Turn, turns
from sds_harness.sds.actor import Actor
from sds_harness.sds.peer import signed
from sds_harness.sds.stage import Stage
from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HASH_PROFILES, Config, Message, decode, encode
from sds_reference.variants import VARIANTS

SHA256 = HASH_PROFILES["sha256-be64"]
"""The default declaration of the reference."""
PRIVATE = VARIANTS["private-hash"].configure(Config())
"""An unknown hash."""
BLIND = (pb.CAPABILITY_OBSERVE,)


def unseen(config: Config | None = None) -> Handle:
    """The reference, which shows no state."""
    return reference(config, without=BLIND)


def mute(handle: Handle) -> Handle:
    """It asks for nothing."""

    def says_less(request: pb.Request, reply: pb.Reply) -> None:
        if reply.effects.broadcasts:
            wires = [encode(replace(decode(wire), repair_request=())) for wire in reply.effects.broadcasts]
            reply.effects.broadcasts[:] = wires

    return altered(says_less, handle)


def silent(*message_ids: str) -> Handle:
    """The reference, which never answers for these messages; without any, for none."""

    def swallows(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("tick"):
            kept = [w for w in reply.effects.broadcasts if message_ids and decode(w).message_id not in message_ids]
            reply.effects.broadcasts[:] = kept

    return altered(swallows)


# ---- The requester's side --------------------------------------------------------------------------------------------


def gap(on: Stage, actor: Actor, count: int = 1) -> list[Message]:
    """So many messages of bob, lost-0 and so on, are found missing."""
    bob = on.peer("bob")
    lost = [bob.content(T + number, message_id=f"lost-{number}") for number in range(count)]
    actor.receive(bob.content(T + count, *signed(*lost), message_id="after-the-lost"))
    return lost


def side_of(on: Stage, participant: str = "alice") -> Requester:
    return requester(view(on, participant))


def only(side: Requester) -> Missing:
    """The one message that is wanted."""
    (missing,) = side.wanted
    return missing


def backoff(message_id: str) -> int:
    """From detection to T_req of alice by the hash of @waku/sds."""
    return SHA256.hash("alice", message_id) % (T_MAX_MS - T_MIN_MS) + T_MIN_MS


# ---- The responder's side --------------------------------------------------------------------------------------------


def holding(on: Stage, actor: Actor, count: int = 1) -> list[Message]:
    """So many messages of bob, held-0 and so on, have arrived."""
    bob = on.peer("bob")
    messages = [bob.content(T + number, message_id=f"held-{number}") for number in range(count)]
    actor.receive(*messages)
    return messages


def ask(on: Stage, actor: Actor, *messages: Message, by: str = "carol") -> Step:
    return actor.receive(on.peer(by).sync(on.now_ms, requests=signed(*messages)))


def ticks(on: Stage, actor: Actor, *waits: int) -> list[Step]:
    """Periodic work, each after a wait."""
    steps = []
    for wait in waits:
        on.advance(wait)
        steps.append(actor.tick())
    return steps


def turns_of(on: Stage) -> list[Turn]:
    return turns(view(on))
