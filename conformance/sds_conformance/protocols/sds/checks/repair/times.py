"""Checks of section R-TRESP: T_resp follows the formula with the declared hash. Without a declared hash, only rules
that hold for every hash are checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

from sds_harness.sds.trace import Step

from .....judging.judgement import Observation, observe_met, observe_outcome, observe_violation
from ...register import check
from ...view.channel_view import ChannelView
from ...view.repair_terms import SECOND_MS, TIMED
from ...view.responder import ResponsePeriod, measure_delay, response_periods, slack_ms
from ...view.windows import Window
from .arguments import can_be_equal


def classify_wrong_time(seen: Window, low: int, high: int, slack_ms: int) -> str:
    """The code of a wrong time: out of its bounds, or within its bounds but not the time of the formula."""
    if seen.high < low - slack_ms:
        return "too-early"
    return "too-late" if seen.low > high + slack_ms else "not-by-formula"


# ---- R-TRESP ---------------------------------------------------------------------------------------------------------


@check("SDS-R-TRESP-01", *TIMED, of="asked sds-r")
def response_times_by_the_formula(view: ChannelView) -> Iterator[Observation]:
    """T_resp follows the formula with the declared hash; with an unknown hash it is between 0 and T_max."""
    for period in response_periods(view):
        expected = view.terms.t_resp(period.author, period.message_id)
        found = measure_delay(view, period)
        if expected is None or found is None:
            continue
        by = "by the declared hash" if expected.exact else "whatever the hash"
        since = f"after the request of step {period.since.index}, {by}"
        what = f"an answer for {period.message_id!r} {_format_span(expected)} {since}"
        seen = f"planned after {found.low} ms" if period.shown else f"sent after {found.low} to {found.high} ms"
        seen += view.terms.clock_hint(expected.overlaps(found, SECOND_MS))
        code = classify_wrong_time(found, 0, view.terms.t_max_ms or 0, slack_ms(view))
        yield observe_outcome(period.reported_step, code, expected.overlaps(found, slack_ms(view)), what, seen)


@check("SDS-R-TRESP-02", *TIMED, of="asked sds-r")
def authors_do_not_wait(view: ChannelView) -> Iterator[Observation]:
    """The author of a message answers immediately or at the first sweep."""
    for period in response_periods(view):
        if not period.asked.own or not period.due or not period.fixes_time or period.end <= period.since.index:
            continue
        wait = period.window.low - period.since.now_ms if period.shown and period.window is not None else 0
        if wait > slack_ms(view):
            expected = f"an immediate answer for the own message {period.message_id!r}"
            hint = view.terms.clock_hint(wait <= SECOND_MS)
            yield observe_violation(period.since, "answered-late", expected, f"planned in {wait} ms{hint}")
        elif period.answer is None or not period.is_no_resend:
            continue  # another requirement judges missing answers, and a copy may be a resend
        elif not period.in_time:
            expected = f"an immediate answer for the own message {period.message_id!r}"
            seen = f"sent after {period.answer.now_ms - period.since.now_ms} ms"
            yield observe_violation(period.answer, "answered-late", expected, seen)
        else:
            yield observe_met(period.answer)


def _equal_answer_delays(view: ChannelView, code: str, *, same_requester: bool) -> Iterator[Observation]:
    """Judge whether two requests for one message, from one requester or from two, are answered with the same delay."""
    known: dict[str, list[tuple[ResponsePeriod, Window]]] = {}
    for period in response_periods(view):
        found = measure_delay(view, period)
        if found is None:
            continue
        for earlier, before in known.setdefault(period.message_id, []):
            first, second = earlier.request.message.sender_id, period.request.message.sender_id
            if (first == second) is not same_requester:
                continue
            which = f", as after the request of step {earlier.since.index}"
            if not same_requester:
                which = f" of {second!r}, as after the request of {first!r}: the message has the same author"
            expected = f"an answer for {period.message_id!r} {_format_span(before)} after the request{which}"
            seen = f"{'scheduled' if period.shown else 'sent'} after {_format_span(found)}"
            seen += view.terms.clock_hint(before.overlaps(found, SECOND_MS))
            yield observe_outcome(period.reported_step, code, before.overlaps(found, slack_ms(view)), expected, seen)
        known[period.message_id].append((period, found))


def _format_span(found: Window) -> str:
    return f"{found.low} ms" if found.exact else f"{found.low} to {found.high} ms"


@check("SDS-R-RECV-10", *TIMED, of="asked sds-r")
def delays_stay_the_same(view: ChannelView) -> Iterator[Observation]:
    """Two requests for one message by one participant are answered with the same delay."""
    return _equal_answer_delays(view, "delay-changes", same_requester=True)


@check("SDS-R-TRESP-03", *TIMED, of="asked sds-r")
def the_requester_does_not_matter(view: ChannelView) -> Iterator[Observation]:
    """Requests for one message by different participants are answered with the same delay."""
    return _equal_answer_delays(view, "depends-on-requester", same_requester=False)


_WIDEST = 6
"""A delay is known precisely enough if its window is at most T_max divided by this number."""
_HOLDERS, _MESSAGES, _AUTHORS, _EACH = 5, 4, 4, 5
"""Minimum numbers of samples. Each delay is known to within a sixth of T_max. The delays of five holders of one
message, or of one holder for five messages of one author, seem equal by chance with a probability of 5/6^4 < 0.004. If
T_max is 90 units, a factor of the product can be a multiple of T_max, which adds 1/90 to the probability (AMB-115). The
probability that this happens for all of four messages or authors is below 1e-7.
"""


def _known_delays(
    views: Iterable[ChannelView], sample_of: Callable[[ChannelView, ResponsePeriod], tuple[str, str]], each: int
) -> tuple[dict[str, list[Window]], Step | None]:
    """Return (by set: the delays of answers that are known precisely enough, step of the last such answer or None).

    ``sample_of`` returns (name of the set, key in the set) of a delay. Sets with fewer than ``each`` samples are left
    out.
    """
    delays: dict[str, dict[str, Window]] = {}
    last: Step | None = None
    for view in views:
        t_max = view.terms.t_max_ms or 0
        for period in response_periods(view):
            found = measure_delay(view, period)
            if found is not None and t_max and (found.high - found.low) * _WIDEST <= t_max:
                which, sample = sample_of(view, period)
                delays.setdefault(which, {}).setdefault(sample, found)
                last = period.reported_step
    return {which: list(found.values()) for which, found in delays.items() if len(found) >= each}, last


@check("SDS-R-TRESP-04", *TIMED, of="asked-anywhere", together=True)
def holders_answer_at_different_times(view: ChannelView) -> Iterator[Observation]:
    """Participants that hold the same messages answer requests for these messages after different delays."""
    if view.views_in_channel[0] is not view or len(view.views_in_channel) < _HOLDERS:
        return
    known, last = _known_delays(
        view.views_in_channel, lambda of, period: (period.message_id, of.party.participant_id), _HOLDERS
    )
    enough = list(known.values())
    if len(enough) >= _MESSAGES and last is not None:
        holders = f"{len(enough[0])} holders of the same message"
        expected = f"{holders} to answer after different delays, for at least one of {len(enough)} messages"
        seen = "for each message, the same delay of all its holders"
        yield observe_outcome(last, "times-alike", not all(map(can_be_equal, enough)), expected, seen)


@check("SDS-R-TRESP-06", *TIMED, of="asked sds-r")
def messages_are_answered_for_at_different_times(view: ChannelView) -> Iterator[Observation]:
    """A participant answers requests for different messages of one author with different delays."""
    enough, last = _known_delays([view], lambda _, period: (period.author, period.message_id), _EACH)
    if len(enough) >= _AUTHORS and last is not None:
        author, found = next(iter(enough.items()))
        which = f"{len(found)} messages of {author!r}, or for the messages of another of the {len(enough)} authors"
        met = not all(map(can_be_equal, enough.values()))
        seen = "the same delay for all messages of an author"
        yield observe_outcome(last, "times-alike", met, f"different delays for {which}", seen)


_SAMPLES = 200
_BIAS = 0.06
"""Maximum difference between the distribution of T_resp, which is a product modulo T_max, and the even distribution. It
is 0.059 for a T_max of 90 units, and 0.0004 for 120,000 units (AMB-115).
"""
_END = 0.1
"""Of 200 delays, some are in the first tenth of the range and some in the last. The probability that one of these
tenths has no delay is (1 - 0.073)^200 < 3e-7: each delay is in that tenth with a probability of at least 0.073, which
is the value for a T_max of 90 units.
"""


@check("SDS-R-TRESP-05", *TIMED, of="asked sds-r")
def delays_fill_the_time(view: ChannelView) -> Iterator[Observation]:
    """The delays of answers for messages of many authors are spread evenly from 0 to T_max."""
    t_max = view.terms.t_max_ms or 0
    delays: dict[str, Window] = {}
    last: Step | None = None
    for period in response_periods(view):
        found = measure_delay(view, period)
        if found is not None:
            delays.setdefault(period.author, found)  # delays of one author are not independent
            last = period.reported_step
    if len(delays) < _SAMPLES or last is None or not t_max:
        return
    uneven = _describe_unevenness(list(delays.values()), t_max)
    yield observe_outcome(last, "uneven", not uneven, f"{len(delays)} delays spread over {t_max} ms", uneven)


def _describe_unevenness(delays: list[Window], t_max: int) -> str:
    """Describe an uneven spread of delays, each known to be in its window; "" if it is even.

    If the delays are spread evenly, the share of delays up to any limit differs from its expected value by more than
    ``chance`` with a probability below 1e-7 (inequality of Dvoretzky, Kiefer and Wolfowitz).
    """
    number = len(delays)
    chance = math.sqrt(math.log(2 / 1e-7) / (2 * number)) + _BIAS
    for limit in sorted({window.high for window in delays} | {window.low for window in delays}):
        below = sum(window.high <= limit for window in delays) / number
        at_most = sum(window.low <= limit for window in delays) / number
        if below > limit / t_max + chance:
            return f"{below:.0%} of the delays within the first {limit} ms"
        if at_most < limit / t_max - chance:
            return f"at most {at_most:.0%} of the delays within the first {limit} ms"
    longest, shortest = max(window.high for window in delays), min(window.low for window in delays)
    if longest < (1 - _END) * t_max:
        return f"no delay of more than {longest} ms"
    return f"no delay of less than {shortest} ms" if shortest > _END * t_max else ""
