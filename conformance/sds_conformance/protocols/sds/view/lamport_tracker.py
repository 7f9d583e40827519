"""Tracks the possible values of a participant's local Lamport timestamp, by the messages that it sends and receives."""

from __future__ import annotations

from sds_reference import SDS_2026_01, Revision

from .facts import LamportExpectation
from .windows import Window


class LamportTracker:
    """Tracks a range ``[low, high]`` that contains the local Lamport timestamp. After an own message, both are equal.

    If the timestamps of the revision count messages and do not follow the clock, ``low`` is the certain minimum, and
    there is no maximum.
    """

    def __init__(self, opened: Window, revision: Revision = SDS_2026_01) -> None:
        """``opened`` has the times that the participant's clock may have shown when the channel was opened."""
        self._revision = revision
        self.low, self._high = revision.lamport_floor(opened.low), revision.lamport_floor(opened.high)
        self._source = "open"
        self._used = False
        self._maybe_delivered_high = 0
        self._last_own_now: int | None = None
        self._waiting_sync_high = 0
        self._latest = opened
        self._reset()

    def _reset(self) -> None:
        self._buffered_high = self._own_sender_high = 0
        self._sync_high = self._waiting_sync_high
        self._sync_low = self.low
        self._received_count = 0
        self._late_delivery = self._rebroadcast = self._answered = self._ephemeral = False

    def expect(self, now: Window) -> LamportExpectation:
        """The expected timestamp of an own message that is sent when the clock can show ``now``."""
        earliest, latest = self._revision.lamport_floor(now.low), self._revision.lamport_floor(now.high)
        low = self.lowest_before(now)
        high = max(self._high, self._maybe_delivered_high, latest if self.is_open else 0)
        monotonic = None
        if now.high < self._latest.high:
            monotonic = Window(max(self._latest.low, low + 1), max(self._latest.high, high + 1))
        return LamportExpectation(
            low=max(earliest, low + 1),
            high=max(latest, high + 1),
            source=self._source,
            previous=low,
            buffered_high=max(latest, self._buffered_high + 1),
            sync_high=max(latest, self._sync_high + 1),
            sync_low=max(earliest, self._sync_low + 1),
            own_sender_high=max(latest, self._own_sender_high + 1),
            late_delivery=self._late_delivery,
            rebroadcast=self._rebroadcast,
            answered=self._answered,
            ephemeral=self._ephemeral,
            clock_stepped_back=self._last_own_now is not None and now.high < self._last_own_now,
            now=now,
            follows_clock=self._revision.lamport_follows_clock,
            received_count=self._received_count,
            monotonic=monotonic,
        )

    def lowest_before(self, now: Window) -> int:
        """The smallest possible local timestamp before an own message that is sent when the clock can show ``now``.

        The specification does not say when the timestamp of a channel is initialised. Any time up to the first use of
        the channel is accepted (AMB-111), and so is a first message with exactly that time (AMB-12).
        """
        return min(self.low, self._revision.lamport_floor(now.low)) - 1 if self.is_open else self.low

    def sent(self, lamport: int, now: Window, *, sync: bool) -> None:
        """Record an own message, whose timestamp becomes the local timestamp."""
        # A sync message need not change the local timestamp (AMB-18).
        before = min(self.low, self._sync_low)
        self._used = True
        if not sync or self._revision.sync_advances_lamport:
            self.low = self._high = lamport
        self._source = "sync" if sync else "send"
        self._last_own_now = now.high
        self._reset()
        if sync:
            self._sync_low = min(before, lamport)

    @property
    def is_open(self) -> bool:
        """May the timestamp still be initialised, because the channel has not been used yet (AMB-111)?"""
        return not self._used and self._revision.lamport_follows_clock

    def show_time(self, now: Window) -> None:
        """Record the time of a command to the participant, because some implementations read a clock that never goes
        back (AMB-13).
        """
        if now.high > self._latest.high:
            self._latest = now

    def pass_time(self, now: Window) -> None:
        """Record that time passes."""
        if self.is_open:
            self.low, self._high = min(self.low, now.low), max(self._high, now.high)
            self._sync_low = self.low

    def delivered(self, lamport: int) -> None:
        """Record delivered content."""
        self._received_count += 1
        self._used = True
        if lamport > self._high:
            self.low = self._high = self._sync_low = lamport
            self._source = "delivery"
        else:
            self._late_delivery = True
            self.low = max(self.low, lamport)
            self._sync_low = max(self._sync_low, lamport)

    def received_undelivered(self, lamport: int, *, sync: bool, waits: bool = False) -> None:
        """Record buffered content, or a sync message. By the wording of the specification, neither changes the local
        timestamp.

        A sync message that ``waits`` for a dependency may be buffered (AMB-42), and change the local timestamp later.
        """
        self._received_count += 1
        if sync:
            self._sync_high = max(self._sync_high, lamport)
            if waits:
                self._waiting_sync_high = max(self._waiting_sync_high, lamport)
        else:
            self._buffered_high = max(self._buffered_high, lamport)

    def received_with_own_sender(self, lamport: int) -> None:
        """Record a received message with the participant's own sender ID, which the participant should ignore."""
        self._received_count += 1
        self._own_sender_high = max(self._own_sender_high, lamport)

    def maybe_delivered(self, lamport: int) -> None:
        """Record content that arrived at an implementation without delivery signals."""
        self._received_count += 1
        self._maybe_delivered_high = max(self._maybe_delivered_high, lamport)

    def lower_to(self, low: int) -> None:
        """Lower the minimum to ``low``: an own message may have been sent before a delivery in the same step."""
        self.low = min(self.low, low)
        self._sync_low = min(self._sync_low, low)

    def raise_to(self, low: int) -> None:
        """Set the local timestamp to ``low`` if its range is below ``low``, because a delivery followed the own message
        of the step.
        """
        if low > self._high:
            self.low = self._high = self._sync_low = low
            self._source = "delivery"

    def may_have_moved(self, now: Window) -> None:
        """Record a message with an ID that was used before, or a requested sync message that was not sent.

        It is unknown whether such a message changed the local timestamp.
        """
        self._high = max(self._revision.lamport_floor(now.high), self._high + 1)

    def rebroadcast(self, *, asked_for: bool) -> None:
        """Record a copy of an own message. If a peer had ``asked_for`` the message, the copy may be a response."""
        self._answered |= asked_for
        self._rebroadcast |= not asked_for

    def ephemeral(self) -> None:
        self._ephemeral = True
