"""``--transcript``: stores conversations and findings in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from sds_harness.declaration import printable
from sds_harness.transcript.writer import Transcript
from sds_testee.version import suite_version

from ..judging.certification import Certification
from ..judging.verdict import Finding
from ..vectors.running.examination import AnsweredVector
from .files import write_errors
from .implementation_options import DrivenImplementation
from .options import console, program
from .paths import OutputFile

MAX_RUNS = 100
"""Maximum number of runs that are listed for one requirement."""


def add_transcript_option(function: Callable[..., None]) -> Callable[..., None]:
    """Add an option to a command: ``--transcript``, which stores all requests and replies in a file."""

    @wraps(function)
    def wrapper(driven: DrivenImplementation, transcript_file: Path | None, **rest: Any) -> None:
        if transcript_file is None:
            function(driven=driven, **rest)
            return
        transcript = _open_transcript(transcript_file)
        if transcript.failure:
            text = f"No transcript is written to {transcript_file}: {transcript.failure}."
            console(stderr=True).print(text, style="bold red", soft_wrap=True)
            function(driven=driven, **rest)
            return
        try:
            function(driven=replace(driven, transcript=transcript), **rest)
        finally:
            _show(transcript)

    option = click.option(
        "--transcript",
        "transcript_file",
        type=OutputFile("a transcript to ", regular=True),
        metavar="FILE",
        help="Write all requests and replies to FILE; `sds-conformance explain` shows FILE.",
    )
    return option(wrapper)


def record(driven: DrivenImplementation, findings: Iterable[Finding]) -> None:
    """Store findings in the transcript, each with its run, step, participant and channel."""
    for finding in findings:
        _add(
            driven,
            finding={
                "requirement": finding.requirement,
                "severity": finding.severity_name,
                "code": finding.full_code,
                "run": finding.run,
                "part": finding.recorded,
                "step": finding.step,
                "participant": finding.participant,
                "channel": finding.channel_id,
                "expected": finding.expected,
                "seen": finding.seen,
                "position": finding.position,
                **({"stderr": list(finding.stderr_lines)} if finding.stderr_lines else {}),
            },
        )


def record_judged(driven: DrivenImplementation, outcome: Certification) -> None:
    """Store the verdicts in the transcript, each with runs that exercised the requirement."""
    for verdict in outcome.verdicts:
        runs = list(outcome.sightings.get(verdict.requirement.id, ()))
        judged = {"requirement": verdict.requirement.id, "verdict": verdict.verdict.value, "runs": runs[:MAX_RUNS]}
        _add(driven, judged={**judged, "more": len(runs) - MAX_RUNS} if len(runs) > MAX_RUNS else judged)


def record_wrong(driven: DrivenImplementation, answered: AnsweredVector) -> None:
    """Store a wrong answer to a golden vector, with the violated requirements, in the transcript."""
    answer, vector = answered.answer, str(answered.vector["id"])
    for requirement in answered.violated:
        _add(
            driven,
            finding={
                "requirement": requirement,
                "severity": answer.status.value,
                "run": printable(vector),
                "expected": answer.expected,
                "seen": answer.seen,
            },
        )


def _add(driven: DrivenImplementation, **row: Any) -> None:
    if driven.transcript is not None:
        driven.transcript.add(row)


def _open_transcript(path: Path) -> Transcript:
    """Open the transcript before a long run, so that an error is detected early."""
    with write_errors(f"cannot write a transcript to {path}", "Name another FILE."):
        return Transcript.begin(path, suite=suite_version(), command=click.get_current_context().command_path)


def _show(transcript: Transcript) -> None:
    err = console(stderr=True)
    if transcript.failure:
        text = f"The transcript {transcript.path} ends early: {transcript.failure}."
        err.print(text, style="bold red", soft_wrap=True)
    elif transcript.has_vanished:
        text = f"The transcript {transcript.path} has vanished: it was deleted, renamed or replaced during the run."
        err.print(text, style="bold red", soft_wrap=True)
    else:
        err.print(f"Transcript: {transcript.path}. See it: {program()} explain {transcript.path}", soft_wrap=True)
