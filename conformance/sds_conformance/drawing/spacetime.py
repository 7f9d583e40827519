"""Space-time diagrams of group traces: time runs down the lines of participants, and messages are arrows between them.

Texts of an implementation (names, IDs, contents) are untrusted: they are shortened, made printable, and escaped.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import hypot

from sds_harness.declaration import printable
from sds_harness.schedules import Act, GroupTrace

from ..judging.formats import LONGEST_NAME, format_count, short
from ..presentation.markup import template
from .course import Course, LogAt
from .placement import ALMOST_AT_ONCE_MS, Flight, Placement, Spot, columns_of
from .shapes import Arrow, Dot, Drawing, TextLine, cross, head, path
from .text_size import char_width, line_height, lines_of, text_width

GUTTER = 140
"""Width in pixels of the column for steps and times, left of the first lifeline."""
HEADER = 42
AGAIN_AFTER = 760
"""Distance in pixels after which the names of the participants are repeated."""
STRAIGHT_AFTER = 170
"""Maximum height, in pixels, of an arrow with a bend, if the message arrives later than it was sent. A higher arrow is
a straight line.
"""
LONGEST_TITLE = 300
"""Maximum number of characters of a tooltip."""
MAX_COLUMNS, FEWEST_DOTS = 8, 2
"""Limits of an excerpt: maximum number of columns, and minimum number of marks if there is no arrow."""
UNLIKE = "≠"
_LOG_SHOWN = 80
_LOG_REPEATED = 10
"""A log that equals the first log is not printed again if it has more messages than this number."""
_LEGEND = (
    ("loss", "cross", "lost on the way"),
    ("stray", "line", "from a store, or without a visible origin"),
    ("deliver", "dot", "delivers on arrival"),
    ("wait", "dot", "arrives, and is not delivered"),
    ("again", "dot", "arrives again"),
    ("refuse", "dot", "refuses"),
    ("blame", "dot", "the violating step"),
    ("about", "text", f"approximate time, within {ALMOST_AT_ONCE_MS} ms"),
)


def spacetime_svg(group_trace: GroupTrace, blamed: Act | None = None, title: str = "", caption: str = "") -> str:
    """Draw a group trace as a self-contained SVG without scripts.

    ``blamed`` is the violating step. ``caption`` describes the violation; its IDs are replaced by the names of the
    diagram.
    """
    lost = f", {len(group_trace.losses)} copies lost" if group_trace.losses else ""
    what = f"{len(group_trace.packets)} broadcasts between {_join_names(group_trace.schedule.names)}{lost}"
    drawing = draw(group_trace, blamed, title, caption)
    return _svg(drawing, printable(title, 200) or "Space-time diagram", what, blamed, styled=True)


def excerpt_svg(course: Course, blamed: Act, only: Collection[int]) -> str:
    """Draw some operations for a page that has `stylesheet`: without title, caption and logs.

    Returns "" if there is nothing to show, or too much for an excerpt.
    """
    columns = columns_of(course, only)
    if not 0 < len(columns) <= MAX_COLUMNS or blamed.who not in columns:
        return ""
    drawing = _Artist(course, blamed, only).excerpt()
    if not drawing.arrows and len(drawing.dots) < FEWEST_DOTS:
        return ""
    return _svg(drawing, "Space-time diagram", f"Messages between {_join_names(columns)}", blamed, styled=False)


def stylesheet() -> str:
    """Return the CSS of excerpts, for light and dark pages."""
    light, dark = (template(__package__ or "", name).render() for name in ("spacetime.css", "spacetime-dark.css"))
    return f"{light}\n@media screen and (prefers-color-scheme: dark) {{\n{dark}\n}}\n"


def _svg(drawing: Drawing, title: str, what: str, blamed: Act | None, *, styled: bool) -> str:
    marked = f" Step {blamed.number} of {short(blamed.who)} is marked." if blamed is not None else ""
    summary = f"{what}; time runs down.{marked}"
    return template(__package__ or "", "spacetime.svg.j2").render(
        drawing=drawing, title=title, summary=summary, gutter=GUTTER, styled=styled
    )


def _join_names(names: Sequence[str]) -> str:
    return ", ".join(short(name) for name in names[:12])


def draw(group_trace: GroupTrace, blamed: Act | None = None, title: str = "", caption: str = "") -> Drawing:
    """Compute the positions of everything in the diagram."""
    return _Artist(Course(group_trace), blamed).draw(title, caption)


class _Artist:
    """Computes the `Drawing` of one group trace."""

    def __init__(self, course: Course, blamed: Act | None, only: Collection[int] | None = None) -> None:
        self._course = course
        self._blamed = blamed
        count = len(columns_of(course, only))
        self._pitch = max(122, min(230, 1060 // max(1, count)))
        self._plan = Placement(course, blamed, self._pitch - 24, only)
        self._marked = {s.act.number for s in self._plan.spots if s.act is not None and s.shape != "none"}
        """Numbers of the steps that have a mark. Arrows end before a mark."""
        self._out = Drawing(max(640, GUTTER + 44 + count * self._pitch))
        self._ys: list[float] = []

    def draw(self, title: str, caption: str) -> Drawing:
        out = self._out
        y = self._write(printable(title, 200), 14, 30, "title", 11.2, 24) if title else 12
        y = self._caption(caption, y)
        self._picture(y)
        self._draw_logs()
        self._legend()
        return out

    def excerpt(self) -> Drawing:
        """Draw the diagram without title, caption and logs."""
        self._picture(0)
        self._out.height = self._out.foot + 12
        self._legend()
        return self._out

    def _picture(self, y: int) -> None:
        out = self._out
        out.top = y + HEADER
        self._lay_rows(out.top)
        self._frame()
        for flight in self._plan.flights:
            self._draw_flight(flight)
        for spot in self._plan.spots:
            self._mark(spot)
        self._gutter()

    # ---- rows and lines --------------------------------------------------------------------------------------------

    def _lay_rows(self, top: int) -> None:
        y = float(top)
        last = y
        self._draw_names(top - 10, first=True)
        for number, row in enumerate(self._plan.rows):
            if number and y - last > AGAIN_AFTER:
                y += 26
                self._draw_names(int(y) - 6, first=False)
                last = y
            y += row.above
            self._ys.append(y)
            y += row.below
        self._out.foot = int(y) + 12

    def _draw_names(self, y: int, *, first: bool) -> None:
        members = {member.name: member for member in self._course.group_trace.schedule.members}
        for column, name in enumerate(self._plan.columns):
            member = members.get(name)
            more = "scripted peer" if member is None else ""
            if member is not None and member.clock_ms:
                more = f"clock {member.clock_ms:+,} ms"
            if member is not None and self._course.has_several_implementations:
                who = self._course.group_trace.cast[name].declaration.name
                more = printable(who, max(4, int(self._pitch / 6.2) - 2))
            fits = printable(name, min(LONGEST_NAME, int(self._pitch / 8.4) - 1))
            self._out.heads.append((self._x(column), y, fits, more if first else "", member is None))

    def _frame(self) -> None:
        out, plan = self._out, self._plan
        for column, rows in plan.lives.items():
            start = self._ys[rows[0]] if rows[0] else float(out.top - 4)
            end = self._ys[rows[1]] if len(rows) > 1 else float(out.foot)
            out.lives.append((self._x(column), start, end, plan.columns[column] not in plan.members))
        out.shades = [(self._ys[a], self._ys[b]) for a, b in plan.shades]
        if plan.blamed_row >= 0:
            row = plan.rows[plan.blamed_row]
            out.band = (self._ys[plan.blamed_row] - row.above, row.above + row.below)

    def _x(self, column: int) -> float:
        return GUTTER + 40 + column * self._pitch

    def _gutter(self) -> None:
        before = -1
        self._time("step", 58, self._out.top - 28, "step")
        self._time("time", GUTTER - 10, self._out.top - 28, "step")
        for number, row in enumerate(self._plan.rows):
            y = self._ys[number]
            if row.note:
                x = GUTTER + 8
                note = lines_of(row.note, self._out.width - x - 12, limit=1)[0]
                box = (x, y - 9, x + text_width(note), y + 5)
                self._out.notes.append(TextLine(x, y + 3.5, "note", note, box))
            if (row.first or row.note) and row.at_ms != before:
                before = row.at_ms
                self._time(f"{'≈' if row.about else ''}{self._course.format_time(row.at_ms)}", GUTTER - 10, y, "time")
            if row.first:
                steps = str(row.first) if row.first == row.last else f"{row.first}\N{EN DASH}{row.last}"
                self._time(steps, 58, y, "step")

    def _time(self, text: str, right: float, y: float, css: str) -> None:
        box = (right - text_width(text, 5.6), y - 5, right, y + 5)
        self._out.times.append(TextLine(right, y + 3.5, css, text, box))

    # ---- arrows ----------------------------------------------------------------------------------------------------

    def _draw_flight(self, flight: Flight) -> None:
        x, y = self._x(flight.column), self._ys[flight.row]
        origin = self._plan.origins.get(flight.packet.number)
        stray = flight.stray or origin is None or origin.column == flight.column
        points = [(x - 34.0, y - 13), (x, y)] if stray or origin is None else self._way(origin, flight)
        if flight.loss is not None:
            (bx, by), (ex, ey) = points[-2:]
            along = max(0.45, 1 - 44 / max(1.0, hypot(ex - bx, ey - by)))
            points[-1] = (bx + (ex - bx) * along, by + (ey - by) * along)
            end = cross(*points[-1])
        else:
            marked = flight.act is not None and flight.act.number in self._marked
            end, points[-1] = head(points[-2], points[-1], 5 if marked else 0)
        loud = flight.kind != "sync"
        kind = "stray" if stray and flight.kind != "noise" else flight.kind
        title = self._flight_title(flight)
        self._out.arrows.append(Arrow(kind, path(points), end, flight.loss is not None, loud, title))

    def _way(self, origin: Spot, flight: Flight) -> list[tuple[float, float]]:
        """Return the points of an arrow: along the row of its origin, then down. An arrow to a later and much lower
        arrival is straight, see `STRAIGHT_AFTER`.
        """
        x0, y0 = self._x(origin.column), self._ys[origin.row]
        x1, y1 = self._x(flight.column), self._ys[flight.row]
        late = flight.act is not None and flight.act.at_ms > flight.packet.at_ms
        if late and y1 - y0 > STRAIGHT_AFTER:
            return [(x0, y0), (x1, y1)]
        return [(x0, y0), (x1 - (1 if x1 > x0 else -1) * 0.62 * self._pitch, y0), (x1, y1)]

    def _flight_title(self, flight: Flight) -> str:
        course, packet = self._course, flight.packet
        arrived = course.reading.arrived(flight.act.step) if flight.act is not None else None
        step = f" (step {packet.act})" if packet.act else ""
        broadcast = f"broadcast by {short(packet.sender)} at {course.format_time(packet.at_ms)}{step}"
        what = f"{course.describe_message(packet, arrived)}; {broadcast}"
        if flight.loss is not None:
            why = {"cut": "the network is cut", "crashed": "it has crashed"}.get(flight.loss.why, "lost on the way")
            return printable(f"{what}; never arrives at {short(flight.loss.listener)}: {why}", LONGEST_TITLE)
        assert flight.act is not None
        act = flight.act
        return printable(
            f"{what}; arrives at {short(act.who)} at {course.format_time(act.at_ms)} (step {act.number})", LONGEST_TITLE
        )

    # ---- marks and labels ------------------------------------------------------------------------------------------

    def _mark(self, spot: Spot) -> None:
        x, y = self._x(spot.column), self._ys[spot.row]
        blamed = spot.act is not None and spot.act is self._blamed
        if spot.shape != "none" or blamed:
            self._out.dots.append(Dot(x, y, spot.shape, self._dot_title(spot), blamed))
        shift = 15 if blamed else 9
        top = y - 4 - sum(line_height(css) for css, _ in spot.above)
        for css, text in spot.above:
            top = self._label(x + (15 if blamed else 4), top, css, text)
        top = y + 1
        for css, text in spot.below:
            top = self._label(x + shift, top, css, text)

    def _label(self, x: float, top: float, css: str, text: str) -> float:
        size = line_height(css)
        box = (x, top, x + text_width(text, char_width(css)), top + size)
        self._out.labels.append(TextLine(x, top + size - 3, css, text, box))
        return top + size

    def _dot_title(self, spot: Spot) -> str:
        act, course = spot.act, self._course
        if act is None:
            return "; ".join(text for _, text in spot.above + spot.below)
        parts = [course.describe_arrival(act) and f"{course.describe_arrival(act)} arrives"]
        parts += [f"{verb} {course.describe_message(packet)}" for packet, verb in course.list_broadcasts(act)]
        parts += [text for _, text in course.signals(act)] + [course.refusal(act)]
        what = "; ".join(text for text in parts if text) or act.step.command.replace("_", " ")
        return printable(f"step {act.number}, {course.format_time(act.at_ms)}, {short(act.who)}: {what}", LONGEST_TITLE)

    # ---- title, caption, logs and legend ---------------------------------------------------------------------------

    def _write(self, text: str, x: int, y: int, css: str, char: float, line: int, limit: int = 6) -> int:
        """Write at most ``limit`` lines of text across the diagram, and return the y of the next line.

        ``char`` is the width of a character and ``line`` the height of a line, in pixels.
        """
        for part in lines_of(text, self._out.width - x - 24, char, limit):
            box = (x, y - line * 0.75, x + text_width(part, char), y + line * 0.25)
            self._out.texts.append(TextLine(x, y, css, part, box))
            y += line
        return y

    def _caption(self, caption: str, y: int) -> int:
        plan, blamed = self._plan, self._blamed
        if self._plan.dropped:
            steps = len(self._course.group_trace.acts)
            y = self._write(f"{plan.dropped:,} of {steps:,} steps are not drawn", 14, y + 4, "note", 6.5, 18)
        if not caption and blamed is None:
            return y
        top = y - 4
        y += 16
        if blamed is not None:
            where = f"Step {blamed.number}, {self._course.format_time(blamed.at_ms)}, {short(blamed.who)}"
            y = self._write(where, 28, y, "where", 8.8, 17)
        for line in caption.splitlines()[:6] or [""]:
            if line:
                text = self._course.names.replace_ids(line, blamed.step.channel_id if blamed is not None else "")
                y = self._write(printable(text, 600), 28, y, "caption", 7.7, 17)
        self._out.caption = (top, y - top - 6)
        return y + 12

    def _draw_logs(self) -> None:
        y = self._out.foot + 30
        if self._blamed is not None:
            logs = [log for log in self._course.collect_logs(self._blamed.number) if log.who == self._blamed.who]
            y = self._log_lines(f"Log at step {self._blamed.number}", logs, y)
        y = self._log_lines("Logs at the end", self._course.collect_logs(), y)
        self._out.height = y

    def _log_lines(self, heading: str, logs: list[LogAt], y: int) -> int:
        first: dict[str, LogAt] = {}
        for log in logs:
            first.setdefault(log.channel_id, log)
        if any(_first_difference(log, first[log.channel_id]) is not None for log in logs):
            heading += f" ({UNLIKE} from here on, this log differs from the first log)"
        y = self._write(heading, 14, y, "heading", 8.4, 19)
        several = len(self._course.group_trace.schedule.channels) > 1
        for log in logs:
            who = printable(log.who, 16) + (f" in {short(log.channel_id)}" if several else "")
            self._out.texts.append(TextLine(28, y, "who", who, (28, y - 11, 28 + text_width(who, 7), y + 3)))
            text = self._log_text(log, first[log.channel_id])
            y = self._write(text, GUTTER + 40, y, "log", 7.0, 17, 8)
        return y + 10

    def _log_text(self, log: LogAt, first: LogAt) -> str:
        unlike = _first_difference(log, first)
        if log is not first and unlike is None and log.shown and len(log.entries) > _LOG_REPEATED:
            return f"the same {len(log.entries)} messages as {short(first.who)}"
        start = max(0, (unlike if unlike is not None else len(log.entries)) - _LOG_SHOWN // 2)
        start = max(0, min(start, len(log.entries) - _LOG_SHOWN))
        names = log.entries[start : start + _LOG_SHOWN]
        if unlike is not None:
            at = unlike - start
            names = [*names[:at], f"{UNLIKE} {names[at]}" if at < len(names) else UNLIKE, *names[at + 1 :]]
        before = [format_count(start, "earlier message")] if start else []
        rest = len(log.entries) - start - _LOG_SHOWN
        after = [format_count(rest, "later message")] if rest > 0 else []
        text = " · ".join(before + names + after) or "nothing"
        if log.since:
            text += f" — later {self._course.join_names(log.since, _LOG_SHOWN)}"
        if log.history:
            return f"{text} (no log was shown; the end of this list is the causal history of {log.history})"
        return text if log.shown or not names else f"{text} (sent and delivered, in this order: no log was shown)"

    def _legend(self) -> None:
        out = self._out
        used = {arrow.kind for arrow in out.arrows} | {dot.shape for dot in out.dots}
        used |= {"loss"} if any(arrow.lost for arrow in out.arrows) else set()
        used |= {"blame"} if self._blamed is not None else set()
        used |= {"about"} if any(row.about for row in self._plan.rows) else set()
        used -= {dot.shape for dot in out.dots if dot.shape in ("plain", "none", "end")}
        x, y = 28.0, out.height + 10.0
        arrows = [(look, "line", words) for look, words in self._course.reading.legend.items()]
        for css, sample, words in (*arrows, *_LEGEND):
            if css not in used:
                continue
            width = 62 + text_width(words)
            if x + width > out.width:
                x, y = 28.0, y + 22
            out.legend.append((x, y, css, sample, words))
            x += width
        out.height = int(y + 22)


def _first_difference(log: LogAt, first: LogAt) -> int | None:
    """Return the index of the first difference between two logs; None if the logs are equal, or one of them was never
    shown.
    """
    if log.entries == first.entries or not (log.shown and first.shown):
        return None
    pairs = zip(log.entries, first.entries, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(log.entries), len(first.entries)))
