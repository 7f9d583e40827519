"""Checks of section R-TREQ and of R-RECV-06: T_req follows the formula with the declared hash. Without a declared hash,
only rules that hold for every hash are checked.

A shown buffer has the exact T_req. Otherwise T_req lies between two messages: the last that does not request the
missing message, and the first that does. Statistical checks have a probability of error below one in a million for each
run (`chance.FALSE_ALARM`), whether times are kept in milliseconds or in seconds (AMB-05, AMB-06).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sds_harness.sds.trace import Step

from .....judging.chance import chi_square_limit, lower_bound_of_distinct_values
from .....judging.judgement import Observation, observe_outcome, observe_violation
from .....judging.view_cache import cache_per_view
from ...register import check
from ...view.channel_view import ChannelView
from ...view.clock import steps_between
from ...view.facts import Sent
from ...view.repair_terms import SECOND_MS, TIMED
from ...view.repair_tracker import NEVER, MissingMessage
from ...view.requester import Requester, requester, requesters_of_channel
from ...view.windows import Window
from .times import classify_wrong_time

_MIN_DISTINCT_SAMPLES = 8
"""Minimum number of samples for a verdict on different times."""
_SETS = 1_000
"""Assumed maximum number of sets of times that are judged in a run. They share the allowed probability of error."""
_MIN_SPREAD_SAMPLES = 200
"""Minimum number of samples for a verdict on the spread."""
_ENDING = 6
"""IDs that differ only in this number of last characters count as similar: many hashes give them similar values."""
_BINS = 10
"""Maximum number of parts of the range from T_min to T_max, for the chi-square test."""
_SUM_FACTOR = 2.8
"""Factor by which the limit of chi-square for independent samples is raised.

A hash may be a sum of functions of both IDs, such as a polynomial. Its values are spread evenly, too, but 20
participants and 50 messages give only 70 independent values, not 1,000. The limit for independent samples is 47.8 for
ten parts. For 6 million such sums, chi-square exceeds 124 once in a million, and never exceeds 139.
"""
_WIDE = 60
"""The spread is judged only if T_max - T_min is at least this multiple of the tolerance. Then 1,000 samples that are
all a second early add 6 to chi-square, whose limit is 42.
"""
_FILLED_MS = (1 << 31) // 100
"""Maximum range (about six hours) over which even a hash of 31 bits spreads milliseconds evenly. The specification
requires no number of bits (AMB-01).
"""
_NEAR_MS = 60_000
"""Detections within this time, in milliseconds, count as simultaneous."""


# ---- single times ----------------------------------------------------------------------------------------------------


@check("SDS-R-TREQ-01", *TIMED, of="missing sds-r")
def request_times_by_the_formula(view: ChannelView) -> Iterator[Observation]:
    """T_req follows the formula with the declared hash; with an unknown hash it is between T_min and T_max.

    If T_max equals T_min, T_req is T_min (AMB-08).
    """
    side = requester(view)
    for missing in [*side.certainly_missing, *side.listed_dependencies]:
        expected, seen = _formula_window(side, missing), side.measure_offset(missing)
        if expected is None or seen is None:
            continue
        step = _revealing_step(view, side, missing)
        # SDS-R-SEND-02 judges requests that are slightly early or late although T_req is correct.
        slack = side.slack_ms if seen.exact and side.shown else SECOND_MS
        what = f"T_req of {missing.message_id!r} {_format_span(expected)} after it was found missing"
        code = classify_wrong_time(seen, side.terms.t_min_ms or 0, side.terms.t_max_ms or 0, slack)
        # A coarse clock that is not declared may explain the difference.
        hints = _hint_missing_t_min(side, seen, expected, slack) + side.terms.clock_hint(
            seen.overlaps(expected, SECOND_MS)
        )
        later = steps_between(view, missing.detected.step.index, step.index)
        if (counted := _find_counted_step(later, missing.detected.step, seen, expected, slack)) is not None:
            code, hints = "counted-from-later", f", because it counts from step {counted.index}"
        yield observe_outcome(step, code, seen.overlaps(expected, slack), what, _format_span(seen) + hints)


@check("SDS-R-TREQ-01", *TIMED, of="missing sds-r")
def times_of_new_entries_by_the_formula(view: ChannelView) -> Iterator[Observation]:
    """The T_req of an entry that was added again after a request, by any participant, follows the formula, too.

    The new T_req may count from the request, or from any later step, because a sweep can detect again that the message
    is missing (AMB-68, AMB-69). After an own request, the entry may also stay, so a state must have shown that it was
    removed.
    """
    side = requester(view)
    for missing in side.certainly_missing:
        expected, old = _formula_window(side, missing), side.shown_t_req(missing)
        overheard = missing.overheard[0].step.index if missing.overheard else NEVER
        gone = min(overheard, side.requested_at(missing))
        by_others = gone == overheard
        if gone == NEVER or expected is None or old is None:
            continue
        end = missing.arrived.index if missing.arrived is not None else NEVER
        was_removed = False
        for shown in side.shown_between(gone, min(end, side.may_be_renewed_from(missing)) if by_others else end):
            due = shown.due.get(missing.message_id)
            was_removed |= due is None
            if not was_removed and (due == old or not by_others):
                break
            if due is None:
                continue
            steps = steps_between(view, gone, shown.step.index)
            if not all(side.clock_is_monotonic(missing.detected.step, step) for step in steps):
                continue
            # The entry may have been added again with the request, with a message or in a sweep.
            times = [Window(due - step.now_ms, due - step.now_ms) for step in steps]
            if not by_others:
                times = [Window(due - shown.step.now_ms, due - steps[0].now_ms)]
            met = any(time.overlaps(expected, side.slack_ms) for time in times)
            what = f"T_req of the new entry for {missing.message_id!r} {_format_span(expected)} after"
            expected_time = f"{what} one of the steps from {gone} to {steps[-1].index}"
            waited = Window(due - steps[-1].now_ms, due - steps[0].now_ms)
            code = classify_wrong_time(waited, side.terms.t_min_ms or 0, side.terms.t_max_ms or 0, side.slack_ms)
            yield observe_outcome(shown.step, code, met, expected_time, f"{waited.low} ms after step {steps[-1].index}")
            break


def _formula_window(side: Requester, missing: MissingMessage) -> Window | None:
    terms = side.terms
    if terms.t_min_ms is not None and terms.t_min_ms == terms.t_max_ms:
        return Window(terms.t_min_ms, terms.t_min_ms)
    return terms.t_req(missing.message_id)


def _find_counted_step(
    later: Iterable[Step], detected: Step, seen: Window, expected: Window, slack: int
) -> Step | None:
    """The step of ``later`` from which T_req counts instead of from the detection.

    None if T_req is right, if it fits no such step, or if it is not known exactly.
    """
    if not (seen.exact and expected.exact) or seen.overlaps(expected, slack):
        return None
    return next((s for s in later if seen.overlaps(expected.after(s.now_ms - detected.now_ms), slack)), None)


def _hint_missing_t_min(side: Requester, seen: Window, expected: Window, slack: int) -> str:
    """Hint for a report, if T_req is known exactly and is too early by T_min; else ""."""
    added = seen.after(side.terms.t_min_ms or 0)
    return ", as without T_min" if seen.exact and expected.exact and added.overlaps(expected, slack) else ""


def _format_span(window: Window) -> str:
    return f"{window.low} ms" if window.exact else f"between {window.low} and {window.high} ms"


def _revealing_step(view: ChannelView, side: Requester, missing: MissingMessage) -> Step:
    """The step that revealed the T_req of a missing message: a state that shows it, or the first request."""
    detected = missing.detected.step
    asked = side.requested_at(missing)
    for shown in side.shown_between(detected.index, min(side.unchanged_until(missing), asked)):
        if missing.message_id in shown.due:
            return shown.step
    return view.trace.steps[asked - 1] if asked <= len(view.trace.steps) else detected


# ---- equal times -----------------------------------------------------------------------------------------------------


def _equal_request_delays(view: ChannelView, code: str, *, near: bool) -> Iterator[Observation]:
    """Judge whether instances with equal participant ID, T_min and T_max wait equally long for the same missing
    message.

    With ``near``, only instances that detected the message as missing within ``_NEAR_MS`` of each other are compared;
    without ``near``, only the other instances.
    """
    first: dict[tuple[object, ...], tuple[Requester, MissingMessage, Window]] = {}
    for key, side, missing in _repeatedly_missing(view):
        seen = side.measure_offset(missing)
        if seen is not None:
            if key not in first:
                first[key] = (side, missing, seen)
                continue
            _, other, before = first[key]
            apart = abs(missing.detected.step.now_ms - other.detected.step.now_ms)
            if (apart < _NEAR_MS) is not near:
                continue
            slack = max(side.slack_ms, first[key][0].slack_ms)
            expected = f"T_req of {missing.message_id!r} {_format_span(before)} after it was found missing"
            expected += f", as with the same participant ID at step {other.detected.step.index}"
            expected += "" if near else f" (the two detections are {apart} ms apart)"
            seen_span = f"{_format_span(seen)}{side.terms.clock_hint(seen.overlaps(before, SECOND_MS))}"
            yield observe_outcome(missing.detected.step, code, seen.overlaps(before, slack), expected, seen_span)


@cache_per_view
def _repeatedly_missing(view: ChannelView) -> list[tuple[tuple[object, ...], Requester, MissingMessage]]:
    """Return (key, requester, missing message) for each key that occurs at least twice.

    The key is (participant ID, T_min, T_max, message ID).
    """
    wanted = [
        ((side.terms.participant_id, side.terms.t_min_ms, side.terms.t_max_ms, missing.message_id), side, missing)
        for side in requesters_of_channel(view)
        for missing in side.certainly_missing
    ]
    often = Counter(key for key, _, _ in wanted)
    return [one for one in wanted if often[one[0]] > 1]


@check("SDS-R-RECV-06", *TIMED, of="missing-anywhere", together=True)
def equal_instances_wait_equally(view: ChannelView) -> Iterator[Observation]:
    """Participants with the same ID, T_min and T_max wait equally long from detection to T_req of a missing message.

    Detections less than a minute apart are compared.
    """
    return _equal_request_delays(view, "delay-changes", near=True)


@check("SDS-R-TREQ-05", *TIMED, of="missing-anywhere", together=True)
def delays_do_not_depend_on_the_clock(view: ChannelView) -> Iterator[Observation]:
    """The time from detection to T_req does not depend on the clock."""
    return _equal_request_delays(view, "depends-on-clock", near=False)


# ---- different times -------------------------------------------------------------------------------------------------


def _distinct_ids(ids: Iterable[str]) -> list[str]:
    """Leave out all but one of the IDs that differ only in their last characters, such as "bob-1" and "bob-2".

    Their T_req may be similar, because the specification allows hashes that give similar IDs similar values (AMB-01).
    """
    return list({each[:-_ENDING]: each for each in ids}.values())


@dataclass(frozen=True, slots=True)
class _TimeSample:
    """Times in milliseconds from detection to T_req, of participants or messages whose times should differ.

    A trace may reveal only some of the times.
    """

    known: list[Window]
    """The times that the trace reveals."""
    count: int
    """The number of all participants or messages in the sample, whether the trace reveals their T_req or not."""
    opportunities: set[int]
    """The times, in milliseconds after the detection, at which a message was sent that could carry a request."""
    slack: int
    """The tolerance of each time, in milliseconds."""

    def least_distinct_times(self, low: int, high: int, tests: int) -> int | None:
        """The minimum number of different times, if T_req is spread evenly from ``low`` to ``high``.

        ``tests`` is the number of tests that share the allowed probability of error. None if the trace can distinguish
        too few times.
        """
        widest = max(min(offset.high, high) - max(offset.low, low) + 1 for offset in self.known)
        apart, room = max(widest + self.slack, SECOND_MS), high - low - self.slack
        if room < 3 * apart:
            return None
        values = (
            len(self.opportunities) + room // apart if any(o.exact for o in self.known) else len(self.opportunities)
        )
        return lower_bound_of_distinct_values(len(self.known), values, tests, of=self.count, share=apart / room)


def _judge_distinct(step: Step, times: _TimeSample, least: int | None, what: str) -> Iterator[Observation]:
    """Judge whether at least ``least`` of the known times are different. No judgement if ``least`` is None."""
    if least is not None:
        known, distinct = times.known, len({offset.high for offset in times.known})
        seen = f"{distinct} different times" if distinct > 1 else f"the same time for all, {_format_span(known[0])}"
        expected = f"{what}: at least {least} different times of {len(known)}"
        yield observe_outcome(step, "times-alike", distinct >= least, expected, seen)


def _find_opportunities(side: Requester, since: Step) -> set[int]:
    """The times, in milliseconds after a step, at which a message was sent that could carry a request."""
    return {sent.step.now_ms - since.now_ms for sent in side.carriers_between(since.index, NEVER)}


@check("SDS-R-TREQ-02", *TIMED, of="missing-anywhere", together=True)
def different_for_participants(view: ChannelView) -> Iterator[Observation]:
    """Participants that miss the same message request it at different times: T_req depends on their own IDs."""
    groups: dict[tuple[int, int, str], dict[str, tuple[Requester, Step, Window | None]]] = {}
    for side in requesters_of_channel(view):
        terms = side.terms
        if terms.bounds is None:
            continue
        for missing in side.certainly_missing:
            group, offset = groups.setdefault((*terms.bounds, missing.message_id), {}), side.measure_offset(missing)
            if offset is not None or terms.participant_id not in group:
                group[terms.participant_id] = side, missing.detected.step, offset
    for (low, high, message_id), everybody in groups.items():
        group = {participant: everybody[participant] for participant in _distinct_ids(everybody)}
        known = [offset for _, _, offset in group.values() if offset is not None]
        if len(known) < _MIN_DISTINCT_SAMPLES:
            continue
        sides = list(group.values())
        opportunities = {time_ms for side, step, _ in sides for time_ms in _find_opportunities(side, step)}
        times = _TimeSample(known, len(group), opportunities, max(side.slack_ms for side, _, _ in sides))
        what = f"T_req of {message_id!r} after {len(known)} participants found it missing"
        yield from _judge_distinct(sides[-1][1], times, times.least_distinct_times(low, high, _SETS), what)


@check("SDS-R-TREQ-04", *TIMED, of="missing sds-r")
def different_for_messages(view: ChannelView) -> Iterator[Observation]:
    """Messages that are found missing at the same instant are requested at different times (AMB-06).

    After the first repair request of maximum length, messages do not reveal T_req. So the check counts the different
    times twice: up to that request, and up to T_max. It demands the higher of the two minimums.
    """
    side, terms = requester(view), view.terms
    if terms.bounds is None:
        return
    groups: dict[int, dict[str, tuple[MissingMessage, Window | None]]] = {}
    for missing in side.certainly_missing:
        group = groups.setdefault(missing.detected.step.index, {})
        group[missing.message_id] = missing, side.measure_offset(missing)
    for index, found in groups.items():
        group = {message_id: found[message_id] for message_id in _distinct_ids(found)}
        step, known = view.trace.steps[index - 1], [offset for _, offset in group.values() if offset is not None]
        if len(known) < _MIN_DISTINCT_SAMPLES:
            continue
        times = _TimeSample(known, len(group), _find_opportunities(side, step), side.slack_ms)
        least = times.least_distinct_times(*terms.bounds, 2 * _SETS)
        full = side.first_full(step)
        if full is not None and not any(offset.exact for offset in known):
            least = max(least or 0, _least_distinct_before(side, full, list(group.values()), times) or 0) or None
        yield from _judge_distinct(step, times, least, f"T_req of {len(known)} messages that are found missing at once")


def _least_distinct_before(
    side: Requester, full: Sent, group: list[tuple[MissingMessage, Window | None]], times: _TimeSample
) -> int | None:
    """The minimum number of different times up to a repair request of maximum length.

    Such a request may be sent at any opportunity, so the number of tests is multiplied by the number of opportunities.
    """
    at, end, low = full.step.index, full.step.now_ms - group[0][0].detected.step.now_ms, (side.terms.t_min_ms or 0)
    # A message whose T_req is unknown counts if its entry may have changed before ``full``. If the entry cannot have
    # changed, T_req is later than ``full``.
    gone = sum(
        offset is None and min(side.unchanged_until(missing), side.may_be_renewed_from(missing)) < at
        for missing, offset in group
    )
    opportunities = {time_ms for time_ms in times.opportunities if time_ms <= end}
    until = _TimeSample(times.known, len(times.known) + gone, opportunities, times.slack)
    return until.least_distinct_times(low, end, 2 * _SETS * len(times.opportunities))


@check("SDS-R-TREQ-03", *TIMED, of="missing-anywhere", together=True)
def spread_between_t_min_and_t_max(view: ChannelView) -> Iterator[Observation]:
    """T_req is never out of its bounds, and many values are spread evenly between them (chi-square).

    An implementation that counts in whole seconds (AMB-05) may be wrong by a second at both bounds. So the spread is
    judged only if the bounds are far enough apart.
    """
    pools: dict[tuple[int, int], dict[tuple[str, str], Window]] = {}
    blurred: set[tuple[int, int]] = set()  # bounds that are not judged: T_req is not known precisely enough
    last: dict[tuple[int, int], Step] = {}
    for side in requesters_of_channel(view):
        terms = side.terms
        if (bounds := terms.bounds) is None:
            continue
        if side.slack_ms and bounds[1] - bounds[0] < _WIDE * side.slack_ms:
            blurred.add(bounds)
        for missing in side.certainly_missing:
            offset = side.measure_offset(missing)
            if offset is None:
                blurred.add(bounds)
                continue
            low, high = bounds[0] - side.slack_ms, bounds[1] + side.slack_ms
            if offset.exact and not low <= offset.low <= high:
                within = f"between {bounds[0]} and {bounds[1]} ms after the message was found missing"
                expected = f"T_req of {missing.message_id!r} {within}"
                code = "too-early" if offset.low < low else "too-late"
                yield observe_violation(_revealing_step(view, side, missing), code, expected, _format_span(offset))
            pools.setdefault(bounds, {})[terms.participant_id, missing.message_id] = offset
            last[bounds] = missing.detected.step
    for bounds, found in pools.items():
        participants, messages = (set(_distinct_ids(key[part] for key in found)) for part in range(2))
        pool = {key: offset for key, offset in found.items() if key[0] in participants and key[1] in messages}
        if len(pool) < _MIN_SPREAD_SAMPLES or bounds in blurred or bounds[1] - bounds[0] > _FILLED_MS:
            continue
        counts, shares = _bins(list(pool.values()), *bounds)
        if len(counts) < 4:
            continue
        means = [share * len(pool) for share in shares]
        statistic = sum((count - mean) ** 2 / mean for count, mean in zip(counts, means, strict=True))
        limit = _SUM_FACTOR * chi_square_limit(len(counts) - 1)
        worst = max(range(len(counts)), key=lambda i: abs(counts[i] - means[i]) / means[i])
        expected = f"{len(pool)} T_req spread evenly from {bounds[0]} to {bounds[1]} ms after detection"
        expected += f": chi-square up to {limit:.0f} for {len(counts)} parts"
        seen = f"chi-square is {statistic:.0f}, with {counts[worst]} T_req in part {worst + 1}, not {means[worst]:.0f}"
        yield observe_outcome(last[bounds], "uneven", statistic <= limit, expected, seen)


def _bins(offsets: list[Window], low: int, high: int) -> tuple[list[int], list[float]]:
    """Divide the range from ``low`` to ``high`` into parts: (number of times in each part, expected shares).

    For exact times there are ten parts of whole seconds, because some implementations count in seconds. A range of less
    than ten seconds has fewer parts. For other times, the parts end at the times of messages, and each has at least a
    tenth of the range. Returns empty lists if no parts are possible.
    """
    seconds = (high - low) // SECOND_MS
    if not seconds:
        return [], []
    if all(offset.exact for offset in offsets):
        parts = min(_BINS, seconds)
        starts = [low + i * seconds // parts * SECOND_MS for i in range(parts)]
        found = Counter(max(0, bisect_right(starts, offset.low) - 1) for offset in offsets)
        ends = [*starts[1:], high]
        shares = [(end - start) / (high - low) for start, end in zip(starts, ends, strict=True)]
        return [found[i] for i in range(parts)], shares
    between = [(max(o.low - 1, low), min(o.high, high)) for o in offsets if o.high > low]
    uppers = Counter(upper for _, upper in between)
    edges = sorted({low, high, *(edge for pair in between for edge in pair)})
    if any(edges[bisect_right(edges, lower)] != upper for lower, upper in between if lower < high):
        return [], []  # parts would divide a window of T_req, because windows overlap
    # A T_req of exactly T_min counts in the first part.
    counts, shares, count, since = [], [], len(offsets) - len(between), low
    for edge in edges[1:]:
        count += uppers[edge]
        if edge - since >= (high - low) / _BINS or edge == high:
            counts.append(count)
            shares.append((edge - since) / (high - low))
            count, since = 0, edge
    if len(shares) > 1 and shares[-1] < 0.5 / _BINS:  # the last part is too small
        counts[-2:], shares[-2:] = [counts[-2] + counts[-1]], [shares[-2] + shares[-1]]
    return counts, shares
