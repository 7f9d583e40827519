"""What becomes of messages that no conforming participant sends."""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from ..register import way
from ..view.channel_view import ChannelView
from ..view.odd_messages import LARGEST_HISTORY, NAMELESS
from ..view.refusals import offered
from .refusing import refused


def _arrivals_of_the_party(view: ChannelView) -> Iterator[Step]:
    """What a participant was given and answered, for one view of it: some of that is of no channel of its own."""
    if view.channel_id == next(iter(view.party.channels), view.channel_id):
        yield from (s for s in view.trace.of(view.party.name) if s.command == "receive" and s.reply is not None)


@way("AMB-48", {"ignores": "ignores it", "refuses": "refuses it", "opens": "opens the channel"})
def unknown_channels(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Content for a channel that was never joined, which waits for nothing, is refused, delivered there, or neither."""
    if not view.can(pb.CAPABILITY_DELIVERED) or view.party.unnamed:
        return
    for step in _arrivals_of_the_party(view):
        message = step.arrived
        if message is None or message.kind is not Kind.CONTENT or message.causal_history:
            continue
        if message.channel_id and message.channel_id not in view.party.channels and message.message_id:
            yield from _answered(view, step, message.channel_id)


@way("AMB-49", {"ignores": "ignores it", "refuses": "refuses it", "opens": "takes it for one of a channel of its own"})
def no_channel(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Content without a channel, which waits for nothing, is refused, delivered in one without a name, or neither."""
    if not view.can(pb.CAPABILITY_DELIVERED) or view.party.unnamed or "" in view.party.channels:
        return
    for step in _arrivals_of_the_party(view):
        message = step.arrived
        if message is None or message.channel_id or not message.message_id:
            continue
        if message.kind is Kind.CONTENT and not message.causal_history:
            yield from _answered(view, step, "")


def _answered(view: ChannelView, step: Step, channel_id: str) -> Iterator[tuple[Step, str]]:
    if step.answer == "rejected":
        yield from refused(view, step)
    elif step.signals("delivered", channel_id):
        yield step, "opens"
    elif not step.events:
        yield step, "ignores"


@way(
    "AMB-52", {"refuses": "refuses them", "ignores": "passes over them in silence", "takes": "makes something of them"}
)
def bytes_that_are_no_message(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Bytes that do not decode are refused, or answered without a signal or a broadcast, or with one."""
    for step in _arrivals_of_the_party(view):
        if step.arrived is None:
            if step.answer == "rejected":
                yield from refused(view, step)
            elif step.answer == "effects":
                yield step, "takes" if step.events or step.broadcasts else "ignores"


_FATES = {"takes": "takes it like any other", "refuses": "refuses it", "drops": "drops it without a word"}


@way("AMB-50", _FATES, of="arrived")
def no_sender(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Content that names no sender, and waits for nothing, is refused, delivered at once, or never."""
    for received in offered(view) if view.can(pb.CAPABILITY_DELIVERED) else ():
        if received.odd == NAMELESS and received.kind is Kind.CONTENT and not received.duplicate and not received.unmet:
            if received.rejected:
                yield from refused(view, received.step)
            elif received.delivered_at_once or not received.delivered:
                yield received.step, "takes" if received.delivered else "drops"


@way("AMB-51", _FATES, of="arrived")
def no_id(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Content without an ID, which waits for nothing, is refused, delivered, or not."""
    for received in offered(view) if view.can(pb.CAPABILITY_DELIVERED) else ():
        if not received.message.message_id and received.kind is Kind.CONTENT and not received.message.causal_history:
            if received.rejected:
                yield from refused(view, received.step)
            else:
                yield received.step, "takes" if received.delivered else "drops"


@way("AMB-47", {"takes": "takes it", "refuses": "refuses it"}, of="arrived")
def very_long_lists(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """A message with more than 200 entries in a list is refused, or delivered, or its dependencies are signalled."""
    for received in offered(view):
        message = received.message
        longest = max(len(message.causal_history), len(message.repair_request))
        if longest <= LARGEST_HISTORY or received.kind is not Kind.CONTENT or received.own:
            continue
        if received.rejected:
            yield from refused(view, received.step)
        elif received.delivered_at_once or received.step.signals("missing", view.channel_id):
            yield received.step, "takes"


@way(
    "AMB-35",
    {"ignores": "passes over it in silence", "refuses": "refuses it", "speaks": "makes something of it"},
    of="arrived",
)
def of_no_kind(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """A message with neither timestamp nor content is refused, or answered without a signal, or with one."""
    for received in offered(view):
        if received.kind is Kind.UNDEFINED and not received.own and received.message.message_id:
            if received.rejected:
                yield from refused(view, received.step)
            elif received.step.answer == "effects":
                yield received.step, "speaks" if received.step.events else "ignores"


@way("AMB-34", {"refuses": "refuses to send it", "sends": "sends it"})
def content_of_no_length(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Content of no length is to be sent: that is refused, or a message goes out."""
    for step in view.trace.of(view.party.name):
        if step.command == "send" and step.channel_id == view.channel_id and not step.request.send.content:
            if step.answer == "rejected":
                yield step, "refuses"
            elif step.broadcasts:
                yield step, "sends"
