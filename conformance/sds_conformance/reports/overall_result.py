"""The overall result of a report: a sentence, and a few words for a badge. It never claims more than was tested."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum

from ..judging.certification import ENOUGH
from ..judging.exits import Exit
from ..judging.formats import format_count
from .report import Report, Row, flaky


class Tone(Enum):
    """Determines the colour of the overall result."""

    GOOD = "good"
    PARTIAL = "partial"
    """Result: no fault was found, but a part was not selected or not played, or too few requirements were judged."""
    BAD = "bad"
    NONE = "none"
    """Result: there is no verdict."""


@dataclass(frozen=True)
class OverallResult:
    tone: Tone
    short: str
    """The result in a few words, for a badge."""
    sentence: str
    """The rest of a sentence that begins with the name of the implementation."""


def compute_overall_result(report: Report) -> OverallResult:
    """Compute the overall result from the rows of a report; its counts are not trusted."""
    data = report.data
    counts = Counter(row["verdict"] for row in report.requirements())
    hard = len(report.hard_breakdowns)
    unfinished = report.why_incomplete
    if data["summary"]["exit_code"] == Exit.NOT_DRIVEN:
        return OverallResult(Tone.BAD, "could not be tested", "could not be tested: nothing was exercised.")
    if counts["fail"]:
        return _faulty(report, counts, unfinished)
    if unfinished and (not hard or report.cut_off or data["summary"]["interrupted"]):
        return OverallResult(Tone.NONE, "not complete", f"has no verdict as a whole: {unfinished}.")
    if hard:
        so_far = f" So far: {unfinished}." if unfinished else ""
        text = f"does not conform: {format_count(hard, 'breakdown')}.{so_far}"
        return OverallResult(Tone.BAD, format_count(hard, "breakdown"), text)
    if report.unmet:
        unmet = format_count(len(report.unmet), "expectation")
        return OverallResult(Tone.BAD, f"{unmet} not met", f"does not meet {unmet} of scenario files.")
    if counts["error"]:
        what = f"{format_count(counts['error'], 'requirement')} could not be judged because of a fault of the suite"
        return OverallResult(Tone.NONE, "no verdict", f"has no verdict as a whole: {what}.")
    if not any(row["exercised"] for row in report.requirements()):
        return OverallResult(Tone.NONE, "nothing exercised", "has no verdict: nothing was exercised.")
    return _result_without_faults(report, counts)


def _faulty(report: Report, counts: Counter[str], unfinished: str) -> OverallResult:
    failing = list(report.requirements("fail"))
    known = sum(bool(report.known_failures(row["id"])) for row in failing)
    unsteady = sum(bool(flaky(row)) for row in failing)
    failed = f"{format_count(counts['fail'], 'requirement')} failed" + (f" ({unsteady} flaky)" if unsteady else "")
    what = [failed]
    short = format_count(counts["fail"], "failure")
    if found := [cause for cause in report.data["causes"] if cause["verdict"] == "fail"]:
        short = format_count(len(found), "root cause")
        # Count the violations of all failed requirements, not only those of the root causes.
        kinds = (kind for row in failing for kind in row["kinds"] if kind["severity"] == "fail")
        violations = sum(sum(kind["scenarios"].values()) for kind in kinds)
        what = [short, failed, format_count(violations, "violation")]
    if known:
        what.append("all of them known" if known == len(failing) else f"{known} of them known")
    what += [format_count(len(broken), "breakdown")] if (broken := report.hard_breakdowns) else []
    what += [f"{format_count(len(unmet), 'expectation')} not met"] if (unmet := report.unmet) else []
    what += [f"{counts['error']} not judged because of a fault of the suite"] if counts["error"] else []
    so_far = f" So far: {unfinished}." if unfinished else ""
    return OverallResult(Tone.BAD, short, f"does not conform: {', '.join(what)}.{so_far}")


def _result_without_faults(report: Report, counts: Counter[str]) -> OverallResult:
    rows = applicable_requirements(report)
    judged = sum(row["exercised"] > 0 for row in rows)
    warnings = f", {format_count(counts['warn'], 'warning')}" if counts["warn"] else ""
    of = f"{judged} of {format_count(len(rows), 'requirement')}"
    left_out = report.data["summary"]["left_out"]
    why = [
        *([] if report.data["whole"] else [f"not all {' and '.join(report.data['narrowed'])} were selected"]),
        *([f"not played in {', '.join(left_out)}"] if left_out else []),
        *([] if judged >= ENOUGH * len(rows) else [f"{of} judged"]),
    ]
    if why:
        warned = warnings and f", with{warnings[1:]}"
        text = f"conforms to what was tested{warned}. This is not a verdict on everything: {'; '.join(why)}."
        short = "partial, no faults" if judged == len(rows) else f"partial, {judged} of {len(rows)} judged"
        return OverallResult(Tone.PARTIAL, short, text)
    about = f" ({' + '.join(parts)})" if (parts := _parts(report)) else ""
    but = f", {judged} of {len(rows)}" if judged < len(rows) else ""
    text = f"conforms to what was tested{about}" + (f", {of}" if but else "") + (warnings and f", with{warnings[1:]}")
    return OverallResult(Tone.GOOD, f"conformant{about}{but}{warnings}", f"{text}.")


def _part_of(report: Report, row: Row) -> str:
    """Return the profile to which a requirement belongs; "" if the catalogue no longer has the requirement."""
    rules = report.protocol.rules
    requirement = rules.catalogue.requirements.get(row["id"])
    return rules.part_of(requirement) if requirement is not None else ""


def unsupported_part(report: Report) -> str:
    """Return the profile that the implementation does not support, by its declaration; "" if there is none."""
    return report.protocol.unsupported_profile(report.declaration, report.data["revision"])


def applicable_requirements(report: Report) -> list[Row]:
    """Return the requirements that apply to the implementation, as certificates count them: those of the profiles that
    it supports. If there are none, return the exercised requirements.
    """
    without = unsupported_part(report)
    found = [row for row in report.requirements() if _part_of(report, row) != without]
    return found or [row for row in report.requirements() if row["exercised"]]


def _parts(report: Report) -> list[str]:
    """Return the names of the judged profiles; empty if the specification has only one."""
    named, rules = report.protocol.parts, report.protocol.rules
    stated = {
        rules.part_of(requirement) for requirement in rules.judged_requirements(report.data["revision"], rules.full)
    }
    found = dict.fromkeys(_part_of(report, row) for row in report.requirements())
    parts = [part for part in found if part and part != unsupported_part(report)]
    return [named.get(part, part.capitalize()) for part in parts] if stated & set(named) else []
