"""Scenarios whose cast stands in their signature. No scenarios here."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.actor import Actor
from sds_harness.clearskies.links import ScriptedLink
from sds_harness.clearskies.peer import ScriptedPeer
from sds_harness.clearskies.stage import Stage

from ....judging.registry import ScenarioFunction
from ..register import REGISTER

__all__ = ["Actor", "ScriptedPeer", "Stage", "listening", "look", "scenario"]

UNDER_TEST = ("alice", "alan", "anna")
READERS_UNDER_TEST = ("rita", "rosa")
READERS = ("rolf", "ruth")


def scenario(
    *exercises: str,
    needs: tuple[int, ...] = (),
    store: bool = False,
    resolution: pb.Resolution | None = None,
    long: bool = False,
) -> Callable[[Callable[..., None]], ScenarioFunction]:
    """Register a scenario as ``Register.scenario`` does, with its cast for parameters beside the stage.

    ``alice``, ``alan`` and ``anna`` are peers under test, and so are ``rita`` and ``rosa``, who read only. Any other
    name is that of a scripted peer, of whom ``rolf`` and ``ruth`` read only. ``needs`` are capabilities without which
    the schedule ends before anybody enters. At the end all have time to say what they have to say.
    """

    def register(plot: Callable[..., None]) -> ScenarioFunction:
        cast = list(signature(plot).parameters)[1:]

        @wraps(plot)
        def play(stage: Stage) -> None:
            stage.need(*needs)

            def enter(name: str) -> Actor | ScriptedPeer:
                if name in (*UNDER_TEST, *READERS_UNDER_TEST):
                    return stage.open(name, read_only=name in READERS_UNDER_TEST, store=store, resolution=resolution)
                return stage.peer(name, read_only=name in READERS)

            plot(stage, *map(enter, cast))
            if stage.trace.steps[-1].command not in ("tick", "disconnect"):
                stage.settle()

        return REGISTER.scenario(*exercises, long=long)(play)

    return register


def listening(actor: Actor, peer: ScriptedPeer, since: Any = None) -> ScriptedLink:
    """A link to a peer under test whose other end has asked for updates, as everybody does."""
    link = actor.link(peer)
    link.ask(since)
    return link


def look(actor: Actor, *, read_only: bool = False) -> ScriptedLink:
    """A stranger asks a peer under test for everything, and stays until that has nothing more to say."""
    stage = actor.stage
    link = listening(actor, stage.peer(f"reader {len(stage.trace.steps)}", read_only=read_only))
    stage.settle()
    if not link.broken:
        link.cut()
    return link
