"""Which halves of SDS-R an implementation takes part in, by what it shows and sends.

That what is missing is asked for is a SHOULD, at each step of it: "SHOULD populate the repair_request field", "SHOULD
add any unmet causal dependencies to its outgoing repair request buffer". So is that others are answered: "SHOULD add
the request to its incoming repair request buffer", "SHOULD broadcast the corresponding Message". Whoever leaves a half
out is told so by these; how the half is to be done binds who does it (AMB-141).
"""

from __future__ import annotations

from ....judging.once import once
from .channel_view import ChannelView
from .responder import answers_at_all


@once
def asks_for_anything(view: ChannelView) -> bool:
    """Does anybody here ask for anything, or show that it is going to, in whatever channel?"""
    return _anybody_asks(view.everybody[0])


@once
def _anybody_asks(view: ChannelView) -> bool:
    """Once for all who are in a channel, of whom there may be thousands."""
    steps = view.trace.steps
    return any(message.repair_request for step in steps for message in step.messages) or any(
        step.state is not None and step.state.outgoing_repairs.entries for step in steps
    )


@once
def answers_for_anything(view: ChannelView) -> bool:
    """Does anybody in the channel answer any request, if only for messages of its own, or show that it will?"""
    return any(
        answers_at_all(other, others=False) or any(o.state.incoming_repairs.entries for o in other.observed)
        for other in view.everybody
    )
