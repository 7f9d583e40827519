"""Positions on SDS-R: which messages are requested and when, and which requests are answered, when, and with what."""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.sds.trace import Step
from sds_reference import HASH_PROFILES, t_req_offset

from ....judging.judgement import Outcome
from ....judging.view_cache import cache_per_view
from ..checks.repair.receive import removed_entries_are_added_again
from ..register import shows
from ..view.channel_view import ChannelView
from ..view.repair_terms import SECOND_MS
from ..view.repair_tracker import NEVER, MissingMessage, RequestedMessage
from ..view.requester import Requester, requester, requests_any_repair
from ..view.responder import SWEEP_MS, TICKS, answers_any_request, authors_by_requested_id, response_periods

MOST_TIMES = 8
"""Maximum number of values of T_req to examine. More values give no new evidence."""
ENOUGH = 3
"""Minimum number of values of T_req. Fewer values may be whole seconds, or fit a wrong hash, by chance."""


@cache_per_view
def _shown_request_times(view: ChannelView) -> list[tuple[MissingMessage, Step, int]]:
    """Return (missing message, step of the first state that shows its T_req, T_req in milliseconds after its
    detection).
    """
    side = requester(view)
    found: list[tuple[MissingMessage, Step, int]] = []
    for missing in side.certainly_missing if side.shown else ():
        due = side.shown_t_req(missing)
        if len(found) == MOST_TIMES:
            break
        if due is not None:
            shown = next(s.step for s in side.shown if s.due.get(missing.message_id) == due)
            found.append((missing, shown, due - missing.detected.step.now_ms))
    return found


@shows("AMB-01")
def hash_of_times(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show which known hash gives T_req: the hash that gives three shown values in milliseconds, or no known hash."""
    times, bounds = _shown_request_times(view)[:ENOUGH], view.terms.bounds
    fine = view.terms.clock_ms <= 1 and any(offset % SECOND_MS for _, _, offset in times)
    if len(times) < ENOUGH or bounds is None or not fine or bounds[1] - bounds[0] < 1_000:
        return
    hits = {
        name: sum(
            t_req_offset(profile, view.party.participant_id, m.message_id, *bounds) == offset for m, _, offset in times
        )
        for name, profile in HASH_PROFILES.items()
    }
    given = [name for name, count in hits.items() if count == len(times)]
    if given:
        yield times[-1][1], given[0]
    elif not any(hits.values()):
        yield times[-1][1], "otherwise"


@shows("AMB-05")
def unit_of_times(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether T_req is kept in milliseconds or in seconds.

    One T_req that is not a whole second proves milliseconds. Three different values in whole seconds prove seconds.
    """
    dues = [(step, offset + missing.detected.step.now_ms) for missing, step, offset in _shown_request_times(view)]
    broken = next((step for step, due in dues if due % SECOND_MS), None)
    if broken is not None:
        yield broken, "milliseconds"
    elif len({due for _, due in dues}) >= ENOUGH:
        yield dues[-1][0], "seconds"


@shows("AMB-68", of="missing sds-r")
def after_a_request(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether a message that does not arrive after a repair request is requested again.

    If another causal history names the message after the request, and more than T_max later neither a content message
    nor a sync message requests it, the message is requested only once.
    """
    side, t_max = requester(view), view.terms.t_max_ms
    for missing in side.requestable if t_max else ():
        asked, end = side.requested_at(missing), side.unchanged_until(missing)
        if asked >= end or not t_max:
            continue
        again = next(
            (s for s in side.carriers_between(asked, end) if side.requests_repair_of(s, missing.message_id)), None
        )
        if again is not None:
            yield again.step, "asks-again"
            continue
        named = next((r for r in missing.named if asked < r.step.index < end and r.is_binding), None)
        if named is None or named.foreign_filter:
            continue
        late = [
            s
            for s in side.carriers_between(named.step.index, end)
            if s.step.now_ms >= named.step.now_ms + t_max + SECOND_MS
        ]
        late = [s for s in late if not side.is_full(s) and side.clock_is_monotonic(missing.detected.step, s.step)]
        if len({sent.message.kind for sent in late}) == 2:
            yield late[-1].step, "asks-once"


@shows("AMB-118", of="missing sds-r")
def what_is_entered_again(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether a removed entry for a missing message is added again when a message arrives that does not name it.

    The specification requires that the entry is added. The observations are those of the check of SDS-R-RECV-04.
    """
    if view.revision.requests_again:
        for seen in removed_entries_are_added_again(view):
            step = view.trace.steps[seen.step - 1]
            yield step, "all-that-wait" if seen.outcome is Outcome.HELD else "of-the-message"


def _find_due_requests(side: Requester, step: Step) -> list[str]:
    """IDs of the messages whose requests were due before a step and were not sent since the last shown buffer, which
    has their T_req.
    """
    states = side.shown_between(0, step.index)
    received = side.next_received(states[-1].step.index) if states else None
    if not states or (received is not None and received.step.index < step.index):
        return []
    ids = (message_id for message_id, due in states[-1].due.items() if due <= step.now_ms)
    return [i for i in ids if side.first_request_index(i) >= step.index]


@shows("AMB-86", of="outgoing sds-r")
def length_of_requests(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show the maximum number of entries in a repair request, if the suite did not configure this number.

    Proofs are a repair request with more than three entries, and a repair request with fewer entries than were due in
    the buffer that was shown before.
    """
    if view.party.asked.HasField("max_repair_requests"):
        return
    names, side = {1: "one", 2: "two", 3: "three"}, requester(view)
    for sent in side.carriers:
        length = len(sent.message.repair_request)
        if length > 3:
            yield sent.step, "more"
        elif length and len(_find_due_requests(side, sent.step)) > length:
            yield sent.step, names[length]


@shows("AMB-87", of="outgoing sds-r")
def senders_in_histories(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether the entries of causal histories have sender IDs if SDS-R is used."""
    for sent in view.outgoing:
        known = [e for e in sent.message.causal_history if view.repair.authors(e.message_id)]
        if known:
            yield sent.step, "names" if all(entry.sender_id for entry in known) else "leaves-out"


@shows("AMB-141", of="sds-r")
def whether_it_asks(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether participants send repair requests at all.

    A trace without repair requests is a proof only if a content message and a sync message were sent later than T_max
    after a message was found missing, and nothing else happened to the missing message before.
    """
    if not view.terms.t_max_ms:
        return
    side = requester(view)
    asking = next((sent for sent in side.carriers if sent.message.repair_request), None)
    if asking is not None:
        yield asking.step, "asks"
        return
    if requests_any_repair(view):
        return
    for missing in side.requestable:
        detected = missing.detected.step
        over = detected.now_ms + view.terms.t_max_ms + SECOND_MS
        late = [
            s for s in side.carriers_between(detected.index, side.unchanged_until(missing)) if s.step.now_ms >= over
        ]
        if len({sent.message.kind for sent in late}) == 2 and side.clock_is_monotonic(detected, late[-1].step):
            yield late[-1].step, "asks-for-nothing"


def _find_answer(view: ChannelView, asked: RequestedMessage, until: int, silence: str) -> Iterator[tuple[Step, str]]:
    """Yield (step of the answer, "answers"), or (step by which every participant would have answered, ``silence``).

    Only answers before the step with the index ``until`` count.
    """
    received, t_max = asked.received.step, view.terms.t_max_ms
    if asked.answers and asked.answers[0].step.index < until:
        yield asked.answers[0].step, "answers"
    elif t_max and view.terms.groups in (None, 0, 1) and not asked.answers and not asked.copies:
        over = received.now_ms + t_max + SWEEP_MS
        late = [t for t in view.ticks if received.index < t.index < until and t.now_ms >= over]
        if len(late) >= TICKS:
            yield late[TICKS - 1], silence


@shows("AMB-71", of="asked sds-r")
def asked_for_what_waits(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether a request for a message that waits for its dependencies is answered while the message waits."""
    for asked in view.repair.asked:
        if asked.buffered and asked.received.is_binding:
            delivered = (d.step.index for d in view.delivered if d.message_id == asked.message_id)
            yield from _find_answer(view, asked, min(delivered, default=NEVER), "does-not")


@shows("AMB-72", of="asked sds-r")
def asked_without_a_sender(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether requests for a stored message are answered if they do not name its sender."""
    for asked in view.repair.asked:
        senders = (authors_by_requested_id(view, r).get(asked.message_id, ()) for r in (asked.received, *asked.repeats))
        if asked.held and not asked.own and asked.received.is_binding and not any(map(any, senders)):
            yield from _find_answer(view, asked, NEVER, "ignores")


@shows("AMB-113", of="asked sds-r")
def answers_of_the_sender(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether the original sender of a requested message answers at once or on a tick."""
    for period in response_periods(view):
        if period.asked.own and period.answer is not None and period.is_no_resend:
            yield period.answer, "on-a-sweep" if period.answer.command == "tick" else "at-once"


@shows("AMB-67", of="asked sds-r")
def requests_in_answers(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether an answer has the repair request of the original message, or none."""
    for asked in view.repair.asked:
        old = asked.original.repair_request if asked.original is not None else ()
        for answer in asked.answers if old and not asked.own else ():
            if answer.message.repair_request in (old, ()):
                yield answer.step, "keeps" if answer.message.repair_request else "leaves-out"


@shows("AMB-141", of="asked sds-r")
def whether_it_answers(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether requests for messages of other participants are answered at all."""
    answered = [
        period
        for period in response_periods(view)
        if period.answer is not None and period.is_no_resend and not period.asked.own
    ]
    if answered:
        yield answered[0].reported_step, "answers"
    elif not answers_any_request(view):
        yield from (
            (period.since, "answers-nobody")
            for period in response_periods(view)
            if period.is_never_answered and period.due
        )
