"""Links between peers on a stage: their ends and the bytes under way."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from clearskies_reference import AccessLevel

from ..stage import ScheduleStoppedError
from .frames import CHATTER, GET_UPDATES, UPDATE, Frame
from .peer import ScriptedPeer
from .streams import Message, Stream
from .trace import Step

if TYPE_CHECKING:
    from .actor import Actor
    from .network import Network


class PeerLink:
    """A link between two peers under test. Bytes arrive in order: at once, or when the link is released."""

    def __init__(self, network: Network, number: int, ends: tuple[Actor, Actor]) -> None:
        self.network = network
        self.number = number
        self.ends = ends
        self.held = False
        self.connected: list[Actor] = []
        """The ends to which the suite has reported the link."""
        self.closed_by: Actor | None = None
        """The end that closed the link on its own initiative. The other end gets a disconnect after everything that was
        sent before has arrived."""
        self.broken = False
        self.under_way: dict[str, deque[bytes]] = {end.name: deque() for end in ends}
        """The bytes under way by the name of their sender."""

    def other(self, end: Actor) -> Actor:
        """The end of the link that is not ``end``."""
        return self.ends[1] if end is self.ends[0] else self.ends[0]

    def can_receive(self, end: Actor) -> bool:
        """Return whether bytes can arrive at this end."""
        return not self.broken and end in self.connected and end is not self.closed_by

    def hold(self) -> PeerLink:
        """Hold the link: all bytes sent from now on stay in transit. Returns the link."""
        self.held = True
        return self

    def release(self) -> None:
        """Deliver all bytes in transit, and carry what the peers send in response."""
        self.held = False
        self.network.carry()

    def let_through(self, sender: Actor, size: int) -> None:
        """Deliver only ``size`` of the bytes that ``sender`` has in transit. The link stays held."""
        waiting = b"".join(self.under_way[sender.name])
        self.under_way[sender.name] = deque([waiting[size:]] if waiting[size:] else [])
        if (arriving := waiting[:size]) and self.can_receive(self.other(sender)):
            self.network.arrive(self.other(sender), self.number, arriving)
        self.network.carry()

    def let_all_through(self, sender: Actor) -> None:
        """Deliver the bytes of ``sender`` that are in transit now, in the pieces in which they were sent.

        The link stays held.
        """
        waiting, self.under_way[sender.name] = self.under_way[sender.name], deque()
        for data in waiting:
            if self.can_receive(self.other(sender)):
                self.network.arrive(self.other(sender), self.number, data)
        self.network.carry()

    def cut(self) -> None:
        """Break the link, possibly in the middle of a message. Bytes under way are lost; both ends get a disconnect."""
        self.network.cut(self)


class ScriptedLink:
    """A link between a peer under test and a scripted peer, seen from the scripted peer."""

    def __init__(self, network: Network, number: int, actor: Actor, peer: ScriptedPeer, receiving: Stream) -> None:
        self.network = network
        self.number = number
        self.actor = actor
        self.peer = peer
        self.broken = False
        self._hearing = receiving
        self._between_messages = True

    @property
    def received_messages(self) -> list[Message]:
        """The whole messages that the peer under test has sent on the link."""
        return self._hearing.messages

    @property
    def updates(self) -> list[Message]:
        """The updates that the peer under test has sent on the link."""
        return [message for message in self.received_messages if message.type == UPDATE]

    @property
    def requests(self) -> list[Message]:
        """The requests for updates that the peer under test has sent on the link."""
        return [message for message in self.received_messages if message.type == GET_UPDATES]

    @property
    def level(self) -> AccessLevel:
        """The access level of the peer under test."""
        return self.actor.party.level

    def receive(self, data: bytes, step: Step) -> None:
        """Receive bytes of the peer under test."""
        self._hearing.feed(data, step.index)

    def send(self, *what: Frame | Message | bytes) -> Step:
        """Send messages and bytes unchanged, in order, while the link exists. Returns the last step.

        Raises ScheduleStoppedError if the link is broken at the start.
        """
        assert what, "no messages to send were given"
        if self.broken:
            raise ScheduleStoppedError(
                f"link {self.number} to {self.actor.name} is broken, so {self.peer.name} cannot send"
            )
        for each in what:
            data = each if isinstance(each, bytes) else each.wire if isinstance(each, Frame) else each.framed.to_wire()
            if (
                self.peer.stage.clearskies_environment.chatter
                and self._between_messages
                and not isinstance(each, bytes)
            ):
                for chatter in CHATTER:
                    self.network.arrive(self.actor, self.number, chatter.wire)
            # After raw bytes it is unknown whether a message is complete.
            self._between_messages = self._between_messages and not isinstance(each, bytes)
            step = self.network.arrive(self.actor, self.number, data)
            self.network.carry()
            if self.broken:
                break
        return step

    def say(self, *frames: Frame) -> Step:
        """Send messages, signed where the specification requires it. Returns the last step."""
        return self.send(*(self.peer.sign_if_required(frame, self.level) for frame in frames))

    def ask(self, since: object = None) -> list[Message]:
        """Send database.get_updates. Returns the updates received in response."""
        known = len(self.updates)
        self.send(self.peer.get_updates(since))
        return self.updates[known:]

    def cut(self) -> None:
        """Break the link; the peer under test receives a disconnect."""
        self.network.hang_up(self)
