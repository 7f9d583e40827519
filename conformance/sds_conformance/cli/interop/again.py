"""``sds-conformance interop --replay``: a schedule of a mixed group, played again by the same implementations."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from sds_harness.schedules import Performance, Schedule, ScheduleFileError

from ...drawing.proof import story
from ...exploration.casts import Cast, NotPlayed
from ...exploration.counterexample import load
from ...exploration.judging import Assessment, Scope
from ...exploration.telling import proof_of
from ...interop.mixed import GROUP, judge
from ...interop.mixed_examples import MixedExample
from ...interop.troupe import MIXED, Roles, Troupe, roles_noted
from ...judging.certification import EXIT_CONFORMANT, EXIT_NON_CONFORMANT, EXIT_NOT_DRIVEN
from ...judging.runner import BrokenRun
from ...judging.verdict import RANK, Verdict
from ...telling.story import labelled, show_breakdown
from .mixed import show_head


def schedule_of(file: Path) -> tuple[Schedule, dict[str, str]]:
    """The schedule and who plays whom in it. Raises UsageError, which says what is missing."""
    try:
        schedule = load(file)
    except ScheduleFileError as error:
        raise click.UsageError(f"{file} is no schedule that can be played: {error}") from None
    roles = roles_noted(schedule)
    if dict(schedule.notes).get("cast") != MIXED or not roles:
        raise click.UsageError(
            f"{file} was not found in a mixed group: nothing is noted of who plays whom. `sds-conformance replay` "
            f"plays it on one implementation."
        )
    unknown = [member for member in schedule.names if member not in roles]
    if unknown:
        raise click.UsageError(f"{file} does not say who plays {_listed(unknown)}: a note 'plays {unknown[0]}' does")
    return schedule, roles


def needed(file: Path, roles: Roles, given: Collection[str]) -> tuple[str, ...]:
    """The implementations that take part. Raises UsageError if one was not given."""
    names = tuple(dict.fromkeys(roles.values()))
    for name in names:
        if name not in given:
            members = [member for member, other in roles.items() if other == name]
            raise click.UsageError(f"{name!r} is missing, who plays {_listed(members)} in {file}: add '{name}=COMMAND'")
    return names


class PlayedAgain:
    """Plays a schedule in its mixed group and tells what came of it."""

    def __init__(self, out: Console, err: Console, cast: Cast, schedule: Schedule, roles: Roles) -> None:
        self._out, self._err, self._cast = out, err, cast
        self._schedule, self._roles = schedule, roles

    def play(self, *, as_json: bool) -> int:
        """The exit code."""
        self._cast.start()
        for name, breakdown in self._cast.undriven.items():
            self._err.print(name, style="bold")
            show_breakdown(self._err, BrokenRun("handshake", 0, "", breakdown))
        if self._cast.undriven:
            return EXIT_NOT_DRIVEN
        with Troupe(self._cast) as troupe:
            try:
                performance = troupe.play(self._schedule, self._roles)
            except NotPlayed as reason:
                self._err.print(f"Not played: {reason}.", style="bold red", soft_wrap=True)
                return EXIT_NOT_DRIVEN
            judged = judge(troupe, performance, self._roles, Scope.of(), twins=True)
        examples = [
            MixedExample(f.requirement, f, self._schedule, performance, self._schedule, 0, name, self._roles)
            for name, assessment in judged.items()
            for f in assessment.findings
        ]
        noted = dict(self._schedule.notes)
        shown = (noted.get("against", GROUP), noted.get("shows", ""))
        examples.sort(key=lambda e: ((e.name, e.what) != shown, -RANK[e.finding.severity], e.name, e.what))
        if as_json:
            click.echo(json.dumps(self._as_json(performance, examples, judged), ensure_ascii=False, indent=2))
        else:
            self._show(performance, examples, judged, shown)
        errors = any(assessment.errors for assessment in judged.values())
        bad = errors or any(example.finding.severity is Verdict.FAIL for example in examples)
        return EXIT_NON_CONFORMANT if bad else EXIT_CONFORMANT

    def _show(
        self,
        performance: Performance,
        examples: list[MixedExample],
        judged: dict[str, Assessment],
        shown: tuple[str, str],
    ) -> None:
        out = self._out
        labelled(out, "Playing", Text(self._schedule.name or "a schedule", "bold"))
        labelled(out, "Played by", Text(MixedExample.told(self._roles)))
        for number, line in enumerate(story(performance, examples[0].act if examples else None)):
            labelled(out, "" if number else "Story", Text(line))
        for index, reason in performance.left_out.items():
            what = self._schedule.operations[index].op if index >= 0 else "opening"
            labelled(out, "Left out", Text(f"{what}: {reason}", "yellow"))
        out.print()
        for example in examples:
            show_head(out, example.finding, example.name)
            for number, line in enumerate(proof_of(example)):
                labelled(out, "" if number else "Proof", Text(line))
            out.print()
        for assessment in judged.values():
            for where, error in assessment.errors.items():
                out.print(f"Our fault: {where}: {error}", style="bold white on red", soft_wrap=True)
        name, what = shown
        if what and shown in {(example.name, example.what) for example in examples}:
            out.print(Text(f"{what} is violated by {name or 'the group'} here, too.", "bold red"))
        elif what:
            out.print(Text(f"{what} is not violated by {name or 'the group'} here.", "green"))
        if not examples:
            out.print(Text("Nothing was found.", "bold green"))

    def _as_json(
        self, performance: Performance, examples: list[MixedExample], judged: dict[str, Assessment]
    ) -> dict[str, object]:
        return {
            "schedule": self._schedule.name,
            "plays": dict(self._roles),
            "steps": performance.steps,
            "left_out": {str(index): reason for index, reason in performance.left_out.items()},
            "findings": [
                {
                    "implementation": example.name,
                    "id": example.what,
                    "severity": example.finding.severity.value,
                    "check": example.finding.check,
                    "participant": example.finding.participant,
                    "expected": example.finding.expected,
                    "seen": example.finding.seen,
                    "proof": proof_of(example),
                }
                for example in examples
            ],
            "errors": {where: error for a in judged.values() for where, error in a.errors.items()},
        }


def _listed(members: list[str]) -> str:
    return " and ".join(members) if len(members) < 3 else f"{', '.join(members[:-1])} and {members[-1]}"
