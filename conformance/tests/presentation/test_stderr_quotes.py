"""Output of an implementation on stderr at the step of a finding is quoted with the finding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from player_helpers import shown
from run_helpers import altered, plan, reference
from sds_conformance.exploration.assessment import Scope, assess
from sds_conformance.exploration.counterexample import Counterexample
from sds_conformance.exploration.text import plain_story
from sds_conformance.judging.certification import Certification, certify
from sds_conformance.presentation.invocation import Invocation
from sds_conformance.presentation.traces import load_trace
from sds_conformance.reports.document import document, load_schema
from sds_conformance.reports.files import read_report, write_report
from sds_conformance.reports.html import html
from sds_conformance.reports.junit import junit
from sds_conformance.reports.markdown import markdown
from sds_conformance.reports.report import Report
from sds_harness.link import Limits, LocalLink
from sds_harness.sds import operations as ops
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config
from sds_reference.mutants import MUTANTS

HOW = Invocation(("./adapter",))
TOLD = "RangeError: out of bounds"


class Grumbling(LocalLink):
    """A mutant that says something on stderr whenever it sends: at first at once, and then a moment later."""

    def __init__(self, words: str) -> None:
        fault = MUTANTS["starts-at-zero"]
        super().__init__(reference(fault.configure(Config()), participant=fault.participant_class))
        self._words = words
        self._pending: list[str] = ["started"]

    def call(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        if request.HasField("send"):
            self._pending.append(self._words)
        return super().call(request, timeout_s, reply)

    def new_stderr_lines(self) -> tuple[str, ...]:
        out, self._pending = tuple(self._pending), []
        return out


def judged(words: str = TOLD) -> Certification:
    what = plan(["SDS-STATE-02"], scenarios=["clock-at-first-use"])
    return certify(lambda _: Grumbling(words), what, Limits())


def test_every_report_has_it_and_keeps_to_its_schema(tmp_path: Path) -> None:
    outcome = judged()
    data = document(outcome, HOW)
    assert list(Draft202012Validator(load_schema()).iter_errors(data)) == []
    assert data["requirements"][0]["findings"][0]["stderr"] == [TOLD]
    write_report(tmp_path, Report(data, traces=outcome.traces, seconds=outcome.seconds))
    (file,) = (tmp_path / "traces").iterdir()
    assert next(step.stderr for step in load_trace(file).steps if step.command == "send") == (TOLD,)
    for made in (Report(data, traces=outcome.traces), read_report(tmp_path)):
        for text in (junit(made), markdown(made), html(made)):
            assert f"| {TOLD}" in text


def test_a_counterexample_of_generated_schedules_tells_it() -> None:
    def loses(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("send"):
            del reply.effects.broadcasts[:]

    show = shown(ops.Send("alice", "m1"), handle=altered(loses))
    (act,) = [act for act in show.acts if act.step.command == "send"]
    act.step.stderr = (TOLD,)
    found = next(finding for finding in assess(show, Scope.select()).findings if finding.step == act.step.index)
    assert f"stderr  | {TOLD}" in plain_story(Counterexample.from_unshrunk(found, show))
