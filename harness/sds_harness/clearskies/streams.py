"""Streams: the bytes of one direction of a link, split into messages. The pieces of bytes that arrive can end anywhere.

A stream that breaks is recorded, with the position; no error is raised (core protocol, "Framing").
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from clearskies_reference import AccessLevel, BrokenFramingError, Parser, SignatureProfile
from clearskies_reference import Message as Framed

from .bodies import Bodies, Body
from .clubs import signer
from .frames import GET_UPDATES, UPDATE


@dataclass(frozen=True)
class Message:
    """One whole message."""

    link: int
    began: int
    """Index of the step with the first byte of the message."""
    step: int
    """Index of the step with the last byte of the message."""
    body: Body
    signature: bytes | None
    """The signature in base64, unchanged; None if the message is not signed."""
    profile: SignatureProfile | None = field(default=None, compare=False, repr=False)
    repeated: bool = False
    """Whether the message repeats the last request on the link, or answers such a repeated request with the same bytes
    as before. Peers that only poll each other in this way count as quiet."""

    @property
    def type(self) -> str:
        return self.body.type

    @property
    def framed(self) -> Framed:
        """The message with the exact bytes that a relay must preserve."""
        return Framed(self.body.raw, self.signature)

    @cached_property
    def signer(self) -> AccessLevel | None:
        """The level whose key verifies the signature; None without a signature, or if it is forged or of an unknown
        profile."""
        if self.signature is None or self.profile is None:
            return None
        return signer(self.framed, self.profile)


@dataclass(frozen=True)
class Break:
    """The position at which a stream stops being valid."""

    step: int
    """Index of the step whose bytes show the break."""
    reason: str


class Stream:
    """The bytes in one direction of a link, split into messages."""

    def __init__(self, link: int, bodies: Bodies, profile: SignatureProfile | None) -> None:
        self.link = link
        self.messages: list[Message] = []
        self.broken: Break | None = None
        self._bodies = bodies
        self._profile = profile
        self._parser = Parser()
        self._began = 0
        self._rest = 0
        self._last_request: dict[str, Any] | None = None
        """The members of the last request for updates."""
        self._repeated_requests = 0
        """Number of requests for updates that were equal to the request before."""
        self._repeats_when_sent: dict[bytes, int] = {}
        """For the body of each sent update: the number of repeated requests of the other end when this update was last
        sent."""
        self._other: Stream | None = None

    def face(self, other: Stream) -> None:
        """Connect with ``other``, the other direction of the link: messages in this direction may answer requests in
        the other direction."""
        self._other, other._other = other, self

    @property
    def incomplete_bytes(self) -> int:
        """The number of bytes at the end of the stream that belong to an incomplete message."""
        return self._rest

    @property
    def unfinished(self) -> int | None:
        """Index of the step with the first byte of a message that is not whole at the end; None if there is no such
        message."""
        return self._began if self._rest else None

    def feed(self, data: bytes, step: int) -> list[Message]:
        """The messages that are completed by ``data`` of a step."""
        if self.broken is not None:
            self._rest += len(data)
            return []
        known = len(self.messages)
        began = self._began if self._rest else step
        try:
            for framed in self._parser.feed(data):
                body = self._bodies.read(framed.body)
                again = self._is_repeated(body)
                self.messages.append(Message(self.link, began, step, body, framed.signature, self._profile, again))
                began = step
        except BrokenFramingError as error:
            self.broken = Break(step, str(error))
        self._began, self._rest = began, self._parser.incomplete_bytes
        return self.messages[known:]

    def _is_repeated(self, body: Body) -> bool:
        if body.type == GET_UPDATES:
            again = body.members == self._last_request
            self._last_request = body.members
            self._repeated_requests += again
            return again
        if body.type != UPDATE or self._other is None:
            return False
        # Each repeated answer needs its own repeated request. An update without such a request is new traffic.
        asked = self._other._repeated_requests
        again = self._repeats_when_sent.get(body.raw, asked) < asked
        self._repeats_when_sent[body.raw] = asked
        return again
