"""How an implementation stands by a report: in a sentence, and in few words for a badge. Never better than it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ..judging.certification import ENOUGH
from ..judging.exits import Exit
from ..judging.quoting import counted
from ..judging.runner import tolerated
from ..protocols import protocol_of
from .reading import Report


class Tone(Enum):
    """What to think of it at first sight."""

    GOOD = "good"
    PARTIAL = "partial"
    """No fault was found, and not all was looked at."""
    BAD = "bad"
    NONE = "none"
    """There is no verdict."""


@dataclass(frozen=True)
class Standing:
    """What a report says as a whole."""

    tone: Tone
    short: str
    """For a badge."""
    sentence: str
    """It begins with what is said of the implementation, whose name belongs before it."""


def standing(report: Report) -> Standing:
    """What a report says as a whole. Its rows are believed, not the counts that stand beside them."""
    data = report.data
    counts = Counter(row["verdict"] for row in report.requirements())
    hard = len(hard_breakdowns(report))
    unfinished = why_unfinished(report)
    if data["summary"]["exit_code"] == Exit.NOT_DRIVEN:
        return Standing(Tone.BAD, "could not be driven", "could not be driven: nothing was exercised.")
    if counts["fail"]:
        return _faulty(report, counts, unfinished)
    if unfinished and (not hard or report.cut_off or data["summary"]["interrupted"]):
        return Standing(Tone.NONE, "not complete", f"has no verdict as a whole: {unfinished}.")
    if hard:
        so_far = f" So far: {unfinished}." if unfinished else ""
        said = f"does not conform: {counted(hard, 'breakdown')}.{so_far}"
        return Standing(Tone.BAD, counted(hard, "breakdown"), said)
    if counts["error"]:
        what = f"{counted(counts['error'], 'requirement')} could not be judged by a fault of the suite"
        return Standing(Tone.NONE, "no verdict", f"has no verdict as a whole: {what}.")
    if not any(row["exercised"] for row in report.requirements()):
        return Standing(Tone.NONE, "nothing exercised", "has no verdict: nothing was exercised.")
    return _without_faults(report, counts)


def why_unfinished(report: Report) -> str:
    """Why there is less in a report than was asked for, "" where there is not."""
    summary = report.data["summary"]
    if report.cut_off:
        return f"the report was cut off {report.cut_off}"
    if summary["interrupted"]:
        return "the run was interrupted"
    if not summary["complete"] and summary["exit_code"] != Exit.NOT_DRIVEN:
        return "the run ended before all was played"
    return ""


def hard_breakdowns(report: Report) -> list[dict[str, Any]]:
    """The breakdowns that cost an implementation its conformance."""
    soft = tolerated(strict=report.data["strict"], narrowed=report.data["narrowed"])
    return [broken for broken in report.data["breakdowns"] if broken["kind"] not in soft]


def known_failures(report: Report, requirement: str) -> list[dict[str, Any]]:
    """What the baseline says of a requirement that fails; nothing where part of it is new."""
    if any(row["requirement"] == requirement for row in complaints(report)):
        return []
    baseline = report.data["baseline"]
    return [row for row in baseline["known"] if row["requirement"] == requirement] if baseline else []


def causes(report: Report) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The root causes, each with the row of its requirement: what is known comes last."""
    rows = {row["id"]: row for row in report.requirements()}
    found = [(cause, rows[cause["requirement"]]) for cause in report.data["causes"] if cause["requirement"] in rows]
    return sorted(found, key=lambda one: is_known(report, one[0]))


def by_severity(report: Report) -> list[dict[str, Any]]:
    """The rows of requirements: those that fail, then those that warn, each the most severe first; then all others."""
    rank = {"fail": 0, "warn": 1}
    return sorted(
        report.requirements(), key=lambda row: (rank.get(row["verdict"], 2), row["severity"] * (row["verdict"] in rank))
    )


def is_known(report: Report, cause: dict[str, Any]) -> bool:
    """Does a baseline list a root cause, and all that is told under it?"""
    told = [cause["requirement"], *(under["requirement"] for under in cause["under"])]
    return all(known_failures(report, requirement) for requirement in told)


def complaints(report: Report) -> list[dict[str, Any]]:
    """What is wrong with the baseline."""
    baseline = report.data["baseline"]
    return list(baseline["complaints"]) if baseline else []


def _faulty(report: Report, counts: Counter[str], unfinished: str) -> Standing:
    failing = list(report.requirements("fail"))
    known = sum(bool(known_failures(report, row["id"])) for row in failing)
    flaky = sum("repeated" in row and row["repeated"]["shown"] < row["repeated"]["played"] for row in failing)
    failed = f"{counted(counts['fail'], 'requirement')} failed" + (f" ({flaky} flaky)" if flaky else "")
    what = [failed]
    short = counted(counts["fail"], "failure")
    if found := [cause for cause in report.data["causes"] if cause["verdict"] == "fail"]:
        short = counted(len(found), "root cause")
        what = [short, failed, counted(sum(cause["violations"] for cause in found), "violation")]
    if known:
        what.append("all of them known" if known == len(failing) else f"{known} of them known")
    what += [counted(len(broken), "breakdown")] if (broken := hard_breakdowns(report)) else []
    what += [f"{counts['error']} not judged by a fault of the suite"] if counts["error"] else []
    so_far = f" So far: {unfinished}." if unfinished else ""
    return Standing(Tone.BAD, short, f"does not conform: {', '.join(what)}.{so_far}")


def _without_faults(report: Report, counts: Counter[str]) -> Standing:
    rows = list(asked(report))
    judged = sum(row["exercised"] > 0 for row in rows)
    warnings = f", {counted(counts['warn'], 'warning')}" if counts["warn"] else ""
    of = f"{judged} of {counted(len(rows), 'requirement')}"
    left_out = report.data["summary"]["left_out"]
    why = [
        *([] if report.data["whole"] else [f"not all {' and '.join(report.data['narrowed'])} were asked for"]),
        *([f"not played in {', '.join(left_out)}"] if left_out else []),
        *([] if judged >= ENOUGH * len(rows) else [f"{of} judged"]),
    ]
    if why:
        warned = warnings and f", with{warnings[1:]}"
        told = f"conforms to what was tested{warned}. It is no verdict on the whole: {'; '.join(why)}."
        short = "partial, no faults" if judged == len(rows) else f"partial, {judged} of {len(rows)} judged"
        return Standing(Tone.PARTIAL, short, told)
    about = f" ({' + '.join(parts)})" if (parts := _parts(report)) else ""
    but = f", {judged} of {len(rows)}" if judged < len(rows) else ""
    told = f"conforms to what was tested{about}" + (f", {of}" if but else "") + (warnings and f", with{warnings[1:]}")
    return Standing(Tone.GOOD, f"conformant{about}{but}{warnings}", f"{told}.")


def _part_of(report: Report, row: dict[str, Any]) -> str:
    """The part of the text that a requirement belongs to, "" for one that the catalogue does not know any more."""
    rules = protocol_of(report.data["revision"]).rules
    requirement = rules.catalogue.requirements.get(row["id"])
    return rules.part_of(requirement) if requirement is not None else ""


def forgone(report: Report) -> str:
    """The part of the text that the implementation does without, by what it declares."""
    return protocol_of(report.data["revision"]).words.forgone(report.declaration, report.data["revision"])


def asked(report: Report) -> Iterator[dict[str, Any]]:
    """The requirements that concern the implementation."""
    without = forgone(report)
    return (row for row in report.requirements() if row["exercised"] or _part_of(report, row) != without)


def _parts(report: Report) -> list[str]:
    """The parts of the text that were judged, by name, none where it is all one."""
    protocol = protocol_of(report.data["revision"])
    named, rules = protocol.words.parts, protocol.rules
    stated = {rules.part_of(requirement) for requirement in rules.judged(report.data["revision"], rules.full)}
    found = dict.fromkeys(_part_of(report, row) for row in report.requirements())
    parts = [part for part in found if part and part != forgone(report)]
    return [named.get(part, part.capitalize()) for part in parts] if stated & set(named) else []
