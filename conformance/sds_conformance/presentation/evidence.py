"""The evidence of a finding: the steps of the trace that explain it, and their description."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from rich.cells import cell_len

from sds_harness.environment import PLAIN
from sds_harness.trace import Step, Trace

from ..judging.formats import LONG_ID, MOST, foremost, format_count, identifier, make_times_relative, times_of
from ..judging.verdict import Finding
from ..protocols import Protocol
from ..protocols.words import Narrator

ROOM = 5
"""Maximum number of steps shown up to the violation, unless the finding refers to more steps."""
AFTER = 3
"""Maximum number of steps shown after the violation, if something had to follow it."""
FEW = 4
"""Earlier steps with the message IDs of the violating step are shown as well, if that step has at most this
many IDs.
"""
CONTEXT = 4
"""Maximum number of steps shown if some of them have only messages that the finding does not quote."""
RECENT = 4
"""Number of steps shown before the violation if the finding quotes no message. If the finding quotes timestamps, only
one step is shown.
"""
LINES = 4
"""Maximum number of output lines shown per step. Lines with the messages of the finding are always shown."""
ARROW = "→"
"""Prefix of the results of a step."""
_STEP = re.compile(r"\bstep (\d+)\b")
_NUMBER = re.compile(r"(?<![\w'.])\d+(?![\w'])")
_TIME = re.compile(r"lamport|timestamp|clock", re.IGNORECASE)
_REQUEST = re.compile(r"\bask|request|answer|respon|repair|sent again|cop(y|ies)\b", re.IGNORECASE)
_NOBODY = re.compile(r"\b(nothing|neither|nobody)\b")
"""Words in ``expected`` which mean that no earlier step caused the violating step."""
_ABSENCE = re.compile(r"(nothing|none|not?|never|it (is|was) (not|never)|still)\b", re.IGNORECASE)
"""Matches the beginning of ``seen`` if something had to follow the step and did not."""


@dataclass(frozen=True)
class Exhibit:
    """A step, or a gap of omitted steps if ``step`` is None."""

    step: Step | None
    text: str
    effects: tuple[str, ...] = ()
    blamed: bool = False


@dataclass(frozen=True)
class StoryLine:
    """A line of a story before wrapping."""

    label: str
    """Label of the line; "" if it continues the line before."""
    text: str
    head: str = ""
    """Prefix of the text: the number of a step, or an arrow."""
    blamed: bool = False
    gap: bool = False
    """The line stands for omitted steps."""

    @property
    def width(self) -> int:
        """The columns that the text needs, with its prefix."""
        return cell_len(self.head + self.text)


@dataclass(frozen=True)
class Story:
    """A finding, with all texts that reports show about it."""

    finding: Finding
    summary: str
    """Summary of the scenario; "" if the scenario is unknown."""
    environment: str
    """Name and summary of the environment; "" for the environment `plain`."""
    exhibits: Sequence[Exhibit]
    """The steps to show; empty without a trace."""
    expected: str
    seen: str
    difference: str

    def lines(self, width: int = 0) -> Iterator[StoryLine]:
        """Yield the lines of the story: environment, steps, what was expected and what was seen.

        A step and its results are one line if this line fits into ``width`` columns. A gap is appended to the line
        before it if there is room.
        """
        if self.environment:
            yield StoryLine("Played in", self.environment)
        steps: list[StoryLine] = []
        for exhibit in self.exhibits:
            number = "…" if exhibit.step is None else str(exhibit.step.index)
            line = StoryLine(
                "" if steps else "Done", exhibit.text, f"{number:>3} ", exhibit.blamed, gap=exhibit.step is None
            )
            whole = replace(line, text=" ".join([line.text, *(f"{ARROW} {effect}" for effect in exhibit.effects)]))
            last = replace(steps[-1], text=f"{steps[-1].text} (… {line.text})") if steps else line
            if line.gap and steps and not steps[-1].gap and last.width <= width:
                steps[-1] = last
            elif whole.width <= width:
                steps.append(whole)
            else:
                steps += [line, *(StoryLine("", effect, f"    {ARROW} ") for effect in exhibit.effects)]
        yield from steps
        yield StoryLine("Expected", self.expected)
        yield StoryLine("Seen", self.seen)
        if self.difference:
            yield StoryLine("", self.difference)


def story_of(protocol: Protocol, finding: Finding, trace: Trace[Any] | None) -> Story:
    """Create the story of a finding. Without its ``trace`` there are no steps."""
    scenario = protocol.rules.register.scenarios.get(finding.scenario)
    environment = protocol.rules.environments.get(finding.environment)
    try:
        evidence = Evidence(finding, trace, protocol.narrator(trace)) if trace else Evidence(finding)
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
    """Selects what to show of one finding.

    It selects the violating step, and all steps that introduce what the finding quotes: messages, requests for them,
    Lamport timestamps, step numbers. While there is room, it adds other steps with these messages.
    """

    def __init__(self, finding: Finding, trace: Trace[Any] | None = None, narrator: Narrator | None = None) -> None:
        """``trace`` is the trace of the finding, None if it was not stored. ``narrator`` describes its steps."""
        self._finding = finding
        self._trace = trace
        self._steps: list[Step] = []
        if trace is not None and narrator is not None:
            self._narrator = narrator
            self._steps = list(trace.steps)
        self._own = [step for step in self._steps if step.participant in (finding.participant, "")]
        several = (
            step.participant
            for step in self._steps
            if step.command == "open" and len(self._narrator.channels(step)) > 1
        )
        self._channels_of = frozenset(several) if finding.channel_id else frozenset()
        """The participants that have several channels."""
        self._touched = {step.index: self._narrator.touches(step) for step in self._steps}
        self._facts = {step.index: self._narrator.facts(step) for step in self._steps}
        self._finding_text = f"{finding.expected} {finding.seen}"
        self._named = frozenset(list(map(int, _STEP.findall(self._finding_text)))[:MOST])
        """Numbers of the steps that the finding mentions. They are shown as well, even if they are of other
        participants.
        """
        known = frozenset[str]().union(*self._touched.values())
        self._about = find_quoted_ids(self._finding_text, known)
        blamed = self._touched.get(finding.step, frozenset())
        self._context = self._about | (blamed if len(blamed) <= FEW else frozenset())

    @property
    def expected(self) -> str:
        return self._make_readable(self._finding.expected) or "-"

    @property
    def seen(self) -> str:
        return self._make_readable(self._finding.seen)

    @property
    def difference(self) -> str:
        """``expected`` and ``seen`` in escaped form, if they differ but look the same; otherwise ""."""
        expected, seen = self._finding.expected, self._finding.seen
        quoted = set(re.findall(r"'([^']*)'", expected))
        for text in re.findall(r"'([^']*)'", seen):
            for other in quoted - {text}:
                if unicodedata.normalize("NFC", text) == unicodedata.normalize("NFC", other):
                    return f"{_escape(text)} where {_escape(other)} was expected"
        return ""

    def exhibits(self) -> list[Exhibit]:
        """Return the steps to show, in order, with gaps between them."""
        blamed = self._finding.step
        step_numbers = self._introducing_steps() | self._named | {blamed}
        step_numbers |= {step.index for step in self._own if step.index < blamed and step.command == "open"}
        step_numbers |= self._related_steps(step_numbers)
        waits = any(s.index == blamed and s.command in ("receive", "tick") for s in self._own)
        waits = waits and bool(self._about and _ABSENCE.match(self._finding.seen))
        if waits:
            later = [s for s in self._own if s.index > blamed and self._counts(s)]
            step_numbers |= {step.index for step in self._drop_repetitions(later)[:AFTER]}
        out: list[Exhibit] = []
        at = 0
        for step in self._steps:
            if step.index in step_numbers:
                out += self._gap([s for s in self._steps if at < s.index < step.index])
                out.append(self._exhibit(step))
                at = step.index
        # Steps after the violation belong to the story if something had to follow it.
        if waits:
            out += self._gap([s for s in self._steps if s.index > at])
        return out

    def _introducing_steps(self) -> set[int]:
        """Return the steps that introduce the messages and timestamps that the finding quotes."""
        blamed = self._finding.step
        before = [step for step in self._steps if step.index <= blamed and step.command != "observe"]
        own = [step for step in before if step.participant in (self._finding.participant, "")]
        steps_here = [step for step in own if self._is_in_channel(step)]
        facts, out = self._facts, set[int]()
        for message_id in self._about:
            carried = [s for s in steps_here if message_id in facts[s.index].carried]
            touched = [s for s in steps_here if message_id in self._touched[s.index]]
            elsewhere = [s for s in before if message_id in facts[s.index].carried]
            introduced = carried or touched or elsewhere
            out |= {step.index for step in (*touched[:1], *introduced[:1])}
            requests = (
                [s for s in steps_here if message_id in facts[s.index].asked]
                if _REQUEST.search(self._finding_text)
                else []
            )
            out |= {step.index for step in (*requests[:1], *requests[-1:])}
        for number in self._times():
            # A timestamp is introduced by the message that carries it, or by the previous timestamp, which it
            # increments.
            for steps, time in ((own, number), (own, number - 1), (before, number)):
                found = [step for step in steps if time in facts[step.index].times and step.index != blamed]
                if found:  # A message that periodic work resends does not change a timestamp.
                    out.add(([step for step in found if step.command != "tick"] or found)[-1].index)
                    break
        return out

    def _times(self) -> list[int]:
        """Return the Lamport timestamps that the finding names."""
        if not _TIME.search(self._finding_text):
            return []
        return list(dict.fromkeys(map(int, _NUMBER.findall(_STEP.sub("", self._finding_text)))))[:MOST]

    def _related_steps(self, step_numbers: set[int]) -> set[int]:
        """Return more steps, as many as there is room for: steps with the messages of the finding, or the last
        steps before it if it quotes none.
        """
        blamed = self._finding.step
        before = [step for step in self._steps if step.index < blamed and step.index not in step_numbers]
        mine = [step for step in before if step.participant in (self._finding.participant, "")]
        if not self._about:
            recent = [step for step in mine if step.command not in ("observe", "open")]
            return {step.index for step in recent[-(1 if self._times() else RECENT) :]}
        shown = [step for step in mine if step.command == "observe" and self._is_about(step)][-1:]
        own = self._drop_repetitions([step for step in mine if step.command != "observe" and self._counts(step)])
        others = [step for step in before if step not in mine and self._is_about(step)]
        ranked = [s for s in reversed(own) if self._is_about(s)] + shown + list(reversed(others))
        if not _REQUEST.search(self._finding_text):  # Put periodic work last, so that it is omitted first.
            ranked.sort(key=lambda step: step.command == "tick")
        chosen = ranked[: max(0, ROOM - len(step_numbers))]
        near = [step for step in reversed(own) if not self._is_about(step)]
        chosen += near[: max(0, CONTEXT - len(step_numbers) - len(chosen))]
        return {step.index for step in chosen}

    def _drop_repetitions(self, steps: Sequence[Step]) -> list[Step]:
        """Omit periodic work with repeated results, except for the first and the last time."""
        came_out = {s.index: tuple(self._narrator.came_out(s, self._about, self._finding_text)) for s in steps}
        ticks = [step for step in steps if step.command == "tick"]
        often = Counter(came_out[step.index] for step in ticks)
        last = {came_out[step.index]: step.index for step in ticks}
        seen = set[tuple[str, ...]]()
        out = []
        for step in steps:
            lines = came_out[step.index]
            if step.command == "tick" and often[lines] > 2 and lines in seen and last[lines] != step.index:
                continue
            seen |= {lines} if step.command == "tick" else set()
            out.append(step)
        return out

    def _counts(self, step: Step) -> bool:
        shows_state = step.command == "observe"  # the reply also has messages that are not in the finding
        relevant = self._about if shows_state else self._context
        return bool(self._touched[step.index] & relevant) and self._is_in_channel(step)

    def _is_about(self, step: Step) -> bool:
        return bool(self._touched[step.index] & self._about) and self._is_in_channel(step)

    def _is_in_channel(self, step: Step) -> bool:
        """Return whether a step is in the channel of the finding: other channels may use the same IDs."""
        if step.participant not in self._channels_of:
            return True
        channels = self._narrator.channels(step)
        return not channels or self._finding.channel_id in channels

    def _gap(self, steps: list[Step]) -> list[Exhibit]:
        if not steps:
            return []
        sweeps = sum(step.command == "tick" for step in steps)
        others = sum(step.participant not in (self._finding.participant, "") for step in steps)
        parts = [format_count(len(steps), "more step")]
        parts += [f"{sweeps} of them periodic work"] if sweeps else []
        if others == len(steps):
            parts = [f"{parts[0]} of other participants"]
        elif others:
            parts.append(f"{others} of other participants")
        parts += [f"none with {identifier(one)}" for one in self._about if self._is_silent(one, steps)]
        return [Exhibit(None, ", ".join(parts))]

    def _is_silent(self, message_id: str, steps: Sequence[Step]) -> bool:
        """Return whether the gap should say that no step in it has the message. True only if the finding is about the
        absence of one message.
        """
        if len(self._about) > 1 or not _NOBODY.search(self._finding.expected) or steps[0].index > self._finding.step:
            return False
        before = any(message_id in self._touched[s.index] for s in self._steps[: steps[0].index - 1])
        return before and not any(message_id in self._touched[step.index] for step in steps)

    def _exhibit(self, step: Step) -> Exhibit:
        blamed = step.index == self._finding.step
        names = [identifier(message_id) for message_id in self._about]
        acts = step.command in ("send", "send_sync", "tick")
        few = LINES if blamed or step.command == "observe" or (not self._about and acts) else 0
        came_out = self._narrator.came_out(step, self._about, self._finding_text)
        lines, more = foremost(came_out, lambda line: any(name in line for name in names), few)
        lines += [f"… {more} more"] if more else []
        if step.command == "receive" and len(carried := self._facts[step.index].carried) == 1:
            delivers = f"delivers {identifier(*carried)}"
            lines = ["delivers it" if line == delivers else line for line in lines]
        return Exhibit(step, self._narrator.done(step, self._about, self._finding_text), tuple(lines), blamed)

    def _make_readable(self, text: str) -> str:
        """Shorten IDs in the same way as in the steps, make times relative to the time T, and write lists without
        brackets.
        """
        for message_id in self._about:
            if len(message_id) > LONG_ID:
                text = text.replace(repr(message_id), identifier(message_id))
        with times_of(self._trace) if self._trace is not None else nullcontext():
            text = make_times_relative(text)
        text = re.sub(r"\[((?:'[^']*'(?:, )?)+)\]", r"\1", text)
        return "nothing" if text == "None" else text.replace("[]", "none")


def find_quoted_ids(text: str, ids: Iterable[str]) -> frozenset[str]:
    """Return the message IDs that a text quotes."""
    return frozenset(message_id for message_id in ids if message_id and repr(message_id) in text)


def lines_with_quotes(lines: Sequence[str], quotes: Iterable[str], few: int) -> list[str]:
    """Return at most ``few`` output lines of a step. Lines with an ID from ``quotes`` are preferred."""
    quoted = {found.group() for text in quotes for found in re.finditer(r"'[^']+'", text)}
    named = {*quoted, *(identifier(text[1:-1]) for text in quoted)}
    shown, more = foremost(lines, lambda line: any(name in line for name in named), few)
    return [*shown, *([f"… {more} more"] if more else [])]


def _escape(text: str) -> str:
    return "'" + text.encode("unicode_escape").decode("ascii") + "'"
