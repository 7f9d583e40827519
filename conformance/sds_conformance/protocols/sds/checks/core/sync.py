"""Section SYNC: "Periodic Sync Message"."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from .....judging.judgement import Observation, held, judged, violated
from ...register import check
from ...view.channel_view import ChannelView
from ...view.facts import Sent
from ...view.filters import ENOUGH
from ...view.histories import Since, sync_ids
from ...view.lateness import settled
from ...view.repair_tracker import NEVER
from ...view.resends import given_up
from .receive import acknowledged_by, judge_mention
from .send import (
    history_end,
    judge_history,
    judge_members,
    judge_strangers,
    received_before,
    tied_at_the_edge,
)

_UNEVEN = 3
"""Sync messages that may be early."""

IdsSince = Callable[[ChannelView], Since]
"""IDs of messages of a kind that is in no log, of those before a step."""


@check("SDS-SYNC-01", pb.CAPABILITY_PERIODIC_SYNC, pb.CAPABILITY_VIRTUAL_CLOCK, of="sent ticks")
def syncs_are_sent_periodically(view: ChannelView) -> Iterator[Observation]:
    """An idle participant sends sync messages in each of its channels.

    It is idle after the last that was broadcast in the channel: "a participant MAY choose to only send periodic sync
    messages if no other messages have been broadcast", and copies of its own are such messages.
    """
    interval = view.configuration.sync_interval_ms
    if not interval or not view.ticks or not view.sent:
        return
    steps = [s.step for s in view.sent + view.syncs if s.step.command != "tick"] + [r.step for r in view.received]
    idle_since = max(steps + _other_broadcasts(view), key=lambda step: step.index)
    # A clock that stepped back does not shorten the wait: the implementation may count from the latest time it saw.
    latest = max(step.now_ms for step in view.trace.of(view.party.name) if step.index <= idle_since.index)
    late = [t for t in view.ticks if t.index > idle_since.index and t.now_ms >= latest + 10 * interval]
    busy_until = max(step.index for step in steps)
    automatic = [s for s in view.syncs if s.step.command == "tick" and s.step.index > busy_until]
    if automatic:
        yield held(automatic[0].step)
    elif late:
        yield violated(late[0], "never-sent", f"a sync message within ten intervals of {interval} ms", "none")


def _other_broadcasts(view: ChannelView) -> list[Step]:
    """Where own copies and ephemeral messages went out, for which a sync message may wait."""
    return [copy.step for copy in view.copies] + [s.step for s in view.ephemerals]


@check("SDS-SYNC-01", pb.CAPABILITY_PERIODIC_SYNC, pb.CAPABILITY_VIRTUAL_CLOCK, of="syncs")
def syncs_go_on(view: ChannelView) -> Iterator[Observation]:
    """An idle participant sends sync messages again and again."""
    interval = view.configuration.sync_interval_ms
    automatic = [s.step for s in view.syncs if s.step.command == "tick"]
    if not interval or not automatic:
        return
    last = automatic[-1]
    latest = max(step.now_ms for step in view.trace.of(view.party.name) if step.index <= last.index)
    busy = [r.step for r in view.received] + [s.step for s in view.sent + view.syncs] + _other_broadcasts(view)
    late = [t for t in view.ticks if t.index > last.index and t.now_ms >= latest + 10 * interval]
    if any(step.index > last.index for step in busy):
        return
    if late:
        yield violated(
            late[0], "stopped-sending", f"another sync message within ten intervals of {interval} ms", "none"
        )
    elif len(automatic) > 1:
        yield held(last)


@check("SDS-SYNC-01", pb.CAPABILITY_PERIODIC_SYNC, pb.CAPABILITY_VIRTUAL_CLOCK, of="syncs")
def syncs_keep_to_their_period(view: ChannelView) -> Iterator[Observation]:
    """Periodic sync messages are not sent at whatever rate the work runs, be there requests to send or not.

    They may be uneven, and who fell behind may catch up: what counts is how many there are since the beginning, and
    they are too many where there are more than twice as many as intervals. A clock that went back may make one due.
    """
    interval = view.configuration.sync_interval_ms
    automatic = {s.step.index for s in view.syncs if s.step.command == "tick"} if interval else ()
    before, allowed, seen = view.party.opened_ms, float(_UNEVEN), 0
    for tick in (step for step in view.trace.of(view.party.name) if automatic and step.now_ms):
        allowed += 1 if tick.now_ms < before else 2 * (tick.now_ms - before) / interval
        before, seen = tick.now_ms, seen + (tick.index in automatic)
        if tick.index in automatic and seen > allowed:
            expected = f"sync messages at intervals of {interval} ms, {allowed:.0f} by now if they are uneven"
            yield violated(tick, "too-often", expected, f"{seen}, at any time that the work runs")
            return
    if len(automatic) > 1:
        yield held(view.trace.steps[max(automatic) - 1])


@check("SDS-SYNC-02", pb.CAPABILITY_SYNC, of="syncs")
def sync_content_empty(view: ChannelView) -> Iterator[Observation]:
    """Sync messages have no content."""
    for sync in view.syncs:
        content = sync.message.content or b""
        yield judged(
            sync.step, "content-set", not content, "a sync message without content", f"{len(content)} bytes of it"
        )


@check("SDS-SYNC-03", pb.CAPABILITY_SYNC, of="syncs")
def sync_has_a_lamport_timestamp(view: ChannelView) -> Iterator[Observation]:
    """A sync message has a Lamport timestamp."""
    for sync in view.syncs:
        if sync.message.lamport_timestamp is None:
            yield violated(sync.step, "missing-timestamp", "a sync message with a Lamport timestamp", "none")


@check("SDS-SYNC-04", pb.CAPABILITY_SYNC, of="syncs")
def sync_history(view: ChannelView) -> Iterator[Observation]:
    """A sync message has the causal history that a regular one would have."""
    for sync in view.syncs:
        expected = history_end(view, sync)
        if expected and not tied_at_the_edge(sync, expected):
            yield from judge_history(view, sync, expected)


@check("SDS-SYNC-05", pb.CAPABILITY_SYNC, of="syncs")
def sync_filter(view: ChannelView) -> Iterator[Observation]:
    """A sync message's filter holds every received content ID."""
    for sync in view.syncs:
        expected = received_before(view, sync, delivered=True)
        holds = view.filter_of(sync.message.bloom_filter)
        if expected and holds is not None:
            yield from judge_members(sync.step, holds, expected, "{}, received before, in the filter of the sync")


@check("SDS-SYNC-06", pb.CAPABILITY_SYNC, pb.CAPABILITY_VIRTUAL_CLOCK, of="syncs")
def syncs_are_not_buffered(view: ChannelView) -> Iterator[Observation]:
    """A sync message is not in the outgoing buffer and never broadcast again."""
    ids = {sync.message.message_id for sync in view.syncs} - view.known_ids
    for step, wire in view.strays:
        here = wire.message is not None and wire.message.channel_id == view.channel_id
        if wire.message is not None and here and wire.message.message_id in ids:
            yield violated(
                step,
                "kept-for-resending",
                f"the sync message {wire.message.message_id!r} never broadcast again",
                "a copy",
            )
    seen: dict[str, Sent] = {}
    for sync in view.syncs:
        if (
            sync.step.command == "tick"
            and sync.message.message_id in seen
            and not sync.lamport.tolerates(sync.message.lamport_timestamp or 0)
        ):
            yield violated(
                sync.step,
                "kept-for-resending",
                f"the sync message {sync.message.message_id!r} never broadcast again",
                "a copy",
            )
        seen[sync.message.message_id] = sync
    for observed in view.observed:
        earlier = {s.message.message_id for s in view.syncs if s.step.index < observed.step.index}
        buffered = earlier & {entry.message_id for entry in observed.state.outgoing.entries}
        if buffered - view.known_ids:
            yield violated(
                observed.step,
                "kept-for-resending",
                "no sync message in the outgoing buffer",
                f"{min(buffered)!r} in it",
            )
        elif earlier and observed.state.HasField("outgoing"):
            yield held(observed.step)
    for tick in view.ticks:
        if any(s.step.index < tick.index and s.step.now_ms < tick.now_ms for s in view.syncs):
            yield held(tick)


@check("SDS-SYNC-07", of="any-sync outgoing")
def syncs_in_no_history(view: ChannelView) -> Iterator[Observation]:
    """Neither own nor received sync messages are named in causal histories."""
    return in_no_history(view, "sync message", sync_ids, code="named-in-history")


def in_no_history(view: ChannelView, what: str, ids_since: IdsSince, *, code: str) -> Iterator[Observation]:
    """Own messages name none of these. Own ones alone do not show it: those that come are meant as well."""
    since, come = ids_since(view), _first_come(view, ids_since)
    for sent in view.outgoing:
        at = sent.step.index
        named = next((message_id for message_id in sent.history if since.get(message_id, NEVER) < at), None)
        if named is not None or come < at:
            yield judged(sent.step, code, named is None, f"no {what} in causal_history", f"{named!r}")


def in_no_log(view: ChannelView, what: str, ids_since: IdsSince) -> Iterator[Observation]:
    """The log that is shown has none of these. Own ones alone do not show it, either."""
    since, come = ids_since(view), _first_come(view, ids_since)
    for observed in view.showing("log") if since else ():
        at = observed.step.index
        logged = {i for i in observed.step.shown_log if since.get(i, NEVER) < at}
        if logged or come < at:
            yield judged(
                observed.step, "logged", not logged, f"no {what} in the log", f"{min(logged, default='')!r} in it"
            )


def _first_come(view: ChannelView, ids_since: IdsSince) -> int:
    """Index of the step since which there is one of these that came."""
    return min((index for message_id, index in ids_since(view).items() if message_id in view.arrivals), default=NEVER)


def meets_no_dependency(view: ChannelView, why: str, ids_since: IdsSince) -> Iterator[Observation]:
    """What depends on one of these is not delivered."""
    since = ids_since(view)
    for received in view.received if since and not view.gives_up else ():
        if not received.unmet or not received.acceptable:
            continue
        if on := [message_id for message_id in received.unmet if since.get(message_id, NEVER) < received.step.index]:
            expected = f"{received.message.message_id!r} to wait: {min(on)!r} is {why}"
            yield judged(received.step, "met-a-dependency", not received.delivered, expected, "its delivery")


@check("SDS-SYNC-08", of="any-sync outgoing")
def syncs_in_no_filter(view: ChannelView) -> Iterator[Observation]:
    """Sync messages do not enter bloom filters."""
    if len(sync_ids(view)) < ENOUGH:
        return
    own = {s.message.message_id for s in view.syncs}
    came = [
        (r.step.index, (r.message.content is not None, bool(r.unmet)), r.message.message_id)
        for r in view.received
        if r.kind is Kind.SYNC
    ]
    for sent in view.outgoing:
        syncs = {message_id for message_id, since in sync_ids(view).items() if since < sent.step.index}
        holds = view.filter_of(sent.message.bloom_filter)
        if holds is None or len(syncs) < ENOUGH or sent.repeat:
            continue
        kinds: dict[object, set[str]] = {"own": own & syncs}
        for index, kind, message_id in came:
            if index < sent.step.index and message_id in syncs:
                kinds.setdefault(kind, set()).add(message_id)
        if len(kinds) == 1:
            continue  # own ones alone do not show it
        for which in kinds.values():
            yield from judge_strangers(sent.step, holds, which, "no sync message in the filter", code="in-filter")


@check("SDS-SYNC-08", pb.CAPABILITY_SYNC, of="syncs")
def syncs_do_not_change_the_filter(view: ChannelView) -> Iterator[Observation]:
    """A filter that is the same in two sync messages in a row is the same after received ones: the bloom delta."""
    for first, second, third in zip(view.syncs, view.syncs[1:], view.syncs[2:], strict=False):
        if first.message.bloom_filter is None or first.message.bloom_filter != second.message.bloom_filter:
            continue  # an encoding that differs each time, or own sync messages in it: the change tells nothing
        between = _only_syncs_between(view, second, third)
        if not between or _only_syncs_between(view, first, second) != 0:
            continue
        expected = f"the same filter as before {between} sync messages arrived"
        yield judged(
            third.step, "in-filter", third.message.bloom_filter == second.message.bloom_filter, expected, "another"
        )


def _only_syncs_between(view: ChannelView, before: Sent, after: Sent) -> int | None:
    """Number of sync messages that arrived between two own ones, None if anything else happened, or time passed.

    In the steps of these two, nothing else may have happened either: content that was sent or that arrived.
    """
    steps = [s for s in view.trace.of(view.party.name) if before.step.index < s.index < after.step.index]
    syncs = [r for r in view.received if before.step.index < r.step.index < after.step.index and r.kind is Kind.SYNC]
    silent = len(steps) == len(syncs) and not any(step.broadcasts or step.events for step in steps)
    silent &= all(_alone(sync.step) for sync in (before, after))
    return len(syncs) if silent and before.step.now_ms == after.step.now_ms else None


def _alone(step: Step) -> bool:
    """Did it send a sync message, and nothing else happened that may enter a filter?"""
    return step.command in ("send_sync", "tick") and not step.events and all(m.kind is Kind.SYNC for m in step.messages)


@check("SDS-SYNC-09", of="any-sync")
def syncs_not_logged(view: ChannelView) -> Iterator[Observation]:
    """Sync messages are not in the log, nor do they satisfy a dependency."""
    yield from in_no_log(view, "sync message", sync_ids)
    if view.can(pb.CAPABILITY_DELIVERED):
        yield from meets_no_dependency(view, "a sync message, never in the log", sync_ids)


@check("SDS-SYNC-10", of="mentions sync-came")
def repeated_sync_ids(view: ChannelView) -> Iterator[Observation]:
    """A sync message counts although its ID was used by an earlier one."""
    seen: set[str] = set()
    for received in view.received:
        if received.kind is not Kind.SYNC or received.own:
            continue
        for mention in view.mentions if received.message.message_id in seen else ():
            if mention.received is received and mention.certain:
                yield from judge_mention(view, mention, "acknowledged by a sync message whose ID was used before")
        seen.add(received.message.message_id)


@check("SDS-SYNC-12", of="sync-came")
def syncs_are_processed(view: ChannelView) -> Iterator[Observation]:
    """Causal history and filter of a sync message are processed like those of a regular one."""
    for mention in view.mentions + view.unheard:
        if mention.received.kind is not Kind.SYNC:
            continue
        if mention.received.rejected:
            result: bool | None = False
        elif mention.certain:
            result = acknowledged_by(view, mention.received, mention.message_id)
        elif view.can(pb.CAPABILITY_POSSIBLY_ACKNOWLEDGED):
            acks = view.standing(mention.message_id).acks
            result = any(ack.step.index <= mention.received.step.index for ack in acks)
        else:
            continue
        what = "acknowledged" if mention.certain else "possibly acknowledged"
        result = settled(view, mention, result)
        if result is not None:
            soft = given_up(view, mention.message_id, mention.received.step.index)
            expected = f"{mention.message_id!r} {what} by the sync message"
            seen = mention.received.refusal if mention.received.rejected else "no sign of it"
            yield judged(
                mention.received.step,
                "refused"
                if mention.received.rejected
                else "not-acknowledged"
                if mention.certain
                else "not-possibly-acknowledged",
                result,
                expected,
                seen,
                soft,
            )
    for received in view.refused if view.terms.on else ():
        gaps = [i for i in received.unmet if view.repair.original(i) is None]
        if received.kind is Kind.SYNC and received.valid and gaps:
            yield violated(
                received.step, "refused", f"{min(gaps)!r} found missing by the sync message", received.refusal
            )


@check("SDS-SYNC-13", pb.CAPABILITY_DELIVERED, of="received sync-came unmet")
def syncs_with_gaps_not_persisted(view: ChannelView) -> Iterator[Observation]:
    """A sync message with unmet dependencies is never delivered or logged, not even when they have come."""
    for received in view.received:
        if received.kind is not Kind.SYNC or received.own or not received.unmet:
            continue
        message_id = received.message.message_id
        if message_id in view.known_ids:
            continue
        delivered = [d for d in view.delivered if d.message_id == message_id and d.step.index >= received.step.index]
        if delivered:
            yield violated(
                delivered[0].step, "delivered", "a sync message never delivered", f"a delivery of {message_id!r}"
            )
        elif received.unmet <= view.logged_ids:
            yield held(received.step)
