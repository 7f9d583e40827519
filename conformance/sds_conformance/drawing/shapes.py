"""A drawing: lines, marks and texts with positions in pixels, and helpers for paths."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import hypot


@dataclass(frozen=True)
class Arrow:
    """A line for a transmission of a message, with an arrowhead, or a cross for a loss, at its end."""

    kind: str
    path: str
    end: str
    lost: bool
    loud: bool
    title: str


@dataclass(frozen=True)
class TextLine:
    """A line of text. ``box`` is its bounding box: left, top, right and bottom."""

    x: float
    y: float
    css: str
    text: str
    box: tuple[float, float, float, float]


@dataclass(frozen=True)
class Dot:
    """A mark on the line of a participant, for example for a step or a crash."""

    x: float
    y: float
    shape: str
    title: str
    blamed: bool


@dataclass
class Drawing:
    """A complete drawing, in pixels."""

    width: int
    height: int = 0
    top: int = 0
    """y at which the lifelines begin."""
    foot: int = 0
    """y at which the lifelines end."""
    arrows: list[Arrow] = field(default_factory=list)
    dots: list[Dot] = field(default_factory=list)
    labels: list[TextLine] = field(default_factory=list)
    notes: list[TextLine] = field(default_factory=list)
    times: list[TextLine] = field(default_factory=list)
    heads: list[tuple[float, int, str, str, bool]] = field(default_factory=list)
    """Names of the participants: x, y, name, subtitle, and whether the participant is a scripted peer."""
    lives: list[tuple[float, float, float, bool]] = field(default_factory=list)
    """Lines of the participants: x, first y, last y, and whether the participant is a scripted peer."""
    shades: list[tuple[float, float]] = field(default_factory=list)
    texts: list[TextLine] = field(default_factory=list)
    """Title, caption and logs."""
    caption: tuple[int, int] | None = None
    """The box of the caption: y and height."""
    band: tuple[float, float] | None = None
    """The row of the violating step: y and height."""
    legend: list[tuple[float, float, str, str, str]] = field(default_factory=list)
    """Entries of the legend: x, y, CSS class, kind of sample, and text."""


def path(points: Iterable[tuple[float, float]]) -> str:
    """Return an SVG path from the first of two or three points to the last. The middle point is a rounded corner."""
    first, *others = list(points)
    text = f"M{first[0]:.1f},{first[1]:.1f}"
    if len(others) == 2:
        (cx, cy), (ex, ey) = others
        sign = 1 if ex > first[0] else -1
        before = cx - sign * 12 if abs(cx - first[0]) > 12 else first[0]
        along = 14 / max(14.0, hypot(ex - cx, ey - cy))
        text += f"L{before:.1f},{cy:.1f}Q{cx:.1f},{cy:.1f} {cx + (ex - cx) * along:.1f},{cy + (ey - cy) * along:.1f}"
    ex, ey = others[-1]
    return f"{text}L{ex:.1f},{ey:.1f}"


def head(start: tuple[float, float], end: tuple[float, float], gap: float) -> tuple[str, tuple[float, float]]:
    """Return the path of an arrowhead whose tip is ``gap`` pixels before ``end``, and the point where the line must
    end.
    """
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = max(1.0, hypot(dx, dy))
    ux, uy = dx / length, dy / length
    tip = (end[0] - ux * gap, end[1] - uy * gap)
    base = (tip[0] - ux * 9, tip[1] - uy * 9)
    left, right = (base[0] - uy * 4, base[1] + ux * 4), (base[0] + uy * 4, base[1] - ux * 4)
    corners = "L".join(f"{x:.1f},{y:.1f}" for x, y in (tip, left, right))
    return f"M{corners}Z", base


def cross(x: float, y: float) -> str:
    return f"M{x - 5:.1f},{y - 5:.1f}L{x + 5:.1f},{y + 5:.1f}M{x - 5:.1f},{y + 5:.1f}L{x + 5:.1f},{y - 5:.1f}"
