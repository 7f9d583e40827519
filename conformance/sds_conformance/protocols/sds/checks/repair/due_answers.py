"""Which requests are answered: section R-RECV, and what R-STATE, R-GROUP and R-SWEEP say of requests that must be.

An answer that never comes has many possible reasons: the message was not kept, was asked for in a sync message, or
stands behind others in its list. Each is another requirement. One request without an answer is one violation: of the
first requirement that explains it. Who answers for nothing at all leaves out a SHOULD (SDS-R-RECV-08, AMB-141).
"""

from __future__ import annotations

from collections.abc import Iterator

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from .....judging.judgement import Observation, judged
from .....judging.table import RuleRow
from .....judging.view_cache import once
from ...register import check, table
from ...view.channel_view import ChannelView
from ...view.other_channels import came_elsewhere
from ...view.repair_terms import TIMED
from ...view.repair_tracker import NEVER
from ...view.responder import FEW, Turn, answers_at_all, position, refused_for_good, turns

EVICTED = 10
"""So many old messages of one request without an answer, and newer ones with one, are no chance."""


class Due:
    """A request that nothing excuses from an answer, and that was answered in time or never."""

    __slots__ = ("few", "own", "request", "several", "step", "turn", "unanswered", "view")

    def __init__(self, view: ChannelView, turn: Turn) -> None:
        self.view, self.turn, self.request, self.own = view, turn, turn.request, turn.asked.own
        self.unanswered, self.step = (
            turn.is_never_answered,
            turn.overdue if turn.is_never_answered and turn.overdue else turn.reported_step,
        )
        self.several = view.terms.groups is None or view.terms.groups > 1
        """There are several response groups, or may be."""
        self.few = turn.crowd <= FEW
        """So few requests are pending that no limit to their number is an excuse."""

    def is_unanswered(self) -> bool:
        return self.unanswered

    def always_applies(self) -> bool:
        return True

    # ---- the message that is asked for -----------------------------------------------------------------------------

    def was_repaired(self) -> bool:
        missing = self.view.repair.tracked(self.turn.message_id)
        return not self.own and missing is not None and bool(missing.requests)

    def had_waited(self) -> bool:
        arrivals = self.view.arrivals.get(self.turn.message_id, ())
        at_once = any(r.delivered_at_once for r in arrivals if r.kind is Kind.CONTENT)
        return not (self.own or at_once or self.was_repaired())

    def was_delivered_on_arrival(self) -> bool:
        return not (self.own or self.was_repaired() or self.had_waited())

    def is_own(self) -> bool:
        return self.own

    def is_own_of_several_groups(self) -> bool:
        return self.own and self.several

    def is_of_the_only_group(self) -> bool:
        return not (self.own or self.several)

    def is_of_its_group(self) -> bool:
        return self.several and self.few and self.was_delivered_on_arrival()

    def is_refused_for_good(self) -> bool:
        return self.unanswered and self.turn.message_id in refused_for_good(self.view)

    def was_evicted(self) -> bool:
        return self.turn.message_id in _evicted(self.view)

    def has_a_namesake(self) -> bool:
        """Did a message of its ID come in another channel since?"""
        return came_elsewhere(self.view).get(self.turn.message_id, 0) > self.turn.since.index

    # ---- the request -----------------------------------------------------------------------------------------------

    def is_in_a_sync(self) -> bool:
        return self.request.kind is Kind.SYNC and self.was_delivered_on_arrival()

    def is_in_a_copy(self) -> bool:
        return self.request.kind is not Kind.SYNC and self.request.duplicate and self.was_delivered_on_arrival()

    def is_in_a_blocked_message(self) -> bool:
        """Copies of known messages are a matter of their own, as are sync messages."""
        plain = self.request.kind is not Kind.SYNC and not self.request.duplicate
        return plain and bool(self.request.unmet) and self.was_delivered_on_arrival()

    def is_for_own_in_a_sync(self) -> bool:
        """Are own messages kept, as others that were asked for were answered for, but not for a sync message?"""
        here = self.unanswered and self.own and self.request.kind is Kind.SYNC
        return here and any(other.own and not other.unanswered for other in _due(self.view))

    def is_one_of_several(self) -> bool:
        return self.few and len(self.request.message.repair_request) > 1 and self.was_delivered_on_arrival()

    def is_behind_the_only_answered(self) -> bool:
        """Are only the first entries of repair requests ever answered?"""
        return self.unanswered and self.few and position(self.turn) > 0 and _answered_places(self.view) == {0}

    # ---- what else was answered ------------------------------------------------------------------------------------

    def nothing_is_answered(self) -> bool:
        """Whether no message of the same kind (own, or of others) was answered."""
        return not answers_at_all(self.view, others=not self.own)

    def was_answered_before(self) -> bool:
        return _first_answers(self.view).get(self.turn.message_id, NEVER) < self.turn.since.index

    def is_planned(self) -> bool:
        return self.unanswered and self.turn.shown

    def was_named_meanwhile(self) -> bool:
        """Did a causal history name it while the answer was pending, which may have dropped the request?"""
        named = _named(self.view).get(self.turn.message_id, ()) if self.unanswered else ()
        return any(self.turn.since.index < index < self.step.index for index in named)

    @property
    def expected(self) -> str:
        return f"sent again after the request of step {self.turn.since.index}"

    @property
    def seen(self) -> str:
        return f"nothing for {self.step.now_ms - self.turn.since.now_ms} ms"


@once
def _due(view: ChannelView) -> list[Due]:
    ended = (turn for turn in turns(view) if turn.due and (turn.is_never_answered or (turn.in_time and turn.sure)))
    return [Due(view, turn) for turn in ended]


@once
def _first_answers(view: ChannelView) -> dict[str, int]:
    """Index of the first step that answers for a message, by its ID."""
    answers = [(turn.message_id, turn.answer.index) for turn in turns(view) if turn.answer is not None]
    return dict(sorted(answers, key=lambda answer: -answer[1]))


@once
def _answered_places(view: ChannelView) -> set[int]:
    """Which entries of a repair request are answered: how many stand before them in the list."""
    return {position(turn) for turn in turns(view) if turn.answer is not None}


@once
def _evicted(view: ChannelView) -> frozenset[str]:
    """Messages that are not answered for because newer ones took their place.

    All of one request that came before some message are unanswered, and all that came after it are answered.
    """
    first = {received.message.message_id: received.step.index for received in reversed(view.received)}
    first |= {sent.message.message_id: sent.step.index for sent in reversed(view.sent)}
    requests: dict[int, list[Turn]] = {}
    for turn in turns(view):
        if turn.due and (turn.in_time or turn.is_never_answered):
            requests.setdefault(turn.since.index, []).append(turn)
    evicted: set[str] = set()
    for together in requests.values():
        old = {turn.message_id: first[turn.message_id] for turn in together if turn.is_never_answered}
        new = [first[turn.message_id] for turn in together if not turn.is_never_answered]
        if len(old) >= EVICTED and new and max(old.values()) < min(new):
            evicted |= old.keys()
    return frozenset(evicted)


@once
def _named(view: ChannelView) -> dict[str, list[int]]:
    """Indices of the steps whose messages name an ID in their causal history."""
    named: dict[str, list[int]] = {}
    for received in view.received:
        for entry in received.message.causal_history:
            named.setdefault(entry.message_id, []).append(received.step.index)
    return named


def requests_that_are_due(view: ChannelView) -> Iterator[Due]:
    """A request for a message that the participant has, and may repair, is answered within T_max and a sweep."""
    return (due for due in _due(view) if not due.has_a_namesake() or due.nothing_is_answered())


@check("SDS-STATE-16", pb.CAPABILITY_CHANNELS, *TIMED, of="asked channels sds-r")
def a_namesake_is_no_answer(view: ChannelView) -> Iterator[Observation]:
    """A message of another channel with the ID of one that is asked for is no copy of it, and ends no request.

    Said where all other requests are answered.
    """
    if any(due.unanswered for due in _due(view) if not due.has_a_namesake()):
        return
    for due in _due(view):
        if due.has_a_namesake() and not due.nothing_is_answered():
            expected = f"{due.turn.message_id!r}, asked for in this channel alone, {due.expected}"
            yield judged(due.step, "response-ended-by-namesake", not due.unanswered, expected, due.seen)


def _expected_and_seen(due: Due, row: RuleRow[Due]) -> tuple[str, str]:
    others = "" if row.applies is Due.nothing_is_answered else ", although other requests were answered"
    return f"{due.turn.message_id!r}, {row.why}, {due.expected}", f"{due.seen}{others}"


HELD, BEFORE, SEVERAL = "which is in its log", "answered before", "one of several entries"
PLANNED, OLD, OWN = "whose answer is due by its buffer", "in its log as newer ones that were answered for", "its own"
MEMBER = "of whose response group the participant is by the declared hash"
ONLY = "of the only response group, as those that are answered for again and again"
IN_SYNC, IN_COPY = "asked for in a sync message", "asked for in a copy of a known message"
BLOCKED, WAITED = "asked for in a message that has to wait itself", "delivered after waiting"

table(
    requests_that_are_due,
    _expected_and_seen,
    [
        # requirement, applies, wrong, code, why, position, needs
        RuleRow("SDS-R-RECV-08", Due.nothing_is_answered, Due.is_unanswered, "never-answered", HELD, "", TIMED),
        RuleRow("SDS-R-SWEEP-01", Due.is_planned, Due.is_unanswered, "never-answered", PLANNED, "", TIMED),
        RuleRow(
            "SDS-R-SWEEP-04", Due.was_answered_before, Due.is_unanswered, "later-request-ignored", BEFORE, "", TIMED
        ),
        RuleRow(
            "SDS-R-RECV-12", Due.is_behind_the_only_answered, Due.is_unanswered, "entry-ignored", SEVERAL, "", TIMED
        ),
        RuleRow("SDS-R-STATE-07", Due.was_evicted, Due.is_unanswered, "not-kept", OLD, "", TIMED),
        RuleRow(
            "SDS-R-RECV-13", Due.is_for_own_in_a_sync, Due.is_unanswered, "sync-request-ignored", IN_SYNC, "", TIMED
        ),
        RuleRow("SDS-R-GROUP-02", Due.is_own_of_several_groups, Due.is_unanswered, "never-answered", OWN, "", TIMED),
        RuleRow("SDS-R-STATE-08", Due.is_own, Due.is_unanswered, "own-left-out", OWN, "", TIMED),
        RuleRow("SDS-R-GROUP-04", Due.is_of_the_only_group, Due.is_refused_for_good, "never-answered", ONLY, "", TIMED),
        RuleRow("SDS-R-STATE-08", Due.was_repaired, Due.is_unanswered, "repaired-left-out", "repaired", "", TIMED),
        RuleRow("SDS-R-STATE-08", Due.had_waited, Due.is_unanswered, "buffered-left-out", WAITED, "", TIMED),
        RuleRow("SDS-R-GROUP-01", Due.is_of_its_group, Due.is_unanswered, "member-left-out", MEMBER, "", TIMED),
        RuleRow("SDS-R-RECV-08", Due.was_named_meanwhile, Due.is_unanswered, "never-answered", HELD, "", TIMED),
        RuleRow("SDS-R-RECV-13", Due.is_in_a_sync, Due.is_unanswered, "sync-request-ignored", IN_SYNC, "", TIMED),
        RuleRow(
            "SDS-R-RECV-13", Due.is_in_a_copy, Due.is_unanswered, "duplicate-request-ignored", IN_COPY, "AMB-23", TIMED
        ),
        RuleRow(
            "SDS-R-RECV-13",
            Due.is_in_a_blocked_message,
            Due.is_unanswered,
            "blocked-request-ignored",
            BLOCKED,
            "",
            TIMED,
        ),
        RuleRow("SDS-R-RECV-12", Due.is_one_of_several, Due.is_unanswered, "entry-ignored", SEVERAL, "", TIMED),
        RuleRow("SDS-R-RECV-08", Due.always_applies, Due.is_unanswered, "never-answered", HELD, "", TIMED),
    ],
    of="asked sds-r",
)
