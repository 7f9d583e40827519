"""Links between peers on a stage: who is at the other end, and what is under way."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from clearskies_reference import AccessLevel

from ..stage import ScheduleStopped
from .frames import CHATTER, GET_UPDATES, UPDATE, Frame
from .streams import Message, Stream

if TYPE_CHECKING:
    from .actor import Actor
    from .network import Network
    from .peer import ScriptedPeer
    from .trace import Step


class Line:
    """A link between two peers under test. Bytes go along it in order, at once or when they are let go."""

    def __init__(self, network: Network, number: int, ends: tuple[Actor, Actor]) -> None:
        self.network = network
        self.number = number
        self.ends = ends
        self.held = False
        """Nothing arrives for now."""
        self.connected: list[Actor] = []
        """The ends that know of it."""
        self.closed_by: Actor | None = None
        """Who closed it of its own accord: the other one hears of that when all has arrived that came before."""
        self.broken = False
        self.under_way: dict[str, deque[bytes]] = {end.name: deque() for end in ends}
        """By the name of who sent it."""

    def other(self, end: Actor) -> Actor:
        """Who is at the other end."""
        return self.ends[1] if end is self.ends[0] else self.ends[0]

    def hears(self, end: Actor) -> bool:
        """Can anything arrive there?"""
        return not self.broken and end in self.connected and end is not self.closed_by

    def hold(self) -> Line:
        """Itself; whatever is sent from now on is under way."""
        self.held = True
        return self

    def release(self) -> None:
        """Let arrive what is under way, and what comes of it."""
        self.held = False
        self.network.carry()

    def let_through(self, sender: Actor, size: int) -> None:
        """Let ``size`` bytes of those that ``sender`` has under way arrive, although the line is held, and no more."""
        waiting = b"".join(self.under_way[sender.name])
        self.under_way[sender.name] = deque([waiting[size:]] if waiting[size:] else [])
        if (arriving := waiting[:size]) and self.hears(self.other(sender)):
            self.network.arrive(self.other(sender), self.number, arriving)
        self.network.carry()

    def cut(self) -> None:
        """Break it, be it in the middle of a message: what is under way is lost, and both ends hear of it."""
        self.network.cut(self)


class ScriptedLink:
    """A link between a peer under test and a scripted one, as that one sees it."""

    def __init__(self, network: Network, number: int, actor: Actor, peer: ScriptedPeer, hearing: Stream) -> None:
        self.network = network
        self.number = number
        self.actor = actor
        self.peer = peer
        self.broken = False
        self._hearing = hearing
        self._between_messages = True
        peer.links.append(self)

    @property
    def heard(self) -> list[Message]:
        """The whole messages that the peer under test has sent on it."""
        return self._hearing.messages

    @property
    def updates(self) -> list[Message]:
        """Those that are updates."""
        return [message for message in self.heard if message.type == UPDATE]

    @property
    def requests(self) -> list[Message]:
        """Those that ask for updates."""
        return [message for message in self.heard if message.type == GET_UPDATES]

    @property
    def level(self) -> AccessLevel:
        """Of who listens."""
        return self.actor.party.level

    def hear(self, data: bytes, step: Step) -> None:
        """The peer under test has sent something."""
        self._hearing.feed(data, step.index)

    def send(self, *what: Frame | Message | bytes) -> Step:
        """Write messages and bytes to it just as they are, in order, as long as it is there; the step of the last.

        Raises ScheduleStopped where it is not there to begin with.
        """
        assert what, "there is nothing to send"
        if self.broken:
            raise ScheduleStopped(f"{self.actor.name} has closed link {self.number}, on which there was more to say")
        for each in what:
            data = each if isinstance(each, bytes) else each.wire if isinstance(each, Frame) else each.framed.to_wire()
            if self.peer.stage.ways.chatter and self._between_messages and not isinstance(each, bytes):
                for chatter in CHATTER:
                    self.network.arrive(self.actor, self.number, chatter.wire)
            # Of bytes nobody knows whether they end with a message.
            self._between_messages = self._between_messages and not isinstance(each, bytes)
            step = self.network.arrive(self.actor, self.number, data)
            self.network.carry()
            if self.broken:
                break
        return step

    def say(self, *frames: Frame) -> Step:
        """Send messages signed where the text has them signed; the step of the last."""
        return self.send(*(self.peer.suited(frame, self.level) for frame in frames))

    def ask(self, since: object = None) -> list[Message]:
        """Send database.get_updates; the updates that came of it."""
        known = len(self.updates)
        self.send(self.peer.get_updates(since))
        return self.updates[known:]

    def cut(self) -> None:
        """Break it: the peer under test hears of it."""
        self.network.hang_up(self)
