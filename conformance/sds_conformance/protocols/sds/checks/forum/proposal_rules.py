"""Checks of the proposal of 2024 where it differs from SDS: its layout, its counting clock, its sync messages.

The checks of SDS judge the rest: ``shared_requirements`` lists them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import FORUM_2024, Kind, Message

from .....judging.judgement import Observation, observe_met, observe_note, observe_outcome, observe_violation
from ...register import check
from ...view.channel_view import ChannelView
from ...view.clock import clock_never_goes_back
from ...view.deafness import nothing_is_pending_after
from ...view.facts import Received, is_same_message
from ...view.timestamps import lamport_sends, largest_lamport_elsewhere
from ..core.filters import filters_of_new_messages, judge_members
from ..core.history import histories_of_default_size
from ..core.wire import has_lamport_beyond_31_bits, text_of, values_of

_HISTORY = 4
_PLAUSIBLE = 1_000
"""Maximum first timestamp that can be a count of messages, because an increase may exceed one. A larger first timestamp
has another cause.
"""
_LATE_SWEEPS = 3
"""Number of sweeps after the period within which missing messages are given up. The proposal sets no interval of
sweeps.
"""
_TEN_MINUTES_MS = 600_000
_CROWD = 100
"""Maximum number of messages in ten minutes for which a filter of any design should have room."""


# ---- Message ---------------------------------------------------------------------------------------------------------


@check("FORUM-04")
def lamport_in_field_3(view: ChannelView) -> Iterator[Observation]:
    """Field 3 of content and sync messages is a varint of at most 2^31 - 1."""
    expected = "field 3 (lamport_timestamp) from 0 to 2147483647"
    for sent in view.outgoing:
        values = values_of(sent, 3)
        if not values or not isinstance(values[-1], int):
            seen = "field 3 with another wire type" if values else "no such field"
            kind = "field 3 (lamport_timestamp) as a varint"
            yield observe_violation(sent.step, "wrong-wire-type" if values else "missing-field", kind, seen)
        else:
            met = not has_lamport_beyond_31_bits(view, sent.wire)
            yield observe_outcome(sent.step, "out-of-range", met, expected, f"field 3 is {values[-1]}")
    for step, wire in view.strays:
        if wire.message is None and has_lamport_beyond_31_bits(view, wire):
            yield observe_violation(step, "out-of-range", expected, wire.error or "a larger value")


@check("FORUM-05", of="outgoing")
def history_in_field_4(view: ChannelView) -> Iterator[Observation]:
    """The causal history is in field 4: each occurrence is one message ID."""
    for sent in view.outgoing:
        entries = [text_of([value]) for value in values_of(sent, _HISTORY)]
        sure = sent.log_size and sent.log_is_known and not sent.repeat
        if not entries:
            if sure:
                expected = "field 4 (causal_history), because the log is not empty"
                yield observe_violation(sent.step, "missing-field", expected, "no such field")
        elif strange := [entry for entry in entries if not entry or (sure and entry not in view.known_ids)]:
            expected = "each entry of field 4 the ID of a message, and no more"
            yield observe_violation(sent.step, "malformed-entry", expected, f"{strange[0]!r}")
        else:
            yield observe_met(sent.step)


@check("FORUM-03", pb.CAPABILITY_SYNC, of="syncs")
def sync_ids_unique(view: ChannelView) -> Iterator[Observation]:
    """A new sync message has an ID that no message before it has, because receivers ignore known IDs.

    A copy of a sync message keeps the ID. A copy has the same timestamp and the same causal history.
    """
    earlier = [(r.step, r.message) for r in view.received if r.kind in (Kind.CONTENT, Kind.SYNC)]
    earlier += [(sent.step, sent.message) for sent in view.outgoing]
    first_use: dict[str, tuple[Step, Message]] = {}
    syncs = {id(sent.message) for sent in view.syncs}
    for step, message in sorted(earlier, key=lambda item: item[0].index):
        first, original = first_use.setdefault(message.message_id, (step, message))
        if id(message) not in syncs or (original is not message and is_same_message(original, message)):
            continue
        expected = "an ID that no other message has"
        seen = f"{message.message_id!r} again, the ID of another message of step {first.index}"
        yield observe_outcome(step, "id-used-twice", original is message, expected, seen)


# ---- Lamport timestamps ----------------------------------------------------------------------------------------------


def _received_before(view: ChannelView, index: int) -> bool:
    return any(received.step.index < index for received in view.received)


def _describe_start(step: Step, lamport: int) -> str:
    """Describe a wrong first timestamp, with the unit if it is the present time."""
    units = {"milliseconds": step.now_ms, "seconds": step.now_ms // 1_000}
    unit = next((unit for unit, now in units.items() if abs(lamport - now) <= _PLAUSIBLE), None)
    return f"{lamport}" if unit is None else f"{lamport}, the time in {unit}"


@check("FORUM-09")
def counting_starts_at_0(view: ChannelView) -> Iterator[Observation]:
    """The local timestamp of a participant that has received nothing is 0, and its first content message has 1."""
    first = next(iter(view.outgoing), None)
    for observed in view.observed:
        silent = first is None or observed.step.index < first.step.index
        if silent and not _received_before(view, observed.step.index) and observed.state.HasField("lamport_timestamp"):
            shown = observed.state.lamport_timestamp
            met = not shown
            expected = "a Lamport timestamp of 0"
            yield observe_outcome(observed.step, "wrong-start", met, expected, _describe_start(observed.step, shown))
    if first is None or _received_before(view, first.step.index) or first.message.lamport_timestamp is None:
        return
    seen, usual = first.message.lamport_timestamp, int(first.message.kind is Kind.CONTENT)
    if seen == usual:
        yield observe_met(first.step)
    elif seen > _PLAUSIBLE:
        expected = f"lamport_timestamp {usual}, counted from 0, in the first message"
        yield observe_violation(first.step, "wrong-start", expected, _describe_start(first.step, seen))
    elif seen > usual:
        yield observe_note(
            first.step, f"the first message has the timestamp {seen}; counted from 0 it would be {usual}"
        )


@check("FORUM-09", pb.CAPABILITY_CHANNELS, of="channels sent")
def channels_count_apart(view: ChannelView) -> Iterator[Observation]:
    """A timestamp that is far ahead in another channel does not change the local timestamp of this channel."""
    ahead = largest_lamport_elsewhere(view)
    for sent, seen in lamport_sends(view):
        here = [r.message.lamport_timestamp or 0 for r in view.received if r.step.index < sent.step.index]
        reached = max(_largest_sent(view, sent.step.index), *here, 0)
        if ahead <= reached + _PLAUSIBLE:
            continue
        expected = f"a lamport_timestamp that continues from {reached}, whatever happens in other channels"
        yield observe_outcome(sent.step, "moved-by-another-channel", seen < ahead, expected, f"{seen}")


@check("FORUM-15", of="sent")
def every_message_increases_the_timestamp(view: ChannelView) -> Iterator[Observation]:
    """Each content message has a greater timestamp than the one before it, and the first is greater than 0."""
    before = 0
    for sent, seen in lamport_sends(view):
        expected = f"a lamport_timestamp greater than {before}, the timestamp of the last message"
        yield observe_outcome(sent.step, "not-increased", _is_increased(seen, before), expected, f"{seen}")
        before = max(before, seen)


@check("FORUM-23", pb.CAPABILITY_DELIVERED)
def clock_follows_deliveries(view: ChannelView) -> Iterator[Observation]:
    """After a delivery, the local timestamp is at least the timestamp of the delivered message."""
    for sent, seen in lamport_sends(view):
        reached = _largest_delivered(view, sent.step.index)
        if reached <= _largest_sent(view, sent.step.index):
            continue
        expected = f"a lamport_timestamp greater than {reached}, the largest of the delivered messages"
        yield observe_outcome(sent.step, "too-low", _is_increased(seen, reached), expected, f"{seen}")
    for observed in view.observed:
        reached = _largest_delivered(view, observed.step.index)
        if not reached or not observed.state.HasField("lamport_timestamp"):
            continue
        shown = observed.state.lamport_timestamp
        expected = f"a local timestamp of at least {reached}, the largest of the delivered messages"
        yield observe_outcome(observed.step, "too-low", shown >= reached, expected, f"{shown}")


def _is_increased(seen: int, last: int) -> bool:
    """Is a timestamp greater than ``last``, or equal to it because it is the maximum (AMB-14)?"""
    return seen > last or seen == last == FORUM_2024.wire.max_lamport


def _largest_delivered(view: ChannelView, before: int) -> int:
    messages = [d.received.message for d in view.delivered if d.received is not None and d.step.index < before]
    return max((message.lamport_timestamp or 0 for message in messages), default=0)


def _largest_sent(view: ChannelView, before: int) -> int:
    return max((s.message.lamport_timestamp or 0 for s in view.sent if s.step.index < before), default=0)


# ---- Sync messages ---------------------------------------------------------------------------------------------------


@check("FORUM-35", pb.CAPABILITY_SYNC, of="outgoing")
def sync_keeps_the_timestamp(view: ChannelView) -> Iterator[Observation]:
    """A sync message repeats the timestamp of the previous own message (0 if none), if nothing arrived in between.

    Another message of the same step may have been sent before or after the sync message.
    """
    before, since, last_of_earlier_step = 0, 0, 0
    for sent in view.outgoing:
        seen = sent.message.lamport_timestamp
        if sent.repeat or seen is None:
            continue  # a copy, or a message without a timestamp
        if sent.step.index > since:
            last_of_earlier_step = before
        came = any(since < received.step.index <= sent.step.index for received in view.received)
        came = came or _processed_late(view, since, sent.step.index)
        # A large first timestamp is not an increase: the timestamp did not start at 0.
        if sent.message.kind is Kind.SYNC and not came and (since or seen <= _PLAUSIBLE):
            expected = f"lamport_timestamp {before} as before: a sync message does not increase it"
            met = seen in (before, last_of_earlier_step)
            yield observe_outcome(sent.step, "increased" if seen > before else "decreased", met, expected, f"{seen}")
        before, since = seen, sent.step.index


@check("FORUM-35", pb.CAPABILITY_SYNC, of="syncs observed")
def sync_carries_the_shown_timestamp(view: ChannelView) -> Iterator[Observation]:
    """A sync message has the Lamport timestamp that the last state showed, if nothing happened since."""
    states = [observed for observed in view.observed if observed.state.HasField("lamport_timestamp")]
    for sent in view.syncs:
        seen = sent.message.lamport_timestamp
        before = bisect_left(states, sent.step.index, key=lambda observed: observed.step.index)
        last = states[before - 1] if before else None
        if last is None or sent.repeat or seen is None or _may_have_moved(view, last.step, sent.step):
            continue
        shown = last.state.lamport_timestamp
        expected = f"lamport_timestamp {shown}, as shown at step {last.step.index}: a sync message does not increase it"
        code = "increased" if seen > shown else "decreased"
        yield observe_outcome(sent.step, code, seen == shown, expected, f"{seen}")


@check("FORUM-35", pb.CAPABILITY_SYNC, pb.CAPABILITY_DELIVERED, of="outgoing")
def sync_is_not_behind(view: ChannelView) -> Iterator[Observation]:
    """The timestamp of a sync message is at least that of each message that was sent or processed before it.

    There is no upper bound: the proposal says "update the local timestamp", and not to which value.
    """
    for sent in view.syncs:
        seen, e = sent.message.lamport_timestamp, sent.lamport
        least = max(e.previous, e.sync_high - 1)
        # In a step that also processes messages, the sync message may have been sent before they were processed.
        if sent.repeat or seen is None or not least or not sent.log_is_known or sent.step.command == "receive":
            continue
        expected = f"a lamport_timestamp of at least {least}, the largest of the messages sent and processed before"
        yield observe_outcome(sent.step, "decreased", seen >= least, expected, f"{seen}")


def _may_have_moved(view: ChannelView, since: Step, until: Step) -> bool:
    """May an event between two steps, or in the second, have changed the local timestamp?"""
    for step in view.trace.steps[since.index : until.index]:
        if step.participant != view.party.name:
            continue
        idle = step is until or step.command in ("observe", "tick")
        if not idle or step.signals("delivered", view.channel_id):
            return True
    return until.command == "receive" or _processed_late(view, since.index, until.index)


def _processed_late(view: ChannelView, since: int, until: int) -> bool:
    """May a sweep between two steps have processed messages that arrived before both steps?"""
    if not any(since < tick.index <= until for tick in view.ticks):
        return False
    return any(
        r.unmet or not any(r.step.index < tick.index <= since for tick in view.ticks)
        for r in view.received
        if r.step.index <= since and r.kind is not Kind.EPHEMERAL and not r.delivered_at_once
    )


def _received_syncs(view: ChannelView) -> list[Received]:
    return [r for r in view.received if r.kind is Kind.SYNC and not (r.own or r.oddity or r.duplicate)]


@check("FORUM-20", of="outgoing received sync-came")
def syncs_enter_the_filter(view: ChannelView) -> Iterator[Observation]:
    """Received sync messages, even if they wait, are in the filters of later messages."""
    for sent, holds in filters_of_new_messages(view):
        syncs = [r.message.message_id for r in _received_syncs(view) if r.step.index < sent.step.index]
        entries = sum(r.step.index < sent.step.index for r in view.received)
        entries += sum(s.step.index < sent.step.index for s in [*view.outgoing, *view.ephemerals])
        if syncs and entries <= view.configuration.bloom_capacity // 10:  # a roll-over may remove older IDs
            yield from judge_members(sent.step, holds, syncs, "{}, a sync message received before, in the filter")


@check("FORUM-37", pb.CAPABILITY_DELIVERED, of="received")
def syncs_meet_dependencies(view: ChannelView) -> Iterator[Observation]:
    """A message that depends on a received sync message is delivered, because the sync message is in the log."""
    syncs = {r.message.message_id: r.step.index for r in _received_syncs(view)}
    doubtful = _doubtful_syncs(view)
    for received in view.received if not view.gives_up else ():
        ids = [entry.message_id for entry in received.message.causal_history]
        named = [] if doubtful.intersection(ids) else [message_id for message_id in ids if message_id in syncs]
        if not named or received.kind is not Kind.CONTENT or received.own or received.duplicate:
            continue
        if received.delivered or (received.unmet <= view.logged_ids and nothing_is_pending_after(view, received)):
            why = f"the sync message {named[0]!r} that it names was received"
            expected = f"{received.message.message_id!r} delivered: {why}"
            seen = "the message still waits after two sweeps"
            yield observe_outcome(received.step, "never-delivered", bool(received.delivered), expected, seen)
    yield from _note_unlogged_syncs(view)


def _doubtful_syncs(view: ChannelView) -> set[str]:
    """IDs of own sync messages, and of received sync messages that depend on own sync messages, directly or indirectly.

    It is unknown whether these messages are in the log.
    """
    dependents: dict[str, list[str]] = {}
    for received in view.received:
        for entry in received.message.causal_history if received.kind is Kind.SYNC else ():
            dependents.setdefault(entry.message_id, []).append(received.message.message_id)
    doubtful = {sent.message.message_id for sent in view.syncs}
    waiting = list(doubtful)
    while waiting:
        more = [message_id for message_id in dependents.get(waiting.pop(), ()) if message_id not in doubtful]
        doubtful.update(more)
        waiting += more
    return doubtful


def _note_unlogged_syncs(view: ChannelView) -> Iterator[Observation]:
    """Note shown logs without received sync messages. They are allowed if sync messages meet dependencies."""
    for observed in view.states_showing("log"):
        shown = set(observed.step.shown_log)
        before = [r for r in _received_syncs(view) if r.step.index < observed.step.index and not r.unmet]
        if absent := [r.message.message_id for r in before if r.message.message_id not in shown]:
            yield observe_note(observed.step, f"{absent[0]!r}, a sync message received, does not show in the log")
        elif before:
            yield observe_met(observed.step)


@check("FORUM-37", of="sent")
def syncs_move_the_clock(view: ChannelView) -> Iterator[Observation]:
    """A content message has a higher timestamp than each sync message that the participant received before."""
    for sent, seen in lamport_sends(view):
        e = sent.lamport
        if e.sync_high > e.low:
            expected = f"a lamport_timestamp greater than the {e.sync_high - 1} of the sync message received"
            yield observe_outcome(sent.step, "too-low", seen >= e.sync_high, expected, f"{seen}")


# ---- Losses, filters, equal timestamps and default sizes -------------------------------------------------------------


@check("FORUM-31", pb.CAPABILITY_LOST, pb.CAPABILITY_VIRTUAL_CLOCK, of="received")
def given_up_after_the_period(view: ChannelView) -> Iterator[Observation]:
    """If a period for giving up is in force, dependencies that do not arrive within the period are reported lost.

    It is enough to report the waiting message (AMB-92). If several messages name a dependency, it is enough to report
    one dependency of each: the others may have begun to be missing later.
    """
    period = view.configuration.lost_timeout_ms
    lost = {message_id for _, event in view.losses for message_id in event.message_ids}
    named = Counter(message_id for received in view.received for message_id in received.unmet)
    for received in view.received if period else ():
        new = received.valid and not received.duplicate
        if not new or not received.unmet - received.unmet_buffered:
            continue
        left = received.unmet - lost
        shared = any(named[message_id] > 1 or message_id in view.arrivals for message_id in received.unmet)
        if received.message.message_id in lost or not left or (shared and received.unmet & lost):
            yield observe_met(received.step)
            continue
        late = [t for t in view.ticks if t.index > received.step.index and t.now_ms >= received.step.now_ms + period]
        overdue = late[_LATE_SWEEPS - 1] if len(late) >= _LATE_SWEEPS else None
        if overdue is None or overdue.now_ms < received.step.now_ms + 2 * period:
            continue
        came = received.unmet & view.logged_ids or (received.delivered and left == received.unmet)
        if not came and clock_never_goes_back(view, received.step, overdue):
            expected = f"{min(left)!r}, missing since step {received.step.index}, given up after {period} ms"
            reported = repr(min(received.unmet & lost)) if received.unmet & lost else ""
            waited_ms = overdue.now_ms - received.step.now_ms
            seen = f"{f'only {reported}' if reported else 'nothing'} is given up after {waited_ms} ms"
            yield observe_violation(overdue, "never-given-up", expected, seen)


@check("FORUM-40", of="outgoing received")
def filter_covers_ten_minutes(view: ChannelView) -> Iterator[Observation]:
    """Without a configured capacity, a filter holds the IDs that arrived in the last ten minutes.

    Judged only if at most `_CROWD` messages arrived in this time, the first of them more than five minutes ago.
    """
    if view.party.asked.HasField("bloom_capacity"):
        return
    for sent, holds in filters_of_new_messages(view):
        before = (r for r in view.received if r.acceptable and r.step.index < sent.step.index)
        recent = [r for r in before if r.step.now_ms >= sent.step.now_ms - _TEN_MINUTES_MS]
        old = [r for r in recent if r.step.now_ms <= sent.step.now_ms - _TEN_MINUTES_MS // 2]
        if old and len(recent) <= _CROWD and clock_never_goes_back(view, old[0].step, sent.step):
            ids = [r.message.message_id for r in recent]
            yield from judge_members(sent.step, holds, ids, "{}, received within ten minutes, in the filter")


@check("FORUM-44", pb.CAPABILITY_DELIVERED, of="received")
def ties_need_no_message(view: ChannelView) -> Iterator[Observation]:
    """A message with the same timestamp as another is inserted into the log without a new broadcast."""
    places: set[int] = set()
    copies = {(copy.step.index, copy.message.message_id) for copy in view.copies}
    for received in view.received:
        lamport = received.message.lamport_timestamp
        if lamport is None or not received.acceptable:
            continue
        if lamport in places and received.delivered_at_once:
            sent = [message.message_id for message in received.step.messages]
            new = [message_id for message_id in sent if (received.step.index, message_id) not in copies]
            if new:
                yield observe_note(
                    received.step, f"{new[0]!r} was broadcast when two messages had one Lamport timestamp"
                )
            else:
                yield observe_met(received.step)
        places.add(lamport)


@check("FORUM-41", of="sent")
def two_or_three_entries(view: ChannelView) -> Iterator[Observation]:
    """Without configuration, a causal history has two or three entries."""
    for sent in histories_of_default_size(view):
        code = "too-few-entries" if len(sent.history) < 2 else "too-many-entries"
        met, expected = 2 <= len(sent.history) <= 3, "two or three entries in causal_history"
        yield observe_outcome(sent.step, code, met, expected, f"{len(sent.history)}")
