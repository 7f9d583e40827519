"""What Echo brings to the suite."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import MappingProxyType, SimpleNamespace
from typing import Any

from sds_conformance.judging.catalogue import Catalogue, read_catalogue
from sds_conformance.judging.exercise import Model
from sds_conformance.judging.judgement import Observation, observe_met, observe_violation
from sds_conformance.judging.registry import Register
from sds_conformance.judging.rules import Rules
from sds_conformance.protocols import Protocol
from sds_conformance.protocols.words import QuotedFacts
from sds_harness.language import Language
from sds_harness.link import LocalLink
from sds_harness.stage import Stage, start_of
from sds_harness.trace import Party, Step, Trace

from .messages import Reply, Request
from .model import handle

REVISION = SimpleNamespace(name="echo-1", title="Echo, first edition", prefix="ECHO")
REGISTER = Register("ECHO-")


class Narrator:
    def done(self, step: Any, about: frozenset[str] = frozenset(), finding_text: str = "") -> str:
        return f"somebody says {step.request.say.text!r}"

    def came_out(self, step: Any, about: frozenset[str] = frozenset(), finding_text: str = "") -> list[str]:
        return [f"the echo says {step.reply.said.text!r}"] if step.answer == "said" else []

    def touches(self, step: Any) -> frozenset[str]:
        return frozenset({step.request.say.text})

    def facts(self, step: Any) -> QuotedFacts:
        return QuotedFacts(self.touches(step))

    def channels(self, step: Any) -> frozenset[str]:
        return frozenset()

    def on_the_wire(self, step: Any) -> list[bytes]:
        return [step.request.say.text.encode()]


@REGISTER.check("ECHO-01")
def says_the_same(view: Any) -> Iterator[Observation]:
    """Messages come back."""
    for step in view.trace.steps:
        said, heard = step.request.say.text, step.reply.said.text
        yield observe_met(step) if said == heard else observe_violation(step, "changed", repr(said), repr(heard))


@REGISTER.scenario("01")
def a_shout_and_a_whisper(on: Stage[Step]) -> None:
    """Something loud, then something low."""
    for text in ("HELLO", "hello"):
        request = Request()
        request.say.text = text
        on.step("echo", request)


@cache
def load_catalogue() -> Catalogue:
    return read_catalogue(__package__ or "", ["catalogue.json"])


class EchoRules(Rules):
    """How Echo is judged."""

    register = REGISTER
    revisions = MappingProxyType({REVISION.name: REVISION})
    language = Language(Request, Reply, {}, {"say": "said"})

    @property
    def catalogue(self) -> Catalogue:
        return load_catalogue()

    def stage(self, session: Any, schedule: str, dialect: Any, environment: Any) -> Stage[Step]:
        trace = Trace[Step](schedule, session.declaration, REVISION, start_ms=start_of(session))
        trace.parties["echo"] = Party("echo", 1, (), trace.start_ms, None, None)
        return Stage(session, trace, lambda index, who, request: Step(index, who, request, None), environment)

    def views(self, trace: Any) -> list[Any]:
        return [SimpleNamespace(trace=trace, party=trace.parties["echo"], channel_id="")]


class Echo(Protocol):
    name = "Echo"
    rules = EchoRules()
    model = Model("sds_conformance.protocols.echo.model", lambda without: LocalLink(handle))
    about_profiles = "Which part of Echo."
    greeting = ("a-shout-and-a-whisper",)

    def narrator(self, trace: Any) -> Narrator:
        return Narrator()

    def describe_profile(self, revision: str, profile: str) -> str:
        return "Echo, first edition"


PROTOCOL = Echo()
