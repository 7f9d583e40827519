"""Helpers for tests that branch on the behaviour of an implementation: they drive participants with SDS-R on a live
stage.

Schedules use the functions with the same names in ``participants``, ``requests`` and ``responses``. No scenarios here.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from sds_harness.sds.peer import entries_with_senders
from sds_harness.sds.trace import Step
from sds_harness.stage import ScheduleStoppedError
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Message

from ..cast import Actor, ScriptedPeer, Stage, scenario
from .participants import FINE, LONGEST_MS, NEEDED, T_MAX_MS, T_MIN_MS, repair_configuration


def open_with_repairs(
    stage: Stage,
    name: str = "alice",
    configuration: pb.Configuration | None = None,
    instance: str = "",
    channels: tuple[str, ...] = ("c1",),
    longest_ms: int = LONGEST_MS,
) -> Actor:
    """Open a participant that uses SDS-R (`repair_configuration`). Raises ScheduleStoppedError if it cannot use SDS-R,
    or only with a T_max over ``longest_ms``.
    """
    stage.need(*NEEDED)
    asked = repair_configuration(configuration)
    actor = stage.open(name, channels, configuration=asked, instance=instance)
    in_force = actor.party.in_force
    if in_force.HasField("sds_r") and not in_force.sds_r:
        raise ScheduleStoppedError("SDS-R is declared, but could not be turned on")
    if t_max(actor) > longest_ms:
        raise ScheduleStoppedError(f"T_max is {t_max(actor)} ms, although {asked.t_max_ms} ms were asked for")
    return actor


repair_scenario = partial(scenario, opening=open_with_repairs)
"""Registers a scenario in which alice uses SDS-R."""


def t_min(actor: Actor) -> int:
    """T_min in force, in milliseconds; the requested one if the implementation does not report it."""
    return actor.party.in_force.t_min_ms or T_MIN_MS


def t_max(actor: Actor) -> int:
    """T_max in force, in milliseconds; the requested one if the implementation does not report it."""
    return actor.party.in_force.t_max_ms or T_MAX_MS


# ---- Requests of the participant ---------------------------------------------------------------------------------


def lose_messages(stage: Stage, actor: Actor, peer: ScriptedPeer, count: int = 1) -> list[Message]:
    """Lose messages of ``peer``: the participant receives one that depends on them. Returns the lost ones."""
    lost = [peer.content(stage.now_ms - count + number) for number in range(count)]
    actor.receive(peer.content(stage.now_ms + 1, *entries_with_senders(*lost)))
    return lost


def send_either(actor: Actor, *, content: bool) -> Message | None:
    """Send content or a sync message; content if the implementation has no sync messages."""
    if content or not actor.stage.trace.declaration.can(pb.CAPABILITY_SYNC):
        return actor.send()
    return actor.send_sync()


def send_both_kinds(actor: Actor, *waits_ms: int, content_first: bool = False) -> None:
    """After each wait, send a sync message and content, or content and a sync message."""
    for wait_ms in waits_ms:
        actor.stage.advance(wait_ms)
        send_either(actor, content=content_first)
        send_either(actor, content=not content_first)


# ---- Requests of others ------------------------------------------------------------------------------------------


def deliver_messages(stage: Stage, actor: Actor, number: int, author: str = "bob") -> list[Message]:
    """Let messages of one author be delivered to the participant."""
    peer, serial = stage.peer(author), len(stage.trace.steps)
    ids = [f"{peer.name}-{serial + count}" for count in range(1, number + 1)]
    messages = [peer.content(stage.now_ms + count, message_id=message_id) for count, message_id in enumerate(ids)]
    last = actor.receive(*messages)
    if stage.trace.declaration.can(pb.CAPABILITY_DELIVERED) and not last.signals("delivered", messages[-1].channel_id):
        actor.settle()
    return messages


def request_messages(stage: Stage, peer: ScriptedPeer, actor: Actor, *messages: Message) -> None:
    """Let a content message arrive that asks for the messages."""
    message_id = f"{peer.name}-asks-{len(stage.trace.steps) + 1}"
    actor.receive(peer.content(stage.now_ms, message_id=message_id, requests=entries_with_senders(*messages)))


def wait_for_responses(stage: Stage, *actors: Actor) -> None:
    """Let all the time pass that a response may take, and the period of a sweep."""
    longest = max(map(t_max, actors))
    for pause in (longest // 2, longest - longest // 2, 30_000, 31_000):
        stage.advance(pause)
        for actor in actors:
            actor.tick()


def tick_often(stage: Stage, actor: Actor, more: int = 3) -> list[Step]:
    """Tick twenty times within T_max, and a few times after it."""
    return [actor.after(t_max(actor) // FINE).tick() for _ in range(FINE + more)]


def broadcast_ids(steps: Iterable[Step]) -> set[str]:
    """IDs of the messages that were broadcast."""
    return {message.message_id for step in steps for message in step.messages}
