"""Checks of sections "Conflicts" and "Deleted Records": which of two versions or records survives."""

from __future__ import annotations

from collections.abc import Iterator

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.trace import Step

from ....judging.judgement import Observation, observe_met, observe_outcome, observe_violation
from ..register import Judgements, check, check_several
from ..view.clocks import find_comparisons, find_merges, find_smaller_number
from ..view.facts import Update, describe_record, equal, has_wide_numbers, quoted, same_content
from ..view.latest import Latest, find_latest_of_records, find_latest_with_keys
from ..view.meetings import (
    Fate,
    Meeting,
    accepts_updates,
    find_comparable_holdings,
    find_contests,
    find_fates,
    find_key_meetings,
    find_last_states,
    find_linked_states,
    find_resolved_conflicts,
    find_results,
    find_ties,
    find_version_meetings,
)
from ..view.peer_view import PeerView
from ..view.replication import find_sent_holders

# ---- One of two versions descends from the other ---------------------------------------------------------------------


@check_several("CSDB-41", "CSDB-43", "CSDB-48", "CSDB-49", "CSDB-50", "CSDB-55", "CSDB-56", of="received shown")
def descendants_survive(view: PeerView) -> Judgements:
    """Of two versions of a record, the descendant remains, even with the smaller update_time."""
    for fate in find_fates(view):
        if fate.survivor:
            yield from _judge_survivor(view, fate)


def _judge_survivor(view: PeerView, fate: Fate) -> Judgements:
    meeting, outcome = fate.meeting, fate.meeting.arrival.outcome
    incoming, present = meeting.incoming, meeting.present
    is_taken_or_refused = fate.survivor is incoming or accepts_updates(view)

    def judge(code: str, winner: Update, why: str) -> Observation:
        expected = f"{view.named(winner)}: {why} (step {meeting.step.index})"
        seen = view.named(meeting.other_than(winner))
        return observe_outcome(fate.shown.step, code, fate.survivor is winner, expected, seen)

    descends = "the received version descends from the other one"
    if meeting.differs_only_beyond_doubles and outcome == "newer" and is_taken_or_refused:
        yield "CSDB-41", judge("wide-numbers-confused", incoming, descends)
    if fate.involves_zeros and view.accepted_any is not False and outcome in ("newer", "older"):
        winner = incoming if outcome == "newer" else present
        yield "CSDB-43", judge("zero-counts", winner, "a zero means the same as an absent number")
    # CSDB-41 judges numbers above 2^53, and CSDB-43 zeros.
    decided_by = "" if meeting.differs_only_beyond_doubles or fate.involves_zeros else outcome
    # An update with an equal clock "can be discarded". If its content differs, a peer may also decide as in a conflict.
    as_in_a_conflict = fate.survivor is incoming and not meeting.alike and meeting.later is not present
    if decided_by == "equal" and not present.deleted and not as_in_a_conflict:
        why = "the received version has the same vector clock"
        yield "CSDB-48", judge("equal-not-discarded", present, why)
    if decided_by == "older" and not present.deleted:  # CSDB-56 judges deleted records
        why = "this version descends from the received version"
        yield "CSDB-49", judge("ancestor-not-discarded", present, why)
        if meeting.later is incoming:
            why += ", although the received version has the later update_time"
            yield "CSDB-55", judge("later-ancestor-taken", present, why)
    # CSDB-02 judges later deletions.
    later_deletion = incoming.deleted and meeting.later is incoming
    if decided_by == "newer" and is_taken_or_refused and not later_deletion:
        yield "CSDB-50", judge("descendant-discarded", incoming, descends)
        if meeting.later is present:
            why = f"{descends}, although the other one has the later update_time"
            yield "CSDB-55", judge("earlier-descendant-discarded", incoming, why)
    if outcome == "older" and present.deleted and not incoming.deleted and view.is_traced(present):
        why = "the record was deleted before the other version arrived"
        yield "CSDB-56", judge("ghost-reappears", present, why)


@check("CSDB-56", of="shown")
def deletions_are_remembered(view: PeerView) -> Iterator[Observation]:
    """The answer to a request for everything includes deletions. CSDB-35 judges whether later deletions are relayed."""
    for shown in view.shown_states:
        if shown.link is None:
            continue
        # Versions that arrived on the link need not be sent back on it.
        received = {update.version for update in shown.link.received}
        then = shown.asked.index
        held_ = ((uuid, held.update) for uuid, held in view.known.all_at(shown.step.index) if held.step.index < then)
        there = {
            uuid: update
            for uuid, update in held_
            if update is not None and update.version not in received and (not update.deleted or view.is_traced(update))
        }
        missing = [uuid for uuid in there if uuid not in shown.records]
        deleted = [uuid for uuid, update in there.items() if update.deleted]
        # One deletion can be missing for other reasons. If exactly the deletions are missing, the peer forgot them.
        if len(there) > len(deleted) > 1 and missing in ([], deleted):
            expected = f"the deletion of {there[deleted[0]].key!r}, in addition to other records"
            yield observe_outcome(shown.step, "deletion-forgotten", not missing, expected, "nothing is deleted")


# ---- Concurrent versions ---------------------------------------------------------------------------------------------


@check("CSDB-39", pb.CAPABILITY_CONFLICT, of="received")
def concurrent_changes_do_not_replace(view: PeerView) -> Iterator[Observation]:
    """A received version that is concurrent with the present one does not just replace it: the two are in conflict."""
    yield from _judge_concurrent(view, "concurrent-change-taken", incoming=True)


@check("CSDB-51", pb.CAPABILITY_CONFLICT, of="received")
def concurrent_changes_are_not_discarded(view: PeerView) -> Iterator[Observation]:
    """A received version that is concurrent with the present one is not just discarded: the two are in conflict."""
    yield from _judge_concurrent(view, "concurrent-change-discarded", incoming=False)


def _judge_concurrent(view: PeerView, code: str, *, incoming: bool) -> Iterator[Observation]:
    """Judge each meeting of two concurrent versions with different contents: the peer signals a conflict.

    A missing signal is a violation only if the received version survives or, without ``incoming``, the present one.
    """
    left = {id(fate.meeting): fate.survivor for fate in find_fates(view)}
    for meeting in find_version_meetings(view):
        if meeting.arrival.outcome != "conflict" or meeting.signalled is None or meeting.alike:
            continue
        survivor = meeting.incoming if incoming else meeting.present
        surely = incoming or (accepts_updates(view) and not meeting.incoming.deleted)
        if meeting.signalled:
            yield observe_met(meeting.step)
        elif left.get(id(meeting)) is survivor and surely:
            seen = f"no conflict is signalled, and {view.named(survivor)} is present"
            yield observe_violation(meeting.step, code, _conflict_text(view, meeting), seen)


def _conflict_text(view: PeerView, meeting: Meeting) -> str:
    incoming = f"{view.named(meeting.incoming)}, received at step {meeting.step.index}"
    return f"a conflict of {view.named(meeting.present)} and {incoming}"


# ---- Two records with one key ----------------------------------------------------------------------------------------


@check("CSDB-38", of="received shown")
def one_of_two_records_has_the_key(view: PeerView) -> Iterator[Observation]:
    """One of two records with the same key keeps the key, and the order of arrival does not decide which one."""
    for contest in find_contests(view):
        meeting, step = contest.meeting, contest.shown.step
        if meeting.later is meeting.incoming and contest.ignored and accepts_updates(view):
            expected = f"an effect of {view.named(meeting.incoming)}, received at step {meeting.step.index}"
            yield observe_violation(step, "second-record-ignored", expected, "no effect of the received record")
        elif contest.key_is_lost and view.resolves_by_time:
            yield observe_violation(
                step, "key-lost", f"a record with the key {meeting.incoming.key!r}", "nothing is there"
            )
        elif contest.with_key:
            yield observe_met(step)


@check("CSDB-38", of="received shown")
def one_of_two_records_is_left(view: PeerView) -> Iterator[Observation]:
    """Of two records with the same key, one is left in the end if no application has changed or deleted either of them.

    Each of two peers may delete the record that the other one keeps, if they do not decide a tie in the same way.
    """
    for meeting, shown in find_last_states(view) if view.resolves_by_time else ():
        key, there = meeting.incoming.key, shown.records
        live = [seen for seen in there.values() if not seen.deleted and seen.key == key]
        both_are_deleted = all((seen := there.get(str(uuid))) is not None and seen.deleted for uuid in meeting.uuids)
        seen_text = "both are deleted" if both_are_deleted and not live else f"{len(live)} records"
        expected = f"at least one of the two records with the key {key!r} (conflict at step {meeting.step.index})"
        position = "" if meeting.later and not meeting.is_within_one_second else "CA-9"
        met = not both_are_deleted or bool(live)
        yield observe_outcome(shown.step, "key-lost", met, expected, seen_text, position)


@check("CSDB-38", pb.CAPABILITY_OBSERVE, of="received shown")
def sent_records_have_their_key(view: PeerView) -> Iterator[Observation]:
    """If a peer sends a record under a key that another record had, its application sees a record with the key."""
    for holder in find_sent_holders(view) if view.resolves_by_time else ():
        expected = f"{describe_record(holder.latest)}, as sent for {view.name_other_end(holder.link)}"
        yield observe_outcome(holder.shown.step, "key-lost", bool(holder.seen), expected, "nothing is there")


@check("CSDB-38", of="received shown")
def peers_agree_who_has_a_key(view: PeerView) -> Iterator[Observation]:
    """All peers that received two records with the same key show the same one of them."""
    for one, other, other_view in find_comparable_holdings(view):
        seen = f"{one.values_text} at {view.party.name}, {other.values_text} at {other_view.party.name}"
        expected = f"one record with the key {one.meeting.incoming.key!r}, the same one everywhere"
        position = "" if one.meeting.later else "CA-9"
        yield observe_outcome(one.shown.step, "peers-disagree", one.agrees_with(other), expected, seen, position)


@check("CSDB-38", pb.CAPABILITY_CONFLICT, of="received")
def conflicts_about_keys_are_signalled(view: PeerView) -> Iterator[Observation]:
    """A second record with the same key is a conflict. It is signalled if the peer declares such signals."""
    for meeting in find_key_meetings(view):
        if meeting.signalled is None or meeting.alike:
            continue
        if meeting.signalled:
            yield observe_met(meeting.step)
        elif view.is_traced(meeting.incoming) and any(index > meeting.step.index for index in view.quiet):
            # Another finding reports a record that is not accepted.
            expected = f"a conflict of {view.named(meeting.incoming)} and {view.named(meeting.present)}"
            yield observe_violation(meeting.step, "conflict-not-signalled", expected, "no conflict is signalled")


@check("CSDB-40", of="received")
def second_records_are_accepted(view: PeerView) -> Iterator[Observation]:
    """A peer does not refuse a record because another one has its key."""
    met = find_key_meetings(view)
    rivals = {id(meeting.arrival) for meeting in met}
    alone = [arrival for arrival in view.arrivals if arrival.outcome == "new" and id(arrival) not in rivals]
    declines = any(arrival.declined for arrival in alone)
    for meeting in met:
        if not meeting.arrival.declined:
            yield observe_met(meeting.step)
        elif accepts_updates(view) and not declines:
            expected = f"a second record with the key {meeting.incoming.key!r}, in addition to {meeting.present.uuid}"
            yield observe_violation(meeting.step, "second-record-refused", expected, "it is refused")


# ---- Winners ---------------------------------------------------------------------------------------------------------


@check("CSDB-54", of="received shown")
def the_largest_time_wins(view: PeerView) -> Iterator[Observation]:
    """The version with the larger update_time wins a conflict, unless the application decides."""
    for fate in find_fates(view) if view.resolves_by_time else ():
        meeting = fate.meeting
        decided = meeting.arrival.outcome == "conflict" and meeting.signalled is not False
        if not meeting.present.in_utc and not view.is_traced(meeting.present):
            continue  # the present version may have been refused (CA-18)
        survivor = fate.survivor
        if decided and meeting.later and survivor and (survivor is meeting.incoming or accepts_updates(view)):
            yield _judge_winner(view, meeting, fate.shown.step, meeting.later, survivor)
            if fate.is_mixed:
                mixed = "the revision of this version with the content of the other version"
                seen = f"{mixed}: {describe_record(fate.seen)}"
                expected = f"{view.named(survivor)}, as received"
                yield observe_violation(fate.shown.step, "winner-mixed", expected, seen)
    for contest in find_contests(view) if view.resolves_by_time else ():
        later = contest.meeting.later
        if later and contest.key_holder and not contest.ignored:
            yield _judge_winner(view, contest.meeting, contest.shown.step, later, contest.key_holder)


def _judge_winner(view: PeerView, meeting: Meeting, step: Step, winner: Update, left: Update) -> Observation:
    loser = meeting.other_than(winner)
    times = " is later than ".join(update.time.text if update.time else "no time" for update in (winner, loser))
    expected, position = f"{view.named(winner)}: {times}", "CA-9" if meeting.is_within_one_second else ""
    return observe_outcome(step, "earlier-time-wins", left is winner, expected, view.named(loser), position)


@check("CSDB-54", of="received shown")
def the_latest_of_all_is_left(view: PeerView) -> Iterator[Observation]:
    """After any number of conflicts about a record, the version with the largest update_time remains."""
    if view.resolves_by_time:
        yield from _judge_latest(view, find_latest_of_records(view), "latest-version-lost")


@check("CSDB-54", of="received shown")
def the_latest_of_all_has_the_key(view: PeerView) -> Iterator[Observation]:
    """The latest of all records that had a key has the key, even if that record lost the key before."""
    if view.resolves_by_time:
        yield from _judge_latest(view, find_latest_with_keys(view), "latest-record-hidden")


@check("CSDB-54", pb.CAPABILITY_OBSERVE, of="received shown")
def the_latest_of_the_sent_records_has_the_key(view: PeerView) -> Iterator[Observation]:
    """Of all records that a peer sends under one key, its application sees the one with the largest update_time."""
    for holder in find_sent_holders(view) if view.resolves_by_time else ():
        if holder.seen:
            latest = holder.latest
            met = any(s.uuid == latest.uuid or same_content(s.content, latest.content) for s in holder.seen)
            expected = f"{describe_record(latest)}, the latest that is sent for {view.name_other_end(holder.link)}"
            seen = describe_record(holder.seen[0])
            yield observe_outcome(holder.shown.step, "latest-record-hidden", met, expected, seen)


def _judge_latest(view: PeerView, found: list[Latest], code: str) -> Iterator[Observation]:
    for latest in found:
        expected = f"{view.named(latest.update)}, which is the latest of all that arrived"
        position = "CA-9" if latest.is_within_one_second else ""
        yield observe_outcome(latest.shown.step, code, latest.is_left, expected, describe_record(latest.seen), position)


@check("CSDB-54", of="received shown")
def ties_are_decided_equally(view: PeerView) -> Iterator[Observation]:
    """All peers decide a conflict with equal update_times in the same way, whichever version arrived first."""
    for one, other, other_view in find_ties(view) if view.resolves_by_time else ():
        expected = f"one outcome of {_conflict_text(view, one.meeting)}, the same on all peers"
        here, there = one.survivor, other.survivor
        assert here is not None
        assert there is not None
        seen = f"{view.named(here)} at {view.party.name}, {view.named(there)} at {other_view.party.name}"
        yield observe_outcome(one.shown.step, "tie-not-agreed", here.version == there.version, expected, seen, "CA-9")


@check("CSDB-53", pb.CAPABILITY_RESOLUTION_MERGE, of="writes received shown")
def conflicts_are_merged(view: PeerView) -> Iterator[Observation]:
    """If the application merges two objects, the result has the members of both."""
    yield from _judge_resolution(view, pb.RESOLUTION_MERGE, "not-merged")


@check("CSDB-53", pb.CAPABILITY_RESOLUTION_SEPARATE, of="writes received shown")
def conflicts_are_separated(view: PeerView) -> Iterator[Observation]:
    """If the application separates two records, both values remain."""
    yield from _judge_resolution(view, pb.RESOLUTION_SEPARATE, "not-separated")


def _judge_resolution(view: PeerView, by: int, code: str) -> Iterator[Observation]:
    for meeting, shown, missing in find_resolved_conflicts(view) if view.resolution == by else ():
        expected = f"all of {view.named(meeting.incoming)} and of {view.named(meeting.present)}"
        yield observe_outcome(shown.step, code, not missing, expected, missing)


@check("CSDB-14", pb.CAPABILITY_OBSERVE, of="writes received shown")
def results_of_applications_are_sent(view: PeerView) -> Iterator[Observation]:
    """If the application merges or separates records, all linked peers under test see the results in the end.

    Peers may send the result or the conflicting versions (CA-8).
    """
    if view.resolves_by_time or view.trace.unsettled:
        return
    for mine, theirs, other in find_linked_states(view):
        for result in find_results(view, mine):
            if has_wide_numbers(result.value) and not view.can(pb.CAPABILITY_WIDE_INTEGERS):
                continue
            values = theirs.values.get(str(result.key), [])
            met, seen = any(equal(result.value, value) for value in values), quoted(values[0]) if values else "nothing"
            expected = f"{describe_record(result)}, the result of a conflict, also at {other.party.name}"
            yield observe_outcome(mine.step, "change-not-sent", met, expected, seen)


# ---- Merged and compared clocks --------------------------------------------------------------------------------------


@check("CSDB-46", of="received")
def arrivals_lower_no_clock_number(view: PeerView) -> Iterator[Observation]:
    """The clock of a surviving version has no smaller number than before the other version arrived."""
    for fate, step, clock in find_merges(view):
        if fate.survivor is fate.meeting.present:
            lost, seen = find_smaller_number(view, clock, fate.meeting.present.clock)
            expected = f"{lost}, as before step {fate.meeting.step.index}"
            yield observe_outcome(step, "known-numbers-lost", not lost, expected, seen)


@check("CSDB-52", of="received")
def conflict_outcomes_merge_clocks(view: PeerView) -> Iterator[Observation]:
    """The clock of the outcome of a conflict has no smaller number than the clocks of the two versions."""
    for fate, step, clock in find_merges(view):
        meeting = fate.meeting
        lost, seen = find_smaller_number(view, clock, meeting.incoming.clock, meeting.present.clock)
        expected = f"{lost}: the versions were in conflict at step {meeting.step.index}"
        yield observe_outcome(step, "clocks-not-merged", not lost, expected, seen)


RELATIONS = {
    (True, True): "the clocks are equal",
    (True, False): "the first clock is before the second",
    (False, True): "the second clock is before the first",
    (False, False): "neither clock is before the other",
}


@check_several(
    *("CSDB-41", "CSDB-43", "CSDB-48", "CSDB-50", "CSDB-51"),
    needs=dict.fromkeys(("CSDB-43", "CSDB-48", "CSDB-50", "CSDB-51"), (pb.CAPABILITY_CLOCK_CODEC,))
    | {"CSDB-41": (pb.CAPABILITY_CLOCK_CODEC, pb.CAPABILITY_WIDE_INTEGERS)},
)
def clocks_are_compared(view: PeerView) -> Judgements:
    """Vector clock a is before or equal to vector clock b if no peer has a larger number in a than in b.

    A peer that is absent from a clock has the number zero.
    """
    for each in find_comparisons(view):
        match each.error_kind, sum(each.correct_answer):
            case "wide", _:
                requirement, code = "CSDB-41", "wide-numbers-confused"
            case "absent", _:
                requirement, code = "CSDB-43", "absent-not-zero"
            case "numbers", 2:
                requirement, code = "CSDB-48", "equal-not-before"
            case "numbers", 1:
                requirement, code = "CSDB-50", "smaller-not-before"
            case "numbers", _:
                requirement, code = "CSDB-51", "concurrent-before"
            case _:
                continue
        met, expected = each.answer == each.correct_answer, RELATIONS[each.correct_answer]
        yield requirement, observe_outcome(each.step, code, met, expected, RELATIONS[each.answer])
