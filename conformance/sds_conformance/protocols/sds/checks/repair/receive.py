"""Section R-RECV, the requester's side: messages that arrive and overheard requests change the outgoing repair
requests.

The next message, or the next one that names the missing message, may add a removed entry again (AMB-68, AMB-69). An
entry or a request counts as the old one only if it is too early for a new one.
"""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.sds.trace import Step
from sds_reference import Kind

from .....judging.judgement import Observation, held, judged, violated
from ...register import check
from ...view.channel_view import ChannelView
from ...view.facts import Received, Sent
from ...view.halves import asks_for_anything
from ...view.repair_terms import SECOND_MS, TIMED
from ...view.repair_tracker import NEVER, Missing
from ...view.requester import Requester, ShownRequests, requester
from ...view.windows import Window
from .requests import asked_for_in_time

# ---- what arrives ----------------------------------------------------------------------------------------------------


@check("SDS-R-RECV-01", *TIMED, of="missing sds-r")
def arrived_messages_are_dropped(view: ChannelView) -> Iterator[Observation]:
    """With its arrival, even a blocked one, a message leaves the outgoing repair request buffer.

    One that waits may have been added again, as a dependency of another that waits (AMB-70). A request that was due
    when the message came is SDS-R-SEND-07's matter, unless the buffer shows why.
    """
    side = requester(view)
    for missing in side.wanted:
        arrived = missing.arrived
        if arrived is None or not side.in_step(missing.detected.step, arrived):
            continue
        if missing.detected.step.now_ms == arrived.now_ms:
            continue
        old, end = side.shown_due(missing), view.trace.steps[-1].index + 1
        states, sends = side.states(arrived.index, end), side.sends(arrived.index, end)
        kept = next((s for s in states if _still_shown(side, missing, s, old)), None)
        asked = next((s for s in sends if side.requests_repair_of(s, missing.message_id)), None)
        if kept is not None:
            which = f"{missing.message_id!r}, arrived at step {arrived.index}"
            expected = f"{which}, no longer in the outgoing repair request buffer"
            yield violated(kept.step, "not-dropped", expected, "it is")
        elif asked is not None and not side.shown and _is_leftover(side, missing, asked):
            expected = f"no request for {missing.message_id!r}, which has arrived at step {arrived.index}"
            yield violated(asked.step, "not-dropped", expected, "one")
        elif states and old is not None:
            yield held(states[0].step)
        elif asked is None and (due := side.due(missing)) is not None:
            late = [s for s in sends if s.step.now_ms >= due.high + side.slack_ms]
            if side.first_asked(missing.message_id, missing.detected.step.index) > arrived.index and late:
                yield held(late[0].step)


def _still_shown(side: Requester, missing: Missing, shown: ShownRequests, old: int | None) -> bool:
    due = shown.due.get(missing.message_id)
    return due is not None and (side.in_log(missing.message_id, shown.step) or due == old)


def _is_leftover(side: Requester, missing: Missing, sent: Sent) -> bool:
    """Is the request none of a later entry, and, if the message is in the log, was it not due when that came?"""
    arrived, due = missing.arrived, side.due(missing)
    if arrived is None or due is None:
        return False
    if side.in_log(missing.message_id, sent.step):
        return arrived.now_ms < due.high + side.slack_ms
    t_min = side.terms.t_min_ms or 0
    return side.in_step(arrived, sent.step) and sent.step.now_ms < arrived.now_ms + t_min - side.slack_ms


# ---- what is named ---------------------------------------------------------------------------------------------------


def _added(view: ChannelView, missing: Missing, code: str) -> Iterator[Observation]:
    """A message that was found missing is in the next shown buffer, or is requested if none is shown."""
    side, detected = requester(view), missing.detected.step
    if not side.shown:
        if len(missing.named) == 1 or side.in_time(missing) is not None:
            yield from asked_for_in_time(side, missing, code)
        return
    end = min(side.until(missing), side.first_asked(missing.message_id, detected.index))
    shown = next(iter(side.states(detected.index, end)), None)
    patience = view.terms.t_max_ms or 0
    if shown is None or not side.in_step(detected, shown.step) or shown.step.now_ms > detected.now_ms + patience:
        return
    which = f"{missing.message_id!r}, named by {missing.detected.message.message_id!r} and not in the log"
    expected = f"{which}, in the outgoing repair request buffer"
    yield judged(shown.step, code, missing.message_id in shown.due, expected, "it is not")


@check("SDS-R-RECV-03", *TIMED, of="missing sds-r")
def unmet_dependencies_are_added(view: ChannelView) -> Iterator[Observation]:
    """Each unmet dependency of a content message that has not arrived gets an entry.

    Those of sync messages are SDS-R-RECV-13's matter.
    """
    for missing in requester(view).wanted:
        if missing.detected.kind is Kind.CONTENT:
            yield from _added(view, missing, "not-queued")
    listed = (missing.detected for missing in requester(view).listed_dependencies)
    yield from (held(detected.step) for detected in listed if detected.kind is Kind.CONTENT)


@check("SDS-R-RECV-03", *TIMED, of="missing sds-r")
def named_again_is_asked_for_again(view: ChannelView) -> Iterator[Observation]:
    """After a request that was lost, a message that names the missing one again leads to another request (AMB-68).

    A participant that repeats its requests and gives up T_max after T_req (AMB-81) has asked again before.
    """
    side, terms = requester(view), view.terms
    if terms.t_max_ms is None:
        return
    for missing in side.owing:
        asked = side.first_asked(missing.message_id, missing.detected.step.index)
        again = next((r for r in missing.named if r.step.index > asked and r.kind is Kind.CONTENT and not r.odd), None)
        if again is None or again.rejected or again.foreign_filter or side.until(missing) < again.step.index:
            continue
        end = side.until(missing)
        everything = [s for s in side.sends(asked, end) if side.in_step(missing.detected.step, s.step)]
        sends = [s for s in everything if not side.full(s)]
        soon = [s for s in sends if s.step.now_ms <= missing.detected.step.now_ms + terms.t_max_ms]
        last = again.step.now_ms + terms.t_max_ms
        late = [s for s in sends if last + side.slack_ms <= s.step.now_ms <= last + 2 * SECOND_MS]
        asking = next((s for s in everything if side.requests_repair_of(s, missing.message_id)), None)
        if asking is not None:
            yield held(asking.step)
        elif soon and len({s.message.kind for s in late}) == 2:
            why = f"step {asked} asked for it, it has not come, and step {again.step.index} has named it again"
            expected = f"{missing.message_id!r} asked for again: {why}"
            yield violated(
                late[-1].step, "not-queued-again", expected, "no further request, although T_max is over again"
            )


@check("SDS-R-RECV-13", *TIMED, of="missing sds-r sync-came", together=True)
def syncs_reveal_gaps(view: ChannelView) -> Iterator[Observation]:
    """Missing messages that a sync message names are requested as well (AMB-42), if their sender is known (AMB-72).

    Only participants that request anything at all are judged (AMB-141).
    """
    for missing in requester(view).wanted if asks_for_anything(view) else ():
        if missing.detected.kind is Kind.SYNC and missing.first.sender_id:
            yield from _added(view, missing, "sync-gap-ignored")


# ---- what is overheard -----------------------------------------------------------------------------------------------


def _overheard(side: Requester, *kinds: str) -> Iterator[tuple[Missing, Received]]:
    """Requests of others for a message while it was certainly missing. ``kinds`` are results of ``_way``."""
    for missing in side.wanted:
        for received in missing.overheard:
            detected, step = missing.detected.step, received.step
            later = side.in_step(detected, step) and step.now_ms != detected.now_ms
            if _must_be_honoured(received) and later and _way(missing, received) in kinds:
                yield missing, received


def _must_be_honoured(received: Received) -> bool:
    """Return whether every participant must heed the repair request of this message."""
    return received.kind in (Kind.CONTENT, Kind.SYNC) and not received.odd and not received.foreign_filter


def _way(missing: Missing, received: Received) -> str:
    """How it was overheard: by an entry behind others or without a sender, in a blocked or known message, or simply."""
    first = received.message.repair_request[0]
    if first.message_id != missing.message_id or not first.sender_id:
        return "among others"
    if received.duplicate:
        return "known"
    return "blocked" if received.kind is Kind.CONTENT and received.unmet else "plain"


def _next_heard(side: Requester, step: Step) -> int:
    received = side.heard_after(step.index)
    return received.step.index if received is not None else NEVER


def _dropped(view: ChannelView, missing: Missing, received: Received, code: str) -> Iterator[Observation]:
    """Is the entry gone after the others' request, up to the next one, or one that is too new to be the old?

    Ignoring a request in a copy of a known message is only a warning (AMB-23).
    """
    side, step = requester(view), received.step
    soft = "AMB-23" if received.duplicate else ""
    if view.terms.t_min_ms is None:
        return
    if side.first_asked(missing.message_id) < step.index and not side.states(missing.detected.step.index, step.index):
        return  # it may have had no entry any more
    end = side.touched_after(missing.message_id, step.index)
    heard = _next_heard(side, step)
    old, due = side.shown_due(missing), side.due(missing)
    fresh = view.terms.t_req(missing.message_id) or Window(view.terms.t_min_ms, view.terms.t_min_ms)
    soonest = step.now_ms + fresh.low - side.slack_ms
    expected = f"{missing.message_id!r} left to others: another participant asked for it at step {step.index}"
    for shown in side.states(step.index, min(end, heard)):
        entry = shown.due.get(missing.message_id)
        if not side.in_step(step, shown.step):
            break
        if entry is None or entry >= soonest:
            yield held(shown.step)
        elif entry == old:
            waited = entry - missing.detected.step.now_ms
            seen = f"it is still to be asked for, {waited} ms after it was found missing, as before"
            yield violated(shown.step, code, expected, seen, soft)
        else:
            continue
        return
    for sent in side.sends(step.index, end):
        if not side.in_step(step, sent.step) or sent.step.now_ms >= soonest:
            break
        if side.requests_repair_of(sent, missing.message_id):
            seen_gone = any(missing.message_id not in s.due for s in side.states(step.index, sent.step.index))
            if not seen_gone:
                seen = f"a request for it {sent.step.now_ms - step.now_ms} ms later, before a new entry could be due"
                yield violated(sent.step, code, expected, seen, soft)
            return
        if due is not None and sent.step.now_ms >= due.high + side.slack_ms and not side.full(sent):
            yield held(sent.step)
            return


@check("SDS-R-RECV-07", *TIMED, of="missing sds-r")
def overheard_requests_are_dropped(view: ChannelView) -> Iterator[Observation]:
    """A request of another participant removes the entry from the outgoing repair request buffer."""
    for missing, received in _overheard(requester(view), "plain"):
        yield from _dropped(view, missing, received, "not-dropped")


@check("SDS-R-RECV-12", *TIMED, of="missing sds-r")
def every_entry_is_overheard(view: ChannelView) -> Iterator[Observation]:
    """That holds of every entry of a repair request: behind others, unknown ones too, and without a sender."""
    for missing, received in _overheard(requester(view), "among others"):
        yield from _dropped(view, missing, received, "entry-ignored")


@check("SDS-R-RECV-13", *TIMED, of="missing sds-r")
def overheard_in_any_message(view: ChannelView) -> Iterator[Observation]:
    """That holds of requests in blocked messages and in copies of known ones, too (AMB-23)."""
    for missing, received in _overheard(requester(view), "blocked", "known"):
        code = "duplicate-request-ignored" if received.duplicate else "blocked-request-ignored"
        yield from _dropped(view, missing, received, code)


# ---- the amended text ------------------------------------------------------------------------------------------------


def _blocks(missing: Missing, index: int) -> bool:
    """Return whether a buffered content message depends on it at that step."""
    return any(
        r.acceptable and r.step.index < index and all(d.step.index > index for d in r.delivered) for r in missing.named
    )


def _readded(side: Requester) -> Iterator[tuple[Missing, int, Received]]:
    """Missing messages that lost their entry, or may have lost it: (message, step of the loss, next received message,
    which must add a new entry)."""
    for missing in side.wanted:
        gone = [r.step.index for r in missing.overheard]
        asked = side.first_asked(missing.message_id)
        gone += [asked] if asked != NEVER else []
        arrived = missing.arrived.index if missing.arrived is not None else NEVER
        for index in gone:
            received = side.heard_after(index)
            if received is None or index > arrived or received.kind not in (Kind.CONTENT, Kind.SYNC) or received.odd:
                continue
            message, here = received.message, received.step.index
            if any(e.message_id == missing.message_id for e in message.repair_request) or not _blocks(missing, here):
                continue
            untouched = side.touched_after(missing.message_id, index) > here
            if untouched and side.in_step(missing.detected.step, received.step):
                yield missing, index, received


@check("SDS-R-RECV-04", *TIMED, of="missing sds-r")
def entries_come_back(view: ChannelView) -> Iterator[Observation]:
    """After others asked for it, or its own request was lost, the next message gives what is missing an entry again.

    The content of that message does not matter (AMB-68, AMB-118).
    """
    side, terms = requester(view), view.terms
    if terms.t_max_ms is None or terms.t_min_ms is None:
        return
    for missing, index, received in _readded(side):
        step, end = received.step, side.touched_after(missing.message_id, received.step.index)
        expected = f"{missing.message_id!r}, still missing, to be asked for again after step {step.index}"
        asked = side.first_asked(missing.message_id, step.index)
        shown = next(iter(side.states(step.index, min(end, asked))), None)
        # A message that was only requested may have kept its entry, which may expire T_max after its creation or after
        # T_req (AMB-81).
        anew = any(r.step.index == index and _must_be_honoured(r) for r in missing.overheard)
        since = step if anew else missing.detected.step
        if shown is not None and missing.message_id not in shown.due:
            if side.in_step(since, shown.step) and shown.step.now_ms < since.now_ms + terms.t_max_ms:
                seen = "it is not in the outgoing repair request buffer"
                yield violated(shown.step, "not-queued-again", expected, seen)
            continue
        if shown is not None and side.first_asked(missing.message_id) >= step.index:
            yield held(shown.step)
            continue
        sends = [s for s in side.sends(step.index, end) if side.in_step(step, s.step)]
        asking = [s for s in sends if side.requests_repair_of(s, missing.message_id)]
        if asking:
            yield held(asking[0].step)
            continue
        free = [s for s in sends if not side.full(s)]
        kept_due = step.now_ms if index == side.first_asked(missing.message_id) else since.now_ms + terms.t_max_ms
        kept_end = since.now_ms + terms.t_min_ms + terms.t_max_ms
        due, end_ms = step.now_ms + terms.t_max_ms + side.slack_ms, step.now_ms + terms.t_min_ms + terms.t_max_ms
        final = [s for s in free if due <= s.step.now_ms < end_ms - side.slack_ms]
        if final and (anew or any(kept_due <= s.step.now_ms < kept_end for s in free)):
            yield violated(final[0].step, "not-queued-again", expected, f"no request within T_max, {terms.t_max_ms} ms")


@check("SDS-R-RECV-05", *TIMED, of="missing sds-r")
def new_entries_have_new_times(view: ChannelView) -> Iterator[Observation]:
    """An entry that came back has a T_req that counts from then, not the one it had."""
    side = requester(view)
    for missing, index, received in _readded(side):
        step, offsets = received.step, view.terms.t_req(missing.message_id)
        if offsets is None or index == side.first_asked(missing.message_id):
            continue  # the entry of a message that was only requested may remain
        if any(r.step.index == index and not _must_be_honoured(r) for r in missing.overheard):
            continue  # a request in an ephemeral message leaves the entry (AMB-84)
        overheard = view.trace.steps[index - 1]
        allowed = [offsets.after(overheard.now_ms), offsets.after(step.now_ms)]
        expected = f"T_req of {missing.message_id!r}, which is asked for again, counted from step {step.index}"
        end = min(side.touched_after(missing.message_id, step.index), side.first_asked(missing.message_id, step.index))
        heard = _next_heard(side, step)
        shown = next((s for s in side.states(step.index, min(end, heard)) if missing.message_id in s.due), None)
        if shown is not None:
            due = shown.due[missing.message_id]
            met, near = (
                any(window.low - slack <= due <= window.high + slack for window in allowed)
                for slack in (side.slack_ms, SECOND_MS)
            )
            yield judged(
                shown.step,
                "not-computed-anew",
                met,
                expected,
                f"{due - step.now_ms} ms after it{view.terms.clock_hint(near)}",
            )
        elif not side.shown:
            until = side.touched_after(missing.message_id, step.index)
            own = next(
                (s for s in side.sends(step.index, until) if side.requests_repair_of(s, missing.message_id)), None
            )
            if own is not None:
                asking = own.step
                if not side.in_step(step, asking):
                    continue
                soonest = overheard.now_ms + offsets.low
                hint = view.terms.clock_hint(asking.now_ms >= soonest - SECOND_MS)
                seen = f"a request {asking.now_ms - step.now_ms} ms after it{hint}"
                yield judged(asking, "not-computed-anew", asking.now_ms >= soonest - side.slack_ms, expected, seen)
