"""Prints comparisons and histories on terminals of 60 to 200 columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from rich.console import Console
from rich.table import Column as TableColumn
from rich.text import Text

from ...exploration.limits.words import cell as cell_of
from ...judging.formats import format_count
from ...judging.verdict import Verdict
from ...presentation.last_screen import STYLES
from ...presentation.story import lines_labelled, plain_table, print_labelled, show_command
from .columns import ABSENT, ReportColumn
from .comparison import Comparison, ComparisonRow, PositionRow, ReportPair, ResultChange, column_marks, mark
from .history import HistoryTurn, Series
from .limits import MARKS as LIMIT_MARKS
from .limits import DimensionReach, Extent, smaller

SHORT = {
    Verdict.INCONCLUSIVE.value: "inc.",
    Verdict.SKIPPED.value: "skip",
    Verdict.ERROR.value: "err.",
}
"""Abbreviations for narrow columns."""
OTHERWISE = "*"
NOTHING = "nothing changed"
"""Printed for two reports with equal verdicts and ways."""
CHANGE_STYLES = {ResultChange.WORSE: "bold red", ResultChange.BETTER: "green", ResultChange.OTHERWISE: "yellow"}
_CELL = 7
"""Width of a table column, including the gap."""
_EXTENT = 16
"""Width of a column with limits."""
_LEAST_STATEMENT = 24


def show_comparison(
    console: Console, comparison: Comparison, *, every: bool = False, ways: bool = False, command: str = ""
) -> None:
    """Print the reports, the changes, and the rows that differ; with ``every``, all rows; with ``ways``, the ways as
    well.

    Without ``ways``, print the number of positions with different ways, and the ``command`` that shows the ways.
    """
    for number, column in enumerate(comparison.columns):
        _show_column(console, mark(number), column)
    lines_labelled(console, "Warning", comparison.cautions, "yellow")
    console.print()
    for pair in comparison.pairs:
        _show_steps(console, pair)
    _show_rows(console, comparison.differences, len(comparison.columns))
    _show_agreements(console, comparison, every=every)
    _show_limits(console, comparison.reaches, len(comparison.columns))
    if ways:
        _show_choices(console, comparison, every=every)
    elif differing := sum(choice.differs for choice in comparison.choices):
        console.print(
            f"The implementations choose differently at {format_count(differing, 'position')} "
            "where the specification leaves a choice."
        )
        show_command(console, "Ways", command)


def show_histories(console: Console, histories: Sequence[Series], since: str) -> None:
    """Print the changes of verdicts and violations, the newest first; ``since`` as in `history_markdown`."""
    for series in histories:
        first, last = series.columns[0], series.columns[-1]
        console.print(Text.assemble((series.title, "bold"), f": {format_count(len(series.columns), 'report')}"))
        print_labelled(console, "First", Text(f"{first.date}, {first.version}: {first.counts_text}"))
        if len(series.columns) > 1:
            print_labelled(console, "Last", Text(f"{last.date}, {last.version}: {last.counts_text}"))
        if cut := [column.date for column in series.columns if column.cut_off]:
            text = f"{', '.join(cut)}: missing results are not compared"
            print_labelled(console, "Cut off", Text(text, "yellow"))
        console.print()
        if not series.turns:
            console.print(f"  Nothing changed{f' since {since}' if since else ''}.\n")
        for _, turns in groupby(series.turns, key=lambda turn: turn.after.started):
            _show_turns(console, list(turns))


def worse_line(comparison: Comparison) -> Text | None:
    """Return the changes for the worse from the first report to the last, in one line; None if there are none."""
    ends = comparison.pair(0, len(comparison.columns) - 1)
    first, last = ends.columns
    steps = next((some.steps for some in ends.changes if some.change is ResultChange.WORSE), [])
    worse = [f"{step.requirement.id} ({step.before} → {step.after})" for step in steps]
    less = smaller(first.limits, last.limits) if comparison.reaches else []
    groups = {
        f"{format_count(len(worse), 'requirement')} got worse": worse,
        f"{format_count(len(less), 'limit')} got smaller": less,
    }
    between = f" from {first.title} to {last.title}: "
    if not ends.same:
        groups = {
            f"{format_count(len(worse), 'requirement')} with a worse verdict": worse,
            f"{format_count(len(less), 'limit')} that {'is' if len(less) == 1 else 'are'} smaller": less,
        }
        between = f" in {last.title} than in {first.title}: "
    text = "; ".join(f"{what}{between}{', '.join(which)}" for what, which in groups.items() if which)
    return Text(f"{text}.", "bold red") if text else None


def _show_column(console: Console, letter: str, column: ReportColumn) -> None:
    print_labelled(console, letter, Text(column.title, "bold"))
    print_labelled(console, "", Text(f"{column.date}, {column.about}: {column.counts_text}", "dim"))


def _show_steps(console: Console, pair: ReportPair) -> None:
    changes, unlike = pair.changes, pair.changed_ways
    titles = ("From {} to {}" if pair.same else "{} and {}").format(*pair.marks)
    if not changes:
        console.print(Text.assemble((titles, "bold"), f": {f'no verdict changed, {unlike}' if unlike else NOTHING}.\n"))
        return
    summary = [f"{len(some.steps)} {pair.describe(some.change)}" for some in changes]
    summary += [unlike] if unlike else []
    console.print(Text.assemble((titles, "bold"), f": {', '.join(summary)}."))
    for some in changes:
        one_sided = some.change in (ResultChange.NO_LONGER, ResultChange.NOW)
        named = ", ".join(
            f"{s.requirement.id} ({pair.verdicts(s)})" if one_sided else s.requirement.id for s in some.named_steps
        )
        text = " and ".join(part for part in (named, some.format_others) if part)
        style = CHANGE_STYLES.get(some.change, "") if pair.same else ""
        print_labelled(console, pair.label(some.change), Text(text, style))
    console.print()


def _show_rows(console: Console, rows: Sequence[ComparisonRow], columns: int) -> None:
    """Print a table with ``columns`` reports, or several tables with as many reports as fit on the terminal."""
    if not rows:
        return
    ids = max(len(row.requirement.id) for row in rows) + 2
    at_once = max(1, (console.width - ids) // _CELL)
    for start in range(0, columns, at_once):
        shown = range(start, min(columns, start + at_once))
        rest = console.width - ids - _CELL * len(shown)
        statements = rest >= _LEAST_STATEMENT
        heads = [TableColumn(mark(number), min_width=_CELL - 2, no_wrap=True) for number in shown]
        more = [TableColumn("Statement", overflow="fold")] if statements else []
        table = plain_table(TableColumn("Requirement", no_wrap=True, min_width=ids - 2), *heads, *more)
        for row in rows:
            cells = [_cell(row, number) for number in shown]
            table.add_row(row.requirement.id, *cells, *([Text(row.requirement.statement, "dim")] if statements else []))
        console.print(table)
        console.print()
    _show_legend(console, rows)


def _cell(row: ComparisonRow, number: int) -> Text:
    verdict = row.cells[number]
    if verdict in ABSENT:
        return Text(ABSENT[verdict], "dim")
    return Text(SHORT.get(verdict, verdict) + OTHERWISE * (number in row.otherwise), STYLES[Verdict(verdict)])


def _show_legend(console: Console, rows: Sequence[ComparisonRow]) -> None:
    used = {cell for row in rows for cell in row.cells}
    parts = [f"{short} {long}" for long, short in (SHORT | ABSENT).items() if long in used]
    parts += [f"{OTHERWISE} violated differently than before"] if any(row.otherwise for row in rows) else []
    if parts:
        print_labelled(console, "Marks", Text(", ".join(parts), "dim"))
        console.print()


def _show_agreements(console: Console, comparison: Comparison, *, every: bool) -> None:
    if comparison.rows and not comparison.differences:
        console.print(Text("The reports differ in no requirement.", "bold"))
    if agreed := comparison.summary_of_agreements:
        console.print(f"{agreed}{'' if every else ' --all lists them.'}\n", soft_wrap=False)
    if every:
        _show_rows(console, comparison.agreements, len(comparison.columns))


def _show_limits(console: Console, reaches: Sequence[DimensionReach], columns: int) -> None:
    """Print the measured limits of ``columns`` reports in one table, or in several with as many reports as fit."""
    if not reaches:
        return
    differ = sum(reach.differs for reach in reaches)
    console.print(Text(f"Limits differ in {differ} of {format_count(len(reaches), 'dimension')}.", "bold"))
    console.print()
    titles = max(len(reach.title) for reach in reaches) + 2
    at_once = max(1, (console.width - titles) // _EXTENT)
    for start in range(0, columns, at_once):
        shown = range(start, min(columns, start + at_once))
        heads = [TableColumn(mark(number), justify="right", no_wrap=True, min_width=_EXTENT - 2) for number in shown]
        table = plain_table(TableColumn("Dimension", no_wrap=True, min_width=titles - 2), *heads)
        for reach in reaches:
            table.add_row(reach.title, *(_extent(reach.cells[number]) for number in shown))
        console.print(table)
        console.print()
    texts = [_extent(cell).plain for reach in reaches for cell in reach.cells]
    parts = [f"{sign} {meaning}" for sign, meaning in LIMIT_MARKS.items() if _is_used(sign, texts)]
    print_labelled(console, "Marks", Text(", ".join(parts) or "none", "dim"))
    for reach in reaches:
        ended = [(number, cell) for number, cell in enumerate(reach.cells) if cell is not None and cell.failure]
        if ended:
            text = "; ".join(f"{mark(number)} at {cell_of(cell.first_not)}: {cell.failure}" for number, cell in ended)
            print_labelled(console, "Broke", Text(f"{reach.title}, {text}"))
    console.print()


def _is_used(sign: str, texts: Iterable[str]) -> bool:
    return any(text == sign if sign in "-·" else sign[:2] in text for text in texts)


def _extent(extent: Extent | None) -> Text:
    if extent is None:
        return Text("·", "dim")
    return Text(extent.size, STYLES[Verdict(extent.tone)])


def _show_choices(console: Console, comparison: Comparison, *, every: bool) -> None:
    shown = [choice for choice in comparison.choices if choice.is_shown]
    if not shown:
        console.print("None of the reports lists the ways of an implementation.\n")
        return
    differing = [choice for choice in shown if choice.differs]
    console.print(
        Text(
            f"Where the specification leaves a choice, "
            f"the reports differ in {len(differing)} of {len(shown)} positions.",
            "bold",
        )
    )
    console.print()
    for choice in sorted(shown, key=lambda choice: not choice.differs) if every else differing:
        _show_choice(console, choice)


def _show_choice(console: Console, choice: PositionRow) -> None:
    console.print(Text.assemble((choice.position, "bold"), f"  {choice.topic}"))
    for words, sides in choice.sides():
        print_labelled(console, column_marks(number for number, _ in sides), Text(words))
        for number, way in sides:
            where = f"{mark(number)} in {way.run}, step {way.step} ({way.count:,} in all)"
            print_labelled(console, "", Text(where, "dim"))
    if choice.columns_with_several_ways:
        print_labelled(console, "Mixed", Text(column_marks(choice.columns_with_several_ways), "yellow"))
    if choice.columns_without_way:
        print_labelled(console, "Not shown", Text(column_marks(choice.columns_without_way), "dim"))
    console.print()


def _show_turns(console: Console, turns: Sequence[HistoryTurn]) -> None:
    """Print the changes from earlier reports to one report."""
    report = turns[0].after
    console.print(Text.assemble((report.date, "bold"), f"  {report.version}"))
    if doubt := ", ".join(dict.fromkeys(turn.doubt for turn in turns if turn.doubt)):
        print_labelled(
            console,
            "Warning",
            Text(f"This report and the previous report differ in how they were made: {doubt}.", "yellow"),
        )
    for turn in turns:
        before, after = turn.verdicts
        what = f"{before} → {after}" if before != after else f"{after}, {turn.change.value}"
        line = Text.assemble((f"{turn.requirement.id}  ", "bold"), (what, CHANGE_STYLES.get(turn.change, "")))
        print_labelled(console, "", line)
    console.print()
