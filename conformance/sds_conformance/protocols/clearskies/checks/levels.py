"""Section "Access Levels": who may change what, and who passes it on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.clubs import READ_WRITE
from sds_harness.clearskies.trace import Step

from ....judging.judgement import Observation, held, judged, violated
from ..register import check
from ..view.facts import COMMANDS, Change, Seen, Update, Version, has_zeros, same_content
from ..view.knowledge import SAFE_INTEGER, Arrival, fits_limits, made_by_a_reader
from ..view.peer_view import PeerView
from ..view.spreading import answers, relays_owed, untold

_OF_A_KEY = 1_000
"""Characters of a key that everybody has room for."""
_REFUSED = {"put": "write-refused", "rename": "rename-refused", "delete": "deletion-refused"}
"""The code for a command that is refused."""


@check("CSDB-02", of="received shown")
def changes_of_writers_are_taken(view: PeerView) -> Iterator[Observation]:
    """A record that a read-write peer has made is there afterwards, and one that it has deleted is deleted."""
    for arrival in view.arrivals:
        update = arrival.update
        if not (arrival.outcome == "new" or (arrival.outcome == "newer" and update.deleted)):
            continue  # a change of what is there: CSDB-50
        if update.largest > SAFE_INTEGER or view.put_together(arrival) or not update.in_milliseconds:
            continue  # CSDB-25 and CSDB-41, CSDB-37, CSDB-11
        if has_zeros(update):
            continue  # CSDB-43
        if (proof := view.proof(arrival)) is not None:
            expected = f"{view.named(update)}, which came at step {update.step.index}"
            code = "deletion-not-taken" if update.deleted else "update-not-taken"
            yield judged(proof.shown.step, code, proof.is_there, expected, view.had(proof))


@check("CSDB-02", of="writes")
def writers_can_write(view: PeerView) -> Iterator[Observation]:
    """The application of a read-write peer can write any record, and delete what is there."""
    for step in view.steps:
        if step.command not in COMMANDS or step.answer not in ("effects", "rejected"):
            continue
        if step.effects is not None:
            yield held(step)
        elif (what := _possible(view, step)) and not view.in_conflict(step) and not _counted_out(view, step):
            yield violated(step, _REFUSED[step.command], f"{what}: the peer may write", f"a refusal: {step.refusal}")


@check("CSDB-03", of="reads-only")
def readers_cannot_write(view: PeerView) -> Iterator[Observation]:
    """The application of a read-only peer is refused what it wants to write."""
    for step in view.steps:
        if step.command in COMMANDS and step.reply is not None:
            made = step.uuid or any(update.by == view.peer_id for update in view.sent)
            seen = f"a change of {step.uuid!r}" if step.uuid else "a change in its own name"
            yield violated(step, "reader-writes", "a refusal: the peer is read-only", seen) if made else held(step)


@check("CSDB-03", of="received")
def changes_of_readers_are_refused(view: PeerView) -> Iterator[Observation]:
    """What a read-only peer has changed, or passes on without the signature of a read-write peer, is not kept."""
    yield from not_kept(
        view,
        lambda arrival: made_by_a_reader(view.link_of(arrival.update), arrival.update),
        "reader-update-taken",
        "reader-update-counted",
    )


@check("CSDB-05", pb.CAPABILITY_READ_ONLY, of="reads-only")
def readers_pass_on(view: PeerView) -> Iterator[Observation]:
    """A read-only peer passes on what it is told, and answers with it, signed by a read-write peer."""
    for owed in relays_owed(view):
        if owed.arrival is not None and owed.settled:
            expected = f"{view.named(owed.arrival.update)}, for {view.end_of(owed.link)}"
            yield judged(owed.cause, "update-not-relayed", bool(owed.copies), expected, "nothing of it on that link")
    for answer in answers(view):
        for update in answer.missing:
            expected = f"{view.named(update)}, for {view.end_of(answer.link)}"
            yield violated(answer.request.step, "record-left-out", expected, "nothing of it on that link")
    for shown, link, missing in untold(view):
        for left in missing:
            if left.version in unsigned(view):
                expected = f"{left.key!r}, which is shown, for {view.end_of(link)}, with a signature"
                yield violated(
                    shown.step, "unsigned-update-kept", expected, "nothing of it: it came without one, and was kept"
                )
    doubtful = {arrival.update.version for arrival in view.arrivals if arrival.must_not} - unsigned(view)
    # CSDB-03, CSDB-06
    for update in view.sent:
        if update.message.profile is not None and update.version not in doubtful:
            met = update.signer is READ_WRITE
            code, seen = fault_of_signature(update)
            expected = f"{view.named(update)}, with the signature of a read-write peer"
            yield judged(update.step, code, met, expected, seen)


@check("CSDB-06", of="received")
def forged_updates_are_refused(view: PeerView) -> Iterator[Observation]:
    """What comes with a signature of nobody in the club is not kept, nor passed on."""
    yield from not_kept(view, _forged, "forged-update-taken", "forged-update-counted")


def _counted_out(view: PeerView, step: Step) -> bool:
    """Has somebody told the peer of own numbers so large that its counters may be at their end?"""
    came = [update for update in view.received if update.step.index < step.index]
    own = [update.rev or 0 for update in came if update.by == view.peer_id]
    own += [(update.clock or {}).get(view.peer_id, 0) for update in came]
    return max(own, default=0) > SAFE_INTEGER


def _possible(view: PeerView, step: Step) -> str:
    """What a refused command asked for that nothing is wrong with, "" if there is something: such as a key that is not
    there, or is taken, or a value that is too large, or no JSON."""
    keys: dict[str, Change] = {}
    for change in view.changes:
        if change.step.index < step.index:
            keys.pop(change.old_key, None)
            keys |= {change.key: change} if change.kind != "delete" else {}
    command, taken = getattr(step.request, step.command), {arrival.update.key for arrival in view.arrivals}
    if step.command == "put":
        uuids = {change.uuid for change in keys.values()} | {arrival.update.uuid for arrival in view.arrivals}
        if command.uuid and command.uuid.lower() in uuids:
            return ""  # a suggestion that cannot be followed
        fits = fits_limits(view.trace.declaration, command.value)
        return f"to write {command.key!r}" if fits and len(command.key) <= _OF_A_KEY else ""
    if command.key not in keys or command.key in taken or not view.untouched(keys[command.key], step):
        return ""
    if step.command == "delete":
        return f"to delete {command.key!r}"
    free = command.new_key not in keys.keys() | taken and len(command.new_key) <= _OF_A_KEY
    return f"to rename {command.key!r} to {command.new_key!r}" if free else ""


def fault_of_signature(update: Update) -> tuple[str, str]:
    """The code for an update that has not the signature of a read-write peer, and what is seen of that."""
    if update.message.signature is None:
        return "not-signed", "no signature"
    return "wrong-signature", "a signature of another peer"


def unsigned(view: PeerView) -> set[Version | None]:
    """The versions that came to a read-only peer from a read-write one, without a signature (CA-17)."""
    return {
        arrival.update.version
        for arrival in view.refused
        if arrival.update.message.signature is None and view.link_of(arrival.update).level is READ_WRITE
    }


def not_kept(
    view: PeerView, concerns: Callable[[Arrival], bool], taken: str, counted: str, *, position: str = ""
) -> Iterator[Observation]:
    """Updates that must be refused and ``concerns`` selects are not shown or sent afterwards.

    ``taken`` and ``counted`` are the codes for an update that is shown or sent, and for one whose revision is asked
    from.
    """
    for arrival in filter(concerns, view.refused):
        update = arrival.update
        expected = f"no trace of {view.named(update)}, which came at step {update.step.index}: {arrival.must_not}"
        sent = next((u for u in view.sent if u.step.index >= update.step.index and _is_copy(u, update)), None)
        others = [a for a in view.arrivals if a.update.by == update.by and a is not arrival]
        asked = [r for r in view.asked if r.step.index > update.step.index and str(update.by) in (r.since or {})]
        asked = asked if update.by != view.peer_id else []  # of its own it knows better
        if sent is not None:
            yield violated(sent.step, taken, expected, f"a copy for {view.end_of(view.link_of(sent))}", position)
        elif asked and not others and (asked[0].since or {})[str(update.by)] == update.rev:
            yield violated(asked[0].step, counted, expected, "a request for all that follows it", position)
        elif later := [shown for shown in view.shown if shown.as_of.index > update.step.index]:
            there = [
                s for s in later if (seen := s.records.get(str(update.uuid))) is not None and _is_copy(seen, update)
            ]
            yield judged((there or later)[0].step, taken, not there, expected, "it is there", position)


def _is_copy(found: Update | Seen, of: Update) -> bool:
    """Is it that update? A peer may by chance make a version of the same number, which says something else."""
    return found.version == of.version and same_content(found.content, of.content)


def _forged(arrival: Arrival) -> bool:
    """Has it a signature of nobody in the club?"""
    return arrival.update.message.signature is not None and arrival.update.signer is None
