"""Participants under test that hear each other. No scenarios here."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sds_harness.sds.actor import Actor
from sds_harness.sds.stage import Stage
from sds_harness.sds.trace import Step
from sds_reference import Message

Hears = Callable[[Actor, Message], bool]


def everybody(listener: Actor, message: Message) -> bool:
    """No message is lost."""
    return True


def lose_everything(listener: Actor, message: Message) -> bool:
    """Every message is lost."""
    return False


def requests_only(listener: Actor, message: Message) -> bool:
    """Messages that ask for nothing are lost: they would make no difference."""
    return bool(message.repair_request)


class Room:
    """A broadcast network of participants: what one sends, the others hear after a delay."""

    def __init__(self, stage: Stage, actors: Iterable[Actor], delay_ms: int = 100) -> None:
        self.stage = stage
        self.actors = list(actors)
        self.delay_ms = delay_ms
        self.hears: Hears = everybody
        """Which listener hears which message; the others lose it."""
        self._under_way: list[tuple[int, Actor | None, Message]] = []

    def say(self, message: Message) -> None:
        """A scripted peer's message reaches everybody at once."""
        for actor in self.actors:
            if self.hears(actor, message):
                self._carry(actor, actor.receive(message))

    def sync(self, actor: Actor) -> None:
        """A participant sends a sync message."""
        message = actor.send_sync()
        if message is not None:
            self._under_way.append((self.stage.now_ms + self.delay_ms, actor, message))

    def sweep(self) -> int:
        """Everybody runs its periodic work; how many messages were broadcast."""
        before = len(self._under_way)
        for actor in self.actors:
            self._carry(actor, actor.tick())
        return len(self._under_way) - before

    def wait(self, milliseconds: int) -> None:
        """Time passes, and messages in transit arrive when they are due."""
        until = self.stage.now_ms + milliseconds
        while self._under_way and self._under_way[0][0] <= until:
            due, sender, message = self._under_way.pop(0)
            self.stage.advance(max(0, due - self.stage.now_ms))
            for actor in self.actors:
                if actor is not sender and self.hears(actor, message):
                    self._carry(actor, actor.receive(message))
        self.stage.advance(until - self.stage.now_ms)

    def _carry(self, actor: Actor, step: Step) -> None:
        due = self.stage.now_ms + self.delay_ms
        self._under_way += [(due, actor, message) for message in step.messages]
