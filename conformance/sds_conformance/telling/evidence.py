"""The evidence of a finding: the steps of the trace that explain it, and their description."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sds_harness.environment import PLAIN
from sds_harness.trace import Step, Trace

from ..judging.quoting import LONG_ID, MOST, by_the_clock, counted, foremost, identifier
from ..judging.verdict import Finding
from ..protocols import Protocol
from ..protocols.words import Narrator

FIRST, LAST, AFTER = 3, 6, 4
"""Steps shown from the beginning, before the violation, and after it."""
FEW = 4
"""If the violating step has at most so many message IDs, earlier steps with these IDs are shown as well."""
OTHERS = 4
"""Steps shown of other participants that involve the messages of the finding."""
LINES = 4
"""Output lines shown per step; lines with the messages of the finding are always shown."""
_STEP = re.compile(r"\bstep (\d+)\b")


@dataclass(frozen=True)
class Exhibit:
    """A step, or a gap of omitted steps if ``step`` is None."""

    step: Step | None
    text: str
    effects: tuple[str, ...] = ()
    blamed: bool = False


@dataclass(frozen=True)
class Line:
    """A line of a story before wrapping."""

    label: str
    """"" for a line that continues the label before."""
    text: str
    head: str = ""
    """Prefix of the text: the number of a step, or an arrow."""
    blamed: bool = False
    gap: bool = False
    """The line stands for omitted steps."""


@dataclass(frozen=True)
class Story:
    """A finding with everything that reports show of it."""

    finding: Finding
    summary: str
    """Summary of the scenario; "" if the scenario is unknown."""
    environment: str
    """Name and summary of the environment; "" for the plain one."""
    exhibits: Sequence[Exhibit]
    """Empty without a trace."""
    expected: str
    seen: str
    difference: str

    def lines(self) -> Iterator[Line]:
        """The lines from the environment to what was seen."""
        if self.environment:
            yield Line("Played in", self.environment)
        label = "Done"
        for exhibit in self.exhibits:
            number = "…" if exhibit.step is None else str(exhibit.step.index)
            yield Line(label, exhibit.text, f"{number:>3} ", exhibit.blamed, exhibit.step is None)
            label = ""
            for effect in exhibit.effects:
                yield Line("", effect, "    → ")
        yield Line("Expected", self.expected)
        yield Line("Seen", self.seen)
        if self.difference:
            yield Line("", self.difference)


def story_of(protocol: Protocol, finding: Finding, trace: Trace[Any] | None, narrator: Narrator | None = None) -> Story:
    """Create the story of a finding. Without its ``trace`` there are no steps. The default ``narrator`` is the
    protocol's.
    """
    scenario = protocol.rules.register.scenarios.get(finding.scenario)
    environment = protocol.rules.environments.get(finding.environment)
    try:
        evidence = Evidence(finding, trace, narrator or protocol.narrator(trace)) if trace else Evidence(finding)
        exhibits = evidence.exhibits()
    except Exception:  # a trace from a file is not trusted: it may be impossible to describe
        evidence, exhibits = Evidence(finding), []
    return Story(
        finding,
        scenario.summary if scenario is not None else "",
        f"{environment.name}: {environment.summary}" if environment not in (None, PLAIN) else "",
        exhibits,
        evidence.expected,
        evidence.seen,
        evidence.difference,
    )


class Evidence:
    """Selects what to show of one finding."""

    def __init__(self, finding: Finding, trace: Trace[Any] | None = None, narrator: Narrator | None = None) -> None:
        """``trace`` is the trace of the finding, None if it was not stored; ``narrator`` describes its steps."""
        self._finding = finding
        self._steps: list[Step] = []
        if trace is not None and narrator is not None:
            self._narrator = narrator
            self._steps = list(trace.steps)
        self._own = [step for step in self._steps if step.participant in (finding.participant, "")]
        self._touched = {step.index: self._narrator.touches(step) for step in self._steps}
        told = f"{finding.expected} {finding.seen}"
        self._named = frozenset(list(map(int, _STEP.findall(told)))[:MOST])
        """The steps that the finding mentions, of any participant; they are shown as well."""
        known = frozenset[str]().union(*self._touched.values())
        self._about = quoted_in(told, known)
        blamed = self._touched.get(finding.step, frozenset())
        self._context = self._about | (blamed if len(blamed) <= FEW else frozenset())

    @property
    def expected(self) -> str:
        return self._in_words(self._finding.expected) or "-"

    @property
    def seen(self) -> str:
        return self._in_words(self._finding.seen)

    @property
    def difference(self) -> str:
        """The values in escaped form if ``expected`` and ``seen`` differ but look the same; else ""."""
        expected, seen = self._finding.expected, self._finding.seen
        quoted = set(re.findall(r"'([^']*)'", expected))
        for text in re.findall(r"'([^']*)'", seen):
            for other in quoted - {text}:
                if unicodedata.normalize("NFC", text) == unicodedata.normalize("NFC", other):
                    return f"{_spelt(text)} where {_spelt(other)} was expected"
        return ""

    def exhibits(self) -> list[Exhibit]:
        """Return the steps to show, in order, with gaps between them."""
        blamed = self._finding.step
        chosen = [step for step in self._own if step.index <= blamed and self._counts(step)]
        if not self._about:
            chosen = [step for step in chosen if step.command != "observe" or step.index == blamed]
        if len(chosen) > FIRST + LAST:
            chosen = chosen[: FIRST if self._about else 1] + chosen[-LAST:]
        waits = any(step.index == blamed and step.command in ("receive", "tick") for step in chosen)
        later = [s for s in self._own if s.index > blamed and self._counts(s)] if waits and self._about else []
        chosen += later[:AFTER]
        mine = {step.index for step in self._own}
        others = [s for s in self._steps if s.index < blamed and s.index not in mine and self._is_about(s)]
        shown = {step.index for step in [*chosen, *others[-OTHERS:]]} | self._named
        out: list[Exhibit] = []
        at = 0
        for step in self._steps:
            if step.index in shown:
                out += self._gap([s for s in self._steps if at < s.index < step.index])
                out.append(self._exhibit(step))
                at = step.index
        # Steps after the violation belong to the story if something had to follow it.
        if waits and self._about:
            out += self._gap([s for s in self._steps if s.index > at])
        return out

    def _counts(self, step: Step) -> bool:
        if step.command == "open" or step.index == self._finding.step or not self._about:
            return True
        looks = step.command == "observe"  # shows much that is irrelevant here
        return bool(self._touched[step.index] & (self._about if looks else self._context))

    def _is_about(self, step: Step) -> bool:
        return bool(self._touched[step.index] & self._about)

    def _gap(self, steps: list[Step]) -> list[Exhibit]:
        if not steps:
            return []
        sweeps = sum(step.command == "tick" for step in steps)
        others = sum(step.participant not in (self._finding.participant, "") for step in steps)
        told = [counted(len(steps), "more step")]
        told += [f"{sweeps} of them periodic work"] if sweeps else []
        told += [f"{others} of other participants"] if others else []
        return [Exhibit(None, ", ".join(told))]

    def _exhibit(self, step: Step) -> Exhibit:
        blamed = step.index == self._finding.step
        names = [identifier(message_id) for message_id in self._about]
        few = LINES if blamed or (not self._about and step.command in ("send", "send_sync", "tick")) else 0
        came_out = self._narrator.came_out(step, self._about)
        lines, more = foremost(came_out, lambda line: any(name in line for name in names), few)
        lines += [f"… {more} more"] if more else []
        return Exhibit(step, self._narrator.done(step, self._about), tuple(lines), blamed)

    def _in_words(self, text: str) -> str:
        """Shorten IDs as in the steps, make times relative to the start, and write lists without brackets."""
        for message_id in self._about:
            if len(message_id) > LONG_ID:
                text = text.replace(repr(message_id), identifier(message_id))
        text = by_the_clock(text)
        text = re.sub(r"\[((?:'[^']*'(?:, )?)+)\]", r"\1", text)
        return "nothing" if text == "None" else text.replace("[]", "none")


def quoted_in(told: str, ids: Iterable[str]) -> frozenset[str]:
    """The message IDs that a text quotes."""
    return frozenset(message_id for message_id in ids if message_id and repr(message_id) in told)


def lines_told(lines: Sequence[str], told: Iterable[str], few: int) -> list[str]:
    """Return at most ``few`` output lines of a step, those with an ID that ``told`` quotes first."""
    quoted = {found.group() for text in told for found in re.finditer(r"'[^']+'", text)}
    named = {*quoted, *(identifier(text[1:-1]) for text in quoted)}
    shown, more = foremost(lines, lambda line: any(name in line for name in named), few)
    return [*shown, *([f"… {more} more"] if more else [])]


def _spelt(text: str) -> str:
    """Escape a text to ASCII."""
    return "'" + text.encode("unicode_escape").decode("ascii") + "'"
