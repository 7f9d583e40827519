"""Relaying: the relayed updates, the relaying peers, and the end of the traffic."""

from __future__ import annotations

from collections.abc import Iterator

from ....judging.judgement import Outcome
from ...properties import Sighting, observe_met, observe_outcome, observe_violation
from .club_view import ClubView
from .registry import global_property


def _first_violation_per_peer(sightings: Iterator[Sighting]) -> Iterator[Sighting]:
    """Yield the first violation of each peer; for a peer without one, the last place where the property holds."""
    last: dict[str, Sighting] = {}
    wrong: set[str] = set()
    for sighting in sightings:
        who = sighting.act.who
        if sighting.outcome is Outcome.HELD:
            last[who] = sighting
        elif who not in wrong:
            wrong.add(who)
            yield sighting
    yield from (sighting for who, sighting in last.items() if who not in wrong)


@global_property(
    "G-C04",
    "Peers keep only updates that a peer with write access wrote",
    "06",
    "03",
    "47",
    codes={"never-received": "a peer sends an update that it received from no peer with write access"},
)
def peers_send_only_authorized_updates(view: ClubView) -> Iterator[Sighting]:
    """A peer relays only updates that it received unchanged from a read-write peer, or signed by a read-write peer.

    A peer that received a message that can be read in different ways is not judged. A record that lost a conflict may
    be sent as deleted (CA-8).
    """
    unexplained = {id(update): None for _, _, update in view.never_received}

    def judge_all() -> Iterator[Sighting]:
        for act, side, update in view.sent:
            if update.version is None or update.by == side.peer_id or side.is_ambiguous:
                continue
            if update.deleted and update.uuid in side.view.contested(act.step):
                continue
            expected = "only updates that the peer wrote, or received unchanged from a peer with write access"
            seen = f"{side.view.named(update)}, which no peer with write access sent to the peer unchanged"
            yield observe_outcome(act, "", "never-received", id(update) not in unexplained, expected, seen)

    yield from _first_violation_per_peer(judge_all())


@global_property(
    "G-C05", "Gossip ends", "19", "48", codes={"never-ends": "peers never stop sending each other updates"}
)
def gossip_ends(view: ClubView) -> Iterator[Sighting]:
    """After the last write, peers stop sending updates (CA-3).

    Not judged if applications resolve conflicts: each resolution may be a change that causes the next conflict (CA-8).
    """
    if dict(view.group_trace.schedule.configuration).get("resolution"):
        return
    relayed = [(act, side) for act, side, update in view.sent if update.by not in (None, side.peer_id)]
    if any(trace.unsettled for trace in view.group_trace.traces):
        act = view.group_trace.acts[-1]
        seen = "peers that continue after thousands of updates"
        yield observe_violation(act, "", "never-ends", "peers that stop sending updates", seen)
    elif view.group_trace.settled and relayed:
        yield observe_met(relayed[-1][0])
