"""A report as a page: one HTML file, complete in itself, that asks nobody for anything.

All of it can be read without scripts; the one that is in it filters, searches, copies, and opens what a link names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Template
from markupsafe import Markup

from sds_harness.declaration import printable, without_orders

from ..drawing.spacetime import stylesheet
from ..exploration.limits.words import summary
from ..judging.catalogue import POSITION_VERDICTS, Position
from ..judging.quoting import counted
from ..judging.registry import scenario_of
from ..judging.verdict import Verdict
from ..protocols import protocol_of
from ..telling.markup import environment
from .heading import facts, notices
from .limits import Line, lines
from .plain import alike
from .reading import Report
from .standing import causes, known_failures, standing
from .stories import Stories, Story, stories_of

MAX_FINDINGS = 25
"""Findings of one requirement that are told; the rest are counted."""
MAX_BREAKDOWNS = 50
MAX_RUNS = 8
"""Runs, or scenarios, that are listed by name."""
LONGEST = 2_000
"""Characters of any text that comes out of a report."""
VERDICTS = tuple(verdict.value for verdict in (Verdict.FAIL, Verdict.WARN, Verdict.ERROR, Verdict.INCONCLUSIVE))
VERDICTS += (Verdict.SKIPPED.value, Verdict.PASS.value)
"""In the order in which people look for them."""


@dataclass
class Row:
    """A requirement, with all that is told of it."""

    data: Mapping[str, Any]
    stories: list[Story]
    known: list[dict[str, Any]]
    """What the baseline has of it."""
    positions: list[str]
    """That soften it."""
    because: tuple[str, str] = ("", "")
    """The requirement that it is told under, and why."""
    under: list[dict[str, str]] = field(default_factory=list)
    """What is told under it, with the reasons."""

    @property
    def scenarios(self) -> list[str]:
        """Those that exercised it."""
        return list(dict.fromkeys(map(scenario_of, self.data["runs"])))

    @property
    def more(self) -> int:
        """Findings that are not told."""
        return len(self.data["findings"]) - len(self.stories) + int(self.data["findings_not_shown"])


@dataclass
class Section:
    """A part of the text, and its requirements."""

    title: str
    rows: list[Row] = field(default_factory=list)

    @property
    def counts(self) -> str:
        """In words, the worst first."""
        counted = {verdict: sum(row.data["verdict"] == verdict for row in self.rows) for verdict in VERDICTS}
        return ", ".join(f"{count} {verdict}" for verdict, count in counted.items() if count)


def html(report: Report) -> str:
    """The page of a report."""
    data = report.data
    breakdowns = alike(data["breakdowns"])
    broken = [first["where"] for first, _ in breakdowns[:MAX_BREAKDOWNS]]
    stories = stories_of(report, _order(data), MAX_FINDINGS, broken)
    rows = _rows(report, stories)
    return _template().render(
        report=report,
        data=data,
        standing=standing(report),
        notices=list(notices(report)),
        facts=list(facts(report)),
        counts=[(verdict, data["summary"][verdict]) for verdict in VERDICTS],
        summary_of_causes=_summary_of_causes(data),
        causes=[(cause, rows.get(cause["requirement"])) for cause, _ in causes(report)],
        rows=rows,
        sections=_sections(data, rows),
        limits=report.limits,
        limit_lines=_limit_lines(report),
        summary_of_limits=summary(report.limits["rows"]) if report.limits is not None else "",
        breakdowns=breakdowns[:MAX_BREAKDOWNS],
        breakdowns_left_out=len(breakdowns[MAX_BREAKDOWNS:]),
        talks=stories.talks,
        positions=_positions(report, rows),
        casting=protocol_of(data["revision"]).words.casting,
        style=Markup(_read("base.css") + _read("report.css") + stylesheet()),
        script=Markup(_read("report.js")),
        svg=Markup,
        max_runs=MAX_RUNS,
    )


def _limit_lines(report: Report) -> list[Line]:
    """How far it holds, nothing where nobody measured that."""
    limits = report.limits
    return lines(limits["rows"], searched=limits["at"] is None) if limits is not None else []


@cache
def _template() -> Template:
    known = environment(__package__ or "")
    # Whatever is put into the page is cut and cleared of control characters, and escaped after that.
    known.finalize = lambda value: without_orders(printable(value, LONGEST)) if type(value) is str else value
    known.filters["thousands"] = lambda number: f"{number:,}"
    known.filters["counted"] = counted
    known.filters["weblink"] = _weblink
    return known.get_template("report.html.j2")


@cache
def _read(name: str) -> str:
    return files(__package__).joinpath("templates", name).read_text("utf-8")


def _weblink(text: str) -> str:
    """A link that leads to a page and does nothing else, "" for all others."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    return text if parts.scheme in ("http", "https") and parts.netloc and len(text) <= LONGEST else ""


def _order(data: Mapping[str, Any]) -> list[int]:
    """The places of the requirements: root causes first, with what is told under each."""
    places = {row["id"]: place for place, row in enumerate(data["requirements"])}
    told = [one for cause in data["causes"] for one in (cause, *cause["under"])]
    first = [places[one["requirement"]] for one in told if one["requirement"] in places]
    return list(dict.fromkeys([*first, *range(len(data["requirements"]))]))


def _rows(report: Report, stories: Stories) -> dict[str, Row]:
    """By ID; a report that names one twice has it once."""
    catalogue = protocol_of(report.data["revision"]).rules.catalogue
    rows: dict[str, Row] = {}
    for place, data in enumerate(report.data["requirements"]):
        told = stories.of.get(place, [])
        stated = catalogue.requirements.get(data["id"])
        softened = [stated.softened] if stated is not None and stated.softened and data["verdict"] == "warn" else []
        named = dict.fromkeys([*softened, *(story.position for story in told)])
        positions = [name for name in named if name in catalogue.positions]
        rows.setdefault(data["id"], Row(data, told, known_failures(report, data["id"]), positions))
    for cause in report.data["causes"]:
        for under in cause["under"]:
            if under["requirement"] in rows and cause["requirement"] in rows:
                rows[under["requirement"]].because = (cause["requirement"], under["why"])
                rows[cause["requirement"]].under.append(under)
    return rows


def _sections(data: Mapping[str, Any], rows: Mapping[str, Row]) -> list[Section]:
    sections = {name: Section(title) for name, title in data["sections"].items()}
    for row in rows.values():
        sections.setdefault(row.data["section"], Section(row.data["section"])).rows.append(row)
    return [section for section in sections.values() if section.rows]


def _summary_of_causes(data: Mapping[str, Any]) -> str:
    parts = []
    for verdict, what in (("fail", "root cause"), ("warn", "warning")):
        those = [cause for cause in data["causes"] if cause["verdict"] == verdict]
        if those:
            parts.append(f"{counted(len(those), what)} ({counted(sum(c['violations'] for c in those), 'violation')})")
    return " and ".join(parts)


def _positions(report: Report, rows: Mapping[str, Row]) -> Iterable[tuple[Position, str]]:
    """The positions that the page speaks of, with what the suite makes of each."""
    known = protocol_of(report.data["revision"]).rules.catalogue.positions
    named = {name for row in rows.values() for name in row.positions}
    return [(position, POSITION_VERDICTS[position.verdict]) for name, position in known.items() if name in named]
