"""Renders comparisons and histories as Markdown, for a project page or a CI summary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...judging.formats import format_count
from ..gfm import prose
from .columns import ABSENT, ReportColumn, Way
from .comparison import Comparison, ComparisonRow, PositionRow, mark
from .history import Series
from .limits import MARKS as LIMIT_MARKS
from .limits import Extent
from .terminal import OTHERWISE

MARKED = {"pass": "✅ pass", "fail": "❌ **fail**", "warn": "⚠️ warn"}
"""Verdicts with a mark, so that they can be found in large tables. Other values have no mark."""


def comparison_markdown(comparison: Comparison, *, every: bool = False, ways: bool = False) -> str:
    """Render a comparison; with ``every``, also requirements that do not differ; with ``ways``, also the ways."""
    lines = ["# Comparison", "", *summary_table(comparison.columns)]
    lines += [f"> {prose(sentence)}" for sentence in comparison.cautions]
    lines += [""] if comparison.cautions else []
    lines += changes(comparison)
    if comparison.rows:
        lines += ["## Differences", ""]
        lines += matrix(comparison.columns, comparison.differences) or ["The reports differ in no requirement.", ""]
        lines += agreements(comparison, every=every)
    lines += limits_table(comparison)
    if ways:
        lines += ["## Choices", "", *choices_table(comparison), *choices(comparison)]
    return "\n".join(lines)


def history_markdown(histories: Sequence[Series], since: str) -> str:
    """Render the changes of verdicts and violations, the newest first. ``since`` is the date before which changes
    were omitted, for a sentence; "" if none were omitted.
    """
    lines = ["# Changes of verdicts and violations", ""]
    for series in histories:
        first, last = series.columns[0], series.columns[-1]
        lines += [f"## {prose(series.title)}", ""]
        until = f" to {last.date} ({last.counts_text})" if len(series.columns) > 1 else ""
        lines += [f"{format_count(len(series.columns), 'report')}, from {first.date} ({first.counts_text}){until}.", ""]
        if cut := [column.date for column in series.columns if column.cut_off]:
            lines += [
                f"> Reports that were cut off: {', '.join(cut)}. The results that they lack are not compared.",
                "",
            ]
        if not series.turns:
            lines += [f"Nothing changed{f' since {since}' if since else ''}.", ""]
            continue
        rows = [
            (
                turn.after.date,
                prose(turn.after.version),
                turn.requirement.id,
                *turn.verdicts,
                turn.change.value,
                turn.doubt,
            )
            for turn in series.turns
        ]
        lines += table(("Date", "Version", "Requirement", "Before", "After", "Change", "Warning"), rows)
    return "\n".join(lines)


def summary_table(columns: Sequence[ReportColumn]) -> list[str]:
    """Return a table of the compared reports, with the number of requirements by verdict."""
    rows = [
        (mark(number), f"**{prose(column.title)}**", column.date, prose(column.about), column.counts_text)
        for number, column in enumerate(columns)
    ]
    return table(("", "Implementation", "Run", "Judged by", "Verdicts"), rows)


def changes(comparison: Comparison) -> list[str]:
    """Return the changes of each pair of reports."""
    lines: list[str] = []
    for pair in comparison.pairs:
        lines += [f"## {prose(pair.heading)}", ""]
        found, unlike = pair.changes, pair.changed_ways
        for some in found:
            named = ", ".join(f"{step.requirement.id} ({pair.verdicts(step)})" for step in some.named_steps)
            text = " and ".join(part for part in (named, some.format_others) if part)
            lines.append(f"- **{len(some.steps)} {pair.describe(some.change)}**: {text}")
        lines += [f"- **{unlike}**: `--ways` shows them"] if unlike else []
        lines += [] if found or unlike else ["Nothing changed."]
        lines.append("")
    return lines


def matrix(columns: Sequence[ReportColumn], rows: Sequence[ComparisonRow]) -> list[str]:
    """Return a table with a row for each requirement and a column for each report; empty without rows."""
    if not rows:
        return []
    out = []
    for row in rows:
        cells = (_cell(verdict, number in row.otherwise) for number, verdict in enumerate(row.cells))
        out.append((row.requirement.id, *cells, prose(row.requirement.statement)))
    lines = table(("Requirement", *(prose(column.title) for column in columns), "Statement"), out)
    used = {cell for row in rows for cell in row.cells}
    legend = [f"{sign} {meaning}" for meaning, sign in ABSENT.items() if meaning in used]
    legend += [rf"\{OTHERWISE} violated differently than before"] if any(row.otherwise for row in rows) else []
    return [*lines, *([", ".join(legend) + ".", ""] if legend else [])]


def agreements(comparison: Comparison, *, every: bool) -> list[str]:
    """Return the number of requirements without differences; with ``every``, also the list as a collapsed section."""
    if not comparison.summary_of_agreements:
        return []
    lines = [comparison.summary_of_agreements, ""]
    if every:
        rows = matrix(comparison.columns, comparison.agreements)
        lines += ["<details><summary>All of them</summary>", "", *rows, "</details>", ""]
    return lines


def limits_table(comparison: Comparison) -> list[str]:
    """Return a table of the measured limits; empty if there are none."""
    if not comparison.reaches:
        return []
    rows = [(prose(reach.title), *map(_extent, reach.cells)) for reach in comparison.reaches]
    head = ("Dimension", *(prose(column.title) for column in comparison.columns))
    legend = ", ".join(f"`{sign}` {meaning}" for sign, meaning in LIMIT_MARKS.items())
    return ["## Limits", "", *table(head, rows), f"{legend}.", ""]


def choices_table(comparison: Comparison) -> list[str]:
    """Return a table of positions by implementation, with the names of the ways; positions with differences come
    first."""
    shown = sorted((choice for choice in comparison.choices if choice.is_shown), key=lambda choice: not choice.differs)
    if not shown:
        return ["None of the reports lists the ways of an implementation.", ""]
    rows = [(prose(choice.position), prose(choice.topic), *map(_ways, choice.cells)) for choice in shown]
    lines = table(("Position", "What is open", *(prose(column.title) for column in comparison.columns)), rows)
    unseen = [prose(choice.position) for choice in comparison.choices if not choice.is_shown]
    return [*lines, f"No run showed the way of any implementation at: {', '.join(unseen)}.", ""] if unseen else lines


def choices(comparison: Comparison) -> list[str]:
    """Return the ways of each implementation, by position, and where they are shown."""
    lines: list[str] = []
    for choice in comparison.choices:
        if choice.is_shown:
            lines += [f"### {prose(choice.position)}", "", prose(choice.topic), ""]
            lines += _sides(comparison.columns, choice)
    return lines


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """Return a table; the cells are Markdown."""
    head = list(head)
    lines = [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]
    return [*lines, ""]


def _cell(verdict: str, otherwise: bool) -> str:
    return (ABSENT.get(verdict) or MARKED.get(verdict, verdict)) + rf" \{OTHERWISE}" * otherwise


def _extent(extent: Extent | None) -> str:
    if extent is None:
        return "·"
    return f"{prose(extent.size)}: {prose(extent.failure)}" if extent.failure else prose(extent.size)


def _ways(ways: Iterable[Way] | None) -> str:
    names = [prose(way.way) for way in ways or ()]
    if len(names) > 1:
        return f"mixed: {', '.join(names)}"
    return names[0] if names else "?" if ways is None else "not shown"


def _sides(columns: Sequence[ReportColumn], choice: PositionRow) -> list[str]:
    lines = []
    for words, sides in choice.sides():
        lines.append(f"- **{prose(words)}**")
        for number, way in sides:
            also = ", among other ways" if number in choice.columns_with_several_ways else ""
            times = "once" if way.count == 1 else f"{way.count:,} times"
            where = f"{prose(way.run)}, step {way.step}, {times} in all{also}"
            lines.append(f"  - {prose(columns[number].title)}: {where}")
    if choice.columns_without_way:
        lines.append(f"- Not shown: {', '.join(prose(columns[number].title) for number in choice.columns_without_way)}")
    return [*lines, ""]
