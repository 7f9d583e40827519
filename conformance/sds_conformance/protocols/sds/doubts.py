"""Warnings about a run in which most messages or commands failed, with a question to the user.

If most valid messages are refused, ignored or unreadable, the implementation may use another wire layout. If a command
ends the conversation most of the time, the adapter must be repaired first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial

from sds_harness.declaration import printable
from sds_harness.sds.language import CAPABILITY_OF_COMMAND, SDS
from sds_harness.sds.trace import Trace, Wire
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import REVISIONS, Kind, Message
from sds_reference.testee.dialect import Dialect, dialect_names, load_dialect

from .view.declared_limits import limit_in_force
from .view.odd_messages import describe_oddity, in_another_layout

_FEW = 2
"""Minimum number of messages for the conclusion that a common failure is not a coincidence."""
_SAMPLES = 3
"""Number of sent messages of a run that are kept to detect their layout."""
_NARROW = (31, 32, 53)
"""Sizes, in bits, of integers that are too small for Lamport timestamps and that implementations use by mistake."""


@dataclass
class Heard:
    """How many valid messages, sent messages and commands of one or more runs failed."""

    dialect: Dialect | None = None
    revision: str = ""

    given: int = 0
    """The number of valid messages that participants received."""
    refused: int = 0
    """The number of valid messages that were refused."""
    ignored: int = 0
    """The number of valid messages that were never delivered although all of their dependencies had arrived."""
    reasons: Counter[str] = field(default_factory=Counter)
    """The reasons of refusals, with their numbers."""
    sent: int = 0
    """The number of messages that the implementation sent."""
    unread: int = 0
    """The number of sent messages that cannot be read."""
    samples: list[tuple[str, bytes]] = field(default_factory=list)
    """Some of the sent messages: (channel ID, bytes)."""
    asked: Counter[str] = field(default_factory=Counter)
    """By command: how often it was called."""
    broke: dict[str, Counter[str]] = field(default_factory=dict)
    """By command that ended a run with a breakdown: the descriptions of the breakdowns, with their numbers."""
    timestamps: dict[bool, Counter[int]] = field(default_factory=lambda: {True: Counter(), False: Counter()})
    """For refused messages (True) and accepted messages (False): the bit lengths of their Lamport timestamps, with
    their numbers.
    """


def doubts(of_runs: Iterable[Heard]) -> list[str]:
    """Return the warnings about runs; empty if there are none."""
    heard = Heard()
    for one in of_runs:
        _add(heard, one)
    out = []
    if _most(heard.refused, heard.given):
        reason = printable(heard.reasons.most_common(1)[0][0], 120) or "no reason given"
        out.append(f"{heard.refused} of {heard.given} valid messages were refused ({reason}).")
    elif _most(heard.refused + heard.ignored, heard.given):
        out.append(f"{heard.refused + heard.ignored} of {heard.given} valid messages had no effect.")
    if _most(heard.unread, heard.sent):
        out.append(f"{heard.unread} of {heard.sent} messages that the implementation sent cannot be read.")
    if out:
        out.append(_of_timestamps(heard) or _question(heard))
    return [*_breaking(heard), *out]


def _breaking(heard: Heard) -> list[str]:
    """Describe the commands that ended the conversation most of the times that they were sent, and what to do."""
    out = []
    for command, reasons in heard.broke.items():
        if not _most(reasons.total(), heard.asked[command]):
            continue
        what = printable(reasons.most_common(1)[0][0], 160)
        times = f"{reasons.total()} of {heard.asked[command]} times"
        capability = CAPABILITY_OF_COMMAND.get(command)
        withdraw = f", or remove {SDS.name_of(capability)} from the answer to Hello" if capability else ""
        out += [
            f"{times} that `{command}` was sent, the conversation broke ({what}). The rest of these runs was not "
            "played, and has no verdict.",
            f"Repair `{command}` in the adapter{withdraw}, and try it with `sds-conformance smoke`.",
        ]
    return out


def _of_timestamps(heard: Heard) -> str:
    """Describe refusals of Lamport timestamps that need more bits than an integer of a common size has; "" if there are
    none.

    Some of these messages may be accepted, because an implementation that misreads the number can still read the rest.
    """
    taken, refused = heard.timestamps[False], heard.timestamps[True]
    for bits in _NARROW:
        short = sum(times for length, times in taken.items() if length <= bits)
        long = taken.total() - short + refused.total()
        of_these = refused.total()
        if short >= _FEW and _most(of_these, long) and not any(length <= bits for length in refused):
            return (
                f"The implementation accepted all {short} messages whose Lamport timestamp has at most {bits} bits, "
                f"and refused {of_these} of {long} messages with a longer timestamp. Does it read field 10 as an "
                "unsigned integer of 64 bits?"
            )
    return ""


def _question(heard: Heard) -> str:
    used, fitting = heard.dialect.name if heard.dialect is not None else "", _fitting(heard)
    if not heard.sent or fitting == used:
        layout = f"the dialect {used}" if used else "the layout of the specification"
        reads = f"The messages of the implementation are in {layout}. " if heard.sent else ""
        return f"{reads}Does the adapter pass the bytes of `receive` on unchanged, and to the right channel?"
    if fitting is None:
        known = ", ".join(dialect_names())
        return (
            "Does the implementation use a private wire layout that was not declared? None of the known dialects "
            f"({known}) fits: describe the layout in a .json file for --dialect."
        )
    if used:
        return f"Is {used} the wrong dialect? The messages of the implementation are in " + (
            f"the dialect {fitting}: try --dialect {fitting}"
            if fitting
            else "the layout of the specification: declare no dialect"
        )
    return (
        "Does the implementation use a private wire layout that was not declared? Its messages are in the dialect "
        f"{fitting}: try --dialect {fitting}, or declare the dialect in the handshake. Then everything is judged after "
        "translation."
    )


def _most(some: int, of_all: int) -> bool:
    return some >= _FEW and 2 * some > of_all


def _add(heard: Heard, one: Heard) -> None:
    # A trace that was translated for the checks no longer has a dialect.
    heard.dialect, heard.revision = one.dialect or heard.dialect, one.revision
    heard.given += one.given
    heard.refused += one.refused
    heard.ignored += one.ignored
    heard.sent += one.sent
    heard.unread += one.unread
    heard.samples += one.samples
    heard.reasons += one.reasons
    heard.asked += one.asked
    for command, reasons in one.broke.items():
        heard.broke.setdefault(command, Counter()).update(reasons)
    for refused, bits in one.timestamps.items():
        heard.timestamps[refused] += bits


def extract_doubt_data(trace: Trace) -> Heard:
    """Count the failures in a trace."""
    heard = Heard(trace.dialect, trace.revision.name)
    shows_deliveries = trace.declaration.can(pb.CAPABILITY_DELIVERED)
    limits = partial(limit_in_force, trace)
    signals = {i for step in trace.steps for event in step.events for i in event.message_ids}
    everywhere: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    """By participant and channel: the IDs of the messages that arrived there, or that the participant sent."""
    if trace.breakdown is not None and trace.steps:
        heard.broke[trace.steps[-1].command] = Counter([trace.breakdown.detail])
    for step in trace.steps:
        heard.asked[step.command] += 1
        for message in step.messages:
            everywhere[step.participant, message.channel_id].add(message.message_id)
        party = trace.parties.get(step.participant)
        if party is None:
            continue
        if (arrived := step.arrived) is not None and arrived.channel_id in party.channels:
            came = everywhere[step.participant, arrived.channel_id]
            regular = arrived.kind in (Kind.CONTENT, Kind.SYNC) and arrived.sender_id != party.participant_id
            if regular and not describe_oddity(arrived, step.now_ms, limits, trace.revision.wire.max_lamport):
                heard.given += 1
                refused = step.answer == "rejected"
                heard.timestamps[refused][(arrived.lamport_timestamp or 0).bit_length()] += 1
                met = came.issuperset(entry.message_id for entry in arrived.causal_history)
                due = shows_deliveries and arrived.kind is Kind.CONTENT and met
                came.add(arrived.message_id)
                heard.ignored += due and not refused and arrived.message_id not in signals
                if refused and step.reply is not None:
                    heard.refused += 1
                    heard.reasons[step.reply.rejected.reason] += 1
        if step.command.startswith("send"):
            heard.sent += len(step.broadcasts)
            heard.unread += sum(not _reads(step.channel_id, wire.message) for wire in step.broadcasts)
            more = step.broadcasts[: _SAMPLES - len(heard.samples)]
            heard.samples += [(step.channel_id, wire.raw) for wire in more]
    return heard


def _reads(channel_id: str, message: Message | None) -> bool:
    # If the command has no channel ID, the implementation chooses the channel.
    return message is not None and not in_another_layout(message, [channel_id or message.channel_id])


def _fitting(heard: Heard) -> str | None:
    """The dialect in which most sent messages can be read; "" for the layout of the specification, None if none
    fits.
    """
    layouts: list[Dialect | None] = [heard.dialect, None, *map(load_dialect, dialect_names())]
    for dialect in layouts:
        wires = ((channel, Wire(raw, dialect, REVISIONS[heard.revision].wire)) for channel, raw in heard.samples)
        if 2 * sum(_reads(channel, wire.message) for channel, wire in wires) > len(heard.samples):
            return dialect.name if dialect is not None else ""
    return None
