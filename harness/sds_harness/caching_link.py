"""A caching link: answers requests from a cache if a participant has received the same requests in the same order
before.

It assumes two things: an implementation is deterministic, and its participants share only messages. Both are
checked. When a participant needs a new request after cached ones, the cached requests are replayed first, and each
reply is compared with the cached one. While the link is ``whole``, every request is sent and compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .link import Link, WrappedLink

MOST = 200_000
"""Maximum number of answers in the cache. A full cache is emptied when no participant is open."""
_AGAIN = 1 << 32
"""ID of the first replayed request. The IDs that a session counts up never become so large."""


class ChangedAnswerError(Exception):
    """An implementation answered the same sequence of requests differently than before."""

    def __init__(self, command: str) -> None:
        super().__init__(f"{command} was answered differently than before, after the same requests")


class _CacheNode:
    """A request to a participant and its reply: a node in the tree of all request sequences."""

    __slots__ = ("children", "parent", "reply", "request")

    def __init__(self, before: _CacheNode | None = None, request: bytes = b"", reply: bytes = b"") -> None:
        self.parent = before
        self.request = request
        self.reply = reply
        self.children: dict[bytes, _CacheNode] = {}


@dataclass
class _Participant:
    current: _CacheNode
    """The last request of the participant, whether sent or answered from the cache."""
    last_sent: _CacheNode
    """The last request that was really sent."""
    handle: int = 0
    """The handle of the participant in the implementation, if it was really opened."""


Ask = Callable[[Any], Any]
"""Sends a request to the implementation."""


class CachingLink(WrappedLink):
    """Wraps another link. Handles ``open``, which is answered with a handle, ``close``, and all commands with a
    ``handle``. Other commands are forwarded."""

    def __init__(self, link: Link) -> None:
        super().__init__(link)
        self.whole = False
        """While True, the cache is not used."""
        self._nothing = _CacheNode()
        self._kept = 0
        self._participants: dict[int, _Participant] = {}
        self._opened = 0
        self._again = _AGAIN
        self._closed = b""
        """The answer to the last ``close`` that was really sent."""

    def call(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        """Like the call of any link; also raises ChangedAnswerError."""
        name = request.WhichOneof("command")
        command = getattr(request, name)
        if name == "open":
            self._opened += 1
            handle, beginning = self._opened, self._root_node()
            who = self._participants[handle] = _Participant(beginning, beginning)
        elif "handle" in command.DESCRIPTOR.fields_by_name:
            handle, command.handle = command.handle, 0
            who = self._participants[handle]
        else:
            return self._link.call(request, timeout_s, reply)
        number, request.id = request.id, 0
        key = request.SerializeToString()
        try:
            body = self._cached_reply(who, name, key)
            if body is not None:
                answer = reply.FromString(body)
                answer.id = number
            else:
                answer = self._send_request(
                    who, name, key, number, request, lambda it: self._link.call(it, timeout_s, reply)
                )
        finally:
            request.id = number
            if name != "open":
                command.handle = handle
        if name == "close":
            del self._participants[handle]
        elif answer.WhichOneof("answer") == "opened":
            answer.opened.handle = handle
        return answer

    def _root_node(self) -> _CacheNode:
        if self._kept >= MOST and not self._participants:
            self._nothing, self._kept = _CacheNode(), 0
        return self._nothing

    def _cached_reply(self, who: _Participant, name: str, key: bytes) -> bytes | None:
        """The cached answer to the request with the bytes ``key``; None if the request must be sent."""
        if self.whole:
            return None
        if name == "close":
            return self._closed if self._closed and not who.handle else None
        known = who.current.children.get(key)
        if known is None:
            return None
        who.current = known
        return known.reply

    def _send_request(self, who: _Participant, name: str, key: bytes, number: int, request: Any, ask: Ask) -> Any:
        """Send the cached requests that the implementation has not received yet, and then ``request``. Returns the
        answer to ``request``.
        """
        if name != "close":
            self._catch_up(who, type(request), ask)
        answer = self._forward(who, request, number, ask)
        if answer.id != number:
            return answer  # Do not cache it: the session reports that the reply has the wrong ID.
        body = _body(answer)
        if name == "close":
            self._closed = body
            return answer
        known = who.current.children.get(key)
        if known is None:
            known = who.current.children[key] = _CacheNode(who.current, key, body)
            self._kept += 1
        elif known.reply != body:
            raise ChangedAnswerError(name)
        who.current = who.last_sent = known
        return answer

    def _catch_up(self, who: _Participant, request: type[Any], ask: Ask) -> None:
        left = []
        at = who.current
        while at is not who.last_sent:
            left.append(at)
            assert at.parent is not None
            at = at.parent
        for cached in reversed(left):
            self._again += 1
            again = request.FromString(cached.request)
            answer = self._forward(who, again, self._again, ask)
            if answer.id != self._again or _body(answer) != cached.reply:
                raise ChangedAnswerError(again.WhichOneof("command"))
            who.last_sent = cached

    def _forward(self, who: _Participant, request: Any, number: int, ask: Ask) -> Any:
        name = request.WhichOneof("command")
        request.id = number
        if name != "open":
            getattr(request, name).handle = who.handle
        answer = ask(request)
        if name == "open" and answer.WhichOneof("answer") == "opened":
            who.handle = answer.opened.handle
        return answer


def _body(answer: Any) -> bytes:
    """The bytes of an answer without its ID and the handle, which differ each time."""
    number, answer.id = answer.id, 0
    opened = answer.opened.handle if answer.WhichOneof("answer") == "opened" else 0
    if opened:
        answer.opened.handle = 0
    body: bytes = answer.SerializeToString()
    answer.id = number
    if opened:
        answer.opened.handle = opened
    return body
