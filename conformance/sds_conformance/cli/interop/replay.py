"""``sds-conformance interop --replay``: a schedule of a mixed group, played again by the same implementations."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from sds_harness.schedules import Performance, Schedule

from ...exploration.assessment import Assessment, Scope
from ...exploration.casts import Cast, NotPlayedError
from ...interop.mixed import GROUP, judge
from ...interop.mixed_examples import MixedExample
from ...interop.troupe import MIXED, Roles, Troupe, roles_noted
from ...judging.exits import Exit
from ...judging.verdict import RANK, Finding, Verdict
from ...presentation.story import labelled, show_errors
from ...protocols import withdrawn
from ..campaign_output import not_played, played_json, print_json, schedule_in, show_played, show_proof, unshrunk_json
from .shared import show_undriven, show_violation


def schedule_of(file: Path) -> tuple[Schedule, dict[str, str]]:
    """The schedule and its roles. Raises UsageError, which names the missing part."""
    schedule = schedule_in(file)
    roles = roles_noted(schedule)
    if dict(schedule.notes).get("cast") != MIXED or not roles:
        raise click.UsageError(
            f"{file} was not found in a mixed group: nothing is noted of who plays whom. `sds-conformance replay` "
            f"plays it on one implementation."
        )
    unknown = [member for member in schedule.names if member not in roles]
    if unknown:
        raise click.UsageError(
            f"{file} does not say who plays {_join_names(unknown)}: a note 'plays {unknown[0]}' does"
        )
    return schedule, roles


def needed(file: Path, roles: Roles, given: Collection[str]) -> tuple[str, ...]:
    """The implementations that take part. Raises UsageError if one was not given."""
    names = tuple(dict.fromkeys(roles.values()))
    for name in names:
        if name not in given:
            members = [member for member, other in roles.items() if other == name]
            raise click.UsageError(
                f"{name!r} is missing, who plays {_join_names(members)} in {file}: add '{name}=COMMAND'"
            )
    return names


def play_again(
    out: Console, err: Console, cast: Cast, schedule: Schedule, roles: Roles, *, as_json: bool
) -> tuple[int, list[Finding]]:
    """Play a schedule in its mixed group and print the result. Returns the exit code and the findings."""
    cast.start()
    cast.hold_to_text()
    show_undriven(err, cast.undriven)
    if cast.undriven:
        return Exit.NOT_DRIVEN, []
    with Troupe(cast) as troupe:
        try:
            performance = troupe.cast.play(schedule, roles)
        except NotPlayedError as reason:
            return not_played(err, reason), []
        judged = judge(troupe, performance, roles, Scope.of(revision=cast.revision), twins=True)
    examples = [
        MixedExample.unshrunk(finding, performance, name=name, roles=roles)
        for name, assessment in judged.items()
        for finding in assessment.findings
    ]
    errors = {where: error for assessment in judged.values() for where, error in assessment.errors.items()}
    noted = dict(schedule.notes)
    shown = (noted.get("against", GROUP), noted.get("shows", ""))
    examples.sort(key=lambda e: ((e.name, e.what) != shown, -RANK[e.finding.severity], e.name, e.what))
    if as_json:
        findings = [{"implementation": example.name, **unshrunk_json(example)} for example in examples]
        head = {"schedule": schedule.name, "plays": dict(roles)}
        print_json(head | played_json(performance, findings) | {"errors": errors})
    else:
        labelled(out, "Playing", Text(schedule.name or "a schedule", "bold"))
        labelled(out, "Played by", Text(MixedExample.describe_roles(roles)))
        _show(out, performance, examples, judged, shown)
    bad = errors or any(example.finding.severity is Verdict.FAIL for example in examples)
    return Exit.NON_CONFORMANT if bad else Exit.CONFORMANT, [example.finding for example in examples]


def _show(
    out: Console,
    performance: Performance,
    examples: list[MixedExample],
    judged: Mapping[str, Assessment],
    shown: tuple[str, str],
) -> None:
    """Print the schedule, the findings, and whether the stored finding ``shown`` (its code and participant) showed
    again."""
    show_played(out, performance, examples[0] if examples else None)
    for example in examples:
        show_violation(out, example.finding, example.name)
        show_proof(out, example)
    for assessment in judged.values():
        show_errors(out, assessment.errors)
    name, what = shown
    if gone := withdrawn(what):
        out.print(Text(f"{gone}."))
    elif what and shown in {(example.name, example.what) for example in examples}:
        out.print(Text(f"{what} is violated by {name or 'the group'} here, too.", "bold red"))
    elif what:
        out.print(Text(f"{what} is not violated by {name or 'the group'} here.", "green"))
    if not examples:
        out.print(Text("Nothing was found.", "bold green"))


def _join_names(members: list[str]) -> str:
    return " and ".join(members) if len(members) < 3 else f"{', '.join(members[:-1])} and {members[-1]}"
