"""Judges whether peers track deletions indefinitely."""

from __future__ import annotations

from collections.abc import Iterator

from ....judging.formats import identifier
from ...properties import Sighting, observe_met, observe_violation
from ..view.facts import RecordVersion, Update, dominates
from .club_view import ClubView, PeerHistory
from .registry import global_property


@global_property(
    "G-C03",
    "No deleted record comes back",
    "56",
    codes={"came-back": "a peer shows a version that is older than the deletion of the record"},
)
def deleted_records_stay_deleted(view: ClubView) -> Iterator[Sighting]:
    """A peer that received the deletion of a record does not show a version that the deletion descends from.

    A version with a larger update_time than the deletion is not judged: some peers see the two as concurrent (CA-8).
    """
    for side in view.histories.values():
        last: Sighting | None = None
        wrong = False
        for shown in side.view.shown_states:
            act = view.act_of(side, shown.step)
            as_of = view.act_of(side, shown.as_of)
            if act is None or as_of is None:
                continue
            for uuid, deletions in _find_deletions(side, as_of.number).items():
                seen = shown.records.get(uuid)
                ghost = _find_deletion_of(view, seen, deletions) if seen is not None and not seen.deleted else None
                if ghost is None:
                    last = observe_met(act)
                    continue
                wrong = True
                assert seen is not None
                expected = f"{side.view.named(ghost)}, after which {identifier(seen.key or '')} is gone"
                verb = "sends a new peer" if shown.on_the_wire else "shows"
                older = f"{side.name} {verb} revision {seen.rev} of the record, which is older than the deletion"
                yield observe_violation(act, "", "came-back", expected, older)
        if last is not None and not wrong:
            yield last


def _find_deletions(side: PeerHistory, number: int) -> dict[str, list[Update]]:
    """The deletions that a peer received or made before an act, by uuid, since it last lost its store."""
    found: dict[str, list[Update]] = {}
    for version, (at, update) in side.known_versions.items():
        if at < number and update.deleted:
            found.setdefault(version[0], []).append(update)
    return found


def _find_deletion_of(view: ClubView, seen: RecordVersion, deletions: list[Update]) -> Update | None:
    """The deletion that a shown version contradicts; None if there is none."""
    facts = view.versions.get(seen.version) if seen.version is not None else None
    if facts is None or len(facts.contents) > 1 or facts.first.time is None:
        return None
    for deletion in deletions:
        older = dominates(deletion.clock, facts.first.clock) and deletion.version != seen.version
        if older and deletion.time is not None and deletion.time > facts.first.time:
            return deletion
    return None
