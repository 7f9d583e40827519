"""The outcomes of a transcript: those of the reference model and of the legal variants with the same configuration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sds_harness.stage import ScheduleStopped, Stage
from sds_reference import Config
from sds_reference.testee.server import TesteeOptions
from sds_reference.variants import VARIANTS

from ..canonical import digest
from .playing import NotPlayed, TranscriptPlayer, opened
from .recording import session_with


def configurations() -> Iterator[Config]:
    """The reference first, then the variants."""
    yield Config()
    for variant in VARIANTS.values():
        config = variant.configure(Config())
        if config.max_lamport_ahead_ms is None:  # a bound is legal for who declares it, and not for everybody
            yield config


def derive(transcript: dict[str, Any], revision: str) -> None:
    """Give every step its ``outcomes``, that of the reference first."""
    found: list[dict[str, Any]] = [{} for _ in transcript["steps"]]
    for config in configurations():
        stage = Stage(session_with(TesteeOptions("vectors", config), revision), transcript["scenario"])
        player = TranscriptPlayer(stage, transcript)
        if not opened(player.actor, transcript):
            continue
        try:
            for outcomes, seen in zip(found, player.play(), strict=False):
                assert seen is not None, "the model shows its state"
                outcomes.setdefault(digest(seen), seen)
        except (NotPlayed, ScheduleStopped):  # a variant that refuses a step has no more to say
            continue
    for step, outcomes in zip(transcript["steps"], found, strict=True):
        step["outcomes"] = list(outcomes.values())
