"""What messages ask for: R-SEND, and what R-STATE, R-GLOBAL and R-SYNC say of requests and of their times.

Where an implementation shows its outgoing repair request buffer, each check judges its own step: was the message added,
is its T_req right, was it asked for at T_req. Without that, only the requests themselves speak.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from .....judging.judgement import Observation, held, judged, violated
from ...register import check
from ...view.channel_view import ChannelView
from ...view.halves import asks_for_anything
from ...view.losses import may_be_lost
from ...view.repair_terms import SECOND_MS, TIMED
from ...view.repair_tracker import NEVER, Missing
from ...view.requester import Requester, requester
from ...view.windows import Window

_LEFT_OUT = {Kind.CONTENT: "left-out-of-content", Kind.SYNC: "left-out-of-sync"}
"""Codes of due requests that a message does not carry, by its kind."""
_LENIENT_INTERVALS = 10
"""Sync intervals within which a sync message must have gone out: a random backoff is no fault."""


# ---- R-STATE ---------------------------------------------------------------------------------------------------------


@check("SDS-R-STATE-01", *TIMED, of="missing sds-r", together=True)
def missing_messages_are_tracked(view: ChannelView) -> Iterator[Observation]:
    """The outgoing repair request buffer lists missing messages; if it is not shown, they are requested.

    Not to ask at all is SDS-R-SEND-01's and SDS-R-RECV-03's matter, here and below (AMB-141).
    """
    side = requester(view)
    yield from (held(missing.detected.step) for missing in side.listed_dependencies)
    if not asks_for_anything(view):
        return
    for missing in side.owing if side.shown else ():
        detected = missing.detected.step
        end = min(side.until(missing), side.first_asked(missing.message_id, detected.index))
        for shown in side.states(detected.index, end):
            patience = view.terms.t_max_ms
            if not side.in_step(detected, shown.step) or shown.step.now_ms > detected.now_ms + (patience or 0):
                break
            if missing.message_id in shown.due:
                yield held(shown.step)
                continue
            waited = shown.step.now_ms - detected.now_ms
            which = f"{missing.message_id!r}, missing since step {detected.index}, {waited} ms ago"
            soft = "" if side.terms.sound else "AMB-08"
            yield violated(
                shown.step, "not-tracked", f"{which}, in the outgoing repair request buffer", "it is not in it", soft
            )
            break
    if not side.shown:
        yield from _asked_for_at_all(side, "not-tracked")


def _asked_for_at_all(side: Requester, code: str) -> Iterator[Observation]:
    """Every message that is missing, and is named once, is asked for."""
    for missing in side.owing:
        if len(missing.named) > 1 and missing.named[1].step.index < side.until(missing):
            continue  # that it is named again must not matter: SDS-R-STATE-02
        yield from asked_for_in_time(side, missing, code)


def asked_for_in_time(side: Requester, missing: Missing, code: str) -> Iterator[Observation]:
    """By the messages that have to ask for it, be it content or be it sync, before anything else happens to it."""
    if (asking := side.in_time(missing)) is not None:
        yield held(asking.step)
    elif sent := side.both_kinds(list(side.owed(missing))):
        if side.first_asked(missing.message_id, sent.step.index) < side.until(missing):
            return  # asked for after that, while nothing else changed, it is late: SDS-R-GLOBAL-10
        which = f"{missing.message_id!r}, missing since step {missing.detected.step.index}"
        seen = "no message asks for it, neither content nor sync"
        yield violated(sent.step, code, f"{which}, asked for: its T_req is over", seen)


@check("SDS-R-STATE-01", *TIMED, of="outgoing sds-r")
def what_waits_is_not_missing(view: ChannelView) -> Iterator[Observation]:
    """Messages in the incoming buffer need no request; requesting them is wasteful (AMB-70).

    A message that was given up while it was buffered may have been dropped, and be missing again (AMB-92).
    """
    side = requester(view)
    for sent in side.carriers if view.terms.on else ():
        for entry in sent.message.repair_request:
            waits = side.waits(entry.message_id, sent.step) and not _left_over(side, entry.message_id, sent.step.now_ms)
            came = {m for r in side.arrivals.get(entry.message_id, ()) for m in (entry.message_id, *r.unmet)}
            dropped = not view.kept.holds(entry.message_id, sent.step.index - 1)  # it is missing again (AMB-96)
            if waits and not dropped and not may_be_lost(view, came, sent.step):
                seen = f"one for {entry.message_id!r}, which has arrived and waits for its dependencies"
                yield violated(
                    sent.step, "asked-while-waiting", "requests for messages that are missing only", seen, "AMB-70"
                )


def _left_over(side: Requester, message_id: str, now_ms: int) -> bool:
    """Is a request at that time older than the arrival: an entry made after it would not be due yet?"""
    t_min = side.terms.t_min_ms or 0
    arrived = side.arrivals[message_id][0].step
    return now_ms < arrived.now_ms + t_min - side.slack_ms


@check("SDS-R-STATE-02", *TIMED, of="missing sds-r", together=True)
def named_again_keeps_its_time(view: ChannelView) -> Iterator[Observation]:
    """T_req counts from the moment the gap was found: that more messages name it does not postpone the request.

    Where the times are not shown, that is said only of who asks for anything.
    """
    side = requester(view)
    for missing in side.wanted if asks_for_anything(view) else ():
        detected, end = missing.detected.step, side.until(missing)
        again = [r.step for r in missing.named[1:] if r.step.index < end]
        first = side.shown_due(missing)
        if not again:
            continue
        if first is not None:
            asked = side.first_asked(missing.message_id, detected.index)
            for shown in side.states(again[0].index, min(end, asked, side.renewed(missing))):
                due = shown.due.get(missing.message_id)
                if due is None or not side.in_step(detected, shown.step):
                    break
                if due <= first:
                    yield held(shown.step)
                    continue
                since = f"{first - detected.now_ms} ms after step {detected.index}, which found it missing"
                seen = f"{due - first} ms later, after step {again[0].index} has named it again"
                yield violated(shown.step, "postponed", f"T_req of {missing.message_id!r} as it was, {since}", seen)
                break
        elif missing in side.owing:
            if (asking := side.in_time(missing)) is not None and asking.step.index > again[0].index:
                yield held(asking.step)
            elif asking is None and side.kinds and (sent := side.both_kinds(list(side.owed(missing)))):
                which = f"{missing.message_id!r}, missing for {sent.step.now_ms - detected.now_ms} ms"
                why = f"that step {again[0].index} and others name it again postpones nothing"
                yield violated(sent.step, "postponed", f"a request for {which}: {why}", "none")


@check("SDS-R-STATE-09", *TIMED, of="missing", together=True)
def asked_for_after_t_req(view: ChannelView) -> Iterator[Observation]:
    """A message that is still missing at its T_req is requested, in content or in sync messages."""
    return _asked_for_at_all(requester(view), "never-asked") if asks_for_anything(view) else iter(())


# ---- R-GLOBAL --------------------------------------------------------------------------------------------------------


@check("SDS-R-GLOBAL-09", *TIMED, of="missing")
def never_before_t_min(view: ChannelView) -> Iterator[Observation]:
    """No message is requested sooner than T_min after it was found missing."""
    if view.terms.t_min_ms is None:
        return
    side = requester(view)
    for missing in view.repair.missing:
        detected = missing.detected.step
        for sent in missing.requests:
            waited = sent.step.now_ms - detected.now_ms
            if not side.in_step(detected, sent.step):
                continue
            expected = f"no request for {missing.message_id!r} within {view.terms.t_min_ms} ms of finding it missing"
            seen = f"one after {waited} ms{view.terms.clock_hint(waited >= view.terms.t_min_ms - SECOND_MS)}"
            yield judged(sent.step, "asked-early", waited >= view.terms.t_min_ms - side.slack_ms, expected, seen)


@check("SDS-R-GLOBAL-10", *TIMED, of="missing sds-r")
def requests_by_t_max(view: ChannelView) -> Iterator[Observation]:
    """A first request is made by T_max after detection, if there is a message to carry it.

    One that is never made is SDS-R-STATE-09's matter, and one that was postponed SDS-R-STATE-02's.
    """
    side = requester(view)
    for missing in side.owing if view.terms.t_max_ms else ():
        assert view.terms.t_max_ms is not None
        detected, last = missing.detected.step, missing.detected.step.now_ms + view.terms.t_max_ms
        end = side.until(missing)
        asked = side.first_asked(missing.message_id, detected.index)
        again = missing.named[1].step.index if len(missing.named) > 1 else end
        for sent in side.sends(detected.index, min(end, again, asked + 1)):
            asks = side.requests_repair_of(sent, missing.message_id)
            if not side.in_step(detected, sent.step) or (side.full(sent) and not asks):
                continue
            if sent.message.kind not in side.kinds:
                continue  # which should ask, too: SDS-R-SEND-01
            if sent.step.now_ms > last + SECOND_MS:
                break
            if asks:
                yield held(sent.step)
            elif sent.step.now_ms >= last + side.slack_ms and asked < min(end, again):
                late = view.trace.steps[asked - 1].now_ms - detected.now_ms
                by = f"by T_max, {view.terms.t_max_ms} ms after it was found missing"
                seen = f"the first one comes after {late} ms, at step {asked}"
                yield violated(sent.step, "asked-late", f"a request for {missing.message_id!r} {by}", seen)
                break


# ---- R-SEND ----------------------------------------------------------------------------------------------------------


def _exact(side: Requester, missing: Missing) -> Window | None:
    due = side.due(missing)
    return due if due is not None and due.exact else None


@check("SDS-R-SEND-01", *TIMED, of="missing sds-r")
def due_requests_go_along(view: ChannelView) -> Iterator[Observation]:
    """Every content and sync message carries the due requests that were not sent yet, within the cap."""
    side = requester(view)
    for missing in side.owing:
        due = _exact(side, missing)
        again = missing.named[1].step.index if len(missing.named) > 1 else NEVER
        if (asking := side.in_time(missing)) is not None:
            yield held(asking.step)
        for sent, asks in side.owed(missing):
            if asks or sent.step.index > again:
                break  # that it is named again must not matter: SDS-R-STATE-02
            if due is not None and sent.step.now_ms == due.high:
                continue  # the boundary is SDS-R-SEND-02's
            yield violated(
                sent.step,
                _LEFT_OUT[sent.message.kind],
                f"a request for {missing.message_id!r} in the {sent.message.kind.value} message"
                + (f": its T_req was {sent.step.now_ms - due.high} ms before" if due else ""),
                f"none{view.terms.clock_hint(due is not None and sent.step.now_ms <= due.high + SECOND_MS)}",
            )
            break


@check("SDS-R-SEND-02", *TIMED, of="missing sds-r")
def from_t_req_on(view: ChannelView) -> Iterator[Observation]:
    """No request before T_req, and one from the very millisecond on, where T_req is known exactly (AMB-110)."""
    side = requester(view)
    for missing in side.wanted:
        due, detected = _exact(side, missing), missing.detected.step
        if due is None:
            continue
        end = min(side.until(missing), side.first_asked(missing.message_id, detected.index) + 1)
        for sent in side.sends(detected.index, end):
            early = due.low - sent.step.now_ms
            if not side.in_step(detected, sent.step):
                continue
            if early > side.slack_ms and side.requests_repair_of(sent, missing.message_id):
                expected = f"no request for {missing.message_id!r} before its T_req"
                hint = view.terms.clock_hint(early <= SECOND_MS)
                yield violated(sent.step, "asked-early", expected, f"one {early} ms before it{hint}")
            elif early > 0:
                yield held(sent.step)
        for sent, asks in side.owed(missing) if not side.slack_ms else ():
            if sent.step.now_ms != due.high:
                continue
            if asks or sent.message.kind in side.kinds:
                expected = f"{missing.message_id!r} asked for at T_req, which is this very millisecond"
                yield judged(sent.step, "asked-late", asks, expected, f"it is not{view.terms.clock_hint()}")


@check("SDS-R-SEND-03", pb.CAPABILITY_SDS_R, of="outgoing sds-r")
def no_more_than_the_cap(view: ChannelView) -> Iterator[Observation]:
    """No message asks for more than the cap in force."""
    for sent in view.repair.requesting if view.terms.on else ():
        count, cap = len(sent.message.repair_request), view.terms.cap
        if cap is None or not count:
            continue
        expected = f"at most {cap} entries in a repair request, the cap in force"
        seen = f"{count}, one more than that" if count == cap + 1 else f"{count}"
        yield judged(sent.step, "over-cap", count <= cap, expected, seen)


@check("SDS-R-SEND-04", *TIMED, of="missing outgoing sds-r")
def lowest_t_req_first(view: ChannelView) -> Iterator[Observation]:
    """If more requests are due than the cap allows, those with the lowest T_req are sent."""
    side = requester(view)
    known = {m.message_id: (m, due) for m in side.wanted if (due := _exact(side, m)) is not None}
    for sent in side.carriers:
        if not side.full(sent):
            continue
        index, chosen = sent.step.index, {entry.message_id for entry in sent.message.repair_request}
        left = [
            due.high
            for message_id, (missing, due) in known.items()
            if message_id not in chosen
            and missing.detected.step.index < index < min(side.until(missing), side.first_asked(message_id))
            and due.high + view.terms.clock_ms <= sent.step.now_ms <= side.latest(missing, due)
            and side.in_step(missing.detected.step, sent.step)
            and not side.untracked(missing, sent)
        ]
        taken = {message_id: known[message_id][1].low for message_id in chosen if message_id in known}
        if not left or not taken:
            continue
        latest = max(taken, key=lambda message_id: taken[message_id])
        expected = f"{len(chosen)} requests with the lowest T_req of {len(chosen) + len(left)} that are due"
        seen = f"one for {latest!r}, due {taken[latest] - min(left)} ms after one that is left out"
        apart = 0 if side.shown else view.terms.clock_ms  # between two that are counted from different presents
        yield judged(sent.step, "wrong-order", taken[latest] <= min(left) + apart, expected, seen)


@check("SDS-R-SEND-05", pb.CAPABILITY_SDS_R, of="outgoing sds-r")
def at_most_three_by_default(view: ChannelView) -> Iterator[Observation]:
    """Unless another cap is asked for, a message asks for three at most."""
    for sent in view.repair.requesting if view.terms.on else ():
        count = len(sent.message.repair_request)
        if not count or view.party.asked.HasField("max_repair_requests"):
            continue
        yield judged(
            sent.step,
            "default-too-high",
            count <= 3,
            "at most three entries in a repair request by default",
            f"{count}",
        )


@check("SDS-R-SEND-06", *TIMED, of="outgoing sds-r")
def unset_when_nothing_is_due(view: ChannelView) -> Iterator[Observation]:
    """When nothing can be due, field 13 does not occur at all, not even with an empty entry.

    An entry with an ID is SDS-R-FIELDS-02's, SDS-R-SEND-02's or SDS-R-RECV-01's matter.
    """
    side, t_min = requester(view), view.terms.t_min_ms
    for sent in side.carriers if view.terms.on and t_min is not None else ():
        known = [m for m in view.repair.missing if m.detected.step.index < sent.step.index]
        if any(
            (m.arrived is None or m.arrived.index >= sent.step.index)
            and not (
                side.in_step(m.detected.step, sent.step)
                and sent.step.now_ms < m.detected.step.now_ms + (t_min or 0) - SECOND_MS
            )
            for m in known
        ):
            continue
        empty = sum(not entry.message_id for entry in sent.message.repair_request)
        if empty or not sent.message.repair_request:
            what = "field 13 with nothing in it" if empty == 1 else f"{empty} entries with nothing in them"
            yield judged(
                sent.step,
                "empty-entry",
                not empty,
                "no occurrence of field 13 (repair_request), for nothing is due",
                what,
            )


@check("SDS-R-SEND-07", *TIMED, of="missing sds-r")
def only_what_is_still_missing(view: ChannelView) -> Iterator[Observation]:
    """What arrived after its T_req and before the message is sent is not asked for any more.

    That it stays in the buffer, or arrived before it was due, is SDS-R-RECV-01's matter.
    """
    side = requester(view)
    for missing in side.wanted:
        arrived, due = missing.arrived, side.due(missing)
        detected = missing.detected.step
        if arrived is None or due is None or side.until(missing) < arrived.index:
            continue
        if not side.in_step(detected, arrived) or arrived.now_ms < due.high + side.slack_ms:
            continue
        if side.first_asked(missing.message_id, detected.index) < arrived.index:
            continue
        for sent in side.sends(arrived.index, view.trace.steps[-1].index + 1):
            if not side.in_log(missing.message_id, sent.step):
                continue
            if not side.requests_repair_of(sent, missing.message_id):
                yield held(sent.step)
            elif not any(missing.message_id in shown.due for shown in side.states(arrived.index, sent.step.index)):
                expected = f"no request for {missing.message_id!r}, which has arrived at step {arrived.index}"
                yield violated(sent.step, "already-arrived", expected, "a request for it")
            break


@check("SDS-R-SEND-07", pb.CAPABILITY_SDS_R, of="sds-r sent")
def own_messages_are_not_missing(view: ChannelView) -> Iterator[Observation]:
    """A message that others named before it was sent is not "locally missing" once it is: no request asks for it."""
    named = {entry.message_id: r.step.index for r in reversed(view.received) for entry in r.message.causal_history}
    early = [own for own in view.sent if named.get(own.message.message_id, NEVER) < own.step.index]
    for sent in view.repair.requesting if view.terms.on and early else ():
        asked = {entry.message_id for entry in sent.message.repair_request}
        for own in early:
            if own.step.index < sent.step.index:
                expected = f"no request for {own.message.message_id!r}, sent by itself at step {own.step.index}"
                yield judged(
                    sent.step, "asked-for-own", own.message.message_id not in asked, expected, "a request for it"
                )


# ---- R-SYNC ----------------------------------------------------------------------------------------------------------


@check("SDS-R-SYNC-01", *TIMED, pb.CAPABILITY_PERIODIC_SYNC, of="missing sds-r")
def others_do_not_silence_requests(view: ChannelView) -> Iterator[Observation]:
    """With requests due, a scheduled sync message goes out although others keep sending theirs."""
    return _scheduled(view, noisy=True)


@check("SDS-R-SYNC-02", *TIMED, pb.CAPABILITY_PERIODIC_SYNC, of="missing sds-r")
def requests_leave_with_the_next_sync(view: ChannelView) -> Iterator[Observation]:
    """If requests are due and no other participant sends, the next scheduled sync message goes out."""
    return _scheduled(view, noisy=False)


def _scheduled(view: ChannelView, *, noisy: bool) -> Iterator[Observation]:
    """Judge how a participant that sends nothing else handles a due request, on the ticks of ten sync intervals.

    Counted from the latest of T_req and its own last message; after T_max from T_req it may have been given up.
    """
    side, interval = requester(view), view.configuration.sync_interval_ms
    t_max = view.terms.t_max_ms
    for missing in side.owing if interval and t_max else ():
        due, detected = side.due(missing), missing.detected.step
        asking = side.in_time(missing)
        # Work that is due may be done whenever the participant is asked for anything.
        unasked = asking is not None and asking.message.kind is Kind.SYNC and asking.step.command in ("tick", "receive")
        if asking is not None and unasked:
            before = asking.step.now_ms - 2 * interval
            heard = _times_others_spoke(side, before, detected.index, asking.step)
            if (_no_pause([before, *heard, asking.step.now_ms], interval)) if noisy else not heard:
                yield held(asking.step)
        if due is None or asking is not None:
            continue
        end = min(side.until(missing), side.first_asked(missing.message_id, detected.index) + 1)
        owns = [s for s in side.sends(detected.index, end) if s.step.command != "tick"]
        since = max([due.high + side.slack_ms, *(s.step.now_ms for s in owns)])
        first = max([detected.index, *(s.step.index for s in owns)])
        for tick in view.ticks:
            if not first < tick.index < end or tick.now_ms < since or not side.in_step(detected, tick):
                continue
            heard = _times_others_spoke(side, since, detected.index, tick)
            silenced = _no_pause([since, *heard, tick.now_ms], interval) if noisy else not heard
            if not silenced or tick.now_ms > due.low + (t_max or 0) or side.sends(tick.index - 1, tick.index + 1):
                break
            if tick.now_ms > since + _LENIENT_INTERVALS * interval:
                others = ", whatever others send" if noisy else ""
                passed = f"{_LENIENT_INTERVALS} intervals of {interval} ms have passed since"
                expected = f"a sync message{others}: {missing.message_id!r} is to be asked for, and {passed}"
                yield violated(tick, "sync-suppressed" if noisy else "sync-not-sent", expected, "none")
                break


def _times_others_spoke(side: Requester, since_ms: int, after: int, until: Step) -> list[int]:
    """When others spoke between a time and a step, and after the step of index ``after``."""
    return [r.step.now_ms for r in side.heard if after < r.step.index < until.index and r.step.now_ms >= since_ms]


def _no_pause(times: list[int], interval: int) -> bool:
    """Is there never a whole interval between them?"""
    return all(later - earlier < interval for earlier, later in pairwise(times))
