"""``sds-conformance interop --replay``: plays a schedule of a mixed group again, with the same implementations."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from sds_harness.schedules import GroupTrace

from ...exploration.assessment import Assessment, Scope
from ...exploration.casts import Cast, NotPlayedError
from ...interop.mixed import GROUP, MIXED, MixedCast, MixedExample, Roles, describe_roles, judge, roles_noted
from ...judging.exits import Exit
from ...judging.verdict import RANK, Finding, Verdict
from ...presentation.story import print_labelled
from ...protocols import repertoire_of, withdrawn
from ...reports.report import Row, unmet
from ...scenario_files.expectations import check
from ...scenario_files.reader import LoadedScenario, ScenarioFileError, load_one
from ..files import usage_errors
from ..output_filter import print_json
from ..replay import group_trace_json, print_not_played, show_replayed, unshrunk_json
from .mixed import show_undriven, show_violation


def scenario_of(file: Path) -> tuple[LoadedScenario, dict[str, str]]:
    """Read a schedule and its assignment of implementations to participants.

    Raises UsageError. Its message names what is missing.
    """
    with usage_errors(ScenarioFileError):
        loaded = load_one(file)
    schedule = loaded.schedule
    roles = roles_noted(schedule)
    if dict(schedule.notes).get("cast") != MIXED or not roles:
        raise click.UsageError(
            f"{file} is not a schedule of a mixed group: it does not assign implementations to participants. "
            "`sds-conformance replay` "
            f"plays it on one implementation."
        )
    unknown = [member for member in schedule.names if member not in roles]
    if unknown:
        raise click.UsageError(
            f"{file} assigns no implementation to {_join_names(unknown)}: add 'plays {unknown[0]}' to its "
            "notes, with the NAME of an implementation"
        )
    return loaded, roles


def required_implementations(file: Path, roles: Roles, implementations: Collection[str]) -> tuple[str, ...]:
    """Return the implementations to which the schedule in ``file`` assigns participants. Raises UsageError if the
    command line lacks an implementation.
    """
    names = tuple(dict.fromkeys(roles.values()))
    for name in names:
        if name not in implementations:
            members = [member for member, other in roles.items() if other == name]
            raise click.UsageError(
                f"{name!r}, which plays {_join_names(members)} in {file}, is missing: add '{name}=COMMAND'"
            )
    return names


def play_again(
    out: Console, err: Console, cast: Cast, loaded: LoadedScenario, roles: Roles, *, as_json: bool
) -> tuple[int, list[Finding]]:
    """Play a schedule in its mixed group and print the result. Returns the exit code and the findings."""
    schedule = loaded.schedule
    cast.start()
    cast.check_text()
    show_undriven(err, cast.undriven)
    if cast.undriven:
        return Exit.NOT_DRIVEN, []
    with MixedCast(cast) as mixed_cast:
        try:
            group_trace = mixed_cast.cast.play(schedule, roles)
        except NotPlayedError as reason:
            return print_not_played(err, reason), []
        judged = judge(mixed_cast, group_trace, roles, Scope.select(revision=cast.revision), twins=True)
    result = check(group_trace, repertoire_of(cast.revision).reading)
    row = loaded.row({describe_roles(roles): result})
    examples = [
        MixedExample.from_unshrunk(finding, group_trace, name=name, roles=roles)
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
        data = head | group_trace_json(group_trace, findings) | {"errors": errors}
        print_json(data | {"expectations": row["expectations"]})
    else:
        print_labelled(out, "Playing", Text(schedule.name or "a schedule", "bold"))
        print_labelled(out, "Played by", describe_roles(roles))
        _show(out, group_trace, examples, judged, shown, row)
    bad = errors or result.unmet or any(example.finding.severity is Verdict.FAIL for example in examples)
    return Exit.NON_CONFORMANT if bad else Exit.CONFORMANT, [example.finding for example in examples]


def _show(
    out: Console,
    group_trace: GroupTrace,
    examples: list[MixedExample],
    judged: Mapping[str, Assessment],
    shown: tuple[str, str],
    row: Row,
) -> None:
    """Print the schedule, the findings, the expectations of ``row`` that were not met, and whether the stored finding
    ``shown`` (the name of the implementation, and the requirement) was reproduced.
    """
    show_replayed(
        out,
        group_trace,
        examples,
        lambda example: show_violation(out, example.finding, example.name),
        row,
        *(assessment.errors for assessment in judged.values()),
    )
    name, what = shown
    if gone := withdrawn(what):
        out.print(Text(f"{gone}."))
    elif what and shown in {(example.name, example.what) for example in examples}:
        out.print(Text(f"{what} is violated by {name or 'the group'} in this run as well.", "bold red"))
    elif what:
        out.print(Text(f"{what} is not violated by {name or 'the group'} in this run.", "green"))
    if not (examples or any(unmet([row]))):
        out.print(Text("Nothing was found.", "bold green"))


def _join_names(members: list[str]) -> str:
    return " and ".join(members) if len(members) < 3 else f"{', '.join(members[:-1])} and {members[-1]}"
