"""What is given up as lost, and what becomes of it."""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.sds.trace import Step
from sds_reference import Kind

from ..register import way
from ..view.channel_view import ChannelView
from ..view.facts import Received


def _reported(view: ChannelView) -> dict[str, Step]:
    """What was reported lost in the channel, with the step that did it first."""
    told: dict[str, Step] = {}
    for step, event in view.losses:
        for message_id in event.message_ids if event.channel_id == view.channel_id else ():
            told.setdefault(message_id, step)
    return told


def _waiting(view: ChannelView, lost: dict[str, Step]) -> Iterator[tuple[Received, Step]]:
    """Content that waited for what was given up, or was given up itself, with the step of that."""
    for received in view.received:
        if received.kind is not Kind.CONTENT or received.own or not received.unmet or received.delivered_at_once:
            continue
        steps = [lost[i] for i in (received.message.message_id, *received.unmet) if i in lost]
        given_up = min((s for s in steps if s.index > received.step.index), key=lambda s: s.index, default=None)
        if given_up is not None:
            yield received, given_up


@way(
    "AMB-92",
    {
        "gives-up-dependencies": "reports the dependency as lost",
        "gives-up-messages": "reports the message that waits as lost",
    },
)
def what_is_given_up(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """An ID that is reported lost had arrived by then, or never."""
    for message_id, step in _reported(view).items():
        came = any(received.step.index < step.index for received in view.arrivals.get(message_id, ()))
        yield step, "gives-up-messages" if came else "gives-up-dependencies"


@way("AMB-92", {"delivers": "delivers what waited for it", "drops": "drops what waited for it"}, of="received unmet")
def what_becomes_of_the_message(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """A message that waited for what was given up is delivered without it, or not in the buffer when that is shown."""
    lost = _reported(view)
    for received, given_up in _waiting(view, lost) if lost else ():
        message_id = received.message.message_id
        if received.delivered:
            delivery = received.delivered[0]
            if delivery.unmet & lost.keys():
                yield delivery.step, "delivers"
            continue
        shown = next((o for o in view.showing("incoming") if o.step.index > given_up.index), None)
        if shown is not None and message_id not in shown.state.incoming.message_ids:
            yield shown.step, "drops"


@way(
    "AMB-108",
    {"takes-it": "delivers it like any other message", "leaves-it": "does not deliver it any more"},
    of="received",
)
def what_comes_after_all(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """A message arrives, with all that it depends on, after it was reported lost: it is delivered by the next sweep."""
    lost = _reported(view)
    for received in view.received if lost else ():
        message_id = received.message.message_id
        if (
            not received.acceptable
            or received.unmet
            or lost.get(message_id, received.step).index >= received.step.index
        ):
            continue
        if received.delivered:
            yield received.step, "takes-it"
        elif any(tick.index > received.step.index for tick in view.ticks):
            yield received.step, "leaves-it"
