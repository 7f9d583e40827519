"""Explains a finding by what happened to its messages (the proof), and lists the operations of a schedule with their
results (the story). Both use the names of the diagram.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from sds_harness.declaration import printable
from sds_harness.schedules import Act, GroupTrace, Loss, Packet
from sds_harness.schedules.operations import Operation

from ..judging.formats import format_count, short
from ..protocols.group_trace_reader import DELIVERED, Item, Key, Sort
from .course import KEPT, ArrivalFate, Course
from .operation_words import describe_operation, is_done_by

T = TypeVar("T")

FEW = 4
"""Maximum number of messages of the violating step that count as messages of the finding. If the step has more
messages, only the first counts.
"""
MOST_OF_ONE = 15
"""Maximum number of lines for one operation."""
MOST_FACTS = 8
MOST_CAUSES = 3
LONGEST_LINE = 600
MOST_LINES = 500
"""Maximum number of lines of a story. A longer story is cut around the violating step."""
QUIET_LINES = 3
"""Maximum number of steps without effect that are shown one by one for an operation."""


def proof(group_trace: GroupTrace, act: Act, expected: str, seen: str) -> list[str]:
    """Explain a finding at ``act``: return the violation, then for each of its messages a line with what happened to
    it.
    """
    course = Course(group_trace, about=f"{expected} {seen}")
    return [printable(line, LONGEST_LINE) for line in _Proof(course, act, expected, seen).lines()]


def story(group_trace: GroupTrace, act: Act | None = None, about: str = "") -> list[str]:
    """List the operations and their results, one line each; the violating step ``act`` is marked with ">".

    ``about`` is the text of the finding. Lists of names begin with the messages that it quotes, and a step that
    receives such a message is listed even if it has no effect.
    """
    lines = [printable(line, LONGEST_LINE) for line in _Story(Course(group_trace, about=about), act).lines()]
    if len(lines) <= MOST_LINES:
        return lines
    marked = next((number for number, line in enumerate(lines) if line.startswith(">")), 0)
    start = max(0, min(marked - MOST_LINES // 2, len(lines) - MOST_LINES))
    before = [f"  ... {start} lines before"] if start else []
    after = len(lines) - start - MOST_LINES
    return before + lines[start : start + MOST_LINES] + ([f"  ... {after} lines after"] if after else [])


class _Proof:
    def __init__(self, course: Course, act: Act, expected: str, seen: str) -> None:
        self._course = course
        self._act = act
        self._arrived = course.reading.arrived(act.step)
        self._channel = act.step.channel_id or (self._arrived.key[0] if self._arrived is not None else "")
        self._expected, self._seen = expected, seen
        self._about = course.names.find_quoted(f"{expected} {seen}", self._channel)

    def lines(self) -> list[str]:
        course, act = self._course, self._act
        words = course.names.replace_ids
        where = f"step {act.number}, at {course.format_time(act.at_ms)}"
        causes = self._causes()
        out = [line for _, line in causes[:MOST_CAUSES]]
        if len(causes) > MOST_CAUSES:
            out.append(f"and {format_count(len(causes) - MOST_CAUSES, 'other message')} delivered before a dependency:")
        out = out or [f"{where}: {_Story(course, None).describe_act(act)}"]
        if self._expected:
            out.append(f"expected: {words(self._expected, self._channel)}")
        if self._seen:
            out.append(f"seen: {words(self._seen, self._channel)}")
        about = [*self._about, *(key for pair, _ in causes[:MOST_CAUSES] for key in pair)] or self._messages_of_step()
        keys = list(dict.fromkeys(about))
        out += [f"- {self._facts(key)}" for key in keys[:MOST_FACTS]]
        return out + ([f"- and {len(keys) - MOST_FACTS} more messages"] if len(keys) > MOST_FACTS else [])

    def _causes(self) -> list[tuple[tuple[Key, Key], str]]:
        """Return the messages that the step delivered before a dependency, as ((message, dependency), explanation).

        If the finding quotes messages, return only these.
        """
        course, act = self._course, self._act
        out = []
        order = [key for s in course.signalled[act.number] if s.kind == DELIVERED for key in s.keys]
        for place, key in enumerate(order):
            item = self._item(key)
            if item is None or (self._about and key not in self._about):
                continue
            for cause in item.causes:
                had = course.first_acts.get((act.who, cause))
                in_time = cause in order[:place] or (had is not None and had.number < act.number)
                if in_time or cause == key or (self._about and cause not in self._about and len(self._about) > 1):
                    continue
                name, before = course.names.name_of(key), course.names.name_of(cause)
                later = "" if had is not None else f", which {short(act.who)} never delivered"
                out.append(
                    (
                        (key, cause),
                        f"{name} was delivered at {short(act.who)} (step {act.number}) before {before}, "
                        f"although {name}'s {course.reading.history} names {before}{later}:",
                    )
                )
        return out

    def _item(self, key: Key) -> Item | None:
        return next((self._course.items[p.number] for p in self._course.packets.get(key, ())), None)

    def _messages_of_step(self) -> list[Key]:
        """Return the messages of the violating step; only the first message if there are too many."""
        sent = (self._course.items[p.number] for p in self._course.broadcasts.get(self._act.number, ()))
        keys = [item.key for item in (self._arrived, *sent) if item is not None]
        keys += [key for key, acts in self._course.deliveries.items() if self._act in acts]
        keys = list(dict.fromkeys(keys))
        return keys if len(keys) <= FEW else keys[:1]

    def _facts(self, key: Key) -> str:
        """Return a line with everything that happened to one message."""
        course = self._course
        name, packets = course.names.name_of(key), course.packets.get(key, [])
        if not packets:
            named = sorted(
                {
                    packet.sender
                    for packet in course.group_trace.packets
                    if (item := course.items[packet.number]) is not None and key in item.causes + item.asks
                }
            )
            by = f", but named by {course.join_names([short(n) for n in named])}" if named else ""
            return f"{name}: never sent by anybody{by}"
        first = packets[0]
        parts = [self._describe_broadcast(first)]
        if copies := packets[1:]:
            parts.append(
                "sent again by " + self._join_described(copies, lambda p: f"{short(p.sender)} {self._time_and_step(p)}")
            )
        parts += self._arrivals_and_losses(key)
        parts += self._describe_fate(key)
        return f"{name}: {'; '.join(parts)}"

    def _describe_broadcast(self, packet: Packet) -> str:
        item, reading = self._course.items[packet.number], self._course.reading
        assert item is not None
        details = [f"{reading.time} timestamp {item.time}" if item.time else f"no {reading.time} timestamp"]
        details.append(f"after {self._course.join_names_of(item.causes)}" if item.causes else f"no {reading.history}")
        kind = "" if item.sort is Sort.CONTENT else f"{item.kind}, "
        return f"{kind}sent by {short(packet.sender)} {self._time_and_step(packet)} ({', '.join(details)})"

    def _time_and_step(self, packet: Packet) -> str:
        return f"at {self._course.format_time(packet.at_ms)}" + (f", step {packet.act}" if packet.act else "")

    def _arrivals_and_losses(self, key: Key) -> list[str]:
        course = self._course
        out = []
        arrivals = course.arrivals.get(key, [])
        if arrivals:
            out.append(
                "arrived at "
                + self._join_described(arrivals, lambda a: f"{self._place(a)}{_ORIGINS.get(a.source, '')}")
            )
        losses: dict[str, list[str]] = {}
        for packet in course.packets[key]:
            for loss in course.losses.get(packet.number, ()):
                losses.setdefault(loss.why, []).append(short(loss.listener))
        out += [_LOST[why].format(course.join_names(list(dict.fromkeys(who)))) for why, who in losses.items()]
        return out

    def _describe_fate(self, key: Key) -> list[str]:
        course = self._course
        out = []
        delivered = course.deliveries.get(key, [])
        sender = course.packets[key][0].sender
        if delivered:
            out.append("delivered at " + self._join_described(delivered, self._place))
        holders = {act.who for act in delivered} | {sender}
        arrived = [a for a in course.arrivals.get(key, ()) if a.trace.declaration.can_by_name(DELIVERED)]
        held = list(dict.fromkeys(act.who for act in arrived if act.who not in holders))
        item = self._item(key)
        if held and item is not None and item.sort is not Sort.SYNC:
            out.append(f"never delivered at {course.join_names([short(who) for who in held])}")
        if course.acknowledged.get(key):
            out.append("acknowledged at " + self._join_described(course.acknowledged[key], self._place))
        return out

    def _place(self, act: Act) -> str:
        return f"{short(act.who)} {self._course.format_time(act.at_ms)} (step {act.number})"

    def _join_described(self, items: Iterable[T], describe: Callable[[T], str]) -> str:
        return self._course.join_names([describe(item) for item in items], 8)


def _cut_middle(lines: list[str]) -> list[str]:
    """Omit lines from the middle of an operation that has too many. The line of the violating step is kept."""
    if len(lines) <= MOST_OF_ONE:
        return lines
    first, last = MOST_OF_ONE * 2 // 3, MOST_OF_ONE // 3
    middle = lines[first:-last]
    blamed = [line for line in middle if line.startswith(">")]
    return [*lines[:first], f"              ... {len(middle) - len(blamed)} more lines", *blamed, *lines[-last:]]


class _Story:
    def __init__(self, course: Course, blamed: Act | None) -> None:
        self._course = course
        self._group_trace = course.group_trace
        self._blamed = blamed
        self._losses: dict[int, list[Loss]] = {}
        """Maps the index of an operation to the losses of the packets that it broadcast."""
        for loss in self._group_trace.losses:
            self._losses.setdefault(loss.packet.operation, []).append(loss)

    def lines(self) -> list[str]:
        acts: dict[int, list[Act]] = {}
        for act in self._group_trace.acts:
            acts.setdefault(act.operation, []).append(act)
        late = {member.name for member in self._group_trace.schedule.members if member.late}
        there = self._course.join_names([short(n) for n in self._group_trace.schedule.names if n not in late], 12)
        out = [f"  {self._course.format_time(0):<9} {there} join{'s' if len(acts.get(-1, ())) == 1 else ''}"]
        out += self._effects(acts.get(-1, []))
        for number, operation in enumerate(self._group_trace.schedule.operations):
            if number not in self._group_trace.began:
                continue
            out += self._operation(number, operation, acts.get(number, []))
        if self._group_trace.breakdown is not None:
            out.append(f"  the conversation with {short(self._group_trace.broken) or 'an implementation'} breaks down")
        if self._group_trace.storm:
            out.append("  stopped: the participants send messages without end")
        return out

    def _operation(self, number: int, op: Operation, acts: list[Act]) -> list[str]:
        own = acts[0] if acts and is_done_by(op, acts[0]) else None
        sent = self._course.scripted_packets.get(number) if own is None else self._course.broadcasts.get(own.number)
        text = describe_operation(op, sent or (), self._course)
        if number in self._group_trace.left_out:
            text += f" - left out: {printable(self._group_trace.left_out[number], 120)}"
        if own is not None:
            text += "".join(f", {part}" for part in self._outcome(own))
        losses = self._losses.get(number, [])
        out = [self._line(text, own, self._course.format_time(self._group_trace.began[number]))]
        out += _cut_middle(self._effects([act for act in acts if act is not own], self._group_trace.began[number]))
        results: dict[tuple[int, str], list[str]] = {}
        for loss in losses:
            if loss.why != "absent":
                results.setdefault((loss.packet.number, loss.why), []).append(short(loss.listener))
        for (packet, why), who in list(results.items())[:12]:
            name = self._course.name(self._group_trace.packets[packet - 1])
            verb = "lose" if len(who) > 1 else "loses"
            out.append(self._line(f"  {self._course.join_names(who, 12)} {verb} {name}{_WHY.get(why, '')}"))
        if len(results) > 12:
            out.append(self._line(f"  and {len(results) - 12} more losses"))
        return out

    def _effects(self, acts: list[Act], began: int = 0) -> list[str]:
        """Describe the results of an operation. If many steps have no effect, these are only counted."""
        quiet = [act for act in acts if act is not self._blamed and not self._counts(act)]
        summed = {act.number for act in quiet} if len(quiet) > QUIET_LINES else set()
        out: list[str] = []
        at = began
        for act in acts:
            has_effects = self._counts(act) or act.step.command in ("receive", *self._course.reading.does)
            if act is self._blamed or (has_effects and act.number not in summed):
                when = self._course.format_time(act.at_ms) if act.at_ms != at else ""
                out.append(self._line(f"  {self.describe_act(act)}", act, when))
                at = act.at_ms
        if heard := sum(act.step.command == "receive" for act in quiet if act.number in summed):
            out.append(self._line(f"  {format_count(heard, 'arrival')} without any effect"))
        return out

    def _counts(self, act: Act) -> bool:
        """Return whether a step had an effect that the story must list."""
        sent = self._course.broadcasts.get(act.number, ())
        content = any(self._course.drawn_kind(packet) != "sync" for packet in sent)
        waits = self._course.fates.get(act.number) in KEPT
        named = act.number in self._course.steps_named or self._course.concerns_finding(act) or bool(self._log(act))
        return content or waits or named or self._course.has_result(act)

    def _log(self, act: Act) -> str:
        """Return the log that a step shows, if the step belongs to the violating operation and the log has messages of
        the finding; else "".
        """
        course, blamed = self._course, self._blamed
        state = course.reading.shown_state(act.step)
        if blamed is None or act.operation != blamed.operation or state is None:
            return ""
        return "" if course.mentioned.isdisjoint(state.log or ()) else course.log_of(act)

    def describe_act(self, act: Act) -> str:
        """Describe a step and its results."""
        arrived = self._course.describe_arrival(act)
        does = {**_DOES, **self._course.reading.does}
        done = f"receives {arrived}" if arrived else does.get(act.step.command, act.step.command.replace("_", " "))
        return ", ".join([f"{short(act.who)} {done}", *self._outcome(act, sent=True)])

    def _outcome(self, act: Act, *, sent: bool = False) -> list[str]:
        fate = self._course.fates.get(act.number)
        out = [f"which {fate.value}"] if fate in KEPT else []
        out += ["which it has already"] if fate is ArrivalFate.AGAIN else []
        out += [text for _, text in self._course.signals(act)]
        # The text of the operation itself describes its first broadcast.
        untold = self._course.list_broadcasts(act)[
            not sent and act.step.command in ("send", *self._course.reading.does) :
        ]
        out += [text] if (text := self._log(act)) else []
        verbs: dict[str, list[str]] = {}
        for packet, verb in untold:
            details = self._course.details(self._course.items[packet.number], blamed=act is self._blamed)
            name = f"{self._course.name(packet)}{details}"
            verbs.setdefault(verb, []).append(name)
        out += [f"{verb} {self._course.join_names(names)}" for verb, names in verbs.items()]
        return out + ([self._course.refusal(act)] if self._course.refusal(act) else [])

    def _line(self, text: str, act: Act | None = None, at: str = "") -> str:
        blamed = act is not None and act is self._blamed
        named = act is not None and (blamed or act.number in self._course.steps_named)
        return f"{'>' if blamed else ' '} {at:<9} {text}" + (f"  <- step {act.number}" if named and act else "")


_DOES = {
    "open": "joins",
    "tick": "does its periodic work",
    "observe": "shows its state",
    "send": "sends",
}
_WHY = {"cut": " (the network is cut)", "crashed": ", having crashed"}
_LOST = {
    "lost": "lost on the way to {}",
    "cut": "cut off from {}",
    "crashed": "too late for {}: crashed",
    "absent": "too early: {} had not joined yet",
}
"""Maps the reason of a loss to a text, which the name of the receiver completes."""
_ORIGINS = {"again": " without a visible origin", "store": " from a store"}
