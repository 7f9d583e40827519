"""Places the steps of a group trace in a space-time diagram: columns for participants, rows for steps.

Rows follow the global order of the steps, not the clock. Independent steps of different participants share a row, so
that one broadcast arrives at all its receivers in one row. Steps without anything to show have no row.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from sds_harness.schedules import Act, GroupTrace, Loss, Packet
from sds_harness.schedules.operations import Calm, Crash, Cut, Heal, Join, Operation, StepClock, Wait

from ..protocols.group_trace_reader import DELIVERED
from .course import KEPT, ArrivalFate, Course
from .operation_words import operation_note
from .text_size import char_width, line_height, lines_of

MAX_STEPS = 900
"""Maximum number of steps that are drawn. Of longer group traces, the steps around the violating step are drawn."""
FOLDED = 4
"""Minimum number of consecutive sync messages and repeated messages without effect that a note replaces."""
AFTER_BLAMED = 60
"""Minimum number of steps drawn after the violating step if not all steps are drawn; fewer if there are no more."""
ALMOST_AT_ONCE_MS = 50
"""Maximum difference, in milliseconds, of the times of steps that share a row."""


@dataclass
class DiagramRow:
    """A row of the diagram. ``above`` and ``below`` are the pixels that the labels need above and below the row."""

    above: int = 7
    below: int = 5
    at_ms: int = 0
    first: int = 0
    last: int = 0
    """Numbers of the first and the last step in the row; 0 for none."""
    note: str = ""
    """Text across the whole width of the diagram."""
    about: bool = False
    """True if the time of the row is approximate for some of its steps."""


@dataclass
class Spot:
    """A mark of the diagram, in one row: a step, a crash, a clock change, or a broadcast of a scripted peer."""

    row: int
    column: int
    shape: str
    """Kind of the mark: ``content``, ``copy``, ``sync``, ``ephemeral``, ``noise``, ``deliver``, ``wait``, ``again``,
    ``refuse``, ``end`` or ``plain``; ``none`` for no mark.
    """
    act: Act | None = None
    above: list[tuple[str, str]] = field(default_factory=list)
    """Lines of the label above the line of a broadcast: CSS class and text."""
    below: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Flight:
    """The transmission of a broadcast to one receiver. ``loss`` is None if the message arrived."""

    packet: Packet
    column: int
    row: int
    kind: str
    """The arrow: ``content``, ``copy``, ``sync`` or ``ephemeral``; ``noise`` for bytes that are not a message."""
    act: Act | None = None
    loss: Loss | None = None
    stray: bool = False
    """True if the arrow has no origin in the diagram, for example because the message came from a store."""


def columns_of(course: Course, only: Collection[int] | None = None) -> list[str]:
    """Return the participants, followed by the scripted peers. With ``only``, return only participants of the
    operations with these indices.
    """
    group_trace = course.group_trace
    scripted = (
        p for number, packets in course.scripted_packets.items() if only is None or number in only for p in packets
    )
    peers = [p.sender for p in scripted if course.items[p.number] is not None]
    acting = {act.who for act in group_trace.acts if only is None or act.operation in only}
    names = [name for name in group_trace.schedule.names if only is None or name in acting]
    return list(dict.fromkeys([*names, *peers]))


class Placement:
    """Computes the rows of the diagram, the spots (marks) in the rows, and the flights (arrows) between spots."""

    def __init__(
        self, course: Course, blamed: Act | None, label_width: int, only: Collection[int] | None = None
    ) -> None:
        """``label_width`` is in pixels. With ``only``, only the operations with these indices are drawn, and notes mark
        the gaps.
        """
        self.course = course
        self.group_trace: GroupTrace = course.group_trace
        self.rows: list[DiagramRow] = [DiagramRow()]
        self.spots: list[Spot] = []
        self.flights: list[Flight] = []
        self.origins: dict[int, Spot] = {}
        """The spot where each packet is sent, by packet number."""
        self.lives: dict[int, list[int]] = {}
        """First and last row of the line of each column. If the last row is missing, the line continues to the end."""
        self.shades: list[tuple[int, int]] = []
        """Ranges of rows (first, last) during which the network is partitioned."""
        self.blamed_row = -1
        self.dropped = 0
        """Number of steps that are not drawn because there are too many."""
        self._blamed = blamed
        self._width = label_width
        self._only = only
        self._last: dict[int, int] = {}
        self._next = 0
        self._cut_since = -1
        self._skipped = False
        """True if operations before the next visible operation are omitted."""
        self._quiet: list[Packet] = []
        self._folded: set[int] = set()
        self.members = list(self.group_trace.schedule.names)
        self.columns = columns_of(course, only)
        self._column = {name: number for number, name in enumerate(self.columns)}
        self._place()

    # ---- what is drawn ---------------------------------------------------------------------------------------------

    def _is_quiet(self, packet: Packet) -> bool:
        """Return whether a packet is a sync message or a repeated message, and has no effect."""
        if self.course.drawn_kind(packet) not in ("sync", "copy") or not packet.act:
            return False
        sender, received = self.group_trace.acts[packet.act - 1], self.course.received.get(packet.number, [])
        if any(act is self._blamed or self.course.has_result(act) for act in [sender, *received]):
            return False
        busy = (self.course.broadcasts.get(act.number) for act in received)
        return not any(busy) and not any(self.course.fates.get(act.number) in KEPT for act in received)

    def _is_shown(self, act: Act) -> bool:
        comes = act is self._blamed or act.step.command == "receive" or bool(self.course.broadcasts.get(act.number))
        return comes or self.course.has_result(act)

    def _window(self) -> range:
        """Return the numbers of the steps that are drawn."""
        count = len(self.group_trace.acts)
        if self._only is not None:
            return range(1, count + 1)
        act_numbers = [act.number for act in self.group_trace.acts if self._is_shown(act) and not self._is_folded(act)]
        if len(act_numbers) <= MAX_STEPS:
            return range(1, count + 1)
        before = act_numbers.index(self._blamed.number) if self._blamed is not None else 0
        end = min(len(act_numbers), max(MAX_STEPS, before + AFTER_BLAMED))
        self.dropped = len(act_numbers) - MAX_STEPS
        return range(act_numbers[end - MAX_STEPS], act_numbers[end - 1] + 1)

    def _is_folded(self, act: Act) -> bool:
        if act.packet is not None and act.source == "network" and act.packet.number in self._folded:
            return True
        sent = self.course.broadcasts.get(act.number, [])
        return bool(sent) and all(packet.number in self._folded for packet in sent)

    def _fold_quiet_syncs(self) -> None:
        """Find sequences of messages without effect, each of which a single note replaces."""
        runs: list[list[Packet]] = [[]]
        for act in self.group_trace.acts:
            packets = self.course.broadcasts.get(act.number, [])
            if act.step.command == "receive" and act.packet is not None and not packets and self._is_quiet(act.packet):
                continue
            if packets and not self.course.signalled[act.number] and all(self._is_quiet(packet) for packet in packets):
                runs[-1] += packets
            elif self._is_shown(act):
                runs.append([])
        self._folded = {packet.number for run in runs if len(run) >= FOLDED for packet in run}

    # ---- rows ------------------------------------------------------------------------------------------------------

    def _place(self) -> None:
        self._fold_quiet_syncs()
        window = self._window()
        acts = [act for number in window if self._is_drawn((act := self.group_trace.acts[number - 1]).operation)]
        first = acts[0].operation if self.dropped and acts else -1
        last = acts[-1].operation if self.dropped and acts else len(self.group_trace.schedule.operations)
        for column, name in enumerate(self.columns):
            late = name in self.members and any(m.late for m in self.group_trace.schedule.members if m.name == name)
            if not late or (self.dropped and name in self.group_trace.parties):
                self.lives[column] = [0]
        at, before = 0, -1
        for number in sorted({*self.group_trace.began, *(act.operation for act in acts)}):
            if not first <= number <= last or not self._is_drawn(number):
                continue
            if self._only is not None and number - before > 1:
                self._skipped = True
            before = number
            if number >= 0:
                self._place_operation(number, self.group_trace.schedule.operations[number])
            while at < len(acts) and acts[at].operation == number:
                self._place_act(acts[at])
                at += 1
        self._skipped = False
        self._end_quiet()
        if self._cut_since >= 0:
            self.shades.append((self._cut_since, len(self.rows) - 1))

    def _is_drawn(self, operation: int) -> bool:
        return self._only is None or operation in self._only

    def _row(self, row: int, at_ms: int, above: int = 0, below: int = 0, number: int = 0) -> DiagramRow:
        while len(self.rows) <= row:
            self.rows.append(DiagramRow(at_ms=at_ms))
        found = self.rows[row]
        found.above, found.below = max(found.above, above), max(found.below, below)
        if number:
            found.about |= bool(found.first) and found.at_ms != at_ms
            found.at_ms = found.at_ms if found.first else at_ms
            found.first, found.last = found.first or number, number
        return found

    def _note(self, text: str, at_ms: int) -> int:
        """Add a note across the whole diagram, and return its row."""
        self._end_quiet()
        row = max([self._next, *(last + 1 for last in self._last.values())])
        self._row(row, at_ms, 11, 9).note = text
        self._next = row + 1
        return row

    def _end_quiet(self) -> None:
        """Add the pending note, about messages without effect or about omitted operations, before anything else is
        placed.
        """
        if self._skipped:
            self._skipped = False
            self._note("…", self.rows[-1].at_ms)
        if not self._quiet:
            return
        quiet, self._quiet = self._quiet, []
        begin, end = quiet[0].at_ms, quiet[-1].at_ms
        till = f" until {self.course.format_time(end)}" if end > begin else ""
        syncs = sum(packet.number not in self.course.copies for packet in quiet)
        copies = len(quiet) - syncs
        parts = [f"{syncs} {self.course.reading.legend['sync']}{'s' if syncs > 1 else ''}"] if syncs else []
        parts += [f"{copies} {'copies' if copies > 1 else 'copy'}"] if copies else []
        self._note(f"{' and '.join(parts)} without any effect{till}", begin)

    def _put(self, spot: Spot, at_ms: int, *, alone: bool, after: int = -1) -> Spot:
        """Find a row for a spot, after the row ``after``. With ``alone``, the row has no other spots, because arrows
        start at this spot.
        """
        row = max(self._next, self._last.get(spot.column, -1) + 1, after + 1)
        if alone:
            row = max([row, *(last + 1 for last in self._last.values())])
        if row < len(self.rows) and self.rows[row].first and at_ms - self.rows[row].at_ms > ALMOST_AT_ONCE_MS:
            row += 1
        spot.row = row
        above = (5 if spot.above else 7) + sum(line_height(css) for css, _ in spot.above)
        below = 4 + sum(line_height(css) for css, _ in spot.below) if spot.below else 0
        self._row(row, at_ms, above, below, spot.act.number if spot.act else 0)
        self._last[spot.column] = row
        self._next = row + 1 if alone else row
        self.spots.append(spot)
        if spot.act is not None and spot.act is self._blamed:
            self.blamed_row = row
        return spot

    def _lines(self, css: str, text: str) -> list[tuple[str, str]]:
        return [(css, line) for line in lines_of(text, self._width, char_width(css))]

    # ---- operations ------------------------------------------------------------------------------------------------

    def _place_operation(self, number: int, op: Operation) -> None:
        at_ms = self.group_trace.began.get(number, 0)
        if isinstance(op, Crash) and self.group_trace.crashed.get(op.who) == number:
            self._end_quiet()
            column = self._column[op.who]
            spot = self._put(Spot(0, column, "end", below=[("bad", "crashes")]), at_ms, alone=False)
            self.lives.setdefault(column, [0]).append(spot.row)
        elif isinstance(op, StepClock) and op.who in self.group_trace.parties:
            self._end_quiet()
            text = f"clock {op.ms:+,} ms"
            self._put(Spot(0, self._column[op.who], "plain", below=self._lines("say", text)), at_ms, alone=False)
        elif isinstance(op, Wait) and self._quiet:
            pass  # The note about the messages without effect has the times of the first and the last one.
        elif text := operation_note(op, self.course.reading):
            row = self._note(text, at_ms)
            if isinstance(op, Cut) and self._cut_since < 0:
                self._cut_since = row
            if isinstance(op, Heal | Calm) and self._cut_since >= 0:
                self.shades.append((self._cut_since, row))
                self._cut_since = -1
        for packet in self.course.scripted_packets.get(number, ()):
            if self.course.items[packet.number] is None:
                continue
            self._end_quiet()
            shape = self.course.drawn_kind(packet)
            label = self._lines(shape, f"sends {self.course.name(packet)}")
            spot = self._put(Spot(0, self._column[packet.sender], shape, above=label), packet.at_ms, alone=True)
            self._leave(packet, spot)

    def _place_act(self, act: Act) -> None:
        packet, sent = act.packet, self.course.broadcasts.get(act.number, [])
        if self._is_folded(act):
            self._quiet += sent
            return
        joins = act.step.command == "open" and isinstance(self._operation(act), Join)
        if not (self._is_shown(act) or joins):
            return
        self._end_quiet()
        column = self._column[act.who]
        above = self._sent_lines(act)
        below = self._seen_lines(act, joins=joins)
        spot = Spot(0, column, self._shape(act, joins=joins), act, above, below)
        origin = self.origins.get(packet.number) if packet is not None and act.source == "network" else None
        self._put(spot, act.at_ms, alone=bool(sent), after=origin.row if origin else -1)
        if joins:
            self.lives[column] = [spot.row]
        if packet is not None:
            kind = self.course.drawn_kind(packet)
            self.flights.append(Flight(packet, column, spot.row, kind, act, stray=origin is None))
            faint = kind in ("sync", "noise") and origin is not None
            self.rows[spot.row].above = max(self.rows[spot.row].above, 11 if faint else 15)
        for broadcast in sent:
            self._leave(broadcast, spot)

    def _operation(self, act: Act) -> Operation | None:
        return self.group_trace.schedule.operations[act.operation] if act.operation >= 0 else None

    def _leave(self, packet: Packet, spot: Spot) -> None:
        """Record that a packet starts at a spot, and place the ends of the arrows that do not reach their receivers."""
        self.origins[packet.number] = spot
        kind = self.course.drawn_kind(packet)
        for loss in self.course.losses.get(packet.number, ()):
            column = self._column.get(loss.listener)
            if column is None or loss.why == "absent":
                continue
            row = spot.row + 1
            self._row(row, packet.at_ms, 11 if kind == "sync" else 15)
            self.flights.append(Flight(packet, column, row, kind, loss=loss))
            if kind != "sync":
                self._last[column] = max(self._last.get(column, -1), row)

    def _sent_lines(self, act: Act) -> list[tuple[str, str]]:
        by_verb: dict[tuple[str, str], list[str]] = {}
        for packet, verb in self.course.list_broadcasts(act):
            by_verb.setdefault((self.course.drawn_kind(packet), verb), []).append(self.course.name(packet))
        out: list[tuple[str, str]] = []
        for (kind, verb), names in by_verb.items():
            text = self.course.join_names(names)
            out += self._lines("faint" if kind == "sync" else kind, text if kind == "sync" else f"{verb} {text}")
        return out

    def _seen_lines(self, act: Act, *, joins: bool) -> list[tuple[str, str]]:
        out: list[tuple[str, str]] = self._lines("say", "joins") if joins else []
        fate, arrived = self.course.fates.get(act.number), self.course.describe_arrival(act)
        if fate in (*KEPT, ArrivalFate.AGAIN):
            out += self._lines("wait" if fate in KEPT else "faint", f"{arrived} {fate.value}")
        elif arrived and (act.source != "network" or fate is ArrivalFate.REFUSED):
            out += self._lines("say", arrived)
        for css, text in self.course.signals(act):
            out += self._lines(css, text)
        if refusal := self.course.refusal(act):
            out += self._lines("bad", refusal)
        if act is self._blamed and not out:
            doing = {"tick": "periodic work", "observe": "shows its state", "open": "joins"}
            out += self._lines("say", doing.get(act.step.command, arrived and f"{arrived} arrives"))
        return out[:6]

    def _shape(self, act: Act, *, joins: bool) -> str:
        if self.course.refusal(act):
            return "refuse"
        delivers = any(signal.kind == DELIVERED for signal in self.course.signalled[act.number])
        if delivers and act.step.command != "send":
            return "deliver"
        fate = self.course.fates.get(act.number)
        if fate in (*KEPT, ArrivalFate.AGAIN):
            return "wait" if fate in KEPT else "again"
        kinds = [self.course.drawn_kind(packet) for packet in self.course.broadcasts.get(act.number, ())]
        strongest = next((kind for kind in ("content", "copy", "ephemeral", "sync", "noise") if kind in kinds), "")
        if strongest:
            return strongest
        return "plain" if joins or self.course.signalled[act.number] or act is self._blamed else "none"
