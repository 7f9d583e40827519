"""Helpers for tests of pages: reports, and pages that are read back."""

from __future__ import annotations

import copy
from functools import cache
from html.parser import HTMLParser
from typing import Any

from run_helpers import altered, certified
from sds_conformance.judging.certification import Certification
from sds_conformance.presentation.invocation import Invocation
from sds_conformance.reports.document import document
from sds_conformance.reports.html import html
from sds_conformance.reports.report import Report
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference.mutants import MUTANTS, join_mutants
from sds_reference.testee.server import Testee, TesteeOptions

FAULTS = join_mutants([MUTANTS["delivers-placeholders"], MUTANTS["sync-without-channel"]])
FAULT = "SDS-RECV-05"
"""The root cause of most that it fails."""
SCENARIOS = ("a-chain-in-reverse", "a-dep*", "every-kind-of-message", "many-waiting")
_OPTIONS = TesteeOptions("1", name="toy", participant_class=FAULTS.participant_class)
COMMAND = ("./testee", "--fast")
ATTACK = "<script>window.hacked=1</script><img src=x onerror='window.hacked=2'>\"&amp;\u202e\x1b[31m"
"""Text that would do something if it were not text."""
VOID = {"meta", "br", "input", "img", "link", "hr"}


def attack(request: pb.Request, reply: pb.Reply) -> None:
    """All that an implementation can say of its own is hostile."""
    if request.HasField("hello"):
        hello = reply.hello
        hello.name = hello.version = hello.language = hello.homepage = ATTACK
        hello.profiles.bloom = hello.profiles.hash = ATTACK
    if reply.effects.message_id or reply.effects.events:
        reply.effects.events.add(channel_id="c1").delivered.message_id = ATTACK
        reply.effects.events.add(channel_id=ATTACK).lost.message_ids.append(ATTACK)
    if reply.HasField("state"):
        reply.state.log.entries.add(message_id=ATTACK, lamport_timestamp=1)
    if request.HasField("tick"):
        reply.rejected.reason = ATTACK


@cache
def faulty() -> Certification:
    """A run with several root causes, one of them with consequences."""
    return certified(lambda: Testee(_OPTIONS).handle, scenarios=SCENARIOS)


@cache
def attacking() -> Certification:
    return certified(lambda: altered(attack), scenarios=SCENARIOS)


@cache
def _data(hostile: bool) -> dict[str, Any]:
    return document(attacking() if hostile else faulty(), Invocation(COMMAND))


def sample(**changed: Any) -> Report:
    """The report on a faulty implementation, with other values at its top."""
    return Report({**copy.deepcopy(_data(False)), **changed}, traces=faulty().traces)


def hostile() -> Report:
    """A report in which every text that can be hostile is."""
    data = copy.deepcopy(_data(True))
    broken = {"kind": "crash", "where": ATTACK, "step": 3, "command": ATTACK, "detail": ATTACK, "advice": ATTACK}
    data["breakdowns"] = [{**broken, "stderr": [ATTACK, "panic", ATTACK]}]
    data["doubts"] = [ATTACK]
    failing = next(row["id"] for row in data["requirements"] if row["verdict"] == "fail")
    entry = {
        "requirement": failing,
        "scenario": ATTACK,
        "reason": ATTACK,
        "link": "javascript:window.hacked=3",
        "line": 1,
    }
    complaint = {"line": 2, "requirement": ATTACK, "what": ATTACK, "change": ATTACK}
    data["baseline"] = {"file": ATTACK, "known": [entry], "complaints": [complaint]}
    data["summary"]["left_out"] = {ATTACK: ATTACK}
    data["causes"][0]["under"].append({"requirement": ATTACK, "why": ATTACK})
    for row in data["requirements"]:
        row["anchor"] = row["statement"] = ATTACK
        row["runs"].append(ATTACK)
        for finding in row["findings"]:
            finding["expected"] = finding["seen"] = finding["again"] = finding["position"] = ATTACK
    data["requirements"][-1]["section"] = ATTACK
    return Report(data, traces=attacking().traces)


def many(findings: int) -> Report:
    """A report with so many findings, spread over all requirements."""
    data = copy.deepcopy(_data(False))
    found = [finding for row in data["requirements"] for finding in row["findings"] if finding["severity"] == "fail"]
    rows = data["requirements"]
    for row in rows:
        row |= {"verdict": "fail", "exercised": 1, "reason": "", "findings": []}
    for number in range(findings):
        row, finding = rows[number % len(rows)], found[number % len(found)]
        _, _, way = finding["code"].partition("/")
        row["findings"].append(finding | {"code": f"{row['id']}/{way}"})
    return Report(data, traces=faulty().traces)


class Page(HTMLParser):
    """A page, read: its elements in order, with their texts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html = html
        self.elements: list[Element] = []
        self._open: list[Element] = []
        self.feed(html)
        assert not self._open, f"{self._open[-1].tag} is never closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs}, [*self._open])
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}, [*self._open]))

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"{tag} is closed and was never open"
        assert self._open[-1].tag == tag, f"{tag} is closed within {self._open[-1].tag}"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.parts.append(data)

    def of(self, tag: str = "", css: str = "", within: str = "") -> list[Element]:
        """Elements with a tag, with a class, and within an element with an ID, if these are given."""
        return [
            element
            for element in self.elements
            if (not tag or element.tag == tag)
            and (not css or css in element.classes)
            and (not within or any(outer.attrs.get("id") == within for outer in element.around))
        ]


class Element:
    """An element of a page."""

    def __init__(self, tag: str, attrs: dict[str, str], around: list[Element]) -> None:
        self.tag = tag
        self.attrs = attrs
        self.around = around
        self.parts: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self.parts)

    @property
    def classes(self) -> list[str]:
        return self.attrs.get("class", "").split()

    @property
    def words(self) -> str:
        """The text, with single blanks."""
        return " ".join(self.text.split())


def read(made: Report) -> Page:
    return Page(html(made))
