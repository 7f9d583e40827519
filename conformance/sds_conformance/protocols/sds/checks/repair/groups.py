"""Response groups: section R-GROUP, and the rules of R-GLOBAL and R-RECV on them."""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HASH_PROFILES, default_response_groups, in_response_group

from .....judging.chance import least, upper_bound_of_hits
from .....judging.formats import format_count
from .....judging.judgement import Observation, observe_met, observe_outcome, observe_violation
from ...register import check
from ...view.channel_view import ChannelView
from ...view.repair_terms import TIMED
from ...view.responder import (
    FEW,
    ResponsePeriod,
    answers_any_request,
    names_one_author,
    position_in_request,
    response_periods,
)

FEWEST, MOST = 40, 50
"""Minimum number of samples for a share, and maximum number of pending requests when a sample is taken. With more
pending requests, a limit of the implementation may distort the share.
"""
_FAR = 0.8
"""Entries of a repair request after this fraction of its length count as near its end."""
_MANY = 128
"""Minimum number of participants for more than one response group."""
ALARM = 1e-7
"""Probability of a false alarm, for a share that is too small and for a share that is too large."""


@check("SDS-R-GLOBAL-05", *TIMED, of="asked sds-r")
def outsiders_do_not_answer(view: ChannelView) -> Iterator[Observation]:
    """A participant outside the response group of a message does not respond, even if no other participant does."""
    for period in response_periods(view):
        if period.eligible is not False or not period.asked.held or not names_one_author(period.asked):
            continue
        if period.asked.answers and period.fixes_time:
            groups = view.terms.groups
            why = f"because the participant is in another of {groups} response groups by the declared hash"
            expected = f"no answer for {period.message_id!r} of {period.author!r}, {why}"
            seen = "the message is broadcast"
            yield observe_violation(period.asked.answers[0].step, "answered-by-outsider", expected, seen)
        elif period.is_never_answered and period.overdue is not None:
            yield observe_met(period.overdue)


@check("SDS-R-GLOBAL-05", *TIMED, of="asked sds-r")
def group_membership_is_stable(view: ChannelView) -> Iterator[Observation]:
    """With an unknown hash, a participant is either always or never in the response group of a message."""
    outcomes: dict[str, list[ResponsePeriod]] = {}
    for period in response_periods(view):
        open_to_all = period.eligible is None and names_one_author(period.asked) and period.asked.held
        if open_to_all and period.pending_count <= FEW and (period.in_time or period.is_never_answered):
            outcomes.setdefault(period.message_id, []).append(period)
    for message_id, several in outcomes.items():
        if len(several) < 2:
            continue
        last, count = several[-1], sum(period.in_time for period in several)
        expected = f"all of the {len(several)} requests for {message_id!r} answered, or none"
        seen = f"{count} answered and {len(several) - count} not"
        met = count in (0, len(several))
        yield observe_outcome(last.answer or last.overdue or last.since, "changed-group", met, expected, seen)


@check("SDS-R-GROUP-01", *TIMED, of="asked sds-r", together=True)
def some_answer_and_some_do_not(view: ChannelView) -> Iterator[Observation]:
    """With any hash, a participant is in the response group of at least one of many messages by different authors.

    SDS-R-RECV-08 judges participants that answer nothing at all (AMB-141).
    """
    share = _Share(view)
    if share.has_enough_samples and share.last is not None and answers_any_request(view):
        which = f"at least one of {share.samples} requests for messages by different authors"
        expected = f"{which} answered, with {share.groups} response groups"
        seen = "no request was answered"
        yield observe_outcome(share.last, "member-left-out", share.hits > 0 or share.least <= 0, expected, seen)


class _Share:
    """The number of requests that a participant answers, out of one request for a message of each author.

    The authors differ, because a weak hash may treat all messages of one author equally. Messages that a log of
    declared size may have dropped do not count, whether they were answered or not (AMB-96).
    """

    def __init__(self, view: ChannelView) -> None:
        self.groups = view.terms.groups or 0
        chosen: dict[str, ResponsePeriod] = {}
        for period in response_periods(view):
            if (
                not period.asked.own
                and period.asked.held
                and period.pending_count <= MOST
                and view.kept_entries.holds(period.asked.message_id)
                and (period.in_time or period.is_never_answered)
            ):
                chosen.setdefault(period.author, period)
        self.samples = len(chosen)
        answered_for = [period for period in chosen.values() if period.in_time]
        self.answers_late_entries = any(
            position_in_request(period) >= _FAR * len(period.request.message.repair_request) for period in answered_for
        )
        """Does the participant answer entries near the end of a repair request? If so, a share that is too small is not
        caused by long requests.
        """
        self.hits = len(answered_for)
        ends = [period.answer or period.overdue or period.since for period in chosen.values()]
        self.last: Step | None = max(ends, key=lambda step: step.index, default=None)

    @property
    def has_enough_samples(self) -> bool:
        return self.samples >= FEWEST and self.groups > 1

    @property
    def least(self) -> int:
        return least(self.samples, 1 / self.groups, ALARM)

    @property
    def most(self) -> int:
        return upper_bound_of_hits(self.samples, 1 / self.groups, ALARM)


@check("SDS-R-GROUP-01", pb.CAPABILITY_SDS_R, pb.CAPABILITY_REPAIR_TIMES, of="sds-r")
def reported_groups_are_consistent(view: ChannelView) -> Iterator[Observation]:
    """With the declared hash, the response groups that an implementation reports follow the formula.

    With any hash, membership is symmetric and transitive, because two participants are in the same group if their
    hashes modulo the number of groups are equal.
    """
    if view.party.name != next(iter(view.trace.parties)):
        return
    by_group: dict[tuple[str, int], dict[tuple[str, str], Step]] = {}
    for step in view.trace.steps:
        if step.reply is None or step.answer != "repair_offsets":
            continue
        if step.reply.repair_offsets.HasField("in_response_group"):
            asked = step.request.repair_times
            of_message = by_group.setdefault((asked.message_id, asked.num_response_groups), {})
            of_message[asked.participant_id, asked.sender_id] = step
    for (message_id, groups), steps in by_group.items():
        members = {pair for pair, step in steps.items() if step.reply and step.reply.repair_offsets.in_response_group}
        for (own, author), step in steps.items():
            which = f"the response group of {message_id!r} of {author!r}, one of {groups} groups"
            seen = f"{own!r} is in the group" if (own, author) in members else f"{own!r} is not in the group"
            profile = HASH_PROFILES.get(view.trace.declaration.profile("hash"))
            if profile is not None:
                expected = in_response_group(profile, own, author, message_id, groups)
                why = f"{own!r} {'in' if expected else 'not in'} {which} by the declared hash"
                met = ((own, author) in members) is expected
                yield observe_outcome(step, "member-left-out" if expected else "outsider-let-in", met, why, seen)
            elif (author, own) in steps:
                others = [third for first, third in members if first == own and (author, third) in steps]
                apart = next((o for o in others if ((author, o) in members) is not ((own, author) in members)), None)
                mutual = ((own, author) in members) is ((author, own) in members)
                why = f"{own!r} in {which}, exactly if {author!r} is in the group of {own!r}"
                if mutual and apart is not None:
                    why = f"{own!r} in {which}, exactly if both are in the group of {apart!r}"
                    seen += (
                        f", and {author!r} {'is' if (author, apart) in members else 'is not'} in the group of {apart!r}"
                    )
                met = mutual and apart is None
                yield observe_outcome(step, "not-transitive" if mutual else "not-mutual", met, why, seen)


@check("SDS-R-RECV-11", *TIMED, of="asked sds-r")
def a_share_is_answered(view: ChannelView) -> Iterator[Observation]:
    """A participant answers the share of requests that the number of response groups predicts, over many authors."""
    share = _Share(view)
    if not share.has_enough_samples or share.last is None:
        return
    if share.hits > share.most or (0 < share.hits < share.least and share.answers_late_entries):
        which = f"{share.least} to {share.most} of {share.samples} requests for messages by different authors"
        expected = f"{which} answered, with {share.groups} response groups"
        code = "share-too-large" if share.hits > share.most else "share-too-small"
        yield observe_violation(share.last, code, expected, f"{share.hits} were")
    elif share.hits >= share.least:
        yield observe_met(share.last)


def _judge_derived(view: ChannelView, *, few: bool) -> Iterator[Observation]:
    """Judge whether the number of response groups follows the formula, if the implementation derived it.

    ``few`` selects numbers of participants below 128; without it, only numbers of 128 and more are judged.
    """
    asked, c = view.party.asked, view.configuration
    known = asked.HasField("num_participants") and c.HasField("num_participants") and c.HasField("num_response_groups")
    if known and not asked.HasField("num_response_groups") and (c.num_participants < _MANY) is few:
        groups, right = c.num_response_groups, default_response_groups(c.num_participants)
        expected = f"{format_count(right, 'response group')} for {c.num_participants} participants"
        yield observe_outcome(view.opened, "wrong-number", groups == right, expected, f"{groups}")


@check("SDS-R-GLOBAL-06", pb.CAPABILITY_SDS_R)
def groups_by_the_formula(view: ChannelView) -> Iterator[Observation]:
    """For n participants, 128 or more, the derived number of response groups is n div 128, plus 1."""
    return _judge_derived(view, few=False)


@check("SDS-R-GLOBAL-07", pb.CAPABILITY_SDS_R)
def few_participants_are_one_group(view: ChannelView) -> Iterator[Observation]:
    """Fewer than 128 participants are one response group."""
    return _judge_derived(view, few=True)
