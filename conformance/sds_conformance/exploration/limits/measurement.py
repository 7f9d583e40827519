"""Measures all dimensions of an implementation within a time budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from sds_harness.declaration import Declaration
from sds_harness.files import packaged_schema
from sds_harness.link import Limits
from sds_harness.moment import Instant
from sds_testee.version import suite_version

from ...judging.exits import Exit
from ...judging.garbage import rare_garbage_collection
from ...judging.rules import Rules
from ...judging.runner import Connect, Runner
from ...protocols.dimensions import Dimension
from .case import Cases, SizeOutcome, SizeResult
from .row import LimitRow, Weight, find_largest_size, make_row
from .search import Search

SCHEMA_ID = "sds-conformance/limits/2"
MARGIN = 20
"""Maximum number of messages that a schedule has in addition to the size."""
NARROWING = 3
"""A dimension may take this multiple of its time share to narrow down the first failing size, if time is left."""

SizeListener = Callable[[str, int, int], None]
"""Called with the dimension and the size being played as text, the number of the dimension, and the number of
dimensions.
"""

load_schema = partial(packaged_schema, __package__, "limits.schema.json")
"""Returns the JSON Schema (2020-12) of the output of `limits --json`."""


@dataclass(frozen=True)
class MeasurementOrder:
    """The dimensions to measure, the time budget and the options."""

    connect: Connect
    limits: Limits
    rules: Rules
    revision: str
    profile: str
    dialect: str | None
    strict: bool
    dimensions: Sequence[Dimension]
    budget_s: float
    at: int | None = None
    """The only size to play besides the smallest one; None for a search."""


@dataclass
class MeasurementResult:
    """The results of a measurement so far."""

    declaration: Declaration
    dialect: str
    at: int | None = None
    """The only size that was played besides the smallest one; None for a search."""
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    rows: list[LimitRow] = field(default_factory=list)
    seconds: float = 0.0
    interrupted: bool = False

    @property
    def exit_code(self) -> int:
        """Exit code: 1 if a row is a finding, 4 if nothing was exercised, 70 for an error of the suite, 130 if
        interrupted, else 0.
        """
        weights = {row.weight for row in self.rows}
        if self.interrupted:
            return Exit.INTERRUPTED
        if Weight.FINDING in weights:
            return Exit.NON_CONFORMANT
        if Weight.ERROR in weights:
            return Exit.OURS
        return Exit.CONFORMANT if weights - {Weight.NOT_EXERCISED} else Exit.NOTHING_EXERCISED


def perform_handshake(order: MeasurementOrder) -> MeasurementResult:
    """Perform the handshake. Raises TesteeError if the implementation cannot be tested, and UnknownDialectError."""
    runner = _runner(order, order.limits)
    try:
        declared = runner.start()
        used = runner.dialect
        return MeasurementResult(declared, used.name if used else "", order.at)
    finally:
        runner.close()


def measure(
    order: MeasurementOrder, out: MeasurementResult, on_size: SizeListener = lambda what, number, total: None
) -> None:
    """Measure each dimension within its share of the budget. After an interrupt, the results so far are kept."""
    began = time.monotonic()
    ends = began + order.budget_s
    with rare_garbage_collection():
        for number, dimension in enumerate(order.dimensions):
            share = (ends - time.monotonic()) / (len(order.dimensions) - number)
            one = _DimensionMeasurement(order, out.declaration, dimension, share, ends)
            try:
                if not out.interrupted and share > 0:
                    one.search(partial(_report_size, on_size, dimension, number, len(order.dimensions)))
                elif not out.interrupted:
                    one.searching.ended = True
            except KeyboardInterrupt:
                out.interrupted = True
            finally:
                one.cases.runner.kill()
            out.rows.append(one.row())
    out.seconds = time.monotonic() - began


class _DimensionMeasurement:
    def __init__(
        self, order: MeasurementOrder, declared: Declaration, dimension: Dimension, share: float, ends: float
    ) -> None:
        self._order = order
        self._declared = declared
        self._began, self._share, self._ends = time.monotonic(), share, ends
        self.most, self._why = find_largest_size(dimension, declared, MARGIN)
        self.cases = self._fresh()
        self.searching = Search(dimension, self.most, self._play, self._affords)
        self._again: bool | None = None
        self._report: Callable[[int], None] = lambda size: None

    def search(self, report: Callable[[int], None]) -> None:
        """Find the limit, and confirm it in a new process."""
        self._report = report
        self.searching.run(self._order.at)
        first = self.searching.first_failing
        if first is None or self.searching.held is None or self._order.at is not None:
            return
        case = self.searching.cases[first]
        if case.outcome is not SizeOutcome.SLOW and self._affords(case.seconds, True):
            self.cases.runner.kill()
            self.cases = self._fresh()
            self._again = self._play(first, self.searching.known).same_as == case.same_as

    def row(self) -> LimitRow:
        return make_row(self.searching, self._declared, self._why, self._again)

    def _fresh(self) -> Cases:
        """Return `Cases` that play in a new process, with a time limit."""
        order = self._order
        total_s = min(order.limits.left_s, self._share * NARROWING + order.limits.command_s)
        runner = _runner(order, replace(order.limits, total_s=total_s, began=Instant()), self._declared)
        requirements = [
            requirement.id for requirement in order.rules.judged_requirements(order.revision, order.profile)
        ]
        return Cases(runner, order.rules, requirements, strict=order.strict)

    def _play(self, size: int, known: frozenset[str]) -> SizeResult:
        self._report(size)
        return self.cases.play(self.searching.dimension, size, known)

    def _affords(self, seconds: float, narrowing: bool) -> bool:
        share = self._share * NARROWING if narrowing else self._share
        return time.monotonic() + seconds <= min(self._began + share, self._ends)


def _runner(order: MeasurementOrder, limits: Limits, declared: Declaration | None = None) -> Runner:
    return Runner(order.connect, limits, order.rules, order.revision, order.dialect, declared)


def _report_size(on_size: SizeListener, dimension: Dimension, number: int, total: int, size: int) -> None:
    on_size(f"{dimension.name} {size:,}", number, total)


def as_json(order: MeasurementOrder, measured: MeasurementResult, replays: Sequence[str]) -> dict[str, Any]:
    """Return the result as JSON. ``replays`` has, for each row, the command that plays the first failing size.

    ``limits.schema.json`` in this folder describes it.
    """
    declared = measured.declaration
    return {
        "schema": SCHEMA_ID,
        "suite": {"name": "sds-conformance", "version": suite_version()},
        "implementation": {"name": declared.name, "version": declared.version, "language": declared.language},
        "started": measured.started.isoformat(timespec="seconds"),
        "revision": order.revision,
        "profile": order.profile,
        "strict": order.strict,
        "dialect": measured.dialect,
        "at": order.at,
        "budget_seconds": order.budget_s,
        "seconds": round(measured.seconds, 3),
        "interrupted": measured.interrupted,
        "rows": [
            row.as_json() | {"replay": replay or None} for row, replay in zip(measured.rows, replays, strict=True)
        ],
    }
