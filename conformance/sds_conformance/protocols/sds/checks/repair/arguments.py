"""Sections R-GROUP and R-TRESP: with any hash, response groups and T_resp depend on the message ID and the author
(AMB-01).

Several instances with the same participant ID hold messages with the same message IDs and different authors. A result
that ignores the author is the same for all of these messages. A correct hash fails each of the three checks with a
probability below 1e-7, so below 3e-7 in a run, because one scenario exercises each check. In 1,500 runs with other IDs,
FNV, DJB2, CRC-32, Adler-32 and the polynomial with 31 modulo 2^32 never failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

from .....judging.chance import equal_products, probability_of_agreement
from .....judging.judgement import Observation, observe_outcome
from ...register import check
from ...view.channel_view import ChannelView
from ...view.repair_terms import SECOND_MS, TIMED
from ...view.responder import ResponsePeriod, measure_delay, names_one_author, response_periods, slack_ms
from ...view.windows import Window
from .groups import MOST

ALARM = 1e-7
_LONGEST_S = 3_600
"""Maximum T_max, in seconds, in the computation of probabilities. This errs on the safe side: a smaller range gives
equal values more often by chance.
"""

Outcomes = dict[str, dict[str, ResponsePeriod]]
"""Requests that were answered in time or never, by message ID and then author, or by author and then message ID."""


def _outcomes(view: ChannelView, groups: int) -> Outcomes:
    """Requests that were answered in time or never, by message ID and author, at all instances with the participant ID
    of the view and ``groups`` response groups.
    """
    found: Outcomes = {}
    for other in view.views_in_channel:
        if (other.party.participant_id, other.terms.groups) == (view.party.participant_id, groups):
            ended = (
                period
                for period in response_periods(other)
                if (period.in_time or period.is_never_answered) and period.pending_count <= MOST
            )
            for period in ended:
                if period.asked.held and not period.asked.own and names_one_author(period.asked):
                    found.setdefault(period.message_id, {}).setdefault(period.author, period)
    return found


def _group_by_author(found: Outcomes) -> Outcomes:
    by_author: Outcomes = {}
    for message_id, of_authors in found.items():
        for author, period in of_authors.items():
            by_author.setdefault(author, {})[message_id] = period
    return by_author


def _judge_groups(
    view: ChannelView, sets: Iterable[dict[str, ResponsePeriod]], groups: int, code: str, what: str
) -> Iterator[Observation]:
    """Judge whether any of the sets of requests has both answered and unanswered requests.

    An implementation that ignores the ``what`` answers either all requests of a set or none. Judged only if this is
    unlikely to happen by chance, and if at least one set has an answer and at least one set has no answer.
    """
    answers = [[period.in_time for period in one.values()] for one in sets if len(one) > 1]
    reporting_steps = [period.reported_step for one in sets for period in one.values()]
    chance = prod(probability_of_agreement(len(one), 1 / groups) for one in answers)
    if chance >= ALARM or len({any(one) for one in answers}) < 2:
        return
    met = any(len(set(one)) > 1 for one in answers)
    expected = f"with {groups} response groups, some requests are answered and others are not, depending on the {what}"
    seen = f"the same result for every {what} in {len(answers)} cases; its probability by chance is {chance:.0e}"
    yield observe_outcome(max(reporting_steps, key=lambda step: step.index), code, met, expected, seen)


def _groups_if_first_instance(view: ChannelView) -> int:
    """The number of response groups, if it is greater than 1 and the view is the first with this participant ID and
    this number; else 0.
    """
    same = (v for v in view.views_in_channel if v.party.participant_id == view.party.participant_id)
    first = next((v for v in same if v.terms.groups == view.terms.groups), None)
    return view.terms.groups or 0 if first is view and (view.terms.groups or 0) > 1 else 0


@check("SDS-R-GROUP-01", *TIMED, of="asked-anywhere", together=True)
def groups_depend_on_the_author(view: ChannelView) -> Iterator[Observation]:
    """Of messages with one ID and different authors, a participant is in the response group of some, but not of all."""
    if groups := _groups_if_first_instance(view):
        yield from _judge_groups(view, list(_outcomes(view, groups).values()), groups, "ignores-author", "author")


@check("SDS-R-GROUP-01", *TIMED, of="asked-anywhere", together=True)
def groups_depend_on_the_message(view: ChannelView) -> Iterator[Observation]:
    """Of the messages of one author, a participant is in the response group of some, but not of all.

    Powers of two are not judged: many hashes modulo a power of two depend only on the last bits of their input.
    """
    groups = _groups_if_first_instance(view)
    if groups & (groups - 1):
        sets = list(_group_by_author(_outcomes(view, groups)).values())
        yield from _judge_groups(view, sets, groups, "ignores-message", "message")


@check("SDS-R-TRESP-03", *TIMED, of="asked-anywhere", together=True)
def delays_depend_on_the_author(view: ChannelView) -> Iterator[Observation]:
    """For messages with the same ID, the delay of an answer depends on the author."""
    t_max, known = view.terms.t_max_ms or 0, _delays(view)
    authors = min(map(len, known), default=0)
    if authors < 2 or not t_max:
        return
    width = max(window.high - window.low for one in known for _, window in one)
    near = (3 * width + 2 * slack_ms(view)) / t_max
    # T_resp is a distance times the hash of the message ID, and each author has one distance for all messages.
    chance = equal_products(min(_LONGEST_S, t_max // SECOND_MS), len(known), near) ** (authors - 1)
    if chance < ALARM:
        last_report = max((period.reported_step for one in known for period, _ in one), key=lambda step: step.index)
        met = not all(can_be_equal([window for _, window in one], slack_ms(view)) for one in known)
        expected = f"different delays for the {authors} authors of messages with the same ID, for {len(known)} IDs"
        seen = f"the same delay for all of these authors; by chance with a probability of {chance:.0e}"
        yield observe_outcome(last_report, "ignores-author", met, expected, seen)


def _delays(view: ChannelView) -> list[list[tuple[ResponsePeriod, Window]]]:
    """The delays of answers by all instances with the participant ID of the view: one list for each message ID, with
    one delay for each author. Only the lists with most authors are returned.
    """
    found: dict[str, dict[str, tuple[ResponsePeriod, Window]]] = {}
    same = [v for v in view.views_in_channel if v.party.participant_id == view.party.participant_id]
    for other in same if same and same[0] is view else ():
        for period in response_periods(other) if other.terms.t_max_ms == view.terms.t_max_ms else ():
            if (window := measure_delay(other, period)) is not None and names_one_author(period.asked):
                found.setdefault(period.message_id, {}).setdefault(period.author, (period, window))
    most = max(map(len, found.values()), default=0)
    return [list(one.values()) for one in found.values() if len(one) == most]


def can_be_equal(found: list[Window], slack: int = 0) -> bool:
    """Can all windows contain the same delay, if each is widened by ``slack`` at both ends?"""
    return max(window.low for window in found) <= min(window.high for window in found) + 2 * slack
