"""``sds-conformance run``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from sds_harness.declaration import printable
from sds_harness.faults import TesteeFault

from ..judging.certification import Certification, certify, not_driven, plan
from ..judging.exits import Exit
from ..judging.rules import Rules, UnknownDialect
from ..protocols import default
from ..telling.report import Invocation, report, write_report
from ..telling.story import (
    show_breakdown,
    show_certificate,
    show_conversation,
    show_doubts,
    show_findings,
    show_notes,
    show_summary,
)
from .keeping import keeping, record, record_judged
from .options import CURRENT, FOLDER, PREFIXES, Driven, console, driving, full_id, judging, program, spoken
from .showing import print_json, steps_bar

_EPILOG = """
\b
Examples:
  sds-conformance run
  sds-conformance run -- node my-adapter.mjs
  sds-conformance run --framing binary --report out -- ./my-adapter
  sds-conformance run --select 'SDS-MSG-*' --deselect SDS-MSG-14 -- ./adapter
  sds-conformance run --environment plain -- ./my-adapter
  sds-conformance run --grpc 127.0.0.1:50051
  sds-conformance run --grpc auto -- ./my-server {address}
  sds-conformance run --select SDS-RECV-06 -- ./my-adapter
  sds-conformance run --transcript talk.jsonl -- ./my-adapter
  sds-conformance run --profile core -- ./my-adapter
  sds-conformance run --revision forum-2024 -- ./my-adapter
  sds-conformance run --clock faketime -- ./my-adapter

Without COMMAND the bundled reference model is driven. With one ID selected,
the conversation is shown message by message.
"""


@click.command("run", epilog=_EPILOG)
@click.option(
    "--select",
    multiple=True,
    metavar="GLOB",
    help="Judge only these requirement IDs; may be repeated. All is played: --scenario narrows that down.",
)
@click.option("--deselect", multiple=True, metavar="GLOB", help="Leave these requirement IDs out; may be repeated.")
@click.option(
    "--scenario", "scenarios", multiple=True, metavar="GLOB", help="Play only these scenarios; may be repeated."
)
@click.option(
    "--environment",
    "environments",
    multiple=True,
    metavar="GLOB",
    help=f"Play only in these environments; may be repeated. There are {', '.join(default().rules.environments)}.",
)
@judging
@click.option(
    "--report",
    "report_dir",
    type=FOLDER,
    metavar="DIR",
    help="Write report.json, report.jsonl and traces to DIR.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON instead of the story.")
@driving
@keeping
def run_command(
    driven: Driven,
    select: tuple[str, ...],
    deselect: tuple[str, ...],
    scenarios: tuple[str, ...],
    environments: tuple[str, ...],
    profile: str,
    revision: str,
    strict: bool,
    report_dir: Path | None,
    as_json: bool,
) -> None:
    """Drive an implementation and judge every requirement."""
    out, err = console(), console(stderr=True)
    select, deselect = tuple(map(full_id, select)), tuple(map(full_id, deselect))
    rules = spoken(revision).rules
    if misfit := rules.misfit(revision, profile, driven.dialect):
        raise click.UsageError(misfit)
    what = plan(rules, select, deselect, profile, revision, scenarios=scenarios, environments=environments or ("*",))
    for glob in (*select, *deselect):
        if not plan(rules, [glob], profile=profile, revision=revision).requirements:
            raise click.UsageError(_nothing_matches(rules, glob, profile, revision))
    if not what.requirements:
        raise click.UsageError("nothing is left: `sds-conformance requirements` lists the IDs")
    if not what.scenarios:
        raise click.UsageError(
            f"no scenario matches: `sds-conformance requirements {PREFIXES[0]}-...` names those of a requirement"
        )
    if not what.environments:
        raise click.UsageError(f"no environment matches: there are {', '.join(rules.environments)}")
    if report_dir is not None:
        _prepare(report_dir)
    try:
        with steps_bar(err, 34) as bar:
            outcome = certify(
                driven.connect,
                what,
                driven.limits,
                dialect=driven.dialect,
                strict=strict,
                running=driven.running,
                progress=bar,
            )
    except TesteeFault as fault:
        name = printable(Path(driven.words[0]).name) or "?"
        outcome = not_driven(what, name, fault, driven.dialect, strict)
    except UnknownDialect as error:
        sentence = f"The implementation declares a dialect that is not known here: {error}"
        err.print(sentence, style="bold red", soft_wrap=True)
        sys.exit(Exit.NOT_DRIVEN)
    record(driven, (finding for verdict in outcome.verdicts for finding in verdict.findings))
    record_judged(driven, outcome)
    repeated = [*driven.options, *(["--strict"] if strict else [])]
    repeated += ["--revision", revision] if revision != CURRENT else []
    how = Invocation(driven.command, driven.carried, tuple(repeated), program())
    data = report(outcome, how)
    written = report_dir is None or _write(err, report_dir, data, outcome)
    if not outcome.driven:
        show_breakdown(err, outcome.breakdowns[0])
        err.print(f"{driven.shown} could not be driven.", style="bold red", soft_wrap=True)
    if as_json:
        print_json(data)
    elif outcome.driven:
        _show(out, outcome, how)
    sys.exit(outcome.exit_code if written else Exit.USAGE)


def _write(err: Console, folder: Path, data: dict[str, Any], outcome: Certification) -> bool:
    try:
        write_report(folder, data, outcome)
    except OSError as error:
        err.print(f"The report was not written to {folder}: {error.strerror}.", style="bold red", soft_wrap=True)
        return False
    err.print(f"Report: {folder / 'report.json'}", soft_wrap=True)
    return True


def _nothing_matches(rules: Rules, glob: str, profile: str, revision: str) -> str:
    requirement = rules.catalogue.requirements.get(glob)
    if requirement is None:
        return f"no requirement matches {glob!r}: `sds-conformance requirements` lists the IDs"
    if requirement.id not in rules.register.checks:
        return f"{glob} has no check: `sds-conformance requirements {glob}` says why"
    if not requirement.stated_in(revision):
        return f"{glob} is not stated in {revision}: add --revision {requirement.revisions[0]}"
    return f"{glob} is not in the profile {profile}: leave --profile out"


def _prepare(folder: Path) -> None:
    """Find out before a long run, not after it, that the report cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / "report.json.tmp"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise click.UsageError(f"cannot write a report to {folder}: {error.strerror}. Name another DIR.") from None


def _show(out: Console, outcome: Certification, how: Invocation) -> None:
    show_certificate(out, outcome.declaration, outcome.dialect, outcome.plan)
    show_doubts(out, outcome.plan.revision, outcome.traces.values())
    if len(outcome.plan.requirements) == 1:
        show_conversation(out, outcome.plan.requirements[0], outcome)
    show_findings(out, outcome, how)
    show_notes(out, outcome)
    if outcome.gave_up:
        out.print("The rest was not played: the implementation broke down too often in a row.\n", style="yellow")
    show_summary(out, outcome)
    if outcome.exit_code == Exit.NOTHING_EXERCISED:
        out.print("Look at the reasons above: capabilities are declared in the handshake.")
