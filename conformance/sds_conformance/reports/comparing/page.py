"""Renders a comparison or a history as a self-contained HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from jinja2 import Environment
from markupsafe import Markup

from ...judging.verdict import Verdict
from ...presentation.markup import make_template_environment
from .cautions import mark
from .columns import ABSENT
from .comparison import Comparison
from .history import Series
from .limits import MARKS as LIMIT_MARKS
from .terminal import counts, ways_changed


def comparison_page(comparison: Comparison) -> str:
    """Render a comparison: the changes, all rows with a filter (rows with differences first), and the ways."""
    changes = [(a, b, comparison.changes(a, b), ways_changed(comparison, a, b)) for a, b in comparison.pairs]
    return (
        _templates()
        .get_template("compare.html.j2")
        .render(
            comparison=comparison,
            rows=comparison.differences + comparison.agreements,
            changes=changes,
            script=_script() if comparison.rows else "",
            choices=sorted((c for c in comparison.choices if c.is_shown), key=lambda choice: not choice.differs),
        )
    )


def history_page(histories: Sequence[Series], since: str) -> str:
    """Render the changes of verdicts and violations, the newest first; ``since`` as in `history_markdown`."""
    return _templates().get_template("history.html.j2").render(histories=histories, since=since)


@cache
def _templates() -> Environment:
    known = make_template_environment(__package__.rpartition(".")[0])
    known.globals |= {
        "absent": ABSENT,
        "counts": counts,
        "limit_marks": LIMIT_MARKS,
        "mark": mark,
        "verdicts": [verdict.value for verdict in Verdict],
    }
    return known


@cache
def _script() -> Markup:
    return Markup(files(__package__.rpartition(".")[0]).joinpath("templates", "compare.js").read_text("utf-8"))
