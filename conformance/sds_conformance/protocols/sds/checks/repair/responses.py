"""Sections R-STATE and R-RECV, the responder's side: what is kept, what is queued, and which requests are answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from sds_harness.sds.trace import Step
from sds_reference import Kind, Message

from .....judging.judgement import Observation, held, judged, violated
from .....judging.once import once
from ...register import check
from ...view.channel_view import ChannelView
from ...view.elsewhere import came_elsewhere, requested_elsewhere
from ...view.repair_terms import SECOND_MS, TIMED
from ...view.repair_tracker import NEVER, Answer
from ...view.responder import (
    FEW,
    Turn,
    answers_and_originals,
    answers_at_all,
    bracket,
    position,
    refused_for_good,
    shown_t_resp,
    shows,
    turns,
    undisputed,
)

_DIRECT, _WAITED, _REPAIRED, _OWN = "delivered on arrival", "delivered after waiting", "repaired", "its own"
_LEFT_OUT = {_WAITED: "buffered-left-out", _REPAIRED: "repaired-left-out", _OWN: "own-left-out"}
"""Codes of messages that are not answered for, by how they got into the log."""
_SYNC, _DUPLICATE, _BLOCKED = "a sync message", "a copy of a known message", "a message that has to wait itself"
_IGNORED = {
    _SYNC: "sync-request-ignored",
    _DUPLICATE: "duplicate-request-ignored",
    _BLOCKED: "blocked-request-ignored",
}
"""Codes of requests that are not answered, by the message that carries them."""


def _came(view: ChannelView, turn: Turn) -> str:
    """How the requested message got into the log."""
    if turn.asked.own:
        return _OWN
    missing = view.repair.tracked(turn.message_id)
    if missing is not None and missing.requests:
        return _REPAIRED
    arrivals = view.arrivals.get(turn.message_id, ())
    return _DIRECT if any(r.delivered_at_once for r in arrivals if r.kind is Kind.CONTENT) else _WAITED


@once
def _answered_first(view: ChannelView) -> dict[str, int]:
    """Index of the first step that answers for a message, by its ID."""
    answers = [(turn.message_id, turn.answer.index) for turn in turns(view) if turn.answer is not None]
    return dict(sorted(answers, key=lambda answer: -answer[1]))


@once
def _places(view: ChannelView) -> set[int]:
    """Which items of a repair request are answered: how many stand before them in the list."""
    return {position(turn) for turn in turns(view) if turn.answer is not None}


def _carrier(turn: Turn) -> str:
    """What is special about the message that asks, "" for nothing."""
    if turn.request.kind is Kind.SYNC:
        return _SYNC
    if turn.request.duplicate:
        return _DUPLICATE
    return _BLOCKED if turn.request.unmet else ""


def matter_of(view: ChannelView, turn: Turn) -> str:
    """The requirement whose matter it is if a request is never answered: that of the most special thing about it."""
    known = _known_matters(view)
    if id(turn) not in known:
        known[id(turn)] = _matter_of(view, turn)
    return known[id(turn)]


@once
def _known_matters(_: ChannelView) -> dict[int, str]:
    """Kept by the identity of a turn, of which each check looks for its own."""
    return {}


def _matter_of(view: ChannelView, turn: Turn) -> str:
    if came_elsewhere(view).get(turn.message_id, 0) > turn.since.index:
        return "CHANNELS"  # SDS-STATE-16
    if _answered_first(view).get(turn.message_id, NEVER) < turn.since.index:
        return "SWEEP-04"
    if turn.never and turn.crowd <= FEW and _places(view) == {0} and position(turn) > 0:
        return "RECV-12"
    if turn.never and turn.shown:
        return "SWEEP-01"
    several = view.terms.groups is None or view.terms.groups > 1
    if turn.message_id in _evicted(view):
        return "STATE-07"
    if turn.never and turn.asked.own and turn.request.kind is Kind.SYNC and _answers_for_its_own(view):
        return "RECV-13"
    if turn.asked.own:
        return "GROUP-02" if several else "STATE-08"
    if turn.message_id in refused_for_good(view):
        return "GROUP-04"
    if _came(view, turn) != _DIRECT:
        return "STATE-08"
    if several and turn.crowd <= FEW:
        return "GROUP-01"
    if _named_meanwhile(view, turn):
        return "RECV-08"
    if _carrier(turn):
        return "RECV-13"
    return "RECV-12" if len(turn.request.message.repair_request) > 1 and turn.crowd <= FEW else "RECV-08"


EVICTED = 10
"""So many old messages of one request without an answer, and newer ones with one, are no chance."""


@once
def _evicted(view: ChannelView) -> frozenset[str]:
    """Messages that are not answered for because newer ones took their place.

    All of one request that came before some message are unanswered, and all that came after it are answered.
    """
    first = {received.message.message_id: received.step.index for received in reversed(view.received)}
    first |= {sent.message.message_id: sent.step.index for sent in reversed(view.sent)}
    requests: dict[int, list[Turn]] = {}
    for turn in turns(view):
        if turn.due and (turn.in_time or turn.never):
            requests.setdefault(turn.since.index, []).append(turn)
    evicted: set[str] = set()
    for together in requests.values():
        old = {turn.message_id: first[turn.message_id] for turn in together if turn.never}
        new = [first[turn.message_id] for turn in together if not turn.never]
        if len(old) >= EVICTED and new and max(old.values()) < min(new):
            evicted |= old.keys()
    return frozenset(evicted)


@once
def _answers_for_its_own(view: ChannelView) -> bool:
    """Was any own message sent again as an answer? Then it keeps what it sends."""
    return any(turn.in_time and turn.sure for turn in turns(view) if turn.asked.own)


def _named_meanwhile(view: ChannelView, turn: Turn) -> bool:
    """Did a causal history name the message while its answer was pending, which may have dropped the request?"""
    if not turn.never or turn.overdue is None:
        return False
    last = turn.overdue.index
    return any(turn.since.index < index < last for index in _named(view).get(turn.message_id, ()))


@once
def _named(view: ChannelView) -> dict[str, list[int]]:
    """Indices of the steps whose messages name an ID in their causal history."""
    named: dict[str, list[int]] = {}
    for received in view.received:
        for entry in received.message.causal_history:
            named.setdefault(entry.message_id, []).append(received.step.index)
    return named


def _answers(view: ChannelView, turn: Turn) -> bool:
    """Does it answer for messages of this kind at all, own or of others?"""
    return answers_at_all(view, others=not turn.asked.own)


def answered(view: ChannelView, matter: str, code: str | Mapping[str, str], why: str) -> Iterator[Observation]:
    """Requests that are one requirement's matter: each is answered by an implementation that answers others.

    ``code`` may be given by the detail that takes the place of ``{}`` in the words.
    """
    for turn in turns(view):
        if not turn.due or (turn.never and not _answers(view, turn)) or matter_of(view, turn) != matter:
            continue
        if turn.in_time and turn.sure:
            yield held(turn.told)
        elif turn.never and turn.overdue is not None:
            detail = {"STATE-08": _came(view, turn), "RECV-13": _carrier(turn)}.get(matter, "")
            which = f"{turn.message_id!r}, {why.format(detail)}"
            seen = f"nothing for {turn.overdue.now_ms - turn.since.now_ms} ms, although other requests were answered"
            soft = "AMB-23" if matter == "RECV-13" and turn.request.duplicate else ""
            expected = f"{which}, sent again after the request of step {turn.since.index}"
            how = code if isinstance(code, str) else code[detail]
            yield violated(turn.overdue, how, expected, seen, soft)


# ---- R-STATE ---------------------------------------------------------------------------------------------------------


@check("SDS-R-STATE-04", *TIMED, of="answers-shown sds-r")
def only_what_can_be_answered_is_queued(view: ChannelView) -> Iterator[Observation]:
    """The buffer of incoming requests names only what was asked for, has arrived and is the participant's to repair."""
    if not view.terms.on or not shows(view):
        return
    content = (r for r in reversed(view.received) if r.kind is Kind.CONTENT and not r.rejected)
    arrived = {received.message.message_id: received.step.index for received in content}
    arrived |= {sent.message.message_id: sent.step.index for sent in reversed(view.sent)}
    named = _first_named(view)
    outside = {turn.message_id for turn in turns(view) if turn.eligible is False and undisputed(turn.asked)}
    for observed in view.showing("incoming_repairs"):
        at, queued = observed.step.index, {e.message_id for e in observed.state.incoming_repairs.entries}
        for message_id in sorted(queued):
            if requested_elsewhere(view).get(message_id, NEVER) < min(at, named.get(message_id, NEVER)):
                continue  # somebody asks for it in another channel: SDS-STATE-16
            if named.get(message_id, NEVER) > at:
                yield violated(
                    observed.step, "unasked", "only requests of others to be answered for", f"{message_id!r}"
                )
            elif arrived.get(message_id, NEVER) > at:
                yield violated(
                    observed.step,
                    "not-held",
                    f"no answer planned for {message_id!r}, which never arrived",
                    "a time for one",
                )
            else:
                expected = f"no answer planned for {message_id!r}, of whose response group the participant is not"
                yield judged(observed.step, "not-eligible", message_id not in outside, expected, "a time for one")
        lacking = {i for i, since in named.items() if since < at and arrived.get(i, NEVER) > at}
        if lacking - queued:
            yield held(observed.step)


@once
def _first_named(view: ChannelView) -> dict[str, int]:
    """Index of the first step that asks for a message, by its ID."""
    return {e.message_id: r.step.index for r in reversed(view.received) for e in r.message.repair_request}


def unbidden(view: ChannelView) -> list[Answer]:
    """Broadcasts of messages of others that no message of the channel has asked for."""
    named = _first_named(view)
    return [a for a in view.repair.unasked if named.get(a.message.message_id, NEVER) > a.step.index]


@check("SDS-R-STATE-04", *TIMED)
def only_what_was_asked_for_is_sent(view: ChannelView) -> Iterator[Observation]:
    """Messages of others go out only after a request for them."""
    elsewhere = requested_elsewhere(view)
    for answer in unbidden(view):
        if elsewhere.get(answer.message.message_id, NEVER) < answer.step.index:
            continue  # another channel asked for it: SDS-STATE-16
        expected = f"{answer.message.message_id!r} left alone, which nobody asked for"
        yield violated(answer.step, "unasked", expected, "a broadcast of it")
    for turn in turns(view):
        if turn.answer is not None and not turn.asked.own:
            yield held(turn.answer)


def _after_copy(view: ChannelView, turn: Turn) -> tuple[Step | None, Step | None]:
    """What followed a copy that came while a request was pending: (an answer, the tick by which one had been due)."""
    if turn.copy is None or turn.answer is not None or turn.copy.step.index != turn.end:
        return None, None
    answer = next((a.step for a in turn.asked.answers if a.step.index > turn.end), None)
    until = answer.index if answer is not None else turn.next_request
    due = [t for t in view.ticks if turn.end < t.index < until and turn.window and t.now_ms >= turn.window.high]
    return answer, due[-1] if due and turn.due else None


@check("SDS-R-STATE-05", *TIMED, of="asked sds-r")
def no_answer_after_somebody_elses(view: ChannelView) -> Iterator[Observation]:
    """After a copy of the message from somebody else the participant does not send it again."""
    for turn in turns(view):
        answer, silent = _after_copy(view, turn)
        if answer is not None:
            expected = f"no answer for {turn.message_id!r}, of which a copy came at step {turn.end}"
            yield violated(answer, "answered-after-copy", expected, "one more copy")
        elif silent is not None:
            yield held(silent)


@check("SDS-R-RECV-02", *TIMED, of="asked sds-r")
def a_copy_ends_the_request(view: ChannelView) -> Iterator[Observation]:
    """A copy takes the request out of the buffer; where that is not shown, no answer follows."""
    for turn in turns(view):
        if turn.copy is None or turn.copy.step.index != turn.end or turn.answer is not None:
            continue
        if not shows(view):
            answer, silent = _after_copy(view, turn)
            if answer is not None:
                yield violated(
                    answer, "not-dropped", f"the request for {turn.message_id!r} dropped with the copy", "an answer"
                )
            elif silent is not None:
                yield held(silent)
            continue
        for observed in view.observed:
            if turn.end < observed.step.index < turn.next_request:
                queued = {entry.message_id for entry in observed.state.incoming_repairs.entries}
                if turn.message_id in queued or turn.shown:
                    expected = f"no pending answer for {turn.message_id!r}, of which a copy came at step {turn.end}"
                    yield judged(
                        observed.step,
                        "not-dropped",
                        turn.message_id not in queued,
                        expected,
                        "one that is still planned",
                    )
                break


@check("SDS-R-STATE-06", *TIMED, of="asked sds-r")
def later_requests_change_nothing(view: ChannelView) -> Iterator[Observation]:
    """Further requests while an answer is pending neither move it nor add one."""
    alone = any(len(asked.answers) > 1 for asked in view.repair.asked if not asked.repeats)
    for turn in turns(view):
        if not turn.repeats or not turn.clear:
            continue
        answers, most = turn.asked.answers, 1 + len(turn.asked.repeats)
        if 1 < len(answers) <= most and not turn.asked.own and not alone:
            expected = f"one answer for {turn.message_id!r}, asked for {most} times before it came"
            yield violated(answers[1].step, "answered-twice", expected, f"{len(answers)} answers")
        yield from _moved(view, turn)
        if not turn.shown and not turn.asked.own and turn.answer is not None:
            yield from _moved_unseen(view, turn, turn.answer)


def _moved(view: ChannelView, turn: Turn) -> Iterator[Observation]:
    """Where the buffer is shown, before a further request and after it."""
    shown = [(observed.step, due) for observed, due in shown_t_resp(view, turn.asked) if due is not None]
    for (before, first), (after, second) in pairwise(shown):
        further = [r.step for r in turn.repeats if before.index < r.step.index < after.index]
        # An answer that was due before the further request may have been dropped: to broadcast it is a SHOULD.
        if further and after.index < turn.end and all(step.now_ms < first for step in further):
            moved = second - first
            expected = f"the time of the answer for {turn.message_id!r} as the first request fixed it"
            seen = f"one {abs(moved)} ms {'later' if moved > 0 else 'earlier'}, after a further request"
            yield judged(after, "moved", not moved, expected, seen)


def _moved_unseen(view: ChannelView, turn: Turn, answer: Step) -> Iterator[Observation]:
    """Where it is not: held against an answer for the same message that was asked for once."""
    others = [t for t in turns(view) if t.message_id == turn.message_id and t.clear and not t.repeats]
    between = bracket(view, turn)
    for other in others:
        usual = bracket(view, other)
        if usual is None or between is None:
            continue
        span = f"{usual.low} to {usual.high} ms after the first of several requests"
        expected = f"an answer for {turn.message_id!r} {span}, as when it was asked for once"
        hint = view.terms.clock_hint(between.meets(usual, SECOND_MS))
        seen = f"one after {between.high} ms{hint}"
        yield judged(answer, "moved", between.meets(usual, view.terms.clock_ms), expected, seen)


def _lacks(original: Message, answer: Message) -> list[tuple[str, str]]:
    """The parts of the message that an answer lacks altogether: the code and the words of each."""
    timestamps = original.lamport_timestamp is not None, answer.lamport_timestamp is not None
    parts = (
        ("missing-content", "content", original.content, answer.content),
        ("missing-timestamp", "Lamport timestamp", *timestamps),
        ("missing-history", "causal history", original.causal_history, answer.causal_history),
        ("missing-sender", "sender", original.sender_id, answer.sender_id),
    )
    return [(code, name) for code, name, had, has in parts if had and not has]


@check("SDS-R-STATE-07", *TIMED, of="asked")
def answers_are_complete(view: ChannelView) -> Iterator[Observation]:
    """An answer is the full message, not just its ID: with content, timestamp, causal history and sender."""
    for answer, original in answers_and_originals(view):
        lacking = _lacks(original, answer.message)
        if lacking:
            seen = f"one with no {' and no '.join(name for _, name in lacking)}"
            yield violated(answer.step, lacking[0][0], f"the full message {original.message_id!r}", seen)
        else:
            yield held(answer.step)


@check("SDS-R-STATE-07", *TIMED, of="asked sds-r")
def old_messages_are_kept_too(view: ChannelView) -> Iterator[Observation]:
    """Not only the newest messages of the log are answered for."""
    return answered(view, "STATE-07", "not-kept", "in its log as newer ones are that were answered for")


@check("SDS-R-STATE-08", *TIMED, of="asked sds-r")
def whatever_is_in_the_log_can_be_repaired(view: ChannelView) -> Iterator[Observation]:
    """Own messages, and those that were delivered late or came as repairs, are answered for as well as others."""
    return answered(view, "STATE-08", _LEFT_OUT, "{}")


# ---- R-RECV ----------------------------------------------------------------------------------------------------------


@check("SDS-R-RECV-08", *TIMED, of="asked sds-r")
def requests_are_answered(view: ChannelView) -> Iterator[Observation]:
    """Who has a requested message and may repair it does so within T_max and a sweep."""
    for turn in turns(view):
        if not turn.due:
            continue
        if turn.in_time and turn.sure:
            yield held(turn.told)
        elif turn.never and turn.overdue is not None:
            if _answers(view, turn) and matter_of(view, turn) != "RECV-08":
                continue  # it is another requirement's matter
            again = f"sent again after the request of step {turn.since.index}"
            seen = f"nothing for {turn.overdue.now_ms - turn.since.now_ms} ms"
            yield violated(turn.overdue, "never-answered", f"{turn.message_id!r}, which is in its log, {again}", seen)


@check("SDS-R-RECV-09", *TIMED, of="asked sds-r")
def what_is_not_held_is_not_answered(view: ChannelView) -> Iterator[Observation]:
    """A request for a message that the participant lacks comes to nothing, even if the message arrives later."""
    t_max = view.terms.t_max_ms
    for asked in view.repair.asked if view.terms.on else ():
        since = asked.received.step
        if asked.held or asked.buffered or asked.message_id == asked.received.message.message_id:
            continue
        if asked.answers and not asked.own:
            request = f"the request of step {since.index} for {asked.message_id!r}, which was not there then"
            yield violated(asked.answers[0].step, "answered-unheld", f"no answer to {request}", "a broadcast of it")
        elif t_max is not None and not asked.answers:
            waited = [tick for tick in view.ticks if tick.index > since.index and tick.now_ms >= since.now_ms + t_max]
            if waited:
                yield held(waited[0])


@check("SDS-R-RECV-12", *TIMED, of="asked sds-r")
def each_item_is_handled(view: ChannelView) -> Iterator[Observation]:
    """Each of several items in a repair request is answered, whatever stands before it."""
    return answered(view, "RECV-12", "entry-ignored", "one of several items")


@check("SDS-R-RECV-13", *TIMED, of="arrived sds-r")
def requests_in_any_message_are_answered(view: ChannelView) -> Iterator[Observation]:
    """Requests in sync messages, in blocked ones and in copies are answered as well as others."""
    for received in view.refused if view.terms.on else ():
        if received.valid and received.kind is Kind.SYNC and received.message.repair_request:
            asked = received.message.repair_request[0].message_id
            yield violated(
                received.step, "refused", f"the request for {asked!r} in a sync message heard", received.refusal
            )
    yield from answered(view, "RECV-13", _IGNORED, "asked for in {}")


@check("SDS-R-RECV-13", *TIMED, of="own-came received sds-r")
def own_requests_are_not_answered(view: ChannelView) -> Iterator[Observation]:
    """A request in a reflected message of the participant itself is ignored."""
    asked = view.repairs
    for received in view.received if view.terms.on and not unbidden(view) else ():
        for entry in received.message.repair_request if received.own else ():
            if view.repair.original(entry.message_id) is None or entry.message_id in asked:
                continue
            late = [a for a in view.repair.unasked if a.message.message_id == entry.message_id]
            after = [a.step for a in late if a.step.index >= received.step.index]
            since, t_max = received.step, view.terms.t_max_ms
            silent = [t for t in view.ticks if t.index > since.index and t_max and t.now_ms >= since.now_ms + t_max]
            if after:
                expected = f"no answer to its own request for {entry.message_id!r}, which came back"
                yield violated(after[0], "own-request-answered", expected, "an answer", "AMB-74")
            elif silent:
                yield held(silent[0])
