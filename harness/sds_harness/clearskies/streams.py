"""Streams: the bytes that go one way on one link, taken apart into messages wherever the pieces of it end.

A stream that breaks is a fact, with the place at which it does; nothing raises (core protocol, "Framing").
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from clearskies_reference import AccessLevel, BrokenFraming, Parser, SignatureProfile
from clearskies_reference import Message as Framed

from .bodies import Bodies, Body
from .clubs import signer
from .frames import GET_UPDATES, UPDATE


@dataclass(frozen=True)
class Message:
    """One whole message."""

    link: int
    began: int
    """Index of the step that has its first byte."""
    step: int
    """Index of the step that has its last byte."""
    body: Body
    signature: bytes | None
    """In base64, as it was sent; None if it is not signed."""
    profile: SignatureProfile | None = field(default=None, compare=False, repr=False)
    repeated: bool = False
    """It asks for what was asked for last on that link, or answers such a request with what was told there before, in
    the same words: who polls so, and who is polled, has nothing to say."""

    @property
    def type(self) -> str:
        return self.body.type

    @property
    def framed(self) -> Framed:
        """Its bytes, as whoever relays it must repeat them."""
        return Framed(self.body.raw, self.signature)

    @cached_property
    def signer(self) -> AccessLevel | None:
        """The level whose key verifies the signature; None if there is none, if it is forged, or of a profile that
        nobody knows."""
        if self.signature is None or self.profile is None:
            return None
        return signer(self.framed, self.profile)


@dataclass(frozen=True)
class Break:
    """Where a stream has no sense any more."""

    step: int
    """Index of the step with the bytes that show it."""
    offset: int
    """Of the first byte of what is no message, from the beginning of the stream."""
    reason: str


class Stream:
    """What goes one way on one link."""

    def __init__(self, link: int, bodies: Bodies, profile: SignatureProfile | None) -> None:
        self.link = link
        self.messages: list[Message] = []
        self.broken: Break | None = None
        self.length = 0
        """Bytes in all, those behind a break with them."""
        self._bodies = bodies
        self._profile = profile
        self._parser = Parser()
        self._began = 0
        self._rest = 0
        self._asked: dict[str, Any] | None = None
        """The members of the last request for updates."""
        self._asked_again = 0
        """So many requests for updates asked for what was asked for last."""
        self._told: dict[bytes, int] = {}
        """By the bodies of updates: how often the other end had asked again when each was told last."""
        self._other: Stream | None = None

    def face(self, other: Stream) -> None:
        """``other`` is what goes the other way on the same link: what is told here may answer what is asked there."""
        self._other, other._other = other, self

    @property
    def rest(self) -> int:
        """Bytes at the end that are of no whole message."""
        return self._rest

    @property
    def unfinished(self) -> int | None:
        """Index of the step with the first byte of that; None if there is none."""
        return self._began if self._rest else None

    def feed(self, data: bytes, step: int) -> list[Message]:
        """The messages that ``data`` of a step completes."""
        self.length += len(data)
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
        except BrokenFraming as error:
            self._rest = self._parser.rest
            self.broken = Break(step, self.length - self._rest, str(error))
        self._began, self._rest = began, self._parser.rest
        return self.messages[known:]

    def _is_repeated(self, body: Body) -> bool:
        if body.type == GET_UPDATES:
            again = body.members == self._asked
            self._asked = body.members
            self._asked_again += again
            return again
        if body.type != UPDATE or self._other is None:
            return False
        # Each copy needs a request of its own: who tells the same again and again without one says something.
        asked = self._other._asked_again
        again = self._told.get(body.raw, asked) < asked
        self._told[body.raw] = asked
        return again
