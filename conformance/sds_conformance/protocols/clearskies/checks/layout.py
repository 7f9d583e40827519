"""Section "Database Layout": what a record is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, pairwise

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.peer import iso

from ....judging.judgement import Observation, held, judged, violated
from ....judging.once import once
from ....judging.quoting import json_of
from ..register import check
from ..view.facts import (
    COMMANDS,
    Change,
    Seen,
    Update,
    Version,
    equal,
    has_wide_numbers,
    renames_in_place,
    same_content,
    told_of,
)
from ..view.peer_view import PeerView
from ..view.spreading import copies_sent, told_to_applications

_DATE = r"(?:\d{4}|[+-]\d{4,10})(?:-?\d{2}-?\d{2}|-\d{2}|-?W\d{2}-?\d|-?\d{3})"
_CLOCK = r"\d{2}(?:(?::?\d{2}){1,2})?(?:[.,]\d+)?"
_ISO_8601 = re.compile(rf"{_DATE}T{_CLOCK}(?:Z|[+-]\d{{2}}(?::?\d{{2}})?)", re.IGNORECASE | re.ASCII)
"""A date and a time with a zone, in any form of ISO 8601: which one is open."""


@check("CSDB-07", of="changes")
def own_content_is_sent_as_written(view: PeerView) -> Iterator[Observation]:
    """Key and value go over the wire as the application wrote them."""
    for change in view.changes:
        update = change.shown
        if update is None or change.kind == "delete" or view.in_conflict(update.step):
            continue
        if update.deleted:
            if change.kind == "put" and update.step is change.step:
                yield violated(
                    update.step,
                    "sent-as-deletion",
                    f"the value {_quoted(change.value)} of {change.key!r}",
                    "a deletion",
                )
            continue
        if update.key != change.key:
            if change.kind == "put":
                yield violated(update.step, "key-changed", f"the key {change.key!r}", f"{update.key!r}")
        elif change.kind == "put":
            met = "value" in update.members and equal(update.value, change.value)
            wide = has_wide_numbers(change.value) and not view.can(pb.CAPABILITY_WIDE_INTEGERS)
            expected = f"the value {_quoted(change.value)} of {change.key!r}"
            yield judged(update.step, "value-changed", met, expected, _value(update), "CA-6" if wide else "")


@check("CSDB-07", of="received shown")
def content_of_others_is_kept_as_it_came(view: PeerView) -> Iterator[Observation]:
    """Key and value of a record of somebody else are there as they came."""
    for arrival in view.arrivals:
        update = arrival.update
        proof = view.proof(arrival) if arrival.due and not update.deleted else None
        if proof is None or proof.seen is None or not proof.is_shown or proof.seen.deleted:
            continue
        before = arrival.held.update if arrival.held is not None else None
        if before is not None and proof.seen.key == before.key != update.key:
            continue  # CSDB-22
        expected = f"{_quoted(update.value)} under {update.key!r}, which came at step {update.step.index}"
        seen = f"{_quoted(proof.seen.value)} under {proof.seen.key!r}"
        code = _changed(proof.seen, update)
        yield judged(proof.shown.step, code, proof.same, expected, seen, _of_numbers(view, update))


@check("CSDB-07", of="received sent")
def content_is_passed_on_as_it_came(view: PeerView) -> Iterator[Observation]:
    """Each copy of another peer's version has the key and the value of the original."""
    for update, original in copies_sent(view):
        if update.deleted == original.deleted and not _had_key(view, original, update.key):  # CSDB-13, CSDB-22
            met = same_content(update.content, original.content)
            expected = f"{_quoted(original.value)} under {original.key!r}, which came at step {original.step.index}"
            seen, position = f"{_value(update)} under {update.key!r}", _of_numbers(view, original)
            yield judged(update.step, _changed(update, original), met, expected, seen, position)


@check("CSDB-07", pb.CAPABILITY_CHANGED, of="received")
def applications_are_told_what_came(view: PeerView) -> Iterator[Observation]:
    """A Changed event has the key and the value of the update that it is about."""
    for step, seen, original in told_to_applications(view):
        if seen.deleted == original.deleted and not _had_key(view, original, seen.key):
            met = same_content(seen.content, original.content)
            expected = f"{_quoted(original.value)} under {original.key!r}, which came at step {original.step.index}"
            code = _changed(seen, original)
            yield judged(step, code, met, expected, told_of(seen), _of_numbers(view, original))


@check("CSDB-07", of="own")
def nobody_else_writes(view: PeerView) -> Iterator[Observation]:
    """A peer makes no record that its application has not written, unless it resolves a conflict."""
    written = {change.uuid for change in view.changes} | {arrival.update.uuid for arrival in view.arrivals}
    asked = {getattr(s.request, s.command).key for s in view.steps if s.command in COMMANDS and s.effects is not None}
    for update in view.unexplained:
        strange = update.uuid not in written and update.key not in asked and not update.deleted
        strange = strange and view.opened_afresh(update.step) and not view.in_conflict(update.step)
        if strange and not any(map(renames_in_place, view.steps)):
            yield violated(
                update.step,
                "record-made-up",
                "a record that the application has written",
                f"one with the key {update.key!r}",
            )


@check("CSDB-08", of="changes")
def uuids_have_128_bits(view: PeerView) -> Iterator[Observation]:
    """A new record has a uuid of 32 hex digits."""
    for change, update in _first_shown(view):
        seen = update.members.get("uuid")
        yield judged(
            update.step, "uuid-malformed", update.uuid is not None, f"32 hex digits for {change.key!r}", _quoted(seen)
        )


@check("CSDB-08", of="changes")
def uuids_are_of_one_record(view: PeerView) -> Iterator[Observation]:
    """No two records have one uuid, whoever has made them."""
    makers: dict[str, tuple[str, Change]] = {}
    for other in view.everybody:
        for change, update in _first_shown(other):
            if update.uuid is None:
                continue
            first = makers.setdefault(update.uuid, (other.party.name, change))
            if first[0] == other.party.name and _is_revived(other, first[1], change):
                continue  # its key is free, and for itself as well (CA-13)
            if other is view and first[1] is not change:
                expected = f"a uuid of its own for {change.key!r}"
                yield violated(update.step, "uuid-reused", expected, f"that of {first[1].key!r} of {first[0]}")
            elif other is view:
                yield held(update.step)


@check("CSDB-08", of="changes")
def uuids_stay(view: PeerView) -> Iterator[Observation]:
    """A record that is written again keeps its uuid."""
    for one, other in _again(view):
        if one.uuid is not None and other.uuid is not None:
            key = other.key
            yield judged(
                other.step,
                "uuid-changed",
                other.uuid == one.uuid,
                f"{one.uuid!r}, the uuid of {key!r}",
                f"{other.uuid!r}",
            )


@check("CSDB-09", of="sent")
def writers_are_named(view: PeerView) -> Iterator[Observation]:
    """last_updated_by is a peer ID, and that of the peer that wrote the record last, also in what is passed on."""
    theirs = {arrival.update.version: arrival.update for arrival in view.arrivals}
    mine = {update.version for update in view.unexplained}
    for update in view.sent:
        if "last_updated_by" not in update.members:
            continue  # CSDB-15
        if update.by is None:
            yield violated(
                update.step,
                "writer-malformed",
                "the ID of a peer, 32 hex digits",
                _quoted(update.members["last_updated_by"]),
            )
        elif update.version in theirs:
            yield held(update.step)
        elif update.version in mine and (original := repeated(view, update)) is not None:
            writer, place = view.name(original.by), original.step.index
            yield violated(
                update.step,
                "wrong-writer",
                f"{writer}, the writer of {original.key!r} (step {place})",
                "its own name",
            )


@check("CSDB-10", of="own")
def revisions_grow_over_all_records(view: PeerView) -> Iterator[Observation]:
    """From one local change to the next the revision grows, whichever record they are of."""
    for both in view.successive_changes:
        before, after, place = both.one.rev, both.other.rev, both.one.step.index
        same_store = view.known.same_era(place, both.other.step.index)
        if same_store and before is not None and after is not None:
            expected = f"more than {before}, the revision of the change before (step {place})"
            yield judged(both.other.step, "revision-not-higher", after > before, expected, f"{after}")


@check("CSDB-10", of="changes sent")
def revisions_are_of_one_change(view: PeerView) -> Iterator[Observation]:
    """A change does not go out with the revision of an earlier one of the same record."""
    copies: dict[Version | None, list[Update]] = {}
    for update in view.sent:
        if update.by == view.peer_id and update.version is not None:
            copies.setdefault(update.version, []).append(update)
    for before, update in chain.from_iterable(map(pairwise, copies.values())):
        change = None if same_content(before.content, update.content) else _between(view, before, update)
        if change is not None and not view.in_conflict(update.step):  # what comes of that may be no change (CA-8)
            expected = f"a revision of its own for the change of {change.key!r} at step {change.step.index}"
            yield violated(
                update.step, "revision-reused", expected, f"{update.rev}, which went out at step {before.step.index}"
            )


def _between(view: PeerView, before: Update, update: Update) -> Change | None:
    """The change that was made between two updates with one version, and shows in the second one."""
    if not view.known.same_era(before.step.index, update.step.index):
        return None  # who has lost its store may use a revision again
    made = (change for change in view.changes if before.step.index < change.step.index <= update.step.index)
    return next((change for change in made if change.is_in(update) and not change.is_in(before)), None)


@check("CSDB-10", of="sent")
def revisions_are_integers(view: PeerView) -> Iterator[Observation]:
    """last_updated_rev is an integer."""
    for update in view.sent:
        if "last_updated_rev" in update.members:
            seen = update.members["last_updated_rev"]
            yield judged(
                update.step, "revision-not-integer", update.rev is not None, "an integer of 64 bits", _quoted(seen)
            )


@check("CSDB-11", of="sent")
def times_are_iso_8601(view: PeerView) -> Iterator[Observation]:
    """update_time is a date and a time in ISO 8601."""
    for update in view.sent:
        if update.by == view.peer_id and "update_time" in update.members:
            seen = update.members["update_time"]
            met = isinstance(seen, str) and _ISO_8601.fullmatch(seen) is not None
            yield judged(update.step, "not-iso-8601", met, "a time in ISO 8601, with its zone", _quoted(seen))


@check("CSDB-11", of="received shown")
def times_of_any_precision_are_taken(view: PeerView) -> Iterator[Observation]:
    """A record is taken whatever the precision of its time: the example has none, and nanoseconds are as good."""
    for arrival in view.arrivals:
        concerned = arrival.outcome == "new" and not arrival.update.in_milliseconds
        if concerned and (proof := view.proof(arrival)) is not None:
            written = arrival.update.members.get("update_time")
            expected = f"{view.named(arrival.update)}, of {written!r}, which came at step {arrival.step.index}"
            code, position = ("precision-not-taken", "") if arrival.update.in_utc else ("zone-not-taken", "CA-18")
            yield judged(proof.shown.step, code, proof.is_there, expected, view.had(proof), position)


@check("CSDB-11", pb.CAPABILITY_VIRTUAL_CLOCK, of="changes")
def times_are_those_of_changes(view: PeerView) -> Iterator[Observation]:
    """update_time is when the record was changed, to the second: it may be later where what was changed is later, or
    where the change is sent later.

    An own change may be a second later than the own change before it, which need not have been sent (CA-8).
    """
    for number, change in enumerate(view.changes):
        update = change.shown
        if update is None or update.time is None or not change.is_in(update) or view.in_conflict(update.step):
            continue
        until = [step for step in view.steps if step.index <= update.step.index]
        least = min(step.now_ms for step in until if step.index >= change.since) // 1_000 - 1
        most = max(step.now_ms for step in until) // 1_000 + 1
        others = [
            u.time.seconds
            for u in (*view.own, *view.received)
            if u.time is not None and u.step.index < update.step.index
        ]
        latest = max([most, *(seconds + 1 for seconds in others)]) + number
        met = least <= update.time.seconds <= latest
        yield judged(
            update.step, "wrong-time", met, f"the time of the change, {iso(change.step.now_ms)}", update.time.text
        )


@check("CSDB-12", of="sent")
def clocks_are_there(view: PeerView) -> Iterator[Observation]:
    """Every update has a vector clock, an object, and whoever wrote it is in it, unless it came otherwise."""
    came = {a.update.version for a in view.arrivals if a.update.by not in (a.update.clock or {})}
    for update in view.sent:
        said = update.members.get("vector_clock")
        if not isinstance(said, dict):
            code, seen = ("clock-not-object", _quoted(said)) if said else ("clock-missing", "none")
            yield violated(update.step, code, f"a vector clock in {view.named(update)}", seen)
        elif update.clock is not None and update.by not in (None, view.peer_id) and update.version not in came:
            met = update.by in update.clock
            expected = f"a vector clock that counts the change of {view.name(update.by)}"
            yield judged(update.step, "writer-not-counted", met, expected, _quoted(dict(update.clock)))


@check("CSDB-13", of="changes")
def deletions_say_so(view: PeerView) -> Iterator[Observation]:
    """A deletion goes out as an update of the record that says that it is deleted."""
    for change in view.changes:
        update = change.shown
        if update is not None and change.kind == "delete":
            seen = f"deleted is {_quoted(update.members['deleted'])}" if "deleted" in update.members else "no deleted"
            yield judged(
                update.step, "deletion-not-marked", update.deleted, f"deleted is true, of {change.key!r}", seen
            )


@check("CSDB-13", of="received shown")
def what_is_not_deleted_is_there(view: PeerView) -> Iterator[Observation]:
    """A record that does not say that it is deleted, or says that it is not, is not deleted."""
    for arrival in view.arrivals:
        update = arrival.update
        proof = view.proof(arrival) if arrival.outcome == "new" and not update.deleted else None
        if proof is not None and proof.seen is not None and proof.is_shown:
            said = "says that it is not" if "deleted" in update.members else "does not say that it is"
            expected = f"{view.named(update)}, which {said} deleted (step {update.step.index})"
            yield judged(proof.shown.step, "deletion-made-up", not proof.seen.deleted, expected, "it is deleted")


@check("CSDB-13", of="received sent")
def deletions_are_passed_on(view: PeerView) -> Iterator[Observation]:
    """A copy of a deletion says that the record is deleted, and a copy of another version does not."""
    for update, original in copies_sent(view):
        met = update.deleted == original.deleted
        expected = f"{view.named(original)}, as it came at step {original.step.index}"
        made_up = ("deletion-made-up", "it is deleted")
        code, seen = made_up if update.deleted else ("deletion-lost", "it is not deleted")
        yield judged(update.step, code, met, expected, seen)


@check("CSDB-13", pb.CAPABILITY_CHANGED, of="received")
def applications_are_told_of_deletions(view: PeerView) -> Iterator[Observation]:
    """A Changed event of a deletion says that the record is deleted."""
    for step, seen, original in told_to_applications(view):
        if original.deleted:  # what is there may be hidden
            expected = f"{view.named(original)}, as it came at step {original.step.index}"
            yield judged(step, "deletion-lost", seen.deleted, expected, "it is not deleted")


@check("CSDB-13", of="received shown")
def what_is_there_stays_there(view: PeerView) -> Iterator[Observation]:
    """A record is not deleted by what is said of another one."""
    alive = {arrival.update.version: arrival.update for arrival in view.arrivals if not arrival.update.deleted}
    for shown in view.shown:
        contested = view.contested(shown.step)
        for uuid, seen in shown.records.items():
            update = alive.get(seen.version) if seen.deleted and uuid not in contested else None
            if update is not None and view.has(uuid, seen.version, shown.step):
                yield violated(
                    shown.step,
                    "other-record-deleted",
                    f"{view.named(update)}, which was not deleted",
                    "it is deleted",
                )


def _first_shown(view: PeerView) -> Iterator[tuple[Change, Update]]:
    """The changes that made a record, as far as they show: the first of each key, or after it was deleted."""
    return iter(_firsts(view))


@once
def _firsts(view: PeerView) -> list[tuple[Change, Update]]:
    came = [(arrival.step.index, arrival.update.key) for arrival in view.arrivals]
    live: set[str] = set()
    out = []
    for change in view.changes:
        taken = {key for index, key in came if index < change.step.index}
        if change.kind == "put" and change.key not in live | taken and change.shown is not None:
            out.append((change, change.shown))
        live -= {change.old_key} if change.kind != "put" else set()
        live |= {change.key} if change.kind != "delete" else set()
    return out


def _is_revived(view: PeerView, first: Change, change: Change) -> bool:
    """Is what was made under a key deleted and, with a later change, there again?"""
    between = range(first.step.index + 1, change.step.index)
    kinds = {c.kind for c in view.changes if c.step.index in between and change.key in (c.key, c.old_key)}
    return first.key == change.key and "delete" in kinds and "rename" not in kinds


def _again(view: PeerView) -> Iterator[tuple[Update, Update]]:
    """The updates of a record and of its next change under the same key, neither a deletion, where nobody else can have
    changed or taken the key in between."""
    last: dict[str, Change] = {}
    taken = {(arrival.update.key, arrival.update.uuid) for arrival in view.arrivals}
    for change in view.changes:
        if change.kind == "put" and change.shown is not None:
            before = last.get(change.key)
            # A second record with the key is a conflict of its own making.
            conflict = view.in_conflict(view.trace.steps[change.step.index - 2])
            if before is not None and before.shown is not None and not conflict:
                others = any(key == change.key and uuid != before.uuid for key, uuid in taken)
                if not others and view.untouched(before, change.step):
                    yield before.shown, change.shown
            last[change.key] = change
        elif change.kind != "put":
            last.pop(change.old_key, None)
            last.pop(change.key, None)


def repeated(view: PeerView, update: Update) -> Update | None:
    """The version of somebody else that an update repeats under another name; None if it is none."""
    before = view.known.at(str(update.uuid), update.step.index - 1)
    came = [a.update for a in view.arrivals if a.update.uuid == update.uuid and a.step.index <= update.step.index]
    known = before.update if before is not None else None
    for other in [*reversed(came), *([known] if known is not None else [])]:
        same = other.key == update.key and other.deleted == update.deleted and equal(other.value, update.value)
        if same and other.by != update.by and not view.in_conflict(update.step):
            return other
    return None


def _had_key(view: PeerView, update: Update, key: str | None) -> bool:
    """Is a key another one than that of an update, and the one that its record had before?"""
    held = next((a.held for a in view.arrivals if a.update is update), None)
    return key != update.key and held is not None and any(each.key == key for each in held.candidates)


def _changed(seen: Update | Seen, original: Update) -> str:
    """The code for a record that says something else than the original."""
    return "key-changed" if seen.key != original.key else "value-changed"


def _of_numbers(view: PeerView, update: Update) -> str:
    """The position by which a value may be otherwise, because it has numbers above 2^53 (CA-6)."""
    wide = has_wide_numbers(update.value) and not view.can(pb.CAPABILITY_WIDE_INTEGERS)
    return "CA-6" if wide else ""


def _quoted(value: object) -> str:
    return json_of(value, 120)


def _value(update: Update) -> str:
    return _quoted(update.value) if "value" in update.members else "no value"
