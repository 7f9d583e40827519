"""The network of a schedule: that of a stage, which keeps account of what was sent, by whom, and what arrived of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from ..schedules.performer import TooLong
from ..stage import ScheduleStopped
from .links import Line, ScriptedLink
from .network import Network
from .performance import Packet

if TYPE_CHECKING:
    from .actor import Actor
    from .stage import Stage
    from .trace import Step

Took = Callable[["Actor", "Step"], None]
Lost = Callable[[Packet, str], None]


class CountedNetwork(Network):
    """Links between peers of one stage or of several.

    Links are streams, so what arrives need not begin where something was sent: what each listener still has to get of
    each packet is counted in bytes.
    """

    def __init__(self, stage: Stage, at: Callable[[str], Stage], took: Took, lost: Lost) -> None:
        """``at`` gives the stage of a peer at that one's time; ``took`` is told each step before what it sent goes
        under way, ``lost`` each packet that somebody does not get."""
        super().__init__(stage)
        self._at = at
        self._on_step = took
        self._on_loss = lost
        self._under_way: dict[tuple[int, str], deque[tuple[Packet, int]]] = {}
        """By link and listener: packets, with what is left of each."""
        self.arriving: Packet | None = None
        """That of which the bytes are, or begin with, which a peer is receiving."""

    def let_go(self) -> None:
        """Tell nobody anything any more: who was told holds this, and would be kept in memory with all that it has."""
        self._at = lambda who: self._stage
        self._on_step = lambda actor, step: None
        self._on_loss = lambda packet, listener: None

    def sent(self, packet: Packet, listener: str) -> None:
        """A packet goes under way."""
        key = packet.wire.link, listener
        self._under_way.setdefault(key, deque()).append((packet, len(packet.wire.raw)))

    def listener_of(self, number: int, sender: str) -> str:
        """The peer under test to whom something goes on a link, "" if to none."""
        match self._links.get(number):
            case Line() as line:
                return next((end.name for end in line.ends if end.name != sender), "")
            case _:
                return ""

    def now_of(self, actor: Actor) -> int:
        return self._at(actor.name).now_ms

    def took(self, actor: Actor, step: Step) -> None:
        self._on_step(actor, step)
        super().took(actor, step)

    def arrive(self, actor: Actor, number: int, data: bytes) -> Step:
        self.arriving = self._next(number, actor.name, len(data))
        try:
            return super().arrive(actor, number, data)
        finally:
            self.arriving = None

    def endless(self, deliveries: int) -> NoReturn:
        """Raises TooLong: what follows would take as long each time. That it was so stands in the trace."""
        try:
            super().endless(deliveries)
        except ScheduleStopped as stopped:
            raise TooLong(str(stopped)) from None

    def _next(self, number: int, listener: str, size: int) -> Packet | None:
        """The packet with which the next so many bytes begin, which have arrived then."""
        waiting = self._under_way.get((number, listener), deque())
        first = waiting[0][0] if waiting else None
        while waiting and size:
            packet, left = waiting.popleft()
            if left > size:
                waiting.appendleft((packet, left - size))
            size -= min(size, left)
        return first

    def _forget(self, link: Line | ScriptedLink) -> None:
        super()._forget(link)
        ends = [end.name for end in link.ends] if isinstance(link, Line) else [link.actor.name]
        for listener in ends:
            for packet, _ in self._under_way.pop((link.number, listener), ()):
                self._on_loss(packet, listener)
