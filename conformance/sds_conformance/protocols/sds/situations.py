"""Counts the situations that a group trace reached, to measure the coverage of generated schedules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from sds_harness.sds.group_trace import GroupTrace
from sds_harness.sds.stage import bloom_parameters
from sds_reference import Kind

from .view.channel_view import ChannelView

SITUATIONS: dict[str, str] = {
    "equal-lamport": "messages with equal Lamport timestamps in one log",
    "waits": "content that waits for a dependency",
    "waits-deep": "content that waits for other content, which waits itself",
    "delivered-late": "content delivered after it had waited",
    "diamond": "content with two dependencies of different senders",
    "duplicate": "content that had arrived before",
    "concurrent": "content inserted before the end of the log",
    "ahead-of-clock": "Lamport timestamps ahead of the clock",
    "burst": "several messages of one sender in one millisecond",
    "roll-over": "more message IDs than the filter has room for",
    "acknowledged": "messages acknowledged",
    "possibly-acknowledged": "messages possibly acknowledged",
    "resent": "messages sent again by their sender",
    "sync-with-a-gap": "sync messages that reveal a missing message",
    "ephemeral": "ephemeral messages received",
    "repair-requested": "repair requests sent",
    "repair-answered": "repair requests answered",
    "repair-rounds": "messages requested more than once",
    "given-up": "dependencies given up as lost",
    "lost": "copies lost on a link",
    "cut": "copies lost in a partition",
    "crash": "participants that stopped",
    "late-joiner": "participants that joined late",
    "store": "messages fetched from a store",
    "odd": "messages that no conforming sender would send",
    "settled": "groups that became quiet",
    "two-channels": "participants in two channels",
}
"""By situation: its description."""


def situations(group_trace: GroupTrace, views: Iterable[Any]) -> Counter[str]:
    """Count how often a group trace reached each situation. ``views`` are the channel views of its participants."""
    out: Counter[str] = Counter()
    for view in views:
        _of_view(view, out)
    out["lost"] = sum(loss.why == "lost" for loss in group_trace.losses)
    out["cut"] = sum(loss.why == "cut" for loss in group_trace.losses)
    out["crash"] = len(group_trace.crashed)
    out["late-joiner"] = sum(m.late and m.name in group_trace.parties for m in group_trace.schedule.members)
    out["store"] = sum(act.source == "store" for act in group_trace.acts)
    out["settled"] = int(group_trace.settled)
    out["two-channels"] = sum(len(party.channels) > 1 for party in group_trace.parties.values())
    return out


def _of_view(view: ChannelView, out: Counter[str]) -> None:
    asked: Counter[str] = Counter()
    for received in view.received:
        if received.kind is Kind.EPHEMERAL:
            out["ephemeral"] += 1
        elif received.kind is Kind.SYNC:
            out["sync-with-a-gap"] += bool(received.unmet)
        elif received.kind is Kind.CONTENT:
            out["duplicate"] += received.duplicate
            out["waits"] += bool(received.unmet) and not received.duplicate
            out["waits-deep"] += bool(received.unmet_buffered)
            out["diamond"] += len(received.message.causal_history) > 1
        out["odd"] += bool(received.oddity)
    for delivered in view.delivered:
        out["delivered-late"] += delivered.received is not None and delivered.received.step is not delivered.step
    log = view.log
    out["equal-lamport"] += sum(a.lamport == b.lamport for a, b in pairwise(log))
    out["concurrent"] += sum(a.arrival > b.arrival for a, b in pairwise(log))
    times = Counter(sent.step.now_ms for sent in view.sent)
    out["burst"] += sum(count > 1 for count in times.values())
    out["ahead-of-clock"] += sum((sent.message.lamport_timestamp or 0) > sent.step.now_ms for sent in view.sent)
    parameters = bloom_parameters(view.party)
    out["roll-over"] += parameters is not None and len(log) > view.configuration.bloom_capacity
    out["acknowledged"] += sum(not ack.possibly for ack in view.acks)
    out["possibly-acknowledged"] += sum(ack.possibly for ack in view.acks)
    out["resent"] += len(view.copies)
    for sent in view.outgoing:
        asked.update(entry.message_id for entry in sent.message.repair_request)
    out["repair-requested"] += sum(asked.values())
    out["repair-rounds"] += sum(count > 1 for count in asked.values())
    out["repair-answered"] += sum(len(one.answers) for one in view.repair.asked)
    out["given-up"] += len(view.losses)
