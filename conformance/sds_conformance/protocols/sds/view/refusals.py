"""What was refused. A refusal is no alibi: what is valid was sent for something, which then does not come about."""

from __future__ import annotations

from sds_reference import Kind

from .channel_view import ChannelView
from .dependencies import depends
from .facts import Received


def offered(view: ChannelView) -> list[Received]:
    """All that arrived, refused or not, in order."""
    return sorted(view.received + view.refused, key=lambda received: received.step.index)


def excuse(view: ChannelView, received: Received) -> str:
    """Why a message may be refused that is none of the participant's own, by a declared limit or a position; "" if
    nothing excuses it."""
    if received.odd:
        return received.odd
    unlogged = {r.message.message_id: r.kind for r in offered(view) if r.kind in (Kind.SYNC, Kind.EPHEMERAL)}
    strangers = (unlogged.keys() & received.unmet) - view.known_ids
    if strangers and not view.revision.syncs_are_logged:
        return f"a dependency on {min(strangers)!r}, which is in no log (AMB-40, AMB-41)"
    message_id = received.message.message_id
    if any(depends(view, dependency, message_id) for dependency in received.unmet):
        return "a dependency on what depends on it (AMB-45)"
    return ""
