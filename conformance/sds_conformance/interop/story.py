"""Prints an interoperability matrix on a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from sds_harness.declaration import printable

from ..judging.exits import Exit
from ..judging.formats import format_count
from ..judging.runner import BrokenRun, tolerated_breakdowns
from ..presentation.story import print_hanging, show_breakdown
from ..protocols.exchanges import AspectMark, PairSide
from .matrix import Interop

_SIGNS = {AspectMark.YES: "✓", AspectMark.NO: "✗", AspectMark.OPEN: "–"}  # noqa: RUF001
_ASCII_SIGNS = {AspectMark.YES: "+", AspectMark.NO: "x", AspectMark.OPEN: "-"}
STYLES = {AspectMark.YES: "green", AspectMark.NO: "bold red", AspectMark.OPEN: "dim"}
_FEW = 4
_GAP = "   "
_NUMBERS = {2: "Both", 3: "All three", 4: "All four", 5: "All five"}


class InteropStory:
    """Prints the result of an interoperability test."""

    def __init__(self, console: Console, outcome: Interop) -> None:
        self._console = console
        self._outcome = outcome
        self._aspects = outcome.exchanges.numbers
        self._signs = _SIGNS if _can_display(console, "".join(_SIGNS.values())) else _ASCII_SIGNS

    def introduce(self) -> None:
        """Print the implementations."""
        width = max(map(cell_len, self._outcome.sides), default=0)
        for name, side in self._outcome.sides.items():
            before = Text(f"  {_pad(name, width)}  ", "bold")
            print_hanging(self._console, before, Text(self._introduction(side)))

    def show(self) -> None:
        """Print the matrix, the reasons for its marks, the notes and the breakdowns."""
        if self._outcome.pair_results:
            self._show_matrix()
            self._show_legend()
        for mark in (AspectMark.NO, AspectMark.YES, AspectMark.OPEN):
            self._show_reasons(mark)
        for note in self._outcome.notes:
            print_hanging(self._console, Text("Note    ", "yellow"), Text(note))
        if self._outcome.notes:
            self._console.print()
        self._show_breakdowns()

    # ---- the matrix ------------------------------------------------------------------------------------------------

    def _show_matrix(self) -> None:
        """Print the matrix in as many blocks of columns as the width requires."""
        names = list(self._outcome.sides)
        head = max(cell_len("sends"), *(cell_len(name) for name in names))
        translated = any(result.pair.translated for result in self._outcome.pair_results.values())
        space = self._console.width - head
        for between in (" ", ""):
            width = len(self._aspects) + len(between) * (len(self._aspects) - 1) + 2 * translated
            if len(names) * (width + len(_GAP)) <= space:
                break
        width = max(width, *(cell_len(name) for name in names))
        block = max(1, space // (width + len(_GAP)))
        for start in range(0, len(names), block):
            self._show_block(names, names[start : start + block], head, width, between)

    def _show_block(self, rows: list[str], columns: list[str], head: int, width: int, between: str) -> None:
        numbers = between.join(map(str, self._aspects.values()))
        self._line(Text.assemble(" " * head, _GAP, ("receives", "dim")))
        self._line(Text(_pad("sends", head), "dim"), *(Text(_pad(name, width), "bold") for name in columns))
        self._line(Text(" " * head), *(Text(_pad(numbers, width), "dim") for _ in columns))
        for row in rows:
            cells = [self._cell(row, column, width, between) for column in columns]
            self._line(Text(_pad(row, head), "bold"), *cells)
        self._console.print()

    def _cell(self, sender: str, receiver: str, width: int, between: str) -> Text:
        result = self._outcome.pair_results[sender, receiver]
        marks = [result.cells[aspect].mark for aspect in self._aspects if aspect in result.cells]
        cell = Text(between).join(Text(self._signs[mark], STYLES[mark]) for mark in marks)
        if result.pair.translated:
            cell.append(" t", "yellow")
        cell.append(" " * (width - cell.cell_len))
        return cell

    def _line(self, *cells: Text) -> None:
        line = Text(_GAP).join(cells)
        line.rstrip()
        self._console.print(line, soft_wrap=True)

    def _show_legend(self) -> None:
        for aspect, meaning in self._outcome.exchanges.aspects.items():
            self._console.print(Text(f"  {self._aspects[aspect]}  {meaning}", "dim"), soft_wrap=True)
        signs = "   ".join(f"{self._signs[mark]} {mark.value}" for mark in AspectMark)
        self._console.print(Text(f"  {signs}, or not declared", "dim"), soft_wrap=True)
        if any(result.pair.translated for result in self._outcome.pair_results.values()):
            numbers = self._outcome.exchanges.translated
            played = f"aspects {min(numbers)} to {max(numbers)} were played with translated messages"
            line = f"t  wire layouts differ: {played}"
            self._console.print(Text(f"  {line}", "yellow"), soft_wrap=True)
        self._console.print()

    # ---- words -----------------------------------------------------------------------------------------------------

    def _show_reasons(self, mark: AspectMark) -> None:
        """Print the reasons for one mark; equal reasons of several pairs or aspects are printed once."""
        pairs: dict[tuple[str, str], list[str]] = {}
        for aspect in self._aspects:
            for (sender, receiver), result in self._outcome.pair_results.items():
                cell = result.cells.get(aspect)
                if cell is not None and cell.mark is mark and cell.reason:
                    pairs.setdefault((aspect, cell.reason), []).append(self._pair(sender, receiver))
        numbers: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for (aspect, reason), those in pairs.items():
            numbers.setdefault((reason, tuple(those)), []).append(str(self._aspects[aspect]))
        for (reason, whose), about in numbers.items():
            sign = Text(f"{self._signs[mark]} {' '.join(about)}  ", STYLES[mark])
            print_hanging(self._console, sign, Text(f"{', '.join(whose)}: {reason}."))
        if pairs:
            self._console.print()

    def _pair(self, sender: str, receiver: str) -> str:
        return f"{sender} {'→' if _can_display(self._console, '→') else '->'} {receiver}"

    def _show_breakdowns(self) -> None:
        alike: dict[tuple[str, str, str], list[BrokenRun]] = {}
        for name, run in self._outcome.breakdowns:
            alike.setdefault((name, run.breakdown.kind.value, run.breakdown.detail), []).append(run)
        for (name, _, _), (run, *others) in alike.items():
            self._console.print(Text(name, "bold"))
            show_breakdown(self._console, run, list(dict.fromkeys(other.where for other in others)))

    def verdict(self, seconds: float) -> Text:
        """Return in one sentence how many pairs understand each other or do not."""
        outcome = self._outcome
        played = (
            f"{format_count(outcome.group_traces, 'schedule')}, {format_count(outcome.steps, 'step')}, {seconds:.1f} s"
        )
        if outcome.interrupted:
            return Text(f"Interrupted ({played}): no verdict on which implementations understand each other.", "yellow")
        hard = {name for name, run in outcome.breakdowns if run.breakdown.kind.value not in tolerated_breakdowns()}
        if not outcome.misunderstandings and not hard and outcome.exit_code != Exit.NOT_DRIVEN:
            number = len(outcome.names)
            return Text(f"{_NUMBERS.get(number, f'All {number}')} agree ({played}).", "bold green")
        parts = [f"{name} could not be tested" for name in outcome.undriven]
        pairs = sum(not result.is_understood for result in outcome.pair_results.values())
        parts += [f"{format_count(pairs, 'pair')} of {len(outcome.pair_results)} not understood"] if pairs else []
        parts += [f"{name} broke down" for name in hard if name not in outcome.undriven]
        return Text(f"Not all pairs agree: {', '.join(parts) or 'see above'} ({played}).", "bold red")

    def facts(self) -> list[tuple[str, Text]]:
        """Return lines about the pairs that understand each other, and about those that do not."""
        outcome = self._outcome
        agreeing = [self._pair(*names) for names, result in outcome.pair_results.items() if result.is_understood]
        facts = [("Agree", Text(", ".join(agreeing), "green"))] if agreeing else []
        for (sender, receiver), result in outcome.pair_results.items():
            if not result.is_understood:
                what = self._join_aspects(result.misunderstood) or "no message was understood"
                facts.append(("Disagree", Text(f"{self._pair(sender, receiver)}: {what}", "bold red")))
        return facts

    def _join_aspects(self, aspects: Sequence[str]) -> str:
        """Format aspects by their numbers in the legend and, if they are few, also by their names."""
        few = len(aspects) <= _FEW
        return ", ".join(
            f"{self._aspects[aspect]} {aspect}" if few else str(self._aspects[aspect]) for aspect in aspects
        )

    def _introduction(self, side: PairSide) -> str:
        declared = side.declared
        name = printable(f"{declared.name} {declared.version}".strip(), 60)
        language = f" ({printable(declared.language, 20)})" if declared.language else ""
        return f"{name}{language}: {side.speaks}, {self._outcome.exchanges.introduced(declared)}"


def _pad(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))


def _can_display(console: Console, text: str) -> bool:
    try:
        text.encode(console.encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
