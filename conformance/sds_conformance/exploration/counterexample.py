"""Counterexamples: a shrunk schedule, the finding that it shows, and its files."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from sds_harness.declaration import clean_text, printable
from sds_harness.files import write_whole
from sds_harness.json_text import escape_json
from sds_harness.schedules import Act, GroupTrace, Schedule, dumps

from ..judging.finding_replays import ENOUGH, TIMES, FindingReplays, replay_finding
from ..judging.verdict import RANK, Finding
from ..protocols import property_of
from ..protocols.schedules import Repertoire
from .assessment import BREAKDOWN, assess
from .campaign import CampaignOrder
from .cast_under_test import CastUnderTest
from .shrinking import MAX_ATTEMPTS, shrink

BROKEN_ATTEMPTS = 100
"""Maximum number of attempts to shrink a breakdown. Each reproduction takes a restart, and a hang also a timeout."""

_STEP = re.compile(r"\bstep (\d+)\b")

Shown = Callable[[Schedule], tuple[GroupTrace, Finding] | None]
Notes = Callable[[Schedule], tuple[tuple[str, str], ...]]


@dataclass(frozen=True)
class Counterexample:
    """A finding against one requirement or property, in the smallest schedule that shows it."""

    what: str
    finding: Finding
    schedule: Schedule
    group_trace: GroupTrace
    original: Schedule
    attempts: int
    """Number of schedules that were played for shrinking."""
    out_of_time: bool = field(default=False, kw_only=True)
    """The time for shrinking was over, so the schedule may not be the smallest one."""

    @property
    def act(self) -> Act | None:
        """The act (a step of the group trace) that shows the finding; None if the group trace does not have it."""
        trace = self.group_trace.cast.get(self.finding.participant)
        for candidate in [trace] if trace is not None else self.group_trace.traces:
            act = self.group_trace.act_of(candidate, self.finding.step)
            if act is not None:
                return act
        return None

    @property
    def expected(self) -> str:
        """The expectation of the finding, with the step numbers of the schedule."""
        return self._with_numbers_of_acts(self.finding.expected)

    @property
    def seen(self) -> str:
        """The observation of the finding, with the step numbers of the schedule."""
        return self._with_numbers_of_acts(self.finding.seen)

    def _with_numbers_of_acts(self, text: str) -> str:
        """Replace the step numbers in a text of a check. Checks count the steps of one participant; stories and
        drawings count the steps of all participants.

        Texts of properties count the steps of all participants, and stay unchanged.
        """
        act = self.act
        if act is None or property_of(self.what) is not None:
            return text
        numbers = {other.step.index: other.number for other in self.group_trace.acts if other.trace is act.trace}
        return _STEP.sub(lambda step: f"step {numbers.get(int(step[1]), step[1])}", text)

    @property
    def slug(self) -> str:
        """Name of the counterexample, used in the names of its files."""
        return make_slug(self.what)

    @classmethod
    def from_unshrunk(cls, finding: Finding, group_trace: GroupTrace, **more: Any) -> Self:
        """Create a counterexample from a schedule that is not shrunk."""
        schedule = group_trace.schedule
        return cls(finding.requirement, finding, schedule, group_trace, schedule, 0, **more)


def make_slug(what: str) -> str:
    """File name for a requirement or property."""
    return re.sub(r"[^A-Za-z0-9-]+", "-", what)


def find_reproduction(found: Finding, findings: Iterable[Finding]) -> Finding | None:
    """Return the finding that reproduces ``found`` with at least the same severity; None if there is none."""
    for finding in findings:
        if finding.is_like(found) and RANK[finding.severity] >= RANK[found.severity]:
            return finding
    return None


def shrink_to_smallest(
    schedule: Schedule,
    shown: Shown,
    notes: Notes,
    repertoire: Repertoire,
    max_attempts: int,
    budget_s: float = math.inf,
) -> Counterexample | None:
    """Shrink a schedule that shows a finding; return None if the finding is not reproduced.

    ``shown`` plays a schedule and returns the group trace with the finding, or None. No attempt starts after
    ``budget_s`` seconds.
    """

    def play_if_reproduced(candidate: Schedule) -> GroupTrace | None:
        found = shown(candidate)
        return found[0] if found is not None else None

    if play_if_reproduced(schedule) is None:
        return None
    shrunk = shrink(schedule, play_if_reproduced, repertoire, max_attempts, budget_s)
    small = replace(shrunk.schedule, notes=notes(shrunk.schedule))
    found = shown(small)
    if found is None:
        return None
    group_trace, finding = found
    return Counterexample(
        finding.requirement, finding, small, group_trace, schedule, shrunk.attempts, out_of_time=shrunk.out_of_time
    )


def shrink_finding(
    order: CampaignOrder, cast_under_test: CastUnderTest, index: int, found: Finding, max_attempts: int = MAX_ATTEMPTS
) -> Counterexample | FindingReplays:
    """Shrink the schedule with that index, which showed ``found``, and replay the result in new processes.

    Return the counterexample. If not every replay reproduces the finding, return the replays instead: the
    implementation is not deterministic. Raises NotPlayedError if the implementation cannot be started again.
    """
    schedule, scope = order.schedule(index), order.scope.restricted_to(found.requirement)
    if found.requirement == BREAKDOWN:
        max_attempts = min(max_attempts, BROKEN_ATTEMPTS)
    twin = found.requirement in scope.properties and found.requirement not in {r.id for r in scope.requirements}

    def reproduce(candidate: Schedule) -> tuple[GroupTrace, Finding] | None:
        group_trace = cast_under_test.play_after_breakdowns(candidate)
        replay = cast_under_test.play if twin and group_trace.breakdown is None else None
        finding = find_reproduction(
            found, assess(group_trace, scope, cast_under_test.participants_under_test(candidate), replay).findings
        )
        return (group_trace, finding) if finding is not None else None

    last: list[tuple[GroupTrace, Finding]] = []

    def replay_in_new_process(candidate: Schedule) -> bool:
        cast_under_test.kill()
        seen = reproduce(candidate)
        last[:] = [seen] if seen is not None else last
        return seen is not None

    at_all = replay_finding(lambda: replay_in_new_process(schedule), 1)
    if at_all.flaky:
        return at_all
    repertoire = order.scope.repertoire
    declared = cast_under_test.declaration
    implementation = f"{declared.name} {declared.version}".strip()
    notes = make_notes(found, schedule, order.revision, cast=order.casting.value, implementation=implementation)
    budget_s = order.shrink_budget_s or math.inf
    small = shrink_to_smallest(schedule, reproduce, lambda _: notes, repertoire, max_attempts, budget_s)
    if small is not None and all(replay_in_new_process(small.schedule) for _ in range(ENOUGH)):
        group_trace, finding = last[0]
        return replace(small, group_trace=group_trace, finding=finding)
    # The shrunk schedule may depend on what the process had played before: replay the whole schedule instead.
    whole = replace(schedule, notes=notes)
    again = replay_finding(lambda: replay_in_new_process(whole), TIMES, at_all)
    return again if again.flaky else Counterexample(found.requirement, last[0][1], whole, last[0][0], schedule, 0)


_LONGEST_NOTE = 400
"""Maximum number of characters of a note, by the schema of schedules. Longer names of implementations are cut."""


def make_notes(found: Finding, schedule: Schedule, revision: str, **more: str) -> tuple[tuple[str, str], ...]:
    """Return notes for a replay and for readers of the file, such as the finding that the schedule shows."""
    notes = {
        "shows": found.requirement,
        "code": found.full_code,
        "severity": found.severity.value,
        "revision": revision,
        "shrunk from": schedule.name,
        **more,
    }
    return tuple(sorted((key, printable(value, _LONGEST_NOTE - 1)) for key, value in notes.items() if value))


def save(example: Counterexample, folder: Path, svg: str, story: str) -> dict[str, Path]:
    """Write the schedule, its trace, its picture and its story to ``folder``. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [line for trace in example.group_trace.traces for line in trace.to_json_lines()]
    texts = {
        "schedule": (".json", escape_json(dumps(example.schedule))),
        "trace": (".trace.jsonl", "\n".join(lines) + "\n"),
        "picture": (".svg", svg),
        "story": (".txt", clean_text(story)),
    }
    out = {}
    for what, (suffix, text) in texts.items():
        out[what] = write_whole(folder / f"{example.slug}{suffix}", text)
    return out


def save_unshrunk(order: CampaignOrder, index: int, found: Finding, folder: Path) -> dict[str, Path]:
    """Write the schedule with that index to ``folder`` without shrinking it, for a replay. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    schedule = order.schedule(index)
    annotated = replace(schedule, notes=make_notes(found, schedule, order.revision, cast=order.casting.value))
    return {"schedule": write_whole(folder / f"{make_slug(found.requirement)}.json", escape_json(dumps(annotated)))}
