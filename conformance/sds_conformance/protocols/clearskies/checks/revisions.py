"""Section "Requesting Updates": revisions."""

from __future__ import annotations

from collections.abc import Iterator

from clearskies_proto.testee.v1 import testee_pb2 as pb

from ....judging.judgement import Observation, held, judged, violated
from ..register import check
from ..view.facts import renames_in_place, same_content
from ..view.knowledge import SAFE_INTEGER
from ..view.peer_view import PeerView, Successive
from .layout import repeated


@check("CSDB-25", of="own")
def revisions_start_with_one(view: PeerView) -> Iterator[Observation]:
    """The first local change has the revision 1 or 2."""
    yield from _first(view, after_others=False)


@check("CSDB-25", pb.CAPABILITY_WIDE_INTEGERS, of="received shown")
def wide_revisions_survive(view: PeerView) -> Iterator[Observation]:
    """A revision above 2^53 is the same when the record is shown or passed on."""
    for arrival in view.arrivals:
        if arrival.outcome == "new" and (arrival.update.rev or 0) > SAFE_INTEGER:
            proof = view.proof(arrival)
            if proof is not None:
                lost = ("wide-revision-changed", f"{proof.seen.rev}") if proof.seen is not None else None
                code, seen = lost or ("wide-revision-not-taken", "no trace of it")
                yield judged(proof.shown.step, code, proof.is_there, f"revision {arrival.update.rev}", seen, "CA-6")
    came = {arrival.update.version for arrival in view.arrivals}
    wide = [arrival.update for arrival in view.arrivals if (arrival.update.rev or 0) > SAFE_INTEGER]
    for update in view.sent if wide else ():
        for other in wide if update.version not in came else ():
            if (other.uuid, other.by) == (update.uuid, update.by) and same_content(other.content, update.content):
                yield violated(
                    update.step, "wide-revision-changed", f"revision {other.rev}, as it came", f"{update.rev}", "CA-6"
                )


@check("CSDB-26", of="own")
def revisions_count_on(view: PeerView) -> Iterator[Observation]:
    """From one local change to the next the revision grows by one."""
    for both in view.successive_changes:
        if not _meanwhile(view, both):
            yield from _counted(view, both, "revision-skipped")
        before, after = both.one.rev, both.other.rev
        again = before is not None and after is not None and after <= before and both.one.uuid != both.other.uuid
        opened = any(s.command == "open" for s in view.steps if both.one.step.index < s.index < both.other.step.index)
        if again and opened and view.known.same_era(both.one.step.index, both.other.step.index):
            expected = f"a revision above {before}, which went out at step {both.one.step.index}"
            yield violated(both.other.step, "revision-reused", expected, f"{after}, of another record")


@check("CSDB-27", of="changes")
def own_changes_have_its_name(view: PeerView) -> Iterator[Observation]:
    """In a local change, last_updated_by is the ID of the peer."""
    for change in view.changes:
        copies = [
            u for u in view.sent if u.step is change.step and change.is_in(u) and u.by not in (None, view.peer_id)
        ]
        if change.shown is not None:
            yield held(change.shown.step)
        elif copies:
            yield violated(
                copies[0].step, "wrong-writer", f"a change by {view.party.name}", f"one by {view.name(copies[0].by)}"
            )


@check("CSDB-28", of="own received")
def changes_of_others_do_not_count(view: PeerView) -> Iterator[Observation]:
    """The own revision grows by one, however many changes of others came meanwhile."""
    yield from _first(view, after_others=True)
    for update in view.unexplained:
        original = repeated(view, update)
        if original is not None and original.rev != update.rev:  # else CSDB-09
            expected = f"no change of its own for {view.named(original)}, which came"
            yield violated(update.step, "counted-as-own", expected, f"its revision {update.rev}, which says the same")
    for both in view.successive_changes:
        between = range(both.one.step.index, both.other.step.index)
        if _meanwhile(view, both) and not _told_of_own(view, between, both.one.rev or 0):
            yield from _counted(view, both, "others-counted")


def _first(view: PeerView, *, after_others: bool) -> Iterator[Observation]:
    """The first change has 1 or 2 (CA-4), be it before or after what others have changed."""
    for change in view.changes[:1]:
        if change.shown is None or not change.is_in(change.shown):
            continue  # CSDB-27, CSDB-07, or what the peer made of it since
        seen = change.shown.rev
        lower = {update.rev for update in view.own if (update.rev or 0) < (seen or 0)}  # such as the half of a rename
        came = any(arrival.step.index < change.step.index for arrival in view.arrivals)
        alone = view.opened_afresh(change.step) and not view.in_conflict(change.shown.step)
        alone = alone and not any(renames_in_place(step) for step in view.steps if step.index < change.step.index)
        alone = alone and not _told_of_own(view, range(change.step.index), 0)
        if seen is not None and alone and came is after_others:
            first = seen - len(lower)
            met = first <= 2 if after_others else first in (1, 2)
            code = "first-revision-too-high" if first > 2 else "first-revision-zero"
            code = "others-counted" if after_others else code
            yield judged(change.step, code, met, "revision 1 or 2 for the first change", f"{seen}")


def _told_of_own(view: PeerView, when: range, known: int) -> bool:
    """Was the peer told then of a change in its own name, with a higher revision? It may count on from that: no
    revision is to be used twice, and it may have forgotten what it did."""
    return any(
        a.step.index in when and a.update.by == view.peer_id and (a.update.rev or 0) > known for a in view.arrivals
    )


def _meanwhile(view: PeerView, both: Successive) -> bool:
    """Did anything of others come between two changes?"""
    return any(both.one.step.index < a.step.index < both.other.step.index for a in view.arrivals)


def _counted(view: PeerView, both: Successive, code: str) -> Iterator[Observation]:
    """What is between two revisions and goes out, too, is a change like these: some take two to rename a record."""
    before, after, most = both.one.rev, both.other.rev, both.most
    if before is not None and after is not None and most is not None and after > before:  # else CSDB-10
        if any(before <= (update.rev or 0) <= after + 1 for update in view.unexplained):
            return  # what that took is not known
        shown = {update.rev for update in view.own if both.one.step.index <= update.step.index}
        most += sum(before < revision < after for revision in shown if revision is not None)
        upper = f" to {before + most}" if most > 1 else ""
        expected = f"revision {before + 1}{upper}, after {before} at step {both.one.step.index}"
        yield judged(both.other.step, code, after <= before + most, expected, f"{after}")
