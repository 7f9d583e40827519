"""The stories of the findings in a report, with their conversations. Each trace is read once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sds_harness.trace import Step, Trace

from ..drawing.excerpt import Excerpts
from ..judging.formats import foremost, format_count, hex_of
from ..presentation.evidence import Exhibit, Story, find_quoted_ids, lines_with_quotes, story_of
from ..presentation.stderr_quotes import quote_stderr
from ..protocols import Protocol
from ..protocols.words import Narrator
from .report import Report, Row, finding_of, run_of

MAX_TALKS = 400
"""Maximum number of conversations on a page, and of pictures. Later findings have only a story."""
MAX_PICTURES = 400
MAX_TURNS = 120
"""Maximum number of steps of a conversation that are shown: the first steps, and the steps around violations."""
FIRST, BEFORE, AFTER = 40, 12, 6
MAX_LINES = 12
"""Maximum number of output lines that are shown per step."""
MAX_WIRES = 4
STDERR_WIDTH = 110
UNTOLD = "The conversation in this report cannot be shown: the command below replays it."


@dataclass(frozen=True)
class PageStory:
    """The story of a finding, as a page shows it."""

    row: Row
    text: Story
    stderr_lines: Sequence[str]
    """Lines of stderr at the violating step."""
    picture: str
    """The picture of the story, as SVG; "" if there is none."""
    without: str
    """Why the picture or the conversation is missing; "" if nothing is missing."""


@dataclass(frozen=True)
class ConversationStep:
    """A step of a conversation, or a gap of omitted steps if ``number`` is 0."""

    number: int
    done: str
    effects: Sequence[str] = ()
    wires: Sequence[str] = ()
    """Wire messages, in hexadecimal digits."""
    found: Sequence[tuple[str, str]] = ()
    """Severity and requirement of each finding at the step."""


@dataclass
class RunConversation:
    run: str
    anchor: str
    turns: Sequence[ConversationStep]
    stopped: str
    steps: int


def stories_of(
    report: Report, order: Iterable[int], limit: int, broken: Iterable[str]
) -> tuple[dict[int, list[PageStory]], dict[str, RunConversation]]:
    """Return the stories of a report, by index of the requirement, and the conversations, by run.

    ``order`` lists the indices. If there is no room for all conversations and pictures, the first findings get them.
    ``limit`` is the maximum number of findings per requirement. Runs in ``broken`` get a conversation even without
    findings, if there is room.
    """
    rows = report.data["requirements"]
    findings = [(place, finding) for place in order for finding in rows[place]["findings"][:limit]]
    by_run: dict[str, list[int]] = {}
    for number, (_, finding) in enumerate(findings):
        by_run.setdefault(run_of(finding), []).append(number)
    for run in broken:
        by_run.setdefault(run, [])
    made: dict[int, PageStory] = {}
    talks: dict[str, RunConversation] = {}
    pictures = 0
    for run, numbers in by_run.items():
        trace = report.trace(run) if len(talks) < MAX_TALKS else None
        why = "" if trace is not None else _why_no_conversation(len(talks))
        teller = _StoryMaker(report.protocol, trace, why)
        for number in numbers:
            place, finding = findings[number]
            made[number] = teller.story(rows[place]["id"], finding, draw=pictures < MAX_PICTURES)
            pictures += bool(made[number].picture)
        found = [(rows[place]["id"], finding) for place, finding in (findings[number] for number in numbers)]
        if (talk := teller.talk(run, f"run-{len(talks) + 1}", found)) is not None:
            talks[run] = talk
    stories: dict[int, list[PageStory]] = {}
    for number, (place, _) in enumerate(findings):
        stories.setdefault(place, []).append(made[number])
    return stories, talks


def _why_no_conversation(talks: int) -> str:
    if talks >= MAX_TALKS:
        return f"This page has room for {MAX_TALKS} conversations, so this one is left out: the command below shows it."
    return "The conversation was not stored with this report: the command below shows it."


class _StoryMaker:
    """Creates the stories of the findings in one run."""

    def __init__(self, protocol: Protocol, trace: Trace[Any] | None, why: str) -> None:
        self._protocol, self._trace, self._why = protocol, trace, why
        self._excerpts = Excerpts(trace) if trace is not None else None

    def story(self, requirement: str, row: Row, *, draw: bool) -> PageStory:
        """Create the story of a finding; with ``draw``, also its picture."""
        finding, why = finding_of(requirement, row), self._why
        lines = story_of(self._protocol, finding, self._trace)
        if self._trace is not None and not lines.exhibits:  # the file is untrusted: the trace cannot be described
            why = UNTOLD
        elif self._trace is not None and not draw:
            why = (
                f"This page has room for {MAX_PICTURES} pictures, so this one is left out: the command below shows it."
            )
        picture = self._picture(finding.step, lines.exhibits) if draw and lines.exhibits else ""
        return PageStory(row, lines, list(quote_stderr(finding.stderr_lines, STDERR_WIDTH)), picture, why)

    def _picture(self, blamed: int, exhibits: Iterable[Exhibit]) -> str:
        shown = [exhibit.step.index for exhibit in exhibits if exhibit.step is not None]
        if self._excerpts is None or blamed not in shown:
            return ""
        try:
            return self._excerpts.svg(blamed, shown)
        except Exception:  # a story without a picture is better than no page
            return ""

    def talk(self, run: str, anchor: str, found: Sequence[tuple[str, Row]]) -> RunConversation | None:
        """Create the conversation of ``run`` with the findings (requirement, row) at its steps; None if its trace
        cannot be shown. ``anchor`` is the ID of the conversation on the page.
        """
        if self._trace is None:
            return None
        steps = self._trace.steps
        marked = {row["step"] for _, row in found} or {len(steps)}
        near = {number for step in marked for number in range(step - BEFORE, step + AFTER + 1)}
        shown, _ = foremost(
            [step for step in steps if step.index <= FIRST or step.index in near],
            lambda step: step.index in marked,
            MAX_TURNS,
            len(marked),
        )
        shown.sort(key=lambda step: step.index)
        turns: list[ConversationStep] = []
        before = 0
        try:
            narrator = self._protocol.narrator(self._trace)
            for step in shown:
                turns += _gap(step.index - before - 1)
                here = [(requirement, row) for requirement, row in found if row["step"] == step.index]
                turns.append(_conversation_step(narrator, step, here))
                before = step.index
        except Exception:  # a page without this conversation is better than no page
            return None
        turns += _gap(len(steps) - before)
        return RunConversation(run, anchor, turns, self._trace.stopped, len(steps))


def _gap(steps: int) -> list[ConversationStep]:
    return [ConversationStep(0, format_count(steps, "more step"))] if steps > 0 else []


def _conversation_step(narrator: Narrator, step: Step, found: Sequence[tuple[str, Row]]) -> ConversationStep:
    touched, ids = narrator.touches(step), [f"{row['expected']} {row['seen']}" for _, row in found]
    named = find_quoted_ids(" ".join(ids), touched)
    lines = lines_with_quotes(narrator.came_out(step, named or touched), ids, MAX_LINES)
    raw = narrator.on_the_wire(step)
    wires = [hex_of(wire) for wire in raw[:MAX_WIRES]]
    wires += [f"… {len(raw) - MAX_WIRES} more"] if len(raw) > MAX_WIRES else []
    rests = dict.fromkeys((row["severity"], requirement) for requirement, row in found)
    return ConversationStep(step.index, narrator.done(step, named), lines, wires, list(rests))
