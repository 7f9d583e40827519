"""Counts the situations that a group trace reached, to measure the coverage of generated schedules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from sds_harness.clearskies.clubs import READ_ONLY
from sds_harness.clearskies.group_trace import GroupTrace
from sds_harness.clearskies.operations import Member, Reopen

from .properties.club_view import ClubView
from .properties.convergence import find_endings
from .view.peer_view import PeerView

SITUATIONS: dict[str, str] = {
    "relayed": "relayed changes of other peers",
    "through-readers": "changes that arrived through a read-only peer",
    "answered": "requests answered with several updates",
    "asked-again": "requests that name known revisions",
    "present": "updates that were already present",
    "newer": "updates newer than the present version",
    "older": "updates older than the present version",
    "conflict": "concurrent changes of one record",
    "key-twice": "keys that several records have",
    "renamed": "renamed records",
    "deleted": "deleted records",
    "refused": "updates that no peer may accept",
    "odd": "updates that may be refused",
    "closed": "links that a peer closed on its own initiative",
    "cut": "messages lost with a link",
    "restart": "peers that were opened again",
    "forgot": "peers that lost their records",
    "wrong-clock": "group traces with a clock that is wrong or was set",
    "settled": "clubs in which all peers had sent everything in the end",
    "converged": "groups of linked peers whose final records the specification decides",
}


def situations(group_trace: GroupTrace, views: Iterable[Any]) -> Counter[str]:
    """Count how often each situation arose."""
    out: Counter[str] = Counter()
    for view in views:
        _count_in_view(view, out)
    schedule = group_trace.schedule
    out["cut"] = len(group_trace.losses)
    reopened = [op for op in schedule.operations if isinstance(op, Reopen)]
    out["restart"] = len(reopened)
    kept = {member.name for member in schedule.members if isinstance(member, Member) and member.store}
    out["forgot"] = sum(op.forget or op.who not in kept for op in reopened)
    stepped = any(op.op == "step_clock" for op in schedule.operations)
    out["wrong-clock"] = int(stepped or any(member.clock_ms for member in schedule.members))
    out["settled"] = int(group_trace.settled)
    out["converged"] = sum(bool(ending.expected) for ending in find_endings(ClubView(group_trace)))
    return out


def _count_in_view(view: PeerView, out: Counter[str]) -> None:
    out["relayed"] += sum(update.by not in (None, view.peer_id) for update in view.sent)
    out["through-readers"] += sum(
        link.level is READ_ONLY and update.message.signer is not None for link in view.links for update in link.received
    )
    out["answered"] += sum(bool(link.requests) and len(link.sent) > 1 for link in view.links)
    out["asked-again"] += sum(bool(request.since) for request in view.asked)
    for arrival in view.arrivals:
        out[arrival.outcome] += arrival.outcome in ("present", "newer", "older", "conflict", "refused")
        out["odd"] += bool(arrival.excuse)
    keys: dict[str, set[str]] = {}
    names: dict[str, set[str]] = {}
    for update in [*view.received, *view.own]:
        if update.uuid is not None and update.key is not None and not update.deleted:
            keys.setdefault(update.key, set()).add(update.uuid)
            names.setdefault(update.uuid, set()).add(update.key)
        out["deleted"] += update.deleted
    out["key-twice"] += sum(len(uuids) > 1 for uuids in keys.values())
    out["renamed"] += sum(len(those) > 1 for those in names.values())
    out["closed"] += sum(link.connection.closed_by_peer for link in view.links)
