"""Storms: how many participants send the same request or answer, although all receive each other's messages.

The other checks of SDS-R judge one participant. These checks judge all participants of a channel at once, when they get
the view of the first participant. They count the participants that send before they receive the first request or
answer, and compare the count with a statistical limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from sds_harness.sds.trace import Step

from .....judging.chance import upper_bound_of_hits
from .....judging.judgement import Observation, observe_outcome
from ...register import check
from ...view.channel_view import ChannelView
from ...view.clock import clock_is_monotonic
from ...view.repair_terms import TIMED
from ...view.repair_tracker import MissingMessage, RequestedMessage

FEWEST = 10
"""Minimum number of participants. If there are fewer, all of them may send at the same time by chance."""
NO_BACKOFF = 0.0625
"""Maximum share of the participants that may respond without a backoff. The more units of time T_max has, the fewer
participants have no backoff by chance; this share is for 120 units, such as the seconds of two minutes (AMB-115)."""


def _views_of_channel(view: ChannelView) -> list[ChannelView]:
    """The views of all participants in the channel, if they use SDS-R with equal settings and different IDs.

    Empty if their settings differ, or if ``view`` is not the view of the first participant.
    """
    everybody = view.views_in_channel
    if len(everybody) < FEWEST or everybody[0] is not view:
        return []
    terms = [other.terms for other in everybody if other.terms.sound]
    alike = {(t.t_min_ms, t.t_max_ms, t.groups) for t in terms}
    names = {t.participant_id for t in terms}
    return everybody if len(alike) == 1 and len(names) == len(terms) == len(everybody) else []


def _longest_pause(steps: Iterable[Step], since_ms: int, until_ms: int) -> int:
    times = [since_ms, *(step.now_ms for step in steps if since_ms < step.now_ms < until_ms), until_ms]
    return max(after - before for before, after in pairwise(times))


def _allowed_senders(
    sent: list[Step],
    received_ms: list[int],
    opportunities: list[list[Step]],
    start: int,
    room_ms: int,
    no_backoff_share: float = 0.0,
) -> int | None:
    """The number of participants that may send before they receive the first message, if their times are spread evenly
    over ``room_ms`` from ``start`` on. None if the limit would be too weak to prove anything.

    ``sent`` has the steps that sent the messages, in order. ``received_ms`` has the times when the other participants
    received the first message, and ``opportunities`` the steps at which each participant could send.
    ``no_backoff_share`` is the share of participants that may send without a backoff.
    """
    first = sent[0].now_ms
    by = max(received_ms, default=first)
    pause = max(_longest_pause(steps, min(start, first), max(by, sent[-1].now_ms)) for steps in opportunities)
    room_ms -= first - start
    share = no_backoff_share + (by - first + 2 * pause) / room_ms if room_ms > 0 else 1.0
    return 1 + upper_bound_of_hits(len(opportunities) - 1, share) if share <= 0.5 else None


@check("SDS-R-TRESP-04", *TIMED, of="asked-anywhere", together=True)
def few_answer_before_they_hear_an_answer(view: ChannelView) -> Iterator[Observation]:
    """Of many holders that receive each other's answers, only a few answer: their response times differ."""
    everybody = _views_of_channel(view)
    rounds: dict[tuple[str, str], list[tuple[ChannelView, RequestedMessage]]] = {}
    for other in everybody:
        for asked in other.repair.asked:
            if asked.held and not asked.own and asked.received.is_binding:
                rounds.setdefault((asked.message_id, asked.received.message.message_id), []).append((other, asked))
    for (message_id, _), holders in rounds.items():
        answers = sorted((a.answers[0].step for _, a in holders if a.answers), key=lambda step: step.now_ms)
        since = {asked.received.step.now_ms for _, asked in holders}
        if len(holders) < FEWEST or not answers or len(since) > 1:
            continue
        if not all(asked.answers or asked.copies for _, asked in holders):
            continue  # a holder neither sent nor received an answer: another requirement judges this
        received_ms = [asked.copies[0].step.now_ms for _, asked in holders if asked.copies]
        t_max = view.terms.t_max_ms or 0
        allowed = _allowed_senders(
            answers, received_ms, [other.ticks for other, _ in holders], since.pop(), t_max, NO_BACKOFF
        )
        if allowed is not None and all(
            clock_is_monotonic(other, asked.received.step, answers[-1]) for other, asked in holders
        ):
            some = f"at most {allowed} of the {len(holders)} holders of {message_id!r}"
            expected = f"{some} to answer before they receive an answer, with response times spread over {t_max} ms"
            seen = f"{len(answers)} answers"
            yield observe_outcome(answers[-1], "times-alike", len(answers) <= allowed, expected, seen)


@check("SDS-R-TREQ-02", *TIMED, of="missing-anywhere", together=True)
def few_ask_before_they_hear_a_request(view: ChannelView) -> Iterator[Observation]:
    """Of many participants that miss the same message, only a few request it: their request times differ.

    The participants receive each other's requests. A participant that receives a request for the message must not send
    its own.
    """
    gaps: dict[str, list[tuple[ChannelView, MissingMessage]]] = {}
    for other in _views_of_channel(view):
        for missing in other.repair.missing:
            if missing.detected.is_binding:
                gaps.setdefault(missing.message_id, []).append((other, missing))
    for message_id, requesters in gaps.items():
        terms = view.terms
        requests = sorted((m.requests[0].step for _, m in requesters if m.requests), key=lambda step: step.now_ms)
        since = {missing.detected.step.now_ms for _, missing in requesters}
        if not terms.t_min_ms or not terms.t_max_ms or len(since) > 1:
            continue
        if len(requesters) < FEWEST or not requests:
            continue
        # A participant that overhears a request may track the message again, and request it T_min later.
        asked = [step for step in requests if step.now_ms < requests[0].now_ms + terms.t_min_ms]
        if not all(missing.overheard or missing.requests for _, missing in requesters):
            continue
        if any(not m.overheard and m.requests[0].step is not requests[0] for _, m in requesters):
            continue  # this participant did not receive the first request, so it had to send its own
        received_ms = [missing.overheard[0].step.now_ms for _, missing in requesters if missing.overheard]
        sends = [[sent.step for sent in other.repair.carriers] for other, _ in requesters]
        room = terms.t_max_ms - terms.t_min_ms
        allowed = _allowed_senders(asked, received_ms, sends, since.pop() + terms.t_min_ms, room)
        if allowed is not None and all(
            clock_is_monotonic(other, gap.detected.step, asked[-1]) for other, gap in requesters
        ):
            some = f"at most {allowed} of the {len(requesters)} participants that miss {message_id!r}"
            expected = f"{some} to request it before they receive a request, with request times spread over {room} ms"
            yield observe_outcome(asked[-1], "times-alike", len(asked) <= allowed, expected, f"{len(asked)} requests")
