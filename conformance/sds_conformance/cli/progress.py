"""Progress on a terminal: bars on stderr, and the expected duration of the schedules to play on stdout."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from sds_harness import signals

from ..presentation.story import print_labelled
from .output_filter import bar_on_terminal

R = TypeVar("R")


class _TimeLeft(TimeRemainingColumn):
    """Column of a progress bar with the remaining time, such as "left 0:01:17". Empty until the total is known."""

    max_refresh = 0.0  # Render at every refresh: a cached text would stay empty for a while after the total is known.

    def render(self, task: Task) -> Text:
        if task.total is None:
            return Text("")
        return Text.assemble(("left ", "progress.remaining"), super().render(task))


class Plays:
    """Prints the number of schedules and the expected duration, which is estimated from the first two seconds."""

    def __init__(self, out: Console) -> None:
        self._out = out
        self._title = ""
        self._since: tuple[int, float] | None = None
        """The number of items and the time when the first items were finished. The estimate does not use the time
        before, because processes were still starting.
        """

    def begin(self, title: str) -> None:
        """Begin to measure. ``title`` is the text to print, such as the number and the kind of the schedules."""
        self._title = title

    def __call__(self, done: int, total: int) -> None:
        """Report how many schedules are finished."""
        if not (self._title and done):
            return
        now = time.monotonic()
        before, then = self._since = self._since or (done, now)
        if done > before and now - then >= FORECAST_AFTER_S:
            self._print(f"{self._title}, for about {span(total * (now - then) / (done - before))}")

    def end(self) -> None:
        """Finish. Print the number of schedules if it was not printed yet."""
        if self._title:
            self._print(self._title)

    def _print(self, text: str) -> None:
        print_labelled(self._out, "Plays", text)
        self._out.print()
        self._title = ""


FORECAST_AFTER_S = 2.0


def span(seconds: float) -> str:
    """Format a duration: "90 s", "12 min"."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


class ProgressBar:
    """A progress bar with the name of the current step, cut to ``chars`` characters, or whole if ``chars`` is 0."""

    def __init__(self, bar: Progress, what: str, total: int | None, chars: int, plays: Plays | None) -> None:
        self._bar, self._chars, self._plays = bar, chars, plays
        self._task = bar.add_task(what, total=total)
        self._failed = ""

    def __call__(self, what: str, number: int, total: int) -> None:
        """Show the current activity, its number and the total."""
        if self._plays is not None:
            self._plays(number, total)
        text = f"{what[: self._chars or None]:<{self._chars}}{self._failed}"
        self._bar.update(self._task, description=text, completed=number, total=total)

    def set_failing(self, number: int) -> None:
        """Set the number of failing requirements. It is shown from the next step on."""
        self._failed = f" {number} failed" if number else ""


_SPEED_PERIOD_S = 3_600.0
"""Seconds over which the speed of a progress bar is averaged. The period is long, because one step may take minutes."""


@contextmanager
def progress_bar(
    err: Console,
    what: str = "starting",
    total: int | None = None,
    *,
    chars: int = 0,
    width: int = 40,
    plays: Plays | None = None,
) -> Iterator[ProgressBar]:
    """Show a progress bar of at most ``width`` columns on a terminal, first with ``what``. It disappears at the end of
    the block. A bar needs escape codes, which a user can disable. ``plays`` is informed of the progress, too.

    The bar hides the cursor. An interrupt shows the cursor immediately, because the program may end before the block
    does.
    """
    shown = err.is_terminal and err.color_system is not None and not signals.end_was_requested()
    with ExitStack() as stack:
        if shown:
            stack.enter_context(bar_on_terminal())
            stack.enter_context(signals.call_on_signal(partial(err.show_cursor, show=True)))
        columns = (
            TextColumn("{task.description}"),
            BarColumn(width),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            _TimeLeft(),
        )
        bar = Progress(*columns, console=err, transient=True, disable=not shown, speed_estimate_period=_SPEED_PERIOD_S)
        yield ProgressBar(stack.enter_context(bar), what, total, chars, plays)


def with_progress(err: Console, what: str, results: Iterator[R], total: int) -> Iterator[R]:
    """Yield ``results`` as soon as they are available, with a progress bar on a terminal."""
    with progress_bar(err, what, total) as bar:
        for number, result in enumerate(results, start=1):
            bar(what, number, total)
            yield result
