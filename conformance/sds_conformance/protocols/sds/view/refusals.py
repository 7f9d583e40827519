"""What was refused. A refusal is no alibi: what is valid was sent for something, which then does not come about."""

from __future__ import annotations

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from .channel_view import ChannelView
from .dependencies import depends
from .facts import Received


def offered(view: ChannelView) -> list[Received]:
    """All that arrived, refused or not, in order."""
    return sorted(view.received + view.refused, key=lambda received: received.step.index)


def heard(view: ChannelView) -> bool | None:
    """Did the participant take anything of what it was sent? None if nothing tells, or nothing had to be taken."""
    if view.delivered or any(ack.step.command == "receive" for ack in view.acks):
        return True
    told = view.can(pb.CAPABILITY_DELIVERED)
    answered = (r for r in offered(view) if r.valid and not r.duplicate and r.step.reply is not None)
    due = [r for r in answered if not excuse(view, r)]
    if not due or not all(r.rejected or (told and r.acceptable and not r.unmet) for r in due):
        return None if told or all(r.rejected for r in due) else True
    return False


def excuse(view: ChannelView, received: Received) -> str:
    """Why a message may be refused that is none of the participant's own, by a declared limit or a position; "" if
    nothing excuses it."""
    if received.odd:
        return received.odd
    unlogged = {Kind.EPHEMERAL} if view.revision.syncs_are_logged else {Kind.EPHEMERAL, Kind.SYNC}
    for message_id in sorted(received.unmet - view.known_ids):
        if any(other.kind in unlogged for other in view.arrivals.get(message_id, ())):
            return f"a dependency on {message_id!r}, which is in no log (AMB-40, AMB-41)"
    message_id = received.message.message_id
    if any(depends(view, dependency, message_id) for dependency in received.unmet):
        return "a dependency on what depends on it (AMB-45)"
    return ""
