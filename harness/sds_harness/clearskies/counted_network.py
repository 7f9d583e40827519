"""The network of a schedule, which extends the network of a stage: it also records sent messages, their senders, and
arrivals."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from ..schedules.base_player import ScheduleTooLongError
from ..stage import ScheduleStoppedError
from .group_trace import Packet
from .links import PeerLink, ScriptedLink
from .network import Network

if TYPE_CHECKING:
    from .actor import Actor
    from .stage import Stage
    from .trace import Step

OnStep = Callable[["Actor", "Step"], None]
OnLoss = Callable[[Packet, str], None]


class CountedNetwork(Network):
    """Links between peers of one or several stages.

    Links are streams, so a delivery need not begin where a packet begins. So the network counts, for each recipient,
    the bytes of each packet that have not arrived yet.
    """

    def __init__(self, stage: Stage, at: Callable[[str], Stage], on_step: OnStep, on_loss: OnLoss) -> None:
        """Make the network of a group trace.

        ``at`` returns the stage of a peer, set to the peer's own time. ``on_step`` is called with each step before its
        messages are sent, ``on_loss`` with each packet that a peer does not receive.
        """
        super().__init__(stage)
        self._at = at
        self._on_step = on_step
        self._on_loss = on_loss
        self._under_way: dict[tuple[int, str], deque[tuple[Packet, int]]] = {}
        """By link and recipient: packets, each with the number of bytes that have not arrived."""
        self.arriving: Packet | None = None
        """The packet that contains the first of the bytes that a peer is receiving."""

    def drop_callbacks(self) -> None:
        """Drop the callbacks. They refer to this network in a cycle, which would keep all of it in memory."""
        self._at = lambda who: self._stage
        self._on_step = lambda actor, step: None
        self._on_loss = lambda packet, listener: None

    def sent(self, packet: Packet, listener: str) -> None:
        """Record that a packet is sent to the peer ``listener``."""
        key = packet.wire.link, listener
        self._under_way.setdefault(key, deque()).append((packet, len(packet.wire.raw)))

    def listener_of(self, number: int, sender: str) -> str:
        """The peer under test that receives from ``sender`` on a link; "" if none does."""
        match self._links.get(number):
            case PeerLink() as line:
                return next((end.name for end in line.ends if end.name != sender), "")
            case _:
                return ""

    def now_of(self, actor: Actor) -> int:
        return self._at(actor.name).now_ms

    def send_output(self, actor: Actor, step: Step) -> None:
        self._on_step(actor, step)
        super().send_output(actor, step)

    def arrive(self, actor: Actor, number: int, data: bytes) -> Step:
        self.arriving = self._next(number, actor.name, len(data))
        try:
            return super().arrive(actor, number, data)
        finally:
            self.arriving = None

    def endless(self, deliveries: int) -> NoReturn:
        """Record that peers still answer each other after this many deliveries. Always raises ScheduleTooLongError,
        which ends the whole schedule: each later step would need as many deliveries.
        """
        try:
            super().endless(deliveries)
        except ScheduleStoppedError as stopped:
            raise ScheduleTooLongError(str(stopped)) from None

    def _next(self, number: int, listener: str, size: int) -> Packet | None:
        """The packet that contains the first of the next ``size`` bytes. Marks these bytes as arrived."""
        waiting = self._under_way.get((number, listener), deque())
        first = waiting[0][0] if waiting else None
        while waiting and size:
            packet, left = waiting.popleft()
            if left > size:
                waiting.appendleft((packet, left - size))
            size -= min(size, left)
        return first

    def _forget(self, link: PeerLink | ScriptedLink) -> None:
        super()._forget(link)
        ends = [end.name for end in link.ends] if isinstance(link, PeerLink) else [link.actor.name]
        for listener in ends:
            for packet, _ in self._under_way.pop((link.number, listener), ()):
                self._on_loss(packet, listener)
