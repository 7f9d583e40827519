"""The network of a stage: carries the bytes that peers under test send, until no peer sends any more.

The network of a schedule also records sent messages, their senders, and arrivals.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import AccessLevel

from ..schedules.base_player import ScheduleTooLongError
from ..stage import ScheduleStoppedError
from .clubs import LEVEL_TO_PB
from .frames import CHATTER
from .group_trace import Packet
from .links import PeerLink, ScriptedLink
from .peer import ScriptedPeer
from .streams import Stream
from .trace import Step

if TYPE_CHECKING:
    from .actor import Actor
    from .stage import Stage

MAX_DELIVERIES = 2_000
"""Maximum number of deliveries caused by one operation. With more, the peers answer each other without end."""
DELIVERIES_A_LINK = 100
"""Deliveries that one operation may cause for each link. If there are so many links that the product is more than
``MAX_DELIVERIES``, the product is the maximum."""


class Network:
    """All links of one stage, or of several stages whose peers are linked."""

    def __init__(self, stage: Stage) -> None:
        """``stage`` is the stage on which scripted peers play. Its environment decides, for example, into which pieces
        the network splits bytes."""
        self._stage = stage
        self._last = 0
        self._links: dict[int, PeerLink | ScriptedLink] = {}
        self._bodies = stage.trace.bodies.for_another_trace()

    def join(self, one: Actor, other: Actor, *, held: bool = False) -> PeerLink:
        """Link two peers under test; ``held`` holds the link from the beginning."""
        self._last += 1
        line = PeerLink(self, self._last, (one, other))
        line.held = held
        self._links[line.number] = line
        for here, there in ((one, other), (other, one)):
            # Bytes that the first end sends immediately stay in transit until the second end knows of the link.
            if line.closed_by is None:
                line.connected.append(here)
                self._connect(here, line.number, there.party.peer_id, there.party.level)
        if self._stage.clearskies_environment.chatter:
            for here in (one, other):
                for chatter in CHATTER:
                    line.under_way[here.name].appendleft(chatter.wire)
        self.carry()
        return line

    def join_scripted(self, actor: Actor, peer: ScriptedPeer) -> ScriptedLink:
        """Link a peer under test and a scripted peer."""
        self._last += 1
        receiving = Stream(self._last, self._bodies, self._stage.profile)
        link = ScriptedLink(self, self._last, actor, peer, receiving)
        self._links[link.number] = link
        self._connect(actor, link.number, peer.peer_id, peer.level)
        self.carry()
        return link

    def send_output(self, actor: Actor, step: Step) -> None:
        """Send the messages of a step over their links, and end the links that the peer has closed."""
        for number, data in step.sent:
            match self._links.get(number):
                case PeerLink() as line if actor in line.connected:
                    line.under_way[actor.name].append(data)
                case ScriptedLink() as link if link.actor is actor:
                    link.receive(data, step)
                case _:
                    pass  # the peer wrote to a link that does not exist; the trace records it
        for closed in step.signals("link_closed"):
            self._closed_by(actor, closed.link)

    def arrive(self, actor: Actor, number: int, data: bytes) -> Step:
        """Deliver bytes to a peer under test over the link ``number``, in pieces if the environment splits bytes.
        Returns the step of the last piece."""
        for piece in self._stage.clearskies_environment.pieces(data):
            now_ms = self.now_of(actor)
            command = pb.Receive(now_ms=now_ms, handle=actor.party.handle, link=number, data=piece)
            step = actor.do(pb.Request(receive=command))
            self.send_output(actor, step)
            if not self._can_receive(actor, number):
                break  # the peer has closed the link
        return step

    def carry(self) -> None:
        """Deliver all bytes in transit on links that are not held, and what the peers send in response.

        Raises ScheduleStoppedError if the peers send without end, which is recorded in the trace.
        """
        most = max(MAX_DELIVERIES, DELIVERIES_A_LINK * len(self._links))
        for _ in range(most):
            if not self._carry_one():
                return
        self.endless(most)

    def endless(self, deliveries: int) -> NoReturn:
        """Stop the schedule after ``deliveries`` deliveries, because peers send without end. Raises
        ScheduleStoppedError."""
        trace = self._stage.trace
        trace.unsettled.append(len(trace.steps))
        raise ScheduleStoppedError(f"messages are still under way after {deliveries} deliveries")

    def now_of(self, actor: Actor) -> int:
        """The time at the clock of a peer, in epoch milliseconds."""
        return actor.stage.now_ms

    def cut(self, line: PeerLink) -> None:
        """Break a line; both ends receive a disconnect."""
        if not line.broken:
            self._break(line)
            self.carry()

    def hang_up(self, link: ScriptedLink) -> None:
        """Close a link from the end of the scripted peer."""
        if not link.broken:
            self._forget(link)
            self._disconnect(link.actor, link.number)
            self.carry()

    def remove_peer(self, actor: Actor) -> None:
        """Remove a peer under test; the other ends of its links receive a disconnect."""
        for link in list(self._links.values()):
            match link:
                case PeerLink() if actor in link.ends:
                    self._break(link, gone=actor)
                case ScriptedLink() if link.actor is actor:
                    self._forget(link)
                case _:
                    pass
        self.carry()

    def _carry_one(self) -> bool:
        """Deliver one item that is due; False if none is."""
        for line in list(self._links.values()):
            if not isinstance(line, PeerLink) or line.held:
                continue
            for end in line.ends:
                waiting, other = line.under_way[end.name], line.other(end)
                if waiting and line.can_receive(other):
                    step = self.arrive(other, line.number, waiting.popleft())
                    # Links are streams: deliver all pieces of one message together.
                    while waiting and line.can_receive(other) and not other.stage.trace.into(step):
                        step = self.arrive(other, line.number, waiting.popleft())
                    # Move a served link to the end of the queue, so that all links get their turn.
                    if line.number in self._links:
                        self._links[line.number] = self._links.pop(line.number)
                    return True
            if line.closed_by is not None:
                self._break(line)
                return True
        return False

    def _can_receive(self, actor: Actor, number: int) -> bool:
        link = self._links.get(number)
        return link.can_receive(actor) if isinstance(link, PeerLink) else link is not None

    def _connect(self, actor: Actor, number: int, peer_id: str, level: AccessLevel) -> None:
        command = pb.Connect(
            now_ms=self.now_of(actor),
            handle=actor.party.handle,
            link=number,
            peer_id=peer_id,
            access_level=LEVEL_TO_PB[level],
        )
        step = actor.do(pb.Request(connect=command))
        if step.refusal:
            raise ScheduleStoppedError(f"connecting {actor.name} was refused: {step.refusal}")
        self.send_output(actor, step)

    def _disconnect(self, actor: Actor, number: int) -> None:
        command = pb.Disconnect(now_ms=self.now_of(actor), handle=actor.party.handle, link=number)
        self.send_output(actor, actor.do(pb.Request(disconnect=command)))

    def _closed_by(self, actor: Actor, number: int) -> None:
        match self._links.get(number):
            case PeerLink() as line if actor in line.connected:
                line.closed_by = actor
            case ScriptedLink() as link if link.actor is actor:
                self._forget(link)
            case _:
                pass  # the peer closed a link that does not exist; the trace records that

    def _break(self, line: PeerLink, gone: Actor | None = None) -> None:
        """Break a line; the ends that can still receive get a disconnect."""
        receiving = [end for end in line.ends if line.can_receive(end) and end is not gone]
        self._forget(line)
        for end in receiving:
            self._disconnect(end, line.number)

    def _forget(self, link: PeerLink | ScriptedLink) -> None:
        """Remove a link and the bytes under way on it."""
        link.broken = True
        self._links.pop(link.number, None)


class CountedNetwork(Network):
    """Links between peers of one or several stages.

    Links are streams, so a delivery need not begin where a packet begins. So the network counts, for each recipient,
    the bytes of each packet that have not arrived yet.
    """

    def __init__(
        self,
        stage: Stage,
        at: Callable[[str], Stage],
        on_step: Callable[[Actor, Step], None],
        on_loss: Callable[[Packet, str], None],
    ) -> None:
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
