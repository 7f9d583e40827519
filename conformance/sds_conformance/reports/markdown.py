"""A report as Markdown for a GitHub job summary: limited in size, with untrusted text escaped."""

from __future__ import annotations

from collections.abc import Iterator

from ..judging.formats import format_count
from ..judging.verdict import Verdict
from .baseline import FlakyOutcome
from .gfm import block, code, prose
from .overall_result import compute_overall_result
from .plain_text import format_breakdown, story
from .report import Report, RootCause, Row, code_of, flaky, sides, worst
from .scenario_files import remarks

LIMIT = 900_000
"""Maximum size in bytes. GitHub shows summaries of up to 1 MiB, and other steps need room as well."""
STORIES = 20
"""Maximum number of root causes with a full story."""
_ITEM = "- "
_MORE = "The rest does not fit here: see the report."


def markdown(report: Report) -> str:
    """Render a report as Markdown. If the text would be larger than ``LIMIT``, its last parts are omitted."""
    room, out, before = LIMIT - len(_MORE), "", ""
    for part in _parts(report):
        lines = 0 if not before else 1 if part.startswith(_ITEM) and before.startswith(_ITEM) else 2
        added = "\n" * lines + part
        room -= len(added.encode("utf-8", "backslashreplace"))
        if room < 0:
            return f"{out}\n\n{_MORE}\n"
        out, before = out + added, part
    return out + "\n"


def _parts(report: Report) -> Iterator[str]:
    data, whole = report.data, compute_overall_result(report)
    yield f"## {prose(whole.short[0].upper() + whole.short[1:])}: {code(report.name)}"
    if report.cut_off:
        yield f"**This report was cut off {prose(report.cut_off)}.** Later results are missing."
    if found := report.complaints:
        yield from _complaints(data["baseline"]["file"], found)
    yield f"{code(report.name)} {prose(whole.sentence)}"
    yield _counts(report)
    yield _format_counts_played(data)
    if data["doubts"]:
        yield "**Warning.** " + " ".join(map(prose, data["doubts"]))
    for one in report.unmet:
        yield f"{_ITEM}**Expectation not met**, {code(one.place)}: {prose(one.sentence)}"
    for sentence in remarks(report.scenario_files):
        yield f"{_ITEM}**Warning.** {prose(sentence)}"
    yield from _causes(report)
    yield from _breakdowns(report)
    yield from _list_known_failures(report)
    yield from _list_violations(report)
    yield from _list_unjudged(report)


def _counts(report: Report) -> str:
    rows = list(report.requirements())
    counts = [sum(row["verdict"] == verdict.value for row in rows) for verdict in Verdict]
    return "\n".join(
        [
            f"| {' | '.join(verdict.value for verdict in Verdict)} |",
            f"|{' ---: |' * len(Verdict)}",
            f"| {' | '.join(map(str, counts))} |",
        ]
    )


def _format_counts_played(data: Row) -> str:
    summary = data["summary"]
    played = ", ".join(format_count(summary[f"{what}s"], what) for what in ("scenario", "run", "step"))
    where = ", ".join(map(prose, summary["environments"])) or "none"
    text = (
        f"Judged by {data['suite']['name']} {prose(data['suite']['version'])} against {prose(data['revision'])}, "
        f"profile {prose(data['profile'])}{', strict' if data['strict'] else ''}, on {prose(data['started'][:10])}: "
        f"{played}; environments: {where}."
    )
    left_out = [
        f"The environment {prose(name)} was left out, because {code(why)}." for name, why in summary["left_out"].items()
    ]
    return " ".join([text, *left_out])


def _complaints(file: str, found: list[Row]) -> Iterator[str]:
    yield f"### Errors in the baseline {code(file)}, not in the implementation"
    for row in found:
        yield f"- Line {row['line']}, {prose(row['requirement'])}: {code(row['what'])}\n  Change: {code(row['change'])}"


def _causes(report: Report) -> Iterator[str]:
    for verdict, title in ((Verdict.FAIL, "Root causes"), (Verdict.WARN, "Warnings")):
        found = [cause for cause in report.causes if cause.verdict is verdict]
        if found:
            yield f"### {title}, the most severe first"
        for number, cause in enumerate(found, 1):
            with_story = verdict is Verdict.FAIL and number <= STORIES and not cause.known
            yield from _cause(report, number, cause, with_story)


def _cause(report: Report, number: int, cause: RootCause, with_story: bool) -> Iterator[str]:
    row, known = cause.row, ", known" if cause.known or cause.new_under else ""
    often = f", {flaky(row)}" if flaky(row) else ""
    yield f"#### {number}. {prose(code_of(row))}, severity {cause.data['severity']}, {cause.times}{often}{known}"
    if title := cause.data.get("title"):
        yield f"**The implementation {prose(title)}.**"
    yield f"{row['level']}: {prose(row['statement'])}"
    if cause.new_under:
        unlisted = ", ".join(map(prose, cause.new_under))
        yield f"New failures of this known root cause, which the baseline does not list: {unlisted}"
    for under in cause.data["under"]:
        yield f"- It also causes {prose(under['requirement'])}: {prose(under['why'])}"
    finding = worst(row)
    if finding is not None and with_story:
        yield block(story(report, row["id"], finding).splitlines())
    elif finding is not None:
        yield f"Seen: {code(sides(finding)[1])}"
    yield block([cause.data["again"]], "sh")


def _breakdowns(report: Report) -> Iterator[str]:
    if report.breakdowns:
        yield "### The conversation broke"
    for broken, others in report.breakdowns:
        more = f", and {len(others)} more of this kind" if others else ""
        yield f"**{broken['kind']}** in {code(broken['where'])}{more}"
        yield block(format_breakdown(broken).splitlines())


def _list_known_failures(report: Report) -> Iterator[str]:
    baseline = report.data["baseline"]
    if baseline is None:
        return
    yield f"### Known failures, listed in {code(baseline['file'])}"
    for row in baseline["known"]:
        where = f" in {code(row['scenario'])}" if row["scenario"] else ""
        link = f" {code(row['link'])}" if row["link"] else ""
        flaky = ", flaky, failed this time" if row.get("flaky") else ""
        yield f"- {prose(row['requirement'])}{where}{flaky}: {code(row['reason'])}{link}"
    for row in report.flaky_entries:
        if row["outcome"] != FlakyOutcome.FAILED.value:
            yield f"- {prose(row['requirement'])}, {FlakyOutcome(row['outcome']).phrase}: {code(row['reason'])}"
    yield "A known failure remains a failure: it does not stop a build, but is on every certificate."


def _list_violations(report: Report) -> Iterator[str]:
    under = {
        effect["requirement"]: cause["requirement"] for cause in report.data["causes"] for effect in cause["under"]
    }
    for verdict, title in (
        ("fail", "failed"),
        ("warn", "warn"),
        ("error", "could not be judged because of a fault of the suite"),
    ):
        rows = list(report.requirements(verdict))
        if rows:
            yield f"### {format_count(len(rows), 'requirement')} {title}"
        for row in rows:
            because = f" (under {prose(under[row['id']])})" if row["id"] in under else ""
            text = f" {code(row['reason'])}" if row["reason"] else ""
            yield f"- {row['id']}{because}: {prose(row['statement'])}{text}"


def _list_unjudged(report: Report) -> Iterator[str]:
    for verdict in ("inconclusive", "skipped"):
        if reasons := report.group_unjudged(verdict):
            yield f"### {format_count(sum(map(len, reasons.values())), 'requirement')} {verdict}"
        for (_, reason), ids in reasons.items():
            yield f"- {code(reason)}: {', '.join(ids)}"
