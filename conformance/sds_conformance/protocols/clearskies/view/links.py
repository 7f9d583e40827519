"""What went over one link of a peer under test: updates and requests, in order, and until when it was there."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from clearskies_reference import AccessLevel
from sds_harness.clearskies.trace import Connection, Step, Trace

from .facts import Request, Update, reads_as_request, reads_as_update


@dataclass
class LinkView:
    """One link, from the end of the peer under test."""

    connection: Connection
    began: int
    """Index of the step."""
    ended: int
    """Index of the step with which it ended, or one more than that of the last."""
    received: list[Update] = field(default_factory=list)
    sent: list[Update] = field(default_factory=list)
    asked: list[Request] = field(default_factory=list)
    """What the peer under test asked for."""
    requests: list[Request] = field(default_factory=list)
    """What it was asked for."""
    doubt: int | None = None
    """Index of the step with the first thing that arrived and may be refused: the peer may close the link then, or take
    nothing more that comes on it ("with no records skipped"). None if there is no such thing."""

    @property
    def number(self) -> int:
        return self.connection.number

    @property
    def peer_id(self) -> str:
        """Of the other end."""
        return self.connection.peer_id

    @property
    def level(self) -> AccessLevel:
        """Of the other end."""
        return self.connection.level

    @property
    def subscribed(self) -> int | None:
        """Index of the step from which on the other end gets all updates; None if it has not asked."""
        return next((request.step.index for request in self.requests if request.since is not None), None)

    @cached_property
    def readable(self) -> int:
        """Index of the last step of which one can read what was sent: what comes of a broken stream is CSDB-15."""
        sent = self.connection.sent
        ends = [message.began for message in sent.messages if not message.body.members]
        ends += [sent.unfinished] if sent.unfinished is not None else []
        return min([*ends, self.ended])

    def there(self, step: Step) -> bool:
        """Was it there when that step was done?"""
        return self.began < step.index <= self.ended

    def in_doubt(self, step: Step) -> bool:
        """May what comes on it in that step be let be?"""
        return self.doubt is not None and step.index >= self.doubt


def links_of(trace: Trace, participant: str) -> list[LinkView]:
    """The links of a peer under test, in the order in which they came about."""
    out = []
    for connection in trace.links_of(participant):
        link = LinkView(connection, connection.began, connection.ended or len(trace.steps) + 1)
        for stream, updates, requests in (
            (connection.arrived, link.received, link.requests),
            (connection.sent, link.sent, link.asked),
        ):
            for message in stream.messages:
                step = trace.steps[message.step - 1]
                if reads_as_update(message):
                    updates.append(Update(message, connection, step))
                elif reads_as_request(message):
                    requests.append(Request(message, connection, step))
        doubts = [request.step.index for request in link.requests if request.since is None]
        if connection.arrived.broken is not None:
            doubts.append(connection.arrived.broken.step)
        link.doubt = min(doubts, default=None)
        out.append(link)
    return out
