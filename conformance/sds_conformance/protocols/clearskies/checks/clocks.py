"""Section "Conflicts": vector clocks, how they look and how they are updated."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference.vector_clock import MAX_INTEGER, is_id

from ....judging.judgement import Observation, held, judged, violated
from ....judging.quoting import json_of
from ..register import check
from ..view.clocks import (
    Compared,
    clocks_shown,
    compared,
    events_until,
    grown,
    known_bases,
    lacks,
    max_number,
    merges,
    observed_counts,
    wide_numbers,
)
from ..view.facts import Update, Version, has_zeros, same_content
from ..view.knowledge import SAFE_INTEGER
from ..view.meetings import INCOMING, PRESENT, fates, is_traced, takes_updates
from ..view.peer_view import PeerView

WORDS = {
    (True, True): "they are equal",
    (True, False): "the first is before the other",
    (False, True): "the other is before the first",
    (False, False): "neither is before the other",
}


# ---- How they look ---------------------------------------------------------------------------------------------------


@check("CSDB-41", of="sent")
def clocks_have_integers_by_peer(view: PeerView) -> Iterator[Observation]:
    """Each member of a vector clock is a peer ID with an integer of 64 bits."""
    for update in view.sent:
        said = update.members.get("vector_clock")
        if isinstance(said, dict):
            wrong = next(((m, n) for m, n in said.items() if not (is_id(m) and _is_number(n))), None)
            code = "number-not-integer" if wrong is not None and is_id(wrong[0]) else "peer-id-malformed"
            seen = ": ".join(json_of(part, 120) for part in wrong or ())[:120]
            yield judged(update.step, code, wrong is None, "peer IDs with integers of 64 bits", seen)


@check("CSDB-41", of="received")
def wide_numbers_survive(view: PeerView) -> Iterator[Observation]:
    """Numbers above 2^53 are afterwards what they were when they came."""
    came = wide_numbers(view)
    position = "" if view.can(pb.CAPABILITY_WIDE_INTEGERS) else "CA-6"
    for step, uuid, clock in clocks_shown(view) if came else ():
        for member, number in clock.items():
            if (uuid, member) in came:
                most = max(came[uuid, member])
                expected = f"{most} for {view.name(member)}, as it came"
                # One more than what came is counted, not lost: CSDB-44 and CSDB-46.
                met = number in came[uuid, member] or number == most + 1 != int(float(most))
                yield judged(step, "wide-number-lost", met, expected, f"{number}", position)


@check("CSDB-41", of="received shown")
def wide_numbers_decide(view: PeerView) -> Iterator[Observation]:
    """A record replaces the one from which it descends by numbers that are told apart above 2^53 alone."""
    for fate in fates(view):
        meeting = fate.meeting
        concerned = meeting.arrival.outcome == "newer" and meeting.told_apart_beyond_doubles
        if concerned and (fate.left == INCOMING or (fate.left and takes_updates(view))):
            expected = f"{view.named(meeting.incoming)}, which came at step {meeting.step.index} and descends"
            yield judged(
                fate.shown.step, "wide-numbers-confused", fate.left == INCOMING, expected, view.named(meeting.there)
            )


def _is_number(number: object) -> bool:
    return type(number) is int and 0 <= number <= MAX_INTEGER


@check("CSDB-42", of="received shown")
def revisions_are_no_clocks(view: PeerView) -> Iterator[Observation]:
    """A record is taken although its revision is another number than that of its writer in the vector clock."""
    alike = False
    for arrival in view.arrivals:
        update = arrival.update
        if arrival.outcome != "new" or view.one_of_many(arrival) or max_number(update) > SAFE_INTEGER:
            continue
        number = (update.clock or {}).get(str(update.by), 0)
        if number == update.rev:
            alike = alike or is_traced(view, update)
        elif is_traced(view, update):
            yield held(arrival.step)
        elif alike and (proof := view.proof(arrival)) is not None:
            expected = f"{view.named(update)}, in whose clock {view.name(update.by)} has {number}"
            yield violated(
                proof.shown.step,
                "revision-compared-with-clock",
                expected,
                f"{view.had(proof)}; others, where the two are alike, are taken",
            )


# ---- How they are updated --------------------------------------------------------------------------------------------


@check("CSDB-43", of="own")
def clocks_start_with_zero(view: PeerView) -> Iterator[Observation]:
    """The own number has not counted more than what has happened so far."""
    for update in view.own:
        if update.clock is not None and view.opened_afresh(update.step):
            number, most = update.clock.get(view.peer_id, 0), events_until(view, update)
            yield judged(
                update.step,
                "clock-starts-too-high",
                number <= most,
                f"at most {most}: there was nothing more to be counted",
                f"{number}",
            )


@check("CSDB-43", of="received shown")
def zeros_say_nothing(view: PeerView) -> Iterator[Observation]:
    """A record is taken although a number in its clock is zero: it is as if that were not there.

    A peer that takes no other record either does not refuse it for the zero. Nor does the zero make it newer or older.
    """
    if view.took is False:
        return
    for fate in fates(view):
        meeting, later = fate.meeting, fate.meeting.arrival.outcome == "newer"
        if fate.about_zeros and fate.left and (later or meeting.arrival.outcome == "older"):
            kept, lost = (meeting.incoming, meeting.there) if later else (meeting.there, meeting.incoming)
            expected = f"{view.named(kept)}, which descends: a zero is no number more"
            yield judged(
                fate.shown.step,
                "zero-counts",
                fate.left == (INCOMING if later else PRESENT),
                expected,
                view.named(lost),
            )
    for arrival in view.arrivals:
        if arrival.outcome == "new" and has_zeros(arrival.update) and (proof := view.proof(arrival)) is not None:
            expected = f"{view.named(arrival.update)}, in whose clock a number is zero"
            yield judged(proof.shown.step, "zero-not-taken", proof.is_there, expected, view.had(proof))


@check("CSDB-44", of="changes sent")
def changes_count(view: PeerView) -> Iterator[Observation]:
    """The clock of a change has the number of who made it, larger than in all that was sent of the record before."""
    for update in view.own:
        if update.clock is not None:
            met = view.peer_id in update.clock
            expected = f"a vector clock that counts the change of {view.party.name}"
            yield judged(update.step, "own-number-missing", met, expected, json_of(dict(update.clock), 120))
    for _, first, base in known_bases(view):
        told = (base.clock or {}).get(view.peer_id, 0)
        if 0 < told <= SAFE_INTEGER and base.by != view.peer_id:
            number = (first.clock or {}).get(view.peer_id, 0)
            expected = f"more than {told} of its own in the clock of {view.named(first)}, as {view.named(base)} has it"
            yield judged(first.step, "change-not-counted", number > told, expected, f"{number}")
    for each in grown(view):
        most = max((update.clock or {}).get(view.peer_id, 0) for update in each.before)
        number = (each.first.clock or {}).get(view.peer_id, 0)
        expected = f"more than {most} of its own in the clock of {view.named(each.first)}"
        yield judged(each.first.step, "change-not-counted", number > most, expected, f"{number}")


@check("CSDB-44", pb.CAPABILITY_OBSERVE, of="changes shown")
def changes_count_at_once(view: PeerView) -> Iterator[Observation]:
    """Where it is observed, the own number of a record is larger after a change of it."""
    for seen in observed_counts(view):
        expected = f"more than {seen.before} of its own in the clock of {seen.key!r}"
        yield judged(seen.step, "change-not-counted", seen.after > seen.before, expected, f"{seen.after}")


@check("CSDB-45", of="changes sent")
def sending_counts(view: PeerView) -> Iterator[Observation]:
    """From one change of a record that was sent to the next, the own number grows by two at least: one for each change,
    and one for that it was sent. What is repeated of what is over need not count."""
    for each in grown(view):
        last = each.before[0]
        before, after = ((u.clock or {}).get(view.peer_id, 0) for u in (last, each.first))
        if after > before and not each.overtaken:
            expected = f"{before + 2} at least: revision {last.rev} was sent at step {last.step.index}"
            yield judged(each.first.step, "sending-not-counted", after >= before + 2, expected, f"{after}", "CA-15")


@check("CSDB-46", of="changes received")
def what_came_is_taken_over(view: PeerView) -> Iterator[Observation]:
    """The clock of a change knows all that the clock of what was there did."""
    for _, first, base in known_bases(view):
        if base.by == view.peer_id and set(base.clock or {}) <= {view.peer_id}:
            continue  # it has nothing of anybody else
        missing = lacks(first.clock or {}, base.clock, view.peer_id)
        expected, seen = _of(view, missing, first.clock or {})
        code = "known-numbers-lost" if base.by == view.peer_id else "incoming-numbers-lost"
        yield judged(first.step, code, missing is None, f"{expected}: {view.named(base)} was there", seen)


@check("CSDB-46", of="received sent")
def no_number_is_made_up(view: PeerView) -> Iterator[Observation]:
    """Of another peer no clock has a larger number than the max of all that came."""
    most: dict[str, int] = {}
    came = iter(view.received)
    following = next(came, None)
    for update in view.sent:
        while following is not None and following.step.index <= update.step.index:
            if following.clock is None:
                return  # nobody knows what it is taken for
            for member, number in following.clock.items():
                most[member] = max(number, most.get(member, 0))
            following = next(came, None)
        for member, number in (update.clock or {}).items():
            if member != view.peer_id and most.get(member, 0) < number <= SAFE_INTEGER:
                expected = f"at most {most.get(member, 0)} for {view.name(member)}, which is the largest that came"
                yield violated(update.step, "number-made-up", expected, f"{number}")


@check("CSDB-46", of="received")
def nothing_is_lost_by_what_comes(view: PeerView) -> Iterator[Observation]:
    """The clock of a record that stays knows what it did before another version of it came."""
    for fate, step, clock in merges(view):
        if fate.left == PRESENT:
            missing = lacks(clock, fate.meeting.there.clock, view.peer_id)
            expected, seen = _of(view, missing, clock)
            yield judged(
                step,
                "known-numbers-lost",
                missing is None,
                f"{expected}, as before step {fate.meeting.step.index}",
                seen,
            )


@check("CSDB-52", of="received")
def conflicts_merge_clocks(view: PeerView) -> Iterator[Observation]:
    """The clock of what comes of a conflict knows all that the clocks of the two did."""
    for fate, step, clock in merges(view):
        meeting = fate.meeting
        found = (lacks(clock, update.clock, view.peer_id) for update in (meeting.incoming, meeting.there))
        missing = next((each for each in found if each is not None), None)
        expected, seen = _of(view, missing, clock)
        yield judged(
            step,
            "clocks-not-merged",
            missing is None,
            f"{expected}: it was in conflict at step {meeting.step.index}",
            seen,
        )


def _of(view: PeerView, missing: tuple[str, int] | None, clock: object) -> tuple[str, str]:
    """What a clock should have, and what it has."""
    if missing is None:
        return "", ""
    member, number = missing
    has = clock.get(member, 0) if isinstance(clock, dict) else 0
    return f"{number} for {view.name(member)} at least", f"{has}"


@check("CSDB-47", of="received sent")
def passing_on_changes_nothing(view: PeerView) -> Iterator[Observation]:
    """What is passed on has the writer, the revision and the update_time that it came with."""
    came: dict[Version, list[Update]] = {}
    for arrival in view.arrivals:
        if arrival.update.version is not None:
            came.setdefault(arrival.update.version, []).append(arrival.update)
    for update in view.sent:
        if update.by is None or update.by == view.peer_id or update.version is None:
            continue
        originals = came.get(update.version, [])
        if not originals:
            every = (u for same in came.values() for u in same)
            alike = [u for u in every if u.uuid == update.uuid and same_content(u.content, update.content)]
            if alike and max_number(alike[0]) <= SAFE_INTEGER:
                expected = f"revision {alike[0].rev} of {view.name(alike[0].by)}, as it came"
                code = "revision-changed" if any(u.by == update.by for u in alike) else "writer-changed"
                yield violated(update.step, code, expected, f"revision {update.rev} of {view.name(update.by)}")
        elif update.time is not None:
            # Who has lost its store may use a revision again.
            times = [original.time for original in originals if original.time is not None]
            if times:
                yield judged(
                    update.step, "time-changed", update.time in times, f"{times[-1].text}, as it came", update.time.text
                )


# ---- How they are compared -------------------------------------------------------------------------------------------


@check("CSDB-41", pb.CAPABILITY_CLOCK_CODEC, pb.CAPABILITY_WIDE_INTEGERS)
def wide_numbers_differ(view: PeerView) -> Iterator[Observation]:
    """Numbers above 2^53 that differ are told apart."""
    yield from _comparisons(view, "wide-numbers-confused", lambda each: each.about == "wide")


@check("CSDB-43", pb.CAPABILITY_CLOCK_CODEC)
def who_is_absent_has_zero(view: PeerView) -> Iterator[Observation]:
    """A peer that is not in a vector clock has zero in it."""
    yield from _comparisons(view, "absent-not-zero", lambda each: each.about == "absent")


@check("CSDB-48", pb.CAPABILITY_CLOCK_CODEC)
def equal_clocks_are_before_each_other(view: PeerView) -> Iterator[Observation]:
    """Of two equal vector clocks each is before the other."""
    yield from _comparisons(view, "equal-not-before", lambda each: each.about == "numbers" and all(each.right))


@check("CSDB-50", pb.CAPABILITY_CLOCK_CODEC)
def smaller_clocks_are_before(view: PeerView) -> Iterator[Observation]:
    """Of two vector clocks of which one alone has a larger number, the other one is before it."""
    yield from _comparisons(
        view, "smaller-not-before", lambda each: each.about == "numbers" and any(each.right) and not all(each.right)
    )


@check("CSDB-51", pb.CAPABILITY_CLOCK_CODEC)
def concurrent_clocks_are_not_before(view: PeerView) -> Iterator[Observation]:
    """Of two vector clocks each with a larger number neither is before the other."""
    yield from _comparisons(view, "concurrent-before", lambda each: each.about == "numbers" and not any(each.right))


def _comparisons(view: PeerView, code: str, concerns: Callable[[Compared], bool]) -> Iterator[Observation]:
    for each in filter(concerns, compared(view)):
        yield judged(each.step, code, each.said == each.right, WORDS[each.right], WORDS[each.said])
