"""The caching link: the requests that it sends, its cached answers, and the implementations that it rejects."""

from __future__ import annotations

from typing import Any

import pytest

from sds_harness.caching_link import CachingLink, ChangedAnswerError
from sds_harness.link import Link, LocalLink
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference.testee.server import Testee, TesteeOptions


class Listening(Link):
    """The reference, which records the requests that it receives."""

    def __init__(self) -> None:
        self.testee = Testee(TesteeOptions("1"))
        self.asked: list[str] = []
        self.spoilt = ""

    def call(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        name = request.WhichOneof("command")
        self.asked.append(name)
        answer = LocalLink(self.testee.handle).call(request, timeout_s, reply)
        if name == self.spoilt:
            answer.effects.message_id += "'"
        return answer

    def call_unknown(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        return self.call(request, timeout_s, reply)


class Talk:
    """Numbers requests, as a session does."""

    def __init__(self) -> None:
        self.inner = Listening()
        self.link = CachingLink(self.inner)
        self.number = 0

    def ask(self, **command: Any) -> pb.Reply:
        self.number += 1
        request = pb.Request(id=self.number, **command)
        before = pb.Request.FromString(request.SerializeToString())
        answer: pb.Reply = self.link.call(request, 1.0, pb.Reply)
        assert request == before, "what was asked is in the trace"
        assert answer.id == self.number
        return answer

    def open(self, who: str = "alice") -> int:
        return self.ask(open=pb.Open(now_ms=1, participant_id=who, channels=["c1"])).opened.handle

    def send(self, handle: int, content: str) -> pb.Reply:
        return self.ask(send=pb.Send(now_ms=2, handle=handle, channel_id="c1", content=content.encode()))

    def play(self, *contents: str) -> list[pb.Effects]:
        """Play one participant from its opening to its end; return its answers."""
        handle = self.open()
        out = [self.send(handle, content).effects for content in contents]
        self.ask(close=pb.Close(now_ms=3, handle=handle))
        return out


def test_before_something_new_it_is_reported_all_that_was_before() -> None:
    talk, plain = Talk(), Talk()
    plain.link = plain.inner  # type: ignore[assignment]
    talk.play("one", "two")
    talk.inner.asked.clear()
    assert talk.play("one", "three") == plain.play("one", "three")
    assert talk.inner.asked == ["open", "send", "send", "close"]
    talk.inner.asked.clear()
    assert talk.play("four") == plain.play("four")
    assert talk.inner.asked == ["open", "send", "close"]


def test_whoever_answers_otherwise_is_found_out() -> None:
    talk = Talk()
    talk.play("one")
    talk.inner.spoilt = "send"
    assert talk.play("one"), "from memory"
    with pytest.raises(ChangedAnswerError, match="send was answered differently than before"):
        talk.play("one", "two")
    talk.link.whole = True
    with pytest.raises(ChangedAnswerError):
        talk.play("one")
