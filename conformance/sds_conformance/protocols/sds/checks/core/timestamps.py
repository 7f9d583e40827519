"""Lamport timestamps of own messages, and of states that are shown: which rule it was that went wrong.

The rule for sending, ``max(now, previous + 1)``, has many parts: the start, the time, the increase, what deliveries and
other channels do to it. Whatever went wrong shows as one wrong number, and is one violation: of the first part that
explains it.
"""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import MAX_LAMPORT

from .....judging.table import Row
from ...register import table
from ...view.channel_view import ChannelView
from ...view.facts import LamportExpectation
from ...view.timestamps import NEARBY, as_it_looks, lamport_sends, most_ahead_elsewhere, usual_errors
from ...view.windows import clock_at


class Stamp:
    """A Lamport timestamp that an implementation showed: in a content message, a sync message, or its state."""

    __slots__ = ("content", "e", "elsewhere", "moved", "right", "seen", "state", "step", "sync", "tells", "view")

    def __init__(self, view: ChannelView, step: Step, e: LamportExpectation, seen: int, kind: str) -> None:
        self.view, self.step, self.seen = view, step, seen
        self.content, self.sync, self.state = kind == "content", kind == "sync", kind == "state"
        self.e = e
        """What a message had to carry then."""
        self.right = e.stays(seen) or e.tolerates(seen + self.state)
        """Is it within all that the letter or a position allows?"""
        self.tells = self.content or (self.sync and e.low <= seen <= e.high)
        """Can it tell what moved the timestamp? A sync message that is not right to the letter may be so by itself."""
        self.moved = self.tells and (self.right or seen - e.low not in usual_errors(view))
        """Nor can one that is wrong by as much where nothing moved it."""
        self.elsewhere = e.moved_elsewhere(seen + self.state)
        """Is it too far on, after something with a rule of its own: SDS-EPHEMERAL-07 or SDS-R-SWEEP-05?"""

    @property
    def rule(self) -> str:
        """What a message had to carry, in words."""
        e = self.e
        if e.low > MAX_LAMPORT:
            return f"no message, or one that stays at {MAX_LAMPORT}: nothing can follow that (AMB-14)"
        if not e.follows_clock:
            return f"a lamport_timestamp that is counted on from {e.previous}"
        value, previous = (f"{e.low}", f"previous {e.previous}")
        if e.low != e.high:
            value, previous = f"{e.low} to {e.high}", "previous"
        return f"lamport_timestamp {value} = max({f'now {e.now.high}' if e.now.exact else 'now'}, {previous} + 1)"

    @property
    def of_another_channel(self) -> bool:
        """Is it as far ahead as only another channel is?"""
        return self.seen >= most_ahead_elsewhere(self.view) > max(self.e.now.high, self.e.high)

    @property
    def started_elsewhere(self) -> bool:
        """Does the first timestamp show that it did not start at the epoch time, whatever was made of it since?"""
        opened, e = clock_at(self.view.trace, self.view.party.opened_ms), self.e
        wrong = e.source == "open" and not self.right
        return wrong and not opened.low <= self.seen <= max(e.high, e.now.high) + NEARBY

    @property
    def fell_behind(self) -> bool:
        """Was it counted on from the previous, although time has gone on?"""
        return self.e.previous <= self.seen < self.e.now.low - NEARBY

    @property
    def after_a_step_back(self) -> bool:
        """Is it exactly one more than the previous, because the clock is behind that again?

        What counts in another unit is never behind, or always: that is no matter of the step.
        """
        e = self.e
        return e.clock_stepped_back and e.source in ("send", "sync") and not e.late_delivery and e.counts_on


def lamport_timestamps(view: ChannelView) -> Iterator[Stamp]:
    """A timestamp is max(now, previous + 1), where the local one follows what is delivered and nothing else."""
    for sent, seen in lamport_sends(view):
        yield Stamp(view, sent.step, sent.lamport, seen, "content")
    for sync in view.syncs:
        if sync.message.lamport_timestamp is not None:
            yield Stamp(view, sync.step, sync.lamport, sync.message.lamport_timestamp, "sync")
    for observed in view.observed:
        e = observed.lamport
        if e.source == "delivery" and e.previous == e.low - 1 and observed.state.HasField("lamport_timestamp"):
            yield Stamp(view, observed.step, e, observed.state.lamport_timestamp, "state")


def _told(s: Stamp, row: Row[Stamp]) -> tuple[str, str]:
    rule = f"the local timestamp {s.e.previous}" if s.state else s.rule
    return f"{rule}: {row.why}" if row.why else rule, as_it_looks(s.e, s.step.now_ms, s.seen)


def _sync(s: Stamp) -> bool:
    return s.sync and not s.elsewhere


def _others_are_ahead(s: Stamp) -> bool:
    return s.content and most_ahead_elsewhere(s.view) > max(s.e.now.high, s.e.high)


def _of_another_channel(s: Stamp) -> bool:
    return not s.right and s.of_another_channel


def _first(s: Stamp) -> bool:
    return s.tells and s.e.source == "open" and not s.e.ephemeral


def _not_from_now(s: Stamp) -> bool:
    return s.started_elsewhere and not s.of_another_channel


def _after_idling(s: Stamp) -> bool:
    e, now = s.e, s.step.now_ms
    known = s.tells and (s.sync or e.source in ("open", "send", "delivery"))
    return known and e.previous + NEARBY < now == max(e.high, e.buffered_high, e.sync_high)


def _fell_behind(s: Stamp) -> bool:
    return s.fell_behind


def _clock_went_back(s: Stamp) -> bool:
    by_sending = s.right or (s.e.source == "send" and not s.elsewhere)
    return s.tells and s.after_a_step_back and by_sending


def _claimed_ahead(s: Stamp) -> bool:
    return s.moved and s.content and s.e.claimed_high > s.e.as_it_was_heard


def _moved_by_its_name(s: Stamp) -> bool:
    """Not what is wrong by a little, and more likely by another rule."""
    past = s.seen - s.e.as_it_was_heard
    return past > 0 and not s.elsewhere and past > abs(s.e.claimed_high - s.seen)


def _after_a_delivery(s: Stamp) -> bool:
    e = s.e
    return s.moved and s.content and e.source == "delivery" and e.counts_on and not (e.late_delivery or s.elsewhere)


def _shown_after_a_delivery(s: Stamp) -> bool:
    return s.state and not s.elsewhere


def _after_a_late_delivery(s: Stamp) -> bool:
    return s.moved and s.e.late_delivery and s.e.counts_on and not s.elsewhere


def _something_waits(s: Stamp) -> bool:
    e = s.e
    return s.moved and e.buffered_high > max(e.high, e.sync_high) and s.seen <= e.buffered_high


def _syncs_came(s: Stamp) -> bool:
    e = s.e
    return s.moved and e.sync_high > max(e.high, e.buffered_high) and s.seen <= e.sync_high


def _above(s: Stamp) -> bool:
    return s.seen > s.e.high


def _after_a_sync(s: Stamp) -> bool:
    e = s.e
    return s.moved and s.content and e.source == "sync" and e.counts_on and not e.late_delivery and s.seen <= e.low


def _that_of_the_sync(s: Stamp) -> bool:
    return s.seen == s.e.low - 1


def _below_the_sync(s: Stamp) -> bool:
    return s.seen < s.e.low - 1


def _after_a_copy(s: Stamp) -> bool:
    e = s.e
    return s.moved and e.rebroadcast and not e.answered and e.low > s.step.now_ms and not s.elsewhere


def _after_ephemeral(s: Stamp) -> bool:
    e = s.e
    return s.moved and e.ephemeral and e.counts_on and not (e.rebroadcast or e.answered)


def _after_sending(s: Stamp) -> bool:
    e = s.e
    moved = e.source == "delivery" or e.late_delivery or e.rebroadcast or e.answered or e.ephemeral
    return s.content and not moved and (s.right or not (e.source == "sync" or s.after_a_step_back))


def _wrong(s: Stamp) -> bool:
    return not s.right


def _low(s: Stamp) -> bool:
    return not s.right and s.seen + s.state < s.e.low


def _high(s: Stamp) -> bool:
    return not s.right and s.seen + s.state >= s.e.low


def _has_a_reason(s: Stamp) -> bool:
    return s.started_elsewhere or s.fell_behind or s.of_another_channel


def _low_without_reason(s: Stamp) -> bool:
    return _low(s) and not _has_a_reason(s)


def _high_without_reason(s: Stamp) -> bool:
    return _high(s) and not _has_a_reason(s)


OTHERS, CLOCK_WENT_BACK = "other channels change nothing", "the clock went back"
ONE_MORE, SHOWN = "one more than what was delivered", "that of the message delivered"
AFTER_SYNC, HEARD = "one more than the sync message before", "sync messages are not delivered"
DELIVERED_LATE, CLAIMED = "the message delivered late changes nothing", "what comes in its own name changes nothing"
BUFFERED, COPIED = "the message from further ahead still waits", "the rebroadcast before it is no new message"
BY_EPHEMERAL, OPENED = "an ephemeral message does not move the clock", "it starts when the channel is opened"
CHANNELS, CLOCK, DELIVERED = (pb.CAPABILITY_CHANNELS,), (pb.CAPABILITY_VIRTUAL_CLOCK,), (pb.CAPABILITY_DELIVERED,)
RESEND, SYNC = (pb.CAPABILITY_RESEND, pb.CAPABILITY_VIRTUAL_CLOCK), (pb.CAPABILITY_SYNC,)

table(
    lamport_timestamps,
    _told,
    [
        # requirement, applies, wrong, code, why, position, needs
        Row("SDS-SYNC-03", _sync, _low, "too-low", "", "", SYNC),
        Row("SDS-SYNC-03", _sync, _high, "too-high", "", "", SYNC),
        Row("SDS-STATE-01", _others_are_ahead, _of_another_channel, "moved-by-another-channel", OTHERS, "", CHANNELS),
        Row("SDS-STATE-02", _first, _not_from_now, "wrong-start", OPENED),
        Row("SDS-STATE-03", _after_idling, _fell_behind, "fell-behind", "time has gone on", "", CLOCK),
        Row("SDS-SEND-02", _clock_went_back, _low, "too-low", CLOCK_WENT_BACK, "", CLOCK),
        Row("SDS-SEND-02", _clock_went_back, _high, "too-high", CLOCK_WENT_BACK, "", CLOCK),
        Row("SDS-RECV-01", _claimed_ahead, _moved_by_its_name, "timestamp-moved", CLAIMED),
        Row("SDS-DELIVER-01", _after_a_delivery, _low, "too-low", ONE_MORE, "", DELIVERED),
        Row("SDS-DELIVER-01", _after_a_delivery, _high, "too-high", ONE_MORE, "", DELIVERED),
        Row("SDS-DELIVER-01", _shown_after_a_delivery, _low, "too-low", SHOWN, "", DELIVERED),
        Row("SDS-DELIVER-01", _shown_after_a_delivery, _high, "too-high", SHOWN, "", DELIVERED),
        Row("SDS-DELIVER-02", _after_a_late_delivery, _low, "moved-back", DELIVERED_LATE, "", DELIVERED),
        Row("SDS-DELIVER-02", _after_a_late_delivery, _high, "moved-ahead", DELIVERED_LATE, "", DELIVERED),
        Row("SDS-DELIVER-03", _something_waits, _above, "moved-early", BUFFERED, "AMB-15", DELIVERED),
        Row("SDS-SYNC-15", _syncs_came, _above, "timestamp-moved", HEARD, "AMB-17"),
        Row("SDS-SYNC-14", _after_a_sync, _that_of_the_sync, "not-increased", AFTER_SYNC, "AMB-18", SYNC),
        Row("SDS-SYNC-14", _after_a_sync, _below_the_sync, "too-low", AFTER_SYNC, "", SYNC),
        Row("SDS-OUTSWEEP-05", _after_a_copy, _wrong, "timestamp-moved", COPIED, "", RESEND),
        Row("SDS-EPHEMERAL-07", _after_ephemeral, _wrong, "", BY_EPHEMERAL),
        Row("SDS-SEND-01", _after_sending, _low_without_reason, "too-low"),
        Row("SDS-SEND-01", _after_sending, _high_without_reason, "too-high"),
    ],
    of="timestamps",
)
