"""Lamport timestamps of own messages and shown states, and which rule a wrong timestamp violates.

The rule for sending, ``max(now, previous + 1)``, has many parts: the initial value, the time, the increase, and the
effects of deliveries and of other channels. A wrong timestamp is one violation, of the first part that explains it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from sds_harness.sds.trace import Step, Trace
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import MAX_LAMPORT, Kind, Message

from .....judging.judgement import Observation, observe_met, observe_outcome, observe_violation
from .....judging.table import RuleRow
from ...register import check, table
from ...view.channel_view import ChannelView
from ...view.deafness import nothing_is_pending_after
from ...view.facts import LamportExpectation, LogItem, Sent
from ...view.log_orders import shown_orders, shows_its_log
from ...view.timestamps import NEARBY, describe_wrong_timestamp, lamport_sends, largest_lamport_elsewhere, usual_errors
from ...view.windows import clock_at


@check("SDS-SEND-03", of="outgoing")
def lamport_is_the_increased_one(view: ChannelView) -> Iterator[Observation]:
    """Sending a message first increases the local timestamp, and the message carries the increased timestamp."""
    previous: Sent | None = None
    for sent, seen in lamport_sends(view):
        e = sent.lamport
        if previous is not None and e.source in ("send", "sync") and e.is_ahead_of_clock and not e.late_delivery:
            before = previous.message.lamport_timestamp
            if seen == e.low:
                yield observe_met(sent.step)
            elif e.low > MAX_LAMPORT:
                pass  # SDS-SEND-01 judges a missing timestamp
            elif seen <= (before or 0) and _nothing_between(view, previous, sent) and not e.tolerates(seen):
                expected = f"{e.low}, one more than the {before} of the message before"
                yield observe_violation(sent.step, "not-increased", expected, f"{seen}")
        previous = sent
    # Other requirements judge events that must not change the local timestamp: SDS-OUTSWEEP-05 judges
    # rebroadcasts, SDS-EPHEMERAL-07 ephemeral messages. No requirement forbids that a refused command changes it.
    steps = [*(r.step for r in view.received), *(d.step for d in view.delivered), *(c.step for c in view.copies)]
    silent = [r.delivered_silently for r in view.received if r.delivered_silently is not None]
    steps += [*silent, *(ephemeral.step for ephemeral in view.ephemerals)]
    steps += [step for step in view.trace.of(view.party.name) if step.answer == "rejected"]
    moved = sorted(step.index for step in steps)
    sending = (d for d in view.delivered if d.step.command == "send")
    delivering = {d.step.index for d in sending if all(m.message_id != d.message_id for m in d.step.messages)}
    delivering |= {step.index for step in silent}
    for observed in view.observed:
        last = next((s for s in reversed(view.outgoing) if s.step.index < observed.step.index), None)
        if last is None or not observed.state.HasField("lamport_timestamp") or last.message.lamport_timestamp is None:
            continue
        if any(sync.step is last.step for sync in view.syncs):
            continue  # the same step sent a sync message as well
        if last.step.index in delivering:
            continue  # a message that waited for the sent message was delivered, and changed the local timestamp
        quiet = bisect_right(moved, last.step.index) == bisect_left(moved, observed.step.index)
        quiet &= view.can(pb.CAPABILITY_DELIVERED) or not view.received
        if quiet and not last.repeat and last.step.command == "send":
            met = observed.state.lamport_timestamp == last.message.lamport_timestamp
            expected = f"the local timestamp {observed.state.lamport_timestamp} in the message that was just sent"
            yield observe_outcome(
                observed.step, "not-the-local-one", met, expected, f"the message has {last.message.lamport_timestamp}"
            )


def _nothing_between(view: ChannelView, previous: Sent, sent: Sent) -> bool:
    """Did the participant get no command that could change the local timestamp between two own messages?"""
    between = view.trace.steps[previous.step.index : sent.step.index - 1]
    steps = (step for step in between if step.participant == view.party.name)
    return all(step.command in ("observe", "query_filter", "build_filter") for step in steps)


@check("SDS-SYNC-03", pb.CAPABILITY_SYNC, of="syncs")
def sync_has_a_lamport_timestamp(view: ChannelView) -> Iterator[Observation]:
    """A sync message has a Lamport timestamp."""
    for sync in view.syncs:
        if sync.message.lamport_timestamp is None:
            seen = "no Lamport timestamp"
            yield observe_violation(sync.step, "missing-timestamp", "a sync message with a Lamport timestamp", seen)


@check("SDS-DELIVER-01", of="no-delivery-events received sent")
def own_messages_are_above_what_they_name(view: ChannelView) -> Iterator[Observation]:
    """An own message has a higher timestamp than every message in its causal history.

    Only for implementations without delivery events.
    """
    for sent in view.sent:
        lamport = sent.message.lamport_timestamp
        came = [view.arrivals[message_id] for message_id in sent.history if message_id in view.arrivals]
        # If copies differ, any of them may be in the log.
        named = [one[0] for one in came if len(one) == 1 and one[0].acceptable]
        if lamport is None or sent.repeat or not named:
            continue
        most = max(named, key=lambda received: received.message.lamport_timestamp or 0)
        above = most.message.lamport_timestamp or 0
        expected = (
            f"lamport_timestamp above {above}, the timestamp of {most.message.message_id!r} in its causal history"
        )
        yield observe_outcome(sent.step, "too-low", lamport > above, expected, f"{lamport}")


@dataclass(frozen=True, slots=True)
class _Newcomer:
    """A participant that joined a channel with earlier messages, and its first attempt to send."""

    opened: Step
    first: Step

    def find_newest_older(self, trace: Trace, channel_id: str) -> int | None:
        """The largest Lamport timestamp below the newcomer's clock among messages before the newcomer was opened.

        None if there is no such message.
        """
        older = takewhile(lambda pair: pair[0].index < self.opened.index, _iterate_content(trace, channel_id))
        before = (message.lamport_timestamp or 0 for _, message in older)
        clock = min(self.opened.now_ms, self.first.now_ms)
        return max((lamport for lamport in before if lamport < clock), default=None)


def _iterate_content(trace: Trace, channel_id: str) -> Iterator[tuple[Step, Message]]:
    """Yield (step, message) for all content of a channel that any participant sends or receives."""
    for step in trace.steps:
        wires = [step.received] if step.command == "receive" else step.broadcasts
        for wire in wires:
            message = wire.message
            if message is not None and message.kind is Kind.CONTENT and message.channel_id == channel_id:
                yield step, message


def _find_newcomer(trace: Trace, name: str, channel_id: str) -> _Newcomer | None:
    """The participant as a newcomer; None if it sends nothing, or receives a message of the channel before it sends."""
    opened = first = None
    for step in trace.of(name):
        if step.command == "open":
            opened = step
        elif step.command == "receive":
            message = step.received.message
            if message is not None and message.channel_id == channel_id:
                return None
        elif step.command == "send" and step.channel_id == channel_id:
            first = step
            break
    return None if opened is None or first is None else _Newcomer(opened, first)


@check("SDS-STATE-04", pb.CAPABILITY_VIRTUAL_CLOCK)
def newcomers_send_at_once_with_the_right_time(view: ChannelView) -> Iterator[Observation]:
    """A newcomer can send at once, with a timestamp above all earlier timestamps and below all later ones.

    Judged only if the clocks differ less than the times between the messages.
    """
    arrival = _find_newcomer(view.trace, view.party.name, view.channel_id)
    older = arrival.find_newest_older(view.trace, view.channel_id) if arrival is not None else None
    if arrival is None or older is None or arrival.first.reply is None:
        return
    step = arrival.first
    sent = next((s for s in view.sent if s.step is step), None)
    if sent is None or sent.message.lamport_timestamp is None:
        # If no participant ever sends, SDS-SEND-10 is violated instead.
        sends = any(s.command == "send" and s.broadcasts for s in view.trace.steps)
        if sends and not step.broadcasts and step.request.send.content and not step.request.send.message_id:
            code = "refused" if step.answer == "rejected" else "not-broadcast"
            expected = "a newcomer to be able to send before it has received anything"
            yield observe_violation(step, code, expected, "nothing is sent")
        return
    seen = sent.message.lamport_timestamp
    after = [m.lamport_timestamp or 0 for s, m in _iterate_content(view.trace, view.channel_id) if s.index > step.index]
    later = min((lamport for lamport in after if lamport > max(sent.lamport.high, step.now_ms)), default=None)
    if seen <= older:
        expected = f"the newcomer's message after all messages older than its clock, the last with Lamport {older}"
        yield observe_violation(step, "too-low", expected, f"{seen}, when the clock shows {step.now_ms}")
    else:
        met = not (later is not None and seen >= later and not sent.lamport.tolerates(seen))
        expected = f"the newcomer's message before all messages later than its clock, the first with Lamport {later}"
        yield observe_outcome(step, "too-high", met, expected, f"{seen}, when the clock shows {step.now_ms}")


@check("SDS-STATE-04", pb.CAPABILITY_VIRTUAL_CLOCK, pb.CAPABILITY_DELIVERED, of="received")
def newcomers_find_their_place(view: ChannelView) -> Iterator[Observation]:
    """The logs of all others have a newcomer's first message at the place of its timestamp, even if it arrived late."""
    for received in view.received:
        message = received.message
        if message.sender_id not in view.trace.parties or not received.plain or received.unmet:
            continue
        arrival = _find_newcomer(view.trace, message.sender_id, view.channel_id)
        if arrival is None or message.message_id not in {sent.message_id for sent in arrival.first.messages}:
            continue
        older = arrival.find_newest_older(view.trace, view.channel_id)
        if older is None or (message.lamport_timestamp or 0) <= older:
            continue  # the sender chose a wrong timestamp
        if not received.delivered:
            if view.delivered and nothing_is_pending_after(view, received):
                expected = f"{message.message_id!r}, the first message of a newcomer, delivered"
                yield observe_violation(received.step, "never-delivered", expected, "the message was never delivered")
            continue
        for step, order in shown_orders(view):
            place = next((n for n, item in enumerate(order) if item.message_id == message.message_id), None)
            if place is None or len(order) < 2:
                continue
            wrong = _find_misplaced(order, place)
            if wrong is not None and step.command != "observe" and shows_its_log(view):
                continue  # SDS-SEND-05 judges the order of causal histories
            if wrong is not None:
                newcomer = f"{message.message_id!r} of a newcomer (Lamport {message.lamport_timestamp})"
                where = f"{'after' if wrong < order[place] else 'before'} {wrong.message_id!r} ({wrong.lamport})"
                yield observe_violation(step, "wrong-order", f"{newcomer} {where}", "in the opposite order")
            else:
                yield observe_met(step)


def _find_misplaced(order: list[LogItem], place: int) -> LogItem | None:
    """An item on the wrong side of the item at ``place``; None if there is none. Another requirement judges ties."""
    item = order[place]
    early = (other for other in order[:place] if other.lamport > item.lamport)
    late = (other for other in order[place + 1 :] if other.lamport < item.lamport)
    return next(early, None) or next(late, None)


class Stamp:
    """A Lamport timestamp that an implementation showed: in a content message, a sync message, or its state."""

    __slots__ = (
        *("content", "e", "has_rule_of_its_own", "is_allowed", "is_evidence", "seen", "shows_change", "state", "step"),
        *("sync", "view"),
    )

    def __init__(self, view: ChannelView, step: Step, e: LamportExpectation, seen: int, kind: str) -> None:
        self.view, self.step, self.seen = view, step, seen
        self.content, self.sync, self.state = kind == "content", kind == "sync", kind == "state"
        self.e = e
        """The expected timestamp at this step."""
        self.is_allowed = e.stays_at_maximum(seen) or e.tolerates(seen + self.state)
        """Does the specification or a position allow the timestamp?"""
        self.is_evidence = self.content or (self.sync and e.low <= seen <= e.high)
        """Does the timestamp prove which event changed the local timestamp? A wrong timestamp of a sync message may
        have other causes.
        """
        self.shows_change = self.is_evidence and (self.is_allowed or seen - e.low not in usual_errors(view))
        """Does the timestamp prove that an earlier event changed the local timestamp? It does not if a
        message before which the participant only sent messages has the same error.
        """
        self.has_rule_of_its_own = e.is_high_after_ephemeral_or_answer(seen + self.state)
        """Is the timestamp too high after an event that SDS-EPHEMERAL-07 or SDS-R-SWEEP-05 judges?"""

    @property
    def counts_messages(self) -> bool:
        """Is the error explained by an increase for each received message? This explanation has priority over
        others.
        """
        return self.e.counts_messages(self.seen + self.state)

    @property
    def rule(self) -> str:
        """The rule for the expected timestamp, with its values, as a phrase for reports."""
        e = self.e
        if e.low > MAX_LAMPORT:
            return f"no message, or a message that stays at {MAX_LAMPORT}, which nothing can follow (AMB-14)"
        if not e.follows_clock:
            return f"a lamport_timestamp that continues from {e.previous}"
        value, previous = (f"{e.low}", f"previous {e.previous}")
        if e.low != e.high:
            value, previous = f"{e.low} to {e.high}", "previous"
        return f"lamport_timestamp {value} = max({f'now {e.now.high}' if e.now.exact else 'now'}, {previous} + 1)"

    @property
    def is_of_another_channel(self) -> bool:
        """Is the timestamp so far ahead that only another channel explains it?"""
        return self.seen >= largest_lamport_elsewhere(self.view) > max(self.e.now.high, self.e.high)

    @property
    def has_wrong_start(self) -> bool:
        """Is the initial value, not a later event, the reason for a wrong timestamp? It should be the epoch time."""
        opened, e = clock_at(self.view.trace, self.view.party.opened_ms), self.e
        wrong = e.source == "open" and not self.is_allowed
        return wrong and not opened.low <= self.seen <= max(e.high, e.now.high) + NEARBY

    @property
    def is_behind_time(self) -> bool:
        """Does the timestamp continue from the previous timestamp, although the clock is far ahead of both?"""
        return self.e.previous <= self.seen < self.e.now.low - NEARBY

    @property
    def follows_step_back(self) -> bool:
        """Must the timestamp be exactly one more than the previous timestamp, because the clock stepped back below it?

        A timestamp in another unit is always behind the clock, or never, so a step back does not explain it.
        """
        e = self.e
        return e.clock_stepped_back and e.source in ("send", "sync") and not e.late_delivery and e.is_ahead_of_clock


def lamport_timestamps(view: ChannelView) -> Iterator[Stamp]:
    """Own messages have the timestamp max(now, previous + 1). Nothing but sending and delivering changes it."""
    for sent, seen in lamport_sends(view):
        yield Stamp(view, sent.step, sent.lamport, seen, "content")
    for sync in view.syncs:
        if sync.message.lamport_timestamp is not None:
            yield Stamp(view, sync.step, sync.lamport, sync.message.lamport_timestamp, "sync")
    for observed in view.observed:
        e = observed.lamport
        if e.source == "delivery" and e.previous == e.low - 1 and observed.state.HasField("lamport_timestamp"):
            yield Stamp(view, observed.step, e, observed.state.lamport_timestamp, "state")


def _describe_timestamp(s: Stamp, row: RuleRow[Stamp]) -> tuple[str, str]:
    rule = f"the local timestamp {s.e.previous}" if s.state else s.rule
    return f"{rule}: {row.why}" if row.why else rule, describe_wrong_timestamp(s.e, s.step.now_ms, s.seen)


def _is_sync(s: Stamp) -> bool:
    return s.sync and not s.has_rule_of_its_own


def _other_channel_is_ahead(s: Stamp) -> bool:
    return s.content and largest_lamport_elsewhere(s.view) > max(s.e.now.high, s.e.high)


def _is_of_another_channel(s: Stamp) -> bool:
    return not s.is_allowed and s.is_of_another_channel and not s.counts_messages


def _is_first(s: Stamp) -> bool:
    return s.is_evidence and s.e.source == "open" and not s.e.ephemeral


def _has_wrong_start(s: Stamp) -> bool:
    return s.has_wrong_start and not s.is_of_another_channel and not s.counts_messages


def _after_idling(s: Stamp) -> bool:
    e, now = s.e, s.step.now_ms
    known = s.is_evidence and (s.sync or e.source in ("open", "send", "delivery"))
    return known and e.previous + NEARBY < now == max(e.high, e.buffered_high, e.sync_high)


def _is_behind_time(s: Stamp) -> bool:
    return s.is_behind_time


def _clock_went_back(s: Stamp) -> bool:
    by_sending = s.is_allowed or (s.e.source == "send" and not s.has_rule_of_its_own and not s.counts_messages)
    return s.is_evidence and s.follows_step_back and by_sending


def _own_sender_is_ahead(s: Stamp) -> bool:
    return s.shows_change and s.content and s.e.own_sender_high > s.e.high_if_all_followed


def _was_moved_by_own_sender(s: Stamp) -> bool:
    """Did a message with the participant's own sender ID change the local timestamp?

    False for a small difference, which another rule explains better.
    """
    past = s.seen - s.e.high_if_all_followed
    return past > 0 and not s.has_rule_of_its_own and past > abs(s.e.own_sender_high - s.seen)


def _after_a_delivery(s: Stamp) -> bool:
    e = s.e
    return (
        s.shows_change
        and s.content
        and e.source == "delivery"
        and e.is_ahead_of_clock
        and not (e.late_delivery or s.has_rule_of_its_own)
    )


def _shown_after_a_delivery(s: Stamp) -> bool:
    return s.state and not s.has_rule_of_its_own


def _after_a_late_delivery(s: Stamp) -> bool:
    started = s.e.source == "open"  # SDS-STATE-02 judges the start
    return s.shows_change and s.e.late_delivery and s.e.is_ahead_of_clock and not (s.has_rule_of_its_own or started)


def _waiting_message_is_ahead(s: Stamp) -> bool:
    e = s.e
    return s.shows_change and e.buffered_high > max(e.high, e.sync_high) and s.seen <= e.buffered_high


def _received_sync_is_ahead(s: Stamp) -> bool:
    e = s.e
    return s.shows_change and e.sync_high > max(e.high, e.buffered_high) and s.seen <= e.sync_high


def _is_above_expected(s: Stamp) -> bool:
    return s.seen > s.e.high


def _after_a_sync(s: Stamp) -> bool:
    e = s.e
    return (
        s.shows_change
        and s.content
        and e.source == "sync"
        and e.is_ahead_of_clock
        and not e.late_delivery
        and s.seen <= e.low
    )


def _repeats_the_sync(s: Stamp) -> bool:
    return s.seen == s.e.low - 1


def _is_below_the_sync(s: Stamp) -> bool:
    return s.seen < s.e.low - 1


def _after_a_copy(s: Stamp) -> bool:
    e = s.e
    return s.shows_change and e.rebroadcast and not e.answered and e.low > s.step.now_ms and not s.has_rule_of_its_own


def _after_ephemeral(s: Stamp) -> bool:
    e = s.e
    return s.shows_change and e.ephemeral and not (e.rebroadcast or e.answered)


def _after_sending(s: Stamp) -> bool:
    e = s.e
    other = e.source == "delivery" or e.late_delivery or e.rebroadcast or e.answered
    moved = e.ephemeral or (other and e.is_ahead_of_clock)  # another rule judges how these events change the timestamp
    backwards = s.follows_step_back and not s.counts_messages
    return s.content and not moved and (s.is_allowed or not (e.source == "sync" or backwards))


def _after_counting_messages(s: Stamp) -> bool:
    return s.counts_messages and _after_sending(s)


def _is_wrong(s: Stamp) -> bool:
    return not s.is_allowed


def _is_too_low(s: Stamp) -> bool:
    return not s.is_allowed and s.seen + s.state < s.e.low


def _is_too_high(s: Stamp) -> bool:
    return not s.is_allowed and s.seen + s.state >= s.e.low


def _has_a_specific_cause(s: Stamp) -> bool:
    return not s.counts_messages and (s.has_wrong_start or s.is_behind_time or s.is_of_another_channel)


def _is_too_low_without_cause(s: Stamp) -> bool:
    return _is_too_low(s) and not _has_a_specific_cause(s)


def _is_too_high_without_cause(s: Stamp) -> bool:
    return _is_too_high(s) and not _has_a_specific_cause(s)


OTHERS, CLOCK_WENT_BACK = "other channels change nothing", "the clock went back"
ONE_MORE, SHOWN = "one more than the delivered timestamp", "the timestamp of the delivered message"
AFTER_SYNC, SYNC_RECEIVED = "one more than the sync message before", "sync messages are not delivered"
DELIVERED_LATE = "the message delivered late changes nothing"
OWN_SENDER = "a message with the participant's own sender ID changes nothing"
COUNTED = "messages that are received are not counted"
BUFFERED, COPIED = "the message with the higher timestamp still waits", "the preceding rebroadcast is not a new message"
BY_EPHEMERAL, OPENED = (
    "an ephemeral message does not change the local timestamp",
    "the local timestamp starts when the channel is opened",
)
CHANNELS, CLOCK, DELIVERED = (pb.CAPABILITY_CHANNELS,), (pb.CAPABILITY_VIRTUAL_CLOCK,), (pb.CAPABILITY_DELIVERED,)
RESEND, SYNC = (pb.CAPABILITY_RESEND, pb.CAPABILITY_VIRTUAL_CLOCK), (pb.CAPABILITY_SYNC,)

table(
    lamport_timestamps,
    _describe_timestamp,
    [
        # the columns: requirement, applies, wrong, code, why, position, needs
        RuleRow("SDS-SYNC-03", _is_sync, _is_too_low, "too-low", "", "", SYNC),
        RuleRow("SDS-SYNC-03", _is_sync, _is_too_high, "too-high", "", "", SYNC),
        RuleRow(
            "SDS-STATE-01",
            _other_channel_is_ahead,
            _is_of_another_channel,
            "moved-by-another-channel",
            OTHERS,
            "",
            CHANNELS,
        ),
        RuleRow("SDS-STATE-02", _is_first, _has_wrong_start, "wrong-start", OPENED),
        RuleRow("SDS-STATE-03", _after_idling, _is_behind_time, "fell-behind", "time has gone on", "", CLOCK),
        RuleRow("SDS-SEND-02", _clock_went_back, _is_too_low, "too-low", CLOCK_WENT_BACK, "", CLOCK),
        RuleRow("SDS-SEND-02", _clock_went_back, _is_too_high, "too-high", CLOCK_WENT_BACK, "", CLOCK),
        RuleRow("SDS-RECV-01", _own_sender_is_ahead, _was_moved_by_own_sender, "timestamp-moved", OWN_SENDER),
        RuleRow("SDS-DELIVER-01", _after_a_delivery, _is_too_low, "too-low", ONE_MORE, "", DELIVERED),
        RuleRow("SDS-DELIVER-01", _after_a_delivery, _is_too_high, "too-high", ONE_MORE, "", DELIVERED),
        RuleRow("SDS-DELIVER-01", _shown_after_a_delivery, _is_too_low, "too-low", SHOWN, "", DELIVERED),
        RuleRow("SDS-DELIVER-01", _shown_after_a_delivery, _is_too_high, "too-high", SHOWN, "", DELIVERED),
        RuleRow("SDS-DELIVER-02", _after_a_late_delivery, _is_too_low, "moved-back", DELIVERED_LATE, "", DELIVERED),
        RuleRow("SDS-DELIVER-02", _after_a_late_delivery, _is_too_high, "moved-ahead", DELIVERED_LATE, "", DELIVERED),
        RuleRow(
            "SDS-DELIVER-03",
            _waiting_message_is_ahead,
            _is_above_expected,
            "moved-early",
            BUFFERED,
            "AMB-15",
            DELIVERED,
        ),
        RuleRow("SDS-SYNC-15", _received_sync_is_ahead, _is_above_expected, "timestamp-moved", SYNC_RECEIVED, "AMB-17"),
        RuleRow("SDS-SYNC-14", _after_a_sync, _repeats_the_sync, "not-increased", AFTER_SYNC, "AMB-18", SYNC),
        RuleRow("SDS-SYNC-14", _after_a_sync, _is_below_the_sync, "too-low", AFTER_SYNC, "", SYNC),
        RuleRow("SDS-OUTSWEEP-05", _after_a_copy, _is_wrong, "timestamp-moved", COPIED, "", RESEND),
        RuleRow("SDS-EPHEMERAL-07", _after_ephemeral, _is_wrong, "", BY_EPHEMERAL),
        RuleRow("SDS-SEND-01", _after_counting_messages, _is_too_high, "too-high", COUNTED),
        RuleRow("SDS-SEND-01", _after_sending, _is_too_low_without_cause, "too-low"),
        RuleRow("SDS-SEND-01", _after_sending, _is_too_high_without_cause, "too-high"),
    ],
)
