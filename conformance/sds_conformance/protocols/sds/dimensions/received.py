"""How much can be received: messages in the log, and messages that wait."""

from __future__ import annotations

from sds_harness.sds.actor import Actor
from sds_harness.sds.stage import Stage
from sds_reference import Message

from .register import SMALL_MESSAGES, counting


@counting("messages in a log", "RECV-07", "RECV-05", "DELIVER-06", declared="log_entries")
def log(stage: Stage, size: int) -> None:
    """So many messages arrive, then a copy of the first, and one that depends on the first."""
    alice, bob = stage.open(configuration=SMALL_MESSAGES), stage.peer("bob")
    base = stage.now_ms
    first = bob.content(base)
    alice.receive(first, *(bob.content(base + number) for number in range(1, size)))
    alice.given(first, bob.content(base + size, first)).settle()
    alice.observe()


@counting("waiting messages", "RECV-08", "INSWEEP-01", within=("log_entries",))
def waiting(stage: Stage, size: int) -> None:
    """So many messages wait for one, and then it comes."""
    alice, bob = stage.open(configuration=SMALL_MESSAGES), stage.peer("bob")
    root = bob.content(stage.now_ms)
    alice.receive(*(bob.content(stage.now_ms + 1 + number, root) for number in range(size)))
    _comes(alice, root)


@counting("length of a cascade", "INSWEEP-04", "RECV-08", within=("log_entries",))
def cascade(stage: Stage, size: int) -> None:
    """So many messages depend each on the one before it, the last comes first, and what the first waits for at last."""
    alice, bob = stage.open(configuration=SMALL_MESSAGES), stage.peer("bob")
    line = [bob.content(stage.now_ms)]
    for number in range(size):
        line.append(bob.content(stage.now_ms + 1 + number, line[-1]))
    alice.receive(*reversed(line[1:]))
    _comes(alice, line[0])


def _comes(alice: Actor, root: Message) -> None:
    alice.receive(root)
    alice.settle()
    alice.observe()
