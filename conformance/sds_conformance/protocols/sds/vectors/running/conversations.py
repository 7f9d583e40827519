"""Plays transcripts. An unlisted outcome is not a failure by itself: then the checks of the suite judge the trace."""

from __future__ import annotations

from typing import Any

from sds_harness.sds.language import SDS

from .....judging.verdict import Judge, Verdict
from .....vectors.model import Vector
from .....vectors.running.subject import Status, VectorResult, VectorSkippedError, format_value
from ... import checks as _checks
from ...catalogue import load_catalogue
from ...register import CHECKS
from ...rules import RULES
from ..conversations.transcript_player import StepNotPlayedError, TranscriptPlayer, matches_outcome, without_events
from .subject import SdsSubject

REGISTERED = _checks
"""The package whose import fills the register of checks."""

NEEDED = ("virtual-clock", "channels", "ephemeral", "retrieval-hints", "sds-r", "sync")
"""The capabilities that a transcript can require."""
LAYOUT = ("SDS-MSG-01", "FORUM-01")
"""The requirements that every transcript violates if messages do not have the layout of the specification."""
SIGNALS = ("delivered", "acknowledged", "possibly_acknowledged", "missing", "lost")


def ask_transcript(subject: SdsSubject, vector: Vector) -> VectorResult:
    """Play the steps, compare the results, and judge the trace if a result is not listed."""
    for name in vector["needs"]:
        if name not in NEEDED:
            raise VectorSkippedError(f"the transcript needs the capability {name}, which this suite does not know")
        subject.need(SDS.capabilities[name])
    stage = subject.stage(vector["scenario"])
    undeclared = {kind for kind in SIGNALS if not subject.declaration.can_by_name(kind.replace("_", "-"))}
    accepted, unlisted, played = VectorResult(Status.PASS), "", 0
    lacking: dict[str, None] = {}
    try:
        player = TranscriptPlayer(stage, vector)
        for number, (step, seen) in enumerate(zip(vector["steps"], player.play(), strict=False), 1):
            if seen is None:
                continue
            played += 1
            lacking |= dict.fromkeys(_find_unshown_parts(seen, step["outcomes"][0], vector["needs"]))
            outcomes = [without_events(outcome, undeclared) for outcome in step["outcomes"]]
            place = next((index for index, outcome in enumerate(outcomes) if matches_outcome(seen, outcome)), None)
            shown = f"step {number} ({step['do']}): {format_value(seen) if seen else 'nothing'}"
            if place is None and not unlisted:
                unlisted = shown
            if place and accepted.status is Status.PASS:
                recommended = format_value(outcomes[0])
                accepted = VectorResult(Status.ACCEPTABLE, recommended, shown, "another listed outcome")
    except StepNotPlayedError as stopped:
        if not unlisted:
            raise VectorSkippedError(str(stopped)) from None
    if not played:
        raise VectorSkippedError("no step of the transcript can be played")
    if not unlisted and lacking:
        # If the state lacks a part of the listed outcome, the transcript neither passes nor fails.
        return VectorResult(
            Status.ACCEPTABLE, reason=f"declares observe, and its state does not show {', '.join(lacking)}"
        )
    if not unlisted:
        return accepted
    return _judge_unlisted(subject, stage.trace, unlisted)


def _find_unshown_parts(seen: dict[str, Any], outcome: dict[str, Any], needs: list[str]) -> list[str]:
    """The parts of the state in ``outcome`` that the shown state lacks; none if no state is shown.

    Repair buffers count only if the transcript needs SDS-R.
    """
    if "state" not in seen:
        return []
    wanted = [name for name in outcome.get("state", {}) if "sds-r" in needs or not name.endswith("_repairs")]
    return [name for name in wanted if name not in seen["state"]]


def _judge_unlisted(subject: SdsSubject, trace: Any, unlisted: str) -> VectorResult:
    """Translate the trace from its dialect, and judge it by the checks of the suite. ``unlisted`` describes the outcome
    that the transcript does not list.
    """
    trace.translate()
    catalogue = load_catalogue()
    ids = [r.id for r in catalogue.requirements.values() if r.id in CHECKS and r.is_stated_in(subject.revision)]
    judge = Judge(RULES, ids)
    judge.add(trace)
    verdicts = judge.verdicts()
    for wanted, status in ((Verdict.ERROR, Status.ERROR), (Verdict.FAIL, Status.FAIL), (Verdict.WARN, Status.WARN)):
        found = [v for v in verdicts if v.verdict is wanted]
        if found:
            worst = found[0]
            finding = worst.findings[0] if worst.findings else None
            expected, seen = (finding.expected, finding.seen) if finding is not None else ("", "")
            violated = tuple(v.requirement.id for v in found)
            reason = worst.reason or ", ".join(violated)
            layout = next((f"the layout of messages ({one})" for one in violated if one in LAYOUT), "")
            return VectorResult(status, expected, seen or unlisted, reason, violated, difference=layout)
    return VectorResult(
        Status.ACCEPTABLE,
        seen=unlisted,
        reason="the transcript does not list this outcome, which violates no requirement",
    )
