"""What Echo brings to the suite."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import SimpleNamespace
from typing import Any

from sds_conformance.judging.catalogue import read_catalogue
from sds_conformance.judging.exercise import Model
from sds_conformance.judging.judgement import Observation, held, violated
from sds_conformance.judging.registry import Register
from sds_conformance.judging.rules import Rules
from sds_conformance.protocols import Protocol
from sds_conformance.protocols.words import Words
from sds_harness.language import Language
from sds_harness.link import LocalLink
from sds_harness.stage import Stage, start_of
from sds_harness.trace import Party, Step, Trace

from .messages import Reply, Request
from .model import handle

REVISION = SimpleNamespace(name="echo-1", title="Echo, first edition", prefix="ECHO")
REGISTER = Register("ECHO-")


class Narrator:
    def done(self, step: Any, about: frozenset[str] = frozenset()) -> str:
        return f"somebody says {step.request.say.text!r}"

    def came_out(self, step: Any, about: frozenset[str] = frozenset()) -> list[str]:
        return [f"the echo says {step.reply.said.text!r}"] if step.answer == "said" else []

    def touches(self, step: Any) -> frozenset[str]:
        return frozenset({step.request.say.text})

    def channels(self, step: Any) -> frozenset[str]:
        return frozenset()

    def on_the_wire(self, step: Any) -> list[bytes]:
        return [step.request.say.text.encode()]


def stage(session: Any, schedule: str, dialect: Any, environment: Any) -> Stage[Step]:
    trace = Trace[Step](schedule, session.declaration, REVISION, start_ms=start_of(session))
    trace.parties["echo"] = Party("echo", 1, (), trace.start_ms, None, None)
    return Stage(session, trace, lambda index, who, request: Step(index, who, request, None), environment)


@REGISTER.check("ECHO-01")
def says_the_same(view: Any) -> Iterator[Observation]:
    """What is said comes back."""
    for step in view.trace.steps:
        said, heard = step.request.say.text, step.reply.said.text
        yield held(step) if said == heard else violated(step, repr(said), repr(heard))


@REGISTER.scenario("01")
def a_shout_and_a_whisper(on: Stage[Step]) -> None:
    """Something loud, then something low."""
    for text in ("HELLO", "hello"):
        request = Request()
        request.say.text = text
        on.step("echo", request)


PROTOCOL = Protocol(
    "Echo",
    Rules(
        cache(lambda: read_catalogue(__package__ or "", ["catalogue.json"])),
        REGISTER,
        {REVISION.name: REVISION},
        Language(Request, Reply, {}, {"say": "said"}),
        stage,
        lambda trace: [SimpleNamespace(trace=trace, party=trace.parties["echo"], channel_id="")],
    ),
    Words(lambda trace: Narrator(), "Which part of Echo.", ("a-shout-and-a-whisper",), lambda *_: REVISION.title),
    Model("sds_conformance.protocols.echo.model", lambda without: LocalLink(handle)),
)
