"""A report as GitHub workflow commands, which annotate a pull request with the failures.

GitHub shows ten errors and ten warnings per step. The last annotation of each level gives the number of annotations
that do not fit.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sds_harness.declaration import printable

from ..judging.formats import format_count
from ..judging.verdict import Verdict
from .baseline import BREAKDOWN
from .overall_result import OverallResult, Tone, compute_overall_result
from .report import Report, RootCause, code_of, sides, worst
from .scenario_files import remarks

MOST = 10
"""Maximum number of annotations of one level per step."""
_LONGEST = 1000
"""Maximum number of characters per line."""


@dataclass(frozen=True)
class Annotation:
    """A workflow command: ``error``, ``warning`` or ``notice``."""

    level: str
    title: str
    lines: tuple[str, ...]
    place: Mapping[str, str | int] = field(default_factory=dict)

    def __str__(self) -> str:
        properties = {**self.place, "title": printable(self.title)}
        text = ",".join(f"{key}={_property(str(what))}" for key, what in properties.items())
        return f"::{self.level} {text}::{_message(chr(10).join(printable(line, _LONGEST) for line in self.lines))}"


def annotations(report: Report) -> str:
    """Return one command per line: errors, then warnings, then the overall result.

    Errors and warnings are about an incomplete report, the baseline, scenario files, breakdowns and root causes.
    """
    whole = compute_overall_result(report)
    found = list(_problems(report, whole))
    lines = [*_limit_annotations(found, "error"), *_limit_annotations(found, "warning")]
    level = "notice" if lines or whole.tone is Tone.GOOD else "warning"
    lines.append(Annotation(level, f"{report.data['revision']}: {whole.short}", (f"{report.name} {whole.sentence}",)))
    return "".join(f"{line}\n" for line in lines)


def _limit_annotations(found: list[Annotation], level: str) -> list[Annotation]:
    of_level = [one for one in found if one.level == level]
    if len(of_level) <= MOST:
        return of_level
    shown, rest = of_level[: MOST - 1], of_level[MOST - 1 :]
    titles = ", ".join(one.title for one in rest)
    return [*shown, Annotation(level, f"{format_count(len(rest), level)} more", (f"Only in the report: {titles}",))]


def _problems(report: Report, whole: OverallResult) -> Iterator[Annotation]:
    if report.cut_off:
        text = f"The report was cut off {report.cut_off}: repeat the run."
        yield Annotation("error", "The report is incomplete", (text,))
    elif whole.tone is Tone.NONE:
        yield Annotation("error", whole.short, (f"{report.name} {whole.sentence}",))
    for row in report.complaints:
        place = {"file": report.data["baseline"]["file"], "line": row["line"]}
        title = f"The baseline is out of date: {row['requirement']}"
        yield Annotation("error", title, (row["what"], row["change"]), place)
    for one in report.unmet:
        place = {"file": one.file["file"], **({"line": one.data["line"]} if one.data["line"] else {})}
        yield Annotation("error", "An expectation was not met", (one.sentence, one.file["again"]), place)
    for sentence in remarks(report.scenario_files):
        yield Annotation("warning", "A scenario file", (sentence,))
    level = "warning" if report.known_failures(BREAKDOWN) else "error"
    for broken, others in report.breakdowns:
        more = f" and {len(others)} more" if others else ""
        lines = (broken["detail"], *broken["stderr"][-5:], broken["advice"])
        yield Annotation(level, f"{broken['kind']} in {broken['where']}{more}", lines)
    for cause in report.causes:
        yield _cause(report, cause)


def _cause(report: Report, cause: RootCause) -> Annotation:
    row, fails = cause.row, cause.verdict is Verdict.FAIL
    what = "fails, which the baseline lists" if cause.known else "fails" if fails else "warns"
    title = cause.data.get("title")
    lines = [*([f"The implementation {title}."] if title else []), row["statement"]]
    if (finding := worst(row)) is not None:
        expected, seen = sides(finding)
        lines += [f"Expected: {expected}", f"Seen: {seen}"]
    if under := cause.data["under"]:
        lines.append(f"Further failures with this cause: {', '.join(one['requirement'] for one in under)}")
    lines += [
        f"Known: {' '.join(filter(None, (one['reason'], one['link'])))}" for one in report.known_failures(row["id"])
    ]
    level = "error" if fails and not cause.known else "warning"
    headline = f"{_headline(report, cause, what)}, {cause.times}"
    return Annotation(level, headline, (*lines, f"Again: {cause.data['again']}"))


def _headline(report: Report, cause: RootCause, what: str) -> str:
    """Return the headline: the cause and its verdict, or the new failures under a known cause."""
    code = code_of(cause.row)
    if cause.new_under:
        are = "is" if len(cause.new_under) == 1 else "are"
        return f"{', '.join(cause.new_under)} {are} new under the known root cause {code}"
    flaky = cause.known and any(entry.get("flaky") for entry in report.known_failures(cause.row["id"]))
    return f"{code} {what}{' as flaky' if flaky else ''}"


def _message(text: str) -> str:
    """Escape a message for GitHub."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
