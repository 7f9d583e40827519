"""Relaying: the relayed updates, the relaying peers, and the end of the traffic."""

from __future__ import annotations

from collections.abc import Iterator

from ...properties import Sighting, observe_met, observe_violation
from .club_view import ClubView
from .registry import global_property


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
    never_received = set(map(id, view.never_received))
    expected = "only updates that the peer wrote, or received unchanged from a peer with write access"
    held: dict[str, Sighting] = {}
    """By peer: the last place where the property holds."""
    wrong: set[str] = set()
    """The peers that violated the property. Only their first violation is reported."""
    for act, side, update in view.sent:
        if update.version is None or update.by == side.peer_id or side.is_ambiguous:
            continue
        if update.deleted and update.uuid in side.view.contested(act.step):
            continue
        if id(update) not in never_received:
            held[side.name] = observe_met(act)
        elif side.name not in wrong:
            wrong.add(side.name)
            seen = f"{side.view.named(update)}, which no peer with write access sent to the peer unchanged"
            yield observe_violation(act, "", "never-received", expected, seen)
    yield from (sighting for who, sighting in held.items() if who not in wrong)


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
