"""The model of a peer under test: at each step, the versions that it must have and those that it must not have.

Sections "Access Levels" and "Record Changes" define who may change a record. The rules of section "Conflicts" are
applied to the versions that the peer received. The model is unsure where the specification leaves the outcome to
applications and where an update may have been refused, until a version arrives that descends from all candidates. It is
also unsure where clocks contradict times, and where an update changes nothing: other checks report such updates. A
version that the peer shows replaces the expected one as soon as they differ, so that each fault is reported once.
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


MEMBER_BYTES = 64
"""Upper bound on the bytes of a member in a vector clock or a request."""
SAFE_INTEGER = 1 << 53
"""The largest integer that peers without wide integers keep (CA-6)."""


def find_prohibition(level: AccessLevel, link: LinkView, update: Update) -> str:
    """Why a peer of that level must not accept an update that arrived on a link; "" if it may accept the update.

    Between two read-write peers a signature is "not necessary", so it need not be verified.
    """
    if level is link.level is READ_WRITE:
        return ""
    if update.message.signature is not None:
        if update.message.profile is not None and update.message.signer is not READ_WRITE:
            return "its signature is not that of a read-write peer"
        return ""
    if level is READ_ONLY:
        return "it is not signed, and the receiver is a read-only peer"
    if link.level is READ_ONLY:
        return "it is not signed, and the sender is a read-only peer"
    return ""


def is_made_by_reader(link: LinkView, update: Update) -> bool:
    """Is an update signed by a read-only peer, or sent by a read-only peer without a signature?"""
    if update.message.signature is not None:
        return update.message.signer is READ_ONLY
    return link.level is READ_ONLY


def find_excuse(declared: Declaration, update: Update) -> str:
    """Why a peer may refuse an update that nothing forbids; "" if it must accept the update."""
    if update.fault:
        return update.fault
    if update.message.signature is not None and update.message.profile is None:
        return "its signature is of an unknown profile"
    if update.message.signature is not None and update.message.signer is not READ_WRITE:
        return "its signature is not that of a read-write peer"
    if _exceeds(len(update.message.body.raw), declared.limit("body_bytes")):
        return "its body is larger than declared"
    clock, members = update.clock or {}, update.members.get("vector_clock")
    if isinstance(members, dict) and _exceeds(len(members), declared.limit("clock_members")):
        return "its vector clock has more members than declared"
    if not declared.can(pb.CAPABILITY_WIDE_INTEGERS) and max([update.rev or 0, *clock.values()]) > SAFE_INTEGER:
        return "it has integers above 2^53, and wide integers are not declared"
    if _exceeds(_depth(update.message.body.members), declared.limit("depth")):
        return "its body is nested deeper than declared"
    if update.message.body.depth:
        return "its value is nested deeper than most JSON readers support"
    return ""


def find_excess_of_merge(declared: Declaration, update: Update, members: set[str]) -> str:
    """Why a peer may refuse an update that is within its limits: the merged clock, which has ``members``, may exceed
    the declared number of members, or make the body too large. "" if it exceeds no limit.
    """
    if _exceeds(len(members), declared.limit("clock_members")):
        return "its merged vector clock has more members than declared"
    more = len(members) - len(update.clock or {})
    if more > 0 and _exceeds(len(update.message.body.raw) + MEMBER_BYTES * more, declared.limit("body_bytes")):
        return "its body with the merged vector clock is larger than declared"
    return ""


def exceeds_size_of_request(declared: Declaration, peers: int) -> bool:
    """May a request that names this number of peers be larger than declared?"""
    return _exceeds(MEMBER_BYTES * (peers + 2), declared.limit("body_bytes"))


def fits_limits(declared: Declaration, text: str, members: int, key: str) -> bool:
    """Is a text valid JSON, and a message with this value within the declared limits?

    ``members`` is the largest possible number of members of the vector clock. The size of the message is estimated as
    twice the size of the value and the key, plus 4,096 bytes and the clock. Each character of a short text may be
    escaped: six times its size, plus 1,024 bytes.
    """
    if _exceeds(members, declared.limit("clock_members")):
        return False
    try:
        value = json.loads(text, parse_constant=_reject_constant)
    except (ValueError, RecursionError):
        return False
    size = len((text + key).encode("utf-8", "surrogatepass"))
    size = min(2 * size + 4_096, 6 * size + 1_024) + MEMBER_BYTES * members
    too_large = _exceeds(size, declared.limit("body_bytes") or 1 << 24)
    return not too_large and not _exceeds(1 + _depth(value), declared.limit("depth"))


def _reject_constant(text: str) -> None:
    raise ValueError(f"{text} is not a JSON number")


def _exceeds(number: int, limit: int | None) -> bool:
    return limit is not None and number > limit


def _depth(value: object) -> int:
    """The depth of the nested arrays and objects in a JSON value."""
    deepest, layer = 0, [value]
    while layer := [each for each in layer if isinstance(each, (dict, list))]:
        deepest += 1
        layer = [inner for each in layer for inner in (each.values() if isinstance(each, dict) else each)]
    return deepest


# ---- The versions that a peer must have ------------------------------------------------------------------------------


class RecordState:
    """The versions of one record that are present, or may be, from a step on."""

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
        """One of these versions is present; the likeliest comes first. Empty for an own version that the peer
        has not shown.
        """
        self.sure = sure
        """Is the first candidate certainly present, because the specification allows no other outcome?"""
        self.change = change
        """The local change that made the version; None for a version that arrived."""
        self.conflict = conflict
        """Are two of the candidates concurrent?"""
        self.update = candidates[0] if sure and candidates else None
        """The version that is present, if that is certain; otherwise None."""
        self.versions = {update.version for update in candidates if update.version is not None}

    def make_unsure(self, step: Step, *more: Update) -> RecordState:
        """Return an unsure state from ``step`` on, with the candidates of this state and ``more``."""
        return RecordState(step, (*self.candidates, *more), sure=False, change=self.change, conflict=self.conflict)


class Arrival:
    """An update that arrived, and the required outcome."""

    __slots__ = ("before", "declined", "due", "excuse", "held", "outcome", "prohibition", "step", "update")

    def __init__(self, update: Update, prohibition: str, excuse: str, held: RecordState | None, outcome: str) -> None:
        self.update, self.step = update, update.step
        self.prohibition = prohibition
        """Why the peer must refuse the update; "" if nothing forbids the update."""
        self.excuse = excuse
        """Why the peer may refuse the update although nothing forbids it; "" if it has no such reason."""
        self.held = held
        """The state of the record when the update arrived."""
        self.outcome = outcome
        """``new``, ``present``, ``older``, ``equal``, ``newer``, ``conflict`` or ``refused``; ``open`` if the outcome
        is uncertain.
        """
        self.before = held.update if held is not None else None
        """The version that was present, if that is certain; otherwise None."""
        self.due = outcome in ("new", "newer")
        """Must the peer have the update from now on, and send it to others?"""
        closed = any(event.link == update.link.number for event in self.step.signals("link_closed"))
        self.declined = closed or self.step.answer == "rejected"
        """Did the peer reject the update, or close its link in the same step?"""


class Knowledge:
    """The versions that a peer under test must have, or may have, after each step."""

    def __init__(self, peer_id: str, *, resolves_hops: bool) -> None:
        """``peer_id`` is the ID of the peer. ``resolves_hops``: the peer counts arrivals in the clocks of other peers'
        records (CA-15), and resolves the resulting conflicts by own changes.
        """
        self._peer_id = peer_id
        self._resolves_hops = resolves_hops
        self._eras: list[tuple[int, dict[str, list[RecordState]]]] = [(0, {})]
        """For each era: the index of its first step, and by uuid the states of each record. A new era begins when the
        peer loses its store.
        """
        self._with_key: dict[object, set[str]] = {}
        """The uuids of the records that ever had a key, by key."""
        self._sent: dict[str, Update] = {}
        """By uuid: the last sent update whose clock has the peer's own number, until an update of the record arrives.
        """
        self._revisions: dict[str | None, int] = {}
        """By writer: the largest revision that arrived."""
        self._largest_numbers: dict[str, dict[str, int]] = {}
        """By uuid: the largest number of each member in the clocks that arrived."""
        self.conflicts: list[tuple[int, frozenset[str]]] = []
        """The conflicts, certain or possible: the index of the step that began each, and the uuids of its records."""

    def find_clock_members(self, uuid: str | None) -> set[str]:
        """The members of all clocks of a record that arrived, and the peer itself if it may have changed the record."""
        members = set(self._largest_numbers.get(str(uuid), ()))
        own = any(held.change is not None or not held.candidates for held in self._history.get(str(uuid), ()))
        return members | ({self._peer_id} if own else set())

    @property
    def _history(self) -> dict[str, list[RecordState]]:
        return self._eras[-1][1]

    def current_state(self, uuid: str) -> RecordState | None:
        """The state of a record after the last step that was read."""
        history = self._history.get(uuid)
        return history[-1] if history else None

    def at(self, uuid: str, index: int) -> RecordState | None:
        """The state of a record after the step with an index; None if there is none."""
        return _last_before(self._era(index).get(uuid, []), index)

    def all_at(self, index: int) -> Iterator[tuple[str, RecordState]]:
        """Yield all states after the step with an index, by uuid."""
        for uuid, history in self._era(index).items():
            if (held := _last_before(history, index)) is not None:
                yield uuid, held

    def _era(self, index: int) -> dict[str, list[RecordState]]:
        return next(history for began, history in reversed(self._eras) if began <= index)

    def same_era(self, one: int, other: int) -> bool:
        """Did the peer keep its store between two steps?"""
        return self._era(one) is self._era(other)

    def record_loss(self, step: Step) -> None:
        """Record that the peer is opened without its store."""
        self._eras.append((step.index, {}))
        self._with_key = {}
        self._largest_numbers, self._revisions = {}, {}

    def find_rivals(self, uuid: str) -> set[str]:
        """The other records that may have the same key after the last step that was read."""
        keys = _possible_keys(self.current_state(uuid))
        others = {other for key in keys for other in self._with_key.get(key, ())} - {uuid}
        return {other for other in others if keys & _possible_keys(self.current_state(other))}

    def set_state(self, uuid: str, held: RecordState) -> None:
        """Set the state of a record from a step on."""
        self._history.setdefault(uuid, []).append(held)
        for key in _possible_keys(held):
            self._with_key.setdefault(key, set()).add(uuid)
        if held.conflict:
            self._record_conflict(held.step, uuid)
        if rivals := self.find_rivals(uuid):
            # A record that loses its key may be hidden, deleted, or given another key (CA-8).
            self._record_conflict(held.step, uuid, *rivals)
            for other in (uuid, *rivals):
                self._make_unsure(other, held.step)

    def record_arrival(self, update: Update, prohibition: str, excuse: str, quiet: int) -> Arrival:
        """Process an update. An update that must be refused changes nothing, and one that may be refused makes the
        state uncertain.

        ``quiet`` is the index of the last quiet step before the update: arrivals since then may not have been
        processed.
        """
        uuid = update.uuid
        held = self.current_state(uuid) if uuid is not None else None
        outcome = "refused" if prohibition else self._decide_outcome(held, update)
        if held is not None and _may_overtake(update, held, outcome, quiet):
            outcome = "open"
        if excuse and outcome not in ("refused", "present"):
            outcome = "open"
        most = self._revisions.get(update.by, 0)
        if outcome in ("new", "newer") and (update.rev or 0) <= most:
            # An equal or larger revision of the writer arrived before, so the peer may ignore this one (CA-5).
            outcome = "open"
        self._revisions[update.by] = max(0 if prohibition else update.rev or 0, most)
        arrival = Arrival(update, prohibition, excuse, held, outcome)
        if uuid is None:
            return arrival
        self._sent.pop(uuid, None)
        if not prohibition:
            numbers = self._largest_numbers.setdefault(uuid, {})
            numbers |= {member: n for member, n in (update.clock or {}).items() if n > numbers.get(member, 0)}
        match outcome:
            case "new" | "newer":
                if outcome == "newer" and self._resolves_hops:
                    self._record_conflict(update.step, uuid)
                self.set_state(
                    uuid, RecordState(update.step, (update,), sure=outcome == "new" or _is_later(update, held))
                )
            case "older" | "equal" if held is not None:
                self.set_state(uuid, held.make_unsure(update.step, update))
            case "conflict" | "open":
                before = held.candidates if held is not None else ()
                conflict = outcome == "conflict" or (held is not None and held.conflict)
                self.set_state(uuid, RecordState(update.step, (update, *before), sure=False, conflict=conflict))
                if held is not None and outcome == "open":
                    self._record_conflict(update.step, uuid)
        return arrival

    def record_change(self, uuid: str, change: Change) -> None:
        """Record that the application changes or creates a record."""
        shown = (change.shown,) if change.shown is not None else ()
        self.set_state(uuid, RecordState(change.step, shown, sure=bool(shown), change=change))

    def record_sending(self, update: Update) -> None:
        """Record that the peer sends a record. A version that descends from this update certainly replaces it."""
        if update.uuid is not None and self._peer_id in (update.clock or {}):
            self._sent[update.uuid] = update

    def _decide_outcome(self, held: RecordState | None, update: Update) -> str:
        """The outcome of an update by the specification; ``open`` if it is uncertain."""
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

    def _is_surely_newer(self, held: RecordState, update: Update) -> bool:
        """Does an update certainly replace the present version, even if peers count sending and receiving in clocks?

        By the letter of rules 3 and 4 of vector clocks, a peer that receives a record increments its number in the
        record's clock. A change whose clock lacks the incremented number is concurrent, and the larger update_time
        wins."""
        sent = self._sent.get(str(update.uuid))
        if sent is not None and sent.step.index >= held.step.index and dominates(update.clock, sent.clock):
            return True
        return _is_later(update, held)

    def _is_surely_concurrent(self, held: RecordState, update: Update) -> bool:
        """Does the clock of an update have a number that is larger than in all clocks that the peer has or received?

        A smaller number proves nothing: after a conflict, the peer may have merged both clocks.
        """
        there, numbers = held.candidates[0].clock or {}, self._largest_numbers.get(str(update.uuid), {})
        return any(
            n > max(there.get(member, 0), numbers.get(member, 0))
            for member, n in (update.clock or {}).items()
            if member != self._peer_id
        )

    def _record_conflict(self, step: Step, *uuids: str) -> None:
        self.conflicts.append((step.index, frozenset(uuids)))

    def _make_unsure(self, uuid: str, step: Step) -> None:
        held = self._history[uuid][-1]
        if held.sure:
            self._history[uuid].append(held.make_unsure(step))

    def record_own_version(self, update: Update) -> None:
        """Record a version that the peer itself wrote and sent, but that no command explains.

        A peer that sends late may already have a newer version.
        """
        if update.uuid is None:
            return
        held = self.current_state(update.uuid)
        others = [each for each in held.candidates if each.version != update.version] if held is not None else []
        if held is None or update.version not in held.versions or not held.sure:
            newest = all(dominates(update.clock, other.clock) for other in others)
            candidates = (update,) if newest else (update, *others)
            self.set_state(update.uuid, RecordState(update.step, candidates, sure=newest, conflict=not newest))


def _may_overtake(update: Update, held: RecordState, outcome: str, quiet: int) -> bool:
    """May a peer read an update before the present version, and then keep the update?

    The core protocol keeps the order of messages on one link, but not between two links.
    """
    there = held.update
    if outcome not in ("older", "equal") or there is None or there.link.number == update.link.number:
        return False
    later = there.time is not None and update.time is not None and there.time > update.time
    return there.step.index > quiet and held.change is None and not (outcome == "older" and later)


def _is_later(update: Update, held: RecordState | None) -> bool:
    """Does an update have a larger update_time than all candidates?"""
    times = [candidate.time for candidate in held.candidates] if held is not None else []
    return update.time is not None and all(time is not None and time < update.time for time in times)


def _last_before(history: list[RecordState], index: int) -> RecordState | None:
    place = bisect_right(history, index, key=lambda held: held.step.index)
    return history[place - 1] if place else None


def _possible_keys(held: RecordState | None) -> set[object]:
    """The keys that a record may have; empty if it is deleted.

    After a conflict about a key, the update that is sent for a change may have another key than the change.
    """
    if held is None:
        return set()
    asked = {held.change.key} if held.change is not None and held.change.kind != "delete" else set()
    return asked | {update.key for update in held.candidates if not update.deleted and update.key is not None}
