"""Checks of repair requests in messages: section R-SEND, and the rules of R-STATE, R-GLOBAL and R-SYNC on requests.

If an implementation shows its outgoing repair request buffer, each check judges its own part: the new entry, its T_req,
and the request at T_req. Otherwise only the requests are judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from .....judging.judgement import Observation, observe_met, observe_outcome, observe_violation
from ...register import check
from ...view.channel_view import ChannelView
from ...view.losses import find_possibly_lost
from ...view.repair_terms import SECOND_MS, TIMED
from ...view.repair_tracker import NEVER, MissingMessage
from ...view.requester import Requester, requester, requests_any_repair
from ...view.windows import Window

_LEFT_OUT = {Kind.CONTENT: "left-out-of-content", Kind.SYNC: "left-out-of-sync"}
"""By kind of message: the code for a due request that the message does not carry."""
_TOLERATED_INTERVALS = 10
"""Number of sync intervals within which a sync message must be sent. One would be too strict: a backoff is legal."""


# ---- R-STATE ---------------------------------------------------------------------------------------------------------


@check("SDS-R-STATE-01", *TIMED, of="missing sds-r", together=True)
def missing_messages_are_tracked(view: ChannelView) -> Iterator[Observation]:
    """The outgoing repair request buffer lists missing messages; if it is not shown, they are requested.

    SDS-R-SEND-01 and SDS-R-RECV-03 judge participants that request nothing at all (AMB-141).
    """
    side = requester(view)
    yield from (observe_met(missing.detected.step) for missing in side.listed_dependencies)
    if not requests_any_repair(view):
        return
    for missing in side.requestable if side.shown else ():
        detected = missing.detected.step
        end = min(side.unchanged_until(missing), side.requested_at(missing))
        for shown in side.shown_between(detected.index, end):
            patience = view.terms.t_max_ms
            if not side.clock_is_monotonic(detected, shown.step) or shown.step.now_ms > detected.now_ms + (
                patience or 0
            ):
                break
            if missing.message_id in shown.due:
                yield observe_met(shown.step)
                continue
            waited = shown.step.now_ms - detected.now_ms
            which = f"{missing.message_id!r}, missing since step {detected.index}, {waited} ms ago"
            soft = "" if side.terms.sound else "AMB-08"
            expected = f"{which}, in the outgoing repair request buffer"
            seen = "the buffer has no entry for the message"
            yield observe_violation(shown.step, "not-tracked", expected, seen, soft)
            break
    if not side.shown:
        yield from _judge_requested(side, "not-tracked")


def _judge_requested(side: Requester, code: str) -> Iterator[Observation]:
    """Judge whether every missing message that only one causal history names is requested."""
    for missing in side.requestable:
        if len(missing.named) > 1 and missing.named[1].step.index < side.unchanged_until(missing):
            continue  # SDS-R-STATE-02 judges messages that are named again
        yield from judge_requested_in_time(side, missing, code)


def judge_requested_in_time(side: Requester, missing: MissingMessage, code: str) -> Iterator[Observation]:
    """Judge whether a content or sync message requests a missing message in time.

    Messages count until the outgoing repair request buffer may have changed the entry of the missing message.
    """
    if (asking := side.find_timely_request(missing)) is not None:
        yield observe_met(asking.step)
    elif sent := side.last_due_carrier(missing):
        if side.first_request_index(missing.message_id, sent.step.index) < side.unchanged_until(missing):
            return  # the request is late, not missing: SDS-R-GLOBAL-10 judges it
        which = f"{missing.message_id!r}, missing since step {missing.detected.step.index}"
        seen = "no content or sync message requests the missing message"
        yield observe_violation(sent.step, code, f"{which}, requested: its T_req has passed", seen)


@check("SDS-R-STATE-01", *TIMED, of="outgoing sds-r")
def waiting_messages_are_not_requested(view: ChannelView) -> Iterator[Observation]:
    """Messages in the incoming buffer need no request; requesting them is wasteful (AMB-70).

    A message that was given up while it was buffered may have been dropped, so it may be missing again (AMB-92).
    """
    side = requester(view)
    for sent in side.carriers:
        for entry in sent.message.repair_request:
            waits = side.waits(entry.message_id, sent.step) and not _is_older_than_arrival(
                side, entry.message_id, sent.step.now_ms
            )
            came = {m for r in side.arrivals.get(entry.message_id, ()) for m in (entry.message_id, *r.unmet)}
            # the message is missing again (AMB-96)
            dropped = not view.kept_entries.holds(entry.message_id, sent.step.index - 1)
            if waits and not dropped and not find_possibly_lost(view, came, sent.step):
                seen = f"a request for {entry.message_id!r}, which has arrived and waits for its dependencies"
                expected = "requests only for missing messages"
                yield observe_violation(sent.step, "asked-while-waiting", expected, seen, "AMB-70")


def _is_older_than_arrival(side: Requester, message_id: str, now_ms: int) -> bool:
    """Does a request at ``now_ms`` belong to an entry from before the message arrived?

    An entry from after the arrival would not be due yet.
    """
    t_min = side.terms.t_min_ms or 0
    arrived = side.arrivals[message_id][0].step
    return now_ms < arrived.now_ms + t_min - side.slack_ms


@check("SDS-R-STATE-02", *TIMED, of="missing sds-r", together=True)
def named_again_keeps_its_time(view: ChannelView) -> Iterator[Observation]:
    """T_req counts from the first causal history that names the missing message; later ones do not postpone it.

    Judged only if any participant requests any message (AMB-141).
    """
    side = requester(view)
    for missing in side.certainly_missing if requests_any_repair(view) else ():
        detected, end = missing.detected.step, side.unchanged_until(missing)
        again = [r.step for r in missing.named[1:] if r.step.index < end]
        first = side.shown_t_req(missing)
        if not again:
            continue
        if first is not None:
            asked = side.requested_at(missing)
            for shown in side.shown_between(again[0].index, min(end, asked, side.may_be_renewed_from(missing))):
                due = shown.due.get(missing.message_id)
                if due is None or not side.clock_is_monotonic(detected, shown.step):
                    break
                if due <= first:
                    yield observe_met(shown.step)
                    continue
                since = f"{first - detected.now_ms} ms after step {detected.index}, which found the message missing"
                seen = f"T_req is {due - first} ms later, after step {again[0].index} has named the message again"
                expected = f"T_req of {missing.message_id!r} unchanged, {since}"
                yield observe_violation(shown.step, "postponed", expected, seen)
                break
        elif missing in side.requestable:
            if (asking := side.find_timely_request(missing)) is not None and asking.step.index > again[0].index:
                yield observe_met(asking.step)
            elif asking is None and side.kinds and (sent := side.last_due_carrier(missing)):
                which = f"{missing.message_id!r}, missing for {sent.step.now_ms - detected.now_ms} ms"
                why = (
                    f"the causal history received at step {again[0].index} names the message again and must not "
                    "postpone its request"
                )
                seen = "the message is not requested"
                yield observe_violation(sent.step, "postponed", f"a request for {which}: {why}", seen)


@check("SDS-R-STATE-09", *TIMED, of="missing", together=True)
def asked_for_after_t_req(view: ChannelView) -> Iterator[Observation]:
    """A message that is still missing at its T_req is requested in a content or sync message."""
    return _judge_requested(requester(view), "never-asked") if requests_any_repair(view) else iter(())


# ---- R-GLOBAL --------------------------------------------------------------------------------------------------------


@check("SDS-R-GLOBAL-09", *TIMED, of="missing")
def never_before_t_min(view: ChannelView) -> Iterator[Observation]:
    """No message is requested earlier than T_min after it was found missing."""
    if view.terms.t_min_ms is None:
        return
    side = requester(view)
    for missing in view.repair.missing:
        detected = missing.detected.step
        for sent in missing.requests:
            waited = sent.step.now_ms - detected.now_ms
            if not side.clock_is_monotonic(detected, sent.step):
                continue
            expected = f"no request for {missing.message_id!r} within {view.terms.t_min_ms} ms of finding it missing"
            seen = f"requested after {waited} ms{view.terms.clock_hint(waited >= view.terms.t_min_ms - SECOND_MS)}"
            met = waited >= view.terms.t_min_ms - side.slack_ms
            yield observe_outcome(sent.step, "asked-early", met, expected, seen)


@check("SDS-R-GLOBAL-10", *TIMED, of="missing sds-r")
def requests_by_t_max(view: ChannelView) -> Iterator[Observation]:
    """The first request is sent by T_max after detection, if the participant sends a message that can carry it.

    SDS-R-STATE-09 judges missing requests, SDS-R-STATE-02 postponed requests.
    """
    side = requester(view)
    for missing in side.requestable if view.terms.t_max_ms else ():
        assert view.terms.t_max_ms is not None
        detected, last = missing.detected.step, missing.detected.step.now_ms + view.terms.t_max_ms
        end = side.unchanged_until(missing)
        asked = side.requested_at(missing)
        again = missing.named[1].step.index if len(missing.named) > 1 else end
        for sent in side.carriers_between(detected.index, min(end, again, asked + 1)):
            asks = side.requests_repair_of(sent, missing.message_id)
            if not side.clock_is_monotonic(detected, sent.step) or (side.is_full(sent) and not asks):
                continue
            if sent.message.kind not in side.kinds:
                continue  # SDS-R-SEND-01 judges participants that never request in this kind of message
            if sent.step.now_ms > last + SECOND_MS:
                break
            if asks:
                yield observe_met(sent.step)
            elif sent.step.now_ms >= last + side.slack_ms and asked < min(end, again):
                late = view.trace.steps[asked - 1].now_ms - detected.now_ms
                by = f"by T_max, {view.terms.t_max_ms} ms after the message was found missing"
                seen = f"the first request comes after {late} ms, at step {asked}"
                yield observe_violation(sent.step, "asked-late", f"a request for {missing.message_id!r} {by}", seen)
                break


# ---- R-SEND ----------------------------------------------------------------------------------------------------------


def _exact_t_req(side: Requester, missing: MissingMessage) -> Window | None:
    due = side.t_req_window(missing)
    return due if due is not None and due.exact else None


@check("SDS-R-SEND-01", *TIMED, of="missing sds-r")
def due_requests_are_carried(view: ChannelView) -> Iterator[Observation]:
    """Every content and sync message carries the due requests that were not sent yet, within the cap."""
    side = requester(view)
    for missing in side.requestable:
        due = _exact_t_req(side, missing)
        again = missing.named[1].step.index if len(missing.named) > 1 else NEVER
        if (asking := side.find_timely_request(missing)) is not None:
            yield observe_met(asking.step)
        for sent, asks in side.due_carriers(missing):
            if asks or sent.step.index > again:
                break  # SDS-R-STATE-02 judges messages that are named again
            if due is not None and sent.step.now_ms == due.high:
                continue  # SDS-R-SEND-02 judges a message at exactly T_req
            expected = f"a request for {missing.message_id!r} in the {sent.message.kind.value} message" + (
                f": its T_req was {sent.step.now_ms - due.high} ms before" if due else ""
            )
            seen = f"no request{view.terms.clock_hint(due is not None and sent.step.now_ms <= due.high + SECOND_MS)}"
            yield observe_violation(sent.step, _LEFT_OUT[sent.message.kind], expected, seen)
            break


@check("SDS-R-SEND-02", *TIMED, of="missing sds-r")
def requests_are_sent_from_t_req_on(view: ChannelView) -> Iterator[Observation]:
    """If T_req is known exactly, messages before T_req have no request, and all from T_req on have it (AMB-110)."""
    side = requester(view)
    for missing in side.certainly_missing:
        due, detected = _exact_t_req(side, missing), missing.detected.step
        if due is None:
            continue
        end = min(side.unchanged_until(missing), side.requested_at(missing) + 1)
        for sent in side.carriers_between(detected.index, end):
            early = due.low - sent.step.now_ms
            if not side.clock_is_monotonic(detected, sent.step):
                continue
            if early > side.slack_ms and side.requests_repair_of(sent, missing.message_id):
                expected = f"no request for {missing.message_id!r} before its T_req"
                hint = view.terms.clock_hint(early <= SECOND_MS)
                yield observe_violation(sent.step, "asked-early", expected, f"requested {early} ms before T_req{hint}")
            elif early > 0:
                yield observe_met(sent.step)
        for sent, asks in side.due_carriers(missing) if not side.slack_ms else ():
            if sent.step.now_ms != due.high:
                continue
            if asks or sent.message.kind in side.kinds:
                expected = f"a request for {missing.message_id!r} at T_req, which is exactly now"
                yield observe_outcome(sent.step, "asked-late", asks, expected, f"no request{view.terms.clock_hint()}")


@check("SDS-R-SEND-03", pb.CAPABILITY_SDS_R, of="outgoing sds-r")
def no_more_than_the_cap(view: ChannelView) -> Iterator[Observation]:
    """No repair request has more entries than the cap in force."""
    for sent in view.repair.carriers:
        count, cap = len(sent.message.repair_request), view.terms.cap
        if cap is None or not count:
            continue
        expected = f"at most {cap} entries in a repair request, the cap in force"
        seen = f"{count} entries, one more than the cap" if count == cap + 1 else f"{count} entries"
        yield observe_outcome(sent.step, "over-cap", count <= cap, expected, seen)


@check("SDS-R-SEND-04", *TIMED, of="missing outgoing sds-r")
def lowest_t_req_first(view: ChannelView) -> Iterator[Observation]:
    """If more requests are due than the cap allows, the requests with the lowest T_req are sent."""
    side = requester(view)
    known = {m.message_id: (m, due) for m in side.certainly_missing if (due := _exact_t_req(side, m)) is not None}
    for sent in side.carriers:
        if not side.is_full(sent):
            continue
        index, chosen = sent.step.index, {entry.message_id for entry in sent.message.repair_request}
        left = [
            due.high
            for message_id, (missing, due) in known.items()
            if message_id not in chosen
            and missing.detected.step.index
            < index
            < min(side.unchanged_until(missing), side.first_request_index(message_id))
            and due.high + view.terms.clock_ms <= sent.step.now_ms <= side.request_deadline(missing, due)
            and side.clock_is_monotonic(missing.detected.step, sent.step)
            and not side.is_untracked(missing, sent)
        ]
        taken = {message_id: known[message_id][1].low for message_id in chosen if message_id in known}
        if not left or not taken:
            continue
        latest = max(taken, key=lambda message_id: taken[message_id])
        expected = f"{len(chosen)} requests with the lowest T_req of {len(chosen) + len(left)} that are due"
        seen = f"a request for {latest!r}, due {taken[latest] - min(left)} ms after a request that is left out"
        # Without a shown buffer, both times were computed from separate readings of a coarse clock.
        apart = 0 if side.shown else view.terms.clock_ms
        yield observe_outcome(sent.step, "wrong-order", taken[latest] <= min(left) + apart, expected, seen)


@check("SDS-R-SEND-05", pb.CAPABILITY_SDS_R, of="outgoing sds-r")
def at_most_three_by_default(view: ChannelView) -> Iterator[Observation]:
    """Unless another cap is configured, a message requests at most three messages."""
    for sent in view.repair.carriers:
        count = len(sent.message.repair_request)
        if not count or view.party.asked.HasField("max_repair_requests"):
            continue
        met = count <= 3
        expected = "at most three entries in a repair request by default"
        yield observe_outcome(sent.step, "default-too-high", met, expected, f"{count}")


@check("SDS-R-SEND-06", *TIMED, of="outgoing sds-r")
def unset_when_nothing_is_due(view: ChannelView) -> Iterator[Observation]:
    """When no request can be due, field 13 does not occur at all, not even with an empty entry.

    SDS-R-FIELDS-02, SDS-R-SEND-02 and SDS-R-RECV-01 judge entries with an ID.
    """
    side, t_min = requester(view), view.terms.t_min_ms
    for sent in side.carriers if t_min is not None else ():
        known = [m for m in view.repair.missing if m.detected.step.index < sent.step.index]
        if any(
            (m.arrived is None or m.arrived.index >= sent.step.index)
            and not (
                side.clock_is_monotonic(m.detected.step, sent.step)
                and sent.step.now_ms < m.detected.step.now_ms + (t_min or 0) - SECOND_MS
            )
            for m in known
        ):
            continue
        empty = sum(not entry.message_id for entry in sent.message.repair_request)
        if empty or not sent.message.repair_request:
            what = "an empty field 13" if empty == 1 else f"{empty} entries with nothing in them"
            met = not empty
            expected = "no occurrence of field 13 (repair_request), because nothing is due"
            yield observe_outcome(sent.step, "empty-entry", met, expected, what)


@check("SDS-R-SEND-07", *TIMED, of="missing sds-r")
def only_what_is_still_missing(view: ChannelView) -> Iterator[Observation]:
    """A message that arrived after its T_req is no longer requested.

    SDS-R-RECV-01 judges entries that stay in the buffer, and messages that arrived before T_req.
    """
    side = requester(view)
    for missing in side.certainly_missing:
        arrived, due = missing.arrived, side.t_req_window(missing)
        detected = missing.detected.step
        if arrived is None or due is None or side.unchanged_until(missing) < arrived.index:
            continue
        if not side.clock_is_monotonic(detected, arrived) or arrived.now_ms < due.high + side.slack_ms:
            continue
        if side.requested_at(missing) < arrived.index:
            continue
        for sent in side.carriers_between(arrived.index, view.trace.steps[-1].index + 1):
            if not side.in_log(missing.message_id, sent.step):
                continue
            if not side.requests_repair_of(sent, missing.message_id):
                yield observe_met(sent.step)
            elif not any(
                missing.message_id in shown.due for shown in side.shown_between(arrived.index, sent.step.index)
            ):
                expected = f"no request for {missing.message_id!r}, which has arrived at step {arrived.index}"
                yield observe_violation(sent.step, "already-arrived", expected, "the message is requested")
            break


@check("SDS-R-SEND-07", pb.CAPABILITY_SDS_R, of="sds-r sent")
def own_messages_are_not_missing(view: ChannelView) -> Iterator[Observation]:
    """A participant does not request its own messages, even if a causal history named them before they were sent."""
    named = {entry.message_id: r.step.index for r in reversed(view.received) for entry in r.message.causal_history}
    early = [own for own in view.sent if named.get(own.message.message_id, NEVER) < own.step.index]
    for sent in view.repair.carriers if early else ():
        asked = {entry.message_id for entry in sent.message.repair_request}
        for own in early:
            if own.step.index < sent.step.index:
                expected = f"no request for the own message {own.message.message_id!r}, sent at step {own.step.index}"
                met = own.message.message_id not in asked
                seen = "the message is requested"
                yield observe_outcome(sent.step, "asked-for-own", met, expected, seen)


# ---- R-SYNC ----------------------------------------------------------------------------------------------------------


@check("SDS-R-SYNC-01", *TIMED, pb.CAPABILITY_PERIODIC_SYNC, of="missing sds-r")
def others_do_not_silence_requests(view: ChannelView) -> Iterator[Observation]:
    """If requests are due, a scheduled sync message is sent although other participants keep sending messages."""
    return _judge_scheduled_syncs(view, noisy=True)


@check("SDS-R-SYNC-02", *TIMED, pb.CAPABILITY_PERIODIC_SYNC, of="missing sds-r")
def requests_leave_with_the_next_sync(view: ChannelView) -> Iterator[Observation]:
    """If requests are due and no other participant sends, the next scheduled sync message is sent."""
    return _judge_scheduled_syncs(view, noisy=False)


def _judge_scheduled_syncs(view: ChannelView, *, noisy: bool) -> Iterator[Observation]:
    """Judge whether a participant that sends nothing else sends a due request, on the ticks of ten sync intervals.

    With ``noisy``, other participants send at least one message in each interval; else none. The intervals count from
    T_req or from the participant's last message, whichever is later. Later than T_max after T_req, nothing is judged,
    because the participant may have given up the request.
    """
    side, interval = requester(view), view.configuration.sync_interval_ms
    t_max = view.terms.t_max_ms
    for missing in side.requestable if interval and t_max else ():
        due, detected = side.t_req_window(missing), missing.detected.step
        asking = side.find_timely_request(missing)
        # A participant may send due sync messages at any command.
        unasked = asking is not None and asking.message.kind is Kind.SYNC and asking.step.command in ("tick", "receive")
        if asking is not None and unasked:
            before = asking.step.now_ms - 2 * interval
            received = _reception_times(side, before, detected.index, asking.step)
            if (_has_no_pause([before, *received, asking.step.now_ms], interval)) if noisy else not received:
                yield observe_met(asking.step)
        if due is None or asking is not None:
            continue
        end = min(side.unchanged_until(missing), side.requested_at(missing) + 1)
        owns = [s for s in side.carriers_between(detected.index, end) if s.step.command != "tick"]
        since = max([due.high + side.slack_ms, *(s.step.now_ms for s in owns)])
        first = max([detected.index, *(s.step.index for s in owns)])
        for tick in view.ticks:
            if not first < tick.index < end or tick.now_ms < since or not side.clock_is_monotonic(detected, tick):
                continue
            received = _reception_times(side, since, detected.index, tick)
            applies = _has_no_pause([since, *received, tick.now_ms], interval) if noisy else not received
            if (
                not applies
                or tick.now_ms > due.low + (t_max or 0)
                or side.carriers_between(tick.index - 1, tick.index + 1)
            ):
                break
            if tick.now_ms > since + _TOLERATED_INTERVALS * interval:
                others = ", even while others send" if noisy else ""
                passed = (
                    f"{_TOLERATED_INTERVALS} intervals of {interval} ms have passed since T_req and since the "
                    "participant's last message"
                )
                expected = f"a sync message{others}: the request for {missing.message_id!r} is due, and {passed}"
                seen = "no sync message is sent"
                yield observe_violation(tick, "sync-suppressed" if noisy else "sync-not-sent", expected, seen)
                break


def _reception_times(side: Requester, since_ms: int, after: int, until: Step) -> list[int]:
    """The times at which messages of other participants arrived: from ``since_ms`` on, after the step with the index
    ``after`` and before the step ``until``.
    """
    return [r.step.now_ms for r in side.received if after < r.step.index < until.index and r.step.now_ms >= since_ms]


def _has_no_pause(times: list[int], interval: int) -> bool:
    """Are all neighbouring times less than an interval apart?"""
    return all(later - earlier < interval for earlier, later in pairwise(times))
