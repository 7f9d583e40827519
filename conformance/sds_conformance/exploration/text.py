"""Prints the result of a campaign on a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rich.console import Console
from rich.text import Text

from ..drawing.proof import proof, story
from ..drawing.spacetime import spacetime_svg
from ..judging.causes import Failure, Root, roots
from ..judging.exits import Exit
from ..judging.finding_replays import FindingReplays
from ..judging.formats import format_count
from ..judging.rules import Rules
from ..judging.severity import BREAKDOWN_SEVERITY
from ..judging.verdict import RANK, Finding, Verdict
from ..presentation.last_screen import CauseLine, sort_causes
from ..presentation.stderr_quotes import quote_stderr
from ..presentation.story import (
    headline,
    lines_labelled,
    plain_table,
    print_labelled,
    print_stderr,
    show_command,
    show_softened,
)
from ..presentation.story import show_flaky as show_flaky_line
from ..protocols import property_of, repertoire_of, stating
from .assessment import BREAKDOWN, STORM, Scope
from .campaign import CampaignOrder, CampaignTally
from .counterexample import Counterexample

SCHEMA_ID = "sds-conformance/fuzz/2"
Shrunk = dict[str, tuple[Counterexample | None, dict[str, Path]]]
"""Maps requirements and properties to their counterexample (None after an interrupt) and its files."""
RARE_PERCENT = 2
"""A situation is listed if less than this percentage of the schedules reached it."""


def rule_of(what: str) -> tuple[str, str]:
    """Return the source and the statement of a requirement, a property, or a breakdown."""
    entry = property_of(what)
    if entry is not None:
        return f"property of the group, {', '.join(entry.requirements)}", entry.title
    if what in (BREAKDOWN, STORM):
        return "testee protocol", "Every request is answered, and participants do not answer each other without end."
    protocol = stating(what)
    assert protocol is not None, what
    requirement = protocol.rules.catalogue.requirements[what]
    return f"{requirement.level}, section {requirement.anchor!r}", requirement.statement


def severity_number(what: str) -> int:
    """Return the severity of a requirement, 1 to 4. A property has the severity of its most severe requirement."""
    entry = property_of(what)
    severities = []
    for requirement in entry.requirements if entry is not None else (what,):
        protocol = stating(requirement)
        if protocol is not None:
            severities.append(protocol.rules.catalogue.requirements[requirement].severity)
    return min(severities, default=BREAKDOWN_SEVERITY)


def failure_of(finding: Finding, schedules: int, exercised: int) -> Failure:
    """Return the `Failure` of a finding. ``schedules`` is the number of schedules that show the finding; ``exercised``
    is the number that exercise its requirement.
    """
    entry = property_of(finding.requirement)
    rests_on = tuple(entry.requirements) if entry is not None else ()
    codes = frozenset({finding.code})
    return Failure(finding.requirement, finding.severity, schedules, exercised, codes=codes, rests_on=rests_on)


def roots_of(tally: CampaignTally, rules: Rules, dialect: str = "") -> list[Root]:
    """Return the root causes of the findings, the most severe first; ``dialect`` is the dialect in use."""
    failures = [
        failure_of(finding, tally.found_in[what], tally.exercised[what]) for what, finding in tally.found.items()
    ]
    found = sorted(roots(rules, failures, dialect), key=lambda root: tally.found_at[root.id])
    return sorted(found, key=lambda root: (-RANK[tally.found[root.id].severity], _severity(root)))


def _severity(root: Root) -> int:
    return min(map(severity_number, (root.id, *root.under)))


def cause_lines(tally: CampaignTally, found: Iterable[Root]) -> list[CauseLine]:
    """Return the lines of the last screen about root causes."""
    return sort_causes(
        CauseLine(tally.found[root.id].severity, _severity(root), root.id, root.title or rule_of(root.id)[1])
        for root in found
    )


def roots_in(tally: CampaignTally, order: CampaignOrder) -> list[Root]:
    """Return the root causes of what a campaign found."""
    return roots_of(tally, order.scope.rules, tally.declaration.dialect(order.dialect))


def details_of(finding: Finding, files: Mapping[str, Path] = MappingProxyType({})) -> list[Text]:
    """Return the lines about a finding that follows from a root cause: what was seen, and the file of its schedule."""
    location = [Text(f"saved in {files['schedule']}", "dim", no_wrap=True)] if "schedule" in files else []
    return [Text(f"seen: {finding.seen}", "dim", overflow="ellipsis"), *location]


def exercised_line(tally: CampaignTally, scope: Scope) -> tuple[str, Text]:
    """The line of the last screen with the number of exercised requirements and properties."""
    ids = [requirement.id for requirement in scope.requirements]
    parts = [
        f"{sum(tally.exercised[one] > 0 for one in those)} of {format_count(len(those), what, several)}"
        for those, what, several in ((ids, "requirement", ""), (list(scope.properties), "property", "properties"))
        if those
    ]
    return "Exercised", Text(", ".join(parts))


def svg_of(example: Counterexample) -> str:
    """The space-time diagram of a counterexample."""
    _, rule = rule_of(example.what)
    return spacetime_svg(example.group_trace, example.act, f"{example.what}: {rule}", describe_finding(example))


def describe_finding(example: Counterexample) -> str:
    """Return what was expected and what was seen, as text."""
    return f"Expected: {example.expected}. Seen: {example.seen}."


def story_of(example: Counterexample) -> list[str]:
    """The operations of a counterexample and their results, line by line."""
    return story(example.group_trace, example.act, f"{example.expected} {example.seen}")


def proof_of(example: Counterexample) -> list[str]:
    """Return why the finding is a violation, line by line."""
    act = example.act
    return proof(example.group_trace, act, example.expected, example.seen) if act is not None else []


def plain_story(example: Counterexample) -> str:
    """Return the finding, its story and its proof as the text of a file."""
    where, rule = rule_of(example.what)
    finding = example.finding
    head = [f"{finding.severity.value.upper()} {finding.full_code} ({where})", rule, ""]
    stderr = [f"stderr  {line}" for line in quote_stderr(finding.stderr_lines, 110)]
    lines = [*story_of(example), "", *proof_of(example), *stderr]
    return "\n".join([*head, *lines]) + "\n"


def describe_discovery(example: Counterexample, schedules: int) -> str:
    """Return the schedule that found the violation, the size after shrinking, and how many schedules show it."""
    before, after = len(example.original.operations), len(example.schedule.operations)
    found = f"by {example.original.name or 'a schedule'} of {format_count(before, 'step')}"
    shrunk = f"shrunk to {format_count(after, 'step')}" if after else "shrunk to a schedule without steps"
    cut = "; --shrink-budget was used up, so a shorter schedule may exist" if example.out_of_time else ""
    return f"{found}, {shrunk}; shown by {format_count(schedules, 'schedule')} in all{cut}"


def show_counterexample(console: Console, example: Counterexample, tally: CampaignTally) -> None:
    """Print a finding: the rule, the shrunk story and the proof."""
    finding = example.finding
    show_head(console, finding)
    print_labelled(console, "Found", Text(describe_discovery(example, tally.found_in[example.what])))
    show_dropped_expectations(console, example)
    lines_labelled(console, "Story", story_of(example))
    lines_labelled(console, "Proof", proof_of(example))
    print_stderr(console, finding.stderr_lines)
    show_softened(console, finding)


def show_dropped_expectations(console: Console, example: Counterexample) -> None:
    """Print that a shrunk schedule does not have the expectations of its file."""
    if example.original.expect and not example.schedule.expect:
        print_labelled(
            console,
            "",
            Text("the shrunk schedule lacks the expectations of the file, which are about all steps"),
        )


def show_replay_command(console: Console, files: Mapping[str, Path], again: str) -> None:
    """Print the path of the picture, if there is one, and the command to replay."""
    if "picture" in files:
        print_labelled(console, "Picture", Text(str(files["picture"]), "blue"), whole=True)
    show_command(console, "Again", again)


def show_unshrunk(console: Console, finding: Finding, found_by: str) -> None:
    """Print a finding that was not shrunk because of an interrupt."""
    print_labelled(console, "Found", Text(f"by {found_by}, and not shrunk: there was an interrupt"))
    show_seen(console, finding)


def show_flaky(
    console: Console, finding: Finding, found_by: str, again: FindingReplays | None, *, late: bool = False
) -> None:
    """Print a flaky finding, or one that could not be replayed (``again`` is None); ``late`` if time ran out."""
    print_labelled(console, "Found", Text(f"by {found_by}"))
    if again is None:
        why = "the total time was used up" if late else "the implementation could not be started for a replay"
        print_labelled(console, "", Text(f"Not shrunk: {why}."))
    show_flaky_line(console, again, " So nothing could be shrunk.")
    show_seen(console, finding)


def show_unstable(console: Console, finding: Finding, found_by: str, who: str) -> None:
    """Print a finding that was not reproduced when its schedule was replayed."""
    print_labelled(console, "Found", Text(f"by {found_by}, but its replay did not show the violation:"))
    print_labelled(console, "", Text(f"{who} is not deterministic, so nothing could be shrunk."))
    show_seen(console, finding)


def show_seen(console: Console, finding: Finding) -> None:
    """Print the expected and the seen values."""
    print_labelled(console, "Expected", Text(finding.expected or "-"))
    print_labelled(console, "Seen", Text(finding.seen, "bold"))
    print_stderr(console, finding.stderr_lines)


def show_head(console: Console, finding: Finding) -> None:
    """Print the violated requirement and its rule."""
    where, rule = rule_of(finding.requirement)
    console.print(headline(finding.severity, finding.full_code, where))
    print_labelled(console, "Rule", Text(rule))


def show_coverage(console: Console, tally: CampaignTally, scope: Scope) -> None:
    """Print what the schedules reached: a table of situations, and the requirements and properties that few or no
    schedules exercised.
    """
    if not tally.schedules:
        return
    table = plain_table("Reached", right=("schedules", ""))
    for key, words in scope.repertoire.situations.items():
        count = tally.situations[key]
        percent = 100 * count / tally.schedules
        style = "yellow" if percent < RARE_PERCENT else ""
        table.add_row(Text(words, style), Text(f"{count:,}", style), Text(f"{percent:.0f} %", style))
    console.print(table)
    console.print()
    for what, ids in (
        ("requirements", [r.id for r in scope.requirements]),
        ("properties", list(scope.properties)),
    ):
        reached = [i for i in ids if tally.exercised[i]]
        rare = [i for i in reached if 100 * tally.exercised[i] < RARE_PERCENT * tally.schedules]
        print_labelled(console, "Judged", Text(f"{len(reached)} of {len(ids)} {what}"))
        for shown_ids, description in ((set(ids) - set(reached), "not reached"), (set(rare), "in few schedules")):
            if shown_ids:
                text = ", ".join(i for i in ids if i in shown_ids)
                print_labelled(console, "", Text.assemble((f"{description}: ", "yellow"), (text, "dim")))
    console.print()


def summarize_failures(tally: CampaignTally, found: Iterable[Root]) -> str:
    """Return the numbers of failures, of root causes and of unmet expectations, as text; "" if nothing failed."""
    failed = sum(finding.severity is Verdict.FAIL for finding in tally.found.values())
    causes = sum(tally.found[root.id].severity is Verdict.FAIL for root in found)
    parts = [f"{format_count(causes, 'root cause')}, {failed} failed"] if failed else []
    return ", ".join(
        [*parts, *([f"{format_count(tally.unmet_count, 'expectation')} not met"] if tally.unmet_count else [])]
    )


def last_line(tally: CampaignTally, found: Iterable[Root], name: str) -> Text:
    """The verdict, in one sentence."""
    failed = summarize_failures(tally, found)
    warned = sum(f.severity is Verdict.WARN for f in tally.found.values())
    played = f"{format_count(tally.schedules, 'schedule')}, {format_count(tally.steps, 'step')}, {tally.seconds:.1f} s"
    if tally.shrinking_s >= 0.1:
        played += f", {tally.shrinking_s:.1f} s of them to shrink"
    if tally.interrupted:
        played += ", interrupted"
    if tally.out_of_time:
        played += ", as many as the time allowed"
    if not tally.schedules:
        return Text(f"Nothing was played: no verdict on {name} ({played}).", "magenta")
    warnings = f"; {warned} warn" if warned else ""
    if failed:
        flaky = sum(tally.found[what].severity is Verdict.FAIL for what in tally.flaky)
        of = f", {flaky} of them flaky" if flaky else ""
        but = ". There are also faults of the suite" if tally.errors else ""
        return Text(f"{name} does not conform: {failed}{of}{warnings} ({played}){but}.", "bold red")
    if tally.errors:
        return Text(f"A fault of the suite: no verdict on {name} ({played}).", "bold white on red")
    if tally.not_started:
        return Text(f"The test of {name} ended early: no verdict ({played}).", "magenta")
    if tally.exit_code is Exit.NON_CONFORMANT:
        return Text(f"{name} does not conform: {tally.gave_up}{warnings} ({played}).", "bold red")
    if not (tally.found or tally.interrupted or any(tally.exercised.values())):
        return Text(
            f"Nothing was exercised: no verdict on {name} ({format_count(tally.schedules, 'schedule')}).", "magenta"
        )
    return Text(f"Nothing was found against {name}{warnings} ({played}).", "bold green")


def finding_json(tally: CampaignTally, what: str, root: Root | None) -> dict[str, Any]:
    """The finding against a requirement or property as JSON, how often it was found, and its root cause."""
    found = tally.found[what]
    return {
        "id": what,
        "severity": found.severity.value,
        "code": found.full_code,
        "position": found.position,
        "schedules": tally.found_in[what],
        "first": tally.found_at[what],
        **({"under": {"id": root.id, "why": root.under[what]}} if root is not None else {}),
    }


def order_by_root_cause(found: Iterable[Root]) -> dict[str, Root | None]:
    """Map each finding to the root cause that explains it; None for a root cause itself. Each root cause comes before
    the findings that it explains.
    """
    return {what: None if what == root.id else root for root in found for what in (root.id, *root.under)}


def head_json(tally: CampaignTally, revision: str, profile: str, cast: str, seed: int) -> dict[str, Any]:
    """The schedules and options that were played, as JSON."""
    return {
        "implementation": {"name": tally.declaration.name, "version": tally.declaration.version},
        "revision": revision,
        "profile": profile,
        "cast": cast,
        "seed": seed,
        "schedules": tally.schedules,
        "steps": tally.steps,
        "seconds": round(tally.seconds, 3),
    }


def coverage_json(tally: CampaignTally, scope: Scope) -> dict[str, Any]:
    """Number of schedules that exercised each requirement, as JSON."""
    judged = [*(requirement.id for requirement in scope.requirements), *scope.properties]
    return {
        "exercised": {what: tally.exercised[what] for what in sorted(tally.exercised)},
        "not_exercised": [what for what in judged if not tally.exercised[what]],
    }


def as_json(tally: CampaignTally, order: CampaignOrder, roots: Iterable[Root], shrunk: Shrunk) -> dict[str, Any]:
    """The result as JSON; ``roots`` are its root causes, see `roots_in`."""
    findings = []
    for what, root in order_by_root_cause(roots).items():
        example, files = shrunk.get(what, (None, {}))
        data = {**finding_json(tally, what, root), **_example_json(example, tally.found[what])}
        data |= {"again": asdict(again)} if (again := tally.flaky.get(what)) is not None else {}
        findings.append({**data, "files": {key: str(path) for key, path in files.items()}})
    return {
        "schema": SCHEMA_ID,
        **head_json(tally, order.revision, order.profile, order.casting.value, order.seed),
        "interrupted": tally.interrupted,
        "out_of_time": tally.out_of_time,
        "gave_up": tally.gave_up or tally.not_started,
        "errors": tally.errors,
        "findings": findings,
        **coverage_json(tally, order.scope),
        "situations": {what: tally.situations[what] for what in repertoire_of(order.revision).situations},
    }


def stderr_json(finding: Finding) -> dict[str, Any]:
    """The lines on stderr as JSON, if there are any."""
    return {"stderr": list(finding.stderr_lines)} if finding.stderr_lines else {}


def _example_json(example: Counterexample | None, found: Finding) -> dict[str, Any]:
    if example is None:
        return {"expected": found.expected, "seen": found.seen, **stderr_json(found), "reproduced": False}
    return {
        "expected": example.expected,
        "seen": example.seen,
        **stderr_json(example.finding),
        "reproduced": True,
        "operations": len(example.schedule.operations),
        "shrunk_from": len(example.original.operations),
        "proof": proof_of(example),
    }
