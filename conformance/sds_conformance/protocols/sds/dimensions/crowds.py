"""The numbers of channels and participants of a process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from sds_harness.sds.stage import Stage

from .register import DIMENSIONS, SMALL_MESSAGES, TOO_MANY

CHANNELS = 33
PARTICIPANTS = 11
"""Number of participants in the largest scenario of `run`."""
LOOKED_AT = 4
T = TypeVar("T")


@DIMENSIONS.dimension(
    "channels",
    "RECV-07",
    "MSG-15",
    demanded=CHANNELS,
    position="the text names no bound",
    declared="channels",
    most=TOO_MANY,
)
def channels(stage: Stage, size: int) -> None:
    """A participant is in so many channels; in the first, the last and some between, messages come and go."""
    names = tuple(f"c{number}" for number in range(1, size + 1))
    alice = stage.open(channels=names, configuration=SMALL_MESSAGES)
    spoken = _sample(names)
    sent = {}
    for name in spoken:
        alice.receive(stage.peer(f"peer-of-{name}", name).content(stage.now_ms))
        sent[name] = alice.send(channel_id=name)
    for name in spoken:
        alice.receive(stage.peer(f"other-of-{name}", name).content(stage.now_ms + 1, sent[name]))


@DIMENSIONS.dimension(
    "participants in a process",
    "RECV-07",
    demanded=PARTICIPANTS,
    position="the text names no bound",
    declared="participants",
    most=TOO_MANY,
)
def participants(stage: Stage, size: int) -> None:
    """There are so many participants; some get messages that the others do not, and send."""
    actors = [stage.open(f"alice{number}", configuration=SMALL_MESSAGES) for number in range(size)]
    for actor in _sample(actors):
        peer = stage.peer(f"peer-of-{actor.name}")
        actor.receive(*[peer.content(stage.now_ms + number) for number in range(3)])
    for actor in _sample(actors):
        actor.after(10).send()


def _sample(things: Sequence[T]) -> list[T]:
    """The first, the last and some in the middle. An implementation with too little room lacks at least one of
    these.
    """
    middle = len(things) // 2
    places = {*range(LOOKED_AT), *range(middle, middle + LOOKED_AT), *range(len(things) - LOOKED_AT, len(things))}
    return [things[place] for place in sorted(places) if 0 <= place < len(things)]
