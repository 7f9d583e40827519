"""Section "Conflicts": which of two records is the newer one, and which one wins where neither is."""

from __future__ import annotations

from collections.abc import Iterator

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.clubs import READ_WRITE

from ....judging.judgement import Observation, held, judged, violated
from ..register import check
from ..view.facts import told_of
from ..view.meetings import (
    INCOMING,
    PRESENT,
    Fate,
    Meeting,
    by_default,
    contests,
    declined,
    disagreement,
    fates,
    is_traced,
    keys_met,
    resolution,
    takes_updates,
    ties,
    unresolved,
    version_left,
    versions_met,
)
from ..view.peer_view import PeerView

OF_TWO = {INCOMING: "the one that came", PRESENT: "the one that was there"}


# ---- One of two descends from the other ------------------------------------------------------------------------------


@check("CSDB-48", of="received shown")
def equal_records_are_discarded(view: PeerView) -> Iterator[Observation]:
    """A record that comes with the vector clock of what is there changes nothing. It "can be discarded": where it says
    something else, whoever decides between the two as in a conflict is right as well."""
    yield from _stays(view, "equal", "equal-not-discarded", "the same vector clock")


@check("CSDB-49", of="received shown")
def ancestors_are_discarded(view: PeerView) -> Iterator[Observation]:
    """A record from which the own one descends changes nothing, whatever its update_time; of deletions CSDB-56."""
    yield from _stays(view, "older", "ancestor-not-discarded", "a vector clock from which that of this one descends")


@check("CSDB-50", of="received shown")
def descendants_replace(view: PeerView) -> Iterator[Observation]:
    """A record that descends from the own one replaces it, whatever the update_time; of deletions CSDB-02."""
    for fate in _plain_fates(view):
        if _descends(fate) and (fate.left == INCOMING or takes_updates(view)):
            yield _descended(view, fate, "descendant-discarded")


@check("CSDB-55", of="received shown")
def times_do_not_decide(view: PeerView) -> Iterator[Observation]:
    """Where one record descends from the other, the larger update_time of the other one changes nothing."""
    for fate in _plain_fates(view):
        meeting = fate.meeting
        older = meeting.arrival.outcome == "older" and not meeting.there.deleted
        if _descends(fate) and meeting.later == PRESENT and (fate.left == INCOMING or takes_updates(view)):
            yield _descended(view, fate, "earlier-descendant-discarded")
        elif older and meeting.later == INCOMING and fate.left:
            expected = f"{view.named(meeting.there)}, although what came at step {meeting.step.index} is later"
            seen = view.named(meeting.incoming)
            yield judged(fate.shown.step, "later-ancestor-taken", fate.left == PRESENT, expected, seen)


def _plain_fates(view: PeerView) -> list[Fate]:
    """The fates that neither numbers above 2^53 (CSDB-41) nor zeros in clocks (CSDB-43) decide."""
    return [fate for fate in fates(view) if not (fate.meeting.told_apart_beyond_doubles or fate.about_zeros)]


def _descends(fate: Fate) -> bool:
    return bool(fate.left) and fate.meeting.arrival.outcome == "newer" and not fate.meeting.incoming.deleted


def _descended(view: PeerView, fate: Fate, code: str) -> Observation:
    expected = f"{view.named(fate.meeting.incoming)}, which came at step {fate.meeting.step.index} and descends"
    return judged(fate.shown.step, code, fate.left == INCOMING, expected, view.named(fate.meeting.there))


def _stays(view: PeerView, outcome: str, code: str, clock: str) -> Iterator[Observation]:
    for fate in _plain_fates(view):
        meeting = fate.meeting
        if outcome == "equal" and fate.left == INCOMING and not meeting.alike and meeting.later != PRESENT:
            continue
        if meeting.arrival.outcome == outcome and fate.left and not meeting.there.deleted:
            expected = f"{view.named(meeting.there)}: what came at step {meeting.step.index} has {clock}"
            yield judged(fate.shown.step, code, fate.left == PRESENT, expected, view.named(meeting.incoming))


# ---- Neither does ----------------------------------------------------------------------------------------------------


@check("CSDB-39", pb.CAPABILITY_CONFLICT, of="received")
def concurrent_changes_do_not_replace(view: PeerView) -> Iterator[Observation]:
    """A change that does not know of what is there is not taken for a newer one: there is a conflict."""
    for meeting, left in _concurrent(view):
        if meeting.signalled:
            yield held(meeting.step)
        elif left == INCOMING:
            yield violated(
                meeting.step,
                "concurrent-change-taken",
                _conflict(view, meeting),
                "none is signalled, and that is there",
            )


@check("CSDB-51", pb.CAPABILITY_CONFLICT, of="received")
def concurrent_changes_are_not_discarded(view: PeerView) -> Iterator[Observation]:
    """A change that does not know of what is there is not taken for an older one: there is a conflict."""
    for meeting, left in _concurrent(view):
        if meeting.signalled:
            yield held(meeting.step)
        elif left == PRESENT and takes_updates(view) and not meeting.incoming.deleted:
            yield violated(
                meeting.step,
                "concurrent-change-discarded",
                _conflict(view, meeting),
                "none is signalled, and that is not there",
            )


def _concurrent(view: PeerView) -> Iterator[tuple[Meeting, str]]:
    """Versions that say different things and meet, neither of which descends from the other, with which one is left."""
    left = {id(fate.meeting): fate.left for fate in fates(view)}
    for meeting in versions_met(view):
        if meeting.arrival.outcome == "conflict" and meeting.signalled is not None and not meeting.alike:
            yield meeting, left.get(id(meeting), "")


def _conflict(view: PeerView, meeting: Meeting) -> str:
    came = f"{view.named(meeting.incoming)}, which came at step {meeting.step.index}"
    return f"a conflict of {view.named(meeting.there)} and {came}"


# ---- Two records with one key ----------------------------------------------------------------------------------------


@check("CSDB-38", of="received shown")
def one_of_two_has_the_key(view: PeerView) -> Iterator[Observation]:
    """Of two records with one key, one has it afterwards; which one, whoever came first does not say."""
    for contest in contests(view):
        meeting = contest.meeting
        if meeting.later == INCOMING and contest.ignored and takes_updates(view):
            expected = f"a trace of {view.named(meeting.incoming)}, which came at step {meeting.step.index}"
            yield violated(contest.shown.step, "second-record-ignored", expected, "none, as if nothing had come")
        elif contest.nobody and by_default(view):
            yield violated(contest.shown.step, "key-lost", f"a record with the key {meeting.incoming.key!r}", "none")
        elif contest.having:
            yield held(contest.shown.step)


@check("CSDB-38", of="received shown")
def peers_agree_who_has_a_key(view: PeerView) -> Iterator[Observation]:
    """All who know of two records with one key come to have the same one there."""
    for one, other, whose in disagreement(view):
        seen = f"{one.told} here, {other.told} at {whose.party.name}"
        expected = f"one record with the key {one.meeting.incoming.key!r}, the same one everywhere"
        position = "" if one.meeting.later else "CA-9"
        yield judged(one.shown.step, "peers-disagree", one.agrees(other), expected, seen, position)


@check("CSDB-40", of="received")
def second_records_are_taken(view: PeerView) -> Iterator[Observation]:
    """A record is not refused because another one has its key."""
    met = keys_met(view)
    rivals = {id(meeting.arrival) for meeting in met}
    alone = [arrival for arrival in view.arrivals if arrival.outcome == "new" and id(arrival) not in rivals]
    declines = any(declined(view, arrival) for arrival in alone)
    for meeting in met:
        if not declined(view, meeting.arrival):
            yield held(meeting.step)
        elif takes_updates(view) and not declines:
            key, uuid = meeting.incoming.key, meeting.there.uuid
            yield violated(
                meeting.step,
                "second-record-refused",
                f"a second record with the key {key!r}, beside {uuid}",
                "it is refused",
            )


# ---- Who wins --------------------------------------------------------------------------------------------------------


@check("CSDB-54", of="received shown")
def the_largest_time_wins(view: PeerView) -> Iterator[Observation]:
    """Of two in conflict the one with the larger update_time is there, unless the application has decided."""
    for fate in fates(view) if by_default(view) else ():
        meeting = fate.meeting
        decided = meeting.arrival.outcome == "conflict" and meeting.signalled is not False
        if not meeting.there.in_utc and not is_traced(view, meeting.there):
            continue  # it may have been refused (CA-18)
        if decided and meeting.later and fate.left and (fate.left == INCOMING or takes_updates(view)):
            yield _won(view, meeting, fate.shown.step.index, fate.left)
            if fate.mixed:
                winner = meeting.incoming if fate.left == INCOMING else meeting.there
                seen = f"its revision with what the other one says: {told_of(fate.seen)}"
                yield violated(fate.shown.step, "winner-mixed", f"{view.named(winner)}, as it came", seen)
    for contest in contests(view) if by_default(view) else ():
        if contest.meeting.later and contest.left and not contest.ignored:
            yield _won(view, contest.meeting, contest.shown.step.index, contest.left)


@check("CSDB-54", of="received shown")
def ties_end_alike(view: PeerView) -> Iterator[Observation]:
    """Of two in conflict with the same update_time, the same one is there on all peers, whatever came first."""
    for one, other, whose in ties(view) if by_default(view) else ():
        expected = f"one outcome of {_conflict(view, one.meeting)}, the same on all peers"
        seen = f"{OF_TWO[one.left]} here, {OF_TWO[other.left]} at {whose.party.name}"
        yield judged(one.shown.step, "tie-not-agreed", version_left(one) == version_left(other), expected, seen, "CA-9")


def _won(view: PeerView, meeting: Meeting, step: int, left: str) -> Observation:
    winner, loser = meeting.incoming, meeting.there
    if meeting.later == PRESENT:
        winner, loser = loser, winner
    times = f"{_time(winner.time)} is later than {_time(loser.time)}"
    position = "CA-9" if meeting.of_one_second else ""
    place = view.trace.steps[step - 1]
    return judged(
        place, "earlier-time-wins", left == meeting.later, f"{view.named(winner)}: {times}", view.named(loser), position
    )


def _time(time: object) -> str:
    return str(getattr(time, "text", "no time"))


@check("CSDB-53", pb.CAPABILITY_RESOLUTION_MERGE, of="received shown")
def conflicts_are_merged(view: PeerView) -> Iterator[Observation]:
    """Where the application merges two objects, the members of both are there afterwards."""
    if resolution(view) == pb.RESOLUTION_MERGE and view.level is READ_WRITE:
        yield from _resolved(view, "not-merged")


@check("CSDB-53", pb.CAPABILITY_RESOLUTION_SEPARATE, of="received shown")
def conflicts_are_separated(view: PeerView) -> Iterator[Observation]:
    """Where the application separates two records, both values are there afterwards."""
    if resolution(view) == pb.RESOLUTION_SEPARATE and view.level is READ_WRITE:
        yield from _resolved(view, "not-separated")


def _resolved(view: PeerView, code: str) -> Iterator[Observation]:
    for meeting, shown, missing in unresolved(view):
        expected = f"all of {view.named(meeting.incoming)} and of {view.named(meeting.there)}"
        yield judged(shown.step, code, not missing, expected, missing)
