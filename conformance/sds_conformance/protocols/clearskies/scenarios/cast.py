"""Scenarios that drive a stage, because they branch on what the implementation does. No scenarios here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from typing import Any

from sds_harness.clearskies.actor import Actor
from sds_harness.clearskies.clubs import record_id
from sds_harness.clearskies.frames import Frame
from sds_harness.clearskies.links import ScriptedLink
from sds_harness.clearskies.peer import ScriptedPeer
from sds_harness.clearskies.stage import Stage

from ....judging.registry import ScenarioFunction
from ..register import REGISTER

__all__ = ["Actor", "ScriptedPeer", "Stage", "request_all", "scenario", "subscribe", "tell", "version"]


def scenario(*exercises: str, long: bool = False) -> Callable[[Callable[..., None]], ScenarioFunction]:
    """Register a scenario as ``Register.scenario`` does.

    Its first parameter is the stage. ``alice`` is a peer under test; each other parameter is a scripted peer.
    """

    def register(plot: Callable[..., None]) -> ScenarioFunction:
        cast = list(signature(plot).parameters)[1:]

        @wraps(plot)
        def play(stage: Stage) -> None:
            plot(stage, *(stage.open(name) if name == "alice" else stage.peer(name) for name in cast))

        return REGISTER.scenario(*exercises, long=long)(play)

    return register


def subscribe(actor: Actor, peer: ScriptedPeer, since: Any = None) -> ScriptedLink:
    """A link to a peer under test whose other end has asked for updates."""
    link = actor.link(peer)
    link.ask(since)
    return link


def request_all(actor: Actor) -> ScriptedLink:
    """Let a new scripted peer ask for everything, and hang up when all are quiet."""
    stage = actor.stage
    link = subscribe(actor, stage.peer(f"reader {len(stage.trace.steps)}"))
    stage.settle()
    if not link.broken:
        link.cut()
    return link


def version(peer: ScriptedPeer, key: str, value: Any, clock: Mapping[str, int], **more: Any) -> Frame:
    """A version of the record that all scripted peers mean by the key, with this clock."""
    return peer.update(key, value, **{"uuid": record_id(key), "vector_clock": clock, **more})


def tell(link: ScriptedLink, *frames: Frame) -> None:
    """Send messages while the link exists."""
    for frame in frames:
        if not link.broken:
            link.say(frame)
