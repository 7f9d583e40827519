"""The result of one dimension, and its weight: whether it is a finding, a warning, or neither."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise
from typing import Any

from sds_harness.declaration import Declaration, printable
from sds_harness.faults import FaultKind

from ...judging.verdict import Verdict
from ...protocols.dimensions import Dimension
from .case import SizeOutcome, SizeResult
from .search import Search

_FAILURES = {SizeOutcome.UNMET, SizeOutcome.CRASHED, SizeOutcome.SLOW, SizeOutcome.MEMORY}
_MAX_REASON = 300
_TOO_LARGE = (FaultKind.TOO_MUCH.value, FaultKind.OVERSIZED.value, FaultKind.TOO_LONG.value)

STEADY = 0.4
"""An exponent below this value cannot be distinguished from logarithmic growth or from noise."""
_LEAST_S = 0.03
"""Minimum time in seconds. Shorter times are dominated by noise of the machine."""
_LEAST_SIZE = 64
_LEAST_POINTS = 3
_LAST_POINTS = 3
"""Only this number of the largest sizes is used, because constant costs hide the growth at small sizes."""


class Weight(Enum):
    """What a row means for the implementation, such as a finding or a warning."""

    HELD = "held"
    """Nothing failed up to the declared size, or up to the largest size that was tried."""
    WARNING = "warning"
    FINDING = "finding"
    NOT_EXERCISED = "not exercised"
    ERROR = "error"
    """The suite itself failed."""


@dataclass(frozen=True)
class LimitRow:
    """The measured limit of an implementation in one dimension."""

    dimension: Dimension
    weight: Weight
    held: int | None = None
    """The largest size without a failure; None if every size failed."""
    first_failing: SizeResult | None = None
    """The smallest size known to fail."""
    declared: int | None = None
    reason: str = ""
    """Why no size was exercised, or why no larger size was tried."""
    is_confirmed: bool | None = None
    """Was the first failing size confirmed in a new process? None if this was not tried."""
    cases: tuple[SizeResult, ...] = ()
    """The results of all sizes that were played, in the order of the sizes."""
    exponent: float | None = None
    """Exponent of the cost per message, if it is measured and known."""
    failing_at_start: tuple[str, ...] = ()
    """Requirements that are violated even at the smallest size. The search ignores them."""

    @property
    def exact(self) -> bool:
        """Is the smallest failing size the next size after the largest size without a failure?"""
        return self.first_failing is not None and self.held is not None and self.first_failing.size == self.held + 1

    @property
    def requirement(self) -> str:
        """The requirement that is violated at the first failing size; "" if none is violated."""
        finding = self.first_failing.finding if self.first_failing is not None else None
        return finding.requirement if finding is not None else ""

    def as_json(self) -> dict[str, Any]:
        case = self.first_failing
        finding = case.finding if case is not None else None
        return {
            "dimension": self.dimension.name,
            "title": self.dimension.title,
            "timed": self.dimension.timed,
            "verdict": self.weight.value,
            "held": self.held,
            "first_not": case.size if case is not None else None,
            "exact": self.exact,
            "how": case.outcome.value if case is not None else None,
            "requirement": self.requirement or None,
            "severity": finding.severity.value if finding is not None else None,
            "code": finding.full_code if finding is not None else None,
            "step": finding.step if finding is not None else None,
            "expected": finding.expected if finding is not None else None,
            "seen": finding.seen if finding is not None else None,
            "said": printable(case.reason, _MAX_REASON) if case is not None else None,
            "again": self.is_confirmed,
            "declared": self.declared,
            "demanded": self.dimension.demanded,
            "position": self.dimension.position,
            "why": self.reason,
            "exponent": round(self.exponent, 2) if self.exponent is not None else None,
            "known": list(self.failing_at_start),
            "sizes": [_case_as_json(case, self.dimension) for case in self.cases],
        }


def _case_as_json(case: SizeResult, dimension: Dimension) -> dict[str, Any]:
    data = {"size": case.size, "how": case.outcome.value, "steps": case.steps, "seconds": round(case.seconds, 3)}
    return data | ({"processor_seconds": round(case.spent_s, 3)} if dimension.timed else {})


def find_largest_size(dimension: Dimension, declared: Declaration, margin: int) -> tuple[int, str]:
    """Return the largest size to try, and the reason ("" without a declared limit). ``margin`` is the number of
    messages that a schedule has in addition to the size.
    """
    bound = dimension.bound(declared.limit)
    if bound is not None and bound < dimension.most:
        return max(1, bound), "no larger size is declared"
    for name in dimension.within:
        around = declared.limit(name)
        if around is not None and around - margin < dimension.most:
            return max(1, around - margin), f"the declared limit of {name} allows no larger size"
    return dimension.most, ""


def make_row(search: Search, declared: Declaration, why_no_more: str, again: bool | None = None) -> LimitRow:
    """Create the row from the results of the search so far."""
    dimension = search.dimension
    cases = tuple(sorted(search.cases.values(), key=lambda case: case.size))
    bound = dimension.bound(declared.limit)
    first = search.first_failing
    case = search.cases[first] if first is not None else None
    held = search.held

    def row(weight: Weight, why: str = "", shown: SizeResult | None = None) -> LimitRow:
        known = tuple(sorted(search.known))
        return LimitRow(
            dimension,
            weight,
            held,
            shown,
            dimension.bound(declared.limits.get),
            why,
            again,
            cases,
            failing_at_start=known,
        )

    ours = next((c for c in cases if c.outcome is SizeOutcome.OURS), None)
    if ours is not None:
        return row(Weight.ERROR, printable(ours.reason, _MAX_REASON), case if held is not None else None)
    if held is None:
        return row(Weight.NOT_EXERCISED, _explain_empty_result(cases, search.ended))
    if case is not None:
        failed = case.finding is not None and case.finding.severity is Verdict.FAIL
        return row(weight(dimension, case.size, case.outcome, bound, failed=failed), "", case)
    if dimension.timed:
        return _add_cost(row(Weight.HELD))
    if held == search.most:
        return row(Weight.HELD, why_no_more or "no larger size is played")
    beyond = next((c for c in cases if c.size > held and c.outcome is SizeOutcome.UNREACHED), None)
    return row(Weight.HELD, f"not tried beyond{_reason_unless_time(beyond)}" if search.ended else "interrupted")


def _add_cost(row: LimitRow) -> LimitRow:
    """Add the growth of the cost to a row, if enough sizes were played."""
    power = growth(row.cases)
    if power is None:
        return replace(row, reason="too few sizes were played to measure the growth")
    most = max((case for case in row.cases if case.held), key=lambda case: case.size)
    cost = f"each costs as N^{power:.2f}, " if power > 0 else ""
    text = f"{cost}{most.size / most.spent_s:,.0f} a second"
    if power < STEADY:
        return replace(row, exponent=power, reason=f"steady: {text}")
    return replace(row, weight=Weight.WARNING, exponent=power, reason=f"grows: {text}")


def growth(cases: Iterable[SizeResult]) -> float | None:
    """Return the exponent of the cost per message: 0 is constant, 1 means quadratic total cost. None if too few sizes
    were played.

    The cost of the additional messages of each size is the difference of the times; the exponent is the least-squares
    slope of its logarithm.
    """
    timed = [case for case in cases if case.held and case.size >= _LEAST_SIZE and case.spent_s >= _LEAST_S]
    timed.sort(key=lambda case: case.size)
    points = [
        (math.log(more.size), math.log((more.spent_s - less.spent_s) / (more.size - less.size)))
        for less, more in pairwise(timed)
        if more.spent_s > less.spent_s
    ][-_LAST_POINTS:]
    if len(points) < _LEAST_POINTS:
        return None
    middle_x, middle_y = (math.fsum(values) / len(points) for values in zip(*points, strict=True))
    spread = math.fsum((x - middle_x) ** 2 for x, _ in points)
    return math.fsum((x - middle_x) * (y - middle_y) for x, y in points) / spread


def weight(dimension: Dimension, size: int, how: SizeOutcome, bound: int | None, *, failed: bool) -> Weight:
    """Return the weight of a failing size.

    A failure below the declared ``bound`` is a finding. Without a declared bound, only a size that every implementation
    must support gives a finding: if a requirement is violated (``failed``), an expectation is not met, or the
    conversation ends. Rejections and omissions that violate nothing are no finding.
    """
    if bound is not None and size <= bound:
        return Weight.FINDING
    if how is SizeOutcome.CRASHED and dimension.at_once:
        return Weight.FINDING
    if failed or how in _FAILURES:
        return Weight.FINDING if size <= dimension.demanded else Weight.WARNING
    return Weight.WARNING


def _explain_empty_result(cases: tuple[SizeResult, ...], ended: bool) -> str:
    """Return why no size was exercised."""
    if not cases:
        return "not tried: the budget was used up" if ended else "not tried: interrupted"
    case = cases[0]
    if case.outcome is SizeOutcome.LACKING:
        return f"not declared: {printable(case.reason)}"
    what = case.finding.requirement if case.finding is not None else printable(case.reason, _MAX_REASON)
    failure = f"{case.outcome.value} even at {case.size:,}"
    return f"{failure}: {what}" if what else failure


def _reason_unless_time(beyond: SizeResult | None) -> str:
    """Return ": " and the reason if a reply was too large; "" if only time was lacking."""
    is_too_large = beyond is not None and beyond.reason.startswith(_TOO_LARGE)
    return f": {printable(beyond.reason, _MAX_REASON)}" if beyond is not None and is_too_large else ""
