"""Section EPHEMERAL: "Ephemeral Messages"."""

from __future__ import annotations

from collections.abc import Iterator

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from .....judging.judgement import Observation, held, judged, violated
from ...register import check
from ...view.channel_view import ChannelView
from ...view.facts import Received
from ...view.histories import ephemeral_ids, hybrid_ids, is_hybrid
from ...view.losses import may_be_lost
from ...view.refusals import offered
from .receive import quiet_after
from .send import ordinary_sends, taken
from .sync import in_no_history, in_no_log, meets_no_dependency


@check("SDS-EPHEMERAL-01", pb.CAPABILITY_EPHEMERAL, of="ephemerals")
def broadcast_once(view: ChannelView) -> Iterator[Observation]:
    """Sending an ephemeral message broadcasts it once, whatever else is due."""
    for sent in view.ephemerals:
        message_id = sent.message.message_id
        count = sum(m.message_id == message_id or m.kind is Kind.EPHEMERAL for m in sent.step.messages)
        yield judged(
            sent.step,
            "broadcast-twice" if count else "not-broadcast",
            count == 1,
            "one ephemeral message broadcast",
            f"{count}",
        )


@check("SDS-EPHEMERAL-01", pb.CAPABILITY_EPHEMERAL)
def ordinary_ephemerals_are_broadcast(view: ChannelView) -> Iterator[Observation]:
    """Who says that it sends ephemeral messages takes ordinary content for one."""
    yield from map(taken, ordinary_sends(view, "send_ephemeral"))


_SET = {"lamport_timestamp": "timestamp-set", "causal_history": "history-set", "bloom_filter": "filter-set"}
"""By field: the code of an ephemeral message that has it."""


@check("SDS-EPHEMERAL-02", pb.CAPABILITY_EPHEMERAL, of="ephemerals")
def fields_unset(view: ChannelView) -> Iterator[Observation]:
    """Lamport timestamp, causal history and filter are unset."""
    for sent in view.ephemerals:
        message = sent.message
        fields = [
            name
            for name, is_set in (
                ("lamport_timestamp", message.lamport_timestamp is not None),
                ("causal_history", bool(message.causal_history)),
                ("bloom_filter", message.bloom_filter is not None),
            )
            if is_set
        ]
        expected = "lamport_timestamp, causal_history and bloom_filter unset"
        yield judged(sent.step, _SET[fields[0]] if fields else "", not fields, expected, f"{', '.join(fields)} set")


@check("SDS-EPHEMERAL-03", pb.CAPABILITY_EPHEMERAL, pb.CAPABILITY_RESEND, pb.CAPABILITY_VIRTUAL_CLOCK, of="ephemerals")
def not_buffered(view: ChannelView) -> Iterator[Observation]:
    """An ephemeral message is not in the outgoing buffer and never broadcast again."""
    own = {sent.message.message_id: sent for sent in view.ephemerals if not sent.repeat}
    again = [(step, wire.message) for step, wire in view.strays if wire.message and wire.message.message_id in own]
    for step, message in again:
        yield violated(
            step, "kept-for-resending", f"the ephemeral message {message.message_id!r} never broadcast again", "a copy"
        )
    for observed in view.observed:
        buffered = set(own) & {entry.message_id for entry in observed.state.outgoing.entries}
        earlier = [s for s in own.values() if s.step.index < observed.step.index]
        if buffered:
            yield violated(
                observed.step,
                "kept-for-resending",
                "no ephemeral message in the outgoing buffer",
                f"{min(buffered)!r} in it",
            )
        elif earlier and observed.state.HasField("outgoing"):
            yield held(observed.step)
    for tick in view.ticks if not again else ():
        if any(s.step.index < tick.index and s.step.now_ms < tick.now_ms for s in own.values()):
            yield held(tick)


@check("SDS-EPHEMERAL-04", pb.CAPABILITY_DELIVERED, of="ephemeral-came")
def delivered_at_once(view: ChannelView) -> Iterator[Observation]:
    """A received ephemeral message is delivered immediately, whatever else waits."""
    for received in offered(view):
        if received.kind is not Kind.EPHEMERAL or received.own or received.odd:
            continue
        earlier = (d.message_id for d in view.delivered if d.step.index < received.step.index)
        if is_hybrid(received) or received.message.message_id in earlier:
            continue  # SDS-EPHEMERAL-06, or a second copy: one event or two (AMB-38)
        if received.delivered_at_once:
            yield held(received.step)
        elif received.delivered:
            expected = f"the ephemeral message {received.message.message_id!r} delivered at once"
            yield violated(
                received.step,
                "delivered-late",
                expected,
                f"its delivery only at step {received.delivered[0].step.index}",
            )
        else:
            expected = f"the ephemeral message {received.message.message_id!r} delivered to the application"
            yield violated(
                received.step,
                "refused" if received.rejected else "never-delivered",
                expected,
                received.refusal if received.rejected else "nothing",
            )


@check("SDS-EPHEMERAL-05", of="any-ephemeral")
def not_logged(view: ChannelView) -> Iterator[Observation]:
    """Ephemeral messages are in no log and in no causal history."""
    yield from in_no_history(view, "ephemeral message", ephemeral_ids, code="logged")
    yield from in_no_log(view, "ephemeral message", ephemeral_ids)


@check("SDS-EPHEMERAL-05", pb.CAPABILITY_DELIVERED, of="any-ephemeral received unmet")
def no_dependency_is_met_by_them(view: ChannelView) -> Iterator[Observation]:
    """A message that depends on an ephemeral one waits: what is in no log meets no dependency.

    Nor does one that comes later, and has the ID of what is missing.
    """
    yield from meets_no_dependency(view, "ephemeral, and never in the log", ephemeral_ids)
    logged = (d for d in view.delivered if d.received is not None and d.received.kind is Kind.CONTENT)
    came = {(delivery.message_id, delivery.step.index) for delivery in logged}
    waiting: dict[str, list[Received]] = {}
    for received in view.received:
        for message_id in received.unmet if received.acceptable else ():
            waiting.setdefault(message_id, []).append(received)
    for late in view.received:
        if late.kind is not Kind.EPHEMERAL or late.own or is_hybrid(late):
            continue
        message_id = late.message.message_id
        for received in waiting.get(message_id, ()):
            if received.step.index > late.step.index:
                continue
            since = (d for d in received.delivered if d.step.index >= late.step.index and message_id in d.unmet)
            freed = [d for d in since if (message_id, d.step.index) not in came]  # else SDS-DELIVER-07
            if freed and not may_be_lost(view, [message_id, freed[0].message_id], freed[0].step):
                expected = f"{received.message.message_id!r} to wait for {message_id!r}: an ephemeral message is none"
                yield violated(freed[0].step, "met-a-dependency", expected, "its delivery")
            elif not freed:
                yield held(late.step)


@check("SDS-EPHEMERAL-06", of="ephemeral-came")
def hybrids_are_not_logged(view: ChannelView) -> Iterator[Observation]:
    """Content without a Lamport timestamp has no place in the log, whatever else it carries."""
    yield from in_no_history(view, "message without a Lamport timestamp", hybrid_ids, code="logged")
    yield from in_no_log(view, "message without a Lamport timestamp", hybrid_ids)
    if view.can(pb.CAPABILITY_DELIVERED):
        yield from meets_no_dependency(view, "without a Lamport timestamp, and never in the log", hybrid_ids)


@check("SDS-EPHEMERAL-06", pb.CAPABILITY_DELIVERED, of="ephemeral-came")
def hybrids_are_delivered(view: ChannelView) -> Iterator[Observation]:
    """Content without a Lamport timestamp is delivered at once, or when what it names has been delivered (AMB-31).

    Waiting for ever for what never comes is legal. Where no ephemeral message is delivered at all, hybrids were not
    mistaken for anything else.
    """
    ephemeral = [r for r in offered(view) if r.kind is Kind.EPHEMERAL and not (r.own or r.odd)]
    delivers_others = any(r.delivered and not is_hybrid(r) for r in ephemeral)
    seen: set[str] = set()
    for received in ephemeral:
        message_id = received.message.message_id
        if not is_hybrid(received) or message_id in seen | view.known_ids:
            continue
        seen.add(message_id)
        if received.delivered:
            yield held(received.step)
            continue
        due = received.unmet <= view.logged_ids and (received.rejected or quiet_after(view, received))
        if due and delivers_others and (not received.unmet or view.can(pb.CAPABILITY_VIRTUAL_CLOCK)):
            why = "ephemeral because it has no Lamport timestamp"
            expected = f"{message_id!r}, {why}, delivered: all that it names has been"
            yield violated(
                received.step,
                "refused" if received.rejected else "never-delivered",
                expected,
                received.refusal if received.rejected else "nothing",
            )
