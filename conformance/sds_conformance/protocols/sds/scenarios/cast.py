"""Scenarios whose cast stands in their signature. No scenarios here."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature

from sds_harness.sds.peer import ScriptedPeer
from sds_harness.sds.stage import Actor, Stage

from ....judging import registry

__all__ = ["Actor", "ScriptedPeer", "Stage", "scenario"]


def scenario(
    *exercises: str,
    needs: tuple[int, ...] = (),
    opening: Callable[[Stage], Actor] = Stage.open,
    long: bool = False,
    repeats_sync_ids: bool = False,
) -> Callable[[Callable[..., None]], registry.ScenarioFunction]:
    """Register a scenario as ``registry.scenario`` does, with its cast for parameters beside the stage.

    ``alice`` is a participant under test as ``opening`` makes it; any other name is that of a scripted peer in channel
    c1. ``needs`` are capabilities without which the schedule ends before anybody enters.
    """

    def register(plot: Callable[..., None]) -> registry.ScenarioFunction:
        cast = list(signature(plot).parameters)[1:]

        @wraps(plot)
        def play(stage: Stage) -> None:
            stage.need(*needs)
            plot(stage, *(opening(stage) if name == "alice" else stage.peer(name) for name in cast))

        return registry.scenario(*exercises, long=long, repeats_sync_ids=repeats_sync_ids)(play)

    return register
