"""Checks of arriving updates: a peer accepts or refuses them, and relays them unchanged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.clubs import READ_WRITE
from sds_harness.clearskies.trace import Step

from ....judging.judgement import Observation, observe_met, observe_outcome, observe_violation
from ..register import Judgements, check, check_several
from ..view.clocks import find_shown_clocks, find_smaller_number, find_wide_numbers
from ..view.facts import (
    RecordVersion,
    Shown,
    Update,
    describe_record,
    grouped,
    has_wide_numbers,
    has_zeros,
    keys_in_command,
    quoted,
    same_content,
)
from ..view.keys import find_confused_record, find_false_conflicts, has_given_its_key_away
from ..view.knowledge import SAFE_INTEGER, Arrival, is_made_by_reader
from ..view.meetings import uuids_with_key
from ..view.peer_view import AFTER_DOUBT, PeerView, Proof
from ..view.replication import VersionCopy, find_copies, find_repeated_version


def _is_wide(update: Update) -> bool:
    return update.largest_integer > SAFE_INTEGER


def _change_code(seen: Update | RecordVersion, original: Update) -> str:
    """The code of the violation if a copy of a record has another key or another value than the original."""
    return "key-changed" if seen.key != original.key else "value-changed"


def _wide_numbers_position(view: PeerView, update: Update) -> str:
    """The position on a value that may be changed because it has numbers above 2^53 (CA-6); "" for other values."""
    return "CA-6" if has_wide_numbers(update.value) and not view.can(pb.CAPABILITY_WIDE_INTEGERS) else ""


# ---- Accepted updates ------------------------------------------------------------------------------------------------


def _is_ordinary(view: PeerView, arrival: Arrival) -> bool:
    """Return whether an update is ordinary: it has an update_time in milliseconds (or the peer wrote it), no wide
    numbers, no zeros, and arrived in one piece. CSDB-11, CSDB-25, CSDB-37, CSDB-41 and CSDB-43 judge all other updates.
    """
    update = arrival.update
    known_form = update.in_milliseconds or update.by == view.peer_id
    return known_form and not (_is_wide(update) or view.is_reassembled(arrival) or has_zeros(update))


def _is_kept(proof: Proof) -> bool:
    """Does the peer show the record, and not as deleted? CSDB-22 judges a record that keeps its earlier key."""
    arrival, seen, before = proof.arrival, proof.seen, proof.arrival.before
    if not (arrival.due and proof.is_shown) or seen is None or arrival.update.deleted or seen.deleted:
        return False
    return before is None or before.deleted or not seen.key == before.key != arrival.update.key


def _is_renamed(proof: Proof) -> bool:
    """Does an update change the key of a record that the peer shows?"""
    update, before = proof.arrival.update, proof.arrival.before
    if proof.arrival.outcome != "newer" or before is None or before.deleted or update.deleted:
        return False
    return before.key != update.key and proof.is_shown


@check_several(
    *("CSDB-02", "CSDB-07", "CSDB-11", "CSDB-13", "CSDB-17", "CSDB-22", "CSDB-25", "CSDB-41", "CSDB-37", "CSDB-43"),
    needs=dict.fromkeys(("CSDB-25", "CSDB-41"), (pb.CAPABILITY_WIDE_INTEGERS,)),
    of="received shown",
)
def required_updates_are_accepted(view: PeerView) -> Judgements:
    """A peer accepts each update that it must accept, with its key and its value."""
    for proof in view.proofs:
        yield from _judge_acceptance(view, proof)
        yield from _judge_content(view, proof)


def _judge_acceptance(view: PeerView, proof: Proof) -> Judgements:
    """Judge that a peer accepts an update, for each reason for which it may have refused the update."""
    arrival, update = proof.arrival, proof.arrival.update
    new, wide, ordinary = arrival.outcome == "new", _is_wide(update), _is_ordinary(view, arrival)

    def judge(code: str, how: str = "received", position: str = "") -> Observation:
        expected = f"{view.named(update)}, {how} at step {arrival.step.index}"
        seen = view.describe_state(proof)
        return observe_outcome(proof.shown.step, code, proof.is_present, expected, seen, position)

    if ordinary and new and not update.deleted:
        yield "CSDB-02", judge("update-not-taken")
    if ordinary and arrival.due and update.deleted and not _is_deleted_by_itself(view, proof):
        yield "CSDB-02", judge("deletion-not-taken")
    if new and update.by != view.peer_id:  # a peer can always read the time format of its own updates
        how = f"with the update_time {update.members.get('update_time')!r}, received"
        if not update.in_utc:
            yield "CSDB-11", judge("zone-not-taken", how, "CA-18")
        elif not update.in_milliseconds:
            yield "CSDB-11", judge("precision-not-taken", how)
    if view.writes and view.link_of(update).level is READ_WRITE and arrival.due and not wide:
        if update.message.signature is None:
            yield "CSDB-17", judge("unsigned-not-taken", "received without a signature")
        else:
            yield "CSDB-17", judge("signed-not-taken", "received with a signature")
    if new and not wide and view.arrived_with_others(arrival):
        yield "CSDB-37", judge("update-of-several-skipped", "received together with others")
    elif new and not wide and view.is_reassembled(arrival):
        yield "CSDB-37", judge("update-in-pieces-skipped", "received in pieces, the last piece")
    # If the peer accepts no record at all, the zeros in an update are not the reason.
    if new and has_zeros(update) and view.accepted_any is not False:
        yield "CSDB-43", judge("zero-not-taken")
    if new and wide:
        expected, seen = view.named(update), view.describe_state(proof)
        if (update.rev or 0) > SAFE_INTEGER:
            code = "wide-revision-not-taken" if proof.seen is None else "wide-revision-changed"
            yield "CSDB-25", observe_outcome(proof.shown.step, code, proof.is_present, expected, seen, "CA-6")
        elif any(other.is_present and not _is_wide(other.arrival.update) for other in view.proofs):
            code = "wide-clock-not-taken"
            yield "CSDB-41", observe_outcome(proof.shown.step, code, proof.is_present, expected, seen, "CA-6")


def _is_deleted_by_itself(view: PeerView, proof: Proof) -> bool:
    """Does the peer show its own deletion of a record that was in conflict? A resolution may be a change (CA-8)."""
    seen = proof.seen
    in_conflict = proof.arrival.update.uuid in view.contested(proof.shown.step)
    return in_conflict and seen is not None and seen.deleted and seen.by == view.peer_id


def _judge_content(view: PeerView, proof: Proof) -> Judgements:
    """Judge that an accepted update has its key and its value, and is not deleted."""
    arrival, update, seen, step = proof.arrival, proof.arrival.update, proof.seen, proof.shown.step
    if seen is None:
        return
    content = f"{quoted(update.value)} under {update.key!r}, received at step {update.step.index}"
    shown = describe_record(seen)
    if _is_kept(proof):
        code, position = _change_code(seen, update), _wide_numbers_position(view, update)
        yield "CSDB-07", observe_outcome(step, code, proof.is_unchanged, content, shown, position)
    if arrival.due and not update.deleted and proof.is_shown and not _may_be_without_its_key(view, proof):
        expected = f"{view.named(update)}, not deleted (received at step {arrival.step.index})"
        yield "CSDB-13", observe_outcome(step, "deletion-made-up", not seen.deleted, expected, shown)
    if _is_renamed(proof):
        yield "CSDB-22", observe_outcome(step, "new-key-not-taken", seen.key == update.key, content, shown)


@check("CSDB-37", of="received shown")
def no_update_before_an_accepted_one_is_skipped(view: PeerView) -> Iterator[Observation]:
    """A peer that accepts a writer's update after an invalid message has accepted the writer's earlier updates as well.

    After an invalid message, a peer may stop reading a link.
    """
    times = Counter(arrival.update.version for arrival in view.arrivals)
    doubtful = (a.update for a in view.arrivals if a.excuse == AFTER_DOUBT and not a.prohibition)
    once = (update for update in doubtful if update.version is not None and times[update.version] == 1)
    for updates in grouped(once, lambda update: (update.by, update.link.number)).values():
        skipped = [u for u in updates if not (u.deleted or view.is_traced(u)) and _is_only_update(view, u)]
        for update in skipped:
            later = [u for u in updates if u.step.index >= update.step.index and (u.rev or 0) > (update.rev or 0)]
            states = ((shown, other) for shown in view.shown_states for other in later if _shows(shown, other))
            shown, other = next(states, (None, None))
            if shown is not None and other is not None:
                expected = f"{view.named(update)}, received before {view.named(other)}, which is present"
                yield observe_violation(shown.step, "update-before-skipped", expected, "no trace of it")


def _shows(shown: Shown, update: Update) -> bool:
    """Does a state that was read from the wire after the arrival of an update include the update?"""
    seen = shown.records.get(str(update.uuid)) if shown.on_the_wire else None
    return seen is not None and seen.version == update.version and shown.as_of.index > update.step.index


def _is_only_update(view: PeerView, update: Update) -> bool:
    """Is an update the only update of its record, and the only update with its key?"""
    others = [a.update for a in view.arrivals if a.update is not update]
    written = {key for change in view.changes for key in (change.key, change.old_key)}
    return update.key not in written and all(u.uuid != update.uuid and u.key != update.key for u in others)


@check("CSDB-42", of="received shown")
def revisions_may_differ_from_clocks(view: PeerView) -> Iterator[Observation]:
    """A peer accepts a record whose revision differs from its writer's number in the vector clock.

    A peer that waits for missing revisions violates CSDB-02. So a refused record after a gap in the revisions is a
    violation only if the peer accepted another record after a gap, whose revision equals the number.
    """
    alike: set[bool] = set()
    last: dict[object, int] = {}
    proofs = {id(proof.arrival): proof for proof in view.proofs}
    for arrival in view.arrivals:
        update = arrival.update
        after_gap = update.by in last and (update.rev or 0) > last[update.by] + 1
        last[update.by] = max(last.get(update.by, 0), update.rev or 0)
        if arrival.outcome != "new" or view.arrived_with_others(arrival) or _is_wide(update):
            continue
        number = (update.clock or {}).get(str(update.by), 0)
        if number == update.rev:
            alike |= {after_gap} if view.is_traced(update) else set()
        elif view.is_traced(update):
            yield observe_met(arrival.step)
        elif alike & {True, after_gap} and (proof := proofs.get(id(arrival))) is not None:
            expected = f"{view.named(update)}, although {view.name(update.by)} has {number} in the clock of the update"
            seen = f"{view.describe_state(proof)}; records with the writer's number as their revision are accepted"
            yield observe_violation(proof.shown.step, "revision-compared-with-clock", expected, seen)


def _may_lose_its_key(view: PeerView, uuid: str | None, step: Step) -> bool:
    """May a peer confuse the key of this record with the key of another record, and delete this record (CSDB-07,
    CSDB-22)?
    """
    return bool(find_confused_record(view, str(uuid), step)) or has_given_its_key_away(view, str(uuid), step)


def _may_be_without_its_key(view: PeerView, proof: Proof) -> bool:
    """May a peer show an update as deleted, because it confuses keys, or keeps the former key of the record?"""
    update, step = proof.arrival.update, proof.shown.step
    held = proof.arrival.held
    is_renamed = held is not None and all(before.key != update.key for before in held.candidates)
    if is_renamed and proof.seen is not None and proof.seen.key == update.key:
        return bool(find_confused_record(view, str(update.uuid), step))
    return _may_lose_its_key(view, update.uuid, step)


@check("CSDB-07", of="received shown")
def records_with_other_keys_stay(view: PeerView) -> Iterator[Observation]:
    """A record is not deleted because another record has a similar key."""
    for shown, update in _deleted_without_a_deletion(view):
        if other := find_confused_record(view, str(update.uuid), shown.step):
            expected = f"{view.named(update)}, in addition to the record with the key {other!r}"
            yield observe_violation(shown.step, "keys-confused", expected, "it is deleted")


@check("CSDB-07", pb.CAPABILITY_CONFLICT, of="received")
def records_with_other_keys_are_in_no_conflict(view: PeerView) -> Iterator[Observation]:
    """A conflict of two records is signalled only if they have the same key."""
    for found in find_false_conflicts(view):
        one, other = found.keys
        expected = f"no conflict of the records with the keys {one!r} and {other!r}"
        yield observe_violation(found.step, "keys-confused", expected, "one is signalled")


@check("CSDB-13", of="received shown")
def updates_delete_no_other_record(view: PeerView) -> Iterator[Observation]:
    """An update of one record does not delete another record."""
    for shown, update in _deleted_without_a_deletion(view):
        if not _may_lose_its_key(view, update.uuid, shown.step):
            expected = f"{view.named(update)}, not deleted"
            yield observe_violation(shown.step, "other-record-deleted", expected, "it is deleted")


@check("CSDB-13", of="changes shown")
def changes_delete_no_other_record(view: PeerView) -> Iterator[Observation]:
    """A record that the application wrote is not deleted by changes of other records."""
    touched: set[str | None] = {arrival.update.key for arrival in view.arrivals}
    touched.update(key for step in view.steps if step.command in ("delete", "rename") for key in keys_in_command(step))
    arrived = {arrival.update.uuid for arrival in view.arrivals}
    made = [change for change in view.changes if change.kind == "put" and change.key not in touched]
    for shown in view.shown_states if touched else ():
        for change in made:
            seen = shown.records.get(str(change.uuid)) if change.step.index < shown.asked.index else None
            there = seen is not None and seen.deleted and seen.key == change.key and change.uuid not in arrived
            if there and not _may_lose_its_key(view, change.uuid, shown.step):
                expected = f"{change.key!r}, which the application wrote at step {change.step.index}"
                yield observe_violation(shown.step, "other-record-deleted", expected, "it is deleted")


@check("CSDB-13", pb.CAPABILITY_OBSERVE, of="shown")
def keys_of_deleted_records_are_free(view: PeerView) -> Iterator[Observation]:
    """A record is shown although a deleted record had its key, whatever their update_times are (CA-13)."""
    for shown in view.shown_states:
        for update in _with_freed_keys(view, shown) if not shown.on_the_wire else ():
            seen = shown.records.get(str(update.uuid))
            met = seen is not None and not seen.deleted
            expected = f"{view.named(update)}: its key is free, because the other record with this key was deleted"
            yield observe_outcome(
                shown.step, "key-not-free", met, expected, "it is deleted" if seen else "it is absent"
            )


def _with_freed_keys(view: PeerView, shown: Shown) -> Iterator[Update]:
    """The records that a peer certainly accepted or wrote, and whose keys only deleted records had before."""
    known = dict(view.known.all_at(shown.step.index))
    for uuid, held in known.items():
        update = held.update
        if update is None or update.deleted or held.step.index >= shown.as_of.index or not view.is_traced(update):
            continue
        if any(update.key in (c.key, c.old_key) and c.step.index > held.step.index for c in view.changes):
            continue  # a change with an unknown uuid may be a change of this record
        others = [known.get(str(other)) for other in uuids_with_key(view, update.key) - {uuid}]
        gone = [other for other in others if other is not None and other.update is not None and other.update.deleted]
        if others and len(gone) == len(others):
            yield update


def _deleted_without_a_deletion(view: PeerView) -> Iterator[tuple[Shown, Update]]:
    """The states that show a version as deleted, although it never arrived as a deletion and was in no conflict.

    A peer that sees a conflict may send the version that lost as deleted (CA-8).
    """
    gone = {update.version for update in view.received if update.deleted}
    arrived = (arrival.update for arrival in view.arrivals)
    alive = {update.version: update for update in arrived if not update.deleted and update.version not in gone}
    for shown in view.shown_states:
        contested = view.contested(shown.step)
        for uuid, seen in shown.records.items():
            update = alive.get(seen.version) if seen.deleted and uuid not in contested else None
            if update is not None and view.has(uuid, seen.version, shown.step):
                yield shown, update


# ---- Refused updates -------------------------------------------------------------------------------------------------


@check_several(*("CSDB-03", "CSDB-06", "CSDB-16"), needs={"CSDB-16": (pb.CAPABILITY_READ_ONLY,)}, of="received")
def forbidden_updates_are_refused(view: PeerView) -> Judgements:
    """A peer neither keeps nor relays an update that it must refuse, and does not count its revision as known."""
    for arrival in view.forbidden_arrivals:
        update, signature = arrival.update, arrival.update.message.signature
        if is_made_by_reader(view.link_of(update), update):
            requirement, codes, position = "CSDB-03", ("reader-update-taken", "reader-update-counted"), ""
        elif signature is not None and update.message.signer is None:
            requirement, codes, position = "CSDB-06", ("forged-update-taken", "forged-update-counted"), ""
        elif signature is None and not view.writes:
            requirement, codes, position = "CSDB-16", ("unsigned-update-taken", "unsigned-update-counted"), "CA-17"
        else:
            continue
        if (found := _find_trace(view, arrival)) is not None:
            step, leak, counted = found
            origin = f"received at step {arrival.step.index}: {arrival.prohibition}"
            expected = f"no trace of {view.named(update)}, {origin}"
            yield requirement, observe_outcome(step, codes[counted], not leak, expected, leak, position)


def _find_trace(view: PeerView, arrival: Arrival) -> tuple[Step, str, bool] | None:
    """The step that shows whether the peer refused an update, the evidence that it did not ("" if it did), and whether
    this is a request that names the revision of the update as known. None if nothing shows it.
    """
    update, after = arrival.update, arrival.step.index
    sent = next((u for u in view.sent if u.step.index >= after and _is_copy(u, update)), None)
    others = any(a.update.by == update.by and a is not arrival for a in view.arrivals)
    asked = [r for r in view.asked if r.step.index > after and str(update.by) in (r.since or {})]
    asked = asked if update.by != view.peer_id else []  # a peer knows its own revisions without an update
    if sent is not None:
        return sent.step, f"a copy was sent to {view.name_other_end(view.link_of(sent))}", False
    if asked and not others and (asked[0].since or {})[str(update.by)] == update.rev:
        return asked[0].step, "a request for all updates after this update", True
    later = [shown for shown in view.shown_states if shown.as_of.index > after]
    has = (s for s in later if (seen := s.records.get(str(update.uuid))) and _is_copy(seen, update))
    if (there := next(has, None)) is not None:
        return there.step, "it is present", False
    return (later[0].step, "", False) if later else None


def _is_copy(one: Update | RecordVersion, update: Update) -> bool:
    """Return whether a message is a copy of an update.

    The content is compared, because a peer may by chance write other content under the same revision.
    """
    return one.version == update.version and same_content(one.content, update.content)


# ---- Relayed updates -------------------------------------------------------------------------------------------------


def _keeps_earlier_key(view: PeerView, copy: VersionCopy) -> bool:
    """Does a copy have the earlier key of its record, and did the peer never have the key of the original (CSDB-22)?"""
    original, before = copy.original, copy.arrival.held
    if copy.seen.key == original.key or before is None or all(each.key != copy.seen.key for each in before.candidates):
        return False
    states = (
        shown.records.get(str(original.uuid)) for shown in view.shown_states if shown.step.index < copy.step.index
    )
    there: list[Update | RecordVersion] = [seen for seen in states if seen is not None]
    there += [update for update in view.sent if update.step.index < copy.step.index]
    return all(seen.version != original.version or seen.key != original.key for seen in there)


@check_several(
    *("CSDB-07", "CSDB-13"),
    needs=dict.fromkeys(("CSDB-07", "CSDB-13"), (pb.CAPABILITY_CHANGED,)),
    of="received",
    signalled=True,
)
@check_several("CSDB-07", "CSDB-13", of="received", signalled=False)
def copies_equal_the_original(view: PeerView, *, signalled: bool) -> Judgements:
    """A copy of another peer's version equals the original, on the wire and in a Changed event."""
    for copy in find_copies(view):
        seen, original = copy.seen, copy.original
        if copy.signalled is not signalled:
            continue
        if seen.deleted == original.deleted and not _keeps_earlier_key(view, copy):
            met, position = same_content(seen.content, original.content), _wide_numbers_position(view, original)
            expected, code = _original_text(view, copy), _change_code(seen, original)
            yield "CSDB-07", observe_outcome(copy.step, code, met, expected, describe_record(seen), position)
        # A Changed event may report a hidden record as deleted.
        concerned = original.deleted or not signalled
        if concerned and not (seen.deleted and _may_lose_its_key(view, original.uuid, copy.step)):
            code = "deletion-made-up" if seen.deleted else "deletion-lost"
            text = "it is deleted" if seen.deleted else "it is not deleted"
            met = seen.deleted == original.deleted
            yield "CSDB-13", observe_outcome(copy.step, code, met, _original_text(view, copy), text)


def _original_text(view: PeerView, copy: VersionCopy) -> str:
    original = copy.original
    if original.deleted:
        return f"{view.named(original)}, as received at step {original.step.index}"
    return f"{quoted(original.value)} under {original.key!r}, as received at step {original.step.index}"


@check("CSDB-09", of="sent")
def writers_are_named(view: PeerView) -> Iterator[Observation]:
    """last_updated_by is the peer ID of the last writer, also in relayed updates."""
    theirs = {arrival.update.version for arrival in view.arrivals}
    mine = {update.version for update in view.unexplained}
    for update in view.sent:
        if "last_updated_by" not in update.members:
            continue  # CSDB-15 judges missing fields
        if update.by is None:
            seen = quoted(update.members["last_updated_by"])
            yield observe_violation(update.step, "writer-malformed", "the ID of a peer, 32 hex digits", seen)
        elif update.version in theirs:
            yield observe_met(update.step)
        elif update.version in mine and (original := find_repeated_version(view, update)) is not None:
            writer, place = view.name(original.by), original.step.index
            expected = f"{writer}, the writer of {original.key!r} (step {place})"
            yield observe_violation(update.step, "wrong-writer", expected, "the ID of the peer itself")


@check("CSDB-23", of="received sent")
def relayed_updates_keep_their_uuid(view: PeerView) -> Iterator[Observation]:
    """A relayed update keeps the uuid of its record, even if another record has the same key."""
    arrived = grouped((arrival.update for arrival in view.arrivals), lambda u: (u.by, u.rev))
    theirs = {(arrival.update.uuid, arrival.update.by) for arrival in view.arrivals}
    for update in view.sent:
        originals = arrived.get((update.by, update.rev), ()) if update.by not in (None, view.peer_id) else ()
        if update.uuid is None or (update.uuid, update.by) in theirs:
            continue  # the uuid was kept; CSDB-47 judges the revision
        original = next((each for each in originals if same_content(each.content, update.content)), None)
        if original is not None:
            expected = f"{original.uuid!r}, the uuid of {view.named(original)}, as received"
            yield observe_violation(update.step, "uuid-changed-by-relay", expected, f"{update.uuid!r}")


@check("CSDB-25", pb.CAPABILITY_WIDE_INTEGERS, of="received sent")
def wide_revisions_are_relayed(view: PeerView) -> Iterator[Observation]:
    """A relayed record keeps a revision above 2^53."""
    arrived = {arrival.update.version for arrival in view.arrivals}
    wide = [arrival.update for arrival in view.arrivals if (arrival.update.rev or 0) > SAFE_INTEGER]
    for update in view.sent if wide else ():
        for other in wide if update.version not in arrived else ():
            if (other.uuid, other.by) == (update.uuid, update.by) and same_content(other.content, update.content):
                expected = f"revision {other.rev}, as received"
                yield observe_violation(update.step, "wide-revision-changed", expected, f"{update.rev}", "CA-6")


@check("CSDB-41", of="received")
def wide_numbers_survive(view: PeerView) -> Iterator[Observation]:
    """A peer keeps a number above 2^53 in a vector clock."""
    arrived = find_wide_numbers(view)
    position = "" if view.can(pb.CAPABILITY_WIDE_INTEGERS) else "CA-6"
    for step, uuid, clock in find_shown_clocks(view) if arrived else ():
        for member, number in sorted(clock.items()):
            if (uuid, member) in arrived:
                most = max(arrived[uuid, member])
                expected = f"the number {most} for {view.name(member)}, as received"
                # The peer incremented the number exactly, so no digit was lost; CSDB-44 and CSDB-46 judge the
                # increment.
                met = number in arrived[uuid, member] or number == most + 1 != int(float(most))
                yield observe_outcome(step, "wide-number-lost", met, expected, f"{number}", position)


@check("CSDB-46", of="received sent")
def clock_numbers_are_not_invented(view: PeerView) -> Iterator[Observation]:
    """The number for another peer in a vector clock is at most the largest number that was received for that peer."""
    most: dict[str, int] = {}
    arrived = iter(view.received)
    following = next(arrived, None)
    for update in view.sent:
        while following is not None and following.step.index <= update.step.index:
            if following.clock is None:
                return  # the received update has no valid clock, so the peer may have read any numbers
            for member, number in following.clock.items():
                most[member] = max(number, most.get(member, 0))
            following = next(arrived, None)
        for member, number in (update.clock or {}).items():
            if member != view.peer_id and most.get(member, 0) < number <= SAFE_INTEGER:
                expected = f"at most {most.get(member, 0)} for {view.name(member)}, the largest number received"
                yield observe_violation(update.step, "number-made-up", expected, f"{number}")


@check("CSDB-46", of="received sent")
def relayed_updates_keep_their_clocks(view: PeerView) -> Iterator[Observation]:
    """A relayed update has no smaller number of another peer in its vector clock than the received update."""
    arrived = grouped(view.received, lambda update: update.version)
    for copy in find_copies(view):
        clock = copy.seen.clock
        if copy.signalled or clock is None:
            continue
        came = [update for update in arrived[copy.original.version] if update.step.index <= copy.step.index]
        # A version can arrive several times, with different clocks.
        smaller = [find_smaller_number(view, clock, update.clock) for update in came]
        met, (lost, seen) = ("", "") in smaller, smaller[0]
        expected = f"{lost}, as in {view.named(copy.original)}"
        yield observe_outcome(copy.step, "known-numbers-lost", met, expected, seen)


@check("CSDB-47", of="received sent")
def relayed_updates_keep_their_version(view: PeerView) -> Iterator[Observation]:
    """A relayed update keeps its writer, its revision and its update_time."""
    arrived = grouped((a.update for a in view.arrivals if a.update.version is not None), lambda u: u.version)
    for update in view.sent:
        if update.by is None or update.by == view.peer_id or update.version is None:
            continue
        originals = arrived.get(update.version, [])
        if not originals:
            every = (u for same in arrived.values() for u in same)
            alike = [u for u in every if u.uuid == update.uuid and same_content(u.content, update.content)]
            if alike and not _is_wide(alike[0]):
                expected = f"revision {alike[0].rev} of {view.name(alike[0].by)}, as received"
                code = "revision-changed" if any(u.by == update.by for u in alike) else "writer-changed"
                yield observe_violation(update.step, code, expected, f"revision {update.rev} of {view.name(update.by)}")
        elif update.time is not None:
            # A peer that has lost its store may reuse a revision.
            times = [original.time for original in originals if original.time is not None]
            if times:
                met, expected = update.time in times, f"{times[-1].text}, as received"
                yield observe_outcome(update.step, "time-changed", met, expected, update.time.text)
