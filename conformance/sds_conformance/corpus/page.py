"""The page of a diff: one HTML file, complete in itself, without scripts.

What implementations say of themselves (names, IDs, values) is hostile: it is cut, cleared and escaped.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from jinja2 import Template
from markupsafe import Markup

from sds_harness.declaration import printable

from ..exploration.telling import rule_of
from ..judging import quoting
from ..telling.markup import environment
from .classifying import AND, VIOLATIONS, Class
from .diffing import Difference
from .samples import Sample, of_cause
from .summing import Cause, most_common

SAME_COLOUR = "#9aa2ad"


@dataclass(frozen=True)
class Bar:
    """One bar of a chart."""

    label: str
    count: int
    colour: str
    share: float
    """Of the longest bar, 0 to 1."""
    start: float = 0.0
    """Where it begins, where bars stand on each other."""


def page(difference: Difference, samples: list[Sample]) -> str:
    """The page as HTML."""
    return _template().render(
        difference=difference,
        corpora={"A": difference.a, "B": difference.b},
        total=difference.identical + difference.divergent,
        bars=_bars(difference),
        histogram=_histogram(difference),
        causes=[(cause, rules_of(cause), of_cause(samples, cause)) for cause in difference.causes],
        requirements=_requirements(difference),
        fields=list(most_common(difference.found.fields).items()),
        svg=Markup,
        clean=lambda text, limit=600: printable(str(text), limit),
    )


@cache
def _template() -> Template:
    known = environment(__package__ or "")
    known.filters["thousands"] = lambda number: f"{number:,}"
    known.filters["counted"] = quoting.counted
    return known.get_template("diff.html.j2")


def _bars(difference: Difference) -> list[Bar]:
    counts = [("identical", difference.identical, SAME_COLOUR)]
    counts += [(kind.value, count, kind.colour) for kind, count in difference.classes.items()]
    most = max(1, *(count for _, count, _ in counts))
    return [Bar(label, count, colour, count / most) for label, count, colour in counts]


def _histogram(difference: Difference) -> list[tuple[str, int, list[Bar]]]:
    """By the depth of the first step that differs: label, number of schedules, and the bars that make up its column."""
    counted = difference.found.depths
    depths = sorted({depth for _, depth in counted})
    if not depths:
        return []
    every = range(depths[0], depths[-1] + 1)
    totals = {depth: sum(counted[kind, depth] for kind in Class) for depth in every}
    most = max(1, *totals.values())
    out = []
    for depth in every:
        label = "1" if depth == 0 else f"{1 << depth} to {(2 << depth) - 1}"
        bars, start = [], 0.0
        for kind in Class:
            count = counted[kind, depth]
            if count:
                bars.append(Bar(kind.value, count, kind.colour, count / most, start))
                start += count / most
        out.append((label, totals[depth], bars))
    return out


def rules_of(cause: Cause) -> list[str]:
    """What is violated, in words; nothing for causes that are no violations."""
    if cause.kind not in VIOLATIONS:
        return []
    return [f"{where}: {rule}" for where, rule in map(rule_of, cause.cause.split(AND))]


def _requirements(difference: Difference) -> list[tuple[str, str, int, int]]:
    """What is violated in schedules that differ: its ID, what it says, and in how many by A and by B."""
    by_a, by_b = difference.found.violated_a, difference.found.violated_b
    out = [(what, rule_of(what)[1], by_a[what], by_b[what]) for what in {*most_common(by_a), *most_common(by_b)}]
    return sorted(out, key=lambda row: (-max(row[2], row[3]), row[0]))
