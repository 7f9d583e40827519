"""Section STATE: the SDS-R state of one channel does not affect another."""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb

from .....judging.judgement import Observation, observe_met, observe_outcome, observe_violation
from ...register import check
from ...view.channel_view import ChannelView
from ...view.other_channels import arrived_elsewhere, asked_for_elsewhere, named_elsewhere, requested_elsewhere
from ...view.repair_terms import TIMED
from ...view.repair_tracker import NEVER
from ...view.requester import requester
from .responses import unrequested_broadcasts


@check("SDS-STATE-16", pb.CAPABILITY_CHANNELS, pb.CAPABILITY_SDS_R, of="sds-r")
def nothing_is_missing_in_another_channel(view: ChannelView) -> Iterator[Observation]:
    """A message that is missing in one channel is neither tracked nor requested in another."""
    for sent in view.repair.carriers:
        asked = {entry.message_id for entry in sent.message.repair_request}
        yield from _judge_separation(
            view, sent.step, "requests-shared", named_elsewhere(view), asked, "missing", "the message is requested"
        )
    for observed in view.states_showing("outgoing_repairs"):
        tracked = {entry.message_id for entry in observed.state.outgoing_repairs.entries}
        yield from _judge_separation(
            view, observed.step, "requests-shared", named_elsewhere(view), tracked, "missing", "a request is planned"
        )


@check("SDS-STATE-16", pb.CAPABILITY_CHANNELS, pb.CAPABILITY_SDS_R, of="answers-shown sds-r")
def nothing_is_asked_for_in_another_channel(view: ChannelView) -> Iterator[Observation]:
    """A request in one channel queues no response in another."""
    for observed in view.states_showing("incoming_repairs"):
        queued = {entry.message_id for entry in observed.state.incoming_repairs.entries}
        yield from _judge_separation(
            view,
            observed.step,
            "responses-shared",
            asked_for_elsewhere(view),
            queued,
            "asked for",
            "an answer is planned",
        )


@check("SDS-STATE-16", pb.CAPABILITY_CHANNELS, *TIMED, of="channels sds-r")
def requests_of_another_channel_are_not_answered(view: ChannelView) -> Iterator[Observation]:
    """A message that was requested only in another channel is not sent again in its own channel."""
    requested = requested_elsewhere(view)
    for answer in unrequested_broadcasts(view) if requested else ():
        message_id = answer.message.message_id
        if requested.get(message_id, NEVER) < answer.step.index:
            why = "because the message was requested only in another channel"
            expected = f"{message_id!r} of {view.channel_id!r} not sent, {why}"
            yield observe_violation(answer.step, "responses-shared", expected, "the message is broadcast")


@check("SDS-STATE-16", pb.CAPABILITY_CHANNELS, *TIMED, of="channels missing sds-r")
def a_namesake_ends_no_request(view: ChannelView) -> Iterator[Observation]:
    """A message stays missing in its channel when a message with the same ID arrives in another channel.

    Judged only if all other missing messages are tracked or requested, and another message was found missing later.
    Otherwise a full buffer could be the reason why the message is not requested.
    """
    side = requester(view)
    tracked = all(side.shown_t_req(m) is not None or m.requests for m in side.certainly_missing)
    latest = max((m.detected.step.index for m in side.certainly_missing), default=0)
    for missing in side.namesakes:
        if not tracked or latest <= missing.detected.step.index:
            continue
        came, end = arrived_elsewhere(view)[missing.message_id], side.unchanged_until(missing)
        asked = side.requested_at(missing)
        where = f"{view.channel_id!r} although a message with this ID came in another channel"
        which = f"{missing.message_id!r}, missing in {where},"
        for shown in side.shown_between(came, min(end, asked, side.may_be_renewed_from(missing))):
            met = missing.message_id in shown.due
            expected = f"{which} in the outgoing repair request buffer"
            seen = "the buffer has no entry for the message"
            yield observe_outcome(shown.step, "request-ended-by-namesake", met, expected, seen)
        if (asking := side.find_timely_request(missing)) is not None and asking.step.index > came:
            yield observe_met(asking.step)
        elif not side.shown and (sent := side.last_due_carrier(missing)):
            expected = f"{which} asked for"
            seen = "no content or sync message requests the missing message"
            yield observe_violation(sent.step, "request-ended-by-namesake", expected, seen)


@check("SDS-STATE-16", pb.CAPABILITY_CHANNELS, *TIMED, of="channels missing sds-r")
def requests_of_another_channel_are_not_overheard(view: ChannelView) -> Iterator[Observation]:
    """A request in another channel does not remove the entry of a missing message with the same ID in this channel.

    Only the time until the next request in this channel is judged, because a request for another message may remove
    the entry by mistake (SDS-R-STATE-01).
    """
    side, requested = requester(view), requested_elsewhere(view)
    asking = [r.step.index for r in view.received if r.message.repair_request]
    for missing in side.certainly_missing if requested else ():
        message_id, since = missing.message_id, requested.get(missing.message_id, 0)
        before = side.shown_between(missing.detected.step.index, since)
        due_ms = next((shown.due[message_id] for shown in before if message_id in shown.due), 0)
        present = max((shown.step.index for shown in before if message_id in shown.due), default=NEVER)
        end = min(
            side.unchanged_until(missing),
            next((index for index in asking if index > present), NEVER),
            side.may_be_renewed_from(missing),
        )
        for shown in side.shown_between(since, end):
            if shown.step.now_ms >= due_ms:
                continue  # after T_req, the entry may be removed for other reasons
            which = f"{message_id!r}, missing in {view.channel_id!r} and requested by others only in another channel,"
            expected = f"{which} in the outgoing repair request buffer"
            met = message_id in shown.due
            seen = "the buffer has no entry for the message"
            yield observe_outcome(shown.step, "overheard-elsewhere", met, expected, seen)


def _judge_separation(
    view: ChannelView, step: Step, code: str, elsewhere: dict[str, int], here: set[str], what: str, seen: str
) -> Iterator[Observation]:
    others = {message_id for message_id, since in elsewhere.items() if since < step.index}
    if others:
        wrong = min(others & here, default="")
        expected = f"no effect in {view.channel_id!r} of {wrong!r}, which is {what} in another channel"
        yield observe_outcome(step, code, not wrong, expected, seen)
