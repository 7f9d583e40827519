"""The model of a peer under test: the versions that it must and must not have, from which step on.

Sections "Access Levels" and "Record Changes" say who may change a record. The rules of section "Conflicts" are applied
to what the peer has seen. Nothing is sure where the text leaves the outcome to applications, or an update may have
been refused, until one comes that descends from all that may be there. The same holds where the clocks decide
against the times, and where something came that changes nothing: other checks report that. A version that the peer
shows is taken over as soon as it differs, so that one fault is reported once.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import AccessLevel
from sds_harness.clearskies.clubs import READ_ONLY, READ_WRITE
from sds_harness.clearskies.trace import Step
from sds_harness.declaration import Declaration

from .facts import Change, LinkView, Update, dominates

# ---- Who may change a record -----------------------------------------------------------------------------------------


SAFE_INTEGER = 1 << 53
"""The largest that survives without wide integers (CA-6)."""


def forbidden(level: AccessLevel, link: LinkView, update: Update) -> str:
    """Why a peer of that level must not take an update that came on a link, "" if it may.

    Between two read-write peers a signature is "not necessary", so that it need not be checked.
    """
    if level is link.level is READ_WRITE:
        return ""
    if update.message.signature is not None:
        if update.message.profile is not None and update.signer is not READ_WRITE:
            return "its signature is not that of a read-write peer"
        return ""
    if level is READ_ONLY:
        return "it is not signed, and comes to a read-only peer"
    if link.level is READ_ONLY:
        return "it is not signed, and comes from a read-only peer"
    return ""


def made_by_a_reader(link: LinkView, update: Update) -> bool:
    """Does a read-only peer say that it has changed something, by its signature or by sending it without any?"""
    if update.message.signature is not None:
        return update.signer is READ_ONLY
    return link.level is READ_ONLY


def excused(declared: Declaration, update: Update) -> str:
    """Why an update may be refused although nothing demands that, "" if it is to be taken."""
    if update.odd:
        return update.odd
    if update.message.signature is not None and update.message.profile is None:
        return "its signature is of an unknown profile"
    if update.message.signature is not None and update.signer is not READ_WRITE:
        return "its signature is not that of a read-write peer"
    if _over(len(update.message.body.raw), declared.limit("body_bytes")):
        return "its body is larger than declared"
    clock = update.clock or {}
    if _over(len(clock), declared.limit("clock_members")):
        return "its vector clock has more members than declared"
    if not declared.can(pb.CAPABILITY_WIDE_INTEGERS) and max([update.rev or 0, *clock.values()]) > SAFE_INTEGER:
        return "it has integers above 2^53, and wide ones are not declared"
    if _over(1 + _depth(update.value), declared.limit("depth")):
        return "its value is nested deeper than declared"
    if update.message.body.depth:
        return "its value is nested deeper than most readers of JSON go"
    return ""


def fits_limits(declared: Declaration, text: str) -> bool:
    """Is it JSON, and within the declared limits? Beside it there is not much in a message."""
    try:
        value = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return False
    too_large = _over(2 * len(text.encode("utf-8", "surrogatepass")) + 4_096, declared.limit("body_bytes") or 1 << 24)
    return not too_large and not _over(1 + _depth(value), declared.limit("depth"))


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number of JSON")


def _over(number: int, limit: int | None) -> bool:
    return limit is not None and number > limit


def _depth(value: object) -> int:
    """How deep arrays and objects are nested in a JSON value."""
    deepest, layer = 0, [value]
    while layer := [each for each in layer if isinstance(each, (dict, list))]:
        deepest += 1
        layer = [inner for each in layer for inner in (each.values() if isinstance(each, dict) else each)]
    return deepest


# ---- What a peer must know -------------------------------------------------------------------------------------------


class Held:
    """The versions of one record that are or may be there, from a step on."""

    __slots__ = ("candidates", "change", "conflict", "step", "sure", "update", "versions")

    def __init__(
        self,
        step: Step,
        candidates: tuple[Update, ...],
        *,
        sure: bool,
        change: Change | None = None,
        conflict: bool = False,
    ) -> None:
        self.step = step
        self.candidates = candidates
        """One of these is there, the likeliest first. None for a version of the peer's own that it has not shown."""
        self.sure = sure
        """The first of them is there: the text allows no other outcome."""
        self.change = change
        """The peer's own, if it is one."""
        self.conflict = conflict
        """Neither of two descends from the other."""
        self.update = candidates[0] if sure and candidates else None
        """The version that is there, where that is sure."""
        self.versions = {update.version for update in candidates if update.version is not None}

    def unsure(self, step: Step, *more: Update) -> Held:
        """The same from another step on, with more candidates, and not sure."""
        return Held(step, (*self.candidates, *more), sure=False, change=self.change, conflict=self.conflict)


class Arrival:
    """An update that came, and what must become of it."""

    __slots__ = ("before", "declined", "due", "held", "may_not", "must_not", "outcome", "step", "update")

    def __init__(self, update: Update, must_not: str, may_not: str, held: Held | None, outcome: str) -> None:
        self.update, self.step = update, update.step
        self.must_not = must_not
        """Why it must be refused, "" if it must not."""
        self.may_not = may_not
        """Why it may be, although nothing forbids to take it."""
        self.held = held
        """The record as it was there when it came."""
        self.outcome = outcome
        """``new``, ``present``, ``older``, ``equal``, ``newer``, ``conflict``, ``refused``, or ``open`` where that is
        not sure."""
        self.before = held.update if held is not None else None
        """The version that was there, where that is sure."""
        self.due = outcome in ("new", "newer")
        """The peer must have it from now on, and pass it on."""
        closed = any(event.link == update.link.number for event in self.step.signals("link_closed"))
        self.declined = closed or self.step.answer == "rejected"
        """The peer said that it does not take it, or closed the link because of it."""


class Knowledge:
    """What a peer knows, step by step."""

    def __init__(self, peer_id: str, *, resolves_hops: bool) -> None:
        """``peer_id`` is that of the peer. ``resolves_hops``: it counts in the clocks of others' records that they came
        (CA-15), and makes changes of its own of what is in conflict by that."""
        self._peer_id = peer_id
        self._resolves_hops = resolves_hops
        self._eras: list[tuple[int, dict[str, list[Held]]]] = [(0, {})]
        """What there is by uuid, from the step with that index on: who forgets everything begins anew."""
        self._with_key: dict[object, set[str]] = {}
        """The uuids of the records that ever had a key, by key."""
        self._sent: dict[str, Update] = {}
        """By uuid: the last copy by which the peer showed its own number in the clock of a record, with nothing come of
        that since then."""
        self._revisions: dict[str | None, int] = {}
        """By writer: the largest revision that came."""
        self._told: dict[str, dict[str, int]] = {}
        """By uuid: the largest number of each member in the clocks that came of a record."""
        self.conflicts: list[tuple[int, frozenset[str]]] = []
        """The indices of the steps from which on two records, or two versions of one, are in conflict, or may be, with
        the uuids of these."""

    @property
    def _history(self) -> dict[str, list[Held]]:
        return self._eras[-1][1]

    def now(self, uuid: str) -> Held | None:
        """As far as it was read."""
        history = self._history.get(uuid)
        return history[-1] if history else None

    def at(self, uuid: str, index: int) -> Held | None:
        """What is there of a record after the step with that index; None if nothing is."""
        return _last(self._era(index).get(uuid, []), index)

    def all_at(self, index: int) -> Iterator[tuple[str, Held]]:
        """All that is there after the step with that index, by uuid."""
        for uuid, history in self._era(index).items():
            if (held := _last(history, index)) is not None:
                yield uuid, held

    def _era(self, index: int) -> dict[str, list[Held]]:
        return next(history for began, history in reversed(self._eras) if began <= index)

    def same_era(self, one: int, other: int) -> bool:
        """Is what was known after one step still known after another, for all that the peer was opened again?"""
        return self._era(one) is self._era(other)

    def forget(self, step: Step) -> None:
        """The peer is opened without anything that it knew."""
        self._eras.append((step.index, {}))
        self._with_key = {}
        self._told, self._revisions = {}, {}

    def rivals(self, uuid: str) -> set[str]:
        """Other records that may be there with the same key, as far as it was read."""
        keys = _keys(self.now(uuid))
        others = {other for key in keys for other in self._with_key.get(key, ())} - {uuid}
        return {other for other in others if keys & _keys(self.now(other))}

    def put(self, uuid: str, held: Held) -> None:
        """From a step on, something else is there of a record."""
        self._history.setdefault(uuid, []).append(held)
        for key in _keys(held):
            self._with_key.setdefault(key, set()).add(uuid)
        if held.conflict:
            self._contest(held.step, uuid)
        if rivals := self.rivals(uuid):
            # Whoever loses a key may be hidden, deleted, or given another one (CA-8).
            self._contest(held.step, uuid, *rivals)
            for other in (uuid, *rivals):
                self._unsettle(other, held.step)

    def arrive(self, update: Update, must_not: str, may_not: str) -> Arrival:
        """An update comes. What must be refused changes nothing; what may be leaves open what is there."""
        uuid = update.uuid
        held = self.now(uuid) if uuid is not None else None
        outcome = "refused" if must_not else self._outcome(held, update)
        if may_not and outcome not in ("refused", "present"):
            outcome = "open"
        most = self._revisions.get(update.by, 0)
        if outcome in ("new", "newer") and (update.rev or 0) <= most:
            outcome = "open"  # out of order, "or they will never be synced" (CA-5): nobody would have asked for it
        self._revisions[update.by] = max(0 if must_not else update.rev or 0, most)
        arrival = Arrival(update, must_not, may_not, held, outcome)
        if uuid is None:
            return arrival
        self._sent.pop(uuid, None)
        if not must_not:
            told = self._told.setdefault(uuid, {})
            told |= {member: n for member, n in (update.clock or {}).items() if n > told.get(member, 0)}
        match outcome:
            case "new" | "newer":
                if outcome == "newer" and self._resolves_hops:
                    self._contest(update.step, uuid)
                self.put(uuid, Held(update.step, (update,), sure=outcome == "new" or _is_later(update, held)))
            case "older" | "equal" if held is not None:
                self.put(uuid, held.unsure(update.step, update))
            case "conflict" | "open":
                before = held.candidates if held is not None else ()
                conflict = outcome == "conflict" or (held is not None and held.conflict)
                self.put(uuid, Held(update.step, (update, *before), sure=False, conflict=conflict))
                if held is not None and outcome == "open":
                    self._contest(update.step, uuid)
        return arrival

    def write(self, uuid: str, change: Change) -> None:
        """The application changes a record, or makes one."""
        shown = (change.shown,) if change.shown is not None else ()
        self.put(uuid, Held(change.step, shown, sure=bool(shown), change=change))

    def send(self, update: Update) -> None:
        """The peer sends a record. What has its number in it shows how far that has counted."""
        if update.uuid is not None and self._peer_id in (update.clock or {}):
            self._sent[update.uuid] = update

    def _outcome(self, held: Held | None, update: Update) -> str:
        """What the text says becomes of an update, where that is sure."""
        if update.version is None:
            return "open"
        if held is None:
            return "new"
        if held.sure and update.version in held.versions:
            return "present"
        if not held.candidates or not all(candidate.clock is not None for candidate in held.candidates):
            return "open"
        if held.sure and held.candidates[0].clock == update.clock:
            return "equal"
        if all(dominates(update.clock, candidate.clock) for candidate in held.candidates):
            return "newer" if self._is_surely_newer(held, update) else "open"
        if not held.sure:
            return "open"
        if dominates(held.candidates[0].clock, update.clock):
            return "older"
        return "conflict" if self._is_surely_concurrent(held, update) else "open"

    def _is_surely_newer(self, held: Held, update: Update) -> bool:
        """Does an update replace what is there, also where that was counted when it came and went?

        By rules 3 and 4, to the letter, who has received a record counts that in its clock: then a change that does not
        know of it is concurrent, of which the one with the larger update_time is there afterwards.
        """
        sent = self._sent.get(str(update.uuid))
        if sent is not None and sent.step.index >= held.step.index and dominates(update.clock, sent.clock):
            return True
        return _is_later(update, held)

    def _is_surely_concurrent(self, held: Held, update: Update) -> bool:
        """Does an update know of something that is new here, other than what the peer itself may have counted? What
        came to be there by a conflict knows all that the two clocks did, whoever won."""
        there, told = held.candidates[0].clock or {}, self._told.get(str(update.uuid), {})
        return any(
            n > max(there.get(member, 0), told.get(member, 0))
            for member, n in (update.clock or {}).items()
            if member != self._peer_id
        )

    def _contest(self, step: Step, *uuids: str) -> None:
        self.conflicts.append((step.index, frozenset(uuids)))

    def _unsettle(self, uuid: str, step: Step) -> None:
        held = self._history[uuid][-1]
        if held.sure:
            self._history[uuid].append(held.unsure(step))

    def show(self, update: Update) -> None:
        """The peer shows a version of its own that no command explains: what it has, it has. Who sends late may have
        something newer by then."""
        if update.uuid is None:
            return
        held = self.now(update.uuid)
        others = [each for each in held.candidates if each.version != update.version] if held is not None else []
        if held is None or update.version not in held.versions or not held.sure:
            newest = all(dominates(update.clock, other.clock) for other in others)
            candidates = (update,) if newest else (update, *others)
            self.put(update.uuid, Held(update.step, candidates, sure=newest, conflict=not newest))


def _is_later(update: Update, held: Held | None) -> bool:
    """Has an update a larger update_time than all that may be there?"""
    times = [candidate.time for candidate in held.candidates] if held is not None else []
    return update.time is not None and all(time is not None and time < update.time for time in times)


def _last(history: list[Held], index: int) -> Held | None:
    place = bisect_right(history, index, key=lambda held: held.step.index)
    return history[place - 1] if place else None


def _keys(held: Held | None) -> set[object]:
    """The keys that a record may have, none if it is deleted. What a change is first shown by may be what came of a
    conflict about the key that was asked for."""
    if held is None:
        return set()
    asked = {held.change.key} if held.change is not None and held.change.kind != "delete" else set()
    return asked | {update.key for update in held.candidates if not update.deleted and update.key is not None}
