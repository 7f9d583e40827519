"""The processing time of a message. Measured last, with the time that the other dimensions left."""

from __future__ import annotations

from sds_harness.sds.stage import Stage

from .register import DIMENSIONS, MANY, SMALL_MESSAGES, TOO_MANY


@DIMENSIONS.dimension(
    "cost of a message", "RECV-07", demanded=MANY, position="the text asks for no speed", most=TOO_MANY, timed=True
)
def cost(stage: Stage, size: int) -> None:
    """So many messages arrive: does each cost more as the log grows?"""
    alice, bob = stage.open(configuration=SMALL_MESSAGES), stage.peer("bob")
    alice.receive(*(bob.content(stage.now_ms + number) for number in range(size)))
