"""Finds out whether an implementation supports the requester's and the responder's side of SDS-R.

Each step of a repair request is a SHOULD: "SHOULD populate the repair_request field", "SHOULD add any unmet causal
dependencies to its outgoing repair request buffer". Each step of a response is a SHOULD, too: "SHOULD add the request
to its incoming repair request buffer", "SHOULD broadcast the corresponding Message". An implementation that does not
support a side violates only these SHOULDs. The other rules of a side apply only to implementations that support the
side (AMB-141).
"""

from __future__ import annotations

from ....judging.view_cache import cache_per_view
from .channel_view import ChannelView
from .responder import answered_any


@cache_per_view
def requests_any_repair(view: ChannelView) -> bool:
    """Does any participant in the trace request a repair, or show a planned request, in any channel?"""
    return _any_participant_requests(view.views_in_channel[0])


@cache_per_view
def _any_participant_requests(view: ChannelView) -> bool:
    """Does any participant in the trace request a repair? The result is cached for all views, because there may be
    thousands.
    """
    steps = view.trace.steps
    return any(message.repair_request for step in steps for message in step.messages) or any(
        step.state is not None and step.state.outgoing_repairs.entries for step in steps
    )


@cache_per_view
def answers_any_request(view: ChannelView) -> bool:
    """Does any participant in the channel answer a request, even for its own message, or show a planned response?"""
    return any(
        answered_any(other, others=False) or any(o.state.incoming_repairs.entries for o in other.observed)
        for other in view.views_in_channel
    )
