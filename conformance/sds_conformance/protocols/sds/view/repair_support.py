"""The sides of SDS-R that an implementation supports, by the states and messages that it shows.

Each step of a repair request is a SHOULD: "SHOULD populate the repair_request field", "SHOULD add any unmet causal
dependencies to its outgoing repair request buffer". So is each step of an answer: "SHOULD add the request to its
incoming repair request buffer", "SHOULD broadcast the corresponding Message". An implementation that leaves a side out
violates these. The other rules of a side bind only implementations that support it (AMB-141).
"""

from __future__ import annotations

from ....judging.view_cache import cache_per_view
from .channel_view import ChannelView
from .responder import answered_any


@cache_per_view
def requests_any_repair(view: ChannelView) -> bool:
    """Does any participant here request a repair, or show that it will, in any channel?"""
    return _any_participant_requests(view.views_in_channel[0])


@cache_per_view
def _any_participant_requests(view: ChannelView) -> bool:
    """Computed once for all participants in a channel; there may be thousands."""
    steps = view.trace.steps
    return any(message.repair_request for step in steps for message in step.messages) or any(
        step.state is not None and step.state.outgoing_repairs.entries for step in steps
    )


@cache_per_view
def answers_any_request(view: ChannelView) -> bool:
    """Does any participant in the channel answer a request, even for its own message, or show that it will?"""
    return any(
        answered_any(other, others=False) or any(o.state.incoming_repairs.entries for o in other.observed)
        for other in view.views_in_channel
    )
