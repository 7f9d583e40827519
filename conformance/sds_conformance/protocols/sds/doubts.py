"""The question to ask when most of what is valid is refused, ignored or cannot be read: is another layout spoken?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from sds_harness.declaration import printable
from sds_harness.sds.trace import Step, Trace, Wire, signalled
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind, Message
from sds_reference.testee.dialect import Dialect, dialect_names, load_dialect

from .view.odd_messages import in_another_layout, oddness

_FEW = 2
"""So many messages of all tell more than one that goes wrong."""


@dataclass
class _Heard:
    """What became of all messages of a run that nobody may refuse, and of what was sent."""

    given: int = 0
    refused: int = 0
    ignored: int = 0
    """Without a dependency that has not come as well, and yet never delivered."""
    reasons: Counter[str] = field(default_factory=Counter)
    sent: list[tuple[Step, Wire]] = field(default_factory=list)
    unread: int = 0


def doubts(traces: Iterable[Trace]) -> list[str]:
    """What to say before anything is judged, and what to ask: sentences, none where nothing is in doubt."""
    heard, trace = _Heard(), None
    for trace in traces:
        _listen(trace, heard)
    out = []
    if _most(heard.refused, heard.given):
        reason = printable(heard.reasons.most_common(1)[0][0], 120) or "no reason given"
        out.append(f"{heard.refused} of {heard.given} valid messages were refused ({reason}).")
    elif _most(heard.refused + heard.ignored, heard.given):
        out.append(f"{heard.refused + heard.ignored} of {heard.given} valid messages came to nothing.")
    if _most(heard.unread, len(heard.sent)):
        out.append(f"{heard.unread} of {len(heard.sent)} messages that it sent cannot be read.")
    return [*out, _question(heard, trace)] if out and trace is not None else []


def _question(heard: _Heard, trace: Trace) -> str:
    used = trace.dialect.name if trace.dialect is not None else ""
    fitting = _fitting(heard, trace)
    if not heard.sent or fitting == used:
        layout = f"the dialect {used}" if used else "the layout of the text"
        reads = f"What it sends is in {layout}. " if heard.sent else ""
        return f"{reads}Does the adapter hand the bytes of `receive` over as they are, and to the right channel?"
    if fitting is None:
        known = ", ".join(dialect_names())
        return (
            f"A private wire layout that was not declared? None that is known here fits ({known}): describe it in a "
            f".json file for --dialect."
        )
    if used:
        return f"Is {used} the wrong dialect? What it sends is in " + (
            f"the dialect {fitting}: try --dialect {fitting}" if fitting else "the layout of the text: declare none"
        )
    return (
        f"A private wire layout that was not declared? What it sends is in the dialect {fitting}: try "
        f"--dialect {fitting}, or declare it in the handshake, and all is judged after translation."
    )


def _most(some: int, of_all: int) -> bool:
    return some >= _FEW and 2 * some > of_all


def _listen(trace: Trace, heard: _Heard) -> None:
    told = trace.declaration.can(pb.CAPABILITY_DELIVERED)
    signals = {i for step in trace.steps for event in step.events for i in signalled(event)}
    everywhere: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    """What came to a participant in a channel, or was sent there."""
    for step in trace.steps:
        for message in step.messages:
            everywhere[step.participant, message.channel_id].add(message.message_id)
        party = trace.parties.get(step.participant)
        if party is None:
            continue
        if (arrived := step.arrived) is not None and arrived.channel_id in party.channels:
            came = everywhere[step.participant, arrived.channel_id]
            regular = arrived.kind in (Kind.CONTENT, Kind.SYNC) and arrived.sender_id != party.participant_id
            if regular and not oddness(arrived, step.now_ms, trace.declaration, trace.revision.wire.max_lamport):
                heard.given += 1
                met = came.issuperset(entry.message_id for entry in arrived.causal_history)
                due = told and arrived.kind is Kind.CONTENT and met
                came.add(arrived.message_id)
                heard.ignored += due and step.answer != "rejected" and arrived.message_id not in signals
                if step.answer == "rejected" and step.reply is not None:
                    heard.refused += 1
                    heard.reasons[step.reply.rejected.reason] += 1
        if step.command.startswith("send"):
            heard.sent += [(step, wire) for wire in step.broadcasts]
            heard.unread += sum(not _reads(step, wire.message) for wire in step.broadcasts)


def _reads(step: Step, message: Message | None) -> bool:
    # Without a named channel the implementation has one of its own.
    return message is not None and not in_another_layout(message, step.channel_id or message.channel_id)


def _fitting(heard: _Heard, trace: Trace) -> str | None:
    """The dialect that most of what was sent can be read in, "" for the layout of the text; None if there is none."""
    layouts: list[Dialect | None] = [trace.dialect, None, *map(load_dialect, dialect_names())]
    for dialect in layouts:
        wires = ((step, Wire(wire.raw, dialect, trace.revision.wire)) for step, wire in heard.sent)
        if 2 * sum(_reads(step, wire.message) for step, wire in wires) > len(heard.sent):
            return dialect.name if dialect is not None else ""
    return None
