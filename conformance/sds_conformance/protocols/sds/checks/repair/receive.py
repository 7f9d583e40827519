"""Section R-RECV, the requester's side: how arriving messages and overheard requests change the outgoing repair
request buffer.

After an entry was removed, the next message, or the next message that names the missing one, may add a new entry
(AMB-68, AMB-69). A shown entry or a sent request counts as the old entry only if it is too early for a new entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sds_harness.sds.trace import Step
from sds_reference import Kind

from .....judging.judgement import Observation, observe_met, observe_outcome, observe_violation
from ...register import check
from ...view.channel_view import ChannelView
from ...view.facts import Received, Sent
from ...view.repair_terms import SECOND_MS, TIMED
from ...view.repair_tracker import NEVER, MissingMessage
from ...view.requester import Requester, ShownRequests, requester, requests_any_repair
from ...view.windows import Window
from .requests import judge_requested_in_time

# ---- missing messages that arrive ------------------------------------------------------------------------------------


@check("SDS-R-RECV-01", *TIMED, of="missing sds-r")
def arrived_messages_are_dropped(view: ChannelView) -> Iterator[Observation]:
    """A message that arrives, even if it must wait, is removed from the outgoing repair request buffer.

    A waiting message may have been added again, as a dependency of another waiting message (AMB-70). SDS-R-SEND-07
    judges requests that were due when the message arrived, unless the buffer shows the entry.
    """
    side = requester(view)
    for missing in side.certainly_missing:
        arrived = missing.arrived
        if arrived is None or not side.clock_is_monotonic(missing.detected.step, arrived):
            continue
        if missing.detected.step.now_ms == arrived.now_ms:
            continue
        old, end = side.shown_t_req(missing), view.trace.steps[-1].index + 1
        states, sends = side.shown_between(arrived.index, end), side.carriers_between(arrived.index, end)
        kept = next((s for s in states if _still_shown(side, missing, s, old)), None)
        asked = next((s for s in sends if side.requests_repair_of(s, missing.message_id)), None)
        if kept is not None:
            removed = [
                s.step.index for s in states if s.step.index < kept.step.index and missing.message_id not in s.due
            ]
            logged = _logged_at(side, missing.message_id) if side.in_log(missing.message_id, kept.step) else None
            since = f"arrived at step {arrived.index}" if logged is None else f"in the log since step {logged}"
            expected = f"{missing.message_id!r}, {since}, no longer in the outgoing repair request buffer"
            seen = (
                f"the entry was added again after step {removed[-1]}"
                if removed
                else "the buffer still contains the entry"
            )
            yield observe_violation(kept.step, "not-dropped", expected, seen)
        elif asked is not None and not side.shown and _is_leftover(side, missing, asked):
            expected = f"no request for {missing.message_id!r}, which has arrived at step {arrived.index}"
            yield observe_violation(asked.step, "not-dropped", expected, "the message is requested")
        elif states and old is not None:
            yield observe_met(states[0].step)
        elif asked is None and (due := side.t_req_window(missing)) is not None:
            late = [s for s in sends if s.step.now_ms >= due.high + side.slack_ms]
            if side.requested_at(missing) > arrived.index and late:
                yield observe_met(late[0].step)


def _logged_at(side: Requester, message_id: str) -> int | None:
    """Index of the step at which a message that arrived entered the log; None if it is not known to be in the log."""
    arrivals = (r for r in side.arrivals.get(message_id, ()) if not r.unmet or r.delivered)
    return min((r.delivered[0].step.index if r.unmet else r.step.index for r in arrivals), default=None)


def _still_shown(side: Requester, missing: MissingMessage, shown: ShownRequests, old: int | None) -> bool:
    due = shown.due.get(missing.message_id)
    return due is not None and (side.in_log(missing.message_id, shown.step) or due == old)


def _is_leftover(side: Requester, missing: MissingMessage, sent: Sent) -> bool:
    """Does a request for a message that has arrived belong to the entry from before the arrival?

    If the message is in the log, requests that were due at its arrival do not count: SDS-R-SEND-07 judges them.
    """
    arrived, due = missing.arrived, side.t_req_window(missing)
    if arrived is None or due is None:
        return False
    if side.in_log(missing.message_id, sent.step):
        return arrived.now_ms < due.high + side.slack_ms
    t_min = side.terms.t_min_ms or 0
    return side.clock_is_monotonic(arrived, sent.step) and sent.step.now_ms < arrived.now_ms + t_min - side.slack_ms


# ---- missing messages that causal histories name ---------------------------------------------------------------------


def _judge_added(view: ChannelView, missing: MissingMessage, code: str) -> Iterator[Observation]:
    """Judge whether a missing message is in the next shown buffer, or is requested if no buffer is shown."""
    side, detected = requester(view), missing.detected.step
    if not side.shown:
        if len(missing.named) == 1 or side.find_timely_request(missing) is not None:
            yield from judge_requested_in_time(side, missing, code)
        return
    end = min(side.unchanged_until(missing), side.requested_at(missing))
    shown = next(iter(side.shown_between(detected.index, end)), None)
    patience = view.terms.t_max_ms or 0
    if (
        shown is None
        or not side.clock_is_monotonic(detected, shown.step)
        or shown.step.now_ms > detected.now_ms + patience
    ):
        return
    which = f"{missing.message_id!r}, named by {missing.detected.message.message_id!r} and not in the log"
    expected = f"{which}, in the outgoing repair request buffer"
    seen = "the buffer has no entry for the message"
    yield observe_outcome(shown.step, code, missing.message_id in shown.due, expected, seen)


@check("SDS-R-RECV-03", *TIMED, of="missing sds-r")
def unmet_dependencies_are_added(view: ChannelView) -> Iterator[Observation]:
    """If a dependency of content has not arrived, it is added to the outgoing repair request buffer.

    SDS-R-RECV-13 judges dependencies of sync messages.
    """
    for missing in requester(view).certainly_missing:
        if missing.detected.kind is Kind.CONTENT:
            yield from _judge_added(view, missing, "not-queued")
    listed = (missing.detected for missing in requester(view).listed_dependencies)
    yield from (observe_met(detected.step) for detected in listed if detected.kind is Kind.CONTENT)


def _sent_soon_after(side: Requester, sends: Iterable[Sent], time_ms: int) -> list[Sent]:
    """The messages of ``sends`` that were certainly sent after ``time_ms``, but at most two seconds later."""
    return [s for s in sends if time_ms + side.slack_ms <= s.step.now_ms <= time_ms + 2 * SECOND_MS]


@check("SDS-R-RECV-03", *TIMED, of="missing sds-r")
def named_again_is_requested_again(view: ChannelView) -> Iterator[Observation]:
    """If a request was lost, a message that names the missing message again leads to another request (AMB-68).

    A participant that repeats its requests, and gives up T_max after T_req (AMB-81), passes: it has already sent
    another request.
    """
    side, terms = requester(view), view.terms
    if terms.t_max_ms is None:
        return
    for missing in side.requestable:
        asked = side.requested_at(missing)
        again = next(
            (r for r in missing.named if r.step.index > asked and r.kind is Kind.CONTENT and not r.oddity), None
        )
        if again is None or again.rejected or again.foreign_filter or side.unchanged_until(missing) < again.step.index:
            continue
        end = side.unchanged_until(missing)
        everything = [
            s for s in side.carriers_between(asked, end) if side.clock_is_monotonic(missing.detected.step, s.step)
        ]
        sends = [s for s in everything if not side.is_full(s)]
        soon = [s for s in sends if s.step.now_ms <= missing.detected.step.now_ms + terms.t_max_ms]
        late = _sent_soon_after(side, sends, again.step.now_ms + terms.t_max_ms)
        asking = next((s for s in everything if side.requests_repair_of(s, missing.message_id)), None)
        if asking is not None:
            yield observe_met(asking.step)
        elif soon and len({s.message.kind for s in late}) == 2:
            why = f"the request of step {asked} was not answered, and step {again.step.index} named the message again"
            expected = f"{missing.message_id!r} requested again: {why}"
            seen = "not requested again, although T_max has passed again"
            yield observe_violation(late[-1].step, "not-queued-again", expected, seen)


@check("SDS-R-RECV-03", *TIMED, of="missing sds-r")
def named_again_after_another_request(view: ChannelView) -> Iterator[Observation]:
    """If another participant's request removed an entry, content that names the message again adds a new entry."""
    side, terms = requester(view), view.terms
    for missing, overheard in _find_overheard(side, "plain"):
        index, message_id = overheard.step.index, missing.message_id
        end = side.next_copy_or_request(message_id, index)
        between = (r for r in missing.named if index < r.step.index < end and r.kind is Kind.CONTENT and not r.oddity)
        again = next((r for r in between if not r.rejected and not r.foreign_filter), None)
        if again is None or terms.t_max_ms is None or side.first_request_index(message_id) < index:
            continue
        sends = side.carriers_between(again.step.index, end)
        sends = [s for s in sends if side.clock_is_monotonic(missing.detected.step, s.step)]
        asking = next((s for s in sends if side.requests_repair_of(s, message_id)), None)
        late = _sent_soon_after(side, sends, again.step.now_ms + terms.t_max_ms)
        if asking is not None:
            yield observe_met(asking.step)
        elif len({s.message.kind for s in late if not side.is_full(s)}) == 2:
            why = f"step {again.step.index} named it again after the request of step {index}"
            expected = f"{message_id!r} requested, because it is missing and {why}"
            yield observe_violation(
                late[-1].step, "not-queued-again", expected, "not requested, although T_max has passed"
            )


@check("SDS-R-RECV-13", *TIMED, of="missing sds-r sync-came", together=True)
def syncs_reveal_gaps(view: ChannelView) -> Iterator[Observation]:
    """Missing messages that a sync message names are requested as well (AMB-42), if their sender is known (AMB-72).

    Judged only if any participant requests any message (AMB-141).
    """
    for missing in requester(view).certainly_missing if requests_any_repair(view) else ():
        if missing.detected.kind is Kind.SYNC and missing.first.sender_id:
            yield from _judge_added(view, missing, "sync-gap-ignored")


# ---- requests of other participants ----------------------------------------------------------------------------------


def _find_overheard(side: Requester, *kinds: str) -> Iterator[tuple[MissingMessage, Received]]:
    """Yield (missing message, message of another participant that requests it) for requests of certain kinds.

    ``kinds`` are results of `_classify_request`.
    """
    for missing in side.certainly_missing:
        for received in missing.overheard:
            detected, step = missing.detected.step, received.step
            later = side.clock_is_monotonic(detected, step) and step.now_ms != detected.now_ms
            if _must_be_honoured(received) and later and _classify_request(missing, received) in kinds:
                yield missing, received


def _must_be_honoured(received: Received) -> bool:
    """Must every participant honour the repair request of this message?"""
    return received.kind in (Kind.CONTENT, Kind.SYNC) and not received.oddity and not received.foreign_filter


def _classify_request(missing: MissingMessage, received: Received) -> str:
    """The kind of another participant's request.

    "among others": not the first entry of the request, or without a sender; "known": in a duplicate; "blocked": in
    content that must wait; "plain": any other request.
    """
    first = received.message.repair_request[0]
    if first.message_id != missing.message_id or not first.sender_id:
        return "among others"
    if received.duplicate:
        return "known"
    return "blocked" if received.kind is Kind.CONTENT and received.unmet else "plain"


def _next_received_index(side: Requester, step: Step) -> int:
    received = side.next_received(step.index)
    return received.step.index if received is not None else NEVER


def _judge_dropped(view: ChannelView, missing: MissingMessage, received: Received, code: str) -> Iterator[Observation]:
    """Judge whether another participant's request removes the entry of a missing message.

    An entry that was added again is recognised by its T_req. Ignoring a request in a duplicate is only a warning
    (AMB-23).
    """
    side, step = requester(view), received.step
    soft = "AMB-23" if received.duplicate else ""
    if view.terms.t_min_ms is None:
        return
    if side.first_request_index(missing.message_id) < step.index and not side.shown_between(
        missing.detected.step.index, step.index
    ):
        return  # the entry may have been removed by the own request
    end = side.next_copy_or_request(missing.message_id, step.index)
    next_received = _next_received_index(side, step)
    old, due = side.shown_t_req(missing), side.t_req_window(missing)
    fresh = view.terms.t_req(missing.message_id) or Window(view.terms.t_min_ms, view.terms.t_min_ms)
    soonest = step.now_ms + fresh.low - side.slack_ms
    expected = f"no request for {missing.message_id!r}, because another participant requested it at step {step.index}"
    for shown in side.shown_between(step.index, min(end, next_received)):
        entry = shown.due.get(missing.message_id)
        if not side.clock_is_monotonic(step, shown.step):
            break
        if entry is None or entry >= soonest:
            yield observe_met(shown.step)
        elif entry == old:
            waited = entry - missing.detected.step.now_ms
            seen = f"T_req is unchanged: the request is planned {waited} ms after the message was found missing"
            yield observe_violation(shown.step, code, expected, seen, soft)
        else:
            continue
        return
    for sent in side.carriers_between(step.index, end):
        if not side.clock_is_monotonic(step, sent.step) or sent.step.now_ms >= soonest:
            break
        if side.requests_repair_of(sent, missing.message_id):
            seen_gone = any(missing.message_id not in s.due for s in side.shown_between(step.index, sent.step.index))
            if not seen_gone:
                later_ms = sent.step.now_ms - step.now_ms
                seen = f"the message is requested {later_ms} ms later, before a new entry could be due"
                yield observe_violation(sent.step, code, expected, seen, soft)
            return
        if due is not None and sent.step.now_ms >= due.high + side.slack_ms and not side.is_full(sent):
            yield observe_met(sent.step)
            return


@check("SDS-R-RECV-07", *TIMED, of="missing sds-r")
def overheard_requests_are_dropped(view: ChannelView) -> Iterator[Observation]:
    """Another participant's request removes the entry for the message from the outgoing repair request buffer."""
    for missing, received in _find_overheard(requester(view), "plain"):
        yield from _judge_dropped(view, missing, received, "not-dropped")


@check("SDS-R-RECV-12", *TIMED, of="missing sds-r")
def every_entry_is_overheard(view: ChannelView) -> Iterator[Observation]:
    """Every entry of another participant's request removes the own entry for the same message.

    This includes entries after the first and entries without a sender.
    """
    for missing, received in _find_overheard(requester(view), "among others"):
        yield from _judge_dropped(view, missing, received, "entry-ignored")


@check("SDS-R-RECV-13", *TIMED, of="missing sds-r")
def overheard_in_any_message(view: ChannelView) -> Iterator[Observation]:
    """Requests in messages that must wait and in duplicates of known messages remove entries, too (AMB-23)."""
    for missing, received in _find_overheard(requester(view), "blocked", "known"):
        code = "duplicate-request-ignored" if received.duplicate else "blocked-request-ignored"
        yield from _judge_dropped(view, missing, received, code)


# ---- entries that are added again ------------------------------------------------------------------------------------


def _is_needed(missing: MissingMessage, index: int) -> bool:
    """Does a content message wait for the missing message at this step?"""
    return any(
        r.acceptable and r.step.index < index and all(d.step.index > index for d in r.delivered) for r in missing.named
    )


def _find_readded(side: Requester) -> Iterator[tuple[MissingMessage, int, Received]]:
    """Yield (missing message, index of the step with a request, next received message).

    Another participant's request removes the entry of the missing message, and an own request may remove it. The next
    received message must add a new entry.
    """
    for missing in side.certainly_missing:
        gone = [r.step.index for r in missing.overheard]
        asked = side.first_request_index(missing.message_id)
        gone += [asked] if asked != NEVER else []
        arrived = missing.arrived.index if missing.arrived is not None else NEVER
        for index in gone:
            received = side.next_received(index)
            if received is None or index > arrived or received.kind not in (Kind.CONTENT, Kind.SYNC) or received.oddity:
                continue
            message, at = received.message, received.step.index
            if any(e.message_id == missing.message_id for e in message.repair_request) or not _is_needed(missing, at):
                continue
            untouched = side.next_copy_or_request(missing.message_id, index) > at
            if untouched and side.clock_is_monotonic(missing.detected.step, received.step):
                yield missing, index, received


@check("SDS-R-RECV-04", *TIMED, of="missing sds-r")
def removed_entries_are_added_again(view: ChannelView) -> Iterator[Observation]:
    """The next received message adds an entry again for a message that is still missing.

    The entry was removed by another participant's request, or by a lost own request. The content of the received
    message does not matter (AMB-68, AMB-118).
    """
    side, terms = requester(view), view.terms
    if terms.t_max_ms is None or terms.t_min_ms is None:
        return
    for missing, index, received in _find_readded(side):
        step, end = received.step, side.next_copy_or_request(missing.message_id, received.step.index)
        expected = f"{missing.message_id!r}, still missing, to be requested again after step {step.index}"
        asked = side.first_request_index(missing.message_id, step.index)
        shown = next(iter(side.shown_between(step.index, min(end, asked))), None)
        # After an own request, the participant may have kept the entry. It may expire T_max after its creation or after
        # T_req (AMB-81).
        anew = any(r.step.index == index and _must_be_honoured(r) for r in missing.overheard)
        since = step if anew else missing.detected.step
        if shown is not None and missing.message_id not in shown.due:
            if side.clock_is_monotonic(since, shown.step) and shown.step.now_ms < since.now_ms + terms.t_max_ms:
                seen = "the buffer has no entry for the message"
                yield observe_violation(shown.step, "not-queued-again", expected, seen)
            continue
        if shown is not None and side.first_request_index(missing.message_id) >= step.index:
            yield observe_met(shown.step)
            continue
        sends = [s for s in side.carriers_between(step.index, end) if side.clock_is_monotonic(step, s.step)]
        asking = [s for s in sends if side.requests_repair_of(s, missing.message_id)]
        if asking:
            yield observe_met(asking[0].step)
            continue
        free = [s for s in sends if not side.is_full(s)]
        kept_due = (
            step.now_ms if index == side.first_request_index(missing.message_id) else since.now_ms + terms.t_max_ms
        )
        kept_end = since.now_ms + terms.t_min_ms + terms.t_max_ms
        due, end_ms = step.now_ms + terms.t_max_ms + side.slack_ms, step.now_ms + terms.t_min_ms + terms.t_max_ms
        final = [s for s in free if due <= s.step.now_ms < end_ms - side.slack_ms]
        if final and (anew or any(kept_due <= s.step.now_ms < kept_end for s in free)):
            seen = f"not requested within T_max, {terms.t_max_ms} ms"
            yield observe_violation(final[0].step, "not-queued-again", expected, seen)


@check("SDS-R-RECV-05", *TIMED, of="missing sds-r")
def new_entries_have_new_times(view: ChannelView) -> Iterator[Observation]:
    """The T_req of an entry that was added again counts from the step that added it."""
    side = requester(view)
    for missing, index, received in _find_readded(side):
        step, offsets = received.step, view.terms.t_req(missing.message_id)
        if offsets is None or index == side.first_request_index(missing.message_id):
            continue  # after an own request, the old entry may remain
        if any(r.step.index == index and not _must_be_honoured(r) for r in missing.overheard):
            continue  # a request in an ephemeral message leaves the entry (AMB-84)
        overheard = view.trace.steps[index - 1]
        allowed = [offsets.after(overheard.now_ms), offsets.after(step.now_ms)]
        expected = f"T_req of {missing.message_id!r}, which is requested again, counted from step {step.index}"
        end = min(
            side.next_copy_or_request(missing.message_id, step.index),
            side.first_request_index(missing.message_id, step.index),
        )
        end = min(end, _next_received_index(side, step))
        shown = next((s for s in side.shown_between(step.index, end) if missing.message_id in s.due), None)
        if shown is not None:
            due = shown.due[missing.message_id]
            met, near = (
                any(window.low - slack <= due <= window.high + slack for window in allowed)
                for slack in (side.slack_ms, SECOND_MS)
            )
            seen = f"{due - step.now_ms} ms after that step{view.terms.clock_hint(near)}"
            yield observe_outcome(shown.step, "not-computed-anew", met, expected, seen)
        elif not side.shown:
            until = side.next_copy_or_request(missing.message_id, step.index)
            own = next(
                (s for s in side.carriers_between(step.index, until) if side.requests_repair_of(s, missing.message_id)),
                None,
            )
            if own is not None:
                asking = own.step
                if not side.clock_is_monotonic(step, asking):
                    continue
                soonest = overheard.now_ms + offsets.low
                hint = view.terms.clock_hint(asking.now_ms >= soonest - SECOND_MS)
                seen = f"requested {asking.now_ms - step.now_ms} ms after that step{hint}"
                met = asking.now_ms >= soonest - side.slack_ms
                yield observe_outcome(asking, "not-computed-anew", met, expected, seen)
