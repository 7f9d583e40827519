"""Checks of what the application of a peer changes: commands that succeed, and the numbering and sending of changes."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterator
from functools import reduce
from itertools import accumulate, chain, pairwise
from operator import or_

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.peer import iso
from sds_harness.clearskies.trace import Step

from ....judging.judgement import Observation, observe_met, observe_outcome, observe_violation
from ....judging.view_cache import cache_per_view
from ..register import check
from ..view.clocks import find_grown_clocks, find_replaced_versions, find_smaller_number
from ..view.facts import (
    COMMANDS,
    Change,
    Update,
    equal,
    grouped,
    has_wide_numbers,
    quoted,
    renames_in_place,
    same_content,
)
from ..view.knowledge import SAFE_INTEGER, fits_limits
from ..view.meetings import find_key_meetings
from ..view.peer_view import PeerView, Successive
from ..view.replication import find_repeated_version

_OF_A_KEY = 1_000
"""Minimum number of characters of a key that every implementation must accept."""
_MANY_UUIDS = 40
"""In this number of random uuids, the probability that a given bit is equal in all of them is below 10^-11."""

# ---- Commands --------------------------------------------------------------------------------------------------------

_REFUSED = {"put": "write-refused", "rename": "rename-refused", "delete": "deletion-refused"}
"""Maps each command to the code of the violation if a peer refuses the command."""


@check("CSDB-02", of="writes")
def writers_can_write(view: PeerView) -> Iterator[Observation]:
    """The application of a read-write peer can write and delete any record."""
    for step in view.steps:
        if step.command not in COMMANDS or step.answer not in ("effects", "rejected"):
            continue
        if step.effects is not None:
            yield observe_met(step)
        elif (
            (what := _describe_possible_command(view, step))
            and not view.in_conflict(step)
            and not _counters_may_overflow(view, step)
        ):
            yield observe_violation(
                step,
                _REFUSED[step.command],
                f"permission {what}: the peer is read-write",
                f"refused: {step.refusal}",
            )


@check("CSDB-03", of="reads-only")
def readers_cannot_write(view: PeerView) -> Iterator[Observation]:
    """A read-only peer refuses all changes of its application."""
    for step in view.steps:
        if step.command in COMMANDS and step.reply is not None:
            made = step.uuid or any(update.by == view.peer_id for update in view.sent)
            seen = f"{step.uuid!r} is changed" if step.uuid else "the peer sends the change"
            yield observe_outcome(step, "reader-writes", not made, "a refusal, because the peer is read-only", seen)


def _counters_may_overflow(view: PeerView, step: Step) -> bool:
    """Return whether received updates have a revision or clock number of the peer above 2^53: counters may be full."""
    arrived = [update for update in view.received if update.step.index < step.index]
    own = [update.rev or 0 for update in arrived if update.by == view.peer_id]
    own += [(update.clock or {}).get(view.peer_id, 0) for update in arrived]
    return max(own, default=0) > SAFE_INTEGER


def _count_clock_members(view: PeerView, step: Step) -> int:
    """The largest possible number of members of the vector clock of a change: a peer may have one clock for all records
    (CA-7).
    """
    arrived = (update.clock or {} for update in view.received if update.step.index < step.index)
    return len({view.peer_id}.union(*arrived))


def _describe_possible_command(view: PeerView, step: Step) -> str:
    """Return what a refused command was to do, if the command was certainly possible; "" if it may be impossible,
    because a key is missing or in use, a value is too large or not JSON, or a vector clock is full.
    """
    declared, members = view.trace.declaration, _count_clock_members(view, step)
    keys: dict[str, Change] = {}
    for change in view.changes:
        if change.step.index < step.index:
            keys.pop(change.old_key, None)
            keys |= {change.key: change} if change.kind != "delete" else {}
    command, taken = getattr(step.request, step.command), {arrival.update.key for arrival in view.arrivals}
    if step.command == "put":
        uuids: set[str | None] = {change.uuid for change in view.changes if change.step.index < step.index}
        uuids |= {arrival.update.uuid for arrival in view.arrivals}
        if command.uuid and command.uuid.lower() in uuids:
            return ""  # the application suggests a uuid that is in use
        fits = fits_limits(declared, command.value, members, command.key)
        return f"to write {command.key!r}" if fits and len(command.key) <= _OF_A_KEY else ""
    if command.key not in keys or command.key in taken or not view.is_undisturbed(keys[command.key], step):
        return ""
    if step.command == "delete":
        return f"to delete {command.key!r}" if fits_limits(declared, "null", members, command.key) else ""
    values = (change.value for change in view.changes if change.uuid == keys[command.key].uuid)
    written = max((json.dumps(value, ensure_ascii=False) for value in values), key=len)
    if not fits_limits(declared, written, members, command.new_key):
        return ""
    free = command.new_key not in keys.keys() | taken and len(command.new_key) <= _OF_A_KEY
    return f"to rename {command.key!r} to {command.new_key!r}" if free else ""


# ---- Content, keys and deletions -------------------------------------------------------------------------------------


@check("CSDB-07", of="changes")
def own_content_is_sent_as_written(view: PeerView) -> Iterator[Observation]:
    """Key and value are sent as the application wrote them."""
    for change in view.changes:
        update = change.shown
        if update is None or change.kind == "delete" or view.in_conflict(update.step):
            continue
        expected = f"the value {quoted(change.value)} of {change.key!r}"
        if update.deleted:
            if change.kind == "put" and update.step is change.step:
                yield observe_violation(update.step, "sent-as-deletion", expected, "it is deleted")
        elif update.key != change.key:
            if change.kind == "put" or update.key != change.old_key:  # CSDB-22 judges the old key
                yield observe_violation(update.step, "key-changed", f"the key {change.key!r}", f"{update.key!r}")
        elif change.kind == "put":
            met = "value" in update.members and equal(update.value, change.value)
            wide = has_wide_numbers(change.value) and not view.can(pb.CAPABILITY_WIDE_INTEGERS)
            seen = quoted(update.value) if "value" in update.members else "no value"
            yield observe_outcome(update.step, "value-changed", met, expected, seen, "CA-6" if wide else "")


@check("CSDB-07", of="own")
def own_versions_stay(view: PeerView) -> Iterator[Observation]:
    """A version that the application wrote is sent again with the same key and the same value."""
    for before, update in _successive_copies(view):
        if before.deleted or update.deleted or view.in_conflict(update.step) or _change_between(view, before, update):
            continue  # CSDB-10 judges reused revisions, and CSDB-13 judges deletions
        if view.known.same_era(before.step.index, update.step.index):
            code = "key-changed" if before.key != update.key else "value-changed"
            expected = f"{quoted(before.value)} under {before.key!r}, as sent at step {before.step.index}"
            seen = f"{quoted(update.value)} under {update.key!r}"
            yield observe_outcome(update.step, code, same_content(before.content, update.content), expected, seen)


@check("CSDB-07", of="own")
def nobody_else_writes(view: PeerView) -> Iterator[Observation]:
    """A peer creates no record that its application has not written, unless it resolves a conflict.

    A peer that counts sending and receiving in clocks (CA-15) finds more conflicts than the view, so a peer that
    separates records is not judged.
    """
    if view.resolution == pb.RESOLUTION_SEPARATE:
        return
    written = {change.uuid for change in view.changes} | {arrival.update.uuid for arrival in view.arrivals}
    asked = {getattr(s.request, s.command).key for s in view.steps if s.command in COMMANDS and s.effects is not None}
    for update in view.unexplained:
        strange = update.uuid not in written and update.key not in asked and not update.deleted
        strange = strange and view.opened_afresh(update.step) and not view.in_conflict(update.step)
        if strange and not any(map(renames_in_place, view.steps)):
            expected = "a record that the application has written"
            yield observe_violation(update.step, "record-made-up", expected, f"a record with the key {update.key!r}")


@check("CSDB-13", of="changes")
def deletions_say_so(view: PeerView) -> Iterator[Observation]:
    """A deletion is sent as an update of the record with the field deleted set to true."""
    for change in view.changes:
        update = change.shown
        if update is not None and change.kind == "delete":
            seen = f"deleted is {quoted(update.members['deleted'])}" if "deleted" in update.members else "no deleted"
            expected = f"deleted is true in the update of {change.key!r}"
            yield observe_outcome(update.step, "deletion-not-marked", update.deleted, expected, seen)


@check("CSDB-13", of="changes")
def deletions_keep_the_uuid(view: PeerView) -> Iterator[Observation]:
    """A deletion is sent with the uuid of the record that it deletes."""
    yield from _uuids_after(view, "delete", "uuid-changed-by-deletion", lambda change: repr(change.key))


def _uuids_after(view: PeerView, kind: str, code: str, name_of: Callable[[Change], str]) -> Iterator[Observation]:
    """Judge that changes of this ``kind`` keep the uuid of their record; ``name_of`` names the record in findings."""
    for change in view.changes:
        if change.kind == kind and change.shown is not None and change.shown.uuid is not None:
            before, seen = _uuid_of(view, change.old_key, change.step.index), change.shown.uuid
            # If the peer shows no uuids, a deletion that it sends after updates of others may delete another record.
            window = range(change.step.index, change.shown.step.index)
            certain = change.step.uuid or not any(arrival.step.index in window for arrival in view.arrivals)
            if before is not None and certain and not view.in_conflict(change.step):
                expected = f"{before!r}, the uuid of {name_of(change)}"
                yield observe_outcome(change.shown.step, code, seen == before, expected, f"{seen!r}")


@check("CSDB-22", of="changes shown")
def own_records_change_their_keys(view: PeerView) -> Iterator[Observation]:
    """A record that the application renames has its new key, and no record has the old one."""
    for change in view.changes:
        if change.kind != "rename" or change.shown is None or change.key == change.old_key:
            continue
        if change.shown.key in (change.key, change.old_key):  # CSDB-07 judges a key that is neither of the two
            met, expected = change.shown.key == change.key, f"the key {change.key!r}"
            yield observe_outcome(change.shown.step, "new-key-not-sent", met, expected, f"{change.shown.key!r}")
        later = (other for other in view.changes if other.step.index > change.step.index)
        again = min(
            (c.step.index for c in later if change.old_key in (c.key, c.old_key)), default=len(view.trace.steps) + 1
        )
        arrived = (a.step.index for a in view.arrivals if a.update.key == change.old_key)
        end = min([again, *(index for index in arrived if index > change.step.index)])
        expected = f"nothing under {change.old_key!r}, which was renamed at step {change.step.index}"
        for shown in (shown for shown in view.shown_states if change.step.index < shown.asked.index):
            same_store = view.known.same_era(change.step.index, shown.step.index)
            if shown.step.index >= end or not same_store or view.in_conflict(shown.step):
                break
            met = change.old_key not in shown.values
            yield observe_outcome(shown.step, "old-key-kept", met, expected, "a record is still present")


@check("CSDB-24", pb.CAPABILITY_OBSERVE, of="shown")
def keys_are_unique(view: PeerView) -> Iterator[Observation]:
    """The application sees at most one record with a key."""
    for shown in view.shown_states:
        if not shown.on_the_wire and view.in_conflict(shown.step):
            most = max((len(values) for values in shown.values.values()), default=0)
            yield observe_outcome(
                shown.step, "key-twice", most <= 1, "one record with each key", f"{most} with one key"
            )


# ---- UUIDs -----------------------------------------------------------------------------------------------------------


@check("CSDB-08", of="changes")
def uuids_have_128_bits(view: PeerView) -> Iterator[Observation]:
    """A new record has a uuid of 32 hex digits."""
    for change, update in _first_shown(view):
        met, expected = update.uuid is not None, f"32 hex digits for {change.key!r}"
        yield observe_outcome(update.step, "uuid-malformed", met, expected, quoted(update.members.get("uuid")))


@check("CSDB-08", of="changes")
def uuids_are_of_one_record(view: PeerView) -> Iterator[Observation]:
    """No two records have the same uuid, even if different peers created them."""
    makers: dict[str, tuple[str, Change]] = {}
    for other in view.everybody:
        for change, update in _first_shown(other):
            if update.uuid is None:
                continue
            name, first = makers.setdefault(update.uuid, (other.party.name, change))
            if name == other.party.name and _is_revived(other, first, change):
                continue  # a deleted record may be written again with its uuid (CA-13)
            if other is view:
                expected, seen = f"a new uuid for {change.key!r}", f"the uuid of {first.key!r} of {name}"
                yield observe_outcome(update.step, "uuid-reused", first is change, expected, seen)


@check("CSDB-08", of="changes shown")
def uuids_are_not_those_of_other_peers(view: PeerView) -> Iterator[Observation]:
    """A new record does not get the uuid of a record of another peer, even if that record is deleted or hidden.

    A peer may drop a record that loses its key (CA-8), so only records that the peer has shown before are considered.
    """
    own = {change.uuid: change.step.index for change in reversed(view.changes)}
    states = [shown.step.index for shown in view.shown_states]
    for change, update in _first_shown(view):
        before = bisect_left(states, change.step.index)
        shown = view.shown_states[before - 1] if before else None
        if shown is None or not view.known.same_era(shown.step.index, change.step.index):
            continue
        there = shown.records.get(str(update.uuid))
        if there is None or own[change.uuid] == change.step.index:
            seen = f"that of {there.key!r} of {view.name(there.by)}" if there is not None else ""
            yield observe_outcome(update.step, "uuid-reused", there is None, f"a new uuid for {change.key!r}", seen)


@check("CSDB-08", of="changes")
def uuids_are_random(view: PeerView) -> Iterator[Observation]:
    """Of many new uuids, more than half of the bits vary: versions 4 and 7 of RFC 9562 have 122 and 74 random bits."""
    shown = ((change.step.request.put.uuid, update) for change, update in _first_shown(view))
    drawn = {int(update.uuid, 16): update for suggested, update in shown if update.uuid is not None and not suggested}
    if len(drawn) >= _MANY_UUIDS:
        first, *others = drawn
        varying = reduce(or_, (each ^ first for each in others)).bit_count()
        expected, seen = "128 random bits", f"{128 - varying} bits are the same in all {len(drawn)} uuids"
        yield observe_outcome(drawn[others[-1]].step, "uuid-not-random", varying > 64, expected, seen)


@check("CSDB-08", of="changes")
def uuids_stay(view: PeerView) -> Iterator[Observation]:
    """A record that is written again keeps its uuid."""
    for one, other in _changes_of_same_key(view):
        if one.uuid is not None and other.uuid is not None:
            expected = f"{one.uuid!r}, the uuid of {other.key!r}"
            yield observe_outcome(other.step, "uuid-changed", other.uuid == one.uuid, expected, f"{other.uuid!r}")


@check("CSDB-08", of="changes received")
def uuids_of_others_stay(view: PeerView) -> Iterator[Observation]:
    """A record of another peer that the application writes again keeps its uuid."""
    for change in view.changes:
        if change.kind != "put" or change.shown is None or change.shown.uuid is None:
            continue
        # A peer may read arrived bytes only at a tick.
        before = _uuid_of(view, change.key, view.quiet_before(change.step) + 1)
        there = view.known.at(before, change.step.index - 1) if before is not None else None
        update = there.update if there is not None else None
        surely = update is not None and update.by != view.peer_id and view.is_traced(update)
        # A second record with the key would be a conflict that the peer itself causes.
        conflict = view.in_conflict(view.trace.steps[change.step.index - 2])
        if surely and before == _uuid_of(view, change.key, change.step.index) and not conflict:
            expected, seen = f"{before!r}, the uuid of {change.key!r}", change.shown.uuid
            yield observe_outcome(change.shown.step, "uuid-changed", seen == before, expected, f"{seen!r}")


@check("CSDB-23", of="changes")
def records_stay_what_they_are(view: PeerView) -> Iterator[Observation]:
    """A record that is renamed keeps its uuid."""
    yield from _uuids_after(view, "rename", "uuid-changed-by-rename", lambda change: "the record")


@cache_per_view
def _first_shown(view: PeerView) -> list[tuple[Change, Update]]:
    """Pairs of a change that certainly created a record and the update that was sent for it."""
    keys = ((arrival.step.index, arrival.update.key) for arrival in view.arrivals)
    arrived = deque(sorted((index, key) for index, key in keys if key is not None))
    live: set[str] = set()
    taken: set[str] = set()
    out = []
    for change in view.changes:
        while arrived and arrived[0][0] < change.step.index:
            taken.add(arrived.popleft()[1])
        if change.kind == "put" and change.key not in live and change.key not in taken and change.shown is not None:
            out.append((change, change.shown))
        live -= {change.old_key} if change.kind != "put" else set()
        live |= {change.key} if change.kind != "delete" else set()
    return out


def _is_revived(view: PeerView, first: Change, change: Change) -> bool:
    """Return whether a record was deleted and created again under its key by a later change."""
    if first.key != change.key:
        return False
    between = range(first.step.index + 1, change.step.index)
    kinds = {c.kind for c in view.changes if c.step.index in between and change.key in (c.key, c.old_key)}
    return "delete" in kinds and "rename" not in kinds


def _changes_of_same_key(view: PeerView) -> Iterator[tuple[Update, Update]]:
    """Pairs of sent updates: the first for a write of a key, the second for the application's next write of this key.

    Yields only pairs between which no other peer can have changed the record or used the key.
    """
    last: dict[str, Change] = {}
    taken = {(arrival.update.key, arrival.update.uuid) for arrival in view.arrivals}
    for change in view.changes:
        if change.kind == "put" and change.shown is not None:
            before = last.get(change.key)
            # A second record with the key would be a conflict that the peer itself causes.
            conflict = view.in_conflict(view.trace.steps[change.step.index - 2])
            if before is not None and before.shown is not None and not conflict:
                others = any(key == change.key and uuid != before.uuid for key, uuid in taken)
                if not others and view.is_undisturbed(before, change.step):
                    yield before.shown, change.shown
            last[change.key] = change
        elif change.kind != "put":
            last.pop(change.old_key, None)
            last.pop(change.key, None)


def _uuid_of(view: PeerView, key: str, index: int) -> str | None:
    """The uuid of the one record that surely has a key before the step with that index."""
    there = ((uuid, each.update) for uuid, each in view.known.all_at(index - 1))
    found = [uuid for uuid, update in there if update is not None and not update.deleted and update.key == key]
    return found[0] if len(found) == 1 else None


# ---- Writers, revisions and times ------------------------------------------------------------------------------------


@check("CSDB-10", of="own")
def revisions_grow_over_all_records(view: PeerView) -> Iterator[Observation]:
    """The revision grows from one local change to the next, over all records."""
    for both in view.successive_changes:
        place, met = both.one.step.index, both.after > both.before
        if view.known.same_era(place, both.other.step.index):
            expected = f"more than {both.before}, the revision of the previous change (step {place})"
            yield observe_outcome(both.other.step, "revision-not-higher", met, expected, f"{both.after}")


@check("CSDB-10", of="changes received")
def revisions_exceed_those_that_came_back(view: PeerView) -> Iterator[Observation]:
    """A change has a higher revision than the own changes that other peers sent to the peer before.

    Only these show a peer that has lost its store how far it had counted. Peers that know a higher revision never
    receive a change with a lower one.
    """
    sent = {update.version: update.step for update in reversed(view.own)}
    came = [
        a for a in view.arrivals if a.update.by == view.peer_id and a.outcome in ("new", "newer", "older", "present")
    ]
    back = [a for a in came if a.update.version not in view.unaccepted and (a.update.rev or 0) <= SAFE_INTEGER]
    for change in view.changes if back else ():
        update = change.shown
        if update is None or update.rev is None or not change.is_in(update):
            continue
        processed = (a for a in back if a.step.index <= view.quiet_before(change.step))
        before = [a.update for a in processed if view.known.same_era(a.step.index, change.step.index)]
        lost = [
            u for u in before if u.version not in sent or not view.known.same_era(sent[u.version].index, u.step.index)
        ]
        if lost:
            last = max(lost, key=lambda each: each.rev or 0)
            expected = f"more than {last.rev}, the revision of a change that came back at step {last.step.index}"
            yield observe_outcome(
                update.step, "revision-not-higher", update.rev > (last.rev or 0), expected, f"{update.rev}"
            )


@check("CSDB-10", of="changes sent")
def revisions_are_of_one_change(view: PeerView) -> Iterator[Observation]:
    """A change is not sent with the revision of an earlier change of the same record."""
    for before, update in _successive_copies(view):
        change = None if same_content(before.content, update.content) else _change_between(view, before, update)
        if change is not None and not view.in_conflict(update.step):  # a resolution need not be a change (CA-8)
            expected = f"a new revision for the change of {change.key!r} at step {change.step.index}"
            seen = f"revision {update.rev}, which was already sent at step {before.step.index}"
            yield observe_violation(update.step, "revision-reused", expected, seen)


def _successive_copies(view: PeerView) -> Iterator[tuple[Update, Update]]:
    """Pairs of successive sent updates that repeat one version which the peer itself wrote."""
    sent = grouped((u for u in view.sent if u.by == view.peer_id and u.version is not None), lambda u: u.version)
    return chain.from_iterable(map(pairwise, sent.values()))


def _change_between(view: PeerView, before: Update, update: Update) -> Change | None:
    """The first local change whose content is in ``update`` but not in ``before``, an earlier sent update."""
    if not view.known.same_era(before.step.index, update.step.index):
        return None  # a peer that has lost its store may reuse a revision
    made = (change for change in view.changes if before.step.index < change.step.index <= update.step.index)
    return next((change for change in made if change.is_in(update) and not change.is_in(before)), None)


@check("CSDB-11", pb.CAPABILITY_VIRTUAL_CLOCK, of="changes")
def times_are_those_of_changes(view: PeerView) -> Iterator[Observation]:
    """update_time is the time of the change, to the second. Later times are accepted in some cases.

    update_time may be later if the previous version has a later time, or if the peer sends the change later. It may
    also be one second later than that of the peer's previous change, even if that change was never sent (CA-8).
    """
    indices = [step.index for step in view.steps]
    latest_ms = [*accumulate((step.now_ms for step in view.steps), max)]
    others = sorted((u.step.index, u.time.seconds + 1) for u in (*view.own, *view.received) if u.time is not None)
    latest_s = [0, *accumulate((seconds for _, seconds in others), max)]
    for number, change in enumerate(view.changes):
        update = change.shown
        if update is None or update.time is None or not change.is_in(update) or view.in_conflict(update.step):
            continue
        begin, end = bisect_left(indices, change.since), bisect_right(indices, update.step.index)
        least = min(step.now_ms for step in view.steps[begin:end]) // 1_000 - 1
        most = latest_ms[end - 1] // 1_000 + 1
        before = bisect_left(others, (update.step.index, 0))
        latest = max(most, latest_s[before]) + number
        met, expected = least <= update.time.seconds <= latest, f"the time of the change, {iso(change.step.now_ms)}"
        yield observe_outcome(update.step, "wrong-time", met, expected, update.time.text)


@check("CSDB-11", pb.CAPABILITY_VIRTUAL_CLOCK, of="changes")
def fractions_are_those_of_changes(view: PeerView) -> Iterator[Observation]:
    """If an update_time has a fraction, it is the time of the change, to the digits of the fraction.

    A peer may write a time that is later than the clock, if earlier updates have later times. So only the first change
    of a peer is judged, before it has received an update.
    """
    for change in view.changes[:1]:
        update = change.shown
        if update is None or update.time is None or not update.time.fraction or not change.is_in(update):
            continue
        if any(other.step.index < update.step.index for other in view.received):
            continue
        unit = max(1, 1_000 // 10 ** len(update.time.fraction))
        until = [step.now_ms for step in view.steps if change.since <= step.index <= update.step.index]
        written = update.time.seconds * 1_000 + int(float(f"0.{update.time.fraction}") * 1_000)
        met = min(until) - unit <= written <= max(until) + unit
        expected = f"the time of the change, {iso(change.step.now_ms)}"
        yield observe_outcome(update.step, "wrong-time", met, expected, update.time.text)


@check("CSDB-25", of="own")
def revisions_start_with_one(view: PeerView) -> Iterator[Observation]:
    """The first local change has the revision 1 or 2."""
    yield from _first_revision(view, after_others=False)


@check("CSDB-26", of="own")
def revisions_count_on(view: PeerView) -> Iterator[Observation]:
    """The revision grows by one from one local change to the next."""
    for both in view.successive_changes:
        if not _is_interrupted(view, both):
            yield from _judge_growth(view, both, "revision-skipped")
        again = both.after <= both.before and both.one.uuid != both.other.uuid
        opened = view.opened_before(both.other.step.index) > both.one.step.index
        if again and opened and view.known.same_era(both.one.step.index, both.other.step.index):
            expected = f"a revision above {both.before}, which was sent at step {both.one.step.index}"
            yield observe_violation(both.other.step, "revision-reused", expected, f"{both.after}, of another record")


@check("CSDB-26", pb.CAPABILITY_OBSERVE, of="own received shown")
def what_changes_nothing_does_not_count(view: PeerView) -> Iterator[Observation]:
    """A conflict that the peer resolves without a change of its own uses no revision.

    A peer may resolve a conflict by a change (CA-8). Then the skipped revision is on a record in the observed state, so
    only revisions that are on no record are judged.
    """
    for both in view.successive_changes:
        before, after = both.before, both.after
        between = range(both.one.step.index + 1, both.other.step.index)
        met = [arrival for arrival in view.arrivals if arrival.step.index in between]
        done = {step.command for step in view.steps if step.index in between}
        shown = [
            s for s in view.shown_states if not s.on_the_wire and met and met[0].step.index < s.asked.index in between
        ]
        alone = both.other.step.command == "put" and done <= {"receive", "tick", "observe"}
        if len(met) != 1 or not (alone and shown):
            continue
        if met[0].outcome != "conflict" and all(met[0] is not meeting.arrival for meeting in find_key_meetings(view)):
            continue
        last = shown[-1]
        processed = last.as_of.index >= met[0].step.index
        later = [step for step in view.steps if last.step.index < step.index < both.other.step.index]
        if not processed or not view.resolves_by_time or any(step.command != "observe" for step in later):
            continue
        own = {seen.rev for seen in last.records.values() if seen.by == view.peer_id}
        own |= {update.rev for update in view.own}
        if all(revision not in own for revision in range(before + 1, after)):
            expected = (
                f"revision {before + 1}, after {before} at step {both.one.step.index}: there was no change in between"
            )
            yield observe_outcome(both.other.step, "revision-skipped", after == before + 1, expected, f"{after}")


@check("CSDB-27", of="changes")
def own_changes_have_its_name(view: PeerView) -> Iterator[Observation]:
    """In a local change, last_updated_by is the ID of the peer."""
    for change in view.changes:
        foreign = (u for u in view.sent if u.by not in (None, view.peer_id))
        copies = [u for u in foreign if u.step is change.step and change.is_in(u)]
        if change.shown is not None:
            yield observe_met(change.shown.step)
        elif copies:
            expected = f"a change by {view.party.name}"
            yield observe_violation(copies[0].step, "wrong-writer", expected, f"one by {view.name(copies[0].by)}")


@check("CSDB-28", of="own received")
def changes_of_others_do_not_count(view: PeerView) -> Iterator[Observation]:
    """The revision grows by one from change to change, however many changes of others arrive in between."""
    yield from _first_revision(view, after_others=True)
    for update in view.unexplained:
        original = find_repeated_version(view, update)
        if original is not None and original.rev != update.rev:  # CSDB-09 judges kept revisions
            expected = f"{view.named(original)} relayed under the revision with which it was received"
            yield observe_violation(
                update.step,
                "counted-as-own",
                expected,
                f"the content of that update under the peer's own revision {update.rev}",
            )
    for both in view.successive_changes:
        between = range(both.one.step.index, both.other.step.index)
        if _is_interrupted(view, both) and not _received_own_change(view, between, both.before):
            yield from _judge_growth(view, both, "others-counted")


def _first_revision(view: PeerView, *, after_others: bool) -> Iterator[Observation]:
    """Judge that the first change has revision 1 or 2 (CA-4).

    With ``after_others``, the change is judged only if updates arrived before it; else only if none did."""
    for change in view.changes[:1]:
        if change.shown is None or not change.is_in(change.shown) or change.shown.rev is None:
            continue  # CSDB-27 or CSDB-07 judges the change, or only a later version was sent
        seen = change.shown.rev
        lower = {update.rev for update in view.own if (update.rev or 0) < seen}  # a rename may be sent as two updates
        arrived = any(arrival.step.index < change.step.index for arrival in view.arrivals)
        alone = view.opened_afresh(change.step) and not view.in_conflict(change.shown.step)
        # A rename to the same key may have used a revision, although the peer did not send the rename.
        until = (step for step in view.steps if step.index < change.shown.step.index)
        alone = alone and not any(map(renames_in_place, until))
        if alone and arrived is after_others and not _received_own_change(view, range(change.step.index), 0):
            first = seen - len(lower)
            code = "first-revision-too-high" if first > 2 else "first-revision-zero"
            code = "others-counted" if after_others else code
            met = first <= 2 if after_others else first in (1, 2)
            yield observe_outcome(change.step, code, met, "revision 1 or 2 for the first change", f"{seen}")


def _received_own_change(view: PeerView, when: range, known: int) -> bool:
    """Did the peer receive, in the steps ``when``, a change in its own name with a revision above ``known``?

    The peer may continue from that revision: no revision may be used twice, and the peer may have lost its changes.
    """
    return any(
        a.step.index in when and a.update.by == view.peer_id and (a.update.rev or 0) > known for a in view.arrivals
    )


def _is_interrupted(view: PeerView, both: Successive) -> bool:
    """Return whether an update arrived between two changes."""
    return any(both.one.step.index < a.step.index < both.other.step.index for a in view.arrivals)


def _judge_growth(view: PeerView, both: Successive, code: str) -> Iterator[Observation]:
    """Judge that the revision grew by no more than the changes in between explain. A rename may use two revisions."""
    before, after, most = both.before, both.after, both.most
    if most is not None and after > before:  # CSDB-10 judges revisions that do not grow
        if any(before <= (update.rev or 0) <= after + 1 for update in view.unexplained):
            return  # the number of revisions that an unexplained update used is unknown
        if after > before + 1:
            shown = {update.rev for update in view.own if both.one.step.index <= update.step.index}
            most += sum(before < revision < after for revision in shown if revision is not None)
        upper = f" to {before + most}" if most > 1 else ""
        expected = f"revision {before + 1}{upper}, after {before} at step {both.one.step.index}"
        yield observe_outcome(both.other.step, code, after <= before + most, expected, f"{after}")


# ---- Vector clocks ---------------------------------------------------------------------------------------------------


@check("CSDB-43", of="own")
def clocks_start_with_zero(view: PeerView) -> Iterator[Observation]:
    """The peer's own number in a clock is not larger than the number of events so far."""
    for update in view.own:
        if update.clock is not None and view.opened_afresh(update.step):
            number, most = update.clock.get(view.peer_id, 0), _events_until(view, update)
            expected = f"an own number of at most {most}, by the number of changes, sent records and received records"
            yield observe_outcome(update.step, "clock-starts-too-high", number <= most, expected, f"{number}")


@check("CSDB-44", of="changes sent")
def changes_count(view: PeerView) -> Iterator[Observation]:
    """In the clock of a change, the writer's number is larger than in all earlier sent versions of the record."""
    for update in view.own:
        if update.clock is not None:
            met, expected = view.peer_id in update.clock, f"a vector clock that counts the change of {view.party.name}"
            yield observe_outcome(update.step, "own-number-missing", met, expected, quoted(dict(update.clock)))
    bases = (
        (first, _own_number(view, base)) for first, base in find_replaced_versions(view) if base.by != view.peer_id
    )
    larger = [(first, most) for first, most in bases if 0 < most <= SAFE_INTEGER]
    larger += [
        (each.first, max(_own_number(view, update) for update in each.before)) for each in find_grown_clocks(view)
    ]
    for first, most in larger:
        number, expected = _own_number(view, first), f"an own number above {most} in the clock of {view.named(first)}"
        yield observe_outcome(first.step, "change-not-counted", number > most, expected, f"{number}")


@check("CSDB-44", pb.CAPABILITY_OBSERVE, of="changes shown")
def changes_count_at_once(view: PeerView) -> Iterator[Observation]:
    """From one observed state to the next, the peer's own number in the clock of a changed record grows."""
    for one, other in pairwise(shown for shown in view.shown_states if not shown.on_the_wire):
        between, me = range(one.step.index + 1, other.step.index), view.peer_id
        arrived = {arrival.update.uuid for arrival in view.arrivals if arrival.step.index in between}
        made = [change for change in view.changes if change.step.index in between and change.uuid not in arrived]
        for change in made if view.known.same_era(one.step.index, other.step.index) else ():
            seen, then = one.records.get(change.uuid), other.records.get(change.uuid)
            if not (seen and then and seen.clock and then.clock):
                continue
            if not same_content(seen.content, then.content):  # else the change need not count
                before, after = seen.clock.get(me, 0), then.clock.get(me, 0)
                expected = f"an own number above {before} in the clock of {change.key!r}"
                yield observe_outcome(other.step, "change-not-counted", after > before, expected, f"{after}")


@check("CSDB-45", of="changes sent")
def sending_counts(view: PeerView) -> Iterator[Observation]:
    """From one sent change of a record to the next, the peer's own number in the record's clock grows by at least two.

    The change increments the number, and so does sending it. If a peer sends a superseded version again, it need not
    increment the number.
    """
    for each in find_grown_clocks(view):
        last = each.before[0]
        before, after = _own_number(view, last), _own_number(view, each.first)
        if after > before and not each.overtaken:
            expected = f"an own number of at least {before + 2}: revision {last.rev} was sent at step {last.step.index}"
            yield observe_outcome(
                each.first.step, "sending-not-counted", after >= before + 2, expected, f"{after}", "CA-15"
            )


@check("CSDB-46", of="changes received")
def clocks_of_changes_know_the_version_before(view: PeerView) -> Iterator[Observation]:
    """The clock of a change has no smaller number than the clock of the previous version."""
    for first, base in find_replaced_versions(view):
        if base.by == view.peer_id and set(base.clock or {}) <= {view.peer_id}:
            continue  # CSDB-44 judges clocks that have only the own number
        lost, seen = find_smaller_number(view, first.clock or {}, base.clock)
        code = "known-numbers-lost" if base.by == view.peer_id else "incoming-numbers-lost"
        yield observe_outcome(first.step, code, not lost, f"{lost}: {view.named(base)} was present", seen)


def _events_until(view: PeerView, update: Update) -> int:
    """The largest number that the peer may give itself in the clock of an update.

    Each change, sent record and received record increments the number by at most two, because some peers increment it
    for the event and again when they send. The peer's largest number in received clocks is added.
    """
    index = update.step.index
    made = max(update.rev or 0, bisect_right(view.changes, index, key=lambda change: change.step.index))
    sent = bisect_right(view.sent, index, key=lambda other: other.step.index)
    arrived = bisect_right(view.received, index, key=lambda other: other.step.index)
    return 2 * (made + sent + arrived) + max((_own_number(view, other) for other in view.received[:arrived]), default=0)


def _own_number(view: PeerView, update: Update) -> int:
    return (update.clock or {}).get(view.peer_id, 0)
