"""The requester's side of SDS-R in one channel: the requests that a participant must send, and their times.

A `Requester` is built once for each view, because many checks read it. The specification does not say whether a missing
message must be requested after certain events, so no check requires it. These events are a request by the participant
or by another participant, the arrival of a copy in any form, a mention in a message that may be refused, and a step
back of the clock (AMB-68, AMB-81, AMB-84, AMB-85).

Each step of a repair request is a SHOULD: "SHOULD populate the repair_request field", "SHOULD add any unmet causal
dependencies to its outgoing repair request buffer". An implementation that does not request repairs at all violates
only these SHOULDs: the other rules of the requester apply only to implementations that do (AMB-141).
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import TypeVar

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from ....judging.view_cache import cache_per_view
from .channel_view import ChannelView
from .clock import clock_is_monotonic, is_latest_time
from .facts import Received, Sent
from .other_channels import arrived_elsewhere
from .repair_terms import SECOND_MS
from .repair_tracker import NEVER, MissingMessage
from .windows import Window


@dataclass(frozen=True, slots=True)
class ShownRequests:
    """An outgoing repair request buffer, as a state showed it: T_req in epoch milliseconds, by message ID."""

    step: Step
    due: dict[str, int]


T = TypeVar("T", ShownRequests, Sent, Received)
_index = attrgetter("step.index")


def _first_after(indices: list[int], after: int) -> int:
    """The first of the ascending ``indices`` that is greater than ``after``; `NEVER` if there is none."""
    at = bisect_right(indices, after)
    return indices[at] if at < len(indices) else NEVER


def _between(items: list[T], after: int, before: int) -> list[T]:
    """The ``items`` of the steps after step ``after`` and before step ``before``."""
    return items[bisect_right(items, after, key=_index) : bisect_left(items, before, key=_index)]


class Requester:
    """The requester's side of one participant in one channel."""

    def __init__(self, view: ChannelView) -> None:
        self.view = view
        self.terms = view.terms
        self.carriers = view.repair.carriers
        """The content and sync messages that the participant sent, in order. Such messages must carry the due
        requests.
        """
        self.shown = [
            ShownRequests(o.step, {e.message_id: e.due_ms for e in o.state.outgoing_repairs.entries})
            for o in view.states_showing("outgoing_repairs")
        ]
        self.arrivals: dict[str, list[Received]] = {}
        self.received = [r for r in view.received if not r.own and not r.rejected]
        """Messages of other participants that this participant may have processed, in order."""
        self._changed_at: dict[str, list[int]] = {}
        for received in view.received:
            message_id = received.message.message_id
            for touched in (message_id, *(entry.message_id for entry in received.message.repair_request)):
                self._changed_at.setdefault(touched, []).append(received.step.index)
            if received.kind is Kind.CONTENT and not (received.own or received.rejected or received.oddity):
                self.arrivals.setdefault(message_id, []).append(received)
        self._asked: dict[str, list[int]] = {}
        self._may_be_renewed_from: dict[int, int] = {}
        self._unchanged_until: dict[int, int] = {}
        for step in view.trace.of(view.party.name):
            for message in step.messages:
                for entry in message.repair_request if message.channel_id == view.channel_id else ():
                    self._asked.setdefault(entry.message_id, []).append(step.index)
        asking = [sent for sent in self.carriers if sent.message.repair_request]
        self.kinds = {sent.message.kind for sent in asking}
        """The kinds of own messages that carry requests: content, sync, or both. Messages of a kind that never carries
        requests prove nothing about T_req.
        """
        self._longest_request = max((len(sent.message.repair_request) for sent in asking), default=0)

    # ---- time ------------------------------------------------------------------------------------------------------

    def clock_is_monotonic(self, first: Step, last: Step) -> bool:
        """Is the clock at ``first`` not behind any earlier time of the trace, and does it not go back until
        ``last``?
        """
        return clock_is_monotonic(self.view, first, last)

    @cached_property
    def slack_ms(self) -> int:
        """The tolerance of T_req, in milliseconds (AMB-05).

        The tolerance is the declared error of the clock if T_req is known to have milliseconds, by shown times or by a
        known hash. Otherwise it is a second.
        """
        fine = any(due % SECOND_MS for shown in self.shown for due in shown.due.values())
        known = self.terms.profile is not None
        return self.terms.clock_ms if fine or known else SECOND_MS

    # ---- missing messages ------------------------------------------------------------------------------------------

    @cached_property
    def certainly_missing(self) -> list[MissingMessage]:
        """Messages that were certainly missing, and that a valid and accepted message revealed."""
        return [m for m in self._expected_requests if not self._has_a_namesake(m)]

    @cached_property
    def namesakes(self) -> list[MissingMessage]:
        """Missing messages that were not requested yet when a message with the same ID arrived in another channel."""
        return [m for m in self._expected_requests if self._has_a_namesake(m)]

    @cached_property
    def _expected_requests(self) -> list[MissingMessage]:
        return [] if self.view.gives_up else self._certain

    @cached_property
    def listed_dependencies(self) -> list[MissingMessage]:
        """The missing messages in the shown buffer of an implementation that may give up dependencies; else empty.

        Such an implementation need not list every missing message, but each listed message has a T_req that can be
        judged.
        """
        return [m for m in self._certain if self.shown_t_req(m) is not None] if self.view.gives_up else []

    @cached_property
    def _certain(self) -> list[MissingMessage]:
        if not self.terms.on:
            return []
        certain = (m for m in self.view.repair.missing if m.detected.is_binding and not m.detected.foreign_filter)
        came = {message_id: copies[0].step.index for message_id, copies in self.view.arrivals.items()}
        return [m for m in certain if came.get(m.message_id, NEVER) > m.detected.step.index]

    def _has_a_namesake(self, missing: MissingMessage) -> bool:
        came, detected = arrived_elsewhere(self.view).get(missing.message_id, NEVER), missing.detected.step.index
        return detected < came < min(self.unchanged_until(missing), self.requested_at(missing))

    @cached_property
    def requestable(self) -> list[MissingMessage]:
        """The missing messages that content revealed and whose sender is known, so that a request can succeed
        (AMB-72).
        """
        return [m for m in self.certainly_missing if m.first.sender_id and m.detected.kind is Kind.CONTENT]

    def unchanged_until(self, missing: MissingMessage) -> int:
        """Index of the first step after which a missing message may no longer be tracked; `NEVER` if there is none.

        In such a step, a copy of the message or another participant's request for it arrives, or the message is given
        up.
        """
        until = self._unchanged_until.get(id(missing))
        if until is None:
            touched = self.next_copy_or_request(missing.message_id, missing.detected.step.index - 1)
            lost = missing.lost.index if missing.lost is not None else NEVER
            until = self._unchanged_until[id(missing)] = min(touched, lost, missing.first_change)
        return until

    def may_be_renewed_from(self, missing: MissingMessage) -> int:
        """Index of the first step, from T_max after the detection on, that receives a message of another participant.

        The entry of the missing message may have been dropped before, and this message may add it again (AMB-81).
        """
        detected, t_max = missing.detected.step, self.terms.t_max_ms or 0
        if detected.index not in self._may_be_renewed_from:
            late = self.received[bisect_right(self.received, detected.index, key=_index) :]
            steps = (r.step.index for r in late if r.step.now_ms >= detected.now_ms + t_max)
            self._may_be_renewed_from[detected.index] = next(steps, NEVER)
        return self._may_be_renewed_from[detected.index]

    def first_request_index(self, message_id: str, after: int = 0) -> int:
        """Index of the first step, after step ``after``, whose broadcasts request a message; `NEVER` if there is
        none.
        """
        return _first_after(self._asked.get(message_id, []), after)

    def requested_at(self, missing: MissingMessage) -> int:
        """Index of the first step, after a message was found missing, whose broadcasts request it; `NEVER` if there is
        none.
        """
        return self.first_request_index(missing.message_id, missing.detected.step.index)

    def next_copy_or_request(self, message_id: str, index: int) -> int:
        """Index of the first step, after step ``index``, that receives a copy of a message or a request for it.

        `NEVER` if there is none.
        """
        return _first_after(self._changed_at.get(message_id, []), index)

    def in_log(self, message_id: str, step: Step) -> bool:
        """Was the message certainly in the log when a step began?"""
        return self.view.kept_entries.holds(message_id, step.index - 1) and any(
            (not r.unmet and r.step.index < step.index) or r.is_delivered_before(step.index)
            for r in self.arrivals.get(message_id, ())
        )

    def waits(self, message_id: str, step: Step) -> bool:
        """Had the message arrived when a step began, and is it not certain that it was in the log?"""
        came = any(r.step.index < step.index for r in self.arrivals.get(message_id, ()))
        return came and not self.in_log(message_id, step)

    def next_received(self, index: int) -> Received | None:
        """The next message of another participant after step ``index``; None if there is none."""
        at = bisect_right(self.received, index, key=_index)
        return self.received[at] if at < len(self.received) else None

    # ---- shown buffers, and messages sent ---------------------------------------------------------------------------

    def shown_between(self, after: int, before: int) -> list[ShownRequests]:
        """The outgoing repair request buffers that states showed after step ``after`` and before step ``before``."""
        return _between(self.shown, after, before)

    def carriers_between(self, after: int, before: int) -> list[Sent]:
        """The content and sync messages that the participant sent after step ``after`` and before step ``before``."""
        return _between(self.carriers, after, before)

    def requests_repair_of(self, sent: Sent, message_id: str) -> bool:
        return any(entry.message_id == message_id for entry in sent.message.repair_request)

    def is_full(self, sent: Sent) -> bool:
        """May the repair request of an own message have the maximum length?

        Without a declared maximum, the length of the longest request in the trace counts as the maximum.
        """
        cap = self.terms.cap
        return len(sent.message.repair_request) >= (self._longest_request if cap is None else cap) > 0

    def first_full(self, step: Step) -> Sent | None:
        """Of the own messages after a step, the first whose repair request may have the maximum length; None if there
        is none.
        """
        return next((sent for sent in self.carriers_between(step.index, NEVER) if self.is_full(sent)), None)

    def shown_t_req(self, missing: MissingMessage) -> int | None:
        """T_req of a missing message in the first buffer that shows it, in epoch milliseconds.

        None if no buffer shows T_req before the message is requested, or before its entry may have changed.
        """
        asked = self.requested_at(missing)
        end = min(self.unchanged_until(missing), self.may_be_renewed_from(missing), asked)
        for shown in self.shown_between(missing.detected.step.index, end):
            if missing.message_id in shown.due:
                return shown.due[missing.message_id]
        return None

    def t_req_window(self, missing: MissingMessage) -> Window | None:
        """T_req of a missing message in epoch milliseconds.

        T_req is taken from a shown buffer, or else from the declared hash, or else it is between T_min and T_max.

        The declared hash is ignored if the trace contradicts it, because SDS-R-TREQ-01 judges this.
        """
        shown = self.shown_t_req(missing)
        if shown is not None:
            return Window(shown, shown)
        offsets = self.terms.t_req(missing.message_id, exactly=self._follows_declared_hash)
        return offsets.after(missing.detected.step.now_ms) if offsets is not None else None

    @cached_property
    def _follows_declared_hash(self) -> bool:
        """Do all known T_req of the trace agree with the declared hash, to within a second?"""
        for missing in self.certainly_missing:
            expected = self.terms.t_req(missing.message_id)
            detected, asked = missing.detected.step, self.first_request_index(missing.message_id)
            if expected is None or not expected.exact or not is_latest_time(self.view, detected):
                continue
            seen = self.measure_offset(missing)
            # T_req lies between the detection and the request
            if seen is None and asked < self.unchanged_until(missing):
                carriers = self.carriers_between(asked - 1, asked + 1)
                by = next((s.step for s in carriers if self.requests_repair_of(s, missing.message_id)), None)
                seen = (
                    Window(0, by.now_ms - detected.now_ms)
                    if by is not None and self.clock_is_monotonic(detected, by)
                    else None
                )
            if seen is not None and not seen.overlaps(expected, SECOND_MS):
                return False
        return True

    def request_deadline(self, missing: MissingMessage, due: Window) -> int:
        """The latest time, in epoch milliseconds, at which a due request must be sent. Later, the participant may have
        given up the request (AMB-81).
        """
        t_max = self.terms.t_max_ms
        return max(due.high, missing.detected.step.now_ms + (t_max or 0)) + SECOND_MS

    def is_untracked(self, missing: MissingMessage, sent: Sent) -> bool:
        """Did the last shown buffer before an own message lack the missing message?

        If so, another requirement judges the missing entry, and the missing request is only a consequence.
        """
        states = self.shown_between(missing.detected.step.index, sent.step.index)
        return bool(states) and missing.message_id not in states[-1].due

    def due_carriers(self, missing: MissingMessage) -> Iterator[tuple[Sent, bool]]:
        """Yield (own message that had to request the missing message, whether it requests it), until one requests it.

        Messages whose repair request has the maximum length are left out: other requests may have taken all places. A
        message after T_max that lacks the request is left out unless a message of the same kind was sent between T_req
        and T_max: without one, the participant may have given up the request (AMB-81).
        """
        due, detected = self.t_req_window(missing), missing.detected.step
        if due is None:
            return
        t_max = self.terms.t_max_ms or 0
        latest, asked = self.request_deadline(missing, due), self.requested_at(missing)
        seen_kinds: set[Kind] = set()
        for sent in self.carriers_between(detected.index, min(self.unchanged_until(missing), asked + 1)):
            if not self.clock_is_monotonic(detected, sent.step) or not due.high <= sent.step.now_ms <= latest:
                continue
            asks = self.requests_repair_of(sent, missing.message_id)
            if not asks and (self.is_full(sent) or self.is_untracked(missing, sent)):
                continue
            if sent.step.now_ms <= detected.now_ms + t_max:
                seen_kinds.add(sent.message.kind)
            if sent.step.now_ms >= due.high + self.slack_ms and (asks or sent.message.kind in seen_kinds):
                yield sent, asks

    def find_timely_request(self, missing: MissingMessage) -> Sent | None:
        """The first own message that requests a missing message in time, before the entry of the missing message may
        have changed.

        None if there is no such message.
        """
        due, detected = self.t_req_window(missing), missing.detected.step
        asked = self.requested_at(missing)
        for sent in self.carriers_between(asked - 1, min(self.unchanged_until(missing), asked + 1)):
            if (
                due is not None
                and self.clock_is_monotonic(detected, sent.step)
                and sent.step.now_ms <= self.request_deadline(missing, due)
            ):
                return sent
        return None

    def last_due_carrier(self, missing: MissingMessage) -> Sent | None:
        """The last of the `due_carriers`, if there are both content and sync messages among them; else None.

        Content messages are enough if the implementation sends no sync messages.
        """
        carriers = list(self.due_carriers(missing))
        kinds = {sent.message.kind for sent, _ in carriers}
        return carriers[-1][0] if len(kinds) == 2 or (carriers and not self.view.can(pb.CAPABILITY_SYNC)) else None

    def measure_offset(self, missing: MissingMessage) -> Window | None:
        """The time from detection to T_req in milliseconds, as the trace shows it, without the formula.

        The time is known exactly if a buffer shows T_req. Otherwise T_req lies between two messages of one kind: the
        last without the request and the first with it. None if unknown, or if a repair request between detection and
        T_req had the maximum length.
        """
        detected = missing.detected.step
        if not is_latest_time(self.view, detected):
            return None
        shown = self.shown_t_req(missing)
        if shown is not None:
            return Window(shown - detected.now_ms, shown - detected.now_ms)
        asked = self.requested_at(missing)
        sends = self.carriers_between(
            detected.index, min(self.unchanged_until(missing), self.may_be_renewed_from(missing), asked + 1)
        )
        # In one step, two messages may be sent, and only one of them may carry the request.
        asking = next(
            (s for s in sends if s.step.index == asked and self.requests_repair_of(s, missing.message_id)), None
        )
        if asking is None or not self.clock_is_monotonic(detected, asking.step):
            return None
        low = 0
        for sent in itertools.takewhile(lambda sent: sent is not asking, sends):
            if self.is_full(sent):
                return None
            # If a message of the same step, sent at the same time, lacks the request, SDS-R-SEND-01 reports it.
            if sent.message.kind is asking.message.kind and sent.step.index < asked:
                low = sent.step.now_ms - detected.now_ms + 1
        return Window(low, asking.step.now_ms - detected.now_ms)


@cache_per_view
def requester(view: ChannelView) -> Requester:
    """The requester's side of a view."""
    return Requester(view)


def requesters_of_channel(view: ChannelView) -> list[Requester]:
    """The requester's sides of all participants in the channel, if the view is the first of them; else empty."""
    views = [other for other in view.views_in_channel if other.terms.on]
    return [requester(other) for other in views] if views and views[0] is view else []


@cache_per_view
def requests_any_repair(view: ChannelView) -> bool:
    """Does any participant in the trace request a repair, or show a planned request, in any channel?"""
    return _any_participant_requests(view.views_in_channel[0])


@cache_per_view
def _any_participant_requests(view: ChannelView) -> bool:
    """Does any participant in the trace request a repair? The result is cached for all views, because there may be
    thousands.
    """
    steps = view.trace.steps
    return any(message.repair_request for step in steps for message in step.messages) or any(
        step.state is not None and step.state.outgoing_repairs.entries for step in steps
    )
