"""Silent deliveries: a participant treats messages as delivered without a delivery event, or before this event.

"Deliver Message" puts the ID into the local log, "Send Message" names the last IDs of the log, and messages in the log
meet dependencies. So a message was delivered if the participant shows its ID in the log, names it in a causal history,
or accepts it as a dependency, even if no event reports the delivery. The missing event is one violation (SDS-RECV-07).
All other checks count the message as delivered. Otherwise the log, the causal histories and the timestamps would seem
wrong, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sds_harness.sds.trace import Step, Trace
from sds_harness.trace import Party
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind, Message

from .repair_tracker import NEVER


def find_silent_deliveries(trace: Trace, party: Party, channel_id: str) -> frozenset[str]:
    """IDs of other participants' content that arrived, and that the participant treats as delivered before any event
    reports the delivery.

    Empty if the implementation does not declare delivery events.
    """
    if not trace.declaration.can(pb.CAPABILITY_DELIVERED):
        return frozenset()
    arrived: dict[str, tuple[int, Message]] = {}
    signalled: dict[str, int] = {}
    for step in trace.of(party.name):
        message = step.arrived
        if message is not None and _is_content_of_others(step, message, party, channel_id):
            arrived.setdefault(message.message_id, (step.index, message))
        for event in step.signals("delivered", channel_id):
            signalled.setdefault(event.message_id, step.index)
    late = {i: at for i, (at, _) in arrived.items() if signalled.get(i, NEVER) > at}
    if not late:
        return frozenset()
    messages = {message_id: message for message_id, (_, message) in arrived.items()}
    claims = _claims(trace, party, channel_id, messages, signalled)
    return frozenset(i for i, at in claims if i in late and late[i] <= at < signalled.get(i, NEVER))


def _is_content_of_others(step: Step, message: Message, party: Party, channel_id: str) -> bool:
    """Is a message content of another participant in this channel, and was it accepted?"""
    content = message.channel_id == channel_id and message.kind is Kind.CONTENT
    return content and message.sender_id != party.participant_id and step.answer == "effects"


def _claims(
    trace: Trace, party: Party, channel_id: str, messages: dict[str, Message], signalled: Mapping[str, int]
) -> Iterator[tuple[str, int]]:
    """Yield (message ID, index of the step) for each ID that the participant treats as delivered.

    Such a participant shows the ID in its log, names the ID in an own message, or accepts the ID as a dependency.
    Accepted dependencies are left out if the participant may give up dependencies (AMB-92), or if it shows its log.
    They are also left out if an event reports their delivery later, or no sweep follows: then the dependent message was
    delivered early (SDS-RECV-06).
    """
    shows_log, last_tick = False, 0
    accepted: list[tuple[str, int]] = []
    gives_up = bool(party.in_force.lost_timeout_ms)
    for step in trace.of(party.name):
        last_tick = step.index if step.command == "tick" else last_tick
        if step.command == "observe" and step.channel_id == channel_id:
            shows_log |= step.state is not None and step.state.HasField("log")
            for message_id in step.shown_log:
                yield message_id, step.index
        for message in step.messages:
            if message.channel_id == channel_id and message.sender_id == party.participant_id:
                for entry in message.causal_history:
                    yield entry.message_id, step.index
        gives_up |= bool(step.signals("lost", channel_id))
        for event in step.signals("delivered", channel_id):
            if (released := messages.get(event.message_id)) is not None:
                accepted += [(entry.message_id, step.index) for entry in released.causal_history]
    if not gives_up and not shows_log:
        yield from ((i, at) for i, at in accepted if i not in signalled and at < last_tick)
