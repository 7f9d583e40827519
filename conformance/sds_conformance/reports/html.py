"""A report as a self-contained HTML page, which loads no other file.

The page can be read without scripts. Its script filters, searches, copies, and opens the target of a link.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from markupsafe import Markup

from ..drawing.spacetime import stylesheet
from ..exploration.limits.words import summary
from ..judging.catalogue import POSITION_VERDICTS, Position
from ..judging.formats import format_count
from ..judging.registry import scenario_of
from ..judging.verdict import Verdict
from ..presentation.markup import read_markup, template
from ..protocols.words import named as name_of_limit
from .limits import WORDS as LIMIT_WORDS
from .overall_result import compute_overall_result
from .report import Report, Row
from .scenario_files import remarks
from .stories import PageStory, stories_of

MAX_FINDINGS = 25
"""Maximum number of findings that are shown per requirement. Further findings are counted."""
MAX_BREAKDOWNS = 50
MAX_RUNS = 8
"""Maximum number of runs or scenarios that are listed by name."""
LONGEST = 2_000
"""Maximum number of characters of any text from a report."""
VERDICTS = tuple(verdict.value for verdict in (Verdict.FAIL, Verdict.WARN, Verdict.ERROR, Verdict.INCONCLUSIVE))
VERDICTS += (Verdict.SKIPPED.value, Verdict.PASS.value)
"""The verdicts, in the order in which readers look for them."""


@dataclass
class RequirementEntry:
    """A requirement, with all data that the page shows about it."""

    data: Row
    stories: list[PageStory]
    known: list[Row]
    """The entries of the baseline for the requirement."""
    positions: list[str]
    """The positions that reduce violations of the requirement to warnings."""
    because: tuple[str, str] = ("", "")
    """(root cause, reason) if another requirement explains the failure of this requirement; otherwise two empty
    strings.
    """
    under: list[dict[str, str]] = field(default_factory=list)
    """The failed requirements that this root cause explains, with the reasons."""

    @property
    def scenarios(self) -> list[str]:
        """Return the scenarios that exercised the requirement."""
        return list(dict.fromkeys(map(scenario_of, self.data["runs"])))

    @property
    def more(self) -> int:
        """Number of findings of the requirement that the page does not show."""
        return len(self.data["findings"]) - len(self.stories) + int(self.data["findings_not_shown"])


@dataclass
class SectionEntry:
    """A section of the specification, and its requirements."""

    title: str
    rows: list[RequirementEntry] = field(default_factory=list)

    @property
    def counts(self) -> str:
        """Number of requirements by verdict, the worst first."""
        counted = {verdict: sum(row.data["verdict"] == verdict for row in self.rows) for verdict in VERDICTS}
        return ", ".join(f"{count} {verdict}" for verdict, count in counted.items() if count)


def html(report: Report, *, back: str = "") -> str:
    """Render the page of a report. ``back`` is the address of the page with all runs."""
    data, limits, breakdowns = report.data, report.limits, report.breakdowns
    broken = [first["where"] for first, _ in breakdowns[:MAX_BREAKDOWNS]]
    stories, talks = stories_of(report, _order(data), MAX_FINDINGS, broken)
    rows = _rows(report, stories)
    return template(__package__ or "", "report.html.j2", LONGEST).render(
        **LIMIT_WORDS,
        report=report,
        back=back,
        data=data,
        standing=compute_overall_result(report),
        notices=list(notices(report)),
        facts=list(facts(report)),
        counts=[(verdict, data["summary"][verdict]) for verdict in VERDICTS],
        summary_of_causes=_summary_of_causes(data),
        causes=[(cause.data, rows.get(cause.data["requirement"])) for cause in report.causes],
        rows=rows,
        sections=_sections(data, rows),
        limits=limits,
        summary_of_limits=summary(limits["rows"]) if limits is not None else "",
        breakdowns=breakdowns[:MAX_BREAKDOWNS],
        breakdowns_left_out=len(breakdowns[MAX_BREAKDOWNS:]),
        talks=talks,
        positions=_positions(report, rows),
        casting=report.protocol.casting,
        style=Markup(stylesheet()),
        script=read_markup(__package__ or "", "report.js"),
        svg=Markup,
        max_runs=MAX_RUNS,
    )


def _order(data: Row) -> list[int]:
    """Return indices of the requirements: root causes first, each followed by the requirements that it explains."""
    places = {row["id"]: place for place, row in enumerate(data["requirements"])}
    entries = [one for cause in data["causes"] for one in (cause, *cause["under"])]
    first = [places[one["requirement"]] for one in entries if one["requirement"] in places]
    return list(dict.fromkeys([*first, *range(len(data["requirements"]))]))


def _rows(report: Report, stories: Mapping[int, list[PageStory]]) -> dict[str, RequirementEntry]:
    """Return the entries by ID; duplicates in a report are dropped."""
    catalogue = report.protocol.rules.catalogue
    rows: dict[str, RequirementEntry] = {}
    for place, data in enumerate(report.data["requirements"]):
        stories_of_row = stories.get(place, [])
        stated = catalogue.requirements.get(data["id"])
        softened = [stated.softened] if stated is not None and stated.softened and data["verdict"] == "warn" else []
        named = dict.fromkeys([*softened, *(story.row["position"] for story in stories_of_row)])
        positions = [name for name in named if name in catalogue.positions]
        rows.setdefault(
            data["id"], RequirementEntry(data, stories_of_row, report.known_failures(data["id"]), positions)
        )
    for cause in report.data["causes"]:
        for under in cause["under"]:
            if under["requirement"] in rows and cause["requirement"] in rows:
                rows[under["requirement"]].because = (cause["requirement"], under["why"])
                rows[cause["requirement"]].under.append(under)
    return rows


def _sections(data: Row, rows: Mapping[str, RequirementEntry]) -> list[SectionEntry]:
    sections = {name: SectionEntry(title) for name, title in data["sections"].items()}
    for row in rows.values():
        sections.setdefault(row.data["section"], SectionEntry(row.data["section"])).rows.append(row)
    return [section for section in sections.values() if section.rows]


def _summary_of_causes(data: Row) -> str:
    parts = []
    for verdict, what in (("fail", "root cause"), ("warn", "warning")):
        those = [cause for cause in data["causes"] if cause["verdict"] == verdict]
        if those:
            parts.append(
                f"{format_count(len(those), what)} ({format_count(sum(c['violations'] for c in those), 'violation')})"
            )
    return " and ".join(parts)


def _positions(report: Report, rows: Mapping[str, RequirementEntry]) -> Iterable[tuple[Position, str]]:
    """Return the positions that the page mentions, each with its treatment by the suite."""
    known = report.protocol.rules.catalogue.positions
    named = {name for row in rows.values() for name in row.positions}
    return [(position, POSITION_VERDICTS[position.verdict]) for name, position in known.items() if name in named]


# ---- The head of the page ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Notice:
    """A notice about the whole report, such as that it is incomplete."""

    label: str
    lines: tuple[str, ...]
    grave: bool = False


def notices(report: Report) -> Iterator[Notice]:
    """Yield the notices, the most serious first."""
    data, summary = report.data, report.data["summary"]
    if wrong := report.complaints:
        file = data["baseline"]["file"]
        lines = [f"{file}, line {row['line']}: {row['what']} {row['change']}" for row in wrong]
        yield Notice("The baseline is out of date", tuple(lines), grave=True)
    if found := [f"{one.place}: {one.sentence}" for one in report.unmet]:
        yield Notice("Unmet expectations of scenario files", tuple(found), grave=True)
    if entries := [*remarks(report.scenario_files)]:
        yield Notice(
            "Unexercised requirements and unchecked expectations of scenario files", tuple(entries), grave=True
        )
    if data["doubts"]:
        yield Notice("Warning", tuple(data["doubts"]), grave=True)
    left_out = [f"Environment {name}: {reason}" for name, reason in summary["left_out"].items()]
    partial = [] if data["whole"] else [f"Not all {' and '.join(data['narrowed']) or 'runs'} were selected."]
    if why := report.why_incomplete:
        partial.append(f"{why[0].upper()}{why[1:]}.")
    if partial or left_out:
        yield Notice("Not all was played", (*partial, *left_out))
    reasons = report.group_unjudged("inconclusive", "skipped", "error")
    entries = [f"{_join_few(ids)}: {verdict}, {reason}" for (verdict, reason), ids in reasons.items()]
    if entries:
        judged = len(data["requirements"]) - sum(map(len, reasons.values()))
        yield Notice(f"{judged} of {len(data['requirements'])} requirements were judged", tuple(entries))


def facts(report: Report) -> Iterator[tuple[str, str]]:
    """Yield labels and values: the implementation, the revision and the options of the run."""
    data, about = report.data, report.data["implementation"]
    revision, profile, protocol = data["revision"], data["profile"], report.protocol
    language = f" ({about['language']})" if about["language"] else ""
    yield "Implementation", f"{about['name']} {about['version']}".strip() + language
    yield "Against", f"{revision}, profile {profile}: {protocol.describe_profile(revision, profile)}"
    yield "Suite", f"{data['suite']['name']} {data['suite']['version']}"
    yield "Date", data["started"].replace("T", " ").replace("+00:00", " UTC")
    yield "Strict", "yes: no position softens a failure" if data["strict"] else "no"
    if about["revisions"] and revision not in about["revisions"]:
        yield "Declares other revisions", _join_few(about["revisions"])
    if about["homepage"]:
        yield "Homepage", about["homepage"]
    yield "Command", " ".join(about["command"]) or "a server that was running already"
    yield "Framing", data["framing"]
    yield "Environments", ", ".join(data["summary"]["environments"]) or "none"
    yield "Played", ", ".join(format_count(data["summary"][f"{what}s"], what) for what in ("scenario", "run", "step"))
    if about["clock"]:
        yield "Clock", about["clock"]
    yield "Declares", ", ".join(about["capabilities"]) or "nothing"
    limits = [f"{name_of_limit(name)} up to {limit:,}" for name, limit in about["limits"].items()]
    if limits:
        yield "Limits", ", ".join(limits)
    named = {name.replace("_", " "): choice for name, choice in data["profiles"].items() if choice}
    if named:
        yield "Choices", ", ".join(f"{name} {choice}" for name, choice in named.items())


def _join_few(names: list[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
