"""Positions on messages that no conforming participant sends: they are refused, delivered, dropped, or wait forever.

A refusal counts only if the participants in the channel accept ordinary messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from ....judging.view_cache import cache_per_view
from ..register import shows
from ..view.channel_view import ChannelView
from ..view.dependencies import depends_on
from ..view.facts import Received
from ..view.odd_messages import LARGEST_HISTORY, LARGEST_LAMPORT, NAMELESS
from ..view.refusals import arrived_in_order, excuse_refusal
from ..view.windows import DAY_MS


@cache_per_view
def accepts_ordinary_messages(view: ChannelView) -> bool:
    """Did the participants in the channel accept every valid message, and at least one?"""
    unfounded = any(r.valid and not excuse_refusal(each, r) for each in view.views_in_channel for r in each.refused)
    return not unfounded and any(r.valid and not r.rejected for each in view.views_in_channel for r in each.received)


def _yield_option(view: ChannelView, step: Step, way: str) -> Iterator[tuple[Step, str]]:
    """Yield (step, "refuses") if the command was refused, else (step, ``way``) unless ``way`` is ""."""
    if step.answer != "rejected":
        yield from [(step, way)] if way else []
    elif accepts_ordinary_messages(view):
        yield step, "refuses"


# ---- Messages of the channel -----------------------------------------------------------------------------------------


def _dependencies_of(received: Received) -> set[str]:
    return {entry.message_id for entry in received.message.causal_history}


def _longest_list(received: Received) -> int:
    return max(len(received.message.causal_history), len(received.message.repair_request))


def _depends_on_itself(view: ChannelView, received: Received) -> bool:
    """Do a message and another message depend on each other?"""
    message_id = received.message.message_id
    if message_id in received.unmet or (received.delivered and not received.delivered[0].unmet):
        return False
    return any(depends_on(view, dependency, message_id) for dependency in received.unmet)


def _is_far_ahead(view: ChannelView, received: Received) -> bool:
    """Is the Lamport timestamp of a message more than a day ahead of the current time, without another defect of the
    message?
    """
    ahead = received.step.now_ms + DAY_MS < (received.message.lamport_timestamp or 0) <= LARGEST_LAMPORT
    odd_otherwise = received.oddity and not received.oddity.endswith("(AMB-107)")
    return ahead and not (odd_otherwise or received.duplicate or received.unmet)


def _option_of_waiting(view: ChannelView, received: Received) -> str:
    """The way "delivers" or "waits" that the treatment of a message shows; "" if no sweep ran after its arrival."""
    swept = any(tick.index > received.step.index for tick in view.ticks[-1:])
    return "delivers" if received.delivered else "waits" if swept and view.can(pb.CAPABILITY_DELIVERED) else ""


def _option_of_delivery(view: ChannelView, received: Received) -> str:
    if not view.can(pb.CAPABILITY_DELIVERED):
        return ""
    return "takes" if received.delivered_at_once else "drops" if not received.delivered else ""


def _shows_fate(
    position: str,
    kind: Kind | None,
    is_odd: Callable[[ChannelView, Received], bool],
    option: Callable[[ChannelView, Received], str],
) -> None:
    """Register a function that shows how odd messages of a kind (None for any kind) are treated.

    It yields "refuses", or the way that ``option`` returns for a message. ``option`` returns "" if the treatment of the
    message shows no way.
    """

    @shows(position, of="arrived")
    def fate_of_odd_messages(view: ChannelView) -> Iterator[tuple[Step, str]]:
        for received in arrived_in_order(view):
            if kind in (received.kind, None) and not received.own and is_odd(view, received):
                for step, way in _yield_option(view, received.step, option(view, received)):
                    yield received.delivered[0].step if way == "delivers" else step, way


_shows_fate("AMB-14", None, lambda view, r: r.oddity.endswith("(AMB-14)"), lambda view, r: "")
_shows_fate(
    "AMB-35",
    Kind.UNDEFINED,
    lambda view, r: r.message.message_id != "" and r.step.answer in ("effects", "rejected"),
    lambda view, r: "speaks" if r.step.events else "ignores",
)
_shows_fate("AMB-44", Kind.CONTENT, lambda view, r: r.message.message_id in _dependencies_of(r), _option_of_waiting)
_shows_fate("AMB-45", Kind.CONTENT, _depends_on_itself, _option_of_waiting)
_shows_fate("AMB-46", Kind.CONTENT, lambda view, r: _dependencies_of(r) == {""}, _option_of_waiting)
_shows_fate(
    "AMB-47",
    Kind.CONTENT,
    lambda view, r: _longest_list(r) > LARGEST_HISTORY,
    lambda view, r: "takes" if r.delivered_at_once or r.step.signals("missing", view.channel_id) else "",
)
_shows_fate(
    "AMB-50", Kind.CONTENT, lambda view, r: r.oddity == NAMELESS and not (r.duplicate or r.unmet), _option_of_delivery
)
_shows_fate(
    "AMB-51", Kind.CONTENT, lambda view, r: not r.message.message_id and not _dependencies_of(r), _option_of_delivery
)
_shows_fate("AMB-107", Kind.CONTENT, _is_far_ahead, lambda view, r: "delivers" if r.delivered_at_once else "")


# ---- Messages of no channel, and empty content -----------------------------------------------------------------------


def _arrivals(view: ChannelView) -> Iterator[Step]:
    """Yield the steps in which the participant received a message. Yield nothing for all but the first of its channels.

    Some messages belong to no channel, so they would be counted once for each channel.
    """
    if view.channel_id == next(iter(view.party.channels), view.channel_id):
        yield from (s for s in view.trace.of(view.party.name) if s.command == "receive" and s.reply is not None)


def _content_elsewhere(view: ChannelView, *, named: bool) -> Iterator[tuple[Step, str]]:
    """Yield how the participant treats content without dependencies whose channel ID belongs to a channel that it never
    joined (``named``) or is unset.
    """
    for step in _arrivals(view) if not view.party.unnamed else ():
        message = step.arrived
        if message is None or message.kind is not Kind.CONTENT or message.causal_history or not message.message_id:
            continue
        if message.channel_id not in view.party.channels and bool(message.channel_id) == named:
            opened = step.signals("delivered", message.channel_id)
            yield from _yield_option(view, step, "opens" if opened else "ignores" if not step.events else "")


@shows("AMB-48", pb.CAPABILITY_DELIVERED)
def unknown_channels(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether content for a channel that was never joined is refused, delivered or ignored."""
    return _content_elsewhere(view, named=True)


@shows("AMB-49", pb.CAPABILITY_DELIVERED)
def no_channel(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether content without a channel ID is refused, delivered in a channel without a name, or ignored."""
    return _content_elsewhere(view, named=False)


@shows("AMB-52")
def bytes_that_are_no_message(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether bytes that cannot be decoded are refused, are ignored, or cause a signal or a broadcast."""
    for step in _arrivals(view):
        if step.arrived is None and step.answer in ("effects", "rejected"):
            yield from _yield_option(view, step, "takes" if step.events or step.broadcasts else "ignores")


@shows("AMB-34")
def content_of_no_length(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether a command to send empty content is refused, or a message is sent."""
    for step in view.trace.of(view.party.name):
        if step.command == "send" and step.channel_id == view.channel_id and not step.request.send.content:
            if step.answer == "rejected":
                yield step, "refuses"
            elif step.broadcasts:
                yield step, "sends"
