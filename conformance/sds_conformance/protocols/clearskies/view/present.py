"""What there is in a view at all: checks say which of it they are about, and are not asked where there is none."""

from __future__ import annotations

from collections.abc import Callable

from sds_harness.clearskies.clubs import READ_ONLY

from .peer_view import PeerView

PRESENT: dict[str, Callable[[PeerView], object]] = {
    "links": lambda view: view.links,
    "links-to-readers": lambda view: any(link.level is READ_ONLY for link in view.links),
    "writes": lambda view: view.writes,
    "reads-only": lambda view: not view.writes,
    "sent": lambda view: view.sent,
    "received": lambda view: view.received,
    "asked": lambda view: view.asked,
    "requests": lambda view: view.requests,
    "changes": lambda view: view.changes,
    "own": lambda view: view.own,
    "shown": lambda view: view.shown,
}
